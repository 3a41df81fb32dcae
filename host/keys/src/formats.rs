//! From the bytes of a file to a key's encoding in DER: PEM or not, and which standard.

use std::io::ErrorKind;
use std::path::Path;

use hartlock_image::{Algorithm, Curve};
use pkcs8::LineEnding;
use pkcs8::ObjectIdentifier;
use pkcs8::der::{Decode, pem as rfc7468};
use zeroize::Zeroizing;

use super::{KeyError, KeyErrorKind, oids};
use crate::{Error, pem};
use hartlock_files::read_small;

/// Longest key file. The largest post-quantum keys stay below it too.
pub(crate) const MAX_KEY_FILE_SIZE: usize = 64 << 10;
/// PEM label of a private key with a state (`spec/stateful-key.md` §2).
pub(super) const STATEFUL_LABEL: &str = "HARTLOCK STATEFUL PRIVATE KEY";
pub(super) const PRIVATE_LABEL: &str = "PRIVATE KEY";
pub(super) const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
pub(super) const PUBLIC_LABEL: &str = "PUBLIC KEY";

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// In which form a key is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text (RFC 7468).
    #[default]
    Pem,
    /// Bytes.
    Der,
}

/// The standard by which a key is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// PKCS#8 (RFC 5958).
    Private,
    /// PKCS#8 with a passphrase (RFC 5958 §3).
    Encrypted,
    /// PKCS#1 (RFC 8017 appendix A.1.2).
    RsaPrivate,
    /// SEC 1 appendix C.4 (RFC 5915).
    EcPrivate,
    /// Ours.
    Stateful,
    /// SPKI (RFC 5280 §4.1).
    Public,
    /// PKCS#1 (RFC 8017 appendix A.1.1).
    RsaPublic,
}

impl Encoding {
    pub(super) const fn is_private(self) -> bool {
        !matches!(self, Encoding::Public | Encoding::RsaPublic)
    }

    fn of_label(label: &str) -> Option<Self> {
        Some(match label {
            PRIVATE_LABEL => Encoding::Private,
            ENCRYPTED_LABEL => Encoding::Encrypted,
            "RSA PRIVATE KEY" => Encoding::RsaPrivate,
            "EC PRIVATE KEY" => Encoding::EcPrivate,
            STATEFUL_LABEL => Encoding::Stateful,
            PUBLIC_LABEL => Encoding::Public,
            "RSA PUBLIC KEY" => Encoding::RsaPublic,
            _ => return None,
        })
    }

    /// By the first two elements: no two of these standards begin alike.
    fn of_der(der: &[u8]) -> Option<Self> {
        let (SEQUENCE, content, _) = element(der)? else { return None };
        let (first, value, rest) = element(content)?;
        let (second, _, _) = element(rest)?;
        Some(match (first, second) {
            (INTEGER, SEQUENCE) => Encoding::Private,
            (INTEGER, OCTET_STRING) => Encoding::EcPrivate,
            // A version, and not a modulus.
            (INTEGER, INTEGER) if value.len() == 1 => Encoding::RsaPrivate,
            (INTEGER, INTEGER) => Encoding::RsaPublic,
            (SEQUENCE, OCTET_STRING) => Encoding::Encrypted,
            (SEQUENCE, BIT_STRING) => Encoding::Public,
            _ => return None,
        })
    }
}

/// Tag, content and what follows of the first element.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // Longer lengths are those of no key file.
        0x81..=0x83 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

/// Reads a key file, whatever it holds.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    read_small(path, MAX_KEY_FILE_SIZE).map_err(|error| {
        if error.source.kind() == ErrorKind::FileTooLarge {
            Error::Key(KeyError { path: error.path, kind: KeyErrorKind::TooLong })
        } else {
            Error::File(error)
        }
    })
}

/// What a file holds.
pub(super) struct Opened {
    pub(super) encoding: Encoding,
    pub(super) der: Zeroizing<Vec<u8>>,
    /// The algorithm that a line before the key names.
    pub(super) stated: Option<Algorithm>,
    /// The curve that a block before the key names.
    pub(super) curve: Option<Curve>,
}

/// Finds the one key of a file, in PEM or, if `may_be_der`, in DER.
pub(super) fn open(bytes: &[u8], may_be_der: bool) -> Result<Opened, KeyErrorKind> {
    if may_be_der && bytes.first() == Some(&SEQUENCE) {
        return open_der(bytes);
    }
    const OPENSSH: [&[u8]; 2] = [b"ssh-", b"ecdsa-sha2-"];
    let is_openssh = OPENSSH.iter().any(|start| bytes.starts_with(start));
    let (label, block) = pem::sole_block(bytes)
        .map_err(|kind| if is_openssh { KeyErrorKind::OpenSsh } else { kind })?;
    let encoding = Encoding::of_label(label).ok_or_else(|| match label {
        "DSA PRIVATE KEY" => KeyErrorKind::UnsupportedAlgorithm("DSA".into()),
        _ => KeyErrorKind::WrongLabel(label.chars().take(40).collect()),
    })?;
    // RFC 1421 §4.6.1.1: a header that says so.
    if block.contains("\nProc-Type:") {
        return Err(KeyErrorKind::OldEncryption);
    }
    let (_, der) = rfc7468::decode_vec(block.as_bytes()).map_err(|_| KeyErrorKind::Malformed)?;
    let (stated, rest) = pem::stated(str::from_utf8(bytes).unwrap_or_default());
    let curve = pem::parameters(rest).0.map(curve_of_block).transpose()?;
    let unknown = |name: &str| KeyErrorKind::UnsupportedAlgorithm(name.chars().take(40).collect());
    let known = |name| Algorithm::from_name(name).ok_or_else(|| unknown(name));
    Ok(Opened { encoding, der: Zeroizing::new(der), curve, stated: stated.map(known).transpose()? })
}

/// The curve in a block of parameters (RFC 5480 §2.1.1).
fn curve_of_block(block: &str) -> Result<Curve, KeyErrorKind> {
    let (_, der) = rfc7468::decode_vec(block.as_bytes()).map_err(|_| KeyErrorKind::Malformed)?;
    let oid = ObjectIdentifier::from_der(&der).map_err(|_| KeyErrorKind::Malformed)?;
    oids::curve(oid).ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(oids::name(oid)))
}

fn open_der(bytes: &[u8]) -> Result<Opened, KeyErrorKind> {
    let Some((_, _, after)) = element(bytes) else {
        // An indefinite length (X.690 §8.1.3.6), or needs more bytes than any file has.
        let has_length = bytes.get(1).is_none_or(|first| matches!(first, 0..=0x7f | 0x81..=0x83));
        return Err(if has_length { KeyErrorKind::Truncated } else { KeyErrorKind::Malformed });
    };
    if !after.is_empty() {
        return Err(KeyErrorKind::TrailingData);
    }
    let encoding = Encoding::of_der(bytes).ok_or(KeyErrorKind::Malformed)?;
    Ok(Opened { encoding, der: Zeroizing::new(bytes.to_vec()), stated: None, curve: None })
}

/// The label of a file's only block if it is PEM and that of a private key of any kind.
pub(super) fn is_private_label(bytes: &[u8]) -> bool {
    pem::sole_block(bytes).is_ok_and(|(label, _)| label.ends_with(PRIVATE_LABEL))
}

/// The same for a public key.
pub(super) fn is_public_label(bytes: &[u8]) -> bool {
    pem::sole_block(bytes).is_ok_and(|(label, _)| label.ends_with(PUBLIC_LABEL))
}

/// A PEM block of a key, after a line with its algorithm if the key does not say it itself.
pub(super) fn key_pem(label: &str, bytes: &[u8], algorithm: Algorithm) -> Zeroizing<String> {
    let block = pem(label, bytes);
    match algorithm {
        Algorithm::Rsa { .. } => {
            Zeroizing::new(format!("{}{algorithm}\n{}", pem::STATEMENT, &*block))
        }
        _ => block,
    }
}

/// A PEM block.
pub(super) fn pem(label: &str, bytes: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(
        rfc7468::encode_string(label, LineEnding::LF, bytes).expect("a short label and few bytes"),
    )
}
