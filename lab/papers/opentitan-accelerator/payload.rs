//! What is hashed, the same on every core, and what must come out.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Bytes of the payloads (figure 2 of the paper).
pub const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
const KEY_LEN: usize = 32;

/// Byte i is i mod 251, a prime, so that no two blocks are alike.
pub fn message(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8).collect()
}

/// Byte i is 255 - i.
pub fn key() -> Vec<u8> {
    (0..KEY_LEN).map(|at| 255 - at as u8).collect()
}

/// The digest in hexadecimal; nothing for a function of another name.
pub fn digest(what: &str, bytes: usize) -> Option<String> {
    let message = message(bytes);
    let digest = match what {
        "sha256" => Sha256::digest(&message),
        "hmac-sha256" => {
            let mut mac = Hmac::<Sha256>::new_from_slice(&key()).ok()?;
            mac.update(&message);
            mac.finalize().into_bytes()
        }
        _ => return None,
    };
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
