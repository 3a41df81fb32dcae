//! Types and functions that the verifiers of all signature algorithms share, and the table of the verifiers in this
//! build.

use crate::Kernels;
pub use crate::comparison::{Comparison, MAX_COMPARED_LEN, Rejection};
#[cfg(feature = "ed25519")]
use hartlock_algorithm::Ed25519Set;
#[cfg(feature = "rsa")]
use hartlock_algorithm::RsaSet;
pub use hartlock_algorithm::{Algorithm, ParameterSet};

/// The interface of all verifiers. The type is that of the parameter set. Key, message and signature are encoded as
/// in image format §2.2. The context is empty if an algorithm has one.
///
/// The module of each verifier has the other variants of its standard, such as contexts, digests in place of
/// messages, and other encodings.
pub trait Verifier: ParameterSet {
    /// Computes the two values that are equal for a valid signature. The function is not called `verify`, because
    /// `Ok` does not mean that the signature is valid.
    ///
    /// # Errors
    /// Any [`Rejection`]. `Mismatch` means that there are no values to compare.
    fn compare(
        kernels: &Kernels,
        parameters: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection>;

    /// Does the same as [`compare`](Self::compare), but writes the values to `both`. A verifier overrides this
    /// function if moves of the values are expensive. A processor without a cache needs a thousand cycles for a move.
    ///
    /// # Errors
    /// The errors of [`compare`](Self::compare).
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

/// Defines the functions that dispatch to the verifier of an algorithm.
macro_rules! verifiers {
    ($($feature:literal, $($number:literal)|+: $algorithm:pat => $set:expr;)+) => {
        /// Bit mask of the algorithms that this build can verify, with all their parameters. Bit i is the algorithm
        /// with number i of image format §2.2.
        pub const CARRIED: u64 = 0 $(| if cfg!(feature = $feature) { 0 $(| 1 << $number)+ } else { 0 })+;


        /// Returns true if this build can verify signatures of the algorithm.
        #[allow(unused_variables, reason = "the parameter sets do not matter")]
        pub const fn carries(algorithm: Algorithm) -> bool {
            match algorithm {
                $($algorithm => cfg!(feature = $feature),)+
            }
        }

        /// Passes key, message and signature to the verifier of the algorithm ([`Verifier::compare`]).
        ///
        /// # Errors
        /// The errors of the verifier, and `UnsupportedKey` if this build does not contain it.
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

        /// Does the same as [`compare`], but writes the values to `both`.
        ///
        /// # Errors
        /// The errors of [`compare`].
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

/// Verifies a signature with a single comparison of the two values of [`compare`].
///
/// # Errors
/// The errors of [`compare`], and `Mismatch` if the signature is not valid.
pub fn verify(
    kernels: &Kernels,
    algorithm: Algorithm,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, algorithm, public_key, message, signature)?.check()
}

/// Maximum length of a context string in bytes, for all algorithms that have one (FIPS 204 §5.3, FIPS 205 §10.3, RFC
/// 8032 §2). The length is signed as one byte.
pub const MAX_CONTEXT_LEN: usize = 255;
