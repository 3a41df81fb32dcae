//! Operation `verify`: the table of signature algorithms.
//!
//! A family is one file here with a function `verify`. To plug one in: read the fields that it needs
//! from the [`Request`], call the verifier of `hartlock_kernels`, and turn its answer with [`judged`].

use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;

use crate::request::Field;
use crate::{Answer, Engine, Request};

mod ecdsa;
mod ed25519;
mod lms;
mod ml_dsa;
mod named;
mod rsa;
mod slh_dsa;
mod walnut;
mod xmss;

/// What a family does: the case's `public_key`, `message` and `signature`, and whatever options it has.
///
/// Names of options that the family does not know are `NotCarried`; sizes that no key, context or
/// signature of the algorithm has are `Invalid`; sizes of keys that it does not carry are `Unsupported`.
type Verify = fn(&Kernels, &Request<'_>) -> Answer;

/// The family of an algorithm.
fn family(alg: &str) -> Option<Verify> {
    Some(match alg {
        "ed25519" | "ed25519ph" | "ed25519ctx" | "ed25519-keystone" => ed25519::verify,
        "ecdsa-p256" | "ecdsa-p384" => ecdsa::verify,
        "rsa-pkcs1" | "rsa-pss" => rsa::verify,
        "lms" | "hss" => lms::verify,
        "xmss" | "xmssmt" => xmss::verify,
        "ml-dsa-44" | "ml-dsa-65" | "ml-dsa-87" => ml_dsa::verify,
        "slh-dsa-sha2-128s" | "slh-dsa-sha2-128f" | "slh-dsa-sha2-192s" | "slh-dsa-sha2-192f"
        | "slh-dsa-sha2-256s" | "slh-dsa-sha2-256f" | "slh-dsa-shake-128s"
        | "slh-dsa-shake-128f" | "slh-dsa-shake-192s" | "slh-dsa-shake-192f"
        | "slh-dsa-shake-256s" | "slh-dsa-shake-256f" => slh_dsa::verify,
        "walnut-128" | "walnut-256" => walnut::verify,
        _ => return None,
    })
}

/// Whether an algorithm is known, and which fields it needs beside key, message and signature.
pub fn needs(alg: &str) -> Option<&'static [Field]> {
    family(alg)?;
    Some(match alg {
        "rsa-pkcs1" | "rsa-pss" => &[Field::Hash],
        "ecdsa-p256" | "ecdsa-p384" => &[Field::Hash, Field::Encoding],
        _ => &[],
    })
}

/// Judges a signature.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>) -> Answer {
    match family(request.alg()) {
        Some(verify) => verify(&engine.kernels, request),
        None => Answer::NotCarried(Field::Alg),
    }
}

/// The answer that a verifier of `hartlock_kernels` gave.
fn judged(result: Result<(), Rejection>) -> Answer {
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
        assert_eq!(judged(Ok(())), Answer::Valid);
        for rejection in [
            Rejection::InvalidKey,
            Rejection::SignatureLength,
            Rejection::OtherParameters,
            Rejection::IndexOutOfRange,
            Rejection::NonCanonicalSignature,
            Rejection::ContextLength,
            Rejection::Mismatch,
        ] {
            assert!(matches!(judged(Err(rejection)), Answer::Invalid(_)), "{rejection:?}");
        }
        assert!(matches!(judged(Err(Rejection::UnsupportedKey)), Answer::Unsupported(_)));
    }
}
