//! `hartlock keygen`

use std::path::{Path, PathBuf};

use hartlock_bundle::describe::hex;
use hartlock_files::NewFile;
use hartlock_image::Algorithm;
use hartlock_keys::Error;
use hartlock_keys::{
    ClassKey, Format, KeyError, PrivateKey, ReadOptions, check_absent, check_private_name,
    generate_on_token, is_uri, write_pair,
};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;
use crate::progress::Progress;
use crate::units::grouped;
use crate::{passphrase, values};

/// Generate a signing key pair, or a key that encrypts payloads
///
/// Writes the private key (PKCS#8, readable only by you) and, in the same folder, the public key (SPKI).
/// With `--class` it writes one file instead, the key of a class of devices. Existing files are never overwritten.
#[derive(Debug, clap::Args)]
pub struct KeygenArgs {
    /// Write the private key to this file; for `root.pem`, the public key is `root.pub.pem`. With a `pkcs11:` URI the key
    /// is made in the token and never leaves it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// File of the public key, if the private one is made in a token
    #[arg(long, value_name = "FILE", conflicts_with_all = ["class", "encrypt"])]
    public: Option<PathBuf>,
    /// Signature algorithm of the key (see below)
    #[arg(long, value_name = "NAME", default_value = "ed25519", value_parser = values::algorithms(), hide_possible_values = true)]
    algorithm: Algorithm,
    /// Format of the files: text (PEM) or binary (DER)
    #[arg(long, value_name = "FORMAT", default_value = "pem", value_parser = values::format())]
    format: Format,
    /// Encrypt the private key with a passphrase; the passphrase options below imply this
    #[arg(long)]
    encrypt: bool,
    /// Make a class key (AES-256): payloads are encrypted for it with `sign --encrypt`
    #[arg(long, conflicts_with_all = ["algorithm", "format", "encrypt"])]
    class: bool,
    #[command(flatten)]
    passphrase: passphrase::Source,
}

/// The key that was made.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Generated {
    Pair(Made),
    Class(MadeClassKey),
}

/// The class key that was made.
#[derive(Debug, Serialize)]
pub struct MadeClassKey {
    class_key: PathBuf,
    class: String,
}

impl Report for Generated {
    fn text(&self) -> String {
        match self {
            Self::Pair(made) => made.text(),
            Self::Class(MadeClassKey { class_key, class }) => format!(
                "class key    {} (keep it secret)\nclass        {class}\n",
                terminal::path(class_key)
            ),
        }
    }
}

/// The key pair that was made.
#[derive(Debug, Serialize)]
pub struct Made {
    algorithm: String,
    key_id: String,
    private_key: PathBuf,
    public_key: PathBuf,
    signatures_left: Option<u64>,
    is_encrypted: bool,
    #[serde(skip)]
    is_rsa: bool,
    #[serde(skip)]
    is_der: bool,
}

impl Report for Made {
    fn text(&self) -> String {
        let mut text = format!(
            "private key  {} ({}keep it secret)\npublic key   {}\nkey id       {} {}\n",
            terminal::path(&self.private_key),
            if self.is_encrypted { "encrypted; " } else { "" },
            terminal::path(&self.public_key),
            self.algorithm,
            self.key_id
        );
        if let Some(left) = self.signatures_left {
            text += &format!(
                "signatures   {} left, and the private key counts them: never copy it,\n             \
                 and never bring a backup or snapshot of it back: it would sign\n             \
                 twice with one index, and whoever sees both can sign as you\n",
                grouped(left)
            );
        }
        if self.is_rsa && self.is_der {
            text += &format!(
                "use with     `--algorithm {}`: the files do not state it\n",
                self.algorithm
            );
        }
        text
    }
}

/// Makes the key pair or the class key.
pub fn run(args: &KeygenArgs) -> Result<Generated, Failure> {
    if args.class {
        if args.passphrase.is_given() {
            return Err(Failure::undecided(
                "a class key has no passphrase",
                "leave out the passphrase options, and keep the file where only the signer reads it",
            ));
        }
        return class_key(&args.output).map(Generated::Class);
    }
    pair(args).map(Generated::Pair)
}

fn class_key(path: &Path) -> Result<MadeClassKey, Failure> {
    let refuse = |kind| Error::Key(KeyError { path: path.to_path_buf(), kind });
    let key = ClassKey::generate().map_err(refuse)?;
    key.write(path)?;
    Ok(MadeClassKey { class_key: path.to_path_buf(), class: hex(&key.id()) })
}

/// Makes a key in a token, and writes its public half.
fn in_token(args: &KeygenArgs) -> Result<Made, Failure> {
    let public_path = args.public.clone().ok_or_else(|| {
        Failure::undecided("no file for the public key is given", "name one with `--public`")
    })?;
    check_absent(&public_path)?;
    let ask = |path: &_| args.passphrase.ask(path);
    let options = ReadOptions { passphrase: Some(&ask), ..ReadOptions::default() };
    let public = generate_on_token(&args.output, args.algorithm, options)?;
    let mut file = NewFile::public(&public_path)?;
    file.write(&public.export(args.format))?;
    file.create()?;
    let uri = args.output.to_string_lossy();
    Ok(Made {
        algorithm: public.algorithm().to_string(),
        key_id: hex(&public.key_id()),
        // The rest says how the token is reached.
        private_key: uri.split('?').next().unwrap_or_default().into(),
        public_key: public_path,
        signatures_left: None,
        is_encrypted: false,
        is_der: args.format == Format::Der,
        is_rsa: matches!(args.algorithm, Algorithm::Rsa { .. }),
    })
}

fn pair(args: &KeygenArgs) -> Result<Made, Failure> {
    if is_uri(&args.output) {
        return in_token(args);
    }
    if args.public.is_some() {
        return Err(Failure::undecided(
            "`--public` is for keys in tokens",
            "leave it out: the public key of a file is written beside it",
        ));
    }
    let public_path = public_path(&args.output).ok_or_else(|| {
        Failure::undecided(
            format!("`{}` is not the name of a file", args.output.display()),
            "name a file, for instance `-o root.pem`",
        )
    })?;
    check_private_name(&args.output)?;
    // A passphrase option implies encryption.
    let is_encrypted = args.encrypt || args.passphrase.is_given();
    if args.algorithm.is_stateful() && (is_encrypted || args.format != Format::Pem) {
        return Err(Failure::undecided(
            format!(
                "a private key for {} counts its signatures, and has a format of its own",
                args.algorithm
            ),
            "leave out `--format`, `--encrypt` and the passphrase options",
        ));
    }
    check_absent(&args.output)?;
    check_absent(&public_path)?;
    let passphrase = is_encrypted.then(|| args.passphrase.choose()).transpose()?;
    let mut progress = Progress::of_leaves("making the key");
    let key =
        PrivateKey::generate_for(args.algorithm, &mut |done, total| progress.show(done, total));
    drop(progress);
    let key = key.map_err(|kind| Error::Key(KeyError { path: args.output.clone(), kind }))?;
    let passphrase = passphrase.as_ref().map(|passphrase| &passphrase[..]);
    write_pair(&key, &args.output, &public_path, args.format, passphrase)?;
    let public = key.public();
    Ok(Made {
        algorithm: public.algorithm().to_string(),
        key_id: hex(&public.key_id()),
        private_key: args.output.clone(),
        public_key: public_path,
        signatures_left: key.signatures_left().map(|(left, _)| left),
        is_encrypted,
        is_der: args.format == Format::Der,
        is_rsa: matches!(args.algorithm, Algorithm::Rsa { .. }),
    })
}

/// Returns the path of the public key: `root.pub.pem` for `root.pem`, `root.pub` for `root`.
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
