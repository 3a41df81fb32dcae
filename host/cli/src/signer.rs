//! Options and functions for every verb that signs bundles.

use std::path::{Path, PathBuf};

use hartlock_boards::{Boards, KnownBoard, shipped};
use hartlock_bundle::DEFAULT_LIFECYCLE;
use hartlock_bundle::build::{Build, OutputForm, loader_statement};
use hartlock_bundle::describe::{Description, Key};
use hartlock_bundle::reuse::{harts_of_trees, notes_on_tree};
use hartlock_bundle::spec::BundleSpec;
use hartlock_image::{Algorithm, Lifecycle, PayloadType};
use hartlock_keys::{
    ClassKey, PublicKey, ReadOptions, is_uri, mode_for_others, open_signers, refuse_published,
};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::inspect::manifest_text;
use crate::output::{Report, talk};
use crate::progress::Progress;
use crate::project::{self, KeyHalf};
use crate::style::{GOOD, WARNING};
use crate::suggest::nearest;
use crate::units::{count_text, size_text};
use crate::{passphrase, values};

/// Who signs, and what becomes of the bundle.
#[derive(Debug, clap::Args)]
pub struct Signer {
    /// Private key to sign with: a file, a name from hartlock.toml, or the `pkcs11:` or `exec:` URI of a signer; may be
    /// given up to four times
    #[arg(short, long = "key", value_name = "KEY.pem")]
    keys: Vec<PathBuf>,
    /// Signature scheme for RSA keys whose file does not state one; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    pub algorithms: Vec<Algorithm>,
    #[command(flatten)]
    passphrase: passphrase::Source,
    /// Allow a key that counts its signatures (LMS, HSS, XMSS, XMSS^MT) on any file system, such as the overlay of a
    /// container. Use this only if no other copy of the key file exists: a copy would reuse one-time keys
    #[arg(long)]
    any_file_system: bool,
    /// Write the signed file here, or to standard output with `-`, when it is verified
    #[arg(short, long, value_name = "FILE", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,
    /// Read, hash and check everything, but sign and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replace an existing output file, but never a private key or an input
    #[arg(long)]
    pub force: bool,

    /// Sign payload files even if their content does not look like the payload type, but not what a device refuses
    #[arg(long)]
    pub force_type: bool,
}

/// The bundle that was built. It was verified after it was written.
#[derive(Debug, Serialize)]
pub struct BuiltBundle {
    /// Path of the bundle; `None` if nothing was written.
    bundle: Option<PathBuf>,
    manifest: Description,
    signatures_left: Vec<SignaturesLeft>,
    /// Hints at possible mistakes, one sentence each.
    notes: Vec<String>,
}

/// The number of signatures that a stateful key can still make.
#[derive(Debug, Serialize)]
pub struct SignaturesLeft {
    key_file: PathBuf,
    signatures_left: u64,
}

impl Report for BuiltBundle {
    fn text(&self) -> String {
        let done = match &self.bundle {
            Some(bundle) => {
                format!("{GOOD}signed{GOOD:#}  {}, and verified again", terminal::path(bundle))
            }
            None => "dry run: nothing was signed or written; this would be signed".to_string(),
        };
        let mut text = format!("{done}\n\n{}", manifest_text(&self.manifest));
        self.signatures_left.iter().for_each(|left| text += &left_text(left));
        for note in &self.notes {
            text += &format!("\n{WARNING}note{WARNING:#}  {note}\n");
        }
        text
    }
}

/// Returns a line that says how many signatures are left.
pub fn left_text(SignaturesLeft { key_file, signatures_left }: &SignaturesLeft) -> String {
    let left = count_text(*signatures_left, "signature", "signatures");
    format!("\n{} has {left} left\n", terminal::path(key_file))
}

/// Environment variable that has the effect of `--any-file-system` if it is `1`, for callers that cannot
/// change the arguments.
const ANY_FILE_SYSTEM: &str = "HARTLOCK_ANY_FILE_SYSTEM";

/// Returns the warning about a stateful key on an unknown file system. It is printed every time, because no
/// later check can detect that a copy of the key signed too.
fn doubt_text(path: &Path, name: &str) -> String {
    format!(
        "{WARNING}warning{WARNING:#}: {} counts its signatures, and its file system ({name}) is not known to keep \
         the count. If another copy of the file signs too, the key is lost",
        terminal::path(path)
    )
}

impl Signer {
    /// Reads the private keys. `read` lists the other files that the caller read.
    pub fn open(&self, read: &[PathBuf]) -> Result<Opened, Failure> {
        let files = project::keys(&self.keys, KeyHalf::Private, "--key")?;
        let read_files = files.iter().filter(|it| !is_uri(it)).chain(read);
        let inputs = read_files.chain(self.passphrase.file()).cloned().collect();
        let ask = |path: &_| self.passphrase.ask(path);
        let any_file_system = self.any_file_system
            || std::env::var_os(ANY_FILE_SYSTEM).is_some_and(|value| value == "1");
        let options =
            ReadOptions { algorithms: &self.algorithms, passphrase: Some(&ask), any_file_system };
        let keys = open_signers(&files, options)?;
        if any_file_system {
            for (key, path) in keys.iter().zip(&files) {
                if let Some(name) = key.unsupported_file_system() {
                    talk(&doubt_text(path, &name));
                }
            }
        }
        files.iter().for_each(|path| warn_if_others_can_read("private key", path));
        Ok(Opened { files, keys, inputs })
    }

    /// Returns the path of the result. For a dry run without a path it is one in the temporary folder, at
    /// which no file appears.
    pub fn output_or_nowhere(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| std::env::temp_dir().join("hartlock-dry-run"))
    }

    /// Returns the path of the result, if a result is written.
    pub fn written(&self) -> Option<PathBuf> {
        self.output.clone().filter(|_| !self.dry_run)
    }

    /// Returns what becomes of the result.
    pub const fn ending(&self) -> OutputForm {
        if self.dry_run { OutputForm::DryRun } else { OutputForm::Signed }
    }

    /// Builds the bundle that `spec` describes. `read` lists the other files that the caller read.
    pub fn sign(
        &self,
        spec: &BundleSpec,
        boards: &Boards,
        created: u64,
        read: &[PathBuf],
    ) -> Result<BuiltBundle, Failure> {
        let opened = self.open(read)?;
        if let Some(path) = &spec.encrypt {
            warn_if_others_can_read("class key", path);
        }
        if leaves_the_workshop(spec.lifecycle.as_deref()) {
            opened.refuse_published()?;
            refuse_published_trust(spec)?;
        }
        if spec.trust.as_ref().is_none_or(|trust| trust.keys.is_empty()) {
            let used: Vec<_> = opened.keys.iter().map(|key| key.public().algorithm()).collect();
            values::check_algorithms(&self.algorithms, &used)?;
        }
        let mut progress = Progress::new("signing");
        let mut leaves = Progress::of_leaves("growing trees");
        let output = self.output_or_nowhere();
        let build = Build {
            spec,
            keys: &opened.signers(),
            created,
            output: &output,
            boards,
            inputs: &opened.inputs,
            is_forced: self.force,
            is_any_type: self.force_type,
            ending: self.ending(),
        };
        let result =
            build.run(&mut |done, total| progress.show(done, total), &mut |done, total| {
                leaves.show(done, total);
            });
        drop(leaves);
        drop(progress);
        let signatures_left = opened.left(self.dry_run);
        let manifest = result?;
        let mut notes = notes(spec, &manifest)?;
        notes.extend(unknown_boards(&manifest, boards));
        if let Some(bundle) = self.written() {
            notes.extend(missing_harts(&bundle, &manifest, boards));
            // A bundle that was just written and verified can be read.
            let board = boards.by_name(&manifest.board);
            notes.extend(notes_on_tree(&bundle, board).unwrap_or_default());
        }
        Ok(BuiltBundle { bundle: self.written(), manifest, signatures_left, notes })
    }
}

/// The private keys of the signers.
#[derive(Debug)]
pub struct Opened {
    files: Vec<PathBuf>,
    /// Signers, in the order of the options.
    pub keys: Vec<Box<dyn hartlock_keys::Signer>>,
    /// Paths of all files that were read. No output may replace them.
    pub inputs: Vec<PathBuf>,
}

impl Opened {
    /// Returns the signers.
    pub fn signers(&self) -> Vec<&dyn hartlock_keys::Signer> {
        self.keys.iter().map(|key| &**key).collect()
    }

    /// Refuses keys that everybody has.
    pub fn refuse_published(&self) -> Result<(), Failure> {
        for (key, path) in self.keys.iter().zip(&self.files) {
            refuse_published(path, &key.public().record())?;
        }
        Ok(())
    }

    /// Returns the number of signatures left for each stateful key, after this signature.
    pub fn left(&self, is_dry: bool) -> Vec<SignaturesLeft> {
        let left = |(key, path): (&dyn hartlock_keys::Signer, &PathBuf)| {
            // The number was read before this signature, which uses one up. It is lower if another process
            // signed meanwhile.
            let (left, _) = key.signatures_left()?;
            let signatures_left = left.saturating_sub(u64::from(!is_dry));
            Some(SignaturesLeft { key_file: path.clone(), signatures_left })
        };
        self.signers().into_iter().zip(&self.files).filter_map(left).collect()
    }
}

/// Returns true if devices in other hands may boot what is signed for these lifecycle states.
pub fn leaves_the_workshop(lifecycle: Option<&[Lifecycle]>) -> bool {
    lifecycle.unwrap_or(&DEFAULT_LIFECYCLE).iter().any(|state| *state != Lifecycle::Development)
}

/// Refuses a boot bundle that trusts a key that everybody has.
fn refuse_published_trust(spec: &BundleSpec) -> Result<(), Failure> {
    let Some(trust) = &spec.trust else { return Ok(()) };
    for path in &trust.keys {
        // A file that cannot be read is refused when the bundle is built.
        if let Ok(key) = PublicKey::read_for(path, &trust.algorithms) {
            refuse_published(path, &key.record())?;
        }
    }
    for record in &trust.records {
        refuse_published(Path::new("a trusted key of the bundle"), record)?;
    }
    Ok(())
}

/// Reads class keys.
pub fn class_keys(files: &[PathBuf]) -> Result<Vec<ClassKey>, Failure> {
    files
        .iter()
        .map(|path| {
            let key = ClassKey::read(path)?;
            warn_if_others_can_read("class key", path);
            Ok(key)
        })
        .collect()
}

/// Prints a warning if other users of this machine can read a file that is `what`.
pub fn warn_if_others_can_read(what: &str, path: &Path) {
    if let Some(mode) = mode_for_others(path) {
        let path = terminal::path(path);
        talk(&format!(
            "{WARNING}warning{WARNING:#}: other users can read the {what} {path} (mode {mode:04o}): change that with \
             `chmod 0600 {path}`"
        ));
    }
}

/// Names the boards that nothing is known about, because the description of a known board may have been meant.
fn unknown_boards(manifest: &Description, boards: &Boards) -> Vec<String> {
    let names = manifest.also_for.iter().map(|it| it.board.as_str());
    let unknown = std::iter::once(manifest.board.as_str()).chain(names);
    let unknown = unknown.filter(|name| boards.by_name(name).is_none());
    let text = |name: &str| {
        let nearest = nearest(name, shipped().iter().map(KnownBoard::name));
        let meant = match nearest.as_slice() {
            [] => "`--board FILE.toml` names a description of it".to_string(),
            names => format!("did you mean `{}`?", names.join("` or `")),
        };
        format!(
            "Nothing is known about a board {name}: load addresses and device trees were not compared with it; {meant}"
        )
    };
    unknown.map(text).collect()
}

/// Names the harts of the board that a device tree in the bundle does not have: nothing starts them.
fn missing_harts(bundle: &Path, manifest: &Description, boards: &Boards) -> Vec<String> {
    let Some(board) = boards.by_name(&manifest.board) else { return Vec::new() };
    let all = board.description.harts;
    // A bundle that was just written and verified can be read.
    let trees = harts_of_trees(bundle).unwrap_or_default();
    trees
        .into_iter()
        .filter_map(|(payload, mask)| missing_text(board, payload, all, mask))
        .collect()
}

/// Says which harts of a board a device tree does not name.
pub fn missing_text(board: &KnownBoard, payload: &str, all: u32, mask: u64) -> Option<String> {
    let missing: Vec<_> = (0..all.min(u64::BITS)).filter(|hart| mask >> hart & 1 == 0).collect();
    let numbers: Vec<_> = missing.iter().map(u32::to_string).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "The board {} has up to {all} harts, and the {payload} names {} of them: nothing starts {} {}.",
            board.name(),
            all as usize - missing.len(),
            if missing.len() == 1 { "hart" } else { "harts" },
            numbers.join(", ")
        )
    })
}

/// Maximum number of bytes before the payloads that every verifier supports (image format §3.2).
const SMALL_METADATA: u64 = 32 << 10;

fn notes(spec: &BundleSpec, manifest: &Description) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    let loader = spec.payloads.iter().find(|it| it.payload_type == PayloadType::Loader);
    if let Some(loader) = loader
        && manifest.trust.is_some()
        && loader_statement(&loader.file)?.is_none()
    {
        notes.push(
            "The loader does not say which signature algorithms it carries: it is taken to carry those of \
             the trusted keys. If it does not, it will refuse every system bundle (E0307)."
                .to_string(),
        );
    }
    let everybodys = |key: &Key| {
        let place = key.published?;
        Some(format!(
            "{} {}… is a key that everybody has ({place}).",
            key.algorithm,
            key.short_id()
        ))
    };
    let trusted = manifest.trust.iter().flat_map(|trust| &trust.keys);
    notes.extend(manifest.signers.iter().chain(trusted).filter_map(everybodys));
    let metadata = manifest.payloads.first().map_or(0, |payload| payload.offset);
    if metadata > SMALL_METADATA {
        notes.push(format!(
            "manifest and signatures take {}, and some verifiers have room for only {}.",
            size_text(metadata),
            size_text(SMALL_METADATA)
        ));
    }
    let unread = spec.payloads.iter().filter(|it| it.encryption.is_some());
    let unread: Vec<&str> = unread.map(|it| it.payload_type.name()).collect();
    if !unread.is_empty() {
        notes.push(format!(
            "Encrypted as before, and not looked into: {}. `hartlock verify --decrypt-with` does that.",
            unread.join(", ")
        ));
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harts_that_nothing_starts_are_named() {
        let boards = Boards::default();
        let board = boards.default_board().unwrap();
        let text = |all, mask| missing_text(board, "boot-fdt", all, mask);
        assert_eq!(text(5, 0b11111), None);
        assert_eq!(text(5, 0b111_1111), None);
        assert_eq!(
            text(8, 0b11111).unwrap(),
            "The board qemu-virt has up to 8 harts, and the boot-fdt names 5 of them: nothing starts harts 5, 6, 7."
        );
        assert!(text(2, 0b10).unwrap().ends_with("names 1 of them: nothing starts hart 0."));
        assert!(text(1, 0).unwrap().ends_with("names 0 of them: nothing starts hart 0."));
    }
}
