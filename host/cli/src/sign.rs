//! `hartlock sign`

use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::spec::{BundleSpec, IdentitySpec, PayloadSpec, TrustSpec, created};
use hartlock_image::{Algorithm, BundleType, HashId, Lifecycle, PayloadType, Policy, Profile};
use serde::Serialize;

use crate::failure::Failure;
use crate::first_stage::{self, FirstStageArgs};
use crate::form::{Form, not_of_form};
use crate::output::Report;
use crate::project::Project;
use crate::signer::{self, Signer};
use crate::{board, installation, values};

/// Build and sign a bundle or a first-stage image
///
/// A bundle is described by a file such as bundle.toml, by options, or by both; options take precedence. A
/// first-stage image is code that hardware verifies before a core runs; it is described by options only.
#[derive(Debug, clap::Args)]
pub struct SignArgs {
    #[command(flatten)]
    pub signer: Signer,
    #[command(flatten)]
    pub what: BundleArgs,
}

/// The bundle that is signed.
#[derive(Debug, clap::Args)]
pub struct BundleArgs {
    /// File that describes the bundle (see below)
    #[arg(value_name = "BUNDLE.toml")]
    spec: Option<PathBuf>,

    /// Form of the signed file [default: bundle]
    #[arg(long, value_name = "FORM", value_parser = values::form())]
    form: Option<Form>,
    #[command(flatten)]
    pub first_stage: FirstStageArgs,
    /// Type of the bundle: boot (OpenSBI and loader) or system (Linux)
    #[arg(long = "type", value_name = "TYPE", value_parser = values::bundle_type())]
    bundle_type: Option<BundleType>,
    /// Board that may boot it: a known name, or a file that describes the board [default: qemu-virt]
    #[arg(long, value_name = "BOARD", value_parser = board::any(), hide_possible_values = true)]
    board: Option<String>,
    /// SoC that may boot it [default: the SoC of the board, or virt]
    #[arg(long, value_name = "NAME")]
    soc: Option<String>,
    /// Another board and SoC that may boot it; may be repeated
    #[arg(long, value_name = "BOARD,SOC", value_parser = values::device)]
    also_for: Vec<IdentitySpec>,
    /// Free text for readers, such as the name of a release
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Security version: a device refuses versions below its minimum (anti-rollback)
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    security_version: Option<u64>,
    /// Lifecycle state in which it may boot; may be repeated [default: development, production]
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = values::lifecycle())]
    lifecycle: Option<Vec<Lifecycle>>,
    /// Hash algorithm for payloads that do not name one [default: sha384]
    #[arg(long, value_name = "HASH", value_parser = values::hash())]
    hash: Option<HashId>,
    /// Block size, in bytes, for payloads that are hashed in blocks [default: 81920]
    #[arg(long, value_name = "BYTES", value_parser = values::number::<u32>)]
    block_size: Option<u32>,

    /// Allow only algorithms, hashes and modes of this profile
    #[arg(long, value_name = "PROFILE", value_parser = values::profile())]
    profile: Option<Profile>,

    #[command(flatten)]
    payloads: PayloadArgs,

    /// Minimum security version of the boot bundle that loads it
    #[arg(long, value_name = "N", help_heading = "System bundle", value_parser = values::number::<u64>)]
    min_boot_version: Option<u64>,
    /// Kernel command line
    #[arg(long, value_name = "TEXT", help_heading = "System bundle")]
    bootargs: Option<String>,
    /// Public key that may sign the system bundle; may be repeated
    #[arg(long = "trust", value_name = "KEY.pub.pem", help_heading = "Boot bundle")]
    trusted_keys: Vec<PathBuf>,
    /// Which of the `--trust` keys must sign the system bundle [default: any]
    #[arg(
        long, value_name = "POLICY", help_heading = "Boot bundle",
        requires = "trusted_keys", value_parser = values::policy()
    )]
    trust_policy: Option<Policy>,
}

/// Files of payloads. Each may be a pipe, and one of them `-`.
#[derive(Debug, clap::Args)]
pub struct PayloadArgs {
    /// OpenSBI as fw_dynamic.bin
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    opensbi: Option<PathBuf>,
    /// Hartlock loader, as a flat binary
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    loader: Option<PathBuf>,
    /// Device tree for OpenSBI
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    boot_fdt: Option<PathBuf>,
    /// Linux kernel, as an uncompressed Image
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    kernel: Option<PathBuf>,
    /// Initial RAM file system (initramfs)
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    initramfs: Option<PathBuf>,
    /// Device tree for Linux
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    system_fdt: Option<PathBuf>,
    /// Encrypt the payloads for the devices that have this class key
    #[arg(long, value_name = "CLASS.pem", help_heading = "System bundle")]
    pub encrypt: Option<PathBuf>,
}

impl PayloadArgs {
    /// Returns the names of the payload options that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            (&self.opensbi, "--opensbi"),
            (&self.loader, "--loader"),
            (&self.boot_fdt, "--boot-fdt"),
            (&self.kernel, "--kernel"),
            (&self.initramfs, "--initramfs"),
            (&self.system_fdt, "--system-fdt"),
        ]
        .into_iter()
        .filter_map(|(file, name)| file.as_ref().map(|_| name))
    }

    /// Returns the files that were given.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [
            &self.opensbi,
            &self.loader,
            &self.boot_fdt,
            &self.kernel,
            &self.initramfs,
            &self.system_fdt,
        ]
        .into_iter()
        .filter_map(Option::as_deref)
    }

    pub fn specs(&self) -> Vec<PayloadSpec> {
        [
            (PayloadType::Opensbi, &self.opensbi),
            (PayloadType::Loader, &self.loader),
            (PayloadType::BootFdt, &self.boot_fdt),
            (PayloadType::Kernel, &self.kernel),
            (PayloadType::Initramfs, &self.initramfs),
            (PayloadType::SystemFdt, &self.system_fdt),
        ]
        .into_iter()
        .filter_map(|(payload_type, file)| Some(PayloadSpec::new(payload_type, file.clone()?)))
        .collect()
    }
}

impl BundleArgs {
    /// Returns the files whose bytes are signed.
    pub fn payload_files(&self) -> Vec<&Path> {
        self.payloads.files().chain(self.first_stage.code.as_deref()).collect()
    }

    /// Returns the name of a given option that this form does not support.
    fn of_other_form(&self, form: Form, algorithms: &[Algorithm]) -> Option<&'static str> {
        if form == Form::Bundle {
            return self.first_stage.given().next();
        }
        let given = |is_given: bool, option| is_given.then_some(option);
        [
            given(self.spec.is_some(), "BUNDLE.toml"),
            given(self.bundle_type.is_some(), "--type"),
            given(!self.also_for.is_empty(), "--also-for"),
            given(self.label.is_some(), "--label"),
            given(self.hash.is_some(), "--hash"),
            given(self.block_size.is_some(), "--block-size"),
            given(self.profile.is_some(), "--profile"),
            given(self.min_boot_version.is_some(), "--min-boot-version"),
            given(self.bootargs.is_some(), "--bootargs"),
            given(self.payloads.encrypt.is_some(), "--encrypt"),
            given(!self.trusted_keys.is_empty(), "--trust"),
            given(!algorithms.is_empty(), "--algorithm"),
        ]
        .into_iter()
        .flatten()
        .chain(self.payloads.given())
        .next()
    }

    /// Returns the settings that the options state.
    fn flags(&self, algorithms: &[Algorithm]) -> BundleSpec {
        let trust = (!self.trusted_keys.is_empty()).then(|| TrustSpec {
            policy: self.trust_policy.unwrap_or(Policy::Any),
            keys: self.trusted_keys.clone(),
            algorithms: algorithms.to_vec(),
            records: Vec::new(),
        });
        BundleSpec {
            bundle_type: self.bundle_type,
            board: self.board.clone(),
            soc: self.soc.clone(),
            also_for: self.also_for.clone(),
            label: self.label.clone(),
            security_version: self.security_version,
            min_boot_version: self.min_boot_version,
            lifecycle: self.lifecycle.clone(),
            bootargs: self.bootargs.clone(),
            hash: self.hash,
            block_size: self.block_size,
            encrypt: self.payloads.encrypt.clone(),
            profile: self.profile,
            payloads: self.payloads.specs(),
            trust,
        }
    }
}

/// The bundle or image that was signed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Signed {
    Bundle(signer::BuiltBundle),
    FirstStage(first_stage::BuiltFirstStage),
}

impl Report for Signed {
    fn text(&self) -> String {
        match self {
            Self::Bundle(built) => built.text(),
            Self::FirstStage(built) => built.text(),
        }
    }
}

/// The description of what is signed, from all files that say something about it.
pub struct Described {
    pub form: Form,
    pub spec: BundleSpec,
    pub boards: Boards,
    /// Files that were read.
    pub read: Vec<PathBuf>,
}

/// Reads the description of what is signed.
pub fn describe(what: &BundleArgs, algorithms: &[Algorithm]) -> Result<Described, Failure> {
    let form = what.form.unwrap_or(Form::Bundle);
    if let Some(option) = what.of_other_form(form, algorithms) {
        return Err(not_of_form(option, form));
    }
    let spec = match &what.spec {
        Some(path) => BundleSpec::read(path)?.overridden_by(what.flags(algorithms)),
        None => what.flags(algorithms),
    };
    let mut spec = match Project::find()? {
        Some(project) if spec.board.is_none() && project.board().is_some() => {
            project.say("board and SoC");
            BundleSpec { board: project.board(), soc: spec.soc.or(project.soc()), ..spec }
        }
        _ => spec,
    };
    let mut boards = Boards::default();
    let mut read = what.spec.as_slice().to_vec();
    read.extend(spec.find_board(&mut boards)?);
    if form == Form::Bundle {
        installation::complete(&mut spec, &boards);
    }
    Ok(Described { form, spec, boards, read })
}

/// Builds and signs the bundle or the first-stage image.
pub fn run(args: &SignArgs) -> Result<Signed, Failure> {
    let Described { form, spec, boards, read } = describe(&args.what, &args.signer.algorithms)?;
    if form == Form::FirstStage {
        let built = first_stage::sign(&args.what.first_stage, &args.signer, &spec, &boards, &read)?;
        return Ok(Signed::FirstStage(built));
    }
    let created = created(std::env::var_os("SOURCE_DATE_EPOCH").as_deref()).map_err(Error::from)?;
    Ok(Signed::Bundle(args.signer.sign(&spec, &boards, created, &read)?))
}
