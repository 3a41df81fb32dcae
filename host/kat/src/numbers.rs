//! Cases of RSA and ECDSA, for programs that run on the cycle-accurate machine.
//!
//! A case begins with the numbers of its algorithm and parameters (image format §2.2), the lengths of key, message and
//! signature, and a zero, in four bytes each. The key, the message and the signature follow, each padded to a multiple
//! of eight bytes. The cases are located at the same address as those of [`roots`](crate::roots).

use hartlock_kernels::Kernels;
use hartlock_kernels::signature::{self, Algorithm, Rejection};

/// Length in bytes of the part before the key.
pub const HEAD_LEN: usize = 24;

/// The algorithm of a case and the lengths of its parts.
#[derive(Clone, Copy, Debug)]
pub struct NumberCaseHead {
    algorithm: Algorithm,
    lengths: [usize; 3],
}

impl NumberCaseHead {
    /// Decodes the head of a case; `None` if the algorithm is unknown.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let mut numbers = words.iter().map(|word| u32::from_le_bytes(*word));
        let algorithm = Algorithm::from_numbers(numbers.next()?, numbers.next()?)?;
        let mut length = || Some(numbers.next()? as usize);
        Some(Self { algorithm, lengths: [length()?, length()?, length()?] })
    }

    /// Returns the length in bytes of key, message and signature, with padding.
    pub fn body_len(&self) -> usize {
        self.lengths.iter().map(|length| length.next_multiple_of(8)).sum()
    }

    /// Verifies the case. `body` holds key, message and signature and has [`body_len`](Self::body_len) bytes.
    ///
    /// # Errors
    /// The errors of the verifier.
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
