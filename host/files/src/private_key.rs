//! Recognises private keys, so that no private key file is ever replaced.
//!
//! The test is wider than what the readers of keys accept: a file that begins like a key in DER, or that has
//! the PEM label of a private key anywhere in the searched bytes, counts as one. A false positive costs the
//! user another file name; a lost private key cannot be made again.

/// Number of bytes at the start of a file that are searched. The largest key is many times smaller.
pub(crate) const SEARCHED: u64 = 1 << 20;

/// The ends of the PEM labels of secret keys: those of a private key (RFC 7468 §10, §11; PKCS#1, SEC 1, and this project's stateful
/// keys), and one more.
const LABELS: [&[u8]; 2] = [b"PRIVATE KEY-----", CLASS_KEY];
/// The PEM label of a key of encrypted payloads.
const CLASS_KEY: &[u8] = b"BEGIN HARTLOCK CLASS KEY-----";

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// Returns true if the first bytes of a file may be those of a private key, in PEM or DER, encrypted or not,
/// in any standard that this project reads.
pub fn may_be_private_key(start: &[u8]) -> bool {
    let has = |label: &[u8]| start.windows(label.len()).any(|bytes| bytes == label);
    LABELS.into_iter().any(has) || may_be_der(start)
}

/// Returns true if the bytes begin like a private key in DER. PKCS#8 and SEC 1 begin with a version that is
/// followed by a sequence or an octet string (RFC 5958 §2, RFC 5915 §3). PKCS#1 begins with a version and a
/// modulus (RFC 8017 appendix A.1.2), whereas a PKCS#1 public key begins with the modulus. An encrypted key
/// begins with an algorithm and an octet string (RFC 5958 §3). The file may be truncated.
fn may_be_der(start: &[u8]) -> bool {
    let Some((SEQUENCE, content, _)) = element(start) else { return false };
    let Some((first, value, rest)) = element(content) else { return false };
    match (first, rest.first()) {
        (INTEGER, Some(&(SEQUENCE | OCTET_STRING))) => true,
        (INTEGER, Some(&INTEGER)) => value.len() == 1,
        (SEQUENCE, Some(&OCTET_STRING)) => true,
        _ => false,
    }
}

/// Splits off the first DER element. Returns its tag, its content (shorter than stated if the bytes end
/// before it) and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len).unwrap_or((rest, &[]));
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_count_wherever_they_are() {
        for label in ["", "RSA ", "EC ", "ENCRYPTED ", "HARTLOCK STATEFUL "] {
            let text = format!("-----BEGIN {label}PRIVATE KEY-----\nAAAA\n");
            for front in ["", "# a comment\n", &"\n".repeat(60_000), "\u{feff}", "\0"] {
                assert!(may_be_private_key(format!("{front}{text}").as_bytes()), "{label}");
            }
        }
        assert!(may_be_private_key(b"# fleet\n-----BEGIN HARTLOCK CLASS KEY-----\nAAAA\n"));
        assert!(!may_be_private_key(b"-----BEGIN PUBLIC KEY-----\nAAAA\n"));
    }

    #[test]
    fn der_counts_by_how_it_begins() {
        for key in [
            &b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70"[..], // PKCS#8
            b"\x30\x77\x02\x01\x01\x04\x20",                          // SEC 1
            b"\x30\x82\x04\xa2\x02\x01\x00\x02\x82\x01\x01",          // PKCS#1
            b"\x30\x10\x30\x02\x05\x00\x04\x0a",                      // encrypted
        ] {
            assert!(may_be_private_key(key), "{key:02x?}");
        }
        for other in [
            &b""[..],
            b"\x30",
            b"\x30\x82\x01\x0a\x02\x82\x01\x01\x00\xc5", // PKCS#1, public
            b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", // SPKI
            b"HARTLOCK-BOOT-v1",
            b"0123456789",
        ] {
            assert!(!may_be_private_key(other), "{other:02x?}");
        }
    }
}
