//! Parts of ParallelHash128 and ParallelHash256 (SP 800-185 §6) with an empty customization string and 256 and 512
//! bits of output. The caller splits the message into blocks and hashes them.
//!
//! The leaf of a block is its [`Shake128`](crate::sha3::Shake128) or [`Shake256`](crate::sha3::Shake256) digest,
//! because cSHAKE with two empty strings is SHAKE (§3.3). The digest of the message is the [`Root128`] or [`Root256`]
//! digest of `left_encode(block size) ‖ leaf_0 ‖ … ‖ leaf_{n-1} ‖ right_encode(n) ‖ right_encode(output bits)`.

use core::array;
use core::iter::Skip;

use crate::keccak::{FULL_ROUNDS, RATE_128, RATE_256, Sponge, first};
use crate::{Hash, Kernels};

/// An encoded integer, including its length in bytes (SP 800-185 §2.3.1).
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    bytes: [u8; 9],
    len: usize,
}

impl AsRef<[u8]> for Encoded {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.bytes.len().wrapping_sub(self.len)..).unwrap_or(&self.bytes)
    }
}

impl IntoIterator for Encoded {
    type Item = u8;
    type IntoIter = Skip<array::IntoIter<u8, 9>>;

    fn into_iter(self) -> Self::IntoIter {
        self.bytes.into_iter().skip(self.bytes.len().wrapping_sub(self.len))
    }
}

/// Returns the length of `value` in bytes without leading zeros, but at least 1.
const fn byte_len(value: u64) -> usize {
    8usize.wrapping_sub((value | 1).leading_zeros() as usize >> 3)
}

/// Encodes `value` as the number of its bytes, followed by the bytes in big-endian order (§2.3.1).
pub fn left_encode(value: u64) -> Encoded {
    let len = byte_len(value);
    let mut bytes = [0; 9];
    if let Some(digits) = bytes.last_chunk_mut() {
        *digits = value.to_be_bytes();
    }
    if let Some(first) = bytes.get_mut(8usize.wrapping_sub(len)) {
        *first = len as u8;
    }
    Encoded { bytes, len: len.wrapping_add(1) }
}

/// Encodes `value` as its bytes in big-endian order, followed by the number of bytes (§2.3.1).
pub fn right_encode(value: u64) -> Encoded {
    let len = byte_len(value);
    let mut bytes = [len as u8; 9];
    if let Some(digits) = bytes.first_chunk_mut() {
        *digits = value.to_be_bytes();
    }
    Encoded { bytes, len: len.wrapping_add(1) }
}

/// Makes a sponge of cSHAKE with N = "ParallelHash" and an empty S, which has absorbed `bytepad(encode_string(N) ‖
/// encode_string(S), rate)` (§2.3.2, §2.3.3, §3.3).
fn start(kernels: &Kernels, rate_words: usize) -> Sponge {
    let mut sponge = Sponge::new(kernels, rate_words, FULL_ROUNDS);
    // The input is the rate in bytes, N with its length of 96 bits, and an empty S.
    sponge.absorb(&[1, rate_words.wrapping_mul(8) as u8, 1, 96]);
    sponge.absorb(b"ParallelHash\x01\x00");
    sponge.permute();
    sponge
}

macro_rules! root {
    ($(#[$doc:meta])* $name:ident, $rate_words:ident, $output_len:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Sponge);

        impl Hash for $name {
            const OUTPUT_LEN: usize = $output_len;
            type Output = [u8; $output_len];

            fn with(kernels: &Kernels) -> Self {
                Self(start(kernels, $rate_words))
            }

            fn update(&mut self, data: &[u8]) {
                self.0.absorb(data);
            }

            fn finalize(self) -> Self::Output {
                // The suffix has two zero bits of cSHAKE and the first bit of the padding (§3.3).
                first(self.0.finalize(0x04))
            }
        }
    };
}

root! {
    /// The final hash of ParallelHash128: cSHAKE128 with N = "ParallelHash" and 256 bits of output.
    Root128, RATE_128, 32
}

root! {
    /// The final hash of ParallelHash256: cSHAKE256 with N = "ParallelHash" and 512 bits of output.
    Root256, RATE_256, 64
}
