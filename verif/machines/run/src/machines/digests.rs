//! Payloads of the programs that measure hash engines, and their digests.

use hartlock_kernels::Kernels;
use hartlock_kernels::xof::Xof;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Byte i is i modulo this, a prime, so that no two blocks are alike.
const PERIOD: usize = 251;
/// Byte i of the key of HMAC is 255 - i.
const KEY_LEN: usize = 32;
/// Output of SHAKE.
const SHAKE_LEN: usize = 200;

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
        "sha3-224" => Sha3_224::digest(message).to_vec(),
        "sha3-256" => Sha3_256::digest(message).to_vec(),
        "sha3-384" => Sha3_384::digest(message).to_vec(),
        "sha3-512" => Sha3_512::digest(message).to_vec(),
        "shake128" => output(Xof::shake128(&Kernels::PORTABLE), message),
        "shake256" => output(Xof::shake256(&Kernels::PORTABLE), message),
        _ => return None,
    };
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Of a function without a length of its own.
fn output(mut function: Xof, message: &[u8]) -> Vec<u8> {
    let mut output = vec![0; SHAKE_LEN];
    function.update(message);
    function.finalize().read(&mut output);
    output
}
