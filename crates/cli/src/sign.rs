//! `hartlock sign`

use std::path::{Path, PathBuf};

use hartlock_bundle::Error;
use hartlock_bundle::build::{Build, loader_statement};
use hartlock_bundle::describe::Description;
use hartlock_bundle::spec::{BundleSpec, IdentitySpec, PayloadSpec, TrustSpec, created};
use hartlock_image::{Algorithm, BundleType, HashId, Lifecycle, PayloadType, Policy, Profile};
use hartlock_keys::{PrivateKey, ReadOptions};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::inspect::manifest_text;
use crate::output::{Report, talk};
use crate::progress::Progress;
use crate::style::{GOOD, WARNING};
use crate::units::{count_text, size_text};
use crate::{passphrase, values};

/// Build and sign a bundle
///
/// What it shall be comes from a bundle.toml, from flags, or from both; flags win.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Description of the bundle (see below)
    #[arg(value_name = "BUNDLE.toml")]
    spec: Option<PathBuf>,
    /// Private key of a signer; up to four, in this order
    #[arg(short, long = "key", value_name = "KEY.pem", required = true)]
    keys: Vec<PathBuf>,
    /// How RSA keys of a size sign whose files do not say it; repeats
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithm)]
    algorithms: Vec<Algorithm>,
    #[command(flatten)]
    passphrase: passphrase::Source,
    /// Sign even if a key that counts its signatures is on a file system that is not known to keep it, such
    /// as the overlay of a container. You promise that there is one file, and that no copy signs
    #[arg(long)]
    any_file_system: bool,
    /// File of the bundle
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file of the bundle, whatever it holds; never a private key or an input
    #[arg(long)]
    force: bool,

    /// Sign payload files that look like something else than what they shall be
    #[arg(long)]
    force_type: bool,

    /// What the bundle is for
    #[arg(long = "type", value_name = "TYPE", value_parser = values::bundle_type())]
    bundle_type: Option<BundleType>,
    /// Board that it is for [default: qemu-virt]
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// SoC that it is for [default: virt]
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
struct PayloadArgs {
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
    fn specs(&self) -> Vec<PayloadSpec> {
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
    /// What is read beside payloads and trusted keys.
    fn inputs(&self) -> Vec<PathBuf> {
        self.keys.iter().chain(&self.spec).chain(self.passphrase.file()).cloned().collect()
    }

    /// What the flags alone say.
    fn flags(&self) -> BundleSpec {
        let trust = (!self.trusted_keys.is_empty()).then(|| TrustSpec {
            policy: self.trust_policy.unwrap_or(Policy::Any),
            keys: self.trusted_keys.clone(),
            algorithms: self.algorithms.clone(),
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

/// The bundle that was built. It was verified after it was written.
#[derive(Debug, Serialize)]
pub struct Built {
    bundle: PathBuf,
    manifest: Description,
    signatures_left: Vec<Left>,
    /// What may not be as it was meant, a sentence each.
    notes: Vec<String>,
}

/// A key that counts its signatures.
#[derive(Debug, Serialize)]
struct Left {
    key_file: PathBuf,
    signatures_left: u64,
}

impl Report for Built {
    fn text(&self) -> String {
        let mut text = format!(
            "{GOOD}signed{GOOD:#}  {}, and verified again\n\n{}",
            terminal::path(&self.bundle),
            manifest_text(&self.manifest)
        );
        for Left { key_file, signatures_left } in &self.signatures_left {
            text += &format!(
                "\n{} has {} left\n",
                terminal::path(key_file),
                count_text(*signatures_left, "signature", "signatures",)
            );
        }
        for note in &self.notes {
            text += &format!("\n{WARNING}note{WARNING:#}  {note}\n");
        }
        text
    }
}

/// Accepts any file system, as `--any-file-system` does, where arguments cannot be changed.
const ANY_FILE_SYSTEM: &str = "HARTLOCK_ANY_FILE_SYSTEM";

/// What is said each time, because no later check can find a copy that signed.
fn doubt_text(path: &Path, name: &str) -> String {
    format!(
        "{WARNING}warning{WARNING:#}: {} counts its signatures, and its file system ({name}) is not known to keep \
         the count. If another copy of the file signs too, the key is lost",
        terminal::path(path)
    )
}

/// Builds the bundle.
pub fn run(args: &Args) -> Result<Built, Failure> {
    let spec = match &args.spec {
        Some(path) => BundleSpec::read(path)?.overridden_by(args.flags()),
        None => args.flags(),
    };
    let created = created(std::env::var_os("SOURCE_DATE_EPOCH").as_deref()).map_err(Error::from)?;
    let ask = |path: &_| args.passphrase.ask(path);
    let any_file_system =
        args.any_file_system || std::env::var_os(ANY_FILE_SYSTEM).is_some_and(|value| value == "1");
    let options =
        ReadOptions { algorithms: &args.algorithms, passphrase: Some(&ask), any_file_system };
    let keys = args
        .keys
        .iter()
        .map(|path| PrivateKey::read_with(path, options))
        .collect::<Result<Vec<_>, _>>()?;
    if any_file_system {
        for (key, path) in keys.iter().zip(&args.keys) {
            if let Some(name) = key.doubtful_file_system() {
                talk(&doubt_text(path, &name));
            }
        }
    }
    if args.trusted_keys.is_empty() {
        let used: Vec<_> = keys.iter().map(PrivateKey::algorithm).collect();
        values::check_algorithms(&args.algorithms, &used)?;
    }
    let mut progress = Progress::new("signing");
    let mut leaves = Progress::of_leaves("growing trees");
    let build = Build {
        spec: &spec,
        keys: &keys,
        created,
        output: &args.output,
        inputs: &args.inputs(),
        is_forced: args.force,
        is_any_type: args.force_type,
    };
    let result = build.run(&mut |done, total| progress.show(done, total), &mut |done, total| {
        leaves.show(done, total);
    });
    drop(leaves);
    drop(progress);
    let signatures_left = keys
        .iter()
        .zip(&args.keys)
        .filter_map(|(key, path)| {
            // One less than when it was read, or fewer if others signed meanwhile.
            let (left, _) = key.signatures_left()?;
            Some(Left { key_file: path.clone(), signatures_left: left.saturating_sub(1) })
        })
        .collect();
    let manifest = result?;
    let notes = notes(&spec, &manifest)?;
    Ok(Built { bundle: args.output.clone(), manifest, signatures_left, notes })
}

/// Bytes before the payloads that every verifier has room for (image format §3.2).
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
    let metadata = manifest.payloads.first().map_or(0, |payload| payload.offset);
    if metadata > SMALL_METADATA {
        notes.push(format!(
            "{} of manifest and signatures are more than the {} that every verifier has room for.",
            size_text(metadata),
            size_text(SMALL_METADATA)
        ));
    }
    Ok(notes)
}
