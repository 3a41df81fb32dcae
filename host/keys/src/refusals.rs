//! Tests with at least one file for each reason to refuse a key. Each file gives exactly one reason
//! code.
//!
//! | module | reasons |
//! |---|---|
//! | `containers` | files, PEM, DER, passphrases |
//! | `values` | algorithms, and the numbers and points of keys |
//! | `states` | stateful keys |

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

mod containers;
mod states;
mod values;

/// The algorithm of RSA keys whose files do not state it.
const RSA: &str = "rsa-pss-2048-sha256";

/// Reasons that no test can provoke, each with an explanation.
const NOT_COVERED: [(KeyReason, &str); 0] = [];

thread_local! {
    static HAS_RANDOM_NUMBERS: Cell<bool> = const { Cell::new(true) };
}

/// Fills `room` with random bytes from the operating system, or fails if a test of this thread
/// switched them off.
pub(super) fn fill(room: &mut [u8]) -> Result<(), getrandom::Error> {
    if HAS_RANDOM_NUMBERS.get() {
        getrandom::fill(room)
    } else {
        Err(getrandom::Error::UNSUPPORTED)
    }
}

#[test]
fn every_reason_is_given_by_a_file_of_its_own() {
    let mut cases = Cases::new();
    containers::add(&mut cases);
    values::add(&mut cases);
    states::add(&mut cases);
    without_random_numbers(&mut cases);
    let vector =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/keys/fake-ml-dsa-44.pem");
    let everybodys = PrivateKey::read(&vector).unwrap().public().record();
    let refused = refuse_published(&vector, &everybodys).err();
    cases.error("a key of the test vectors", KeyReason::PublishedKey, refused);
    for name in ["root.pub", "root.pub.pem", "ROOT.PUB.DER", "folder/.pub"] {
        let error = check_private_name(Path::new(name)).err();
        cases.error(name, KeyReason::PublicName, error);
    }
    assert!(check_private_name(Path::new("folder.pub.d/public.pem")).is_ok());
    assert!(cases.wrong.is_empty(), "{}", cases.wrong.join("\n"));
    for reason in KeyReason::ALL {
        let is_exception = NOT_COVERED.iter().any(|(exception, _)| exception == reason);
        assert_eq!(cases.provoked.contains(reason), !is_exception, "{reason:?}");
    }
}

/// Adds a case for each family of algorithms, since each draws random numbers in its own code.
fn without_random_numbers(cases: &mut Cases) {
    let expected = KeyReason::NoRandomness;
    let rsa = generated("rsa-pss-2048-sha256");
    HAS_RANDOM_NUMBERS.set(false);
    for name in [
        "ed25519",
        "rsa-pss-2048-sha256",
        "ecdsa-p256",
        "ml-dsa-44",
        "slh-dsa-sha2-128f",
        "lms-sha256-192-h5-w1",
        "xmss-sha2-10-192",
    ] {
        let made = PrivateKey::generate_for(algorithm(name), &mut |_, _| ());
        cases.kind(&format!("making {name}"), expected, made.err());
    }
    cases.kind("a passphrase", expected, rsa.export(Format::Der, Some(b"secret")).err());
    cases.error("blinding", expected, rsa.sign(b"").err());
    HAS_RANDOM_NUMBERS.set(true);
}

/// The results for the refused files.
struct Cases {
    folder: tempfile::TempDir,
    provoked: BTreeSet<KeyReason>,
    /// Cases with another result than the expected one.
    wrong: Vec<String>,
}

impl Cases {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, provoked: BTreeSet::new(), wrong: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a case: the file is read as a public key.
    fn public(&mut self, what: &str, expected: KeyReason, file: impl AsRef<[u8]>) {
        let path = self.path("public");
        fs::write(&path, file).unwrap();
        self.error(what, expected, PublicKey::read_for(&path, &[algorithm(RSA)]).err());
    }

    /// Adds a case: the file is read as a private key.
    fn private(&mut self, what: &str, expected: KeyReason, file: impl AsRef<[u8]>) {
        self.private_with(what, expected, file, None);
    }

    /// Adds a case: the file is read as a private key with a passphrase.
    fn private_with(
        &mut self,
        what: &str,
        expected: KeyReason,
        file: impl AsRef<[u8]>,
        passphrase: Option<&str>,
    ) {
        let path = self.path("private");
        fs::write(&path, file).unwrap();
        let typed = |_: &Path| Ok(Passphrase::new(passphrase.unwrap_or_default().into()));
        let passphrase: Option<AskPassphrase<'_>> = passphrase.is_some().then_some(&typed);
        let algorithms = &[algorithm(RSA)];
        let options = ReadOptions { passphrase, algorithms, ..ReadOptions::default() };
        self.error(what, expected, PrivateKey::read_with(&path, options).err());
    }

    fn error(&mut self, what: &str, expected: KeyReason, error: Option<Error>) {
        match error {
            Some(Error::Key(error)) => self.kind(what, expected, Some(error.kind)),
            other => self.wrong.push(format!("{what}: {other:?} instead of {expected:?}")),
        }
    }

    fn kind(&mut self, what: &str, expected: KeyReason, kind: Option<KeyErrorKind>) {
        match kind {
            Some(kind) if kind.reason() == expected => {
                self.provoked.insert(expected);
                let message = kind.to_string();
                let is_for_people = !message.chars().any(char::is_control)
                    && !message.ends_with('.')
                    && message.len() < 150;
                assert!(is_for_people, "{what}: {message:?}");
            }
            other => self.wrong.push(format!("{what}: {other:?} instead of {expected:?}")),
        }
    }
}

#[test]
fn reasons_are_named_as_the_kinds_are() {
    for (kind, reason) in [
        (KeyErrorKind::NotPem, KeyReason::NotPem),
        (KeyErrorKind::Malformed("X"), KeyReason::Malformed),
        (KeyErrorKind::WrongLabel("X".into()), KeyReason::WrongLabel),
        (KeyErrorKind::StateMode(0o644), KeyReason::StateMode),
        (KeyErrorKind::NoRandomness, KeyReason::NoRandomness),
    ] {
        assert_eq!(kind.reason(), reason);
        assert!(format!("{kind:?}").starts_with(reason.name()));
        assert_eq!(kind.hint(), reason.hint());
    }
    // The variant has a longer name than `Truncated`, because a bundle can be truncated as well and
    // `hartlock explain` finds reasons by name.
    assert_eq!(KeyErrorKind::Truncated.reason().name(), "KeyTruncated");
    assert_eq!(KeyErrorKind::NotPem.to_string(), "is neither PEM nor DER");
}

pub(super) fn algorithm(name: &str) -> Algorithm {
    Algorithm::from_name(name).unwrap()
}

pub(super) fn generated(name: &str) -> PrivateKey {
    PrivateKey::generate_for(algorithm(name), &mut |_, _| ()).unwrap()
}

/// Encodes any bytes as PEM.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    formats::pem(label, der).to_string()
}

pub(super) const INTEGER: u8 = 2;
pub(super) const BIT_STRING: u8 = 3;
pub(super) const OCTET_STRING: u8 = 4;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const NULL: [u8; 2] = [5, 0];

/// Encodes a DER element with the concatenation of its parts as content.
pub(super) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let len = content.len();
    let mut element = vec![tag];
    match len {
        0..0x80 => element.push(len as u8),
        0x80..0x100 => element.extend([0x81, len as u8]),
        _ => element.extend([0x82, (len >> 8) as u8, len as u8]),
    }
    element.extend(content);
    element
}

/// Encodes an INTEGER from its content bytes, which include the sign.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    element(INTEGER, &[bytes])
}

pub(super) fn oid(text: &str) -> Vec<u8> {
    use pkcs8::der::Encode;
    pkcs8::ObjectIdentifier::new_unwrap(text).to_der().unwrap()
}

/// Encodes an SPKI from any parts.
pub(super) fn spki(identifier: &[&[u8]], key: &[u8]) -> Vec<u8> {
    let key = element(BIT_STRING, &[&[0], key]);
    element(SEQUENCE, &[&element(SEQUENCE, identifier), &key])
}

/// Encodes a PKCS#8 from any parts.
pub(super) fn pkcs8(identifier: &[&[u8]], key: &[u8]) -> Vec<u8> {
    let key = element(OCTET_STRING, &[key]);
    element(SEQUENCE, &[&integer(&[0]), &element(SEQUENCE, identifier), &key])
}
