//! `hartlock verify`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use hartlock_bundle::Error;
use hartlock_bundle::describe::{Description, Key, hex};
use hartlock_bundle::first_stage::{FirstStageExpectation, is_first_stage};
use hartlock_bundle::plain::add_digests;
use hartlock_bundle::platform::Filling;
use hartlock_bundle::verify::{Expectation, verify_file, verify_padded_file};
use hartlock_image::{Algorithm, BundleType, Lifecycle, Name, Profile, Reason};
use hartlock_keys::PublicKey;
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::board::{self, Choice};
use crate::failure::{Failure, Outcome};
use crate::first_stage;
use crate::form::{Form, not_of_form};
use crate::output::{Output, Report};
use crate::page::Page;
use crate::progress::Progress;
use crate::project::{self, KeyHalf};
use crate::signer::class_keys;
use crate::style::{ERROR, GOOD, WARNING};
use crate::units::{count_text, size_text};
use crate::values;

/// Verify bundles and first-stage images
///
/// For a bundle, this checks every signature, the manifest, every byte of every payload, and, if the memory map
/// of the board is known, that each payload fits it. The public key of every signer must be given; of a first
/// stage, one of the given keys must be the signer's. A device also checks its board, SoC, lifecycle state and
/// minimum security version; options below check these.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Bundle or first-stage image, or `-` for standard input; of several files, each result is one line
    #[arg(value_name = "BUNDLE", required = true)]
    pub bundles: Vec<PathBuf>,
    /// Public key of a signer: a file, or a name from hartlock.toml; give one for every signer
    #[arg(short, long = "key", value_name = "KEY.pub.pem")]
    keys: Vec<PathBuf>,
    /// Signature scheme for RSA keys whose file does not state one; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    algorithms: Vec<Algorithm>,
    /// Fail unless the file has this form [default: detect it]
    #[arg(long, value_name = "FORM", value_parser = values::form())]
    form: Option<Form>,
    /// Fail unless the bundle has this type
    #[arg(long = "type", value_name = "TYPE", value_parser = values::bundle_type())]
    bundle_type: Option<BundleType>,
    /// Fail unless the bundle is for this board: a name, or a file that describes the board
    #[arg(long, value_name = "BOARD", value_parser = board::nameable(), hide_possible_values = true)]
    board: Option<Choice>,
    /// Fail unless the bundle is for this SoC
    #[arg(long, value_name = "NAME", value_parser = values::name)]
    soc: Option<Name>,
    /// Fail if the security version is below this minimum (anti-rollback)
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    floor: Option<u64>,
    /// Security version of the boot bundle on the device: fail if the system bundle needs a higher one
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    boot_version: Option<u64>,
    /// Fail unless the bundle may boot in this lifecycle state
    #[arg(long, value_name = "STATE", value_parser = values::lifecycle())]
    lifecycle: Option<Lifecycle>,
    /// Fail if the bundle uses an algorithm, hash or mode outside of this profile
    #[arg(long, value_name = "PROFILE", value_parser = values::profile())]
    profile: Option<Profile>,
    /// Accept bytes after the bundle if all of them are 0xff, or all 0, as in a dump of flash. Nothing signs them
    #[arg(long)]
    padded: bool,
    /// Show the digest of each payload as `sha384sum` prints it (or as `sha256sum` or `sha512sum`, if the payload
    /// is signed with that hash); this reads the payloads once more
    #[arg(long)]
    digests: bool,
    /// Class key with which encrypted payloads are decrypted, so that their content is checked, too; may be repeated
    #[arg(long, value_name = "CLASS.pem")]
    decrypt_with: Vec<PathBuf>,
    /// Accept payloads even if their content does not look like the payload type, but not what a device refuses
    #[arg(long)]
    force_type: bool,
    /// Maximum size of the code of a first stage, in bytes
    #[arg(long, value_name = "BYTES", help_heading = "First stage", value_parser = values::number::<u64>)]
    capacity: Option<u64>,
}

/// The bundle or image that was verified.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Verified {
    Bundle(Box<VerifiedBundle>),
    FirstStage(Box<first_stage::VerifiedFirstStage>),
}

impl Verified {
    /// Returns what is behind the bundle, and what was not compared because the board is not known, for the line of one
    /// of several files.
    fn remarks(&self) -> String {
        let Self::Bundle(verified) = self else { return String::new() };
        let mut text = String::new();
        if let Some(padding) = &verified.padding {
            text += &format!(" ({})", padding.text());
        }
        if !verified.checked.placement {
            text += &format!(
                " (load addresses not compared: the memory map of board {} is unknown)",
                terminal::text(&verified.manifest.board)
            );
        }
        text
    }
}

impl Report for Verified {
    fn text(&self) -> String {
        match self {
            Self::Bundle(verified) => verified.text(),
            Self::FirstStage(verified) => verified.text(),
        }
    }
}

/// A bundle that was verified.
#[derive(Debug, Serialize)]
pub struct VerifiedBundle {
    /// Path of the bundle; `None` if several files were verified, because the list of results has the path
    /// then.
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<PathBuf>,
    signed_by: Vec<VerifiedSigner>,
    /// What follows the bundle in the file; `None` if nothing does.
    padding: Option<Padding>,
    checked: BundleChecks,
    manifest: Description,
}

/// What follows the bundle in a dump of flash.
#[derive(Debug, Serialize)]
struct Padding {
    size: u64,
    byte: u8,
}

impl Padding {
    fn text(&self) -> String {
        let size = count_text(self.size, "byte", "bytes");
        format!("{size} of {:#04x} after the bundle, which nobody signed", self.byte)
    }
}

/// The results for several files.
#[derive(Debug, Serialize)]
pub struct Several {
    bundles: Vec<Judged>,
}

/// The result for one of several files.
#[derive(Debug, Serialize)]
struct Judged {
    bundle: PathBuf,
    outcome: Outcome,
    error: Option<Failure>,
    #[serde(flatten)]
    report: Option<Verified>,
}

impl Report for Several {
    fn text(&self) -> String {
        let mut page = Page::new();
        for Judged { bundle, error, report, .. } in &self.bundles {
            let bundle = terminal::path(bundle);
            let remarks = report.as_ref().map(Verified::remarks).unwrap_or_default();
            match error {
                None => page.line(format_args!("{GOOD}verified{GOOD:#}    {bundle}{remarks}")),
                Some(failure) if failure.outcome() == Outcome::Refused => page
                    .line(format_args!("{ERROR}refused{ERROR:#}     {bundle}: {}", failure.line())),
                Some(failure) => page.line(format_args!(
                    "{WARNING}undecided{WARNING:#}   {bundle}: {}",
                    failure.line()
                )),
            }
        }
        let good = self.bundles.iter().filter(|it| it.error.is_none()).count();
        page.line(format_args!("{good} of {} verified", self.bundles.len()));
        page.finish()
    }

    /// Returns the outcome for all files: refused if one of them was refused, else undecided if one of them
    /// was, else accepted.
    fn outcome(&self) -> Outcome {
        let has = |outcome| self.bundles.iter().any(|it| it.outcome == outcome);
        [Outcome::Refused, Outcome::Undecided]
            .into_iter()
            .find(|outcome| has(*outcome))
            .unwrap_or(Outcome::Accepted)
    }

    fn failure(&self) -> Option<Failure> {
        let is_it = |it: &&Judged| it.outcome == self.outcome();
        let failure = self.bundles.iter().find(is_it)?.error.clone()?;
        Some(failure)
    }
}

/// A signer whose signature was verified with a given key.
#[derive(Debug, Serialize)]
struct VerifiedSigner {
    #[serde(flatten)]
    key: Key,
    key_file: Option<PathBuf>,
}

/// The requirements of a device that were checked because the caller asked for it. A value that is `null` was
/// not checked.
#[derive(Debug, Serialize)]
struct BundleChecks {
    /// True if the load addresses were compared with the memory map of the board.
    placement: bool,
    /// True if payloads look like what they are for. What a device refuses was checked in any case.
    contents: bool,
    /// True if the content of encrypted payloads was checked, or there is none.
    decrypted: bool,
    #[serde(rename = "type")]
    bundle_type: Option<&'static str>,
    board: Option<String>,
    soc: Option<String>,
    floor: Option<u64>,
    boot_version: Option<u64>,
    lifecycle: Option<&'static str>,
    profile: Option<&'static str>,
}

impl VerifiedBundle {
    fn text(&self) -> String {
        let manifest = &self.manifest;
        let mut page = Page::new();
        let bundle = self.bundle.as_deref().unwrap_or(Path::new(""));
        page.line(format_args!("{GOOD}verified{GOOD:#}    {}", terminal::path(bundle)));
        let mut row = |name: &str, text: &str| {
            page.write_indented(&format!("{name:<12}"), text, Style::new());
        };
        for VerifiedSigner { key, key_file } in &self.signed_by {
            let file = key_file.as_ref().map(|file| format!(" ({})", terminal::path(file)));
            let file = file.unwrap_or_default();
            row("signed by", &format!("{} {}…{file}", key.algorithm, key.short_id()));
            if let Some(place) = key.published {
                row(
                    "warning",
                    &format!("everybody has this key: its private half is printed in {place}"),
                );
            }
        }
        row(
            "contents",
            &format!(
                "{} bundle for {} ({}), security version {}, {}",
                manifest.bundle_type,
                manifest.board,
                manifest.soc,
                manifest.security_version,
                manifest.lifecycle.join(", ")
            ),
        );
        let payloads: Vec<_> = manifest
            .payloads
            .iter()
            .map(|payload| format!("{} ({})", payload.payload_type, size_text(payload.size)))
            .collect();
        row("payloads", &payloads.join(", "));
        for payload in &manifest.payloads {
            let Some(plain) = &payload.plain else { continue };
            row("digest", &format!("{}  {} ({})", plain.digest, payload.payload_type, plain.tool));
        }
        let (asked, mut unchecked) = self.checked.texts();
        let mut checked: Vec<_> =
            ["signatures", "manifest", "payload digests", "padding"].map(str::to_string).into();
        if self.checked.placement {
            checked.push("load addresses".to_string());
        }
        if self.checked.contents {
            checked.push("payload contents".to_string());
        } else {
            unchecked.push("what payloads look like (`--force-type`)");
        }
        checked.extend(asked);
        row("checked", &checked.join(", "));
        if manifest.payloads.iter().any(|it| it.encryption.is_some()) && !self.checked.decrypted {
            unchecked.push("what is encrypted (`--decrypt-with`)");
        }
        unchecked.push("what only a device knows: root keys, revoked keys, what payloads do");
        row("not checked", &unchecked.join(", "));
        if let Some(padding) = &self.padding {
            row("padding", &padding.text());
        }
        if !self.checked.placement {
            row(
                "unknown",
                &format!(
                    "the memory map of board {}: load addresses were not compared with it",
                    manifest.board
                ),
            );
        }
        page.finish()
    }
}

impl BundleChecks {
    /// Returns the checked requirements with their values, and the names of those that were not checked.
    fn texts(&self) -> (Vec<String>, Vec<&'static str>) {
        let items = [
            ("type", self.bundle_type.map(str::to_string)),
            ("board", self.board.clone()),
            ("SoC", self.soc.clone()),
            ("floor", self.floor.map(|floor| floor.to_string())),
            ("boot version", self.boot_version.map(|version| version.to_string())),
            ("lifecycle", self.lifecycle.map(str::to_string)),
        ];
        let mut asked = Vec::new();
        let mut unchecked = Vec::new();
        for (name, value) in items {
            match value {
                Some(value) => asked.push(format!("{name} {value}")),
                None => unchecked.push(name),
            }
        }
        // Devices do not check profiles, so a profile that was not requested is not listed as unchecked.
        asked.extend(self.profile.map(|profile| format!("profile {profile}")));
        (asked, unchecked)
    }
}

/// Returns the requirements for each bundle.
fn expectation(args: &VerifyArgs, key_files: &[PathBuf]) -> Result<Expectation, Failure> {
    if key_files.len() > Expectation::MAX_KEYS {
        return Err(Failure::undecided(
            format!("{} keys are given", key_files.len()),
            format!("give at most {}: a bundle has at most four signers", Expectation::MAX_KEYS),
        ));
    }
    let read = |path: &PathBuf| PublicKey::read_for(path, &args.algorithms);
    let keys = key_files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let used: Vec<_> = keys.iter().map(PublicKey::algorithm).collect();
    values::check_algorithms(&args.algorithms, &used)?;
    let boards = board::boards(args.board.as_ref().and_then(Choice::file))?;
    let board = match &args.board {
        None => None,
        Some(Choice::Name(name)) => Name::new(name),
        // The board of the description is the first one, because the boards that were read last come first.
        Some(Choice::File(_)) => boards.maps().first().and_then(|map| Name::new(map.name)),
    };
    Ok(Expectation {
        keys,
        bundle_type: args.bundle_type,
        board,
        soc: args.soc,
        floor: args.floor,
        boot_version: args.boot_version,
        lifecycle: args.lifecycle,
        profile: args.profile,
        boards,
        contents: true,
        class_keys: class_keys(&args.decrypt_with)?,
        is_any_type: args.force_type,
    })
}

/// Verifies the files.
pub fn run(args: &VerifyArgs, output: &Output) -> ExitCode {
    let keys = project::keys(&args.keys, KeyHalf::Public, "--key");
    let prepared = keys.and_then(|keys| Ok((expectation(args, &keys)?, keys)));
    let (expectation, keys) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return output.finish::<Verified>("verify", Err(failure)),
    };
    match args.bundles.as_slice() {
        [bundle] => output.finish("verify", one(args, &expectation, &keys, bundle)),
        bundles => {
            let results = bundles.iter().map(|bundle| {
                let result = one(args, &expectation, &keys, bundle);
                let outcome = result.as_ref().map_or_else(Failure::outcome, Report::outcome);
                let (report, error) = match result {
                    Ok(report) => (Some(report), None),
                    Err(failure) => (None, Some(failure)),
                };
                Judged { bundle: bundle.clone(), outcome, error, report }
            });
            output.finish("verify", Ok(Several { bundles: results.collect() }))
        }
    }
}

/// Verifies one file.
fn one(
    args: &VerifyArgs,
    expectation: &Expectation,
    key_files: &[PathBuf],
    bundle: &Path,
) -> Result<Verified, Failure> {
    let is_first_stage = match args.form {
        Some(form) => form == Form::FirstStage,
        // If a type of bundle is required, the file is verified as a bundle. The refusal says that it is a
        // first stage.
        None => args.bundle_type.is_none() && is_first_stage(bundle),
    };
    if is_first_stage {
        return one_first_stage(args, expectation, key_files, bundle);
    }
    if args.capacity.is_some() {
        return Err(not_of_form("--capacity", Form::Bundle));
    }
    let mut progress = Progress::new("verifying");
    let mut show = |done, total| progress.show(done, total);
    let result = match args.padded {
        true => verify_padded_file(bundle, expectation, &mut show),
        false => verify_file(bundle, expectation, &mut show).map(|manifest| (manifest, None)),
    };
    drop(progress);
    let (mut manifest, filling) = result.map_err(|error| refusal(error, args, bundle))?;
    if args.digests {
        add_digests(bundle, &mut manifest)?;
    }

    let key_ids: Vec<_> = expectation.keys.iter().map(|key| hex(&key.key_id())).collect();
    let key_file = |key_id: &String| {
        key_ids.iter().position(|given| given == key_id).and_then(|at| key_files.get(at)).cloned()
    };
    let signed_by = manifest
        .signers
        .iter()
        .map(|signer| VerifiedSigner { key: signer.clone(), key_file: key_file(&signer.key_id) })
        .collect();
    Ok(Verified::Bundle(Box::new(VerifiedBundle {
        bundle: (args.bundles.len() == 1).then(|| bundle.to_path_buf()),
        signed_by,
        padding: filling.map(|Filling { size, byte }| Padding { size, byte }),
        checked: BundleChecks {
            placement: expectation.boards.by_name(&manifest.board).is_some(),
            contents: !args.force_type,
            decrypted: !expectation.class_keys.is_empty()
                || manifest.payloads.iter().all(|it| it.encryption.is_none()),
            bundle_type: args.bundle_type.map(BundleType::name),
            board: expectation.board.map(|name| name.as_str().to_string()),
            soc: args.soc.map(|name| name.as_str().to_string()),
            floor: args.floor,
            boot_version: args.boot_version,
            lifecycle: args.lifecycle.map(Lifecycle::name),
            profile: args.profile.map(Profile::name),
        },
        manifest,
    })))
}

/// Returns the failure for a refusal, with advice for a dump of flash.
fn refusal(error: Error, args: &VerifyArgs, bundle: &Path) -> Failure {
    let is_longer =
        matches!(&error, Error::Refused(refusal) if refusal.reason == Reason::TrailingBytes);
    let failure = Failure::from(error).with_path(bundle);
    match (is_longer, args.padded) {
        (false, _) => failure,
        (true, false) => failure.with_hint(
            "remove the bytes after the end of the bundle; if they only fill a dump of flash, add `--padded`",
        ),
        (true, true) => failure.with_hint(
            "remove the bytes after the end of the bundle: they are neither all 0xff nor all 0",
        ),
    }
}

/// Verifies one first-stage image.
fn one_first_stage(
    args: &VerifyArgs,
    expectation: &Expectation,
    key_files: &[PathBuf],
    image: &Path,
) -> Result<Verified, Failure> {
    let given = |is_given: bool, option| is_given.then_some(option);
    let other = [
        given(args.bundle_type.is_some(), "--type"),
        given(args.boot_version.is_some(), "--boot-version"),
        given(args.profile.is_some(), "--profile"),
        given(args.digests, "--digests"),
        given(args.padded, "--padded"),
        given(!args.decrypt_with.is_empty(), "--decrypt-with"),
    ];
    if let Some(option) = other.into_iter().flatten().next() {
        return Err(not_of_form(option, Form::FirstStage));
    }
    let expectation = FirstStageExpectation {
        keys: expectation.keys.clone(),
        board: expectation.board,
        soc: expectation.soc,
        floor: expectation.floor,
        lifecycle: expectation.lifecycle,
        capacity: args.capacity,
    };
    first_stage::verify(image, &expectation, key_files, args.bundles.len() == 1)
        .map(|verified| Verified::FirstStage(Box::new(verified)))
}
