//! The arguments of `hartlock boot`.

use std::path::{Path, PathBuf};

use hartlock_image::{Algorithm, Lifecycle, Policy};

use crate::board::{self, Choice};
use crate::failure::Failure;
use crate::values;

/// Maximum number of characters of a label, which is a heading of the page and of a table column.
const MAX_LABEL: usize = 40;

/// Boot bundles on an emulated board
///
/// Makes the flash and the disk of a device, starts it under QEMU, and shows how long each step
/// of each boot stage took. The times are those of the emulator, never those of a board.
#[derive(Debug, clap::Args)]
pub struct BootArgs {
    /// The ROM, as a flat binary
    #[arg(long, value_name = "ROM.bin")]
    pub(super) rom: PathBuf,
    /// The boot bundle
    #[arg(long, value_name = "BUNDLE")]
    pub(super) boot_bundle: PathBuf,
    /// The system bundle
    #[arg(long, value_name = "BUNDLE")]
    pub(super) system: PathBuf,
    /// Public key that the ROM trusts, SPKI PEM; up to eight
    #[arg(long = "root-key", value_name = "KEY.pub.pem", required = true)]
    pub(super) root_keys: Vec<PathBuf>,
    /// How RSA keys of a size sign whose files do not say it; repeats
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    pub(super) algorithms: Vec<Algorithm>,
    /// Which of the root keys must have signed the boot bundle
    #[arg(long, value_name = "POLICY", default_value = "any", value_parser = values::policy())]
    pub(super) policy: Policy,
    /// Emulated board, for which ROM and bundles were made; or the file of its description, if it differs from
    /// one of these in name, SoC, harts, size of memory and places of payloads alone
    #[arg(long, value_name = "BOARD", default_value = "qemu-virt", value_parser = board::machine(), hide_possible_values = true)]
    pub(super) board: Choice,
    /// Harts, from 1 to all of the board [default: all, or 1 with --icount]
    #[arg(long, value_name = "N", value_parser = values::number::<u32>)]
    pub(super) harts: Option<u32>,
    /// CPU model of QEMU, with its properties
    #[arg(long, value_name = "CPU", default_value = "rv64")]
    pub(super) cpu: String,
    /// Count instructions instead of time, on one hart
    #[arg(long)]
    pub(super) icount: bool,
    /// Keep the device in this folder, and continue with it if there is one [default: a new device]
    #[arg(long, value_name = "DIR")]
    pub(super) state: Option<PathBuf>,
    #[command(flatten)]
    pub(super) provisioning: Provisioning,
    /// The device has booted when it prints this; empty: when it hands over and powers off
    #[arg(long, value_name = "TEXT", default_value = "Run /init as init process")]
    pub(super) until: String,
    /// Give up after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = values::number::<u64>)]
    pub(super) timeout: u64,
    /// Show the timeline as bars, the harts side by side, and not as a table
    #[arg(long)]
    pub(super) timeline: bool,
    /// Write the timeline as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(super) timeline_json: Option<PathBuf>,
    /// Write the timeline as a page
    #[arg(long, value_name = "FILE.html")]
    pub(super) report: Option<PathBuf>,
    /// Put an earlier timeline beside this one on the page; may be given several times, and the
    /// first is what the others are measured against
    #[arg(
        long, value_name = "LABEL=FILE.json", requires = "report",
        value_parser = compared
    )]
    pub(super) compare: Vec<BaselineFile>,
    /// Lead the page with the numbers of another machine that this file quotes
    #[arg(long, value_name = "FILE.json", requires = "report")]
    pub(super) quote: Option<PathBuf>,
    /// What this boot is called on the page [default: this boot]
    #[arg(long, value_name = "TEXT", requires = "report", value_parser = label)]
    pub(super) label: Option<String>,
    /// Write what the device printed
    #[arg(long, value_name = "FILE")]
    pub(super) console: Option<PathBuf>,
    /// Replace files that are written and exist already; never a private key or an input
    #[arg(long)]
    pub(super) force: bool,
    /// Of what the device prints, show only Hartlock's own lines
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// QEMU to use [default: $HARTLOCK_QEMU, or the one on PATH]
    #[arg(long, value_name = "PROGRAM")]
    pub(super) qemu: Option<PathBuf>,
}

impl BootArgs {
    /// Returns the paths of all input files.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        let compared = self.compare.iter().map(|it| &it.path);
        let single = [&self.rom, &self.boot_bundle, &self.system];
        let all = single.into_iter().chain(&self.root_keys).chain(&self.qemu).chain(&self.quote);
        let all = all.chain(compared).map(PathBuf::as_path);
        all.chain(self.board.file()).collect()
    }
}

/// What is provisioned before the boot. What is not named stays as it is.
#[derive(Clone, Debug, clap::Args)]
pub struct Provisioning {
    /// Provision the lowest security version of a boot bundle [new device: 0]
    #[arg(long = "provision-boot-floor", value_name = "N", value_parser = values::number::<u64>)]
    pub(super) boot_floor: Option<u64>,
    /// Provision the lowest security version of a system bundle [new device: 0]
    #[arg(long = "provision-system-floor", value_name = "N", value_parser = values::number::<u64>)]
    pub(super) system_floor: Option<u64>,
    /// Provision the state of the device [new device: development]
    #[arg(long, value_name = "STATE", value_parser = values::lifecycle())]
    pub(super) lifecycle: Option<Lifecycle>,
    /// Provision that a root key is revoked: its number, counting `--root-key` from 0; may be given
    /// several times, and no key is taken back [new device: none]
    #[arg(long = "provision-revoked", value_name = "N", value_parser = values::number::<u32>)]
    revoked: Vec<u32>,
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
                format!("there is no root key {place} to revoke, {root_key_count} are given"),
                "count the `--root-key` options from 0 on",
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
    let (label, path) = text.split_once('=').ok_or("it has the form LABEL=FILE.json")?;
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
        Err(format!("a label is 1 to {MAX_LABEL} characters, all of them printable"))
    }
}
