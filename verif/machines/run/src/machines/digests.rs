//! Payloads of the programs that measure hash engines, and their digests.

use hartlock_kernels::Kernels;
use hartlock_kernels::xof::Xof;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Byte i of a payload is i modulo this prime, so that no two blocks are equal.
const PERIOD: usize = 251;
/// The length of the key of HMAC in bytes. Its byte i is 255 - i.
const KEY_LEN: usize = 32;
/// The length of the output of SHAKE in bytes.
const SHAKE_LEN: usize = 200;

/// Returns `len` bytes of the payload from an offset on.
pub fn message(offset: usize, len: usize) -> Vec<u8> {
    (offset..offset + len).map(|at| (at % PERIOD) as u8).collect()
}

/// Returns the digest in hexadecimal, or nothing if the function is unknown.
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

/// Returns the output of an extendable-output function.
fn output(mut function: Xof, message: &[u8]) -> Vec<u8> {
    let mut output = vec![0; SHAKE_LEN];
    function.update(message);
    function.finalize().read(&mut output);
    output
}
