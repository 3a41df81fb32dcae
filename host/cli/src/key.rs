//! `hartlock key`

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use hartlock_bundle::describe::hex;
use hartlock_bundle::first_stage::FirstStageKey;
use hartlock_files::NewFile;
use hartlock_image::{Algorithm, Family, Name};
use hartlock_keys::Error;
use hartlock_keys::KeyErrorKind::{ForeignForm, NotPem};
use hartlock_keys::{
    AnyKey, ClassKey, Format, KeyError, Passphrase, PublicKey, ReadOptions, check_absent,
    check_private_name, is_uri, read_public,
};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Report};
use crate::signer::warn_if_others_can_read;
use crate::units::grouped;
use crate::{passphrase, values};

/// Show and convert key files
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct KeyArgs {
    #[command(subcommand)]
    verb: KeyVerb,
}

#[derive(Debug, Subcommand)]
enum KeyVerb {
    Show(ShowArgs),
    #[command(visible_alias = "export")]
    Convert(ConvertArgs),
}

/// Runs the verb `show` or `convert`.
pub fn run(args: &KeyArgs, output: &Output) -> ExitCode {
    match &args.verb {
        KeyVerb::Show(args) => match show_class_key(&args.input.file) {
            Some(shown) => output.finish("key-show", shown),
            None => output.finish("key-show", show(args)),
        },
        KeyVerb::Convert(args) => output.finish("key-convert", convert(args)),
    }
}

/// What every verb needs to read a key.
#[derive(Debug, clap::Args)]
struct Input {
    /// Private or public key file, or the URI of a signer, of which the public half is read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Signature scheme of an RSA key whose file does not state one
    #[arg(long, value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    algorithm: Option<Algorithm>,
    #[command(flatten)]
    passphrase: passphrase::Source,
}

impl Input {
    /// Reads the key. Returns also the passphrase if the key file is encrypted.
    fn read(&self) -> Result<(AnyKey, Option<Passphrase>), Failure> {
        let used = RefCell::new(None);
        let ask = |path: &_| {
            let passphrase = self.passphrase.ask(path)?;
            used.replace(Some(passphrase.clone()));
            Ok(passphrase)
        };
        if is_uri(&self.file) {
            let algorithms = self.algorithm.as_slice();
            let options =
                ReadOptions { algorithms, passphrase: Some(&ask), any_file_system: false };
            return Ok((AnyKey::Public(read_public(&self.file, options)?), None));
        }
        let key = AnyKey::read_as(&self.file, self.algorithm, Some(&ask))?;
        if let AnyKey::Private(_) = key {
            warn_if_others_can_read("private key", &self.file);
        }
        Ok((key, used.take()))
    }
}

/// Show the algorithm and key id of a key file
///
/// Secrets are never shown.
#[derive(Debug, clap::Args)]
struct ShowArgs {
    #[command(flatten)]
    input: Input,
    /// Print the node of a device tree with which U-Boot trusts the key
    #[arg(long, requires_all = ["board", "soc"])]
    fdt: bool,
    /// Name of the board in this node
    #[arg(long, value_name = "NAME", requires = "fdt")]
    board: Option<String>,
    /// Name of the SoC in this node
    #[arg(long, value_name = "NAME", requires = "fdt")]
    soc: Option<String>,
}

impl ShowArgs {
    /// Returns the node of U-Boot's control tree (docs/src/port/u-boot.md).
    fn node(&self, key: &PublicKey) -> Result<Option<String>, Failure> {
        let (Some(board), Some(soc)) = (&self.board, &self.soc) else { return Ok(None) };
        for name in [board, soc] {
            // Quotation marks and backslashes would end the text of the node.
            if Name::new(name).is_none() || name.contains(['"', '\\']) {
                return Err(Failure::undecided(
                    format!("`{name}` is no name of a board or SoC"),
                    "give a name of at most 31 printable characters",
                ));
            }
        }
        let record = key.record();
        Ok(Some(format!(
            "/ {{\n\thartlock {{\n\t\tcompatible = \"hartlock,trust-v1\";\n\t\tboard = \"{board}\";\n\t\tsoc = \"{soc}\";\n\t\t\
             policy = <1>;\n\t\tsecurity-version = <0 0>;\n\n\t\tkey-0 {{\n\t\t\talgorithm = <{}>;\n\t\t\t\
             parameters = <{}>;\n\t\t\tkey-id = [{}];\n\t\t}};\n\t}};\n}};\n",
            record.algorithm,
            record.parameters,
            hex(&record.key_id)
        )))
    }
}

/// The content of a key file.
#[derive(Debug, Serialize)]
struct KeyDescription {
    file: PathBuf,
    algorithm: String,
    family: &'static str,
    key_id: String,
    /// Digest of the key that hardware for first stages stores, if first stages can be signed with the key.
    first_stage_digest: Option<String>,
    is_private: bool,
    /// Where the private key is printed, if everybody has it.
    published: Option<&'static str>,
    /// Form of the file, if it is an older one that is read and not written.
    older_form: Option<&'static str>,
    signatures_left: Option<u64>,
    signatures: Option<u64>,
    /// Node of a device tree with which U-Boot trusts the key, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
}

impl Report for KeyDescription {
    fn text(&self) -> String {
        if let Some(node) = &self.node {
            return node.clone();
        }
        let kind = if self.is_private { "private (keep it secret)" } else { "public" };
        let mut text = format!(
            "file         {}\nkind         {kind}\nalgorithm    {} ({})\nkey id       {}\n",
            terminal::path(&self.file),
            self.algorithm,
            self.family,
            self.key_id
        );
        if let Some(place) = self.published {
            text += &format!(
                "warning      everybody has this key: its private half is printed in {place}\n"
            );
        }
        if let Some(form) = self.older_form {
            text += &format!(
                "form         older ({form}); `hartlock key convert --public` writes the present one\n"
            );
        }
        if let Some(digest) = &self.first_stage_digest {
            text += &format!("first stage  {digest}\n");
        }
        if let (Some(left), Some(all)) = (self.signatures_left, self.signatures) {
            text += &format!("signatures   {} left of {}\n", grouped(left), grouped(all));
        }
        text
    }
}

/// The content of a file with a class key.
#[derive(Debug, Serialize)]
struct ClassKeyDescription {
    file: PathBuf,
    algorithm: &'static str,
    class: String,
}

impl Report for ClassKeyDescription {
    fn text(&self) -> String {
        format!(
            "file         {}\nkind         class key (keep it secret)\nalgorithm    {}\nclass        {}\n",
            terminal::path(&self.file),
            self.algorithm,
            self.class
        )
    }
}

/// Describes a file with a class key. Returns `None` for another file, and for a pipe, which cannot be read again.
fn show_class_key(file: &Path) -> Option<Result<ClassKeyDescription, Failure>> {
    match ClassKey::read(file.is_file().then_some(file)?) {
        Err(Error::File(_)) => None,
        Err(Error::Key(KeyError { kind: NotPem | ForeignForm(_), .. })) => None,
        Err(error) => Some(Err(error.into())),
        Ok(key) => {
            warn_if_others_can_read("class key", file);
            let class = hex(&key.id());
            Some(Ok(ClassKeyDescription { file: file.to_path_buf(), algorithm: "aes-256", class }))
        }
    }
}

fn show(args: &ShowArgs) -> Result<KeyDescription, Failure> {
    let (key, _) = args.input.read()?;
    let public = key.public();
    let counted = match &key {
        AnyKey::Private(key) => key.signatures_left(),
        AnyKey::Public(_) => None,
    };
    Ok(KeyDescription {
        file: args.input.file.clone(),
        algorithm: public.algorithm().to_string(),
        family: match public.algorithm().family() {
            Family::Classical => "classical",
            Family::PostQuantum => "post-quantum",
        },
        key_id: hex(&public.key_id()),
        first_stage_digest: FirstStageKey::of(&public).map(|key| hex(&key.digest)),
        is_private: matches!(key, AnyKey::Private(_)),
        published: public.published(),
        older_form: older_form(&args.input.file),
        signatures_left: counted.map(|(left, _)| left),
        signatures: counted.map(|(_, all)| all),
        node: args.node(&public)?,
    })
}

/// Returns the older form of a public key file, if it has one. A pipe cannot be read again.
fn older_form(path: &Path) -> Option<&'static str> {
    let bytes = path.is_file().then(|| std::fs::read(path).ok()).flatten()?;
    PublicKey::older_form(&bytes)
}

/// Convert a key to another format, or extract its public key
///
/// Private keys are written as PKCS#8, public keys as SPKI. A private key that counts its signatures cannot be
/// converted: two copies would use the same one-time keys.
#[derive(Debug, clap::Args)]
struct ConvertArgs {
    #[command(flatten)]
    input: Input,
    /// Write the key to this file; an existing file is never overwritten
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write only the public key
    #[arg(long)]
    public: bool,
    /// Format of the file: text (PEM) or binary (DER)
    #[arg(long, value_name = "FORMAT", default_value = "pem", value_parser = values::format())]
    format: Format,
    /// Encrypt the private key with a passphrase. A passphrase option implies this; if the input is encrypted, it
    /// is used for both files
    #[arg(long, conflicts_with = "public")]
    encrypt: bool,
    /// Write an encrypted private key without encryption; by default it stays encrypted
    #[arg(long, conflicts_with_all = ["public", "encrypt"])]
    decrypt: bool,
}

impl ConvertArgs {
    /// Returns the passphrase of the new file, if it is to be encrypted. `used` is the passphrase of the old
    /// file.
    fn passphrase(&self, used: Option<Passphrase>) -> Result<Option<Passphrase>, Failure> {
        let source = &self.input.passphrase;
        match used {
            _ if self.decrypt => Ok(None),
            _ if self.encrypt => source.choose().map(Some),
            None if source.is_given() => source.choose().map(Some),
            used => Ok(used),
        }
    }
}

/// The file that was written.
#[derive(Debug, Serialize)]
struct Converted {
    file: PathBuf,
    algorithm: String,
    key_id: String,
    is_private: bool,
    is_encrypted: bool,
}

impl Report for Converted {
    fn text(&self) -> String {
        let kind = match (self.is_private, self.is_encrypted) {
            (false, _) => "public key",
            (true, false) => "private key, without a passphrase",
            (true, true) => "private key, encrypted with a passphrase",
        };
        format!(
            "written      {} ({kind})\nkey id       {} {}\n",
            terminal::path(&self.file),
            self.algorithm,
            self.key_id
        )
    }
}

fn convert(args: &ConvertArgs) -> Result<Converted, Failure> {
    check_absent(&args.output)?;
    let (key, used) = args.input.read()?;
    let public = key.public();
    let mut passphrase = None;
    let is_private = match &key {
        AnyKey::Private(key) if !args.public => {
            check_private_name(&args.output)?;
            passphrase = args.passphrase(used)?;
            let passphrase = passphrase.as_ref().map(|passphrase| &passphrase[..]);
            let refuse = |kind| Error::Key(KeyError { path: args.input.file.clone(), kind });
            let content = key.export(args.format, passphrase).map_err(refuse)?;
            let mut file = NewFile::private(&args.output)?;
            file.write(&content)?;
            file.create()?;
            true
        }
        _ if args.encrypt => {
            return Err(Failure::undecided(
                format!("`{}` is a public key", args.input.file.display()),
                "leave `--encrypt` out: a public key is not secret",
            ));
        }
        _ => {
            let mut file = NewFile::public(&args.output)?;
            file.write(&public.export(args.format))?;
            file.create()?;
            false
        }
    };
    Ok(Converted {
        file: args.output.clone(),
        algorithm: public.algorithm().to_string(),
        key_id: hex(&public.key_id()),
        is_private,
        is_encrypted: passphrase.is_some(),
    })
}
