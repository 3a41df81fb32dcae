//! The hash functions and their padding.

use super::words::Words;
#[cfg(feature = "xmss")]
use crate::keccak::{RATE_128, RATE_256};
use crate::sha2::compression::H256;
#[cfg(feature = "xmss")]
use crate::sha2::compression::H512;

/// A hash function of hash-based signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sha256,
    #[cfg(feature = "xmss")]
    Sha512,
    #[cfg(feature = "xmss")]
    Shake128,
    #[cfg(feature = "xmss")]
    Shake256,
}

/// The padding of messages of one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Length in words of the padded message, or of the part that follows a midstate.
    pub words: usize,
    /// Byte after the end of the message.
    pub marker: u64,
    /// Value that is XORed into the last word: the length in bits (FIPS 180-4 §5.1), or the end of pad10*1 (FIPS 202
    /// §5.1).
    pub tail: u64,
}

impl Function {
    /// Returns the shape of messages of `len` bytes. A midstate has absorbed the first `hashed` bytes, which are
    /// whole blocks of SHA-2, or zero bytes. A padded message has at most three blocks of SHA-512.
    #[inline(never)]
    pub(crate) const fn shape(self, len: usize, hashed: usize) -> Shape {
        let rest = len.wrapping_sub(hashed);
        let bits = (len as u64).wrapping_mul(8).swap_bytes();
        match self {
            Self::Sha256 => {
                Shape { words: rest.wrapping_add(9).div_ceil(64) * 8, marker: 0x80, tail: bits }
            }
            #[cfg(feature = "xmss")]
            Self::Sha512 => {
                Shape { words: rest.wrapping_add(17).div_ceil(128) * 16, marker: 0x80, tail: bits }
            }
            #[cfg(feature = "xmss")]
            Self::Shake128 | Self::Shake256 => {
                let rate_words = self.rate_words();
                let is_long = rest >= rate_words.wrapping_mul(8);
                let words = if is_long { rate_words.wrapping_mul(2) } else { rate_words };
                // The marker has the four one bits of SHAKE and the first bit of the padding (FIPS 202 §6.2).
                Shape { words, marker: 0x1f, tail: 0x80 << 56 }
            }
        }
    }

    #[cfg(feature = "xmss")]
    pub(super) const fn rate_words(self) -> usize {
        match self {
            Self::Shake128 => RATE_128,
            _ => RATE_256,
        }
    }

    /// Returns the state before the first block. A sponge starts with zeros.
    pub(crate) fn initial(self) -> Words {
        match self {
            Self::Sha256 => H256.map(u64::from),
            #[cfg(feature = "xmss")]
            Self::Sha512 => H512,
            #[cfg(feature = "xmss")]
            Self::Shake128 | Self::Shake256 => [0; 8],
        }
    }
}
