//! Class keys, which wrap the content keys of encrypted payloads (image format §7.6).

use std::path::Path;

use aes_kw::KwAes256;
use aes_kw::cipher::KeyInit;
use hartlock_files::{NewFile, read_small};
use hartlock_handoff::payload_keys::{CIPHER_KEY_SIZE, class_id};
use hartlock_image::{CLASS_ID_SIZE, WRAPPED_KEY_SIZE};
use zeroize::Zeroizing;

use crate::{Error, ForeignForm, KeyError, KeyErrorKind, formats, pem, random};

/// The PEM label of a class key.
pub(crate) const LABEL: &str = "HARTLOCK CLASS KEY";
/// Maximum length of a file with a class key, with comments before the key.
const MAX_FILE: usize = 1 << 16;

/// A key of AES-256 that a fleet of devices shares. It is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct ClassKey(Zeroizing<[u8; CIPHER_KEY_SIZE]>);

impl std::fmt::Debug for ClassKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ClassKey")
    }
}

impl ClassKey {
    /// Makes a key from random numbers of the operating system.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn generate() -> Result<Self, KeyErrorKind> {
        let mut key = Zeroizing::new([0; CIPHER_KEY_SIZE]);
        random::random(&mut *key)?;
        Ok(Self(key))
    }

    /// Makes a key from its bytes: a key that is derived, such as the one of a device for its class keys.
    pub fn from_bytes(bytes: &[u8; CIPHER_KEY_SIZE]) -> Self {
        Self(Zeroizing::new(*bytes))
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or holds no class key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_small(path, MAX_FILE)?;
        Self::decode(&bytes).map_err(|kind| Error::Key(KeyError { path: path.to_path_buf(), kind }))
    }

    fn decode(bytes: &[u8]) -> Result<Self, KeyErrorKind> {
        let block = pem::sole_key(bytes)?.ok_or(KeyErrorKind::NotPem)?.key;
        if block.label != LABEL {
            return Err(KeyErrorKind::ForeignForm(ForeignForm::NoClassKey));
        }
        let bytes = block.decode()?;
        let key: &[u8; CIPHER_KEY_SIZE] = bytes.as_slice().try_into().map_err(|_| {
            KeyErrorKind::WrongLength { expected: CIPHER_KEY_SIZE, actual: bytes.len() }
        })?;
        Ok(Self::from_bytes(key))
    }

    /// Writes the key to a new file, which only its owner can read.
    ///
    /// # Errors
    /// Fails if the file exists, has the name of a public key, or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        crate::check_private_name(path)?;
        crate::check_absent(path)?;
        let mut file = NewFile::private(path)?;
        file.write(formats::pem(LABEL, &self.0[..]).as_bytes())?;
        Ok(file.create()?)
    }

    /// Returns the id of the key, by which devices and bundles name it. It tells nothing about the key.
    pub fn id(&self) -> [u8; CLASS_ID_SIZE] {
        class_id(&self.0)
    }

    /// Wraps a key (AES-KW, RFC 3394 §2.2.1).
    pub fn wrap(&self, key: &Self) -> [u8; WRAPPED_KEY_SIZE] {
        let mut wrapped = [0; WRAPPED_KEY_SIZE];
        KwAes256::new(&(*self.0).into())
            .wrap_key(&*key.0, &mut wrapped)
            .expect("a whole number of parts, and room for one more");
        wrapped
    }

    /// Unwraps a key. Returns `None` if it was not wrapped by this key.
    pub fn unwrap(&self, wrapped: &[u8; WRAPPED_KEY_SIZE]) -> Option<Self> {
        let mut key = Zeroizing::new([0; CIPHER_KEY_SIZE]);
        KwAes256::new(&(*self.0).into()).unwrap_key(wrapped, &mut *key).ok()?;
        Some(Self(key))
    }

    /// Returns the bytes of the key.
    pub fn bytes(&self) -> &[u8; CIPHER_KEY_SIZE] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.pem");
        let key = ClassKey::generate().unwrap();
        key.write(&path).unwrap();
        assert!(ClassKey::read(&path).unwrap() == key);
        assert_eq!(crate::mode_for_others(&path), None);
        assert!(key.write(&path).is_err(), "an existing key was replaced");
        let text = std::fs::read_to_string(&path).unwrap();
        let kind = |text: &str| ClassKey::decode(text.as_bytes()).unwrap_err();
        assert_eq!(kind("a text"), KeyErrorKind::NotPem);
        let other = text.replace("CLASS", "STATE");
        assert_eq!(kind(&other), KeyErrorKind::ForeignForm(ForeignForm::NoClassKey));
        let shorter = formats::pem(LABEL, &[1; 31]);
        assert_eq!(kind(&shorter), KeyErrorKind::WrongLength { expected: 32, actual: 31 });
        assert!(matches!(kind(&(text.clone() + &text)), KeyErrorKind::TrailingData(_)));
        assert_eq!(format!("{key:?}"), "ClassKey");
    }

    #[test]
    fn keys_are_wrapped_as_the_standard_wraps_them() {
        // RFC 3394 §4.6.
        let hex = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
            digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
        };
        let key = std::array::from_fn(|index| index as u8);
        let data = hex("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
        let data = ClassKey::from_bytes(&data.try_into().unwrap());
        let wrapped =
            hex("28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21");
        let key = ClassKey::from_bytes(&key);
        assert_eq!(key.wrap(&data).to_vec(), wrapped);
        assert!(key.unwrap(&key.wrap(&data)).unwrap() == data);
        assert!(data.unwrap(&key.wrap(&data)).is_none());
        for bit in 0..8 * WRAPPED_KEY_SIZE {
            let mut bad = key.wrap(&data);
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(key.unwrap(&bad).is_none(), "bit {bit}");
        }
    }
}
