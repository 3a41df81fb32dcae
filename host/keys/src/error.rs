//! What can be wrong with a key file. Numbers, titles and hints are those of `spec/errors.toml`, group 11.

use std::fmt;
use std::path::PathBuf;

use hartlock_files::FileError;

use super::KeyReason;

/// Every way in which work with keys can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key file is not what it should be.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A key file that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {kind}", .path.display())]
pub struct KeyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: KeyErrorKind,
}

/// What is wrong with a key file: a variant a reason.
///
/// Its text continues the sentence that begins with the name of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyErrorKind {
    /// More bytes than any key has.
    TooLong,
    /// There is no PEM block, nor DER.
    NotPem,
    /// Another kind of PEM file.
    WrongLabel(String),
    /// A public key as OpenSSH writes it.
    OpenSsh,
    /// There are other data before or after the key.
    TrailingData,
    /// The encoding ends too early.
    Truncated,
    /// A private key where a public one is needed.
    IsPrivate,
    /// A public key where a private one is needed.
    IsPublic,
    /// A passphrase protects the key, and none is given.
    Encrypted,
    /// Another passphrase protects the key.
    WrongPassphrase,
    /// A passphrase protects the key in a way from before PKCS#8.
    OldEncryption,
    /// A passphrase protects the key in a way that is not supported.
    UnsupportedEncryption(String),
    /// A key of another algorithm.
    UnsupportedAlgorithm(String),
    /// A key that is not for the algorithm that was requested.
    OtherAlgorithm {
        /// What it is for.
        key: String,
        /// The requested algorithm.
        asked: String,
    },
    /// Nothing says how an RSA key of so many bits signs.
    SchemeNotStated(usize),
    /// An RSA key that signs in another way than was requested.
    OtherScheme {
        /// How it signs.
        key: String,
        /// What was requested, or what is stated elsewhere.
        asked: String,
    },
    /// The encoding is damaged, or a point is not valid.
    Malformed,
    /// A key that is longer or shorter than those of its algorithm.
    WrongLength {
        /// Bytes of a key.
        expected: usize,
        /// Bytes of this one.
        actual: usize,
    },
    /// A point of which only one coordinate is there.
    CompressedPoint,
    /// A public key or another form of the private key is in the file, and belongs to another key.
    PublicHalfDiffers,
    /// A private key with a state in another form than its own.
    StateNotExported,
    /// The state was changed by accident.
    StateChecksum,
    /// The state is of another version.
    StateVersion(u32),
    /// Every index was spent.
    StateExhausted,
    /// Further names would keep the old index.
    StateHasNames,
    /// What it points to would keep the old index.
    StateIsLink,
    /// There is no file in which the state could be kept.
    StateNotRegular,
    /// Others could read the key.
    StateMode(u32),
    /// The key would change its owner.
    StateOfOther,
    /// A power cut could bring the old index back, or another process may see another one: what it is.
    StateFileSystem(String),
    /// The file holds another key than when it was read first.
    StateOfOtherKey,
    /// The storage did not keep the new index.
    StateNotKept,
    /// The operating system has no random numbers.
    NoRandomness,
    /// A private key under the name of a public one.
    PublicName,
    /// A tree is not the one that was signed before: one key would sign two messages.
    TreeDiffers,
}

impl KeyErrorKind {
    /// Its number and its texts.
    pub const fn reason(&self) -> KeyReason {
        match self {
            Self::TooLong => KeyReason::TooLong,
            Self::NotPem => KeyReason::NotPem,
            Self::OpenSsh => KeyReason::OpenSsh,
            Self::WrongLabel(_) => KeyReason::WrongLabel,
            Self::TrailingData => KeyReason::TrailingData,
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
            Self::Malformed => KeyReason::Malformed,
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
            Self::TreeDiffers => KeyReason::TreeDiffers,
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        self.reason().hint()
    }
}

impl fmt::Display for KeyErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLabel(label) => {
                write!(f, "holds a {label:?}, which is no key in a form that is supported")
            }
            Self::UnsupportedEncryption(way) => {
                write!(f, "is encrypted with {way}, which is not supported")
            }
            Self::UnsupportedAlgorithm(algorithm) => {
                write!(f, "is a key for {algorithm}, which is not supported")
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
                write!(f, "is damaged: its key has {actual} bytes instead of {expected}")
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
            // The others have nothing to add to their title, which begins with words for the file.
            _ => {
                let title = self.reason().title().trim_end_matches('.');
                f.write_str(title.strip_prefix("The key file ").unwrap_or(title))
            }
        }
    }
}

impl std::error::Error for KeyErrorKind {}

/// What takes the key out of a file of another kind; `FILE` is the file.
fn other_container(label: &str) -> Option<&'static str> {
    Some(match label {
        "CERTIFICATE" | "TRUSTED CERTIFICATE" => {
            "take the public key out of it: `openssl x509 -in FILE -noout -pubkey > cert.pub.pem`"
        }
        "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
            "take the public key out of it: `openssl req -in FILE -noout -pubkey > request.pub.pem`"
        }
        "EC PARAMETERS" => {
            "it names a curve and holds no key: make one with `hartlock keygen --algorithm ecdsa-p256 -o root.pem`"
        }
        "OPENSSH PRIVATE KEY" => {
            "convert a copy: `cp FILE copy.pem && ssh-keygen -p -m PKCS8 -f copy.pem`"
        }
        _ => return None,
    })
}

/// The same for a line of `authorized_keys`.
const OPENSSH_PUBLIC: &str = "convert it: `ssh-keygen -e -m PKCS8 -f FILE > converted.pub.pem`";

impl KeyError {
    fn with_path(&self, way: &str) -> String {
        way.replace("FILE", &self.path.display().to_string())
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self.kind {
            KeyErrorKind::SchemeNotStated(bits) => format!(
                "say how it signs, for instance with `--algorithm rsa-pss-{bits}-sha384`; \
                 `hartlock key convert` with that writes a file that says it"
            ),
            KeyErrorKind::WrongLabel(ref label) => other_container(label)
                .map_or(self.kind.hint().to_string(), |way| self.with_path(way)),
            KeyErrorKind::OpenSsh => self.with_path(OPENSSH_PUBLIC),
            _ => self.kind.hint().to_string(),
        }
    }
}
