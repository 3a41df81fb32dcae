//! What the verifiers of all signature algorithms share: how they refuse, and how they say that a
//! signature fits.

/// Bytes that a verifier compares at most.
pub const MAX_COMPARED_LEN: usize = 64;

/// Longest context string in bytes, wherever an algorithm has one (FIPS 204 §5.3, FIPS 205 §10.3, RFC 8032
/// §2): its length is signed as one byte.
pub const MAX_CONTEXT_LEN: usize = 255;

/// The two values that a genuine signature makes equal: what was computed from key, message and
/// signature, and what key, message or signature claim it to be. Zero padded.
///
/// A verifier returns both instead of an answer, so that a caller can compare with more care than one
/// branch. That a comparison exists says nothing about the signature yet.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Comparison {
    /// What came out.
    pub computed: [u8; MAX_COMPARED_LEN],
    /// What should have come out.
    pub claimed: [u8; MAX_COMPARED_LEN],
}

impl Comparison {
    /// Compares all bytes of two values of equal length.
    ///
    /// # Errors
    /// `Mismatch` if the lengths differ, or if they exceed [`MAX_COMPARED_LEN`].
    pub fn of(computed: &[u8], claimed: &[u8]) -> Result<Self, Rejection> {
        if computed.len() != claimed.len() {
            return Err(Rejection::Mismatch);
        }
        let mut comparison =
            Self { computed: [0; MAX_COMPARED_LEN], claimed: [0; MAX_COMPARED_LEN] };
        for (field, value) in
            [(&mut comparison.computed, computed), (&mut comparison.claimed, claimed)]
        {
            for (to, from) in
                field.get_mut(..value.len()).ok_or(Rejection::Mismatch)?.iter_mut().zip(value)
            {
                *to = *from;
            }
        }
        Ok(comparison)
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
    /// The public key has the wrong length, is not encoded the one way, or has a value that no honest
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
    /// A value in the signature is out of its range or not encoded the one way.
    NonCanonicalSignature,
    /// The context string is longer than 255 bytes.
    ContextLength,
    /// Well formed, but not a signature of this message under this key.
    Mismatch,
}

impl From<crate::ed25519::Rejection> for Rejection {
    fn from(rejection: crate::ed25519::Rejection) -> Self {
        use crate::ed25519::Rejection as Ed25519;
        match rejection {
            Ed25519::NonCanonicalKey | Ed25519::SmallOrderKey | Ed25519::KeyNotOnCurve => {
                Rejection::InvalidKey
            }
            Ed25519::NonCanonicalR | Ed25519::SmallOrderR | Ed25519::NonCanonicalS => {
                Rejection::NonCanonicalSignature
            }
            Ed25519::Mismatch => Rejection::Mismatch,
        }
    }
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
