//! Private keys behind a passphrase: PBES2 of PKCS#5 (RFC 8018 §6.2) within PKCS#8 (RFC 5958 §3).

use getrandom::SysRng;
use pkcs8::der::Decode;
use pkcs8::pkcs5::pbes2::Parameters;
use pkcs8::pkcs5::scrypt;
use pkcs8::pkcs5::{EncryptionScheme, Error as Pkcs5Error};
use pkcs8::rand_core::TryRng;
use pkcs8::{EncryptedPrivateKeyInfoRef, Error, PrivateKeyInfoRef, SecretDocument};

use super::KeyErrorKind;

/// scrypt with 16 MiB of memory, five times over (N, r, p): OpenSSL does not take more memory than 32 MiB
/// unless it is told to, so the rest of the work is in p.
const SCRYPT_LOG_N: u8 = 14;
const SCRYPT_R: u32 = 8;
const SCRYPT_P: u32 = 5;
/// Most memory that a file may ask for, in bytes, and most repetitions.
const MAX_SCRYPT_MEMORY: u64 = 1 << 30;
const MAX_SCRYPT_P: u16 = 64;
/// Some minutes.
const MAX_PBKDF2_ITERATIONS: u32 = 100_000_000;

/// Decrypts PKCS#8.
pub(super) fn decrypt(der: &[u8], passphrase: &[u8]) -> Result<SecretDocument, KeyErrorKind> {
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|_| KeyErrorKind::Malformed)?;
    let unsupported = |name: String| KeyErrorKind::UnsupportedEncryption(name);
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        return Err(unsupported("PBES1".to_string()));
    };
    check_work(parameters)?;
    info.decrypt(passphrase).map_err(|error| match error {
        Error::EncryptedPrivateKey(Pkcs5Error::UnsupportedAlgorithm { oid }) => {
            unsupported(format!("the algorithm {oid}"))
        }
        Error::EncryptedPrivateKey(Pkcs5Error::AlgorithmParametersInvalid { .. }) => {
            KeyErrorKind::Malformed
        }
        // A wrong passphrase gives noise; one time in 256 that even ends like a message.
        _ => KeyErrorKind::WrongPassphrase,
    })
}

/// A file must not be able to ask for all the memory that there is.
fn check_work(parameters: &Parameters) -> Result<(), KeyErrorKind> {
    let is_bounded = match (parameters.kdf.scrypt(), parameters.kdf.pbkdf2()) {
        (Some(scrypt), _) => {
            let memory = u64::from(scrypt.block_size)
                .saturating_mul(128)
                .saturating_mul(scrypt.cost_parameter);
            scrypt.cost_parameter.is_power_of_two()
                && scrypt.cost_parameter > 1
                && memory <= MAX_SCRYPT_MEMORY
                && scrypt.parallelization <= MAX_SCRYPT_P
        }
        (_, Some(pbkdf2)) => pbkdf2.iteration_count <= MAX_PBKDF2_ITERATIONS,
        _ => true,
    };
    if is_bounded { Ok(()) } else { Err(KeyErrorKind::Malformed) }
}

/// Encrypts PKCS#8 with scrypt and AES-256-CBC.
pub(super) fn encrypt(der: &[u8], passphrase: &[u8]) -> Result<SecretDocument, KeyErrorKind> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    for room in [&mut salt, &mut iv] {
        SysRng.try_fill_bytes(room).map_err(|_| KeyErrorKind::NoRandomness)?;
    }
    let parameters = scrypt::Params::new(SCRYPT_LOG_N, SCRYPT_R, SCRYPT_P)
        .ok()
        .and_then(|work| Parameters::generate_scrypt_aes256cbc(work, &salt, iv).ok());
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| KeyErrorKind::Malformed)?;
    parameters
        .and_then(|parameters| info.encrypt_with_params(parameters, passphrase).ok())
        .ok_or(KeyErrorKind::Malformed)
}
