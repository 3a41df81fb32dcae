//! What a verifier returns: the two values that a genuine signature makes equal, or why there are none.

/// Maximum number of bytes that a verifier compares.
pub const MAX_COMPARED_LEN: usize = 64;

/// The two values that a genuine signature makes equal: what was computed from key, message and
/// signature, and what key, message or signature claim it to be. Zero padded.
///
/// A verifier returns both instead of an answer, so that a caller can compare redundantly instead of by one
/// branch. That a comparison exists says nothing about the signature yet.
#[derive(Clone, Copy, Debug)]
// Beside an engine moves of it count, which words make shorter.
#[cfg_attr(feature = "engine", repr(align(8)))]
#[must_use]
pub struct Comparison {
    /// The computed value.
    pub computed: [u8; MAX_COMPARED_LEN],
    /// The expected value.
    pub claimed: [u8; MAX_COMPARED_LEN],
}

impl Comparison {
    /// Two values that differ in every bit, so that nothing is equal before it was copied.
    pub const DIFFERENT: Self =
        Self { computed: [!0; MAX_COMPARED_LEN], claimed: [0; MAX_COMPARED_LEN] };

    /// Compares all bytes of two values of equal length.
    ///
    /// # Errors
    /// `Mismatch` if the lengths differ, or if they exceed [`MAX_COMPARED_LEN`].
    pub fn of(computed: &[u8], claimed: &[u8]) -> Result<Self, Rejection> {
        if computed.len() != claimed.len() {
            return Err(Rejection::Mismatch);
        }
        let (mut left, mut right) = ([!0; MAX_COMPARED_LEN], [0; MAX_COMPARED_LEN]);
        // A fault that ends a copy early leaves values that differ: nothing is equal before it was copied.
        let (from, padding) =
            left.split_at_mut_checked(computed.len()).ok_or(Rejection::Mismatch)?;
        from.iter_mut().zip(computed).for_each(|(to, from)| *to = *from);
        padding.fill(0);
        right.iter_mut().zip(claimed).for_each(|(to, from)| *to = *from);
        Ok(Self { computed: left, claimed: right })
    }

    /// The claimed value: the computed one differs until it is [written](Self::compute), and has as many bytes.
    #[allow(dead_code, reason = "unless a verifier is carried that an engine may serve")]
    pub(crate) fn claim(&mut self, claimed: &[u8]) {
        self.computed.get_mut(claimed.len()..).unwrap_or_default().fill(0);
        self.claimed.iter_mut().zip(claimed).for_each(|(to, from)| *to = *from);
    }

    /// The computed value, in words whose lowest byte comes first: as many as the claimed one has.
    #[allow(dead_code, reason = "unless a verifier is carried that an engine may serve")]
    pub(crate) fn compute(&mut self, computed: &[u32], len: usize) {
        for (to, word) in self.computed.as_chunks_mut().0.iter_mut().zip(computed).take(len / 4) {
            *to = word.to_le_bytes();
        }
    }

    /// The plain answer.
    ///
    /// # Errors
    /// `Mismatch` if the values differ.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.computed == self.claimed { Ok(()) } else { Err(Rejection::Mismatch) }
    }
}

/// Why a signature was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The public key has the wrong length, is not in its canonical encoding, or has a value that no honest
    /// key has.
    InvalidKey,
    /// The public key is well formed, and of a kind that is not supported.
    UnsupportedKey,
    /// The signature is shorter or longer than its algorithm and parameters make it.
    SignatureLength,
    /// The signature is of another parameter set than the key.
    OtherParameters,
    /// The signature names a one-time key that its tree does not have.
    IndexOutOfRange,
    /// A value in the signature is out of its range or not in its canonical encoding.
    NonCanonicalSignature,
    /// The context string is longer than 255 bytes.
    ContextLength,
    /// Well formed, but not a signature of this message under this key.
    Mismatch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_sees_every_byte_and_the_length() {
        let value = [7; MAX_COMPARED_LEN];
        assert_eq!(Comparison::of(&value, &value).unwrap().check(), Ok(()));
        for index in 0..value.len() {
            let mut other = value;
            other[index] ^= 0x80;
            assert_eq!(
                Comparison::of(&value, &other).unwrap().check(),
                Err(Rejection::Mismatch),
                "byte {index} is not compared"
            );
        }
        assert_eq!(Comparison::of(&value[1..], &value).err(), Some(Rejection::Mismatch));
        assert_eq!(Comparison::of(&[0; 65], &[0; 65]).err(), Some(Rejection::Mismatch));
    }
}
