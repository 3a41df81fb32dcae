//! Opens the container of a key file: finds its encoding (PEM or DER) and its standard, and returns
//! the key in DER.

use std::io::ErrorKind;
use std::path::Path;

use hartlock_image::{Algorithm, Curve};
use pkcs8::LineEnding;
use pkcs8::ObjectIdentifier;
use pkcs8::der::{Decode, pem as rfc7468};
use zeroize::Zeroizing;

use super::{ForeignForm, KeyError, KeyErrorKind, class_key, oids, openssh};
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
/// Tag of the version of a certificate, `[0] EXPLICIT`.
const VERSION: u8 = 0xa0;
/// The beginning of a PKCS#12 container in BER, which has no definite lengths (X.690 §8.1.3.6).
const PKCS12_IN_BER: [u8; 5] = [SEQUENCE, 0x80, INTEGER, 1, 3];

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

    /// Identifies the standard by the first elements, which differ among these standards.
    fn of_der(der: &[u8]) -> Result<Self, KeyErrorKind> {
        let malformed = KeyErrorKind::Malformed("its DER is that of no form of keys");
        let parts = || {
            let (SEQUENCE, content, _) = element(der)? else { return None };
            let (first, value, rest) = element(content)?;
            let (second, _, _) = element(rest)?;
            Some((first, value, second))
        };
        let (first, value, second) = parts().ok_or_else(|| malformed.clone())?;
        Ok(match (first, second) {
            // RFC 7292 §4: the version of a PFX is 3.
            (INTEGER, SEQUENCE) if value == [3] => {
                return Err(KeyErrorKind::ForeignForm(ForeignForm::Pkcs12));
            }
            (INTEGER, SEQUENCE) => Encoding::Private,
            (INTEGER, OCTET_STRING) => Encoding::EcPrivate,
            // An integer of one byte is a version, and not a modulus.
            (INTEGER, INTEGER) if value.len() == 1 => Encoding::RsaPrivate,
            (INTEGER, INTEGER) => Encoding::RsaPublic,
            (SEQUENCE, OCTET_STRING) => Encoding::Encrypted,
            (SEQUENCE, BIT_STRING) => Encoding::Public,
            (SEQUENCE, SEQUENCE) => return Err(signed_statement(value).unwrap_or(malformed)),
            _ => return Err(malformed),
        })
    }
}

/// Recognises a certificate (RFC 5280 §4.1) or the request of one (RFC 2986 §4) by the part that is signed.
fn signed_statement(content: &[u8]) -> Option<KeyErrorKind> {
    let form = match element(content)? {
        // A version, which old certificates do not have, or the serial number, before an algorithm.
        (VERSION, ..) => ForeignForm::Certificate(true),
        (INTEGER, number, rest) => {
            let (_, _, rest) = element(rest)?;
            let (key, value, _) = element(rest)?;
            // The third element of a request is a public key, and that of a certificate the name of its issuer.
            let is_key = key == SEQUENCE
                && matches!(element(value), Some((SEQUENCE, _, rest)) if rest.first() == Some(&BIT_STRING));
            if number == [0] && is_key {
                ForeignForm::CertificateRequest(true)
            } else {
                ForeignForm::Certificate(true)
            }
        }
        _ => return None,
    };
    Some(KeyErrorKind::ForeignForm(form))
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

/// Finds the only key in a file, in PEM, in a form of OpenSSH or, if `may_be_der`, in DER.
pub(super) fn open(bytes: &[u8], may_be_der: bool) -> Result<KeyContainer, KeyErrorKind> {
    if may_be_der && bytes.first() == Some(&SEQUENCE) {
        return open_der(bytes);
    }
    let plain = |(encoding, der)| KeyContainer { encoding, der, stated: None, curve: None };
    let Some(text) = pem::sole_key(bytes)? else {
        return match pem::text(bytes) {
            Some(line) if openssh::is_public(line) => {
                openssh::public(line).map(|(encoding, der)| plain((encoding, der.into())))
            }
            _ => Err(of_other_text(bytes)),
        };
    };
    let key = text.key;
    if key.label == openssh::LABEL {
        let opened = plain(openssh::private(&key.decode()?)?);
        return Ok(KeyContainer { stated: algorithm(text.stated)?, ..opened });
    }
    let encoding = Encoding::of_label(key.label).ok_or_else(|| match key.label {
        "DSA PRIVATE KEY" => KeyErrorKind::UnsupportedAlgorithm("DSA".into()),
        "CERTIFICATE" | "TRUSTED CERTIFICATE" => {
            KeyErrorKind::ForeignForm(ForeignForm::Certificate(false))
        }
        "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
            KeyErrorKind::ForeignForm(ForeignForm::CertificateRequest(false))
        }
        "EC PARAMETERS" => KeyErrorKind::ForeignForm(ForeignForm::CurveAlone),
        class_key::LABEL => KeyErrorKind::ForeignForm(ForeignForm::ClassKey),
        label => KeyErrorKind::WrongLabel(label.chars().take(40).collect()),
    })?;
    if key.is_encrypted_by_header() {
        return Err(KeyErrorKind::OldEncryption);
    }
    Ok(KeyContainer {
        encoding,
        der: key.decode()?,
        curve: text.parameters.map(curve_of_block).transpose()?,
        stated: algorithm(text.stated)?,
    })
}

/// Returns the algorithm that a line before a key states.
fn algorithm(stated: Option<&str>) -> Result<Option<Algorithm>, KeyErrorKind> {
    let unknown = |name: &str| KeyErrorKind::UnsupportedAlgorithm(name.chars().take(40).collect());
    let known = |name| Algorithm::from_name(name).ok_or_else(|| unknown(name));
    stated.map(known).transpose()
}

/// Returns why a file is refused that has no PEM block.
fn of_other_text(bytes: &[u8]) -> KeyErrorKind {
    // "-----" in UTF-16, after the byte order mark if there is one.
    const DASHES: [u8; 4] = [b'-', 0, b'-', 0];
    if bytes.trim_ascii().is_empty() {
        KeyErrorKind::ForeignForm(ForeignForm::Empty)
    } else if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        KeyErrorKind::ForeignForm(ForeignForm::Utf16(false))
    } else if bytes.starts_with(&DASHES) {
        KeyErrorKind::ForeignForm(ForeignForm::Utf16(true))
    } else {
        KeyErrorKind::NotPem
    }
}

/// Decodes the curve in a PEM block of EC parameters (RFC 5480 §2.1.1).
fn curve_of_block(block: pem::Block<'_>) -> Result<Curve, KeyErrorKind> {
    let der = block.decode()?;
    if der.first() == Some(&SEQUENCE) {
        return Err(KeyErrorKind::ForeignForm(ForeignForm::PrivateCurveInNumbers));
    }
    let oid = ObjectIdentifier::from_der(&der)
        .map_err(|_| KeyErrorKind::Malformed("the block before its key names no curve"))?;
    oids::curve(oid).ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(oids::name(oid)))
}

fn open_der(bytes: &[u8]) -> Result<KeyContainer, KeyErrorKind> {
    if bytes.starts_with(&PKCS12_IN_BER) {
        return Err(KeyErrorKind::ForeignForm(ForeignForm::Pkcs12));
    }
    let Some((_, _, after)) = element(bytes) else {
        // The length is indefinite (X.690 §8.1.3.6), or has more bytes than the length of any key
        // file needs.
        let has_length = bytes.get(1).is_none_or(|first| matches!(first, 0..=0x7f | 0x81..=0x83));
        return Err(if has_length {
            KeyErrorKind::Truncated
        } else {
            KeyErrorKind::Malformed("its DER begins with a length that is open or far too long")
        });
    };
    if !after.is_empty() {
        return Err(KeyErrorKind::TrailingData("bytes after its DER"));
    }
    let encoding = Encoding::of_der(bytes)?;
    Ok(KeyContainer { encoding, der: Zeroizing::new(bytes.to_vec()), stated: None, curve: None })
}

/// Returns true if a file is one PEM block with the label of a private key of any kind.
pub(super) fn is_private_label(bytes: &[u8]) -> bool {
    label(bytes).is_some_and(|label| label.ends_with(PRIVATE_LABEL))
}

/// Returns true if a file is one PEM block with the label of a public key, or a public key of OpenSSH.
pub(super) fn is_public_label(bytes: &[u8]) -> bool {
    label(bytes).is_some_and(|label| label.ends_with(PUBLIC_LABEL))
        || pem::text(bytes).is_some_and(openssh::is_public)
}

/// Returns the label of the only key in a file in PEM.
fn label(bytes: &[u8]) -> Option<&str> {
    Some(pem::sole_key(bytes).ok()??.key.label)
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
