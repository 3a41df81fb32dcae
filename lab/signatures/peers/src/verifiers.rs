//! The verification function of each peer. Keys and signatures are encoded as in the image format (§2.2).
//! Reading them is part of the count, as it is for this project's verifiers.

use hartlock_footprint::pack::Case;

#[cfg(feature = "ed25519-dalek")]
pub fn verify(case: &Case<'_>) -> bool {
    use ed25519_dalek::{Signature, VerifyingKey};
    let Ok(key) = case.key.try_into() else { return false };
    let Ok(signature) = Signature::from_slice(case.signature) else { return false };
    VerifyingKey::from_bytes(key)
        .is_ok_and(|key| key.verify_strict(case.message, &signature).is_ok())
}

#[cfg(feature = "ed25519-compact")]
pub fn verify(case: &Case<'_>) -> bool {
    use ed25519_compact::{PublicKey, Signature};
    let Ok(key) = PublicKey::from_slice(case.key) else { return false };
    Signature::from_slice(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(feature = "p256")]
pub fn verify(case: &Case<'_>) -> bool {
    use p256::ecdsa::{Signature, VerifyingKey, signature::Verifier};
    let Ok(key) = VerifyingKey::from_sec1_bytes(case.key) else { return false };
    Signature::from_slice(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(feature = "p384")]
pub fn verify(case: &Case<'_>) -> bool {
    use p384::ecdsa::{Signature, VerifyingKey, signature::Verifier};
    let Ok(key) = VerifyingKey::from_sec1_bytes(case.key) else { return false };
    Signature::from_slice(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(feature = "rsa")]
pub fn verify(case: &Case<'_>) -> bool {
    use rsa::pkcs1::DecodeRsaPublicKey;
    use rsa::pss::{Signature, VerifyingKey};
    use rsa::signature::Verifier;
    let Ok(key) = rsa::RsaPublicKey::from_pkcs1_der(case.key) else { return false };
    let key = VerifyingKey::<sha2::Sha384>::new(key);
    Signature::try_from(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(feature = "hbs-lms")]
pub fn verify(case: &Case<'_>) -> bool {
    use hbs_lms::{Sha256_256, VerifierSignature, VerifyingKey, signature::Verifier};
    let Ok(key) = VerifyingKey::<Sha256_256>::from_bytes(case.key) else { return false };
    VerifierSignature::from_ref(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(any(feature = "ml-dsa-44", feature = "ml-dsa-65", feature = "ml-dsa-87"))]
pub fn verify(case: &Case<'_>) -> bool {
    #[cfg(feature = "ml-dsa-44")]
    use ml_dsa::MlDsa44 as Set;
    #[cfg(feature = "ml-dsa-65")]
    use ml_dsa::MlDsa65 as Set;
    #[cfg(feature = "ml-dsa-87")]
    use ml_dsa::MlDsa87 as Set;
    use ml_dsa::{EncodedSignature, EncodedVerifyingKey, Signature, VerifyingKey};
    let Ok(key) = EncodedVerifyingKey::<Set>::try_from(case.key) else { return false };
    let Ok(signature) = EncodedSignature::<Set>::try_from(case.signature) else { return false };
    Signature::<Set>::decode(&signature).is_some_and(|signature| {
        VerifyingKey::<Set>::decode(&key).verify_with_context(case.message, b"", &signature)
    })
}

#[cfg(any(feature = "fips204-44", feature = "fips204-65", feature = "fips204-87"))]
pub fn verify(case: &Case<'_>) -> bool {
    #[cfg(feature = "fips204-44")]
    use fips204::ml_dsa_44 as set;
    #[cfg(feature = "fips204-65")]
    use fips204::ml_dsa_65 as set;
    #[cfg(feature = "fips204-87")]
    use fips204::ml_dsa_87 as set;
    use fips204::traits::{SerDes, Verifier};
    let Ok(key) = <[u8; set::PK_LEN]>::try_from(case.key) else { return false };
    let Ok(signature) = <[u8; set::SIG_LEN]>::try_from(case.signature) else { return false };
    set::PublicKey::try_from_bytes(key).is_ok_and(|key| key.verify(case.message, &signature, b""))
}

#[cfg(any(
    feature = "libcrux-ml-dsa-44",
    feature = "libcrux-ml-dsa-65",
    feature = "libcrux-ml-dsa-87"
))]
pub fn verify(case: &Case<'_>) -> bool {
    #[cfg(feature = "libcrux-ml-dsa-44")]
    use libcrux_ml_dsa::ml_dsa_44::{
        MLDSA44Signature as Signature, MLDSA44VerificationKey as Key, verify,
    };
    #[cfg(feature = "libcrux-ml-dsa-65")]
    use libcrux_ml_dsa::ml_dsa_65::{
        MLDSA65Signature as Signature, MLDSA65VerificationKey as Key, verify,
    };
    #[cfg(feature = "libcrux-ml-dsa-87")]
    use libcrux_ml_dsa::ml_dsa_87::{
        MLDSA87Signature as Signature, MLDSA87VerificationKey as Key, verify,
    };
    let Ok(key) = case.key.try_into() else { return false };
    let Ok(signature) = case.signature.try_into() else { return false };
    verify(&Key::new(key), case.message, b"", &Signature::new(signature)).is_ok()
}

#[cfg(feature = "slh-dsa")]
pub fn verify(case: &Case<'_>) -> bool {
    use slh_dsa::signature::Verifier;
    use slh_dsa::{Sha2_128s, Signature, VerifyingKey};
    let Ok(key) = VerifyingKey::<Sha2_128s>::try_from(case.key) else { return false };
    Signature::<Sha2_128s>::try_from(case.signature)
        .is_ok_and(|signature| key.verify(case.message, &signature).is_ok())
}

#[cfg(feature = "fips205")]
pub fn verify(case: &Case<'_>) -> bool {
    use fips205::slh_dsa_sha2_128s::{PK_LEN, PublicKey, SIG_LEN};
    use fips205::traits::{SerDes, Verifier};
    let Ok(key) = <[u8; PK_LEN]>::try_from(case.key) else { return false };
    let Ok(signature) = <&[u8; SIG_LEN]>::try_from(case.signature) else { return false };
    PublicKey::try_from_bytes(key).is_ok_and(|key| key.verify(case.message, signature, b""))
}

/// Verifies with a C library; the key is read and then freed.
#[cfg(feature = "library")]
pub fn verify(case: &Case<'_>) -> bool {
    let key = crate::LibraryKey::new();
    key.read(case.key) && key.verify(case)
}

/// Refuses everything in the empty program.
#[cfg(not(any(
    feature = "ed25519-compact",
    feature = "ed25519-dalek",
    feature = "fips204-44",
    feature = "fips204-65",
    feature = "fips204-87",
    feature = "fips205",
    feature = "hbs-lms",
    feature = "libcrux-ml-dsa-44",
    feature = "libcrux-ml-dsa-65",
    feature = "libcrux-ml-dsa-87",
    feature = "library",
    feature = "ml-dsa-44",
    feature = "ml-dsa-65",
    feature = "ml-dsa-87",
    feature = "p256",
    feature = "p384",
    feature = "rsa",
    feature = "slh-dsa",
)))]
pub const fn verify(_: &Case<'_>) -> bool {
    false
}
