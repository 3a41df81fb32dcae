//! `hartlock sign`

use std::path::PathBuf;

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::spec::{BundleSpec, IdentitySpec, PayloadSpec, TrustSpec, created};
use hartlock_image::{BundleType, HashId, Lifecycle, PayloadType, Policy, Profile};

use crate::failure::Failure;
use crate::project::Project;
use crate::signer::{Built, Signer};
use crate::{board, values};

/// Build and sign a bundle
///
/// What it shall be comes from a bundle.toml, from flags, or from both; flags win.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Description of the bundle (see below)
    #[arg(value_name = "BUNDLE.toml")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    signer: Signer,

    /// What the bundle is for
    #[arg(long = "type", value_name = "TYPE", value_parser = values::bundle_type())]
    bundle_type: Option<BundleType>,
    /// Board that it is for, or the file of its description [default: qemu-virt]
    #[arg(long, value_name = "BOARD", value_parser = board::any(), hide_possible_values = true)]
    board: Option<String>,
    /// SoC that it is for [default: that of the board, or virt]
    #[arg(long, value_name = "NAME")]
    soc: Option<String>,
    /// Further device that it is for; repeats
    #[arg(long, value_name = "BOARD,SOC", value_parser = values::device)]
    also_for: Vec<IdentitySpec>,
    /// Text for people
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Anti-rollback counter
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    security_version: Option<u64>,
    /// State in which it may boot; repeats [default: development, production]
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = values::lifecycle())]
    lifecycle: Option<Vec<Lifecycle>>,
    /// Hash of all payloads that do not name one [default: sha384]
    #[arg(long, value_name = "HASH", value_parser = values::hash())]
    hash: Option<HashId>,
    /// Bytes of a block of payloads in blocks [default: 81920]
    #[arg(long, value_name = "BYTES", value_parser = values::number::<u32>)]
    block_size: Option<u32>,

    /// Sign only with algorithms, hashes and modes of this profile
    #[arg(long, value_name = "PROFILE", value_parser = values::profile())]
    profile: Option<Profile>,

    #[command(flatten)]
    payloads: PayloadArgs,

    /// Lowest security version of the boot bundle with which it boots
    #[arg(long, value_name = "N", help_heading = "System bundle", value_parser = values::number::<u64>)]
    min_boot_version: Option<u64>,
    /// Kernel command line
    #[arg(long, value_name = "TEXT", help_heading = "System bundle")]
    bootargs: Option<String>,
    /// Public key of who may sign the system bundle; repeats
    #[arg(long = "trust", value_name = "KEY.pub.pem", help_heading = "Boot bundle")]
    trusted_keys: Vec<PathBuf>,
    /// Which set of these must sign it [default: any]
    #[arg(
        long, value_name = "POLICY", help_heading = "Boot bundle",
        requires = "trusted_keys", value_parser = values::policy()
    )]
    trust_policy: Option<Policy>,
}

/// Files of payloads.
#[derive(Debug, clap::Args)]
pub struct PayloadArgs {
    /// OpenSBI fw_dynamic
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    opensbi: Option<PathBuf>,
    /// Hartlock loader
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    loader: Option<PathBuf>,
    /// Device tree for OpenSBI
    #[arg(long, value_name = "FILE", help_heading = "Boot bundle")]
    boot_fdt: Option<PathBuf>,
    /// Linux image
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    kernel: Option<PathBuf>,
    /// Initial RAM file system
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    initramfs: Option<PathBuf>,
    /// Device tree for Linux
    #[arg(long, value_name = "FILE", help_heading = "System bundle")]
    system_fdt: Option<PathBuf>,
}

impl PayloadArgs {
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

impl Args {
    /// What the flags alone say.
    fn flags(&self) -> BundleSpec {
        let trust = (!self.trusted_keys.is_empty()).then(|| TrustSpec {
            policy: self.trust_policy.unwrap_or(Policy::Any),
            keys: self.trusted_keys.clone(),
            algorithms: self.signer.algorithms.clone(),
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
            profile: self.profile,
            payloads: self.payloads.specs(),
            trust,
        }
    }
}

/// Builds the bundle.
pub fn run(args: &Args) -> Result<Built, Failure> {
    let spec = match &args.spec {
        Some(path) => BundleSpec::read(path)?.overridden_by(args.flags()),
        None => args.flags(),
    };
    let mut spec = match Project::find()? {
        Some(project) if spec.board.is_none() && project.board().is_some() => {
            project.say("its board and SoC");
            BundleSpec { board: project.board(), soc: spec.soc.or(project.soc()), ..spec }
        }
        _ => spec,
    };
    let created = created(std::env::var_os("SOURCE_DATE_EPOCH").as_deref()).map_err(Error::from)?;
    let mut boards = Boards::default();
    let mut read = args.spec.as_slice().to_vec();
    read.extend(spec.find_board(&mut boards)?);
    args.signer.sign(&spec, &boards, created, &read)
}
