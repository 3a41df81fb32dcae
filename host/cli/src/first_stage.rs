//! Signs and verifies first-stage images, for `hartlock sign` and `hartlock verify`.

use std::path::{Path, PathBuf};

use anstyle::Style;
use hartlock_boards::Boards;
use hartlock_bundle::build::OutputForm;
use hartlock_bundle::first_stage::{
    FirstStageBuild, FirstStageDescription, FirstStageExpectation, verify_first_stage,
};
use hartlock_bundle::spec::BundleSpec;
use hartlock_keys::{PublicKey, refuse_published};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::inspect::write_facts;
use crate::output::Report;
use crate::page::Page;
use crate::progress::Progress;
use crate::signer::{SignaturesLeft, Signer, leaves_the_workshop, left_text};
use crate::style::GOOD;
use crate::units::size_text;

/// What only a first stage has.
#[derive(Debug, clap::Args)]
pub struct FirstStageArgs {
    /// Code that the core starts, as a flat binary
    #[arg(long, value_name = "FILE", help_heading = "First stage")]
    pub code: Option<PathBuf>,
    /// Public key with which this stage verifies the next stage
    #[arg(long, value_name = "KEY.pub.pem", help_heading = "First stage")]
    pub next_key: Option<PathBuf>,
}

impl FirstStageArgs {
    /// Returns the names of the options of this group that were given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let code = self.code.as_ref().map(|_| "--code");
        code.into_iter().chain(self.next_key.as_ref().map(|_| "--next-key"))
    }
}

/// The image that was built. It was verified after it was written.
#[derive(Debug, Serialize)]
pub struct BuiltFirstStage {
    /// Path of the image; `None` if nothing was written.
    image: Option<PathBuf>,
    first_stage: FirstStageDescription,
    signatures_left: Vec<SignaturesLeft>,
}

impl Report for BuiltFirstStage {
    fn text(&self) -> String {
        let done = match &self.image {
            Some(image) => {
                format!("{GOOD}signed{GOOD:#}  {}, and verified again", terminal::path(image))
            }
            None => "dry run: nothing was signed or written; this would be signed".to_string(),
        };
        let mut page = Page::new();
        write_facts(&mut page, &self.first_stage);
        let mut text = format!("{done}\n\n{}", page.finish());
        self.signatures_left.iter().for_each(|left| text += &left_text(left));
        text
    }
}

/// The parts of a first stage, apart from its signer.
pub struct Parts<'a> {
    code: &'a Path,
    board: &'a str,
    soc: &'a str,
    security_version: u64,
    next_key: Option<PublicKey>,
}

impl<'a> Parts<'a> {
    /// Finds the parts. `spec` has the settings that bundles have too.
    pub fn new(
        args: &'a FirstStageArgs,
        spec: &'a BundleSpec,
        boards: &'a Boards,
    ) -> Result<Self, Failure> {
        let code = args.code.as_ref().ok_or_else(|| {
            Failure::undecided(
                "no code is given",
                "give the flat binary that the core starts with `--code`",
            )
        })?;
        let board = spec
            .board
            .as_deref()
            .ok_or_else(|| Failure::undecided("no board is given", "give one with `--board`"))?;
        let security_version = spec.security_version.ok_or_else(|| {
            Failure::undecided("no security version is given", "give one with `--security-version`")
        })?;
        let known = boards.by_name(board).map(|it| it.description.soc.as_str());
        let soc = spec.soc.as_deref().or(known).ok_or_else(|| {
            Failure::undecided(
                format!("the SoC of board {board} is not known"),
                "give it with `--soc`",
            )
        })?;
        let next_key =
            args.next_key.as_ref().map(|path| PublicKey::read_for(path, &[])).transpose()?;
        if let (Some(path), Some(key), true) =
            (&args.next_key, &next_key, leaves_the_workshop(spec.lifecycle.as_deref()))
        {
            refuse_published(path, &key.record())?;
        }
        Ok(Self { code, board, soc, security_version, next_key })
    }

    /// Returns the build of an image for the only signer of `keys`.
    pub fn build(
        &'a self,
        keys: &[&'a dyn hartlock_keys::Signer],
        spec: &'a BundleSpec,
        (output, inputs): (&'a Path, &'a [PathBuf]),
    ) -> Result<FirstStageBuild<'a>, Failure> {
        let [key] = *keys else {
            return Err(Failure::undecided(
                format!("{} keys are given", keys.len()),
                "a first stage has one signer: give one key",
            ));
        };
        Ok(FirstStageBuild {
            code: self.code,
            key,
            board: self.board,
            soc: self.soc,
            security_version: self.security_version,
            lifecycle: spec.lifecycle.as_deref(),
            next_key: self.next_key.as_ref(),
            output,
            inputs,
            is_forced: false,
            is_any_type: false,
            ending: OutputForm::Signed,
        })
    }
}

/// Builds the image. `spec` has the settings that bundles have too; `read` lists the other files that the
/// caller read.
pub fn sign(
    args: &FirstStageArgs,
    signer: &Signer,
    spec: &BundleSpec,
    boards: &Boards,
    read: &[PathBuf],
) -> Result<BuiltFirstStage, Failure> {
    let parts = Parts::new(args, spec, boards)?;
    let inputs: Vec<_> = read.iter().chain(&args.next_key).cloned().collect();
    let opened = signer.open(&inputs)?;
    if leaves_the_workshop(spec.lifecycle.as_deref()) {
        opened.refuse_published()?;
    }
    let output = signer.output_or_nowhere();
    let build = FirstStageBuild {
        is_forced: signer.force,
        is_any_type: signer.force_type,
        ending: signer.ending(),
        ..parts.build(&opened.signers(), spec, (&output, &opened.inputs))?
    };
    let mut leaves = Progress::of_leaves("growing trees");
    let result = build.run(&mut |done, total| leaves.show(done, total));
    drop(leaves);
    let signatures_left = opened.left(signer.dry_run);
    Ok(BuiltFirstStage { image: signer.written(), first_stage: result?, signatures_left })
}

/// The image that was verified.
#[derive(Debug, Serialize)]
pub struct VerifiedFirstStage {
    /// Path of the image; `None` if several files were verified, because the list of results has the path
    /// then.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<PathBuf>,
    /// File of the `--key` with which the signature was verified.
    key_file: Option<PathBuf>,
    checked: FirstStageChecks,
    first_stage: FirstStageDescription,
}

/// The requirements of hardware that were checked because the caller asked for it. A value that is `null` was
/// not checked.
#[derive(Debug, Serialize)]
struct FirstStageChecks {
    board: Option<String>,
    soc: Option<String>,
    floor: Option<u64>,
    lifecycle: Option<&'static str>,
    capacity: Option<u64>,
}

impl VerifiedFirstStage {
    pub fn text(&self) -> String {
        let mut page = Page::new();
        let image = self.image.as_deref().unwrap_or(Path::new(""));
        page.line(format_args!("{GOOD}verified{GOOD:#}    {}", terminal::path(image)));
        let mut row = |name: &str, text: &str| {
            page.write_indented(&format!("{name:<12}"), text, Style::new());
        };
        let FirstStageDescription { signer, board, soc, security_version, lifecycle, .. } =
            &self.first_stage;
        let file = self.key_file.as_ref().map(|file| format!(" ({})", terminal::path(file)));
        let digest = signer.key_digest.get(..16).unwrap_or_default();
        let file = file.unwrap_or_default();
        row("signed by", &format!("{} {digest}…{file}", signer.algorithm));
        row(
            "contents",
            &format!(
                "first stage for {board} ({soc}), security version {security_version}, {}",
                lifecycle.join(", ")
            ),
        );
        if let Some(next) = &self.first_stage.next_key {
            let digest = next.key_digest.get(..16).unwrap_or_default();
            row("next stage", &format!("signed with {} {digest}…", next.algorithm));
        }
        let size = size_text(self.first_stage.code_size);
        row("code", &format!("{size}, SHA-256 {}", self.first_stage.code_digest));
        let items = [
            ("board", self.checked.board.clone()),
            ("SoC", self.checked.soc.clone()),
            ("floor", self.checked.floor.map(|it| it.to_string())),
            ("lifecycle", self.checked.lifecycle.map(str::to_string)),
            ("capacity", self.checked.capacity.map(|it| it.to_string())),
        ];
        let mut checked: Vec<_> = ["key", "signature", "header"].map(str::to_string).into();
        let mut unchecked = Vec::new();
        for (name, value) in items {
            match value {
                Some(value) => checked.push(format!("{name} {value}")),
                None => unchecked.push(name),
            }
        }
        row("checked", &checked.join(", "));
        if !unchecked.is_empty() {
            row("not checked", &unchecked.join(", "));
        }
        page.finish()
    }
}

/// Verifies one image. The report has its path if `is_only`.
pub fn verify(
    path: &Path,
    expectation: &FirstStageExpectation,
    key_files: &[PathBuf],
    is_only: bool,
) -> Result<VerifiedFirstStage, Failure> {
    let verified = verify_first_stage(path, expectation);
    let first_stage = verified.map_err(|error| Failure::from(error).with_path(path))?;
    let is_signer = |key: &PublicKey| {
        let digest = hartlock_bundle::first_stage::FirstStageKey::of(key).map(|key| key.digest);
        digest.is_some_and(|digest| {
            hartlock_bundle::describe::hex(&digest) == first_stage.signer.key_digest
        })
    };
    let at = expectation.keys.iter().position(is_signer);
    Ok(VerifiedFirstStage {
        image: is_only.then(|| path.to_path_buf()),
        key_file: at.and_then(|at| key_files.get(at)).cloned(),
        checked: FirstStageChecks {
            board: expectation.board.map(|name| name.as_str().to_string()),
            soc: expectation.soc.map(|name| name.as_str().to_string()),
            floor: expectation.floor,
            lifecycle: expectation.lifecycle.map(hartlock_image::Lifecycle::name),
            capacity: expectation.capacity,
        },
        first_stage,
    })
}
