//! No file that can be read as a private key is ever replaced, whatever its form.

use std::fs;

use crate::common::generated;
use hartlock_files::{NewFile, check_replaceable, may_be_private_key};
use hartlock_image::Algorithm;
use hartlock_keys::{Format, PrivateKey, write_pair};
use pkcs8::der::Decode;
use pkcs8::der::pem::LineEnding;

const PASSPHRASE: &[u8] = b"secret";
/// Maximum length of a key file in bytes.
const MAX_KEY_FILE_SIZE: usize = 64 << 10;

/// A key file, its description, and true if it is text.
struct KeyFile {
    what: String,
    bytes: Vec<u8>,
    is_text: bool,
}

/// Returns a key in every form that is read: PKCS#8 with and without a passphrase, PKCS#1, SEC 1 and the stateful
/// form; as text with both line endings, and as bytes.
fn files() -> Vec<KeyFile> {
    let mut files = Vec::new();
    let mut add = |what: String, bytes: &[u8], is_text| {
        files.push(KeyFile { what, bytes: bytes.to_vec(), is_text });
    };
    for name in [
        "ed25519",
        "rsa-pss-2048-sha256",
        "ecdsa-p256",
        "ecdsa-p384",
        "ml-dsa-44",
        "slh-dsa-sha2-128f",
    ] {
        let key = generated(name);
        let plain = key.export(Format::Der, None).unwrap();
        let sealed = key.export(Format::Der, Some(PASSPHRASE)).unwrap();
        let info = pkcs8::PrivateKeyInfoRef::from_der(&plain).unwrap();
        let inner =
            name.starts_with("rsa").then_some(("RSA PRIVATE KEY", info.private_key.as_bytes()));
        let forms = [("PRIVATE KEY", &plain[..]), ("ENCRYPTED PRIVATE KEY", &sealed[..])];
        for (label, der) in forms.into_iter().chain(inner) {
            add(format!("{name}, {label} in DER"), der, false);
            for ending in [LineEnding::LF, LineEnding::CRLF] {
                let text = pkcs8::der::pem::encode_string(label, ending, der).unwrap();
                add(format!("{name}, {label}, {ending:?}"), text.as_bytes(), true);
            }
        }
    }
    // SEC 1, with the curve inside the key (RFC 5915 §3).
    let mut sec1 = b"\x30\x31\x02\x01\x01\x04\x20".to_vec();
    sec1.extend([7; 32]);
    sec1.extend(b"\xa0\x0a\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07");
    add("SEC 1 in DER".into(), &sec1, false);
    let text = pkcs8::der::pem::encode_string("EC PRIVATE KEY", LineEnding::LF, &sec1).unwrap();
    add("SEC 1".into(), text.as_bytes(), true);
    let folder = tempfile::tempdir().unwrap();
    for name in ["lms-sha256-192-h5-w1", "hss-l2-sha256-h5-w4", "xmss-sha2-10-192"] {
        let path = folder.path().join(name);
        let public = folder.path().join(format!("{name}.pub"));
        write_pair(&generated(name), &path, &public, Format::Pem, None).unwrap();
        add(name.into(), &fs::read(&path).unwrap(), true);
    }
    files
}

fn is_read(file: &[u8]) -> bool {
    // Some forms of an RSA key do not state padding and hash.
    let algorithms = [Algorithm::from_name("rsa-pss-2048-sha256").unwrap()];
    PrivateKey::decode(file, &algorithms, Some(PASSPHRASE)).is_ok()
}

/// Returns prefixes for the text of a key. Only whitespace is skipped, as much as the maximum length leaves room
/// for.
fn fronts(len: usize) -> Vec<Vec<u8>> {
    let room = MAX_KEY_FILE_SIZE - len;
    let mut fronts = vec![vec![], b"\r\n\t \x0c\n".to_vec()];
    for blank in b"\n\r\t \x0c" {
        fronts.extend([1, 15, 16, 4080, 4095, 4096, 4097, room].map(|count| vec![*blank; count]));
    }
    fronts
}

#[test]
fn every_key_that_can_be_read_is_spared_wherever_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for file in files() {
        let fronts = if file.is_text { fronts(file.bytes.len()) } else { vec![vec![]] };
        for front in fronts {
            let bytes = [&front[..], &file.bytes].concat();
            let what = format!("{} after {} bytes", file.what, front.len());
            // Reading an encrypted key is slow on purpose.
            let is_longest = bytes.len() == MAX_KEY_FILE_SIZE && !file.what.contains("ENCRYPTED");
            if front.is_empty() || is_longest {
                assert!(is_read(&bytes), "{what}");
            }
            fs::write(&path, &bytes).unwrap();
            assert!(check_replaceable(&path).is_err(), "{what}");
            let error = NewFile::public(&path).unwrap().replace().unwrap_err();
            assert!(error.to_string().contains("private key"), "{what}: {error}");
            assert_eq!(fs::read(&path).unwrap(), bytes, "{what}");
        }
    }
}

/// Two readers of the same encoding are compared: a file that the key reader accepts must be protected by the
/// other one.
#[test]
fn no_changed_byte_at_the_front_makes_a_key_that_is_not_spared() {
    let mut read = 0;
    for file in files().into_iter().filter(|file| !file.what.contains("ENCRYPTED")) {
        for at in 0..file.bytes.len().min(24) {
            let old = file.bytes[at];
            for new in [0, 1, 2, 4, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x83, 0x84, b'\n', old ^ 1, !old]
            {
                let mut bytes = file.bytes.clone();
                bytes[at] = new;
                if is_read(&bytes) {
                    read += 1;
                    assert!(may_be_private_key(&bytes), "{}: byte {at} is {new:#x}", file.what);
                }
            }
        }
    }
    assert!(read > 100, "{read}");
}

#[test]
fn what_is_no_private_key_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for name in ["ed25519", "rsa-pss-2048-sha256", "ecdsa-p384", "ml-dsa-44", "slh-dsa-sha2-128f"] {
        let public = generated(name).public();
        for bytes in [public.to_der(), public.to_pem().as_bytes().to_vec(), b"text".to_vec()] {
            fs::write(&path, &bytes).unwrap();
            NewFile::public(&path).unwrap().replace().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"", "{name}");
        }
    }
}
