//! Tests of sound keys in the forms of other tools: each is read as the same key, or named together with a command that
//! makes a key file of it. The commands are run in `tests/openssl.rs`.

use pkcs8::der::{Decode, Encode};
use sec1::EcPrivateKey;
use ssh_key::private::{
    EcdsaKeypair, EcdsaPrivateKey, Ed25519Keypair, Ed25519PrivateKey, KeypairData, RsaKeypair,
};
use ssh_key::{LineEnding, Mpint};

use super::refusals::{
    BIT_STRING, NULL, OCTET_STRING, SEQUENCE, algorithm, element, generated, integer, oid, pem,
    pkcs8, spki,
};
use super::*;

/// One algorithm of each form of private and public keys.
const NAMES: [&str; 7] = [
    "ed25519",
    "ecdsa-p256",
    "ecdsa-p384",
    "rsa-pss-2048-sha256",
    "ml-dsa-44",
    "slh-dsa-sha2-128f",
    "lms-sha256-192-h5-w1",
];

/// Returns the label and the Base64 of a PEM block, and the text before it.
fn parts(text: &str) -> (&str, &str, String) {
    let (before, rest) = text.split_once("-----BEGIN ").unwrap();
    let (label, rest) = rest.split_once("-----\n").unwrap();
    let (base64, _) = rest.split_once("-----END").unwrap();
    (before, label, base64.replace('\n', ""))
}

/// Returns the same PEM in all spellings.
fn spellings(text: &str) -> Vec<(String, String)> {
    let (before, label, base64) = parts(text);
    let of_width = |width: usize| {
        let lines: Vec<_> = base64.as_bytes().chunks(width).map(String::from_utf8_lossy).collect();
        format!("{before}-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
    };
    let mut all: Vec<_> = [1, 7, 60, 63, 65, 76, 1000, base64.len()]
        .map(|width| (format!("lines of {width}"), of_width(width)))
        .into();
    let each_line = |change: &dyn Fn(&str) -> String| text.lines().map(change).collect::<String>();
    let body = format!("-----BEGIN {label}-----{base64}-----END {label}-----");
    all.extend(
        [
            ("blanks at the end", each_line(&|line| format!("{line} \t \n"))),
            ("blanks in front", each_line(&|line| format!("  \t{line}\n"))),
            ("line ends of Windows", text.replace('\n', "\r\n")),
            ("line ends of old Macs", each_line(&|line| format!("{line}\r\n\r"))),
            ("empty lines", text.replace('\n', "\n\n")),
            ("no line end", text.trim_end().to_owned()),
            ("a byte order mark", format!("\u{feff}{text}")),
            ("everything in one line", format!("{before}{body}")),
            (
                "blanks for line ends",
                format!("{before}{}", text[before.len()..].replace('\n', " ")),
            ),
            ("text in front", format!("Bag Attributes\n    friendlyName: demo\n{text}")),
        ]
        .map(|(what, text)| (what.to_owned(), text)),
    );
    all
}

#[test]
fn pem_is_read_in_every_spelling() {
    for name in NAMES {
        let key = generated(name);
        let public = key.public();
        for (what, text) in spellings(&public.to_pem()) {
            let read = PublicKey::from_pem(text.as_bytes());
            assert_eq!(read.unwrap_or_else(|kind| panic!("{name}, {what}: {kind}")), public);
        }
        let private = key.first_file(Format::Pem, None).unwrap();
        for (what, text) in spellings(str::from_utf8(&private).unwrap()) {
            let read = PrivateKey::from_pem(text.as_bytes());
            let read = read.unwrap_or_else(|kind| panic!("{name}, {what}: {kind}"));
            assert_eq!(read.public(), public, "{name}, {what}");
        }
    }
    let key = generated("ed25519");
    let locked = key.export(Format::Pem, Some(b"secret")).unwrap();
    for (what, text) in spellings(str::from_utf8(&locked).unwrap()) {
        let read = PrivateKey::decode(text.as_bytes(), &[], Some(b"secret"));
        assert_eq!(read.unwrap_or_else(|kind| panic!("{what}: {kind}")).public(), key.public());
    }
}

#[test]
fn text_that_is_no_pem_is_named_with_the_way_to_it() {
    let text = generated("ed25519").to_pem().unwrap();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (what, file) in [
        (ForeignForm::Utf16(true), utf16.clone()),
        (ForeignForm::Utf16(false), [&[0xff, 0xfe], &utf16[..]].concat()),
        (ForeignForm::Escaped, text.replace('\n', "\\n").into_bytes()),
        (ForeignForm::Empty, b" \n".to_vec()),
    ] {
        let kind = PrivateKey::decode(&file, &[], None).unwrap_err();
        assert_eq!(kind, KeyErrorKind::ForeignForm(what));
        assert_eq!(PublicKey::decode(&file, &[]).unwrap_err(), kind);
    }
}

/// Returns PKCS#8 in version 2 with this element as the public half.
fn version_2(private: &[u8], public: &[u8]) -> Vec<u8> {
    let identifier = element(SEQUENCE, &[&oid("1.3.101.112")]);
    let seed = element(OCTET_STRING, &[&element(OCTET_STRING, &[private])]);
    element(SEQUENCE, &[&integer(&[1]), &identifier, &seed, public])
}

#[test]
fn both_tags_of_the_public_half_are_read() {
    let seed = [7; 32];
    let half = ed25519::Ed25519Key::decode(
        pkcs8::PrivateKeyInfoRef::from_der(&pkcs8(
            &[&oid("1.3.101.112")],
            &element(OCTET_STRING, &[&seed]),
        ))
        .unwrap(),
    )
    .unwrap()
    .public();
    let implicit = |half: &[u8]| element(0x81, &[&[0], half]);
    let explicit = |half: &[u8]| element(0xa1, &[&element(BIT_STRING, &[&[0], half])]);
    for file in [version_2(&seed, &implicit(&half)), version_2(&seed, &explicit(&half))] {
        let read = PrivateKey::decode(&file, &[], None).unwrap();
        assert_eq!(read.public().as_bytes(), half);
        let read = PrivateKey::from_pem(pem("PRIVATE KEY", &file).as_bytes()).unwrap();
        assert_eq!(read.public().as_bytes(), half);
    }
    let other = generated("ed25519").public();
    let kind = PrivateKey::decode(&version_2(&seed, &explicit(other.as_bytes())), &[], None);
    assert_eq!(kind.unwrap_err(), KeyErrorKind::PublicHalfDiffers);
}

#[test]
fn numbers_of_ec_keys_are_read_in_every_length() {
    for (size, curve) in [(32, oids::P256), (48, oids::P384)] {
        for short in [1, size - 1] {
            let number = [&vec![0; size - short][..], &vec![7; short]].concat();
            let encode = |number: &[u8], public: Option<&[u8]>| {
                let parameters = Some(curve.into());
                let key = EcPrivateKey { private_key: number, parameters, public_key: public };
                key.to_der().unwrap()
            };
            let full = PrivateKey::decode(&encode(&number, None), &[], None).unwrap().public();
            let longer = [&[0], &number[..]].concat();
            for other in [&number[size - short..], &longer] {
                for public in [None, Some(full.as_bytes())] {
                    let file = encode(other, public);
                    assert_eq!(PrivateKey::decode(&file, &[], None).unwrap().public(), full);
                    let file = pkcs8(&[&oid("1.2.840.10045.2.1"), &curve.to_der().unwrap()], &file);
                    assert_eq!(PrivateKey::decode(&file, &[], None).unwrap().public(), full);
                }
                let wrong = encode(other, Some(generated("ecdsa-p256").public().as_bytes()));
                let kind = PrivateKey::decode(&wrong, &[], None).unwrap_err();
                assert_eq!(kind, KeyErrorKind::PublicHalfDiffers);
            }
        }
    }
}

#[test]
fn curves_in_numbers_are_named() {
    let numbers = element(SEQUENCE, &[&integer(&[1]), &element(SEQUENCE, &[])]);
    let key = element(
        SEQUENCE,
        &[&integer(&[1]), &element(OCTET_STRING, &[&[7; 32]]), &element(0xa0, &[&numbers])],
    );
    let identifier: [&[u8]; 2] = [&oid("1.2.840.10045.2.1"), &numbers];
    let private = KeyErrorKind::ForeignForm(ForeignForm::PrivateCurveInNumbers);
    for file in [key.clone(), pem("EC PRIVATE KEY", &key).into_bytes(), pkcs8(&identifier, &key)] {
        assert_eq!(PrivateKey::decode(&file, &[], None).unwrap_err(), private);
    }
    let public = PublicKey::decode(&spki(&identifier, &[4; 65]), &[]).unwrap_err();
    assert_eq!(public, KeyErrorKind::ForeignForm(ForeignForm::PublicCurveInNumbers));
}

#[test]
fn older_forms_of_hash_based_keys_are_read() {
    const HSS: &str = "1.2.840.113549.1.9.16.3.17";
    for name in ["lms-sha256-h5-w4", "lms-sha256-192-h5-w1", "hss-l2-sha256-192-h5-w8"] {
        let key = generated(name).public();
        let wrapped = spki(&[&oid(HSS)], &element(OCTET_STRING, &[key.as_bytes()]));
        assert_eq!(PublicKey::decode(&wrapped, &[]).unwrap(), key, "{name}");
        assert!(PublicKey::older_form(&wrapped).unwrap().starts_with("RFC 8708"));
        assert_eq!(PublicKey::older_form(&key.to_der()), None);
        if name.starts_with("hss") {
            continue;
        }
        let alone = &key.as_bytes()[4..];
        for alone in [alone.to_vec(), element(OCTET_STRING, &[alone])] {
            let file = pem("PUBLIC KEY", &spki(&[&oid(HSS)], &alone));
            assert_eq!(PublicKey::decode(file.as_bytes(), &[]).unwrap(), key, "{name}");
            assert!(PublicKey::older_form(file.as_bytes()).unwrap().contains("LMS alone"));
        }
    }
}

#[test]
fn parameters_of_pss_mean_what_the_standard_says() {
    const PSS: &str = "1.2.840.113549.1.1.10";
    let key = generated("rsa-pss-2048-sha256").public();
    let hash = |number: u8, null: &[u8]| {
        element(SEQUENCE, &[&oid(&format!("2.16.840.1.101.3.4.2.{number}")), null])
    };
    let mask = |number| {
        let parts: [&[u8]; 2] = [&oid("1.2.840.113549.1.1.8"), &hash(number, &NULL)];
        element(0xa1, &[&element(SEQUENCE, &parts)])
    };
    let salt = |salt: u8| element(0xa2, &[&integer(&[salt])]);
    let read = |parameters: &[&[u8]]| {
        let parameters = element(SEQUENCE, parameters);
        PublicKey::decode(&spki(&[&oid(PSS), &parameters], key.as_bytes()), &[])
    };
    let sha256 = element(0xa0, &[&hash(1, &NULL)]);
    let trailer = element(0xa3, &[&integer(&[1])]);
    // RFC 4055 §3.1: the salt length of a key is a minimum, 20 if it is left out, and hashes may come without NULL.
    for parts in [
        vec![&sha256[..], &mask(1), &salt(32)],
        vec![&sha256, &mask(1), &salt(20)],
        vec![&sha256, &mask(1), &salt(0)],
        vec![&sha256, &mask(1)],
        vec![&sha256, &mask(1), &salt(32), &trailer],
        vec![&element(0xa0, &[&hash(1, &[])]), &mask(1), &salt(32)],
    ] {
        assert_eq!(read(&parts).unwrap(), key);
    }
    for (parts, named) in [
        (vec![], "SHA-1"),
        (vec![&sha256[..]], "SHA-256 and a mask of SHA-1"),
        (vec![&sha256, &mask(2)], "SHA-256 and a mask of SHA-384"),
        (vec![&sha256, &mask(1), &salt(64)], "at least 64 bytes"),
    ] {
        let kind = read(&parts).unwrap_err();
        assert!(kind.to_string().contains(named), "{kind}");
    }
}

#[test]
fn certificates_and_containers_in_der_are_named() {
    let name = element(SEQUENCE, &[]);
    let key = generated("ed25519").public().to_der();
    let algorithm = element(SEQUENCE, &[&oid("1.3.101.112")]);
    let signature = element(BIT_STRING, &[&[0; 65]]);
    let version = element(0xa0, &[&integer(&[2])]);
    let serial = integer(&[5]);
    let signed =
        |parts: &[&[u8]]| element(SEQUENCE, &[&element(SEQUENCE, parts), &algorithm, &signature]);
    let dates = element(SEQUENCE, &[]);
    let modern = signed(&[&version, &serial, &algorithm, &name, &dates, &name, &key]);
    let first = signed(&[&serial, &algorithm, &name, &dates, &name, &key]);
    let request = signed(&[&integer(&[0]), &name, &key, &element(0xa0, &[])]);
    let data = element(SEQUENCE, &[&oid("1.2.840.113549.1.7.1")]);
    let pkcs12 = element(SEQUENCE, &[&integer(&[3]), &data]);
    let open = [&[SEQUENCE, 0x80, 2, 1, 3], &data[..], &[0, 0]].concat();
    for (file, form) in [
        (modern, ForeignForm::Certificate(true)),
        (first, ForeignForm::Certificate(true)),
        (request, ForeignForm::CertificateRequest(true)),
        (pkcs12, ForeignForm::Pkcs12),
        (open, ForeignForm::Pkcs12),
    ] {
        let kind = PublicKey::decode(&file, &[]).unwrap_err();
        assert_eq!(kind, KeyErrorKind::ForeignForm(form));
        assert_eq!(PrivateKey::decode(&file, &[], None).unwrap_err(), kind);
    }
}

/// Returns the pair of OpenSSH of a key.
fn pair(name: &str) -> (PrivateKey, KeypairData) {
    let key = generated(name);
    let file = key.export(Format::Der, None).unwrap();
    let info = pkcs8::PrivateKeyInfoRef::from_der(&file).unwrap();
    let encoded = info.private_key.as_bytes();
    let public = key.public();
    let data = match name {
        "ed25519" => {
            let seed = encoded[2..].try_into().unwrap();
            let private = Ed25519PrivateKey::from_bytes(seed);
            let public = ssh_key::public::Ed25519PublicKey(public.as_bytes().try_into().unwrap());
            KeypairData::Ed25519(Ed25519Keypair { public, private })
        }
        "ecdsa-p256" => {
            let number: [u8; 32] =
                EcPrivateKey::from_der(encoded).unwrap().private_key.try_into().unwrap();
            KeypairData::Ecdsa(EcdsaKeypair::NistP256 {
                public: public.as_bytes().try_into().unwrap(),
                private: EcdsaPrivateKey::from(number),
            })
        }
        "ecdsa-p384" => {
            let number: [u8; 48] =
                EcPrivateKey::from_der(encoded).unwrap().private_key.try_into().unwrap();
            KeypairData::Ecdsa(EcdsaKeypair::NistP384 {
                public: public.as_bytes().try_into().unwrap(),
                private: EcdsaPrivateKey::from(number),
            })
        }
        _ => {
            let key = pkcs1::RsaPrivateKeyRef::from_der(encoded).unwrap();
            let number = |it: pkcs1::UintRef<'_>| Mpint::from_positive_bytes(it.as_bytes());
            let public = ssh_key::public::RsaPublicKey::new(
                number(key.public_exponent),
                number(key.modulus),
            );
            let private = ssh_key::private::RsaPrivateKey::new(
                number(key.private_exponent),
                number(key.coefficient),
                number(key.prime1),
                number(key.prime2),
            );
            KeypairData::Rsa(RsaKeypair::new(public.unwrap(), private.unwrap()).unwrap())
        }
    };
    (key, data)
}

#[test]
fn keys_of_openssh_are_read() {
    for name in ["ed25519", "ecdsa-p256", "ecdsa-p384", "rsa-pss-2048-sha256"] {
        let (key, data) = pair(name);
        let theirs = ssh_key::PrivateKey::new(data, "me@here").unwrap();
        let algorithms = [algorithm(name)];
        let text = theirs.to_openssh(LineEnding::LF).unwrap();
        let read = PrivateKey::decode(text.as_bytes(), &algorithms, None).unwrap();
        assert_eq!(read.public(), key.public(), "{name}");
        assert_eq!(read.sign(b"message").unwrap(), key.sign(b"message").unwrap(), "{name}");
        assert_eq!(
            PublicKey::decode(text.as_bytes(), &algorithms).unwrap_err(),
            KeyErrorKind::IsPrivate
        );
        let line = theirs.public_key().to_openssh().unwrap();
        for line in [line.clone(), format!(" {line}\r\n"), format!("\u{feff}{line}\n\n")] {
            assert_eq!(
                PublicKey::decode(line.as_bytes(), &algorithms).unwrap(),
                key.public(),
                "{name}"
            );
            let kind = PrivateKey::decode(line.as_bytes(), &algorithms, None).unwrap_err();
            assert_eq!(kind, KeyErrorKind::IsPublic);
        }
        let two = format!("{line}\n{line}\n");
        let kind = PublicKey::decode(two.as_bytes(), &algorithms).unwrap_err();
        assert_eq!(kind.reason(), KeyReason::TrailingData);
        let cut = &line[..line.len() / 2];
        let kind = PublicKey::decode(cut.as_bytes(), &algorithms).unwrap_err();
        assert_eq!(kind, KeyErrorKind::ForeignForm(ForeignForm::BrokenOpenSsh), "{name}");
    }
    let line = "ssh-ed25519-cert-v01@openssh.com AAAA";
    let kind = PublicKey::decode(line.as_bytes(), &[]).unwrap_err();
    assert_eq!(kind, KeyErrorKind::ForeignForm(ForeignForm::OpenSshCertificate));
}
