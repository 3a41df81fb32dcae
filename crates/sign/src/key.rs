//! Ed25519 keys: private in PKCS#8 PEM (RFC 5958, RFC 8410), public in SPKI PEM (RFC 5280).

use std::fmt;
use std::path::{Path, PathBuf};

use ed25519_dalek::ed25519::pkcs8::{KeypairBytes, PublicKeyBytes};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::spki::der::{Decode, SecretDocument};
use ed25519_dalek::pkcs8::spki::{EncodePublicKey, SubjectPublicKeyInfoRef};
use ed25519_dalek::pkcs8::{
    ALGORITHM_OID, Document, EncodePrivateKey, ObjectIdentifier, PrivateKeyInfoRef,
};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use hartlock_image::{Algorithm, KEY_ID_SIZE, KeyRecord};
use zeroize::Zeroizing;

use crate::Error;
use crate::file::{FileError, NewFile, read_small};
use crate::pem;

/// Longest key file. The largest post-quantum keys stay below it too.
const MAX_KEY_FILE_SIZE: usize = 64 << 10;
const PRIVATE_LABEL: &str = "PRIVATE KEY";
const PUBLIC_LABEL: &str = "PUBLIC KEY";

/// A key file that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {kind}", .path.display())]
pub struct KeyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: KeyErrorKind,
}

/// What is wrong with a key file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyErrorKind {
    /// There is no PEM block.
    #[error("is not a PEM file")]
    NotPem,
    /// A private key where a public one is wanted.
    #[error("is a private key, and a public one is wanted")]
    IsPrivate,
    /// A public key where a private one is wanted.
    #[error("is a public key, and a private one is wanted")]
    IsPublic,
    /// A passphrase protects the key.
    #[error("is encrypted with a passphrase")]
    Encrypted,
    /// Another kind of PEM file.
    #[error("holds a {0:?}, which is no key in a form that is supported")]
    WrongLabel(String),
    /// A key of another algorithm.
    #[error("is a key for {0}, which is not supported")]
    UnsupportedAlgorithm(String),
    /// The encoding is damaged, or a point is not valid.
    #[error("is damaged: its key is malformed")]
    Malformed,
    /// Something stands around the key.
    #[error("has other data around its key")]
    TrailingData,
    /// The operating system has no random numbers.
    #[error("was not made: the operating system gave no random numbers")]
    NoRandomness,
}

impl KeyError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match &self.kind {
            KeyErrorKind::NotPem => {
                "give a file that begins with `-----BEGIN`, for instance from `hartlock keygen`"
            }
            KeyErrorKind::IsPrivate => {
                "give the public key, for instance root.pub.pem; keep the private one to yourself"
            }
            KeyErrorKind::IsPublic => "give the private key, for instance root.pem",
            KeyErrorKind::Encrypted => {
                "remove the passphrase with `openssl pkey -in KEY -out PLAIN`, in a safe place"
            }
            KeyErrorKind::WrongLabel(_) => {
                "convert it with `openssl pkey` (private) or `openssl pkey -pubin` (public)"
            }
            KeyErrorKind::UnsupportedAlgorithm(_) => {
                "use an Ed25519 key, for instance from `hartlock keygen`"
            }
            KeyErrorKind::Malformed => "fetch the key again, or make a new one",
            KeyErrorKind::TrailingData => "keep one key in a file, and nothing else",
            KeyErrorKind::NoRandomness => "try again when the system is up completely",
        }
        .to_string()
    }
}

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads an SPKI PEM file.
    ///
    /// # Errors
    /// If it cannot be read or is not a valid Ed25519 public key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_small(path, MAX_KEY_FILE_SIZE)?;
        Self::from_pem(&bytes)
            .map_err(|kind| Error::Key(KeyError { path: path.to_path_buf(), kind }))
    }

    /// Decodes SPKI PEM.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyErrorKind> {
        let (label, block) = pem::sole_block(pem)?;
        if label != PUBLIC_LABEL {
            return Err(wrong_label(label, KeyErrorKind::IsPrivate));
        }
        let (_, der) = Document::from_pem(block).map_err(|_| KeyErrorKind::Malformed)?;
        let info = SubjectPublicKeyInfoRef::from_der(der.as_bytes())
            .map_err(|_| KeyErrorKind::Malformed)?;
        check_algorithm(&info.algorithm.oid)?;
        let bytes = PublicKeyBytes::try_from(info).map_err(|_| KeyErrorKind::Malformed)?;
        Self::from_bytes(&bytes.to_bytes())
    }

    /// Checks an encoded point as a verifier would (image format §5.2).
    ///
    /// # Errors
    /// `Malformed` if it is not canonical, not on the curve or of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyErrorKind> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyErrorKind::Malformed)?;
        let is_canonical = key.to_edwards().compress().as_bytes() == bytes;
        if is_canonical && !key.is_weak() { Ok(Self(key)) } else { Err(KeyErrorKind::Malformed) }
    }

    /// SPKI PEM.
    pub fn to_pem(&self) -> String {
        PublicKeyBytes(self.0.to_bytes())
            .to_public_key_pem(LineEnding::LF)
            .expect("an encoding of fixed size")
    }

    /// The algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        Algorithm::Ed25519
    }

    /// The key as it stands in a signature block.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The record of this key in a manifest (image format §4.2).
    pub fn record(&self) -> KeyRecord {
        let (algorithm, parameters) = self.algorithm().numbers();
        KeyRecord { algorithm, parameters, key_id: self.key_id() }
    }

    /// Its id (image format §2.5).
    pub fn key_id(&self) -> [u8; KEY_ID_SIZE] {
        let (algorithm, parameters) = self.algorithm().numbers();
        hartlock_verify::key_id(algorithm, parameters, self.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record().fmt(f)
    }
}

/// A private key. Its memory is wiped when it is dropped.
pub struct PrivateKey(SigningKey);

impl PrivateKey {
    /// Makes a key from the operating system's random numbers.
    ///
    /// # Errors
    /// `NoRandomness`.
    pub fn generate() -> Result<Self, KeyErrorKind> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|_| KeyErrorKind::NoRandomness)?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads a PKCS#8 PEM file.
    ///
    /// # Errors
    /// If it cannot be read or is not a valid Ed25519 private key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_small(path, MAX_KEY_FILE_SIZE)?;
        Self::from_pem(&bytes)
            .map_err(|kind| Error::Key(KeyError { path: path.to_path_buf(), kind }))
    }

    /// Decodes PKCS#8 PEM, with or without the public key in it.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyErrorKind> {
        let (label, block) = pem::sole_block(pem)?;
        if label != PRIVATE_LABEL {
            return Err(wrong_label(label, KeyErrorKind::IsPublic));
        }
        let (_, der) = SecretDocument::from_pem(block).map_err(|_| KeyErrorKind::Malformed)?;
        let info =
            PrivateKeyInfoRef::from_der(der.as_bytes()).map_err(|_| KeyErrorKind::Malformed)?;
        check_algorithm(&info.algorithm.oid)?;
        let pair = KeypairBytes::try_from(info).map_err(|_| KeyErrorKind::Malformed)?;
        // Refuses a public key in the file that does not belong to the private one.
        SigningKey::try_from(&pair).map(Self).map_err(|_| KeyErrorKind::Malformed)
    }

    /// PKCS#8 PEM, version 1: without the public key, as `openssl genpkey` writes it. Readers
    /// that are older than RFC 5958 refuse the other form.
    pub fn to_pem(&self) -> Zeroizing<String> {
        KeypairBytes { secret_key: self.0.to_bytes(), public_key: None }
            .to_pkcs8_pem(LineEnding::LF)
            .expect("an encoding of fixed size")
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message: 64 bytes, always the same for the same message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "private half of {:?}", self.public())
    }
}

/// Writes a new pair of key files. Neither replaces a file: a private key cannot be made again,
/// and a public one may be the only trace of a private key that lies elsewhere.
///
/// # Errors
/// If one of the files exists or cannot be written.
pub fn write_pair(key: &PrivateKey, private_path: &Path, public_path: &Path) -> Result<(), Error> {
    // Asked first, so that the message names the file that matters most.
    if private_path.symlink_metadata().is_ok() {
        let exists = std::io::ErrorKind::AlreadyExists.into();
        return Err(FileError::new("create", private_path, exists).into());
    }
    let mut private = NewFile::private(private_path)?;
    private.write(key.to_pem().as_bytes())?;
    let mut public = NewFile::public(public_path)?;
    public.write(key.public().to_pem().as_bytes())?;
    // The public file first: a public key without its private half does no harm, and is removed.
    public.create()?;
    private.create().inspect_err(|_| {
        let _ = std::fs::remove_file(public_path);
    })?;
    Ok(())
}

/// The error for a label that is not the wanted one; `opposite` if it is the other half's.
fn wrong_label(label: &str, opposite: KeyErrorKind) -> KeyErrorKind {
    let is_opposite = match opposite {
        KeyErrorKind::IsPrivate => label.ends_with(PRIVATE_LABEL),
        _ => label.ends_with(PUBLIC_LABEL),
    };
    match label {
        _ if is_opposite => opposite,
        "ENCRYPTED PRIVATE KEY" => KeyErrorKind::Encrypted,
        "RSA PRIVATE KEY" | "RSA PUBLIC KEY" => KeyErrorKind::UnsupportedAlgorithm("RSA".into()),
        "EC PRIVATE KEY" => KeyErrorKind::UnsupportedAlgorithm("EC (ECDSA)".into()),
        "DSA PRIVATE KEY" => KeyErrorKind::UnsupportedAlgorithm("DSA".into()),
        _ => KeyErrorKind::WrongLabel(label.chars().take(40).collect()),
    }
}

fn check_algorithm(oid: &ObjectIdentifier) -> Result<(), KeyErrorKind> {
    if *oid == ALGORITHM_OID {
        Ok(())
    } else {
        Err(KeyErrorKind::UnsupportedAlgorithm(pem::algorithm_name(oid)))
    }
}

#[cfg(test)]
mod tests;
