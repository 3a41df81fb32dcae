//! Opens the container of a key file: finds its encoding (PEM or DER) and its standard, and returns
//! the key in DER.

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

/// The maximum length of a key file in bytes. The largest post-quantum keys are shorter.
pub(crate) const MAX_KEY_FILE_SIZE: usize = 64 << 10;
/// PEM label of a stateful private key (`spec/stateful-key.md` §2).
pub(super) const STATEFUL_LABEL: &str = "HARTLOCK STATEFUL PRIVATE KEY";
pub(super) const PRIVATE_LABEL: &str = "PRIVATE KEY";
pub(super) const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
pub(super) const PUBLIC_LABEL: &str = "PUBLIC KEY";

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// The encoding of a key file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// PEM: text in Base64 with a label (RFC 7468).
    #[default]
    Pem,
    /// DER: the bytes themselves.
    Der,
}

/// The standard by which a key is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// PKCS#8 (RFC 5958).
    Private,
    /// PKCS#8, encrypted with a passphrase (RFC 5958 §3).
    Encrypted,
    /// PKCS#1 (RFC 8017 appendix A.1.2).
    RsaPrivate,
    /// SEC 1 appendix C.4 (RFC 5915).
    EcPrivate,
    /// A stateful private key of this project (`spec/stateful-key.md`).
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

    /// Identifies the standard by the tags of the first two elements, which differ among these
    /// standards.
    fn of_der(der: &[u8]) -> Option<Self> {
        let (SEQUENCE, content, _) = element(der)? else { return None };
        let (first, value, rest) = element(content)?;
        let (second, _, _) = element(rest)?;
        Some(match (first, second) {
            (INTEGER, SEQUENCE) => Encoding::Private,
            (INTEGER, OCTET_STRING) => Encoding::EcPrivate,
            // An integer of one byte is a version, and not a modulus.
            (INTEGER, INTEGER) if value.len() == 1 => Encoding::RsaPrivate,
            (INTEGER, INTEGER) => Encoding::RsaPublic,
            (SEQUENCE, OCTET_STRING) => Encoding::Encrypted,
            (SEQUENCE, BIT_STRING) => Encoding::Public,
            _ => return None,
        })
    }
}

/// Splits off the first DER element: returns its tag, its content and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // No key file is long enough to need more than three bytes for a length.
        0x81..=0x83 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

/// Reads the bytes of a key file, which may be of any kind.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    read_small(path, MAX_KEY_FILE_SIZE).map_err(|error| {
        if error.source.kind() == ErrorKind::FileTooLarge {
            Error::Key(KeyError { path: error.path, kind: KeyErrorKind::TooLong })
        } else {
            Error::File(error)
        }
    })
}

/// The opened container of a key file.
pub(super) struct KeyContainer {
    pub(super) encoding: Encoding,
    pub(super) der: Zeroizing<Vec<u8>>,
    /// The algorithm that a line before the key states.
    pub(super) stated: Option<Algorithm>,
    /// The curve that a PEM block before the key names.
    pub(super) curve: Option<Curve>,
}

/// Finds the only key in a file, in PEM or, if `may_be_der`, in DER.
pub(super) fn open(bytes: &[u8], may_be_der: bool) -> Result<KeyContainer, KeyErrorKind> {
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
    // RFC 1421 §4.6.1.1: this header announces the encryption that is older than PKCS#8.
    if block.contains("\nProc-Type:") {
        return Err(KeyErrorKind::OldEncryption);
    }
    let (_, der) = rfc7468::decode_vec(block.as_bytes()).map_err(|_| KeyErrorKind::Malformed)?;
    let (stated, rest) = pem::split_statement(str::from_utf8(bytes).unwrap_or_default());
    let curve = pem::parameters(rest).0.map(curve_of_block).transpose()?;
    let unknown = |name: &str| KeyErrorKind::UnsupportedAlgorithm(name.chars().take(40).collect());
    let known = |name| Algorithm::from_name(name).ok_or_else(|| unknown(name));
    Ok(KeyContainer {
        encoding,
        der: Zeroizing::new(der),
        curve,
        stated: stated.map(known).transpose()?,
    })
}

/// Decodes the curve in a PEM block of EC parameters (RFC 5480 §2.1.1).
fn curve_of_block(block: &str) -> Result<Curve, KeyErrorKind> {
    let (_, der) = rfc7468::decode_vec(block.as_bytes()).map_err(|_| KeyErrorKind::Malformed)?;
    let oid = ObjectIdentifier::from_der(&der).map_err(|_| KeyErrorKind::Malformed)?;
    oids::curve(oid).ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(oids::name(oid)))
}

fn open_der(bytes: &[u8]) -> Result<KeyContainer, KeyErrorKind> {
    let Some((_, _, after)) = element(bytes) else {
        // The length is indefinite (X.690 §8.1.3.6), or has more bytes than the length of any key
        // file needs.
        let has_length = bytes.get(1).is_none_or(|first| matches!(first, 0..=0x7f | 0x81..=0x83));
        return Err(if has_length { KeyErrorKind::Truncated } else { KeyErrorKind::Malformed });
    };
    if !after.is_empty() {
        return Err(KeyErrorKind::TrailingData);
    }
    let encoding = Encoding::of_der(bytes).ok_or(KeyErrorKind::Malformed)?;
    Ok(KeyContainer { encoding, der: Zeroizing::new(bytes.to_vec()), stated: None, curve: None })
}

/// Returns true if a file is one PEM block with the label of a private key of any kind.
pub(super) fn is_private_label(bytes: &[u8]) -> bool {
    pem::sole_block(bytes).is_ok_and(|(label, _)| label.ends_with(PRIVATE_LABEL))
}

/// Returns true if a file is one PEM block with the label of a public key.
pub(super) fn is_public_label(bytes: &[u8]) -> bool {
    pem::sole_block(bytes).is_ok_and(|(label, _)| label.ends_with(PUBLIC_LABEL))
}

/// Encodes a key as a PEM block. If the encoding of the key does not state its algorithm, a line
/// before the block does.
pub(super) fn key_pem(label: &str, bytes: &[u8], algorithm: Algorithm) -> Zeroizing<String> {
    let block = pem(label, bytes);
    match algorithm {
        Algorithm::Rsa { .. } => {
            Zeroizing::new(format!("{}{algorithm}\n{}", pem::STATEMENT, &*block))
        }
        _ => block,
    }
}

/// Encodes bytes as a PEM block.
pub(super) fn pem(label: &str, bytes: &[u8]) -> Zeroizing<String> {
    Zeroizing::new(
        rfc7468::encode_string(label, LineEnding::LF, bytes).expect("a short label and few bytes"),
    )
}
