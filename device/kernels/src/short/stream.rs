//! The same hash functions for long messages, such as the signed message.

use super::function::Function;
use super::words::{Words, load};
use crate::sha2::Sha256;
use crate::{Hash, Kernels};
#[cfg(feature = "xmss")]
use crate::{
    keccak::{FULL_ROUNDS, Sponge},
    sha2::Sha512,
};

/// The hash state of a long message that is absorbed in pieces.
pub(crate) enum Stream {
    Sha256(Sha256),
    #[cfg(feature = "xmss")]
    Sha512(Sha512),
    #[cfg(feature = "xmss")]
    Shake(Sponge),
}

impl Stream {
    pub(crate) fn new(kernels: &Kernels, function: Function) -> Self {
        match function {
            Function::Sha256 => Self::Sha256(Sha256::with(kernels)),
            #[cfg(feature = "xmss")]
            Function::Sha512 => Self::Sha512(Sha512::with(kernels)),
            #[cfg(feature = "xmss")]
            Function::Shake128 | Function::Shake256 => {
                Self::Shake(Sponge::new(kernels, function.rate_words(), FULL_ROUNDS))
            }
        }
    }

    #[inline(never)]
    pub(crate) fn update(&mut self, data: &[u8]) {
        match self {
            Self::Sha256(hash) => hash.update(data),
            #[cfg(feature = "xmss")]
            Self::Sha512(hash) => hash.update(data),
            #[cfg(feature = "xmss")]
            Self::Shake(sponge) => sponge.absorb(data),
        }
    }

    /// Ends the message and returns its digest, padded with zeros.
    #[inline(never)]
    pub(crate) fn finalize(self) -> Words {
        let mut words = [0; 8];
        match self {
            Self::Sha256(hash) => load(&mut words, &hash.finalize()),
            #[cfg(feature = "xmss")]
            Self::Sha512(hash) => load(&mut words, &hash.finalize()),
            #[cfg(feature = "xmss")]
            Self::Shake(sponge) => load(&mut words, &sponge.finalize(0x1f)),
        }
        words
    }
}
