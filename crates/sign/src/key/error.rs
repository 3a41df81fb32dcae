//! What can be wrong with a key file.

use std::path::PathBuf;

/// A key file that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {kind}", .path.display())]
pub struct KeyError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: KeyErrorKind,
}

/// What is wrong with a key file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyErrorKind {
    /// There is no PEM block, nor DER.
    #[error("is not a PEM file")]
    NotPem,
    /// A private key where a public one is wanted.
    #[error("is a private key, and a public one is wanted")]
    IsPrivate,
    /// A public key where a private one is wanted.
    #[error("is a public key, and a private one is wanted")]
    IsPublic,
    /// A passphrase protects the key, and none is given.
    #[error("is encrypted with a passphrase")]
    Encrypted,
    /// Another passphrase protects the key.
    #[error("does not open with this passphrase")]
    WrongPassphrase,
    /// A passphrase protects the key in a way from before PKCS#8.
    #[error("is encrypted in the old way of OpenSSL, inside of the PEM block")]
    OldEncryption,
    /// A passphrase protects the key in a way that is not supported.
    #[error("is encrypted with {0}, which is not supported")]
    UnsupportedEncryption(String),
    /// Another kind of PEM file.
    #[error("holds a {0:?}, which is no key in a form that is supported")]
    WrongLabel(String),
    /// A key of another algorithm.
    #[error("is a key for {0}, which is not supported")]
    UnsupportedAlgorithm(String),
    /// A key that is not for the algorithm that was asked for.
    #[error("is a key for {key}, and not for {asked}")]
    OtherAlgorithm {
        /// What it is for.
        key: String,
        /// What was asked for.
        asked: String,
    },
    /// A point of which only one coordinate is there.
    #[error("is an EC key with a compressed point")]
    CompressedPoint,
    /// The encoding is damaged, or a point is not valid.
    #[error("is damaged: its key is malformed")]
    Malformed,
    /// A key that is longer or shorter than those of its algorithm.
    #[error("is damaged: its key has {actual} bytes instead of {expected}")]
    WrongLength {
        /// Bytes of a key.
        expected: usize,
        /// Bytes of this one.
        actual: usize,
    },
    /// The encoding ends too early.
    #[error("is damaged: it ends within the key")]
    Truncated,
    /// A public key or another form of the private key stands in the file, and belongs to another one.
    #[error("is damaged: the parts of its key do not belong together")]
    PublicHalfDiffers,
    /// Something stands around the key.
    #[error("has other data around its key")]
    TrailingData,
    /// The operating system has no random numbers.
    #[error("was not made: the operating system gave no random numbers")]
    NoRandomness,
    /// A private key with a state in another form than its own.
    #[error("is a private key with a state, and is not written in any other form")]
    StateNotExported,
    /// The state was changed by accident.
    #[error("is damaged: its checksum is wrong")]
    StateChecksum,
    /// The state is of another version.
    #[error("is a key file of version {0}, which is not supported")]
    StateVersion(u32),
    /// Every index was spent.
    #[error("is spent: it has made all the signatures that it can make")]
    StateExhausted,
    /// Further names would keep the old index.
    #[error("has several names, and its state can be kept under one only")]
    StateHasNames,
    /// What it points to would keep the old index.
    #[error("is a symbolic link, and its state can only be kept in the file itself")]
    StateIsLink,
    /// There is no file in which the state could be kept.
    #[error("is not a regular file, so that its state cannot be kept")]
    StateNotRegular,
    /// Others could read the key.
    #[error("has mode {0:04o}, and not 0600: others may have read or copied it")]
    StateMode(u32),
    /// The key would change its owner.
    #[error("belongs to somebody else, who could not read it any more")]
    StateOfOther,
    /// A power cut could bring the old index back.
    #[error("is on a file system ({0}) that cannot promise to keep its state")]
    StateFileSystem(&'static str),
    /// The file holds another key than when it was read first.
    #[error("holds another key than a moment ago")]
    StateOfOtherKey,
    /// The storage did not keep the new index.
    #[error("did not keep its state")]
    StateNotKept,
}

impl KeyErrorKind {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotPem => {
                "give a file that begins with `-----BEGIN`, for instance from `hartlock keygen`"
            }
            Self::IsPrivate => {
                "give the public key, for instance root.pub.pem; keep the private one to yourself"
            }
            Self::IsPublic => "give the private key, for instance root.pem",
            Self::Encrypted => {
                "run this on a terminal, or name a file with `--passphrase-file` or a variable with \
                 `--passphrase-env`"
            }
            Self::WrongPassphrase => "check the passphrase; a line feed at its end does not count",
            Self::OldEncryption => {
                "convert it with `openssl pkcs8 -topk8 -in KEY -out NEW`, in a safe place"
            }
            Self::UnsupportedEncryption(_) => {
                "convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc -in KEY -out NEW`"
            }
            Self::WrongLabel(_) => {
                "convert it with `openssl pkey` (private) or `openssl pkey -pubin` (public)"
            }
            Self::UnsupportedAlgorithm(_) => {
                "use a key of an algorithm that `hartlock keygen --help` names"
            }
            Self::OtherAlgorithm { .. } => {
                "leave `--algorithm` out: it is needed for RSA keys only, to choose padding and hash"
            }
            Self::CompressedPoint => {
                "convert it with `openssl ec -conv_form uncompressed` and the options for its half"
            }
            Self::Malformed | Self::WrongLength { .. } | Self::Truncated => {
                "fetch the key again, or make a new one"
            }
            Self::PublicHalfDiffers => "fetch the key again, and trust no signature of this one",
            Self::TrailingData => "keep one key in a file, and nothing else",
            Self::NoRandomness => "try again when the system is up completely",
            Self::StateNotExported => {
                "make a new key instead: two copies would spend the same one-time keys"
            }
            Self::StateChecksum => {
                "make a new key; a copy of this one from earlier would spend one-time keys twice"
            }
            Self::StateVersion(_) => "use the version of hartlock that wrote it",
            Self::StateExhausted => "make a new key, and have devices trust it",
            Self::StateHasNames => {
                "remove all names but one, and check that nobody signed under another"
            }
            Self::StateIsLink => "name the file that the link points to",
            Self::StateNotRegular => "keep the key in a file, and name that file",
            Self::StateMode(_) => {
                "check that nobody copied it, then give it to you alone with `chmod 0600`"
            }
            Self::StateOfOther => "sign as the owner of the key",
            Self::StateFileSystem(_) => {
                "move the key, with no copy left behind, to a disk of this machine"
            }
            Self::StateOfOtherKey => "find out who replaced the file, and try again",
            Self::StateNotKept => "move the key to storage that works; nothing was signed",
        }
    }
}

impl KeyError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        self.kind.hint().to_string()
    }
}
