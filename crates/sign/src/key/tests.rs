use super::*;

/// RFC 8410 §10.3: the same key without and with its public half.
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

#[test]
fn reads_and_writes_the_keys_of_rfc_8410() {
    let key = private(RFC_8410_V1).unwrap();
    assert_eq!(*key.to_pem(), RFC_8410_V1);
    assert_eq!(key.public().to_pem(), RFC_8410_PUBLIC);
    assert_eq!(public(RFC_8410_PUBLIC).unwrap(), key.public());
}

#[test]
fn reads_version_2_and_compares_its_public_half() {
    assert_eq!(private(RFC_8410_V2).map(|key| key.public()), public(RFC_8410_PUBLIC));
    let other = RFC_8410_V2.replace("ZuE=", "ZuA=");
    assert_eq!(private(&other).unwrap_err(), KeyErrorKind::Malformed);
}

#[test]
fn generated_keys_differ_and_survive_their_file() {
    let (one, other) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    assert_ne!(one.public(), other.public());
    let again = private(&one.to_pem()).unwrap();
    assert_eq!(again.sign(b"message"), one.sign(b"message"));
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
    assert_eq!(public(RSA_PUBLIC).unwrap_err(), unsupported("RSA"));
    let relabelled = |label: &str| RFC_8410_V1.replace("PRIVATE KEY", label);
    assert_eq!(private(&relabelled("RSA PRIVATE KEY")).unwrap_err(), unsupported("RSA"));
    assert_eq!(private(&relabelled("EC PRIVATE KEY")).unwrap_err(), unsupported("EC (ECDSA)"));
    let encrypted = private(&relabelled("ENCRYPTED PRIVATE KEY"));
    assert_eq!(encrypted.unwrap_err(), KeyErrorKind::Encrypted);
    let certificate = private(&relabelled("CERTIFICATE"));
    assert_eq!(certificate.unwrap_err(), KeyErrorKind::WrongLabel("CERTIFICATE".to_string()));
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
    assert_eq!(public(&twice).unwrap_err(), KeyErrorKind::TrailingData);
    let before = format!("comment\n{RFC_8410_PUBLIC}");
    assert_eq!(public(&before).unwrap_err(), KeyErrorKind::TrailingData);
    let no_end = RFC_8410_PUBLIC.replace("-----END", "");
    assert_eq!(public(&no_end).unwrap_err(), KeyErrorKind::Malformed);
}

#[test]
fn every_damaged_character_is_noticed() {
    // Any change of a public key's text makes another key or none; the header of the encoding
    // must not change at all.
    let start = RFC_8410_PUBLIC.find("MC").unwrap();
    for at in start..start + 16 {
        let mut pem = RFC_8410_PUBLIC.as_bytes().to_vec();
        pem[at] = if pem[at] == b'A' { b'B' } else { b'A' };
        assert!(PublicKey::from_pem(&pem).is_err(), "character {at}");
    }
}

#[test]
fn refuses_data_behind_the_encoding() {
    // The same encoding with one byte more inside the PEM block.
    let longer = RFC_8410_PUBLIC.replace("ZuE=", "ZuEA");
    assert_eq!(public(&longer).unwrap_err(), KeyErrorKind::Malformed);
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
        assert_eq!(PublicKey::from_bytes(&bytes).unwrap_err(), KeyErrorKind::Malformed);
    }
}

#[test]
fn no_message_shows_a_private_key() {
    let key = private(RFC_8410_V1).unwrap();
    let shown = format!("{key:?}");
    assert!(!shown.contains("d4ee72") && shown.contains("private half"), "{shown}");
}
