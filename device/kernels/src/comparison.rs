//! The result of a verifier: two values that are equal for a valid signature, or the reason why there are none.

/// Maximum number of bytes that a verifier compares.
pub const MAX_COMPARED_LEN: usize = 64;

/// Two values that are equal for a valid signature, both padded with zeros: one that is computed from key, message
/// and signature, and one that the key, message or signature states.
///
/// A verifier returns both values instead of a decision, so that a caller can compare them redundantly instead of
/// with a single branch. The existence of a `Comparison` does not mean that the signature is valid.
#[derive(Clone, Copy, Debug)]
// With an engine, the time for moves of this struct matters. The alignment allows moves of whole words.
#[cfg_attr(feature = "engine", repr(align(8)))]
#[must_use]
pub struct Comparison {
    /// The computed value.
    pub computed: [u8; MAX_COMPARED_LEN],
    /// The expected value.
    pub claimed: [u8; MAX_COMPARED_LEN],
}

impl Comparison {
    /// Two values that differ in every bit. Copying starts from them, so that an incomplete copy does not make the
    /// values equal.
    pub const DIFFERENT: Self =
        Self { computed: [!0; MAX_COMPARED_LEN], claimed: [0; MAX_COMPARED_LEN] };

    /// Makes a comparison of two values of equal length.
    ///
    /// # Errors
    /// `Mismatch` if the lengths differ, or if they exceed [`MAX_COMPARED_LEN`].
    pub fn of(computed: &[u8], claimed: &[u8]) -> Result<Self, Rejection> {
        if computed.len() != claimed.len() {
            return Err(Rejection::Mismatch);
        }
        let (mut left, mut right) = ([!0; MAX_COMPARED_LEN], [0; MAX_COMPARED_LEN]);
        // If a fault ends one of the copies early, the values still differ, because they start with different bits.
        let (from, padding) =
            left.split_at_mut_checked(computed.len()).ok_or(Rejection::Mismatch)?;
        from.iter_mut().zip(computed).for_each(|(to, from)| *to = *from);
        padding.fill(0);
        right.iter_mut().zip(claimed).for_each(|(to, from)| *to = *from);
        Ok(Self { computed: left, claimed: right })
    }

    /// Sets the claimed value. The computed value still differs until [`Self::compute`] sets it. Both have the same
    /// length.
    #[allow(dead_code, reason = "unless a verifier is carried that an engine may serve")]
    pub(crate) fn claim(&mut self, claimed: &[u8]) {
        self.computed.get_mut(claimed.len()..).unwrap_or_default().fill(0);
        self.claimed.iter_mut().zip(claimed).for_each(|(to, from)| *to = *from);
    }

    /// Sets the first `len` bytes of the computed value from little-endian words. `len` is the length of the claimed
    /// value.
    #[allow(dead_code, reason = "unless a verifier is carried that an engine may serve")]
    pub(crate) fn compute(&mut self, computed: &[u32], len: usize) {
        for (to, word) in self.computed.as_chunks_mut().0.iter_mut().zip(computed).take(len / 4) {
            *to = word.to_le_bytes();
        }
    }

    /// Compares the values with a single branch.
    ///
    /// # Errors
    /// `Mismatch` if the values differ.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.computed == self.claimed { Ok(()) } else { Err(Rejection::Mismatch) }
    }
}

/// Reason why a signature was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The public key has a wrong length, is not canonically encoded, or has a value that no valid key has.
    InvalidKey,
    /// The public key is well formed, but its type is not supported.
    UnsupportedKey,
    /// The signature does not have the length that its algorithm and parameters require.
    SignatureLength,
    /// The parameter set of the signature differs from that of the key.
    OtherParameters,
    /// The index of the one-time key is out of the range of its tree.
    IndexOutOfRange,
    /// A value in the signature is out of range or not canonically encoded.
    NonCanonicalSignature,
    /// The context string is longer than 255 bytes.
    ContextLength,
    /// The signature is well formed, but not valid for this message and key.
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
