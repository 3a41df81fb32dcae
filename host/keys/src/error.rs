//! Errors of key files. Numbers, titles and hints are those of `spec/errors.toml`, group 11.

use std::fmt;
use std::path::PathBuf;

use hartlock_files::FileError;

use super::{ForeignForm, KeyReason, SignerError};

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key file was refused.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A token or a program did not sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The operating system reported an error for a file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A key file that was refused, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {kind}", .path.display())]
pub struct KeyError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason.
    pub kind: KeyErrorKind,
}

/// The reasons for which a key file is refused. Each variant has one reason code.
///
/// The text of a variant (`Display`) continues the sentence that begins with the name of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyErrorKind {
    /// The file is longer than any key file.
    TooLong,
    /// The file holds neither a PEM block nor DER.
    NotPem,
    /// The PEM block has a label that is not supported; the value is the label.
    WrongLabel(String),
    /// The file has a form of another tool, which is not read.
    ForeignForm(ForeignForm),
    /// The file has other data before or after the key; the value names it.
    TrailingData(&'static str),
    /// The encoding is truncated.
    Truncated,
    /// The file is a private key, and a public key is needed.
    IsPrivate,
    /// The file is a public key, and a private key is needed.
    IsPublic,
    /// The key is encrypted, and no passphrase was given.
    Encrypted,
    /// The passphrase is wrong.
    WrongPassphrase,
    /// The key is encrypted with the PEM encryption that is older than PKCS#8.
    OldEncryption,
    /// The key is encrypted with an algorithm that is not supported; the value names it.
    UnsupportedEncryption(String),
    /// The algorithm of the key is not supported; the value names it.
    UnsupportedAlgorithm(String),
    /// The key is for another algorithm than the requested one.
    OtherAlgorithm {
        /// The algorithm of the key.
        key: String,
        /// The requested algorithm.
        asked: String,
    },
    /// An RSA key of this number of bits, for which neither the file nor the caller states padding and
    /// hash.
    SchemeNotStated(usize),
    /// An RSA key for another padding or hash than the requested one.
    OtherScheme {
        /// The scheme of the key.
        key: String,
        /// The scheme that was requested, or that is stated elsewhere in the file.
        asked: String,
    },
    /// The encoding breaks a rule, or a point or number is not valid; the value says which one.
    Malformed(&'static str),
    /// The key is longer or shorter than keys of its algorithm.
    WrongLength {
        /// Expected length in bytes.
        expected: usize,
        /// Actual length in bytes.
        actual: usize,
    },
    /// The public key is a compressed point.
    CompressedPoint,
    /// The file also holds a public key or a second form of the private key that does not belong to the
    /// private key.
    PublicHalfDiffers,
    /// A stateful key cannot be exported in another form.
    StateNotExported,
    /// The checksum of the state is wrong: the file was changed by accident.
    StateChecksum,
    /// The version of the state is not supported.
    StateVersion(u32),
    /// All indexes of the key are spent.
    StateExhausted,
    /// The file has several hard links, and the others would keep the old index.
    StateHasNames,
    /// The path is a symbolic link, whose target would keep the old index.
    StateIsLink,
    /// The file is not a regular file, so the state cannot be kept in it.
    StateNotRegular,
    /// The mode of the file, given here, is not 0600, so other users may be able to read the key.
    StateMode(u32),
    /// Replacing the file would change its owner.
    StateOfOther,
    /// The file system, named here, is not known to keep the index after a power cut and to show the same
    /// index to every process.
    StateFileSystem(String),
    /// The file holds another key than when it was first read.
    StateOfOtherKey,
    /// The file does not hold the new index after it was written.
    StateNotKept,
    /// The operating system provides no random numbers.
    NoRandomness,
    /// A private key would be written under a file name of a public key.
    PublicName,
    /// The private key is printed in public; the value says where.
    Published(&'static str),
    /// A regenerated tree differs from the tree that was signed before, so a one-time key would sign
    /// two messages.
    TreeDiffers,
}

impl KeyErrorKind {
    /// Returns the reason code, which has the number and the texts.
    pub const fn reason(&self) -> KeyReason {
        match self {
            Self::TooLong => KeyReason::TooLong,
            Self::NotPem => KeyReason::NotPem,
            Self::ForeignForm(form) => form.reason(),
            Self::WrongLabel(_) => KeyReason::WrongLabel,
            Self::TrailingData(_) => KeyReason::TrailingData,
            Self::Truncated => KeyReason::KeyTruncated,
            Self::IsPrivate => KeyReason::IsPrivate,
            Self::IsPublic => KeyReason::IsPublic,
            Self::Encrypted => KeyReason::Encrypted,
            Self::WrongPassphrase => KeyReason::WrongPassphrase,
            Self::OldEncryption => KeyReason::OldEncryption,
            Self::UnsupportedEncryption(_) => KeyReason::UnsupportedEncryption,
            Self::UnsupportedAlgorithm(_) => KeyReason::UnsupportedAlgorithm,
            Self::OtherAlgorithm { .. } => KeyReason::OtherAlgorithm,
            Self::SchemeNotStated(_) => KeyReason::SchemeNotStated,
            Self::OtherScheme { .. } => KeyReason::OtherScheme,
            Self::Malformed(_) => KeyReason::Malformed,
            Self::WrongLength { .. } => KeyReason::WrongLength,
            Self::CompressedPoint => KeyReason::CompressedPoint,
            Self::PublicHalfDiffers => KeyReason::PublicHalfDiffers,
            Self::StateNotExported => KeyReason::StateNotExported,
            Self::StateChecksum => KeyReason::StateChecksum,
            Self::StateVersion(_) => KeyReason::StateVersion,
            Self::StateExhausted => KeyReason::StateExhausted,
            Self::StateHasNames => KeyReason::StateHasNames,
            Self::StateIsLink => KeyReason::StateIsLink,
            Self::StateNotRegular => KeyReason::StateNotRegular,
            Self::StateMode(_) => KeyReason::StateMode,
            Self::StateOfOther => KeyReason::StateOfOther,
            Self::StateFileSystem(_) => KeyReason::StateFileSystem,
            Self::StateOfOtherKey => KeyReason::StateOfOtherKey,
            Self::StateNotKept => KeyReason::StateNotKept,
            Self::NoRandomness => KeyReason::NoRandomness,
            Self::PublicName => KeyReason::PublicName,
            Self::Published(_) => KeyReason::PublishedKey,
            Self::TreeDiffers => KeyReason::TreeDiffers,
        }
    }

    /// Returns the advice of what to do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ForeignForm(form) => form.hint(),
            _ => self.reason().hint(),
        }
    }
}

impl fmt::Display for KeyErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLabel(label) => {
                write!(f, "holds a {label:?}, which is no key in a form that is supported")
            }
            Self::ForeignForm(form) => f.write_str(form.what()),
            Self::TrailingData(data) => write!(f, "has {data}"),
            Self::Published(place) => {
                write!(f, "is a key that everybody has: its private half is printed in {place}")
            }
            Self::Malformed(fault) => write!(f, "has a malformed key: {fault}"),
            Self::UnsupportedEncryption(way) => {
                write!(f, "is encrypted with {}, which is not supported", way.escape_debug())
            }
            Self::UnsupportedAlgorithm(algorithm) => {
                write!(f, "is a key for {}, which is not supported", algorithm.escape_debug())
            }
            Self::OtherAlgorithm { key, asked } => {
                write!(f, "is a key for {key}, and not for {asked}")
            }
            Self::OtherScheme { key, asked } => {
                write!(
                    f,
                    "is a key for {key}, and not for {asked}: the same key would have another id"
                )
            }
            Self::WrongLength { expected, actual } => {
                write!(f, "has a key of {actual} bytes instead of {expected}")
            }
            Self::StateVersion(version) => {
                write!(f, "is a key file of version {version}, which is not supported")
            }
            Self::StateMode(mode) => {
                write!(f, "has mode {mode:04o}, and not 0600: others may have read or copied it")
            }
            Self::StateFileSystem(name) => {
                write!(f, "is on a file system ({name}) that is not known to keep its state")
            }
            // The other variants print only their title, without the words with which it begins.
            _ => {
                let title = self.reason().title().trim_end_matches('.');
                f.write_str(title.strip_prefix("The key file ").unwrap_or(title))
            }
        }
    }
}

impl std::error::Error for KeyErrorKind {}

impl KeyError {
    /// Fills in the path of the file, quoted for a shell if that is needed.
    fn with_path(&self, way: &str) -> String {
        let path = self.path.display().to_string();
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@".contains(c);
        let is_word = path.chars().all(is_plain) && !path.starts_with('-');
        let path = if is_word {
            path
        } else {
            // A path that begins with a dash is no option.
            let here = if path.starts_with('-') { "./" } else { "" };
            format!("'{here}{}'", path.replace('\'', "'\\''"))
        };
        way.replace("FILE", &path)
    }

    /// Returns the advice of what to do about the error, with the path of the file filled in.
    pub fn hint(&self) -> String {
        match self.kind {
            KeyErrorKind::SchemeNotStated(bits) => format!(
                "state the scheme, for instance with `--algorithm rsa-pss-{bits}-sha384`; \
                 with this option, `hartlock key convert` writes a file that states it"
            ),
            _ => self.with_path(self.kind.hint()),
        }
    }
}
