use std::collections::BTreeSet;

use hartlock_image::Algorithm;
use pkcs8::PrivateKeyInfoRef;
use pkcs8::der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use pkcs8::der::{Decode, Encode};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::*;

/// RFC 8410 §10.3: the same key without and with its public key.
const RFC_8410_V1: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
const RFC_8410_V2: &str = "-----BEGIN PRIVATE KEY-----
MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
Z9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PRIVATE KEY-----
";
const RFC_8410_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";
const RSA_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCcwDQYJKoZIhvcNAQEBBQADFgAwEwIMAKqqqqqqqqqqqqqrAgMBAAE=
-----END PUBLIC KEY-----
";

fn private(pem: &str) -> Result<PrivateKey, KeyErrorKind> {
    PrivateKey::from_pem(pem.as_bytes())
}

fn public(pem: &str) -> Result<PublicKey, KeyErrorKind> {
    PublicKey::from_pem(pem.as_bytes())
}

/// The algorithm of RSA keys whose files do not state it.
const RSA: &str = "rsa-pss-2048-sha256";

#[test]
fn reads_and_writes_the_keys_of_rfc_8410() {
    let key = private(RFC_8410_V1).unwrap();
    assert_eq!(*key.to_pem().unwrap(), RFC_8410_V1);
    assert_eq!(key.public().to_pem(), RFC_8410_PUBLIC);
    assert_eq!(public(RFC_8410_PUBLIC).unwrap(), key.public());
}

#[test]
fn reads_version_2_and_compares_its_public_half() {
    assert_eq!(private(RFC_8410_V2).map(|key| key.public()), public(RFC_8410_PUBLIC));
    let other = RFC_8410_V2.replace("ZuE=", "ZuA=");
    assert_eq!(private(&other).unwrap_err(), KeyErrorKind::PublicHalfDiffers);
}

#[test]
fn generated_keys_differ_and_survive_their_file() {
    let (one, other) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    assert_ne!(one.public(), other.public());
    let again = private(&one.to_pem().unwrap()).unwrap();
    assert_eq!(again.sign(b"message").unwrap(), one.sign(b"message").unwrap());
    assert_eq!(public(&one.public().to_pem()).unwrap(), one.public());
}

#[test]
fn names_the_wrong_half() {
    assert_eq!(public(RFC_8410_V1).unwrap_err(), KeyErrorKind::IsPrivate);
    assert_eq!(private(RFC_8410_PUBLIC).unwrap_err(), KeyErrorKind::IsPublic);
}

#[test]
fn names_what_is_not_supported() {
    let unsupported = |name: &str| KeyErrorKind::UnsupportedAlgorithm(name.to_string());
    assert_eq!(public(RSA_PUBLIC).unwrap_err(), unsupported("RSA with 88 bits"));
    let relabelled = |label: &str| RFC_8410_V1.replace("PRIVATE KEY", label);
    assert_eq!(private(&relabelled("DSA PRIVATE KEY")).unwrap_err(), unsupported("DSA"));
    for label in ["RSA PRIVATE KEY", "EC PRIVATE KEY", "HARTLOCK STATEFUL PRIVATE KEY"] {
        assert_eq!(
            private(&relabelled(label)).unwrap_err().reason(),
            KeyReason::Malformed,
            "{label}"
        );
    }
    let encrypted = private(&relabelled("ENCRYPTED PRIVATE KEY"));
    assert_eq!(encrypted.unwrap_err(), KeyErrorKind::Encrypted);
    let certificate = private(&relabelled("CERTIFICATE"));
    assert_eq!(
        certificate.unwrap_err(),
        KeyErrorKind::ForeignForm(ForeignForm::Certificate(false))
    );
    let class_key = relabelled("HARTLOCK CLASS KEY");
    let kind = KeyErrorKind::ForeignForm(ForeignForm::ClassKey);
    assert_eq!(
        (private(&class_key).unwrap_err(), public(&class_key).unwrap_err()),
        (kind.clone(), kind)
    );
    let ed448 = "-----BEGIN PUBLIC KEY-----
MEMwBQYDK2VxAzoAX9dEm1m0Yf0s54fsYWrUahHiO0t04/Je2eG0jPB5M8HUOGwN
ZlYyHeI1IpP1a8yPPUXa9GOqX8CA
-----END PUBLIC KEY-----
";
    assert_eq!(public(ed448).unwrap_err(), unsupported("Ed448"));
}

#[test]
fn names_what_is_not_a_key_or_not_only_one() {
    for text in ["", "key", "-----BEGIN ", "-----BEGIN\n-----\n"] {
        assert!(private(text).is_err());
        assert!(public(text).is_err());
    }
    assert_eq!(private("key").unwrap_err(), KeyErrorKind::NotPem);
    assert_eq!(PublicKey::from_pem(&[0x30, 0xff]).unwrap_err(), KeyErrorKind::NotPem);
    let twice = RFC_8410_PUBLIC.repeat(2);
    assert_eq!(public(&twice).unwrap_err().reason(), KeyReason::TrailingData);
    let after = format!("{RFC_8410_PUBLIC}comment\n");
    assert_eq!(public(&after).unwrap_err().reason(), KeyReason::TrailingData);
    let no_end = RFC_8410_PUBLIC.replace("-----END", "");
    assert_eq!(public(&no_end).unwrap_err().reason(), KeyReason::Malformed);
}

#[test]
fn every_damaged_character_is_noticed() {
    // A change of a character of the public key gives another key or none, but the encoding before the key must not
    // change at all.
    let start = RFC_8410_PUBLIC.find("MC").unwrap();
    for at in start..start + 16 {
        let mut pem = RFC_8410_PUBLIC.as_bytes().to_vec();
        pem[at] = if pem[at] == b'A' { b'B' } else { b'A' };
        assert!(PublicKey::from_pem(&pem).is_err(), "character {at}");
    }
}

#[test]
fn refuses_data_after_the_encoding() {
    // The same encoding with one additional byte inside the PEM block.
    let longer = RFC_8410_PUBLIC.replace("ZuE=", "ZuEA");
    assert_eq!(public(&longer).unwrap_err().reason(), KeyReason::Malformed);
}

#[test]
fn refuses_points_that_no_verifier_accepts() {
    let mut small_order = [0; 32];
    small_order[0] = 1;
    let mut not_canonical = [0xff; 32];
    not_canonical[0] = 0xee;
    not_canonical[31] = 0x7f;
    let mut not_on_curve = [0; 32];
    not_on_curve[0] = 2;
    for bytes in [small_order, not_canonical, not_on_curve, [0xff; 32]] {
        assert_eq!(
            PublicKey::from_bytes(Algorithm::Ed25519, &bytes).unwrap_err().reason(),
            KeyReason::Malformed
        );
    }
}

#[test]
fn no_message_shows_a_private_key() {
    let key = private(RFC_8410_V1).unwrap();
    let shown = format!("{key:?}");
    assert!(!shown.contains("d4ee72") && shown.contains("private half"), "{shown}");
}

fn algorithm(name: &str) -> Algorithm {
    Algorithm::from_name(name).unwrap()
}

fn generated(name: &str) -> PrivateKey {
    PrivateKey::generate_for(algorithm(name), &mut |_, _| ()).unwrap()
}

/// The algorithms of each family and size whose keys are generated within a second.
const QUICK: [&str; 12] = [
    "ed25519",
    "rsa-pss-2048-sha256",
    "ecdsa-p256",
    "ecdsa-p384",
    "ml-dsa-44",
    "ml-dsa-65",
    "ml-dsa-87",
    "slh-dsa-sha2-128f",
    "slh-dsa-shake-128f",
    "slh-dsa-sha2-192f",
    "slh-dsa-shake-192f",
    "slh-dsa-sha2-256f",
];

#[test]
fn keys_of_every_kind_survive_their_files() {
    for name in QUICK {
        let key = generated(name);
        assert_eq!(key.algorithm().to_string(), name);
        for format in [Format::Pem, Format::Der] {
            let public = key.public().export(format);
            assert_eq!(
                PublicKey::decode(&public, &[algorithm(RSA)]).unwrap(),
                key.public(),
                "{name}"
            );
            assert_eq!(
                PrivateKey::decode(&public, &[algorithm(RSA)], None).unwrap_err(),
                KeyErrorKind::IsPublic
            );
            // Key derivation from a passphrase is slow on purpose, and the encrypted content is the same DER in
            // both formats.
            let is_encrypted = format == Format::Pem || name == QUICK[0];
            let passphrases = [None, Some(&b"secret"[..])];
            for passphrase in passphrases.into_iter().take(1 + usize::from(is_encrypted)) {
                let file = key.export(format, passphrase).unwrap();
                let again = PrivateKey::decode(&file, &[algorithm(RSA)], passphrase).unwrap();
                assert_eq!(again.public(), key.public(), "{name}");
                assert_eq!(again.export(format, None), key.export(format, None), "{name}");
                assert_eq!(
                    PublicKey::decode(&file, &[algorithm(RSA)]).unwrap_err(),
                    KeyErrorKind::IsPrivate
                );
                if passphrase.is_some() {
                    let refused =
                        |it| PrivateKey::decode(&file, &[algorithm(RSA)], it).unwrap_err();
                    assert_eq!(refused(None), KeyErrorKind::Encrypted);
                    if name == QUICK[0] {
                        assert_eq!(refused(Some(b"Secret")), KeyErrorKind::WrongPassphrase);
                    }
                }
            }
        }
    }
}

#[test]
fn the_same_message_gives_the_same_signature_of_the_right_length() {
    for name in QUICK {
        let key = generated(name);
        let (one, other) = (key.sign(b"one").unwrap(), key.sign(b"other").unwrap());
        assert_eq!(one, key.sign(b"one").unwrap(), "{name}");
        assert_ne!(one, other, "{name}");
        assert_eq!(one.len(), key.signature_size(), "{name}");
        assert_eq!(Some(one.len()), key.algorithm().signature_size(), "{name}");
    }
}

#[test]
fn an_rsa_key_is_used_as_the_caller_says() {
    let key = generated("rsa-pkcs1-2048-sha512");
    let file = key.to_pem().unwrap();
    let read = |names: &[&str]| {
        let algorithms: Vec<_> = names.iter().map(|name| algorithm(name)).collect();
        let private = PrivateKey::decode(file.as_bytes(), &algorithms, None).unwrap();
        let public = PublicKey::decode(key.public().to_pem().as_bytes(), &algorithms).unwrap();
        assert_eq!(private.public(), public);
        private
    };
    let same = read(&["rsa-pss-3072-sha384", "rsa-pss-2048-sha256", "rsa-pkcs1-2048-sha512"]);
    assert_eq!(same.algorithm(), key.algorithm());
    assert_eq!(same.sign(b"message").unwrap(), key.sign(b"message").unwrap());
    assert_eq!(read(&[]).algorithm(), key.algorithm(), "a line of the file says it");
    let bare = key.public().to_der();
    let ids: BTreeSet<_> = ["rsa-pss-2048-sha256", "rsa-pkcs1-2048-sha512"]
        .map(|name| PublicKey::decode(&bare, &[algorithm(name)]).unwrap().key_id())
        .into();
    assert_eq!(ids.len(), 2, "padding and hash are a part of the key id");
}

#[test]
fn truncated_and_longer_files_are_refused() {
    for name in ["ecdsa-p256", "ml-dsa-44", "slh-dsa-sha2-128f", "rsa-pss-2048-sha256"] {
        let key = generated(name);
        let private = key.export(Format::Der, None).unwrap();
        let public = key.public().to_der();
        for len in (0..private.len()).step_by(private.len() / 40 + 1) {
            let kind = PrivateKey::decode(&private[..len], &[], None).unwrap_err();
            let expected = if len == 0 { KeyReason::NotPem } else { KeyReason::KeyTruncated };
            assert_eq!(kind.reason(), expected, "{name}: {len} bytes");
        }
        for len in (1..public.len()).step_by(public.len() / 40 + 1) {
            let kind = PublicKey::decode(&public[..len], &[]).unwrap_err();
            assert_eq!(kind, KeyErrorKind::Truncated, "{name}: {len} bytes");
        }
        let trailing = KeyReason::TrailingData;
        let longer = [&private[..], b"\0"].concat();
        assert_eq!(PrivateKey::decode(&longer, &[], None).unwrap_err().reason(), trailing);
        assert_eq!(
            PublicKey::decode(&[&public[..], &public].concat(), &[]).unwrap_err().reason(),
            trailing
        );
        let pem = key.to_pem().unwrap();
        let two = pem.repeat(2);
        assert_eq!(PrivateKey::from_pem(two.as_bytes()).unwrap_err().reason(), trailing);
        let cut = &pem[..pem.len() / 2];
        assert_eq!(
            PrivateKey::from_pem(cut.as_bytes()).unwrap_err().reason(),
            KeyReason::Malformed
        );
    }
}

/// Encodes an SPKI from any parts.
fn spki(oid: pkcs8::ObjectIdentifier, parameters: Option<AnyRef<'_>>, key: &[u8]) -> Vec<u8> {
    let algorithm = AlgorithmIdentifierRef { oid, parameters };
    let subject_public_key = BitStringRef::from_bytes(key).unwrap();
    SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der().unwrap()
}

/// Encodes a PKCS#8 from any parts.
fn pkcs8_of(name: &str, key: &[u8]) -> Vec<u8> {
    let info = PrivateKeyInfoRef::new(
        public::identifier(algorithm(name)),
        OctetStringRef::new(key).unwrap(),
    );
    info.to_der().unwrap()
}

#[test]
fn wrong_lengths_and_parameters_are_named() {
    let null = AnyRef::from(pkcs8::der::asn1::Null);
    for name in ["ml-dsa-65", "slh-dsa-shake-256s", "xmss-sha2-10-256", "hss-l2-sha256-h5-w8"] {
        let algorithm = algorithm(name);
        let size = algorithm.public_key_size();
        let mut key = vec![7; size + 1];
        let numbers: &[u32] = match algorithm {
            Algorithm::Xmss(_) => &[1],
            Algorithm::Hss(_) => &[2, 5, 4],
            _ => &[],
        };
        for (bytes, number) in key.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_be_bytes();
        }
        let decode = |der: &[u8]| PublicKey::decode(der, &[]);
        let oid = oids::of(algorithm);
        let whole = decode(&spki(oid, None, &key[..size])).unwrap();
        assert_eq!(whole.algorithm(), algorithm);
        assert_eq!(decode(&whole.to_der()).unwrap(), whole);
        for wrong in [size - 1, size + 1] {
            let expected = KeyErrorKind::WrongLength { expected: size, actual: wrong };
            assert_eq!(decode(&spki(oid, None, &key[..wrong])).unwrap_err(), expected, "{name}");
        }
        let kind = decode(&spki(oid, Some(null), &key[..size])).unwrap_err();
        assert_eq!(kind.reason(), KeyReason::Malformed, "{name} with parameters");
    }
    // These sets are not approved: XMSS-SHA2_10_512, and HSS with SHAKE.
    for (name, numbers) in [("xmss-sha2-10-256", &[4_u32][..]), ("lms-sha256-h5-w8", &[1, 15, 9])] {
        let algorithm = algorithm(name);
        let mut key = vec![7; algorithm.public_key_size()];
        for (bytes, number) in key.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_be_bytes();
        }
        let kind = PublicKey::decode(&spki(oids::of(algorithm), None, &key), &[]).unwrap_err();
        assert!(matches!(kind, KeyErrorKind::UnsupportedAlgorithm(_)), "{name}: {kind:?}");
    }
    let seed = [&[0x80, 31][..], &[1; 31]].concat();
    let kind = PrivateKey::decode(&pkcs8_of("ml-dsa-65", &seed), &[], None).unwrap_err();
    assert_eq!(kind, KeyErrorKind::WrongLength { expected: 32, actual: 31 });
    let kind = PrivateKey::decode(&pkcs8_of("slh-dsa-sha2-128f", &[1; 63]), &[], None).unwrap_err();
    assert_eq!(kind, KeyErrorKind::WrongLength { expected: 64, actual: 63 });
}

#[test]
fn rsa_keys_of_other_shapes_are_refused() {
    let key = generated("rsa-pss-2048-sha256").public();
    // The exponent is the last number: first it is 65539, then it has a leading zero byte. After that, the modulus
    // is even.
    let mut other = key.to_der();
    *other.last_mut().unwrap() = 3;
    let kind = PublicKey::decode(&other, &[algorithm(RSA)]).unwrap_err();
    assert!(matches!(kind, KeyErrorKind::UnsupportedAlgorithm(_)), "{kind:?}");
    let pkcs1 = key.as_bytes();
    assert_eq!(PublicKey::decode(pkcs1, &[algorithm(RSA)]).unwrap(), key);
    let mut not_canonical = pkcs1.to_vec();
    let at = not_canonical.len() - 3;
    not_canonical[at] = 0;
    assert_eq!(
        PublicKey::decode(&not_canonical, &[algorithm(RSA)]).unwrap_err().reason(),
        KeyReason::Malformed
    );
    let mut even = pkcs1.to_vec();
    let at = even.len() - 6;
    even[at] &= 0xfe;
    assert_eq!(
        PublicKey::decode(&even, &[algorithm(RSA)]).unwrap_err().reason(),
        KeyReason::Malformed
    );
    // RFC 3279 has NULL as parameters, and some tools leave them out.
    assert_eq!(PublicKey::decode(&spki(oids::RSA, None, pkcs1), &[algorithm(RSA)]).unwrap(), key);
}

#[test]
fn points_off_the_curve_and_compressed_ones_are_named() {
    for name in ["ecdsa-p256", "ecdsa-p384"] {
        let key = generated(name).public();
        let curve = match key.algorithm() {
            Algorithm::Ecdsa(curve) => curve,
            other => panic!("{other}"),
        };
        let parameters = AnyRef::from(ecdsa::curve_identifier(curve));
        let decode =
            |point: &[u8]| PublicKey::decode(&spki(oids::EC, Some(parameters), point), &[]);
        assert_eq!(decode(key.as_bytes()).unwrap(), key);
        let mut off = key.as_bytes().to_vec();
        *off.last_mut().unwrap() ^= 1;
        assert_eq!(decode(&off).unwrap_err().reason(), KeyReason::Malformed);
        let half = key.as_bytes().len().div_ceil(2);
        let compressed = [&[2], &key.as_bytes()[1..half]].concat();
        assert_eq!(decode(&compressed).unwrap_err(), KeyErrorKind::CompressedPoint);
        assert!(matches!(decode(&[0]).unwrap_err(), KeyErrorKind::WrongLength { .. }));
        let mut hybrid = key.as_bytes().to_vec();
        hybrid[0] = 6;
        assert_eq!(decode(&hybrid).unwrap_err().reason(), KeyReason::Malformed);
    }
}

#[test]
fn halves_that_do_not_belong_together_are_refused() {
    for name in [
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "ml-dsa-44",
        "slh-dsa-sha2-128f",
        "rsa-pss-2048-sha256",
    ] {
        let (key, other) = (generated(name), generated(name));
        let der = key.export(Format::Der, None).unwrap();
        // PKCS#8 version 2, first with the public key of another pair, then with its own.
        for (public, is_own) in [(other.public(), false), (key.public(), true)] {
            let mut info = PrivateKeyInfoRef::from_der(&der).unwrap();
            info.public_key = Some(BitStringRef::from_bytes(public.as_bytes()).unwrap());
            let result = PrivateKey::decode(&info.to_der().unwrap(), &[algorithm(RSA)], None);
            if is_own {
                assert_eq!(result.unwrap().public(), key.public(), "{name}");
            } else {
                assert_eq!(result.unwrap_err(), KeyErrorKind::PublicHalfDiffers, "{name}");
            }
        }
    }
    // The public key or root inside the encoding of the private key differs.
    let key = generated("ecdsa-p256");
    let der = key.export(Format::Der, None).unwrap();
    let mut changed = der.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let kind = PrivateKey::decode(&changed, &[algorithm(RSA)], None).unwrap_err();
    assert_eq!(kind, KeyErrorKind::PublicHalfDiffers);
    let key = generated("slh-dsa-sha2-128f");
    let mut changed = key.export(Format::Der, None).unwrap().to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let kind = PrivateKey::decode(&changed, &[algorithm(RSA)], None).unwrap_err();
    assert_eq!(kind, KeyErrorKind::PublicHalfDiffers);
    // Each number of an RSA key after the modulus is checked against the others.
    let key = generated("rsa-pss-2048-sha256");
    let der = key.export(Format::Der, None).unwrap();
    for at in [400, 700, 850, 1000, der.len() - 1] {
        let mut changed = der.to_vec();
        changed[at] ^= 4;
        let kind = PrivateKey::decode(&changed, &[algorithm(RSA)], None).unwrap_err();
        assert_eq!(kind, KeyErrorKind::PublicHalfDiffers, "byte {at}");
    }
}

#[test]
fn ml_dsa_keys_are_read_in_all_three_forms() {
    for (name, set) in [("ml-dsa-44", 2560_u16), ("ml-dsa-65", 4032), ("ml-dsa-87", 4896)] {
        let key = generated(name);
        let seed_form = key.export(Format::Der, None).unwrap();
        let seed = seed_form.last_chunk::<32>().unwrap();
        let expanded = expanded_of(name, seed);
        assert_eq!(expanded.len(), usize::from(set));
        let string = |tag: u8, content: &[u8]| {
            let len = (content.len() as u16).to_be_bytes();
            [&[tag, 0x82][..], &len, content].concat()
        };
        let read = |encoded: &[u8]| PrivateKey::decode(&pkcs8_of(name, encoded), &[], None);
        let long = string(4, &expanded);
        let from_expanded = read(&long).unwrap();
        assert_eq!(from_expanded.public(), key.public(), "{name}");
        assert_eq!(from_expanded.sign(b"message").unwrap(), key.sign(b"message").unwrap());
        let again = from_expanded.export(Format::Der, None).unwrap();
        assert_eq!(*again, pkcs8_of(name, &long));
        let both = string(0x30, &[&[4, 32][..], seed, &long].concat());
        let from_both = read(&both).unwrap();
        assert_eq!(from_both.export(Format::Der, None).unwrap(), seed_form, "the seed is written");

        // One bit is changed in each part of the expanded key: ρ, K, tr, s1, t0. The public key does not depend on
        // K and t0, so only a seed next to the expanded key shows that they are wrong.
        let last = expanded.len() - 1;
        for (at, shows) in [(0, true), (32, false), (64, true), (128, true), (last, false)] {
            let mut changed = expanded.clone();
            changed[at] ^= 1;
            let differs = KeyErrorKind::PublicHalfDiffers;
            if shows {
                let kind = read(&string(4, &changed)).unwrap_err();
                // The change in s1 may also put a coefficient out of its range.
                let is_expected =
                    kind == differs || at == 128 && kind.reason() == KeyReason::Malformed;
                assert!(is_expected, "{name}: byte {at}: {kind}");
            }
            let both = string(0x30, &[&[4, 32][..], seed, &string(4, &changed)].concat());
            assert_eq!(read(&both).unwrap_err(), differs, "{name}: byte {at}");
        }
        let mut out_of_range = expanded.clone();
        out_of_range[128..192].fill(0xff);
        assert_eq!(read(&string(4, &out_of_range)).unwrap_err().reason(), KeyReason::Malformed);
        for wrong in [&[][..], &[0x80], &[0x81, 32], &long[..9], &[&long[..], &[0]].concat()] {
            assert!(read(wrong).is_err());
        }
    }
}

/// Expands a seed with another implementation.
fn expanded_of(name: &str, seed: &[u8; 32]) -> Vec<u8> {
    use fips204::traits::{KeyGen, SerDes};
    match name {
        "ml-dsa-44" => fips204::ml_dsa_44::KG::keygen_from_seed(seed).1.into_bytes().to_vec(),
        "ml-dsa-65" => fips204::ml_dsa_65::KG::keygen_from_seed(seed).1.into_bytes().to_vec(),
        _ => fips204::ml_dsa_87::KG::keygen_from_seed(seed).1.into_bytes().to_vec(),
    }
}

#[test]
fn no_file_asks_for_all_the_memory() {
    let key = generated("ed25519");
    let file = key.export(Format::Der, Some(b"secret")).unwrap();
    // N is the INTEGER 0x4000 after the salt.
    let at = file.windows(4).position(|it| it == [2, 2, 0x40, 0]).unwrap();
    for n in [[0x7f, 0xff], [0x40, 1], [1, 1]] {
        let mut changed = file.to_vec();
        changed[at + 2..at + 4].copy_from_slice(&n);
        let kind = PrivateKey::decode(&changed, &[], Some(b"secret")).unwrap_err();
        assert_eq!(kind.reason(), KeyReason::Malformed, "{n:?}");
    }
}

#[test]
fn old_encryption_is_named() {
    let pem = "-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF

AAAA
-----END RSA PRIVATE KEY-----
";
    assert_eq!(private(pem).unwrap_err(), KeyErrorKind::OldEncryption);
}

#[test]
fn no_message_shows_any_private_key() {
    for name in QUICK.into_iter().chain(["lms-sha256-192-h5-w1"]) {
        let key = generated(name);
        let shown = format!("{key:?}");
        assert!(shown.starts_with("private half of key ") && shown.len() < 60, "{shown}");
    }
}
