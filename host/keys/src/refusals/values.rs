//! Keys of unsupported algorithms, and numbers and points that are not valid keys.

use pkcs8::der::Decode;

use super::*;

const RSA: &str = "1.2.840.113549.1.1.1";
const EC: &str = "1.2.840.10045.2.1";
const P256: &str = "1.2.840.10045.3.1.7";
const P384: &str = "1.3.132.0.34";
const ED25519: &str = "1.3.101.112";
const ML_DSA_65: &str = "2.16.840.1.101.3.4.3.18";
const SLH_DSA_SHA2_128F: &str = "2.16.840.1.101.3.4.3.21";
const HSS: &str = "1.2.840.113549.1.9.16.3.17";
const XMSS: &str = "1.3.6.1.5.5.7.6.34";
const XMSS_MT: &str = "1.3.6.1.5.5.7.6.35";

/// The order of P-256 (SP 800-186 §3.2.1.3).
const N_OF_P256: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6,
    0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

pub(super) fn add(cases: &mut Cases) {
    algorithms(cases);
    parameters(cases);
    schemes(cases);
    rsa_public(cases);
    rsa_private(cases);
    ec_public(cases);
    ec_private(cases);
    ed25519(cases);
    lengths(cases);
    halves(cases);
}

fn algorithms(cases: &mut Cases) {
    let unsupported = KeyReason::UnsupportedAlgorithm;
    // The identifiers of Ed448, X25519, DSA, and one that is not assigned.
    for name in ["1.3.101.113", "1.3.101.110", "1.2.840.10040.4.1", "1.2.3.4"] {
        cases.public(name, unsupported, spki(&[&oid(name)], &[7; 57]));
        cases.private(name, unsupported, pkcs8(&[&oid(name)], &[4, 2, 7, 7]));
    }
    // The curves P-521 and secp256k1, in each container.
    for curve in ["1.3.132.0.35", "1.3.132.0.10"] {
        let identifier: [&[u8]; 2] = [&oid(EC), &oid(curve)];
        cases.public(curve, unsupported, spki(&identifier, &[4; 65]));
        let curve_of_key = element(0xa0, &[&oid(curve)]);
        let key = ec_key(&[7; 32], Some(&curve_of_key), None);
        cases.private(curve, unsupported, pem("EC PRIVATE KEY", &key));
        cases.private(curve, unsupported, pkcs8(&identifier, &key));
    }
    cases.private("DSA", unsupported, pem("DSA PRIVATE KEY", &element(SEQUENCE, &[])));
    // Parameter sets that SP 800-208 does not approve, and numbers that are not assigned.
    for (name, size, numbers) in [
        (HSS, 60, &[1, 15, 9][..]),
        (HSS, 60, &[0, 5, 4]),
        (HSS, 60, &[9, 5, 4]),
        (HSS, 60, &[0x100_0001, 5, 4]),
        (XMSS, 68, &[4]),
        (XMSS, 68, &[0]),
        (XMSS, 68, &[u32::MAX]),
        (XMSS_MT, 68, &[9]),
        (XMSS_MT, 68, &[0]),
    ] {
        let mut key = vec![7; size];
        for (bytes, number) in key.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = u32::to_be_bytes(*number);
        }
        cases.public("a set of a tree", unsupported, spki(&[&oid(name)], &key));
    }

    let key = generated("ed25519");
    let path = cases.path("ed25519.pem");
    let half = cases.path("ed25519.pub.pem");
    write_pair(&key, &path, &half, Format::Pem, None).unwrap();
    for path in [path, half] {
        for asked in ["rsa-pss-2048-sha256", "ecdsa-p256", "ml-dsa-65"] {
            let read = AnyKey::read_as(&path, Some(algorithm(asked)), None);
            cases.error(asked, KeyReason::OtherAlgorithm, read.err());
        }
        AnyKey::read_as(&path, Some(algorithm("ed25519")), None).unwrap();
    }
}

/// Adds cases of the sources of an RSA key's padding and hash: the line before the key, the
/// identifier, and the caller.
fn schemes(cases: &mut Cases) {
    let key = generated(super::RSA).public();
    let bare = key.to_der();
    let pkcs1 = super::algorithm("rsa-pkcs1-2048-sha256");
    let kind = |file: &[u8], asked: &[Algorithm]| PublicKey::decode(file, asked).err();
    cases.kind("nothing says it", KeyReason::SchemeNotStated, kind(&bare, &[]));
    let larger = [algorithm("rsa-pss-3072-sha384")];
    cases.kind("of another size", KeyReason::SchemeNotStated, kind(&bare, &larger));
    let stated = key.to_pem();
    cases.kind(
        "the line and the caller",
        KeyReason::OtherScheme,
        kind(stated.as_bytes(), &[pkcs1]),
    );
    let with = |line: &str| stated.replace("# algorithm: rsa-pss-2048-sha256", line);
    let not_of_key = KeyReason::OtherAlgorithm;
    for (line, expected) in [
        ("# algorithm: rsa-pss-3072-sha384", not_of_key),
        ("# algorithm: ed25519", not_of_key),
        ("# algorithm: rot13", KeyReason::UnsupportedAlgorithm),
        ("# algorithm: rot13\x1b[2J", KeyReason::UnsupportedAlgorithm),
        ("# algorithm: ", KeyReason::UnsupportedAlgorithm),
        ("# a comment", KeyReason::SchemeNotStated),
        (
            "# algorithm: rsa-pss-2048-sha256\n# algorithm: rsa-pss-2048-sha256",
            KeyReason::TrailingData,
        ),
    ] {
        cases.kind(line, expected, kind(with(line).as_bytes(), &[]));
    }
    let of_other = generated("ed25519").public().to_pem();
    let line = format!("# algorithm: ecdsa-p256\n{of_other}");
    cases.kind("a line before another key", not_of_key, kind(line.as_bytes(), &[]));
    let line = format!("# algorithm: ed25519\n{of_other}");
    assert!(PublicKey::decode(line.as_bytes(), &[]).is_ok());

    let pss =
        |parameters: &[u8]| spki(&[&oid("1.2.840.113549.1.1.10"), parameters], key.as_bytes());
    cases.kind("PSS without a hash", KeyReason::SchemeNotStated, kind(&pss(&[]), &[]));
    cases.kind("PSS for PKCS#1", not_of_key, kind(&pss(&[]), &[pkcs1]));
    let hash =
        |number: u8| element(SEQUENCE, &[&oid(&format!("2.16.840.1.101.3.4.2.{number}")), &NULL]);
    let parameters = |message: u8, mask: u8, salt: u8| {
        let mask = element(SEQUENCE, &[&oid("1.2.840.113549.1.1.8"), &hash(mask)]);
        let parts = [
            element(0xa0, &[&hash(message)]),
            element(0xa1, &[&mask]),
            element(0xa2, &[&integer(&[salt])]),
        ];
        element(SEQUENCE, &[&parts.concat()])
    };
    assert_eq!(PublicKey::decode(&pss(&parameters(1, 1, 32)), &[]).unwrap(), key);
    let asked = [algorithm("rsa-pss-2048-sha384")];
    let other = kind(&pss(&parameters(1, 1, 32)), &asked);
    cases.kind("PSS for another hash", KeyReason::OtherScheme, other);
    for (message, mask, salt) in [(1, 2, 32), (1, 1, 33), (4, 4, 28)] {
        let file = pss(&parameters(message, mask, salt));
        cases.kind("other PSS", KeyReason::UnsupportedAlgorithm, kind(&file, &[]));
    }
    cases.kind("PSS with NULL", KeyReason::Malformed, kind(&pss(&NULL), &[]));
}

/// Adds cases of algorithm parameters other than the only valid encoding.
fn parameters(cases: &mut Cases) {
    let malformed = KeyReason::Malformed;
    let ec = generated("ecdsa-p256");
    let rsa = generated("rsa-pss-2048-sha256");
    // Curve parameters given as numbers instead of a named curve.
    let explicit = element(SEQUENCE, &[&integer(&[1])]);
    for (what, malformed, parameters) in [
        ("no curve", malformed, &[][..]),
        ("NULL as a curve", malformed, &NULL),
        ("a curve in numbers", KeyReason::WrongLabel, &explicit),
    ] {
        let identifier: [&[u8]; 2] = [&oid(EC), parameters];
        cases.public(what, malformed, spki(&identifier, ec.public().as_bytes()));
        let key = ec_key(&[7; 32], None, None);
        cases.private(what, malformed, pkcs8(&identifier, &key));
    }
    let rsa_key = rsa.export(Format::Der, None).unwrap();
    let rsa_key = pkcs8::PrivateKeyInfoRef::from_der(&rsa_key).unwrap().private_key.as_bytes();
    let identifier: [&[u8]; 2] = [&oid(RSA), &[5, 1, 0]];
    cases.public("a NULL with content", malformed, spki(&identifier, rsa.public().as_bytes()));
    cases.private("a NULL with content", malformed, pkcs8(&identifier, rsa_key));
    let identifier: [&[u8]; 2] = [&oid(ED25519), &NULL];
    let key = generated("ed25519");
    cases.public("NULL", malformed, spki(&identifier, key.public().as_bytes()));
    cases.private("NULL", malformed, pkcs8(&identifier, &element(OCTET_STRING, &[&[7; 32]])));
    // RFC 5958 §2 defines only the versions 0 and 1.
    let version = integer(&[2]);
    let seed = element(OCTET_STRING, &[&element(OCTET_STRING, &[&[7; 32]])]);
    let file = element(SEQUENCE, &[&version, &element(SEQUENCE, &[&oid(ED25519)]), &seed]);
    cases.private("another version of PKCS#8", malformed, file);
}

/// Returns an odd modulus of `bytes` bytes whose top bit is set, after a zero byte for the sign.
fn modulus(bytes: usize) -> Vec<u8> {
    let mut modulus = vec![0xc3; bytes];
    modulus.insert(0, 0);
    modulus
}

fn rsa_public(cases: &mut Cases) {
    let mut refused = |what: &str, expected, n: &[u8], e: &[u8]| {
        let key = element(SEQUENCE, &[&integer(n), &integer(e)]);
        cases.public(what, expected, spki(&[&oid(RSA), &NULL], &key));
        cases.public(what, expected, pem("RSA PUBLIC KEY", &key));
    };
    let (good, e) = (modulus(256), &[1, 0, 1][..]);
    let unsupported = KeyReason::UnsupportedAlgorithm;
    refused("a modulus of 0", unsupported, &[0], e);
    refused("a modulus of 1", unsupported, &[1], e);
    for size in [64, 128, 255, 257, 320, 1024, 4096] {
        refused("another size", unsupported, &modulus(size), e);
    }
    for exponent in [&[0][..], &[1], &[3], &[17], &[1, 0, 3], &[1, 0, 0], &[1, 0, 0, 0, 1]] {
        refused("another exponent", unsupported, &good, exponent);
    }
    refused("an exponent of 64 bits", unsupported, &good, &[0x7f; 8]);
    refused("an exponent as long as the modulus", unsupported, &good, &modulus(256));
    let malformed = KeyReason::Malformed;
    refused("a negative modulus", malformed, &good[1..], e);
    refused("a zero before the modulus", malformed, &[&[0], &good[..]].concat(), e);
    refused("a zero before the exponent", malformed, &good, &[0, 1, 0, 1]);
    refused("a negative exponent", malformed, &good, &[0xff]);
    refused("no exponent", malformed, &good, &[]);
    let mut even = good.clone();
    even[256] = 2;
    refused("an even modulus", malformed, &even, e);
    let more = element(SEQUENCE, &[&integer(&good), &integer(e), &integer(&[1])]);
    cases.public("three numbers", malformed, pem("RSA PUBLIC KEY", &more));
}

/// Adds cases in which one number of a private key is zero, one or far too large. None of them may
/// take much time.
fn rsa_private(cases: &mut Cases) {
    let file = generated("rsa-pss-2048-sha256").export(Format::Der, None).unwrap();
    let key = pkcs8::PrivateKeyInfoRef::from_der(&file).unwrap().private_key.as_bytes();
    let key = pkcs1::RsaPrivateKeyRef::from_der(key).unwrap();
    // The numbers are in the order of RFC 8017 appendix A.1.2.
    let numbers = [
        key.modulus,
        key.public_exponent,
        key.private_exponent,
        key.prime1,
        key.prime2,
        key.exponent1,
        key.exponent2,
        key.coefficient,
    ];
    let numbers = numbers.map(|number| [&[0], number.as_bytes()].concat());
    let numbers = numbers.map(|bytes| {
        let is_padded = bytes.get(1).is_some_and(|first| *first < 0x80);
        bytes[usize::from(is_padded)..].to_vec()
    });
    let encode = |numbers: &[Vec<u8>]| {
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| integer(number)).collect();
        element(SEQUENCE, &[&integer(&[0]), &numbers])
    };
    PrivateKey::decode(&encode(&numbers), &[algorithm(super::RSA)], None).unwrap();
    let huge = modulus(600);
    for at in 0..numbers.len() {
        for value in [&[0][..], &[1], &[2], &huge] {
            let mut numbers = numbers.clone();
            numbers[at] = value.to_vec();
            let expected =
                if at < 2 { KeyReason::UnsupportedAlgorithm } else { KeyReason::PublicHalfDiffers };
            let what = format!("number {at} is {} bytes of {}", value.len(), value[0]);
            cases.private(&what, expected, pem("RSA PRIVATE KEY", &encode(&numbers)));
            cases.private(&what, expected, pkcs8(&[&oid(RSA), &NULL], &encode(&numbers)));
        }
    }
    // Both primes are changed to n and 1, so their product is still n.
    let mut trivial = numbers.clone();
    (trivial[3], trivial[4]) = (numbers[0].clone(), vec![1]);
    let expected = KeyReason::PublicHalfDiffers;
    cases.private("no primes", expected, pem("RSA PRIVATE KEY", &encode(&trivial)));
    let exponent = vec![vec![3]];
    let with_three = [&numbers[..1], &exponent, &numbers[2..]].concat();
    let unsupported = KeyReason::UnsupportedAlgorithm;
    cases.private("exponent 3", unsupported, pem("RSA PRIVATE KEY", &encode(&with_three)));
    let cut = pem("RSA PRIVATE KEY", &encode(&numbers[..7]));
    cases.private("a number too little", KeyReason::Malformed, cut);
}

/// Encodes an ECPrivateKey (RFC 5915 §3).
fn ec_key(scalar: &[u8], curve: Option<&[u8]>, public: Option<&[u8]>) -> Vec<u8> {
    let public = public.map(|key| element(0xa1, &[&element(BIT_STRING, &[&[0], key])]));
    let (curve, public) = (curve.unwrap_or_default(), public.unwrap_or_default());
    element(SEQUENCE, &[&integer(&[1]), &element(OCTET_STRING, &[scalar]), curve, &public])
}

fn ec_public(cases: &mut Cases) {
    for (name, curve) in [("ecdsa-p256", P256), ("ecdsa-p384", P384)] {
        let key = generated(name).public();
        let point = key.as_bytes();
        let half = point.len() / 2;
        let mut refused = |what: &str, expected, point: &[u8]| {
            cases.public(what, expected, spki(&[&oid(EC), &oid(curve)], point));
        };
        let changed = |at: usize, byte: u8| {
            let mut point = point.to_vec();
            point[at] = byte;
            point
        };
        let malformed = KeyReason::Malformed;
        refused("a point off the curve", malformed, &changed(half, point[half] ^ 1));
        refused("a hybrid point", malformed, &changed(0, 6 + (point[2 * half] & 1)));
        refused("another form", malformed, &changed(0, 0));
        refused("zeros", malformed, &[&[4], &vec![0; 2 * half][..]].concat());
        refused("ones", malformed, &[&[4], &vec![0xff; 2 * half][..]].concat());
        let x_of_ones = [&[4], &vec![0xff; half][..], &point[1 + half..]].concat();
        refused("a coordinate beyond the field", malformed, &x_of_ones);
        let compressed = KeyReason::CompressedPoint;
        refused("an even half", compressed, &[&[2], &point[1..=half]].concat());
        refused("an odd half", compressed, &[&[3], &point[1..=half]].concat());
        let length = KeyReason::WrongLength;
        refused("the point at infinity", length, &[0]);
        refused("nothing", length, &[]);
        refused("a byte less", length, &point[..2 * half]);
        refused("a byte more", length, &[point, &[0]].concat());
        refused("half a point", length, &point[..=half]);
    }
    let p384 = generated("ecdsa-p384").public();
    let file = spki(&[&oid(EC), &oid(P256)], p384.as_bytes());
    cases.public("a point of another curve", KeyReason::WrongLength, file);
}

fn ec_private(cases: &mut Cases) {
    let curve = element(0xa0, &[&oid(P256)]);
    let mut refused = |what: &str, expected, scalar: &[u8]| {
        let key = ec_key(scalar, Some(&curve), None);
        cases.private(what, expected, pem("EC PRIVATE KEY", &key));
        cases.private(what, expected, pkcs8(&[&oid(EC), &oid(P256)], &key));
    };
    let mut beyond = N_OF_P256;
    beyond[31] += 1;
    for scalar in [[0; 32], N_OF_P256, beyond, [0xff; 32]] {
        refused("a number out of range", KeyReason::Malformed, &scalar);
    }
    refused("no number", KeyReason::Malformed, &[]);
    for size in [33, 48] {
        refused("a number of another length", KeyReason::WrongLength, &vec![7; size]);
    }
    let mut last = N_OF_P256;
    last[31] -= 1;
    let key = ec_key(&last, Some(&curve), None);
    PrivateKey::decode(&key, &[], None).expect("the last one in range");

    let malformed = KeyReason::Malformed;
    cases.private("no curve", malformed, pem("EC PRIVATE KEY", &ec_key(&[7; 32], None, None)));
    let differs = KeyReason::PublicHalfDiffers;
    let other = generated("ecdsa-p256").public();
    let compressed = [&[2], &other.as_bytes()[1..33]].concat();
    let own = ec_key(&[7; 32], Some(&curve), None);
    let own = PrivateKey::decode(&own, &[], None).unwrap().public();
    // A compressed point includes the sign of y, which must be right too.
    let wrong_sign = [&[2 + (own.as_bytes()[64] & 1 ^ 1)], &own.as_bytes()[1..33]].concat();
    let right_sign = [&[2 + (own.as_bytes()[64] & 1)], &own.as_bytes()[1..33]].concat();
    let key = ec_key(&[7; 32], Some(&curve), Some(&right_sign));
    PrivateKey::decode(&key, &[], None).expect("some tools write it so");
    for public in
        [other.as_bytes(), &compressed, &wrong_sign, &right_sign[..1], &right_sign[..32], &[], &[0]]
    {
        let key = ec_key(&[7; 32], Some(&curve), Some(public));
        cases.private("another public key", differs, pem("EC PRIVATE KEY", &key));
    }
    let key = ec_key(&[7; 48], Some(&element(0xa0, &[&oid(P384)])), None);
    cases.private("two curves", differs, pkcs8(&[&oid(EC), &oid(P256)], &key));
}

fn ed25519(cases: &mut Cases) {
    let point = |low: u8, rest: u8, high: u8| {
        let mut bytes = [rest; 32];
        (bytes[0], bytes[31]) = (low, high);
        bytes
    };
    // The encoding of a point of order 8 on edwards25519 (RFC 7748 §4.1).
    let order_8 = [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ];
    for (what, bytes) in [
        ("order 1", point(1, 0, 0)),
        ("order 2", point(0xec, 0xff, 0x7f)),
        ("order 4", [0; 32]),
        ("order 8", order_8),
        ("y = p", point(0xed, 0xff, 0x7f)),
        ("y = p + 1", point(0xee, 0xff, 0x7f)),
        ("a sign of x = 0", point(1, 0, 0x80)),
        ("no point", point(2, 0, 0)),
        ("ones", [0xff; 32]),
    ] {
        cases.public(what, KeyReason::Malformed, spki(&[&oid(ED25519)], &bytes));
    }
    for (what, key) in [
        ("a seed without its string", vec![7; 32]),
        ("a short seed", element(OCTET_STRING, &[&[7; 31]])),
        ("a long seed", element(OCTET_STRING, &[&[7; 33]])),
        ("a byte after the seed", [&element(OCTET_STRING, &[&[7; 32]])[..], &[0]].concat()),
        ("a long length", [&[4, 0x81, 32][..], &[7; 32]].concat()),
    ] {
        cases.private(what, KeyReason::Malformed, pkcs8(&[&oid(ED25519)], &key));
    }
}

fn lengths(cases: &mut Cases) {
    let expected = KeyReason::WrongLength;
    for (name, size) in [(ED25519, 32), (ML_DSA_65, 1952), (SLH_DSA_SHA2_128F, 32)] {
        for size in [0, 1, size - 1, size + 1] {
            cases.public(name, expected, spki(&[&oid(name)], &vec![7; size]));
        }
    }
    for size in [59, 61] {
        let key = [&[0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 4][..], &vec![7; size - 12]].concat();
        cases.public("HSS", expected, spki(&[&oid(HSS)], &key));
    }
    for size in [67, 69] {
        let key = [&[0, 0, 0, 1][..], &vec![7; size - 4]].concat();
        cases.public("XMSS", expected, spki(&[&oid(XMSS)], &key));
        cases.public("XMSS^MT", expected, spki(&[&oid(XMSS_MT)], &key));
    }
    for name in [HSS, XMSS, XMSS_MT] {
        cases.public("no numbers", KeyReason::Malformed, spki(&[&oid(name)], &[0; 3]));
    }
    for size in [0, 31, 33, 64] {
        let seed = element(0x80, &[&vec![7; size]]);
        cases.private("a seed", expected, pkcs8(&[&oid(ML_DSA_65)], &seed));
        let octets = element(OCTET_STRING, &[&vec![7; size]]);
        cases.private("octets", expected, pkcs8(&[&oid(ML_DSA_65)], &octets));
    }
    for size in [0, 63, 65, 128] {
        cases.private("octets", expected, pkcs8(&[&oid(SLH_DSA_SHA2_128F)], &vec![7; size]));
    }
}

fn halves(cases: &mut Cases) {
    let expected = KeyReason::PublicHalfDiffers;
    for name in ["ed25519", "ecdsa-p256", "ml-dsa-44", "slh-dsa-sha2-128f"] {
        let (key, other) = (generated(name), generated(name).public());
        let file = key.export(Format::Der, None).unwrap();
        // PKCS#8 version 2 (RFC 5958 §2), which holds a public key.
        let mut info = pkcs8::PrivateKeyInfoRef::from_der(&file).unwrap();
        let public = pkcs8::der::asn1::BitStringRef::from_bytes(other.as_bytes()).unwrap();
        info.public_key = Some(public);
        let file = pkcs8::der::Encode::to_der(&info).unwrap();
        cases.private(name, expected, file);
    }
    let key = generated("slh-dsa-sha2-128f").export(Format::Der, None).unwrap();
    let mut changed = key.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    cases.private("another root", expected, changed);
}
