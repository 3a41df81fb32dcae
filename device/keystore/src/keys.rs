//! Keys of the host in the root of trust (`spec/requests.md`). They are unwrapped here, used by their handle, and never
//! leave the root of trust.
//!
//! Each request is a record that the caller has copied from the host's memory as a whole, so that the host cannot
//! change it during the check and the operation. The result replaces the text in the copy. Any error gives a
//! [`Refusal`], and a key that an operation failed with is erased.

use core::ops::Range;

use hartlock_drivers::mailbox::request::{
    MAX_RECORD_LEN, Operation, Refusal, SIGNATURE_LEN, TAG_LEN, TEXT_AT,
};
use hartlock_kernels::secret::{Secret, wipe};

/// Size in bytes of the buffer for a record and the tag that encryption appends.
pub const BUFFER_LEN: usize = MAX_RECORD_LEN + TAG_LEN;
/// Maximum number of keys at a time.
pub const MAX_KEYS: usize = 4;
/// Maximum number of imports of wrong keys per boot.
pub const MAX_FAILED_IMPORTS: u32 = 16;
/// Maximum number of operations with private keys per boot.
pub const MAX_SIGNATURES: u32 = 1024;
/// Maximum number of imports per boot, so that no handle is used twice.
const MAX_IMPORTS: u32 = 1 << 20;

const DIGEST_LEN: usize = 32;
/// Length in bytes of half a modulus, which is that of a prime, an exponent and the coefficient.
const HALF_LEN: usize = SIGNATURE_LEN / 2;
/// Length in bytes of the random exponent that randomises a blinding pair.
const NOISE_LEN: usize = 8;
/// Number of bytes that AES-KW adds, which is a half block.
const WRAP_LEN: usize = 8;

/// Tag at the start of every unwrapped key.
const KEY_MAGIC: [u8; 4] = *b"HLKk";
/// Length in bytes of the key header: tag, kind, uses, and two zeros.
const KEY_HEADER_LEN: usize = 8;
const SECRET_LEN: usize = 32;
const RSA_LEN: usize = 3 * SIGNATURE_LEN + 5 * HALF_LEN;
const MAX_KEY_LEN: usize = KEY_HEADER_LEN + RSA_LEN;

/// DigestInfo prefix of SHA-256 (RFC 8017 §9.2, note 1).
const DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// Returns the number of buffer bytes that a record of `len` bytes and its result occupy. A request changes no other
/// bytes.
#[must_use]
pub const fn used_len(len: usize) -> usize {
    let with_tag = len.saturating_add(TAG_LEN);
    let with_signature = if with_tag < SIGNATURE_LEN { SIGNATURE_LEN } else { with_tag };
    if with_signature < BUFFER_LEN { with_signature } else { BUFFER_LEN }
}

/// Permitted uses of a key, as bits of its header.
pub mod uses {
    /// [`Operation::Encrypt`](super::Operation::Encrypt) with GCM.
    pub const ENCRYPT: u8 = 1;
    /// [`Operation::Decrypt`](super::Operation::Decrypt) with GCM.
    pub const DECRYPT: u8 = 2;
    /// [`Operation::Sign`](super::Operation::Sign).
    pub const SIGN: u8 = 4;
    /// [`Operation::Verify`](super::Operation::Verify).
    pub const VERIFY: u8 = 8;
    /// Both operations with CTR, which are the same function. This use excludes all others, because with the key stream
    /// of CTR one can decrypt and change texts of GCM.
    pub const COUNTER: u8 = 16;
}

/// The kinds of keys, with their numbers in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyKind {
    /// AES-256.
    Aes256 = 1,
    /// RSA-2048 with the public exponent 65537.
    Rsa2048 = 2,
}

impl KeyKind {
    const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Aes256),
            2 => Some(Self::Rsa2048),
            _ => None,
        }
    }

    const fn len(self) -> usize {
        match self {
            Self::Aes256 => SECRET_LEN,
            Self::Rsa2048 => RSA_LEN,
        }
    }

    const fn uses(self) -> u8 {
        match self {
            Self::Aes256 => uses::ENCRYPT | uses::DECRYPT | uses::COUNTER,
            Self::Rsa2048 => uses::SIGN | uses::VERIFY,
        }
    }
}

/// The modes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum TextMode {
    /// GCM with a vector of 12 bytes and a tag of 16 (SP 800-38D).
    Gcm = 1,
    /// CTR with the counter of the first block (SP 800-38A).
    Ctr = 2,
}

/// The parameters of an encryption or decryption: key, vector and additional data.
#[derive(Clone, Copy)]
pub struct Cipher<'a> {
    /// Key of AES-256.
    pub key: &'a [u8; 32],
    /// Mode of operation.
    pub mode: TextMode,
    /// Initialization vector; GCM uses its first 12 bytes.
    pub iv: &'a [u8; 16],
    /// Additional authenticated data, only for GCM.
    pub more: &'a [u8],
}

/// The parts of an RSA private key, big-endian.
#[derive(Clone, Copy)]
pub struct RsaPrivateKey<'a> {
    /// Modulus n.
    pub modulus: &'a [u8],
    /// Values p, q, dP, dQ and qInv.
    pub halves: [&'a [u8]; 5],
    /// Blinding pair r^e and 1 / r.
    pub blinding: [&'a [u8]; 2],
}

/// The reason why an engine gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineFailure {
    /// There is no key in the slot.
    NoKey,
    /// A wrapped key or a tag is wrong.
    NotAuthentic,
    /// The numbers do not form a key.
    BadKey,
    /// A number is not less than the modulus.
    BadOperand,
    /// The engine failed.
    Failed,
}

/// The engines that perform the operations. When a call returns, no engine holds a part of a key.
pub trait KeyEngines {
    /// Unwraps a key with AES-KW and the key of the slot. After an error `key` is zero.
    ///
    /// # Errors
    /// `NoKey`, `NotAuthentic`, `Failed`.
    fn unwrap_key(&mut self, wrapped: &[u8], key: &mut [u8]) -> Result<(), EngineFailure>;

    /// Encrypts in place and returns the tag, which is meaningful only for GCM.
    ///
    /// # Errors
    /// `Failed`.
    fn encrypt(&mut self, cipher: Cipher<'_>, text: &mut [u8]) -> Result<[u8; 16], EngineFailure>;

    /// Decrypts in place. After an error the text is zero.
    ///
    /// # Errors
    /// `NotAuthentic`, `Failed`.
    fn decrypt(
        &mut self,
        cipher: Cipher<'_>,
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), EngineFailure>;

    /// Performs the private operation of RSA and checks the result.
    ///
    /// # Errors
    /// `BadKey` if a part of the key is out of range, `BadOperand`, `Failed`.
    fn private(
        &mut self,
        key: RsaPrivateKey<'_>,
        base: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure>;

    /// Computes the square of a number.
    ///
    /// # Errors
    /// `BadOperand`, `BadKey`, `Failed`.
    fn square(
        &mut self,
        modulus: &[u8],
        number: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure>;

    /// Computes a power with a secret exponent, whose highest bit is set, in a time that does not depend on the
    /// exponent.
    ///
    /// # Errors
    /// `BadOperand`, `BadKey`, `Failed`.
    fn power_secret(
        &mut self,
        modulus: &[u8],
        number: &[u8],
        exponent: &[u8; NOISE_LEN],
        result: &mut [u8],
    ) -> Result<(), EngineFailure>;

    /// Returns random bits that are not known elsewhere and are different in each call.
    ///
    /// # Errors
    /// `Failed` if the noise source does not work.
    fn noise(&mut self, bits: &mut [u8; NOISE_LEN]) -> Result<(), EngineFailure>;

    /// Computes the encoded message of an RSA signature in such a way that no single fault changes it to another
    /// message.
    ///
    /// # Errors
    /// `BadOperand`, `BadKey`, `Failed`.
    fn recover(
        &mut self,
        modulus: &[u8],
        signature: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure>;
}

/// The result of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestOutput {
    /// First word of the answer: a handle, or the number of bytes at the destination.
    pub word: u32,
    /// Range of the buffer that has to be copied to the destination.
    pub range: Range<usize>,
}

/// A key, or an unused entry with the handle zero and all bytes zero.
struct StoredKey {
    handle: u32,
    bytes: [u8; MAX_KEY_LEN],
}

impl StoredKey {
    const NONE: StoredKey = StoredKey { handle: 0, bytes: [0; MAX_KEY_LEN] };

    fn forget(&mut self) {
        wipe(&mut self.bytes);
        self.handle = 0;
    }

    /// Returns kind, uses, and the bytes after the header, if the header is valid.
    fn parts(&self) -> Option<(KeyKind, u8, &[u8])> {
        let (header, rest) = self.bytes.split_first_chunk::<KEY_HEADER_LEN>()?;
        let [m0, m1, m2, m3, kind, uses, 0, 0] = *header else { return None };
        let kind = KeyKind::from_number(kind)?;
        let is_of_kind = uses != 0 && uses & !kind.uses() == 0;
        let is_alone = uses & uses::COUNTER == 0 || uses == uses::COUNTER;
        let is_right = [m0, m1, m2, m3] == KEY_MAGIC && is_of_kind && is_alone;
        if is_right { Some((kind, uses, rest.get(..kind.len())?)) } else { None }
    }

    /// Returns the bytes of the key if it permits this use.
    fn for_use(&self, wanted: u8) -> Result<&[u8], Refusal> {
        match self.parts() {
            Some((_, uses, bytes)) if uses & wanted != 0 => Ok(bytes),
            _ => Err(Refusal::KeyUse),
        }
    }
}

/// The keys, and the remaining quotas of this boot.
pub struct KeyStore {
    keys: [StoredKey; MAX_KEYS],
    imports: u32,
    failed_imports: u32,
    signatures: u32,
}

impl Default for KeyStore {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyStore {
    /// Returns a store without keys.
    #[must_use]
    pub const fn new() -> Self {
        Self { keys: [StoredKey::NONE; MAX_KEYS], imports: 0, failed_imports: 0, signatures: 0 }
    }

    /// Serves a request. Its record is in the first `len` bytes of the buffer. Without engines every request is
    /// refused.
    ///
    /// # Errors
    /// A refusal; then nothing is copied to the destination.
    pub fn serve(
        &mut self,
        engines: Option<&mut impl KeyEngines>,
        operation: Operation,
        buffer: &mut [u8; BUFFER_LEN],
        len: usize,
    ) -> Result<RequestOutput, Refusal> {
        let engines = engines.ok_or(Refusal::NoKeys)?;
        let record = buffer.get(..len).ok_or(Refusal::TooLong)?;
        match operation {
            Operation::Sha256 => Err(Refusal::UnknownOperation),
            Operation::ImportKey => self.import(engines, record),
            Operation::ReleaseKey => self.release(record),
            Operation::Encrypt => self.encrypt(engines, buffer, len),
            Operation::Decrypt => self.decrypt(engines, buffer, len),
            Operation::Sign => self.sign(engines, buffer, len),
            Operation::Verify => self.verify(engines, record),
        }
    }

    fn import(
        &mut self,
        engines: &mut impl KeyEngines,
        wrapped: &[u8],
    ) -> Result<RequestOutput, Refusal> {
        if self.failed_imports >= MAX_FAILED_IMPORTS || self.imports >= MAX_IMPORTS {
            return Err(Refusal::QuotaSpent);
        }
        let kinds = [KeyKind::Aes256, KeyKind::Rsa2048];
        let len_of = |kind: &KeyKind| KEY_HEADER_LEN + kind.len();
        let by_len = |kind: &KeyKind| wrapped.len() == WRAP_LEN + len_of(kind);
        let kind = kinds.into_iter().find(by_len).ok_or(Refusal::Malformed)?;
        let mut places = (1..).zip(&mut self.keys);
        let (number, key) = places.find(|(_, key)| key.handle == 0).ok_or(Refusal::NoFreeHandle)?;
        // Without noise no private key is unwrapped, and the import does not count as a failed one.
        let mut exponent = Secret::<NOISE_LEN>::ZERO;
        if kind == KeyKind::Rsa2048 {
            engines.noise(&mut exponent).map_err(|_| Refusal::Failed)?;
        }
        // The failure is counted before it is known whether the key is right, so that no attempt is free.
        self.imports = self.imports.saturating_add(1);
        self.failed_imports = self.failed_imports.saturating_add(1);
        let place = key.bytes.get_mut(..len_of(&kind)).ok_or(Refusal::Malformed)?;
        let unwrapped = engines.unwrap_key(wrapped, place);
        let judged = match unwrapped {
            Ok(()) if key.parts().is_some_and(|(it, _, _)| it == kind) => match kind {
                KeyKind::Aes256 => Ok(()),
                KeyKind::Rsa2048 => key.randomise(engines, &mut exponent),
            },
            Ok(()) => Err(Refusal::KeyMalformed),
            Err(EngineFailure::NotAuthentic) => Err(Refusal::KeyNotAuthentic),
            Err(EngineFailure::NoKey) => Err(Refusal::NoKeys),
            Err(_) => Err(Refusal::Failed),
        };
        if judged.is_err() {
            key.forget();
        }
        // An empty slot or a failed engine does not count as a failed import.
        if !matches!(judged, Err(Refusal::KeyNotAuthentic | Refusal::KeyMalformed)) {
            self.failed_imports = self.failed_imports.saturating_sub(1);
        }
        judged?;
        key.handle = self.imports << 8 | number;
        Ok(RequestOutput { word: key.handle, range: 0..0 })
    }

    fn release(&mut self, record: &[u8]) -> Result<RequestOutput, Refusal> {
        let (handle, rest) = word(record)?;
        if !rest.is_empty() {
            return Err(Refusal::Malformed);
        }
        self.find(handle)?.forget();
        Ok(RequestOutput::default())
    }

    fn encrypt(
        &mut self,
        engines: &mut impl KeyEngines,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<RequestOutput, Refusal> {
        let (record, after) = buffer.split_at_mut_checked(len).ok_or(Refusal::TooLong)?;
        let handle = word(record)?.0;
        let key = self.find(handle)?;
        let (cipher, text) = begin(key, uses::ENCRYPT, record)?;
        let start = len.saturating_sub(text.len());
        let sealed = engines.encrypt(cipher, text);
        let (mode, tag) = (cipher.mode, key.outcome(sealed, Refusal::Failed)?);
        let end = match mode {
            TextMode::Ctr => len,
            TextMode::Gcm => {
                *after.first_chunk_mut().ok_or(Refusal::TooLong)? = tag;
                len.saturating_add(TAG_LEN)
            }
        };
        Ok(written(start..end))
    }

    fn decrypt(
        &mut self,
        engines: &mut impl KeyEngines,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<RequestOutput, Refusal> {
        let record = buffer.get_mut(..len).ok_or(Refusal::TooLong)?;
        let handle = word(record)?.0;
        let key = self.find(handle)?;
        let (cipher, text) = begin(key, uses::DECRYPT, record)?;
        let start = len.saturating_sub(text.len());
        let (text, tag) = match cipher.mode {
            TextMode::Ctr => (text, [0; TAG_LEN]),
            TextMode::Gcm => {
                let (text, tag) =
                    text.split_last_chunk_mut::<TAG_LEN>().ok_or(Refusal::Malformed)?;
                (text, *tag)
            }
        };
        let end = start.saturating_add(text.len());
        let opened = engines.decrypt(cipher, text, &tag);
        key.outcome(opened, Refusal::TextNotAuthentic)?;
        Ok(written(start..end))
    }

    fn sign(
        &mut self,
        engines: &mut impl KeyEngines,
        buffer: &mut [u8],
        len: usize,
    ) -> Result<RequestOutput, Refusal> {
        let record = buffer.get(..len).ok_or(Refusal::TooLong)?;
        let (handle, rest) = word(record)?;
        self.find(handle)?.for_use(uses::SIGN)?;
        let encoded = encoded(rest.try_into().map_err(|_| Refusal::Malformed)?)?;
        if self.signatures >= MAX_SIGNATURES {
            return Err(Refusal::QuotaSpent);
        }
        self.signatures = self.signatures.saturating_add(1);
        let key = self.find(handle)?;
        let result = buffer.first_chunk_mut::<SIGNATURE_LEN>().ok_or(Refusal::TooLong)?;
        let signed = key.sign(engines, &encoded, result);
        key.outcome(signed, Refusal::Failed)?;
        Ok(written(0..SIGNATURE_LEN))
    }

    fn verify(
        &mut self,
        engines: &mut impl KeyEngines,
        record: &[u8],
    ) -> Result<RequestOutput, Refusal> {
        let (handle, rest) = word(record)?;
        let key = self.find(handle)?;
        let private = RsaPrivateKey::of(key.for_use(uses::VERIFY)?).ok_or(Refusal::KeyUse)?;
        let (digest, signature) =
            rest.split_first_chunk::<DIGEST_LEN>().ok_or(Refusal::Malformed)?;
        if signature.len() != SIGNATURE_LEN {
            return Err(Refusal::Malformed);
        }
        let mut found = [0; SIGNATURE_LEN];
        match engines.recover(private.modulus, signature, &mut found) {
            Ok(()) if found == encoded(digest)? => Ok(RequestOutput::default()),
            Ok(()) | Err(EngineFailure::BadOperand) => Err(Refusal::SignatureNotAuthentic),
            Err(failure) => key.outcome(Err(failure), Refusal::Failed),
        }
    }

    fn find(&mut self, handle: u32) -> Result<&mut StoredKey, Refusal> {
        let is_it = |key: &&mut StoredKey| key.handle == handle && handle != 0;
        self.keys.iter_mut().find(is_it).ok_or(Refusal::UnknownHandle)
    }
}

impl StoredKey {
    /// Erases the key if an engine failed with it, because an attacker could repeat a fault on the same key.
    fn outcome<T>(
        &mut self,
        result: Result<T, EngineFailure>,
        not_authentic: Refusal,
    ) -> Result<T, Refusal> {
        result.map_err(|failure| match failure {
            EngineFailure::NotAuthentic => not_authentic,
            EngineFailure::BadKey => {
                self.forget();
                Refusal::KeyMalformed
            }
            EngineFailure::NoKey | EngineFailure::BadOperand | EngineFailure::Failed => {
                self.forget();
                Refusal::Failed
            }
        })
    }

    /// Raises both numbers of the blinding pair to the power of k. They remain a pair, that of r^k: (r^e)^k = (r^k)^e,
    /// and (1 / r)^k = 1 / r^k. Each import uses a new k, so that the same wrapped key has another pair after each
    /// reset. If a fault makes them powers of different numbers, the first signature fails its check.
    fn randomise(
        &mut self,
        engines: &mut impl KeyEngines,
        exponent: &mut [u8; NOISE_LEN],
    ) -> Result<(), Refusal> {
        // The exponent must not be zero, because both numbers would become one.
        let [first, ..] = exponent;
        *first |= 0x80;
        let raised = self.change_pair(|modulus, number, power| {
            engines.power_secret(modulus, number, exponent, power)
        });
        raised.map_err(|failure| match failure {
            // A number of the pair is not less than the modulus, or the modulus is invalid.
            EngineFailure::BadOperand | EngineFailure::BadKey => Refusal::KeyMalformed,
            _ => Refusal::Failed,
        })
    }

    /// Replaces both numbers of the blinding pair.
    fn change_pair(
        &mut self,
        mut change: impl FnMut(&[u8], &[u8], &mut [u8]) -> Result<(), EngineFailure>,
    ) -> Result<(), EngineFailure> {
        let bytes = self.bytes.get_mut(KEY_HEADER_LEN..).ok_or(EngineFailure::BadKey)?;
        let private = RsaPrivateKey::of(bytes).ok_or(EngineFailure::BadKey)?;
        let mut others = [[0; SIGNATURE_LEN]; 2];
        let changed = others
            .iter_mut()
            .zip(private.blinding)
            .try_for_each(|(other, number)| change(private.modulus, number, other));
        if changed.is_ok() {
            let (_, pair) = bytes
                .split_last_chunk_mut::<{ 2 * SIGNATURE_LEN }>()
                .ok_or(EngineFailure::BadKey)?;
            pair.as_chunks_mut().0.iter_mut().zip(others).for_each(|(to, other)| *to = other);
        }
        wipe(others.as_flattened_mut());
        changed
    }

    /// Signs, and replaces the blinding pair by the squares of its numbers, which are also a pair.
    fn sign(
        &mut self,
        engines: &mut impl KeyEngines,
        encoded: &[u8; SIGNATURE_LEN],
        result: &mut [u8; SIGNATURE_LEN],
    ) -> Result<(), EngineFailure> {
        let bytes = self.bytes.get(KEY_HEADER_LEN..).ok_or(EngineFailure::BadKey)?;
        engines.private(RsaPrivateKey::of(bytes).ok_or(EngineFailure::BadKey)?, encoded, result)?;
        self.change_pair(|modulus, number, square| engines.square(modulus, number, square))
    }
}

impl<'a> RsaPrivateKey<'a> {
    /// Splits the bytes of a key: n, p, q, dP, dQ, qInv, r^e, 1 / r.
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (modulus, bytes) = bytes.split_at_checked(SIGNATURE_LEN)?;
        let (halves, pair) = bytes.split_at_checked(5 * HALF_LEN)?;
        let (factor, inverse) = pair.split_at_checked(SIGNATURE_LEN)?;
        let mut parts = halves.chunks(HALF_LEN);
        let mut halves: [&[u8]; 5] = [&[]; 5];
        for half in &mut halves {
            *half = parts.next()?;
        }
        Some(Self { modulus, halves, blinding: [factor, inverse] })
    }
}

/// Returns key, mode, vector and additional data of a record, and its text. `wanted` is the use that GCM requires.
fn begin<'a>(
    key: &'a StoredKey,
    wanted: u8,
    record: &'a mut [u8],
) -> Result<(Cipher<'a>, &'a mut [u8]), Refusal> {
    let (header, rest) = record.split_first_chunk_mut::<TEXT_AT>().ok_or(Refusal::Malformed)?;
    let [_, _, _, _, mode, 0, low, high, iv @ ..] = &*header else {
        return Err(Refusal::Malformed);
    };
    let mode = match *mode {
        1 => TextMode::Gcm,
        2 => TextMode::Ctr,
        _ => return Err(Refusal::Malformed),
    };
    let wanted = if mode == TextMode::Ctr { uses::COUNTER } else { wanted };
    let secret = key.for_use(wanted)?.try_into().map_err(|_| Refusal::KeyUse)?;
    let more_len = usize::from(u16::from_le_bytes([*low, *high]));
    let (more, text) = rest.split_at_mut_checked(more_len).ok_or(Refusal::Malformed)?;
    let is_right = match mode {
        TextMode::Gcm => iv.ends_with(&[0; 4]),
        TextMode::Ctr => more.is_empty() && !text.is_empty(),
    };
    if is_right {
        Ok((Cipher { key: secret, mode, iv, more }, text))
    } else {
        Err(Refusal::Malformed)
    }
}

/// Returns the encoded digest of PKCS #1 v1.5 (RFC 8017 §9.2).
fn encoded(digest: &[u8; DIGEST_LEN]) -> Result<[u8; SIGNATURE_LEN], Refusal> {
    let mut encoded = [0xff; SIGNATURE_LEN];
    let (padding, end) = encoded.split_last_chunk_mut::<DIGEST_LEN>().ok_or(Refusal::Failed)?;
    *end = *digest;
    let (padding, info) =
        padding.split_last_chunk_mut::<{ DIGEST_INFO.len() }>().ok_or(Refusal::Failed)?;
    *info = DIGEST_INFO;
    *padding.last_mut().ok_or(Refusal::Failed)? = 0;
    *padding.first_chunk_mut().ok_or(Refusal::Failed)? = [0, 1];
    Ok(encoded)
}

/// Returns the first word of a record, and the rest.
fn word(record: &[u8]) -> Result<(u32, &[u8]), Refusal> {
    let (word, rest) = record.split_first_chunk().ok_or(Refusal::Malformed)?;
    Ok((u32::from_le_bytes(*word), rest))
}

/// Returns the output for a range of the buffer, which is at most as long as a record.
fn written(range: Range<usize>) -> RequestOutput {
    RequestOutput { word: range.len() as u32, range }
}

#[cfg(test)]
mod tests;
