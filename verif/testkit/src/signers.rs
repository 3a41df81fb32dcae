//! Signers of every family except Ed25519. Their private keys are files of the project, so they
//! are not secret and a signature with them proves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use hartlock_image::{Algorithm, KeyRecord};
use hartlock_keys::{Format, PrivateKey, ReadOptions};
use rsa::pkcs8::DecodePrivateKey;
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use sha2::Sha256;

use super::signed::Stream;

/// The folder of the key files, relative to the root of the project.
const FOLDER: &str = "spec/vectors/keys";

/// A published key pair.
#[derive(Debug)]
pub struct Signer {
    /// The name of the key, as in the file `<file>.pem`.
    file: &'static str,
    /// The name of the algorithm (image format §2.2). The same RSA key is used with several
    /// algorithms.
    algorithm: &'static str,
}

const fn signer(file: &'static str, algorithm: &'static str) -> Signer {
    Signer { file, algorithm }
}

pub static RSA_PSS_2048: Signer = signer("fake-rsa-2048", "rsa-pss-2048-sha256");
pub static RSA_PSS_3072: Signer = signer("fake-rsa-3072", "rsa-pss-3072-sha384");
pub static RSA_PSS_3072_SHA256: Signer = signer("fake-rsa-3072", "rsa-pss-3072-sha256");
pub static RSA_PSS_4096: Signer = signer("fake-rsa-4096", "rsa-pss-4096-sha512");
pub static RSA_PKCS1_2048: Signer = signer("fake-rsa-2048", "rsa-pkcs1-2048-sha256");
pub static RSA_PKCS1_3072: Signer = signer("fake-rsa-3072", "rsa-pkcs1-3072-sha512");
pub static ECDSA_P256: Signer = signer("fake-ecdsa-p256", "ecdsa-p256");
pub static ECDSA_P384: Signer = signer("fake-ecdsa-p384", "ecdsa-p384");
pub static LMS: Signer = signer("fake-lms-sha256-h5-w4", "lms-sha256-h5-w4");
pub static LMS_192: Signer = signer("fake-lms-sha256-192-h5-w8", "lms-sha256-192-h5-w8");
pub static HSS: Signer = signer("fake-hss-l8-sha256-192-h5-w8", "hss-l8-sha256-192-h5-w8");
pub static XMSS: Signer = signer("fake-xmss-sha2-10-256", "xmss-sha2-10-256");
pub static XMSS_192: Signer = signer("fake-xmss-sha2-10-192", "xmss-sha2-10-192");
pub static XMSS_SHAKE: Signer = signer("fake-xmss-shake256-10-192", "xmss-shake256-10-192");
pub static XMSS_MT: Signer = signer("fake-xmssmt-sha2-20-2-256", "xmssmt-sha2-20-2-256");
pub static XMSS_MT_40: Signer = signer("fake-xmssmt-sha2-40-8-192", "xmssmt-sha2-40-8-192");
pub static XMSS_MT_60: Signer = signer("fake-xmssmt-sha2-60-12-192", "xmssmt-sha2-60-12-192");
pub static ML_DSA_44: Signer = signer("fake-ml-dsa-44", "ml-dsa-44");
pub static ML_DSA_65: Signer = signer("fake-ml-dsa-65", "ml-dsa-65");
pub static ML_DSA_87: Signer = signer("fake-ml-dsa-87", "ml-dsa-87");
pub static SLH_DSA_128S: Signer = signer("fake-slh-dsa-sha2-128s", "slh-dsa-sha2-128s");
pub static SLH_DSA_192S: Signer = signer("fake-slh-dsa-sha2-192s", "slh-dsa-sha2-192s");
pub static SLH_DSA_SHAKE_128F: Signer = signer("fake-slh-dsa-shake-128f", "slh-dsa-shake-128f");

/// An algorithm and a message.
type Request = (&'static str, Vec<u8>);

/// The signatures made so far: rows and tests request the same ones again, and some take a second to
/// make.
static SIGNED: Mutex<BTreeMap<Request, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The public keys, and the lengths of the signatures.
static PUBLIC: Mutex<BTreeMap<&str, (Vec<u8>, usize)>> = Mutex::new(BTreeMap::new());

impl Signer {
    /// Returns the name of the key's files, without extension.
    pub const fn file(&self) -> &'static str {
        self.file
    }

    pub fn algorithm(&self) -> Algorithm {
        Algorithm::from_name(self.algorithm).expect("signers have algorithms of the format")
    }

    /// Returns the public key as encoded in a bundle.
    pub fn public_key(&self) -> Vec<u8> {
        self.public().0
    }

    /// Returns the private key as PKCS #8, for keys that a device uses.
    ///
    /// # Errors
    /// If the key cannot be exported.
    pub fn private_der(&self) -> Result<Vec<u8>> {
        self.with_key(|key| Ok(key.export(Format::Der, None)?.to_vec()))
    }

    /// Returns zeros of the length of a signature.
    pub fn blank(&self) -> Vec<u8> {
        vec![0; self.public().1]
    }

    pub fn record(&self) -> KeyRecord {
        let (algorithm, parameters) = self.algorithm().numbers();
        super::keys::record(algorithm, parameters, &self.public_key())
    }

    /// Signs a message, with the same result each time: a stateful key signs with the index in its
    /// file, and only a copy of the file is changed.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let place = (self.algorithm, message.to_vec());
        let mut signed = SIGNED.lock().unwrap_or_else(PoisonError::into_inner);
        let sign = || self.with_key(|key| Ok(key.sign(message)?)).expect("published keys sign");
        signed.entry(place).or_insert_with(sign).clone()
    }

    /// Makes a PSS signature with SHA-256 whose salt has `salt_size` bytes. The key must be an RSA
    /// key.
    pub fn sign_with_salt(&self, message: &[u8], salt_size: usize) -> Vec<u8> {
        self.with_key(|key| {
            let key = key.export(Format::Der, None)?;
            let key = rsa::RsaPrivateKey::from_pkcs8_der(&key)?;
            let signer = rsa::pss::SigningKey::<Sha256>::new_with_salt_len(key, salt_size);
            Ok(signer.try_sign_with_rng(&mut Stream::new("salt"), message)?.to_vec())
        })
        .expect("published keys sign")
    }

    fn public(&self) -> (Vec<u8>, usize) {
        let mut public = PUBLIC.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = || {
            self.with_key(|key| Ok((key.public().as_bytes().to_vec(), key.signature_size())))
                .expect("published keys can be read")
        };
        public.entry(self.algorithm).or_insert_with(ask).clone()
    }

    fn with_key<T>(&self, action: impl FnOnce(&PrivateKey) -> Result<T>) -> Result<T> {
        let file = crate::root().join(FOLDER).join(self.file).with_extension("pem");
        let scratch = tempfile::tempdir()?;
        let copy = scratch.path().join("fake.pem");
        copy_private(&file, &copy)?;
        let algorithms = [self.algorithm()];
        let key = PrivateKey::read_with(
            &copy,
            ReadOptions { algorithms: &algorithms, passphrase: None, any_file_system: true },
        )
        .with_context(|| file.display().to_string())?;
        ensure!(key.algorithm() == algorithms[0], "{} is of {}", self.file, key.algorithm());
        action(&key)
    }
}

/// Copies a key file with permissions for its owner only, as the signer requires.
fn copy_private(from: &Path, to: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(0o600))?)
}
