//! Cases of RSA and ECDSA: for programs of the cycle-accurate machine.
//!
//! A case is the numbers of its algorithm and parameters (image format §2.2) and the lengths of key, message and signature, each
//! in four bytes, then four bytes of zeros, and the bytes of each, padded to eight. Where they begin is where those of
//! [`roots`](crate::roots) do.

use hartlock_kernels::Kernels;
use hartlock_kernels::signature::{self, Algorithm, Rejection};

/// Bytes of what comes before key, message and signature.
pub const HEAD_LEN: usize = 24;

/// Algorithm and lengths of a case.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    algorithm: Algorithm,
    lengths: [usize; 3],
}

impl Head {
    /// Nothing if there is no such algorithm.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let mut numbers = words.iter().map(|word| u32::from_le_bytes(*word));
        let algorithm = Algorithm::from_numbers(numbers.next()?, numbers.next()?)?;
        let mut length = || Some(numbers.next()? as usize);
        Some(Self { algorithm, lengths: [length()?, length()?, length()?] })
    }

    /// Bytes of what follows, with padding.
    pub fn body_len(&self) -> usize {
        self.lengths.iter().map(|length| length.next_multiple_of(8)).sum()
    }

    /// The verdict on the case in what follows, which has [`body_len`](Self::body_len) bytes.
    ///
    /// # Errors
    /// Those of the verifier.
    pub fn verify(&self, kernels: &Kernels, mut body: &[u8]) -> Result<(), Rejection> {
        let mut take = |length: usize| {
            let (now, later) = body.split_at_checked(length.next_multiple_of(8))?;
            body = later;
            now.get(..length)
        };
        let [key, message, signature] = self.lengths.map(|length| take(length).unwrap_or_default());
        signature::compare(kernels, self.algorithm, key, message, signature)?.check()
    }
}
