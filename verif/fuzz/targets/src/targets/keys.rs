//! Key files: a key in DER in PEM.
//!
//! Rules: a key that was read is written to a file that reads as the same key; a public key is
//! accepted exactly if the Ed25519 of the verifier accepts it.

use ed25519_dalek::{Signature, VerifyingKey};
use hartlock_image::Algorithm;
use hartlock_kernels::Kernels;
use hartlock_kernels::ed25519::{Violation, expected_r};
use hartlock_keys::{KeyErrorKind, KeyReason, PrivateKey, PublicKey};
use hartlock_testkit::keys::KeyPair;

use crate::choices::Choices;
use crate::keys::KEYS;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.below(8) {
        0 => file(choices.rest()),
        6 => any_form(choices.rest()),
        7 => {
            let label = choices.of(&LABELS);
            file(pem(label, choices.rest()));
        }
        1 => file(pem("PUBLIC KEY", choices.rest()).as_bytes()),
        2 => file(pem("PRIVATE KEY", choices.rest()).as_bytes()),
        3 if choices.rarely(3) => {
            // The file has a second key or other text before or after the key.
            let (one, other) = (public_pem(&KEYS[0]), public_pem(&KEYS[1]));
            let more = if choices.rarely(2) { other.as_slice() } else { choices.bytes(16) };
            let files = [[&one, more].concat(), [more, &one].concat()];
            file(&files[choices.below(2)]);
        }
        3 => file(changed(&mut choices, &public_pem(&KEYS[0]))),
        4 => private(&mut choices),
        _ => point(&mut choices),
    }
}

/// Reads arbitrary bytes as a public key and as a private key.
fn file(bytes: impl AsRef<[u8]>) {
    let bytes = bytes.as_ref();
    let public = PublicKey::from_pem(bytes);
    let private = PrivateKey::from_pem(bytes);
    assert!(public.is_err() || private.is_err(), "one file, two keys");
    if let Ok(key) = &public {
        assert!(PublicKey::from_pem(key.to_pem().as_bytes()).as_ref() == Ok(key));
        // Line breaks may differ. Otherwise the file of a public key has one form, except that RSA has
        // two.
        let is_pkcs1 = bytes.windows(14).any(|part| part == b"RSA PUBLIC KEY");
        // The DER encoding of an RSA key does not state the signature scheme.
        let again = PublicKey::decode(&key.to_der(), &[key.algorithm()]);
        assert!(is_pkcs1 || again.as_ref() == Ok(key));
        // A comment line may name the algorithm of any key, and the file may state that an RSA key is
        // for PSS only.
        let may_differ = is_pkcs1 || key.to_pem().starts_with('#') || bytes.contains(&b'#');
        assert!(
            may_differ
                || without_blanks(from_block(bytes)) == without_blanks(key.to_pem().as_bytes()),
            "one form"
        );
    }
    if public.is_ok() || private.is_ok() {
        let text = from_block(bytes).trim_ascii();
        let dashes = text.windows(5).filter(|part| *part == b"-----").count();
        assert!(text.starts_with(b"-----BEGIN ") && text.ends_with(b" KEY-----"), "only a key");
        let has_curve = text.starts_with(b"-----BEGIN EC PARAMETERS-----");
        assert_eq!(dashes, if has_curve { 8 } else { 4 }, "one key");
    }
    if let Ok(key) = &private {
        match key.to_pem() {
            Ok(pem) => {
                let again = PrivateKey::from_pem(pem.as_bytes()).expect("what was written");
                assert!(again.public() == key.public());
                signs(key);
            }
            Err(kind) => assert!(kind == KeyErrorKind::StateNotExported && key.sign(b"").is_err()),
        }
    }
    for kind in [public.err(), private.err()].into_iter().flatten() {
        let text = kind.to_string();
        assert!(!text.is_empty() && text.len() < 400, "a message for people: {text}");
        assert!(!text.chars().any(char::is_control), "a terminal would obey it: {text:?}");
    }
}

/// Reads DER, or an encrypted key with a passphrase. The only rule is that reading ends with a result.
fn any_form(bytes: &[u8]) {
    let public = PublicKey::decode(bytes, &[]);
    let private = PrivateKey::decode(bytes, &[], Some(b"secret"));
    assert!(public.is_err() || private.is_err(), "one file, two keys");
    if let Ok(key) = public {
        assert!(PublicKey::decode(&key.to_der(), &[key.algorithm()]).as_ref() == Ok(&key));
    }
}

/// PEM labels of further key formats.
const LABELS: [&str; 5] = [
    "EC PRIVATE KEY",
    "RSA PRIVATE KEY",
    "RSA PUBLIC KEY",
    "ENCRYPTED PRIVATE KEY",
    "HARTLOCK STATEFUL PRIVATE KEY",
];

/// Returns the file without the text before its first PEM block.
fn from_block(bytes: &[u8]) -> &[u8] {
    let block = bytes.windows(11).position(|part| part == b"-----BEGIN ").expect("a block");
    &bytes[block..]
}

fn without_blanks(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

fn signs(key: &PrivateKey) {
    let public = key.public();
    if public.algorithm() != Algorithm::Ed25519 {
        return;
    }
    let bytes: &[u8; 32] = public.as_bytes().try_into().expect("32 bytes");
    let signature = key.sign(b"message").expect("a key without a state");
    let signature: [u8; 64] = signature.try_into().expect("64 bytes");
    assert!(
        expected_r(&Kernels::PORTABLE, bytes, b"message", &signature)
            .is_ok_and(|r| r[..] == signature[..32])
    );
    let verifying = VerifyingKey::from_bytes(bytes).expect("a key");
    verifying.verify_strict(b"message", &Signature::from_bytes(&signature)).expect("a signature");
}

/// Makes a file with a private key from the fuzzer's seed, and changes it.
fn private(choices: &mut Choices<'_>) {
    let mut der = PRIVATE_PREFIX.to_vec();
    let mut seed = [0; 32];
    seed.iter_mut().for_each(|byte| *byte = choices.byte());
    der.extend(seed);
    let right = pem("PRIVATE KEY", &der);
    PrivateKey::from_pem(right.as_bytes()).expect("any 32 bytes are a private key");
    let der = changed(choices, &der);
    file(pem("PRIVATE KEY", &der));
}

/// Compares the checks of an Ed25519 public key of 32 bytes.
fn point(choices: &mut Choices<'_>) {
    let mut bytes = choices.of(&[0, 1, 2, 3, 4].map(|key: usize| KEYS[key].public));
    for _ in 0..choices.below(8) {
        bytes[choices.of(&[0, 0, 1, 15, 30, 31, 31])] = choices.byte();
    }
    if choices.rarely(3) {
        // These bytes are near the field prime: values of y that are not reduced, and points of small
        // order.
        bytes = [0xff; 32];
        bytes[0] = choices.byte();
        bytes[31] = choices.of(&[0x7f, 0xff]);
    }
    let ours = match expected_r(&Kernels::PORTABLE, &bytes, b"", &signature_of_small_s()) {
        Ok(_) => Ok(()),
        Err(Violation::NonCanonicalKey | Violation::SmallOrderKey | Violation::KeyNotOnCurve) => {
            Err(KeyReason::Malformed)
        }
        Err(other) => panic!("{other:?} of a signature whose form is right"),
    };
    let theirs =
        PublicKey::from_bytes(Algorithm::Ed25519, &bytes).map(|_| ()).map_err(|kind| kind.reason());
    assert_eq!(ours, theirs, "two answers about the key {bytes:02x?}");
}

/// Returns a signature with R of large order and S = 1.
fn signature_of_small_s() -> [u8; 64] {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&KEYS[0].public);
    signature[32] = 1;
    signature
}

fn changed(choices: &mut Choices<'_>, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..choices.below(4) {
        let at = choices.below(bytes.len().max(1));
        match choices.below(3) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), choices.byte()),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = choices.byte();
                }
            }
        }
    }
    bytes
}

/// Encodings of SubjectPublicKeyInfo and PrivateKeyInfo for Ed25519 (RFC 8410 §4, §7), up to the key.
const PUBLIC_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PRIVATE_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Returns the PEM file of a public key.
fn public_pem(key: &KeyPair) -> Vec<u8> {
    let der = [&PUBLIC_PREFIX[..], &key.public].concat();
    let text = pem("PUBLIC KEY", &der);
    assert!(PublicKey::from_pem(text.as_bytes()).is_ok());
    text.into_bytes()
}

/// Returns a PEM file (RFC 7468) with these bytes.
fn pem(label: &str, der: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for (index, chunk) in der.chunks(3).enumerate() {
        if index % 16 == 0 && index > 0 {
            text.push('\n');
        }
        let mut bits = 0;
        for at in 0..3 {
            bits = bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { digit as char } else { '=' });
        }
    }
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}
