//! `hartlock keygen`

use std::path::{Path, PathBuf};

use hartlock_sign::Error;
use hartlock_sign::describe::hex;
use hartlock_sign::key::{KeyError, PrivateKey, write_pair};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;

/// Make a pair of signing keys
///
/// Writes the private key (PKCS#8 PEM, readable by you alone) and, beside it, the public key
/// (SPKI PEM). Files that exist are never overwritten.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File of the private key; the public key of `root.pem` is `root.pub.pem`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// What was made.
#[derive(Debug, Serialize)]
pub struct Made {
    algorithm: String,
    key_id: String,
    private_key: PathBuf,
    public_key: PathBuf,
}

impl Report for Made {
    fn text(&self) -> String {
        format!(
            "private key  {} (keep it secret)\npublic key   {}\nkey id       {} {}\n",
            self.private_key.display(),
            self.public_key.display(),
            self.algorithm,
            self.key_id
        )
    }
}

/// Makes the keys.
pub fn run(args: &Args) -> Result<Made, Failure> {
    let public_path = public_path(&args.output).ok_or_else(|| {
        Failure::undecided(
            format!("`{}` names no file", args.output.display()),
            "name a file, for instance `-o root.pem`",
        )
    })?;
    let key = PrivateKey::generate()
        .map_err(|kind| Error::Key(KeyError { path: args.output.clone(), kind }))?;
    write_pair(&key, &args.output, &public_path)?;
    let public = key.public();
    Ok(Made {
        algorithm: public.algorithm().to_string(),
        key_id: hex(&public.key_id()),
        private_key: args.output.clone(),
        public_key: public_path,
    })
}

/// `root.pub.pem` of `root.pem`, `root.pub` of `root`.
fn public_path(private: &Path) -> Option<PathBuf> {
    let mut name = private.file_stem()?.to_os_string();
    name.push(".pub");
    if let Some(extension) = private.extension() {
        name.push(".");
        name.push(extension);
    }
    Some(private.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_key_stands_beside_the_private_one() {
        let of = |path| public_path(Path::new(path));
        assert_eq!(of("root.pem"), Some("root.pub.pem".into()));
        assert_eq!(of("keys/2026.root.pem"), Some("keys/2026.root.pub.pem".into()));
        assert_eq!(of("root"), Some("root.pub".into()));
        assert_eq!(of(".."), None);
    }
}
