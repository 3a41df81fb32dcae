//! Object identifiers of algorithms (RFC 8017, RFC 5480, RFC 8410, RFC 9881, RFC 9909, RFC 9802).

use hartlock_image::{Algorithm, Curve, MlDsaSet, SlhDsaSet};
use pkcs8::ObjectIdentifier;

/// rsaEncryption (RFC 8017 appendix A.1). It does not state padding and hash.
pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// id-RSASSA-PSS (RFC 4055 §3.1, RFC 8017 appendix A.2.3). It states the padding and, with
/// parameters, the hash.
pub(super) const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// id-mgf1 (RFC 8017 appendix A.2.3).
pub(super) const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");
/// id-ecPublicKey (RFC 5480 §2.1.1). The curve is a parameter.
pub(super) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(super) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
pub(super) const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
/// id-Ed25519 (RFC 8410 §3).
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
/// id-alg-hss-lms-hashsig (RFC 9802 §4). The public key holds the number of levels and the types.
pub(super) const HSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.17");
/// id-alg-xmss-hashsig and id-alg-xmssmt-hashsig (RFC 9802 §5, §6). The public key holds the
/// parameter set.
pub(super) const XMSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.34");
pub(super) const XMSS_MT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.35");
/// The arc sigAlgs of NIST. Each set of ML-DSA and SLH-DSA has a number below it (RFC 9881 §2, RFC
/// 9909 §3).
const NIST_SIGNATURES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3");

/// Returns the object identifier of the keys of an algorithm.
pub(super) const fn of(algorithm: Algorithm) -> ObjectIdentifier {
    match algorithm {
        Algorithm::Ed25519 => ED25519,
        Algorithm::Rsa { .. } => RSA,
        Algorithm::Ecdsa(_) => EC,
        Algorithm::Hss(_) => HSS,
        Algorithm::Xmss(_) => XMSS,
        Algorithm::XmssMt(_) => XMSS_MT,
        Algorithm::MlDsa(set) => nist(match set {
            MlDsaSet::MlDsa44 => 17,
            MlDsaSet::MlDsa65 => 18,
            MlDsaSet::MlDsa87 => 19,
        }),
        // The six sets with SHA-2 come first, then those with SHAKE; here the sets are numbered in
        // pairs of SHA-2 and SHAKE.
        Algorithm::SlhDsa(set) => {
            let pair = (set.number() - 1) / 2;
            nist(20 + pair + if set.is_shake() { 6 } else { 0 })
        }
    }
}

const fn nist(number: u32) -> ObjectIdentifier {
    match NIST_SIGNATURES.push_arc(number) {
        Ok(identifier) => identifier,
        // This cannot happen: an identifier has room for one arc more.
        Err(_) => NIST_SIGNATURES,
    }
}

/// Returns the curve with an object identifier.
pub(super) fn curve(identifier: ObjectIdentifier) -> Option<Curve> {
    match identifier {
        P256 => Some(Curve::P256),
        P384 => Some(Curve::P384),
        _ => None,
    }
}

/// Returns the algorithm, if the identifier determines it without parameters and key.
pub(super) fn algorithm_of_identifier(identifier: ObjectIdentifier) -> Option<Algorithm> {
    let lattices = MlDsaSet::ALL.into_iter().map(Algorithm::MlDsa);
    let hashes = (1..=12).filter_map(SlhDsaSet::new).map(Algorithm::SlhDsa);
    [Algorithm::Ed25519]
        .into_iter()
        .chain(lattices)
        .chain(hashes)
        .find(|algorithm| of(*algorithm) == identifier)
}

/// Returns a readable name of an algorithm that is not supported: its common name if it has one,
/// else the identifier.
pub(super) fn name(identifier: ObjectIdentifier) -> String {
    let identifier = identifier.to_string();
    let name = match identifier.as_str() {
        "1.2.840.113549.1.1.1" => "RSA",
        "1.2.840.10040.4.1" => "DSA",
        "1.2.840.10045.2.1" => "EC (ECDSA)",
        "1.3.101.110" => "X25519",
        "1.3.101.111" => "X448",
        "1.3.101.113" => "Ed448",
        "1.3.132.0.35" => "EC (ECDSA) on P-521",
        "1.3.132.0.10" => "EC (ECDSA) on secp256k1",
        _ => return format!("the algorithm {identifier}"),
    };
    name.to_string()
}

/// Returns a readable name of a hash.
pub(super) fn hash_name(identifier: ObjectIdentifier) -> String {
    let name = match identifier.to_string().as_str() {
        "1.3.14.3.2.26" => "SHA-1",
        "2.16.840.1.101.3.4.2.1" => "SHA-256",
        "2.16.840.1.101.3.4.2.2" => "SHA-384",
        "2.16.840.1.101.3.4.2.3" => "SHA-512",
        "2.16.840.1.101.3.4.2.4" => "SHA-224",
        other => return format!("the hash {other}"),
    };
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those printed in RFC 9881 §2 and RFC 9909 §3.
    #[test]
    fn identifiers_are_those_of_the_standards() {
        for (name, number) in [
            ("ml-dsa-44", 17),
            ("ml-dsa-87", 19),
            ("slh-dsa-sha2-128s", 20),
            ("slh-dsa-sha2-128f", 21),
            ("slh-dsa-sha2-192s", 22),
            ("slh-dsa-sha2-256f", 25),
            ("slh-dsa-shake-128s", 26),
            ("slh-dsa-shake-192f", 29),
            ("slh-dsa-shake-256f", 31),
        ] {
            let algorithm = Algorithm::from_name(name).unwrap();
            assert_eq!(of(algorithm).to_string(), format!("2.16.840.1.101.3.4.3.{number}"));
            assert_eq!(algorithm_of_identifier(of(algorithm)), Some(algorithm));
        }
        for identifier in [RSA, EC, HSS, XMSS, XMSS_MT] {
            assert_eq!(algorithm_of_identifier(identifier), None);
        }
    }
}
