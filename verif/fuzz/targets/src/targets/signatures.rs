//! Compares every signature algorithm with a second implementation. Each target starts from genuine
//! signatures, so that both verdicts are reached, and changes key, message and signature after signing.

pub mod ecdsa;
pub mod ed25519;
pub mod lms;
pub mod ml_dsa;
pub mod rsa;
pub mod slh_dsa;
mod slh_dsa_signer;
pub mod xmss;

use hartlock_kernels::Kernels;
use sha2::Digest;
use shake::digest::{ExtendableOutput, XofReader};

const KERNELS: &Kernels = &Kernels::PORTABLE;

/// Messages to be signed: an empty one, a short one, and one of several hash blocks.
const MESSAGES: [&[u8]; 3] = [b"", b"a message", &[0x5a; 300]];

/// Splits a message into two pieces, which must not change the result.
fn pieces(message: &[u8]) -> [&[u8]; 2] {
    let (front, back) = message.split_at(message.len() / 3);
    [front, back]
}

fn sha256(message: &[u8]) -> Vec<u8> {
    sha2::Sha256::digest(message).to_vec()
}

fn sha512(message: &[u8]) -> Vec<u8> {
    sha2::Sha512::digest(message).to_vec()
}

/// Returns the first 64 bytes of SHAKE128.
fn shake128(message: &[u8]) -> Vec<u8> {
    squeeze(shake::Shake128::default(), message)
}

/// Returns the first 64 bytes of SHAKE256, which are enough for every hash value of the algorithms.
fn shake256(message: &[u8]) -> Vec<u8> {
    squeeze(shake::Shake256::default(), message)
}

fn squeeze(mut hash: impl ExtendableOutput, message: &[u8]) -> Vec<u8> {
    let mut output = vec![0; 64];
    hash.update(message);
    hash.finalize_xof().read(&mut output);
    output
}

/// Returns the 4-bit digits that a WOTS+ signature signs: the digits of the message, and three digits of
/// the checksum (RFC 8391 §3.1.5; FIPS 205 §5.2).
fn digits(message: &[u8]) -> Vec<u32> {
    let base_w = |bytes: &[u8]| -> Vec<u32> {
        bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(u32::from).collect()
    };
    let mut digits = base_w(message);
    let sum: u32 = digits.iter().map(|digit| 15 - digit).sum();
    digits.extend(&base_w(&((sum << 4) as u16).to_be_bytes())[..3]);
    digits
}

/// Adds a big-endian number to another of equal length. Does nothing if the sum is longer.
fn add(number: &mut [u8], other: &[u8]) {
    let mut sum = number.to_vec();
    let mut carry = 0;
    for (byte, add) in sum.iter_mut().rev().zip(other.iter().rev()) {
        carry += u16::from(*byte) + u16::from(*add);
        *byte = carry as u8;
        carry >>= 8;
    }
    if carry == 0 {
        number.copy_from_slice(&sum);
    }
}
