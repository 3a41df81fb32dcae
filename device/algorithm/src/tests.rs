//! These tests compare the parameter sets with the table of the image format and with sizes from
//! the standards.

use crate::*;
use std::collections::BTreeSet;
use std::string::ToString;

#[test]
fn every_algorithm_has_its_own_numbers_and_its_own_name() {
    let all: std::vec::Vec<_> = Algorithm::all().collect();
    // The numbers of sets are: Ed25519, RSA-PSS, RSA-PKCS1 and ECDSA 1 + 9 + 9 + 2; HSS 8 levels of
    // 2 · 5 · 4 pairs; XMSS 12; XMSS^MT 32; ML-DSA 3; SLH-DSA 12.
    assert_eq!(all.len(), 21 + 8 * 40 + 12 + 32 + 3 + 12);
    let mut names = BTreeSet::new();
    for algorithm in &all {
        let (number, parameters) = algorithm.numbers();
        assert_eq!(Algorithm::from_numbers(number, parameters), Some(*algorithm));
        assert!(names.insert(algorithm.to_string()), "{algorithm} names two");
        assert_eq!(Algorithm::from_name(&algorithm.to_string()), Some(*algorithm));
    }
    assert_eq!(Algorithm::from_name("ml-dsa-8"), None);
    assert_eq!(Algorithm::from_name("ml-dsa-877"), None);
}

#[test]
fn every_set_is_found_by_its_numbers_and_its_name() {
    fn check<S: ParameterSet + PartialEq + fmt::Debug>() {
        for set in S::all() {
            let (algorithm, parameters) = set.numbers();
            assert_eq!(S::from_numbers(algorithm, parameters), Some(set));
            let name = fmt::from_fn(|f| set.write_name(f)).to_string();
            assert_eq!(S::from_name(&name), Some(set));
            assert_eq!(Algorithm::from_name(&name).unwrap().numbers(), set.numbers());
        }
    }
    check::<Ed25519Set>();
    check::<RsaSet>();
    check::<Curve>();
    check::<HssSet>();
    check::<XmssSet>();
    check::<MlDsaSet>();
    check::<SlhDsaSet>();
    assert_eq!(RsaSet::from_numbers(4, 3072 << 16 | 2), None);
}

#[test]
fn numbers_outside_of_the_table_are_refused() {
    let outside = [
        (0, 0),
        (1, 1),
        (2, 3072 << 16),
        (2, 1024 << 16 | 1),
        (3, 3072 << 16 | 4),
        (4, 0),
        (4, 3),
        (5, 0),
        (16, 0x0001_0105 | 1 << 24),
        (16, 0x0000_0105),
        (16, 0x0009_0105),
        (16, 0x0001_0505),
        (17, 0),
        (17, 4),
        (17, 22),
        (18, 9),
        (18, 0x39),
        (19, 0),
        (20, 0),
        (20, 13),
        (21, 0),
    ];
    for (algorithm, parameters) in outside {
        assert_eq!(
            Algorithm::from_numbers(algorithm, parameters),
            None,
            "{algorithm} {parameters}"
        );
    }
}

/// The expected sizes come from the examples of RFC 8554 and RFC 8391, FIPS 204 table 2 and FIPS
/// 205 table 2.
#[test]
fn sizes_are_those_of_the_standards() {
    for (name, public_key, signature) in [
        ("ed25519", 32, 64),
        ("rsa-pss-3072-sha384", 398, 384),
        ("ecdsa-p384", 97, 96),
        ("lms-sha256-h10-w4", 60, 4 + 2508),
        ("lms-sha256-192-h5-w8", 52, 4 + 780),
        ("xmss-sha2-10-256", 68, 2500),
        ("xmss-sha2-20-192", 52, 1732),
        ("xmssmt-sha2-60-12-256", 68, 27688),
        ("xmssmt-shake256-20-2-192", 52, 2955),
        ("ml-dsa-87", 2592, 4627),
        ("slh-dsa-sha2-128s", 32, 7856),
        ("slh-dsa-shake-256f", 64, 49856),
    ] {
        let algorithm = Algorithm::from_name(name).unwrap();
        assert_eq!(algorithm.public_key_size(), public_key, "{name}");
        assert_eq!(algorithm.signature_size(), Some(signature), "{name}");
    }
    assert_eq!(Algorithm::from_name("hss-l2-sha256-h5-w8").unwrap().signature_size(), None);
}
