//! What the verifiers of all signature algorithms share: their shape, how they refuse, and how they say
//! that a signature fits. The table of those that this build carries is here.

use crate::Kernels;
pub use crate::comparison::{Comparison, MAX_COMPARED_LEN, Rejection};
#[cfg(feature = "ed25519")]
use hartlock_algorithm::Ed25519Set;
#[cfg(feature = "rsa")]
use hartlock_algorithm::RsaSet;
pub use hartlock_algorithm::{Algorithm, ParameterSet};

/// The one shape of a verifier. The type is the parameter set; key, message and signature are encoded as
/// the image format says (image format §2.2), without a context where an algorithm has one.
///
/// What a standard has beyond that, such as contexts, digests in place of messages and other encodings, is
/// in the verifier's module.
pub trait Verifier: ParameterSet {
    /// The two values that a genuine signature makes equal. It is not called `verify`: `Ok` says nothing
    /// about the signature yet.
    ///
    /// # Errors
    /// Every [`Rejection`]; `Mismatch` if values to compare do not even exist.
    fn compare(
        kernels: &Kernels,
        parameters: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection>;

    /// The same in a place of the caller's. A verifier overrides it if moves of the values would count: a processor without
    /// a cache moves them in a thousand cycles.
    ///
    /// # Errors
    /// As [`compare`](Self::compare).
    fn compare_in(
        kernels: &Kernels,
        parameters: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        *both = Some(Self::compare(kernels, parameters, public_key, message, signature)?);
        Ok(())
    }
}

/// Makes the functions over all algorithms of the table of their verifiers.
macro_rules! verifiers {
    ($($feature:literal, $($number:literal)|+: $algorithm:pat => $set:expr;)+) => {
        /// The algorithms that this build can verify signatures of, with all their parameters: bit i is
        /// number i of image format §2.2.
        pub const CARRIED: u64 = 0 $(| if cfg!(feature = $feature) { 0 $(| 1 << $number)+ } else { 0 })+;


        /// Whether this build can verify signatures of an algorithm.
        #[allow(unused_variables, reason = "the parameter sets do not matter")]
        pub const fn carries(algorithm: Algorithm) -> bool {
            match algorithm {
                $($algorithm => cfg!(feature = $feature),)+
            }
        }

        /// Hands key, message and signature to the verifier of an algorithm ([`Verifier::compare`]).
        ///
        /// # Errors
        /// Those of the verifier; `UnsupportedKey` if this build does not carry it.
        #[allow(unused_variables, reason = "unless a verifier is carried")]
        pub fn compare(
            kernels: &Kernels,
            algorithm: Algorithm,
            public_key: &[u8],
            message: &[u8],
            signature: &[u8],
        ) -> Result<Comparison, Rejection> {
            match algorithm {
                $(
                    #[cfg(feature = $feature)]
                    $algorithm => Verifier::compare(kernels, $set, public_key, message, signature),
                )+
                #[allow(unreachable_patterns, reason = "unless every verifier is carried")]
                _ => Err(Rejection::UnsupportedKey),
            }
        }

        /// The same in a place of the caller's, which has both values afterwards.
        ///
        /// # Errors
        /// As [`compare`].
        #[allow(unused_variables, reason = "unless a verifier is carried")]
        pub fn compare_in(
            kernels: &Kernels,
            algorithm: Algorithm,
            public_key: &[u8],
            message: &[u8],
            signature: &[u8],
            both: &mut Option<Comparison>,
        ) -> Result<(), Rejection> {
            match algorithm {
                $(
                    #[cfg(feature = $feature)]
                    $algorithm => {
                        Verifier::compare_in(kernels, $set, public_key, message, signature, both)
                    }
                )+
                #[allow(unreachable_patterns, reason = "unless every verifier is carried")]
                _ => Err(Rejection::UnsupportedKey),
            }
        }
    };
}

verifiers! {
    "ed25519", 1: Algorithm::Ed25519 => Ed25519Set;
    "rsa", 2 | 3: Algorithm::Rsa { padding, modulus_bits, hash } => RsaSet { padding, modulus_bits, hash };
    "ecdsa", 4: Algorithm::Ecdsa(curve) => curve;
    "lms", 16: Algorithm::Hss(set) => set;
    "xmss", 17 | 18: Algorithm::Xmss(set) | Algorithm::XmssMt(set) => set;
    "ml-dsa", 19: Algorithm::MlDsa(set) => set;
    "slh-dsa", 20: Algorithm::SlhDsa(set) => set;
}

/// The plain answer of [`compare`].
///
/// # Errors
/// Those of [`compare`], and `Mismatch` if the signature does not fit.
pub fn verify(
    kernels: &Kernels,
    algorithm: Algorithm,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, algorithm, public_key, message, signature)?.check()
}

/// Longest context string in bytes, wherever an algorithm has one (FIPS 204 §5.3, FIPS 205 §10.3, RFC 8032
/// §2): its length is signed as one byte.
pub const MAX_CONTEXT_LEN: usize = 255;
