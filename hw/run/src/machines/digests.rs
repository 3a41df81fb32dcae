//! Payloads of the programs that measure hash engines, and their digests.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use sha3::{Sha3_256, Sha3_384, Sha3_512};

/// Byte i is i modulo this, a prime, so that no two blocks are alike.
const PERIOD: usize = 251;
/// Byte i of the key of HMAC is 255 - i.
const KEY_LEN: usize = 32;

/// Bytes of a payload, from an offset on.
pub fn message(offset: usize, len: usize) -> Vec<u8> {
    (offset..offset + len).map(|at| (at % PERIOD) as u8).collect()
}

/// The digest in hexadecimal; nothing for a function of another name.
pub fn digest(name: &str, message: &[u8]) -> Option<String> {
    let digest = match name {
        "sha256" => Sha256::digest(message).to_vec(),
        "hmac-sha256" => {
            let key: [u8; KEY_LEN] = std::array::from_fn(|at| 255 - at as u8);
            let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        }
        "sha3-256" => Sha3_256::digest(message).to_vec(),
        "sha3-384" => Sha3_384::digest(message).to_vec(),
        "sha3-512" => Sha3_512::digest(message).to_vec(),
        _ => return None,
    };
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
