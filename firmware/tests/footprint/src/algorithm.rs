//! Where an algorithm is plugged in: one function each, behind the feature of its name.
//!
//! It gets the bytes that a boot stage has (image format §2.2) and answers whether the signature is
//! genuine. Which parameter set it is stays hidden from the compiler: the code of all of them is what
//! a boot stage carries. A new algorithm is a function here, a feature in Cargo.toml, and a line in
//! `lab/src/signatures/catalogue.rs`.

use hartlock_footprint::pack::Case;
use hartlock_kernels::Kernels;

/// Ed25519 (RFC 8032 §5.1).
#[cfg(feature = "ed25519")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::ed25519;

    let (Ok(key), Ok(signature)) = (case.key.try_into(), <&[u8; 64]>::try_from(case.signature))
    else {
        return false;
    };
    ed25519::expected_r(kernels, key, case.message, signature)
        .is_ok_and(|expected| signature.starts_with(&expected))
}

/// ECDSA on P-256 with SHA-256 (FIPS 186-5 §6).
#[cfg(feature = "ecdsa-p256")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::ecdsa::{self, Curve, PublicKey};
    use hartlock_kernels::sha2::Sha256;

    let Ok(key) = PublicKey::from_sec1(Curve::P256, case.key) else { return false };
    ecdsa::verify::<Sha256>(kernels, &key, case.message, case.signature).is_ok()
}

/// ECDSA on P-384 with SHA-384 (FIPS 186-5 §6).
#[cfg(feature = "ecdsa-p384")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::ecdsa::{self, Curve, PublicKey};
    use hartlock_kernels::sha2::Sha384;

    let Ok(key) = PublicKey::from_sec1(Curve::P384, case.key) else { return false };
    ecdsa::verify::<Sha384>(kernels, &key, case.message, case.signature).is_ok()
}

/// RSASSA-PSS with SHA-384 and a salt as long as its digest (RFC 8017 §8.1).
#[cfg(feature = "rsa")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::rsa::{PublicKey, pss};
    use hartlock_kernels::sha2::Sha384;

    let Ok(key) = PublicKey::from_pkcs1_der(case.key) else { return false };
    pss::verify::<Sha384, Sha384>(kernels, &key, case.message, 48, case.signature).is_ok()
}

/// HSS, and LMS as HSS with one level (RFC 8554 §6).
#[cfg(feature = "lms")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::lms::hss;

    hss::verify(kernels, case.key, &[case.message], case.signature).is_ok()
}

/// XMSS in an approved set (RFC 8391 §4.1, SP 800-208 §5).
#[cfg(feature = "xmss")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use core::hint::black_box;
    use hartlock_kernels::xmss::{self, Scheme, Sets};

    let scheme = black_box(Scheme::Xmss);
    let message = &[case.message];
    xmss::verify(kernels, scheme, Sets::Approved, case.key, message, case.signature).is_ok()
}

/// ML-DSA with an empty context (FIPS 204 §5.3), in the set that the length of the key tells.
#[cfg(feature = "ml-dsa")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use hartlock_kernels::ml_dsa::{self, Message, Set};

    let set = match case.key.len() {
        1312 => Set::MlDsa44,
        1952 => Set::MlDsa65,
        _ => Set::MlDsa87,
    };
    let message = Message::Pure { context: b"", message: &[case.message] };
    ml_dsa::verify(kernels, set, case.key, message, case.signature).is_ok()
}

/// SLH-DSA with an empty context (FIPS 205 §10.3).
#[cfg(feature = "slh-dsa")]
pub fn verify(kernels: &Kernels, case: &Case<'_>) -> bool {
    use core::hint::black_box;
    use hartlock_kernels::slh_dsa::{self, Message, ParameterSet};

    let set = black_box(ParameterSet::Sha2_128s);
    let message = Message::Pure { context: b"", message: case.message };
    slh_dsa::verify(kernels, set, case.key, message, case.signature).is_ok()
}

/// The empty program refuses everything.
#[cfg(not(any(
    feature = "ecdsa-p256",
    feature = "ecdsa-p384",
    feature = "ed25519",
    feature = "lms",
    feature = "ml-dsa",
    feature = "rsa",
    feature = "slh-dsa",
    feature = "xmss",
)))]
pub const fn verify(_: &Kernels, _: &Case<'_>) -> bool {
    false
}
