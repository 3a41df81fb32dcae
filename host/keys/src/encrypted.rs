//! Private keys encrypted with a passphrase: PBES2 of PKCS#5 (RFC 8018 §6.2) within PKCS#8 (RFC 5958 §3).

use pkcs8::der::asn1::{AnyRef, OctetStringRef};
use pkcs8::der::{self, Decode, ErrorKind};
use pkcs8::pkcs5::pbes2::{EncryptionScheme as Cipher, PBES2_OID, Parameters};
use pkcs8::pkcs5::scrypt;
use pkcs8::pkcs5::{EncryptionScheme, Error as Pkcs5Error};
use pkcs8::spki::AlgorithmIdentifierRef;
use pkcs8::{
    EncryptedPrivateKeyInfoRef, Error, ObjectIdentifier, PrivateKeyInfoRef, SecretDocument,
};

use super::KeyErrorKind;
use super::random::random;

/// Work of scrypt, as the parameters N, r and p: 16 MiB of memory, used five times. OpenSSL refuses to
/// use more than 32 MiB without an option, so p provides the rest of the work.
const SCRYPT_LOG_N: u8 = 14;
const SCRYPT_R: u32 = 8;
const SCRYPT_P: u32 = 5;
/// Maximum memory that a file may require, in bytes, and maximum of p.
const MAX_SCRYPT_MEMORY: u64 = 1 << 30;
const MAX_SCRYPT_P: u16 = 64;
/// The maximum number of iterations of PBKDF2, which takes some minutes.
const MAX_PBKDF2_ITERATIONS: u32 = 100_000_000;

/// Decrypts an encrypted PKCS#8 structure.
pub(super) fn decrypt(der: &[u8], passphrase: &[u8]) -> Result<SecretDocument, KeyErrorKind> {
    let unsupported = |name: String| KeyErrorKind::UnsupportedEncryption(name);
    match scheme(der) {
        Ok(PBES2_OID) => {}
        Ok(other) => return Err(unsupported(format!("the scheme {other}"))),
        Err(_) => {
            return Err(KeyErrorKind::Malformed(
                "its DER is not that of an EncryptedPrivateKeyInfo",
            ));
        }
    }
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|error| match error.kind() {
        ErrorKind::OidUnknown { oid } => unsupported(format!("the algorithm {oid}")),
        _ => KeyErrorKind::Malformed("the parameters of its encryption are malformed"),
    })?;
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else {
        return Err(KeyErrorKind::Malformed("the parameters of its encryption are malformed"));
    };
    if let Cipher::Aes128Gcm { .. } | Cipher::Aes256Gcm { .. } = parameters.encryption {
        // The library decodes AES-GCM with other parameters than those of RFC 5084.
        return Err(unsupported("AES-GCM".to_string()));
    }
    check_work(parameters)?;
    info.decrypt(passphrase).map_err(|error| match error {
        Error::EncryptedPrivateKey(Pkcs5Error::UnsupportedAlgorithm { oid }) => {
            unsupported(format!("the algorithm {oid}"))
        }
        Error::EncryptedPrivateKey(Pkcs5Error::AlgorithmParametersInvalid { .. }) => {
            KeyErrorKind::Malformed("the parameters of its encryption are malformed")
        }
        // A wrong passphrase decrypts to random bytes, which end in valid padding about once in 256
        // times.
        _ => KeyErrorKind::WrongPassphrase,
    })
}

/// Returns the identifier of the encryption scheme of an encrypted key, supported or not.
fn scheme(der: &[u8]) -> der::Result<ObjectIdentifier> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let scheme = AlgorithmIdentifierRef::decode(reader)?;
        <&OctetStringRef>::decode(reader)?;
        Ok(scheme.oid)
    })
}

/// Checks that the parameters of the key derivation are within the limits: a file must not be able to
/// make the program use all memory of the machine or run for hours.
fn check_work(parameters: &Parameters) -> Result<(), KeyErrorKind> {
    let is_bounded = match (parameters.kdf.scrypt(), parameters.kdf.pbkdf2()) {
        (Some(scrypt), _) => {
            if !scrypt.cost_parameter.is_power_of_two() || scrypt.cost_parameter == 1 {
                return Err(KeyErrorKind::Malformed(
                    "the cost of scrypt is not a power of two above 1",
                ));
            }
            let memory = u64::from(scrypt.block_size)
                .saturating_mul(128)
                .saturating_mul(scrypt.cost_parameter);
            memory <= MAX_SCRYPT_MEMORY && scrypt.parallelization <= MAX_SCRYPT_P
        }
        // RFC 8018 appendix A.2: the iteration count is at least 1.
        (_, Some(pbkdf2)) if pbkdf2.iteration_count == 0 => {
            return Err(KeyErrorKind::Malformed("PBKDF2 has no rounds"));
        }
        (_, Some(pbkdf2)) => pbkdf2.iteration_count <= MAX_PBKDF2_ITERATIONS,
        _ => true,
    };
    if is_bounded {
        Ok(())
    } else {
        let way = "more memory or rounds than are allowed".to_string();
        Err(KeyErrorKind::UnsupportedEncryption(way))
    }
}

/// Encrypts a PKCS#8 structure with scrypt and AES-256-CBC.
pub(super) fn encrypt(der: &[u8], passphrase: &[u8]) -> Result<SecretDocument, KeyErrorKind> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    for room in [&mut salt, &mut iv] {
        random(room)?;
    }
    let parameters = scrypt::Params::new(SCRYPT_LOG_N, SCRYPT_R, SCRYPT_P)
        .ok()
        .and_then(|work| Parameters::generate_scrypt_aes256cbc(work, &salt, iv).ok());
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| UNENCODED)?;
    parameters
        .and_then(|parameters| info.encrypt_with_params(parameters, passphrase).ok())
        .ok_or(UNENCODED)
}

const UNENCODED: KeyErrorKind = KeyErrorKind::Malformed("it cannot be encrypted");
