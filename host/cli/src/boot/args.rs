//! The arguments of `hartlock boot`.

use std::path::{Path, PathBuf};

use hartlock_image::{Algorithm, Lifecycle, Policy};

use crate::board::{self, Choice};
use crate::failure::Failure;
use crate::{installation, values};

/// Maximum number of characters of a label, which is a heading of the page and of a table column.
const MAX_LABEL: usize = 40;

/// Boot bundles on an emulated board
///
/// Creates the flash and the disk of a device, starts it in QEMU, and shows how long each step of each boot
/// stage took. The times are those of the emulator, not of a real board.
#[derive(Debug, clap::Args)]
pub struct BootArgs {
    /// ROM image, as a flat binary [default: the installed one of the board]
    #[arg(long, value_name = "ROM.bin")]
    pub(super) rom: Option<PathBuf>,
    /// Boot bundle (OpenSBI and loader)
    #[arg(long, value_name = "BUNDLE")]
    pub(super) boot_bundle: PathBuf,
    /// System bundle (Linux)
    #[arg(long, value_name = "BUNDLE")]
    pub(super) system: PathBuf,
    /// Public key that the ROM trusts (SPKI in PEM); may be given up to eight times
    #[arg(long = "root-key", value_name = "KEY.pub.pem", required = true)]
    pub(super) root_keys: Vec<PathBuf>,
    /// Signature scheme for RSA keys whose file does not state one; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    pub(super) algorithms: Vec<Algorithm>,
    /// Which of the root keys must have signed the boot bundle: any key, all keys, or a classical and a
    /// post-quantum key (hybrid)
    #[arg(long, value_name = "POLICY", default_value = "any", value_parser = values::policy())]
    pub(super) policy: Policy,
    /// Board that the ROM and the bundles were built for: qemu-virt, qemu-virt-iommu, or a file that describes a
    /// board. Such a board may differ from these two only in name, SoC, number of harts, size of memory and
    /// addresses of payloads
    #[arg(long, value_name = "BOARD", default_value = "qemu-virt", value_parser = board::machine(), hide_possible_values = true)]
    pub(super) board: Choice,
    /// Number of harts [default: all of the board, or 1 with --icount]
    #[arg(long, value_name = "N", value_parser = values::number::<u32>)]
    pub(super) harts: Option<u32>,
    /// CPU model of QEMU, which may include properties
    #[arg(long, value_name = "CPU", default_value = "rv64")]
    pub(super) cpu: String,
    /// Count instructions instead of time, on one hart
    #[arg(long)]
    pub(super) icount: bool,
    /// Keep flash and disk of the device in this folder, and use them again in later boots [default: a new
    /// device]
    #[arg(long, value_name = "DIR")]
    pub(super) state: Option<PathBuf>,
    #[command(flatten)]
    pub(super) provisioning: Provisioning,
    /// Text on the console that shows that the device has booted, and without which it has not; if empty, the
    /// device has booted when it has entered the kernel and powers off [default: "Run /init as init process", with
    /// the program of `rdinit=` if the kernel command line names one]
    #[arg(long, value_name = "TEXT")]
    pub(super) until: Option<String>,
    /// Maximum time of the boot, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = values::number::<u64>)]
    pub(super) timeout: u64,
    /// Show the timeline as a bar chart instead of a table
    #[arg(long)]
    pub(super) timeline: bool,
    /// Write the timeline to this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(super) timeline_json: Option<PathBuf>,
    /// Write the timeline to this file, as an HTML page
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Compare with an earlier timeline on the page; may be repeated, and the first one is the baseline
    #[arg(
        long, value_name = "LABEL=FILE.json", requires = "report",
        value_parser = compared
    )]
    pub(super) compare: Vec<BaselineFile>,
    /// Show figures of another machine, from this file, at the top of the page
    #[arg(long, value_name = "FILE.json", requires = "report")]
    pub(super) quote: Option<PathBuf>,
    /// Name of this boot on the page [default: this boot]
    #[arg(long, value_name = "TEXT", requires = "report", value_parser = label)]
    pub(super) label: Option<String>,
    /// Write the console output of the device to this file
    #[arg(long, value_name = "FILE")]
    pub(super) console: Option<PathBuf>,
    /// Replace existing output files, but never a private key or an input
    #[arg(long)]
    pub(super) force: bool,
    /// Show only those lines of the console that Hartlock prints
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// QEMU to use [default: $HARTLOCK_QEMU, the one on PATH, or the one of the installation]
    #[arg(long, value_name = "PROGRAM")]
    pub(super) qemu: Option<PathBuf>,
}

impl BootArgs {
    /// Returns the path of the ROM.
    ///
    /// # Errors
    /// Fails if none is given, and none is installed for the board.
    pub(super) fn rom(&self) -> Result<PathBuf, Failure> {
        let name = match &self.board {
            Choice::Name(name) => Some(name.as_str()),
            Choice::File(_) => None,
        };
        self.rom.clone().map_or_else(|| installation::rom(name), Ok)
    }

    /// Returns the paths of all input files.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let compared = self.compare.iter().map(|it| &it.path);
        let single = [&self.boot_bundle, &self.system];
        let all = single
            .into_iter()
            .chain(&self.rom)
            .chain(&self.root_keys)
            .chain(&self.qemu)
            .chain(&self.quote);
        let all = all.chain(&self.provisioning.class_keys);
        let all = all.chain(compared).map(PathBuf::as_path);
        all.chain(self.board.file()).collect()
    }
}

/// What is provisioned before the boot. What is not named stays as it is.
#[derive(Clone, Debug, clap::Args)]
pub struct Provisioning {
    /// Provision the minimum security version of a boot bundle [new device: 0]
    #[arg(long = "provision-boot-floor", value_name = "N", value_parser = values::number::<u64>)]
    pub(super) boot_floor: Option<u64>,
    /// Provision the minimum security version of a system bundle [new device: 0]
    #[arg(long = "provision-system-floor", value_name = "N", value_parser = values::number::<u64>)]
    pub(super) system_floor: Option<u64>,
    /// Provision the lifecycle state of the device [new device: development]
    #[arg(long, value_name = "STATE", value_parser = values::lifecycle())]
    pub(super) lifecycle: Option<Lifecycle>,
    /// Revoke a root key by its number, where the first `--root-key` is 0; may be repeated, and cannot be undone
    /// [new device: none]
    #[arg(long = "provision-revoked", value_name = "N", value_parser = values::number::<u32>)]
    revoked: Vec<u32>,
    /// Provision the class key of encrypted payloads, in place of those that the device has; may be repeated, up to four
    /// times [new device: none]
    #[arg(long = "class-key", value_name = "CLASS.pem")]
    pub(super) class_keys: Vec<PathBuf>,
}

impl Provisioning {
    pub(super) fn is_asked_for(&self) -> bool {
        self.boot_floor.is_some()
            || self.system_floor.is_some()
            || self.lifecycle.is_some()
            || !self.revoked.is_empty()
    }

    /// Checks that every number to be revoked is that of a given root key. The ROM silently accepts revocation
    /// bits for which there is no key, and the operator would believe that the intended key is revoked.
    pub(super) fn check(&self, root_key_count: usize) -> Result<(), Failure> {
        let is_known = |place: &u32| usize::try_from(*place).is_ok_and(|at| at < root_key_count);
        match self.revoked.iter().find(|place| !is_known(place)) {
            None => Ok(()),
            Some(place) => Err(Failure::undecided(
                format!("cannot revoke root key {place}: there is no such key"),
                format!(
                    "the first `--root-key` has the number 0; {root_key_count} of them are given"
                ),
            )),
        }
    }

    /// Returns the revocation bits, one for each key (boot flow §3.2).
    pub(super) fn revoked_keys(&self) -> u32 {
        self.revoked
            .iter()
            .filter_map(|place| 1u32.checked_shl(*place))
            .fold(0, |all, key| all | key)
    }
}

/// The file of an earlier timeline, and the label of that boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineFile {
    pub(super) label: String,
    pub(super) path: PathBuf,
}

/// Parses `LABEL=FILE`.
///
/// # Errors
/// Fails if label or file is missing.
fn compared(text: &str) -> Result<BaselineFile, String> {
    let (label, path) = text.split_once('=').ok_or("expected LABEL=FILE.json")?;
    if path.is_empty() {
        return Err("the file has no name".to_owned());
    }
    Ok(BaselineFile { label: self::label(label)?, path: path.into() })
}

/// Parses the label of a boot on the page.
///
/// # Errors
/// Fails if the text is too long for a heading, is empty or has control characters.
fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_short = (1..=MAX_LABEL).contains(&text.chars().count());
    if is_short && !text.contains(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("a label has 1 to {MAX_LABEL} printable characters"))
    }
}
