//! Private and public keys of every algorithm of the format, and their files (`spec/key-files.md`,
//! `spec/stateful-key.md`).
//!
//! | module | what |
//! |---|---|
//! | `public`, `private` | keys, whatever their algorithm |
//! | `ed25519`, `ecdsa`, `rsa`, `ml_dsa`, `slh_dsa` | a family each: from libraries |
//! | `stateful` | LMS, HSS, XMSS, XMSS^MT: ours |
//! | `formats`, `pem`, `encrypted`, `oids` | PEM, DER, passphrases, names of algorithms |
//! | `random` | secrets from the operating system |
//! | `error`, `reason` | what can be wrong with a key file, and its number |

#![forbid(unsafe_code)]

use std::path::Path;

use hartlock_files::{FileError, NewFile};
use hartlock_image::Algorithm;

mod ecdsa;
mod ed25519;
mod encrypted;
mod error;
mod formats;
mod ml_dsa;
mod oids;
mod pem;
mod private;
mod public;
mod random;
mod reason;
mod rsa;
mod slh_dsa;
mod stateful;

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;

pub use error::{Error, KeyError, KeyErrorKind};
pub use formats::Format;
pub use private::{AskPassphrase, Passphrase, PrivateKey, ReadOptions};
pub use public::PublicKey;
pub use reason::KeyReason;
pub use stateful::OnProgress;

/// A file with one half of a key.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub enum AnyKey {
    /// A private key.
    Private(PrivateKey),
    /// A public key.
    Public(PublicKey),
}

impl AnyKey {
    /// Reads either half.
    ///
    /// # Errors
    /// If the file cannot be read or is no key.
    pub fn read(path: &Path, options: ReadOptions<'_>) -> Result<Self, Error> {
        match PrivateKey::read_with(path, options) {
            Err(Error::Key(KeyError { kind: KeyErrorKind::IsPublic, .. })) => {
                PublicKey::read_for(path, options.algorithms).map(Self::Public)
            }
            result => result.map(Self::Private),
        }
    }

    /// As [`AnyKey::read`], of a key that shall be for one algorithm.
    ///
    /// # Errors
    /// As there; `OtherAlgorithm` if it is for another one.
    pub fn read_as(
        path: &Path,
        algorithm: Option<Algorithm>,
        passphrase: Option<AskPassphrase<'_>>,
    ) -> Result<Self, Error> {
        let key = Self::read(
            path,
            ReadOptions { algorithms: algorithm.as_slice(), passphrase, any_file_system: false },
        )?;
        match (key.public().algorithm(), algorithm) {
            (key, Some(asked)) if key != asked => {
                let kind =
                    KeyErrorKind::OtherAlgorithm { key: key.to_string(), asked: asked.to_string() };
                Err(Error::Key(KeyError { path: path.to_path_buf(), kind }))
            }
            _ => Ok(key),
        }
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        match self {
            AnyKey::Private(key) => key.public(),
            AnyKey::Public(key) => key.clone(),
        }
    }
}

/// Writes a new pair of key files. Neither replaces a file: a private key cannot be made again,
/// and a public one may be the only trace of a private key that is elsewhere.
///
/// # Errors
/// If one of the files exists or cannot be written, or a key with a state shall have another form.
pub fn write_pair(
    key: &PrivateKey,
    private_path: &Path,
    public_path: &Path,
    format: Format,
    passphrase: Option<&[u8]>,
) -> Result<(), Error> {
    let refuse = |kind| Error::Key(KeyError { path: private_path.to_path_buf(), kind });
    check_private_name(private_path)?;
    let content = key.first_file(format, passphrase).map_err(refuse)?;
    check_absent(private_path)?;
    let mut private = NewFile::private(private_path)?;
    private.write(&content)?;
    let mut public = NewFile::public(public_path)?;
    public.write(&key.public().export(format))?;
    // The public file first: a public key without its private half does no harm, and is removed.
    public.create()?;
    private.create().inspect_err(|_| {
        let _ = std::fs::remove_file(public_path);
    })?;
    Ok(())
}

/// Refuses a name of a public key for a private one: it would be handed out.
///
/// # Errors
/// `PublicName` of a name that ends in `.pub`, or has `.pub.` in it.
pub fn check_private_name(path: &Path) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".pub") || name.contains(".pub.") {
        return Err(Error::Key(KeyError { path: path.into(), kind: KeyErrorKind::PublicName }));
    }
    Ok(())
}

/// Refuses a name that is taken. Checked before a key is made, so that no time is lost, and so
/// that the message names the file that matters most.
///
/// # Errors
/// `AlreadyExists`.
pub fn check_absent(path: &Path) -> Result<(), FileError> {
    if path.symlink_metadata().is_ok() {
        let exists = std::io::ErrorKind::AlreadyExists.into();
        return Err(FileError::new("create", path, exists));
    }
    Ok(())
}
