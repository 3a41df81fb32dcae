//! Converts the result of a verifier into an answer.

use hartlock_kernels::signature::Rejection;

use crate::Answer;

/// Returns the answer for the result of a verifier of `hartlock_kernels`.
pub(super) fn answer_of(result: Result<(), Rejection>) -> Answer {
    match result {
        Ok(()) => Answer::Valid,
        Err(Rejection::UnsupportedKey) => Answer::Unsupported("keys of this kind are not carried"),
        Err(Rejection::InvalidKey) => Answer::Invalid("the public key is none"),
        Err(Rejection::SignatureLength) => Answer::Invalid("the signature has a wrong length"),
        Err(Rejection::OtherParameters) => {
            Answer::Invalid("the signature is of another parameter set than the key")
        }
        Err(Rejection::IndexOutOfRange) => {
            Answer::Invalid("there is no one-time key of this index")
        }
        Err(Rejection::NonCanonicalSignature) => {
            Answer::Invalid("the signature is not encoded the one way")
        }
        Err(Rejection::ContextLength) => Answer::Invalid("the context is longer than 255 bytes"),
        Err(Rejection::Mismatch) => {
            Answer::Invalid("the signature is that of another message or key")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verifier_that_is_content_makes_a_signature_valid() {
        assert_eq!(answer_of(Ok(())), Answer::Valid);
        for rejection in [
            Rejection::InvalidKey,
            Rejection::SignatureLength,
            Rejection::OtherParameters,
            Rejection::IndexOutOfRange,
            Rejection::NonCanonicalSignature,
            Rejection::ContextLength,
            Rejection::Mismatch,
        ] {
            assert!(matches!(answer_of(Err(rejection)), Answer::Invalid(_)), "{rejection:?}");
        }
        assert!(matches!(answer_of(Err(Rejection::UnsupportedKey)), Answer::Unsupported(_)));
    }
}
