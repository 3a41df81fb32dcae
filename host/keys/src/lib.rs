//! Private and public keys of every algorithm of the format, and their files (`spec/key-files.md`,
//! `spec/stateful-key.md`).
//!
//! | module | content |
//! |---|---|
//! | `public`, `private` | public and private keys of any algorithm |
//! | `ed25519`, `ecdsa`, `rsa`, `ml_dsa`, `slh_dsa` | one family each, built on a library |
//! | `stateful` | LMS, HSS, XMSS and XMSS^MT, implemented here |
//! | `class_key` | symmetric keys of encrypted payloads |
//! | `formats`, `pem`, `encrypted`, `oids` | PEM, DER, passphrases, object identifiers |
//! | `openssh`, `foreign` | keys of OpenSSH; forms that are recognised and not read |
//! | `published` | keys that everybody has |
//! | `signer` | key files, keys in tokens and programs, behind one trait |
//! | `request`, `answer` | requests to sign, and the forms of what is answered |
//! | `random` | random numbers from the operating system |
//! | `error`, `reason`, `signer_reason` | the reasons for which a key file or a signer is refused, with their codes |

#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hartlock_files::{FileError, NewFile};
use hartlock_image::Algorithm;

mod answer;
mod class_key;
mod ecdsa;
mod ed25519;
mod encrypted;
mod error;
mod foreign;
mod formats;
mod ml_dsa;
mod oids;
mod openssh;
mod passphrase;
mod pem;
mod private;
mod public;
mod published;
mod random;
mod reason;
mod request;
mod rsa;
mod signer;
mod signer_reason;
mod slh_dsa;
mod stateful;

#[cfg(test)]
mod forms;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;

pub use answer::accepted;
pub use class_key::ClassKey;
pub use error::{Error, KeyError, KeyErrorKind};
pub use foreign::ForeignForm;
pub use formats::Format;
pub use passphrase::{MAX_PASSPHRASE, Passphrase, passphrase_in_file};
pub use private::{AskPassphrase, PrivateKey, ReadOptions};
pub use public::PublicKey;
pub use published::{published, refuse_published};
pub use reason::KeyReason;
pub use request::{MAX_REQUEST, SignRequest, external_mu};
#[cfg(feature = "hsm")]
pub use signer::generate_on_token;
pub use signer::{Message, Signer, SignerError, is_token, is_uri, open_signers, read_public};
pub use signer_reason::SignerReason;
pub use stateful::OnProgress;

/// A key file, which holds either the private or the public key.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub enum AnyKey {
    /// A private key.
    Private(PrivateKey),
    /// A public key.
    Public(PublicKey),
}

impl AnyKey {
    /// Reads a file with a private or a public key.
    ///
    /// # Errors
    /// If the file cannot be read or holds no valid key.
    pub fn read(path: &Path, options: ReadOptions<'_>) -> Result<Self, Error> {
        match PrivateKey::read_with(path, options) {
            Err(Error::Key(KeyError { kind: KeyErrorKind::IsPublic, .. })) => {
                PublicKey::read_for(path, options.algorithms).map(Self::Public)
            }
            result => result.map(Self::Private),
        }
    }

    /// Same as [`AnyKey::read`], except that the key must be for `algorithm`, if one is given.
    ///
    /// # Errors
    /// The errors of [`AnyKey::read`], and `OtherAlgorithm` if the key is for another algorithm.
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

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        match self {
            AnyKey::Private(key) => key.public(),
            AnyKey::Public(key) => key.clone(),
        }
    }
}

/// Writes a new pair of key files. No existing file is replaced: a private key cannot be made
/// again, and a public key may be the only trace of a private key that is stored elsewhere.
///
/// # Errors
/// If one of the files exists or cannot be written, or if a stateful key is requested in another
/// form than its own.
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
    // The public file is written first: without its private key it does no harm, and it is removed
    // if the second step fails.
    public.create()?;
    private.create().inspect_err(|_| {
        let _ = std::fs::remove_file(public_path);
    })?;
    Ok(())
}

/// Refuses a private key under the file name of a public key, because its owner would pass that
/// file on to others.
///
/// # Errors
/// `PublicName` if the name ends in `.pub` or contains `.pub.`.
pub fn check_private_name(path: &Path) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".pub") || name.contains(".pub.") {
        return Err(Error::Key(KeyError { path: path.into(), kind: KeyErrorKind::PublicName }));
    }
    Ok(())
}

/// Returns the mode of a file that other users can read. A pipe or a device has no such mode.
pub fn mode_for_others(path: &Path) -> Option<u32> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mode = metadata.permissions().mode() & 0o7777;
    (mode & 0o044 != 0).then_some(mode)
}

/// Checks that no file exists at `path`. Callers check this before a key is generated, so that no
/// time is lost, and for the private key first, so that the message names it.
///
/// # Errors
/// `AlreadyExists` if a file exists.
pub fn check_absent(path: &Path) -> Result<(), FileError> {
    if path.symlink_metadata().is_ok() {
        let exists = std::io::ErrorKind::AlreadyExists.into();
        return Err(FileError::new("create", path, exists));
    }
    Ok(())
}
