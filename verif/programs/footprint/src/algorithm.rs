//! The measured algorithm. A feature selects it, and the table of `hartlock_kernels::signature` verifies.
//!
//! A case contains the same bytes as in a boot stage (image format §2.2). A verifier with several parameter sets has to
//! be complete, as in a boot stage: where the set selects code, it is hidden from the compiler. Curves, and the hashes
//! of RSA, are measured separately.

#![allow(unused_imports, reason = "one feature, or none")]

use core::hint::black_box;

use hartlock_footprint::pack::Case;
use hartlock_image::{Algorithm, Curve, HashId, HssSet, MlDsaSet, RsaPadding, SlhDsaSet, XmssSet};
#[cfg(any(feature = "ed25519-key-pair", feature = "ed25519-sign"))]
use hartlock_kernels::{Hash, ed25519_signer::KeyPair, sha2::Sha512};
use hartlock_kernels::{Kernels, signature};

/// Defines `verify` from the table of features and the algorithms that they measure.
macro_rules! measured {
    ($case:ident: $($feature:literal => $algorithm:expr;)+) => {
        /// Returns true if a signature is genuine. The program without an algorithm refuses every signature.
        #[cfg(not(any(feature = "ed25519-key-pair", feature = "ed25519-sign")))]
        #[allow(unused_variables, unreachable_code, reason = "one feature, or none")]
        pub fn verify(kernels: &Kernels, $case: &Case<'_>) -> bool {
            $(
                #[cfg(feature = $feature)]
                {
                    let Case { key, message, signature, .. } = *$case;
                    return signature::verify(kernels, $algorithm, key, message, signature).is_ok();
                }
            )+
            false
        }
    };
}

measured! {
    case:
    "ed25519" => Algorithm::Ed25519;
    "ecdsa-p256" => Algorithm::Ecdsa(Curve::P256);
    "ecdsa-p384" => Algorithm::Ecdsa(Curve::P384);
    "rsa" => Algorithm::Rsa { padding: RsaPadding::Pss, modulus_bits: 3072, hash: HashId::Sha384 };
    "lms" => Algorithm::Hss(const { HssSet::new(1, 6, 3).unwrap() });
    "xmss" => Algorithm::Xmss(black_box(const { XmssSet::single(1).unwrap() }));
    "ml-dsa" => Algorithm::MlDsa(of_key(case.key));
    "slh-dsa" => Algorithm::SlhDsa(black_box(SlhDsaSet::Sha2_128s));
}

/// Returns true if the key pair of a seed has the expected public key. The seed is in the field of the message, and the
/// public key in that of the signature.
#[cfg(feature = "ed25519-key-pair")]
pub fn verify(_: &Kernels, case: &Case<'_>) -> bool {
    let expanded = expanded(case.message);
    KeyPair::new(&expanded).is_ok_and(|pair| pair.public_key() == case.signature)
}

/// Returns true if signing the message with a seed gives the expected signature. The seed is in the field of the key.
#[cfg(feature = "ed25519-sign")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    let new = || Sha512::with(kernels);
    let expanded = expanded(case.key);
    let pair = KeyPair::new(&expanded).ok();
    let signed = pair.and_then(|pair| pair.sign(new, case.message).ok());
    signed.is_some_and(|signature| signature == case.signature)
}

#[cfg(any(feature = "ed25519-key-pair", feature = "ed25519-sign"))]
fn expanded(seed: &[u8]) -> [u8; 64] {
    let mut hash = Sha512::new();
    hash.update(seed);
    hash.finalize()
}

/// Returns the parameter set whose keys have this length.
#[cfg(feature = "ml-dsa")]
fn of_key(key: &[u8]) -> MlDsaSet {
    match key.len() {
        1312 => MlDsaSet::MlDsa44,
        1952 => MlDsaSet::MlDsa65,
        _ => MlDsaSet::MlDsa87,
    }
}
