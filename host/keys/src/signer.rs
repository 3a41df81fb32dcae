//! Signers: key files, keys in tokens, and programs (`spec/signers.md`).

use std::fmt;
use std::path::{Path, PathBuf};

use hartlock_files::FileError;

use crate::answer::accepted;
use crate::{
    Error, KeyError, KeyErrorKind, OnProgress, PrivateKey, PublicKey, ReadOptions, SignerReason,
};

mod program;
#[cfg(feature = "hsm")]
mod token;
mod uri;

#[cfg(feature = "hsm")]
pub use token::generate_on_token;
use uri::SignerUri;
pub use uri::{is_token, is_uri};

/// A message that is signed.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The bytes that the signature covers.
    pub signed: &'a [u8],
    /// The contents of these bytes, in words, one line each.
    pub contents: &'a [String],
}

/// Something that signs with one key.
pub trait Signer: fmt::Debug {
    /// Returns the public key.
    fn public(&self) -> PublicKey;

    /// Signs the message. `on_progress` counts the leaves of trees, if a key has to compute them again.
    ///
    /// # Errors
    /// If the signer does not sign, or if what it answers is not a signature of these bytes with its key.
    fn sign_message(
        &self,
        message: &Message<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<u8>, Error>;

    /// Returns the length of a signature in bytes.
    fn signature_size(&self) -> usize {
        self.public().algorithm().signature_size().unwrap_or(0)
    }

    /// Returns the number of signatures that are left and the total number, or `None` if signing does not
    /// use the key up.
    fn signatures_left(&self) -> Option<(u64, u64)> {
        None
    }

    /// Returns the name of the file system of a stateful key, if that file system is not known to keep the
    /// index.
    fn unsupported_file_system(&self) -> Option<String> {
        None
    }
}

impl Signer for PrivateKey {
    fn public(&self) -> PublicKey {
        self.public()
    }

    fn sign_message(
        &self,
        message: &Message<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<u8>, Error> {
        self.sign_observed(message.signed, on_progress)
    }

    fn signature_size(&self) -> usize {
        self.signature_size()
    }

    fn signatures_left(&self) -> Option<(u64, u64)> {
        self.signatures_left()
    }

    fn unsupported_file_system(&self) -> Option<String> {
        self.unsupported_file_system()
    }
}

/// The signer is elsewhere: what is built with its public key has no signature.
impl Signer for PublicKey {
    fn public(&self) -> PublicKey {
        self.clone()
    }

    fn sign_message(&self, _: &Message<'_>, _: OnProgress<'_>) -> Result<Vec<u8>, Error> {
        Err(Error::Key(KeyError { path: "-".into(), kind: KeyErrorKind::IsPublic }))
    }
}

/// A signer that did not sign, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{}", .reason.title().trim_end_matches('.'))]
pub struct SignerError {
    /// The reason.
    pub reason: SignerReason,
    /// The signer: its URI without the part that says how it is reached, or the name of a file.
    pub signer: String,
    /// More about this case; may be empty.
    pub detail: String,
}

impl SignerError {
    /// Makes an error about a signer.
    pub fn new(reason: SignerReason, signer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { reason, signer: signer.into(), detail: detail.into() }
    }

    /// Returns details, one line each.
    pub fn context(&self) -> Vec<String> {
        let parts = [&self.signer, &self.detail].map(String::as_str);
        vec![parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ")]
    }
}

/// Opens signers. Tokens are logged in to once, however many of their keys sign.
///
/// # Errors
/// If a file is not a valid private key, or a token or its key cannot be used.
pub fn open_signers(
    names: &[PathBuf],
    options: ReadOptions<'_>,
) -> Result<Vec<Box<dyn Signer>>, Error> {
    #[cfg(feature = "hsm")]
    let mut tokens = token::Tokens::default();
    let open = |name: &PathBuf| -> Result<Box<dyn Signer>, Error> {
        if !is_uri(name) {
            return Ok(Box::new(PrivateKey::read_with(name, options)?));
        }
        match SignerUri::parse(name)? {
            SignerUri::Program(uri) => {
                let public = PublicKey::read_for(&uri.public, options.algorithms)?;
                Ok(Box::new(program::ProgramKey::new(uri, public)))
            }
            #[cfg(feature = "hsm")]
            SignerUri::Token(uri) => Ok(Box::new(tokens.open_key(&uri, options)?)),
            #[cfg(not(feature = "hsm"))]
            SignerUri::Token(uri) => {
                let detail = "this program was built without the feature `hsm`";
                Err(SignerError::new(SignerReason::ModuleUnusable, uri.shown, detail).into())
            }
        }
    };
    names.iter().map(open).collect()
}

/// Reads the public half of a signer that is named by a URI.
///
/// # Errors
/// The errors of [`open_signers`].
pub fn read_public(name: &Path, options: ReadOptions<'_>) -> Result<PublicKey, Error> {
    let signers = open_signers(&[name.to_path_buf()], options)?;
    let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
    let first = signers.first().map(|signer| signer.public());
    first.ok_or_else(|| FileError::new("read", name, missing).into())
}

/// Checks what a signer answered, and brings it into the form of a signature block.
fn checked(
    signer: &str,
    public: &PublicKey,
    signed: &[u8],
    answer: &[u8],
) -> Result<Vec<u8>, Error> {
    accepted(public, signed, answer).ok_or_else(|| {
        let detail = format!("{} bytes for {}", answer.len(), public.algorithm());
        SignerError::new(SignerReason::WrongSignature, signer, detail).into()
    })
}
