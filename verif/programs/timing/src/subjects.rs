//! The computations of the project that handle secrets.

use core::hint::black_box;

use hartlock_fsbl::ExpandedDeviceKey;
use hartlock_handoff::{DeviceSecret, KEY_SIZE, Purpose, StateRecord};
use hartlock_image::{Lifecycle, Name};
use hartlock_kernels::aes::gcm::GcmError;
use hartlock_kernels::aes::kw::UnwrapError;
use hartlock_kernels::aes::{AesKey, BLOCK_SIZE, cbc, ctr, gcm, kw};
use hartlock_kernels::ed25519_signer::KeyPair;
use hartlock_kernels::secret::confined;
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::{CipherMode, CipherTier, Hash, HashFamily, Kernels};

use crate::{Part, SecretBytes, Subject, Uses};

type Run = fn(&Kernels, &SecretBytes) -> bool;

const fn subject(name: &'static str, uses: Uses, decisions: u64, run: Run) -> Subject {
    Subject { name, uses, part: Part::Everything, decisions, run }
}

const fn portable(name: &'static str, decisions: u64, run: Run) -> Subject {
    subject(name, Uses::Portable, decisions, run)
}

/// A computation of which a part handles public values.
const fn confined_part(name: &'static str, decisions: u64, run: Run) -> Subject {
    Subject { part: Part::Confined, ..portable(name, decisions, run) }
}

const CTR: Uses = Uses::Cipher(CipherMode::Ctr);
const GCM: Uses = Uses::Cipher(CipherMode::Gcm);
const SHA_256: Uses = Uses::Hash(HashFamily::Sha256);
const SHA_512: Uses = Uses::Hash(HashFamily::Sha512);
const KECCAK: Uses = Uses::Hash(HashFamily::Keccak);

/// All computations.
pub const SUBJECTS: &[Subject] = &[
    subject("aes-128-ctr", CTR, 0, ctr::<16>),
    subject("aes-192-ctr", CTR, 0, ctr::<24>),
    subject("aes-256-ctr", CTR, 0, ctr::<32>),
    // The tag is right or wrong.
    subject("aes-128-gcm", GCM, 1, gcm_open::<16>),
    subject("aes-256-gcm", GCM, 1, gcm_open::<32>),
    subject("aes-256-gcm-refused", GCM, 1, gcm_refused),
    subject("aes-256-gcm-pieces", GCM, 1, gcm_pieces),
    portable("aes-256-cbc-decrypt", 0, cbc_decrypt),
    portable("aes-256-kw", 1, kw_unwrap),
    portable("aes-256-kw-refused", 1, kw_refused),
    // A scalar is zero or not.
    portable("ed25519-key-pair", 1, key_pair),
    // Scalar and nonce, and two comparisons with the verified signature.
    confined_part("ed25519-sign", 4, sign::<Sha512>),
    confined_part("ed25519-sign-keystone", 4, sign::<Sha3_512>),
    portable("hmac-derive", 1, derive),
    portable("hmac-state", 1, state),
    portable("hmac-state-refused", 1, state_refused),
    portable("device-secret", 1, device_secret),
    portable("device-key", 1, device_key),
    subject("sha256", SHA_256, 0, digest::<Sha256>),
    subject("sha384", SHA_512, 0, digest::<Sha384>),
    subject("sha512", SHA_512, 0, digest::<Sha512>),
    subject("sha3-512", KECCAK, 0, digest::<Sha3_512>),
];

/// Length of texts in bytes: two groups of blocks for the widest vector registers, and a part of a block.
const TEXT_LEN: usize = 1049;
/// The same for portable code.
const PORTABLE_LEN: usize = 133;
const IV: [u8; 12] = [3; 12];
const AAD: [u8; 29] = [9; 29];

/// Calls `work` with an expanded key of `N` bytes and a text.
#[inline(always)]
fn with_key<const N: usize>(
    kernels: &Kernels,
    secret: &SecretBytes,
    work: impl FnOnce(&AesKey, &mut [u8]) -> bool,
) -> bool {
    let is_portable = kernels.cipher_tier(CipherMode::Ctr) == CipherTier::Portable;
    let mut text = [5; TEXT_LEN];
    let text = text.get_mut(..if is_portable { PORTABLE_LEN } else { TEXT_LEN });
    confined(|| {
        let mut key = AesKey::with(kernels);
        let (Some(bytes), Some(text)) = (secret.first_chunk::<N>(), text) else { return false };
        let is_right = key.expand(bytes).is_ok() && work(&key, text);
        black_box(text);
        is_right
    })
}

fn ctr<const N: usize>(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<N>(kernels, secret, |key, text| {
        let is_done = ctr::apply(key, &[3; BLOCK_SIZE], text).is_ok();
        ctr::apply_wide(key, &[0xff; BLOCK_SIZE], text);
        is_done
    })
}

/// Inverts all bytes but the first `right`, a secret number, in constant time. A comparison that ends at the first byte
/// that is wrong then takes another time for another secret.
fn spoil(bytes: &mut [u8], right: u8) {
    for (index, byte) in (0_u32..).zip(bytes) {
        // All ones from the place on where the bytes are wrong.
        *byte ^= (black_box(index.wrapping_sub(right.into())) >> 31).wrapping_sub(1) as u8;
    }
}

/// Decrypts a text that is authentic.
fn gcm_open<const N: usize>(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<N>(kernels, secret, |key, text| {
        let Ok(tag) = gcm::tag(key, &IV, &AAD, text) else { return false };
        gcm::decrypt(key, &IV, &AAD, text, &tag).is_ok()
    })
}

/// Refuses a text: the first bytes of its tag are right, and how many depends on the secret.
fn gcm_refused(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<32>(kernels, secret, |key, text| {
        let Ok(mut tag) = gcm::tag(key, &IV, &AAD, text) else { return false };
        spoil(&mut tag, secret[63] & 15);
        gcm::decrypt(key, &IV, &AAD, text, &tag) == Err(GcmError::NotAuthentic)
    })
}

/// Decrypts a text of which the caller gets pieces.
fn gcm_pieces(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<32>(kernels, secret, |key, text| {
        let Ok(tag) = gcm::tag(key, &[7; 16], &AAD, text) else { return false };
        gcm::decrypt_to(key, &[7; 16], &AAD, text, &tag, &mut |piece| {
            black_box(piece);
        })
        .is_ok()
    })
}

fn cbc_decrypt(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<32>(kernels, secret, |key, text| {
        let (blocks, _) = text.as_chunks_mut::<BLOCK_SIZE>();
        cbc::decrypt(key, &[3; BLOCK_SIZE], blocks.as_flattened_mut()).is_ok()
    })
}

/// Length of a wrapped key in bytes, with the part for the check value.
const WRAPPED_LEN: usize = 24;

/// Wraps a key of two parts (RFC 3394 §2.2.1, by index), because no code of a device does it.
fn wrap(key: &AesKey, check: [u8; 8]) -> [u8; WRAPPED_LEN] {
    let (mut check, mut parts) = (u64::from_be_bytes(check), [[5; 8]; 2]);
    for step in 1..=12_u64 {
        let mut block = [0; BLOCK_SIZE];
        let [high, low] = [&check.to_be_bytes(), &parts[0]];
        for (to, from) in block.iter_mut().zip(high.iter().chain(low)) {
            *to = *from;
        }
        let counter = block;
        block = [0; BLOCK_SIZE];
        // The key stream of one block of zeros is the encrypted counter block.
        ctr::apply_wide(key, &counter, &mut block);
        let block = u128::from_be_bytes(block);
        check = (block >> 64) as u64 ^ step;
        parts = [parts[1], (block as u64).to_be_bytes()];
    }
    let mut wrapped = [0; WRAPPED_LEN];
    let all = check.to_be_bytes().into_iter().chain(parts.into_iter().flatten());
    wrapped.iter_mut().zip(all).for_each(|(to, from)| *to = from);
    wrapped
}

/// The check value (RFC 3394 §2.2.3.1).
const CHECK: [u8; 8] = [0xa6; 8];

fn kw_unwrap(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<32>(kernels, secret, |key, _| {
        let mut unwrapped = [0; 16];
        kw::unwrap(key, &wrap(key, CHECK), &mut unwrapped).is_ok()
    })
}

/// Refuses a wrapped key: the first bytes of its check value are right, and how many depends on the secret.
fn kw_refused(kernels: &Kernels, secret: &SecretBytes) -> bool {
    with_key::<32>(kernels, secret, |key, _| {
        let (mut check, mut unwrapped) = (CHECK, [0; 16]);
        spoil(&mut check, secret[63] & 7);
        kw::unwrap(key, &wrap(key, check), &mut unwrapped) == Err(UnwrapError::NotAuthentic)
    })
}

fn key_pair(_: &Kernels, secret: &SecretBytes) -> bool {
    let pair = KeyPair::new(secret);
    black_box(&pair).is_ok()
}

/// Makes a signature. The public key is not secret, and it is made here as well.
fn sign<H: Hash<Output = [u8; 64]>>(_: &Kernels, secret: &SecretBytes) -> bool {
    let Ok(pair) = KeyPair::new(secret) else { return false };
    let signature = pair.sign(H::new, &[5; 96]);
    black_box(&signature).is_ok()
}

fn names() -> Option<[Name; 2]> {
    Some([Name::new("board")?, Name::new("soc")?])
}

fn derive(_: &Kernels, secret: &SecretBytes) -> bool {
    let ([Some(bytes), _], Some([board, soc])) = ([secret.first_chunk::<32>(), None], names())
    else {
        return false;
    };
    // The check for secrets that were never programmed is another subject.
    let Some(secret) = DeviceSecret::new(*bytes) else { return true };
    black_box(&*secret.derive(Purpose::State, &board, &soc));
    true
}

const RECORD: StateRecord = StateRecord {
    sequence: 3,
    boot_floor: 1,
    system_floor: 2,
    lifecycle: Lifecycle::Production,
    revoked_keys: 0,
};

/// Returns the part of the secret that is the key of state records.
fn state_key(secret: &SecretBytes) -> Option<&[u8; KEY_SIZE]> {
    secret.first_chunk()
}

/// Writes and reads a state record.
fn state(_: &Kernels, secret: &SecretBytes) -> bool {
    let Some(key) = state_key(secret) else { return false };
    black_box(StateRecord::parse(&RECORD.encode(key), key)).is_some()
}

/// Refuses a state record: the first bytes of its tag are right, and how many depends on the key.
fn state_refused(_: &Kernels, secret: &SecretBytes) -> bool {
    /// Offset of the tag in a record (boot flow §3.2).
    const TAG_AT: usize = 64;
    let Some(key) = state_key(secret) else { return false };
    let mut record = RECORD.encode(key);
    let tag = record.get_mut(TAG_AT..TAG_AT + KEY_SIZE).unwrap_or_default();
    spoil(tag, secret[63] & 31);
    black_box(StateRecord::parse(&record, key)).is_none()
}

/// Decides whether a secret was ever programmed.
fn device_secret(_: &Kernels, secret: &SecretBytes) -> bool {
    let Some(bytes) = secret.first_chunk::<32>() else { return false };
    black_box(DeviceSecret::new(*bytes));
    true
}

/// Reads the device key of a first-stage loader.
fn device_key(_: &Kernels, secret: &SecretBytes) -> bool {
    let mut key = ExpandedDeviceKey::EMPTY;
    black_box(key.take(|bytes| bytes.copy_from_slice(secret), || true)).is_ok()
}

fn digest<H: Hash>(kernels: &Kernels, secret: &SecretBytes) -> bool {
    confined(|| {
        let mut hash = H::with(kernels);
        hash.update(secret);
        hash.update(&[5; 700]);
        hash.update(secret);
        black_box(hash.finalize());
    });
    true
}
