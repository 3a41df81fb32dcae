//! Encryption of payloads (image format §4.6, §7.6): AES-256 in counter mode, each payload with a key of its own.

use std::os::unix::fs::FileExt;
use std::path::Path;

use aes::Aes256;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use hartlock_files::{FileError, NewFile};
use hartlock_image::{Encryption, EncryptionField, Manifest, PayloadType, Reason};
use hartlock_keys::{ClassKey, Error as KeyFileError, KeyError};

use crate::describe::hex;
use crate::spec::{BundleSpec, SpecError};
use crate::{Error, Refusal};

/// A content key: a key like that of a class, which is used for one payload once.
type ContentKey = ClassKey;

/// Encrypts or decrypts bytes of a payload that begin at `offset` in it.
fn apply(key: &ContentKey, offset: u64, bytes: &mut [u8]) {
    let mut cipher = Ctr128BE::<Aes256>::new(key.bytes().into(), &[0; 16].into());
    cipher.seek(offset);
    cipher.apply_keystream(bytes);
}

/// Unwraps the content key of a payload.
///
/// # Errors
/// `ClassKeyMissing`, `ContentKeyInvalid`.
pub(crate) fn content_key(
    encryption: &Encryption,
    class_keys: &[ClassKey],
) -> Result<ContentKey, Refusal> {
    let name = encryption.payload_type.name();
    let class = hex(&encryption.class_id);
    let class_key = class_keys.iter().find(|key| key.id() == encryption.class_id);
    let class_key = class_key.ok_or_else(|| {
        let context = format!("the {name} is encrypted for class {class}");
        let hint = Some("Give the key of this class with `--decrypt-with`.".to_string());
        Refusal { hint, ..Refusal::with(Reason::ClassKeyMissing, context) }
    })?;
    class_key.unwrap(&encryption.wrapped).ok_or_else(|| {
        Refusal::with(Reason::ContentKeyInvalid, format!("payload {name}, class {class}"))
    })
}

/// Decrypts the first `size` bytes of a file in place.
pub(crate) fn decrypt(file: &NewFile, size: u64, key: &ContentKey) -> Result<(), Error> {
    const PIECE: u64 = 1 << 20;
    let handle = file.handle()?;
    let mut bytes = vec![0; size.min(PIECE) as usize];
    for offset in (0..size).step_by(PIECE as usize) {
        let piece = &mut bytes[..(size - offset).min(PIECE) as usize];
        handle
            .read_exact_at(piece, offset)
            .map_err(|error| FileError::new("read", file.path(), error))?;
        apply(key, offset, piece);
        file.write_at(piece, offset)?;
    }
    Ok(())
}

/// The encryption of the payloads of a bundle that is being built.
pub(crate) struct EncryptionPlan {
    /// Encoded records, in ascending order of the types.
    pub fields: Vec<EncryptionField>,
    /// New content keys. A payload that was encrypted before has none.
    keys: Vec<(PayloadType, ContentKey)>,
}

impl EncryptionPlan {
    /// Plans the encryption of the payloads of `spec`, whose types and sizes are in ascending order of the types.
    ///
    /// # Errors
    /// Fails if the class key cannot be read, if there are no random numbers, and if a payload that was encrypted would not
    /// be any more.
    pub(crate) fn new(spec: &BundleSpec, sizes: &[(PayloadType, u64)]) -> Result<Self, Error> {
        let class_key = spec.encrypt.as_deref().map(ClassKey::read).transpose()?;
        let mut plan = Self { fields: Vec::new(), keys: Vec::new() };
        for (payload_type, size) in sizes.iter().copied() {
            let Some(payload) = spec.payloads.iter().find(|it| it.payload_type == payload_type)
            else {
                continue;
            };
            if let Some(encryption) = &payload.encryption {
                plan.fields.push(encryption.encode());
                continue;
            }
            if size == 0 || payload.encrypted == Some(false) {
                continue;
            }
            let Some(class_key) = &class_key else {
                if payload.encrypted == Some(true) {
                    return Err(SpecError::ClassKeyMissing(payload_type.name()).into());
                }
                continue;
            };
            let refuse = |kind| {
                let path = spec.encrypt.as_deref().unwrap_or(Path::new("")).to_path_buf();
                Error::from(KeyFileError::Key(KeyError { path, kind }))
            };
            let key = ContentKey::generate().map_err(refuse)?;
            let wrapped = class_key.wrap(&key);
            plan.fields
                .push(Encryption { payload_type, class_id: class_key.id(), wrapped }.encode());
            plan.keys.push((payload_type, key));
        }
        Ok(plan)
    }

    fn key(&self, payload_type: PayloadType) -> Option<&ContentKey> {
        self.keys.iter().find(|(of, _)| *of == payload_type).map(|(_, key)| key)
    }

    /// Encrypts bytes of a payload that begin at `offset` in it, if the payload is to be encrypted.
    pub(crate) fn encrypt(&self, payload_type: PayloadType, offset: u64, bytes: &mut [u8]) {
        if let Some(key) = self.key(payload_type) {
            apply(key, offset, bytes);
        }
    }

    /// Returns what decrypts the bundle that was built.
    pub(crate) fn ciphers(&self, manifest: &Manifest<'_>) -> Ciphers {
        Ciphers::with(manifest, |encryption| Ok(self.key(encryption.payload_type).cloned()))
            .unwrap_or_default()
    }
}

/// The content keys of the encrypted payloads of a bundle.
#[derive(Default)]
pub(crate) struct Ciphers(Vec<Cipher>);

struct Cipher {
    payload_type: PayloadType,
    /// Offset and size of the payload in the bundle, in bytes.
    place: (u64, u64),
    /// The content key; `None` if nobody gave the key of its class.
    key: Option<ContentKey>,
}

impl Ciphers {
    /// Unwraps the content keys of a bundle. Without class keys every encrypted payload is hidden.
    ///
    /// # Errors
    /// `ClassKeyMissing` if there are class keys, and not that of a payload; `ContentKeyInvalid`.
    pub(crate) fn of(manifest: &Manifest<'_>, class_keys: &[ClassKey]) -> Result<Self, Error> {
        Self::with(manifest, |encryption| {
            let is_asked = !class_keys.is_empty();
            is_asked.then(|| content_key(encryption, class_keys)).transpose()
        })
    }

    fn with(
        manifest: &Manifest<'_>,
        key: impl Fn(&Encryption) -> Result<Option<ContentKey>, Refusal>,
    ) -> Result<Self, Error> {
        let cipher = |encryption: Encryption| {
            let payload_type = encryption.payload_type;
            let place = manifest.payload(payload_type).map_or((0, 0), |it| (it.offset, it.size));
            Ok(Cipher { payload_type, place, key: key(&encryption)? })
        };
        manifest.extensions.encrypted().map(cipher).collect::<Result<_, _>>().map(Self)
    }

    /// Returns true if a payload is encrypted and cannot be decrypted.
    pub(crate) fn is_hidden(&self, payload_type: PayloadType) -> bool {
        self.0.iter().any(|cipher| cipher.payload_type == payload_type && cipher.key.is_none())
    }

    /// Decrypts bytes that begin at `offset` in the bundle, as far as they belong to payloads whose keys are known.
    pub(crate) fn decrypt(&self, offset: u64, bytes: &mut [u8]) {
        let end = offset.saturating_add(bytes.len() as u64);
        for Cipher { place: (start, size), key, .. } in &self.0 {
            let (from, to) = (offset.max(*start), end.min(start.saturating_add(*size)));
            if let Some(key) = key
                && from < to
            {
                let part = (from - offset) as usize..(to - offset) as usize;
                apply(key, from - start, &mut bytes[part]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_of_a_payload_is_decrypted_alone() {
        let key = ContentKey::generate().unwrap();
        let plain: Vec<u8> = (0..1000_u32).map(|byte| byte as u8).collect();
        let mut cipher = plain.clone();
        apply(&key, 0, &mut cipher);
        assert!(cipher.iter().zip(&plain).filter(|(a, b)| a == b).count() < 40);
        let other = Cipher { payload_type: PayloadType::Initramfs, place: (8192, 10), key: None };
        let key = Some(key);
        let kernel = Cipher { payload_type: PayloadType::Kernel, place: (4096, 1000), key };
        let ciphers = Ciphers(vec![kernel, other]);
        assert!(ciphers.is_hidden(PayloadType::Initramfs));
        assert!(!ciphers.is_hidden(PayloadType::Kernel));
        assert!(!ciphers.is_hidden(PayloadType::SystemFdt));
        // The bundle around the payload stays what it is.
        let mut file = [&[0x5a; 4096][..], &cipher, &[0x5a; 5000]].concat();
        for (from, to) in [(0, 4097), (4097, 4100), (4100, 5000), (5000, 9000), (9000, 10_096)] {
            ciphers.decrypt(from as u64, &mut file[from..to]);
        }
        assert_eq!(file, [&[0x5a; 4096][..], &plain, &[0x5a; 5000]].concat());
    }

    #[test]
    fn a_content_key_needs_its_class_and_a_sound_wrap() {
        let [class_key, other, key] = [(); 3].map(|()| ClassKey::generate().unwrap());
        let payload_type = PayloadType::Kernel;
        let wrapped = class_key.wrap(&key);
        let good = Encryption { payload_type, class_id: class_key.id(), wrapped };
        let reason = |encryption: &Encryption, keys: &[ClassKey]| {
            content_key(encryption, keys).map(|found| found == key).map_err(|it| it.reason)
        };
        let both = [other.clone(), class_key.clone()];
        assert_eq!(reason(&good, &both), Ok(true));
        assert_eq!(reason(&good, &both[..1]), Err(Reason::ClassKeyMissing));
        assert_eq!(reason(&good, &[]), Err(Reason::ClassKeyMissing));
        let of_other = Encryption { wrapped: other.wrap(&key), ..good };
        assert_eq!(reason(&of_other, &both), Err(Reason::ContentKeyInvalid));
    }
}
