//! Arguments of `cargo xtask lab`.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use xtask::project;

use hartlock_results::report;

#[derive(clap::Args)]
pub struct LabArgs {
    /// What to measure; all of it if nothing is named
    #[arg(value_name = "KEY")]
    pub key: Option<Key>,
    /// A small version in less than a minute, into target/lab instead of lab/runs/latest
    #[arg(long)]
    pub quick: bool,
    /// Seconds to wait in all for other programs to leave the processor alone
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub patience: u64,
    /// Measure nothing: make the pages of runs that are stored
    #[arg(long)]
    pub pages: bool,
    /// Measure nothing: say which stored runs are older than their sources, and exit with 1 if one is
    #[arg(long, conflicts_with = "pages")]
    pub stale: bool,
}

/// What can be measured.
#[derive(Clone, Copy, ValueEnum)]
pub enum Key {
    /// `hartlock sign` and `verify` of 1 GiB, against `openssl dgst`
    HostSpeed,
    /// The first paper: blocks on one hart and on four, cycle by cycle; hours, or minutes with --quick
    ParallelVerification,
    /// The fifth paper: a root of trust as accelerator, instruction by instruction, against software
    OpentitanAccelerator,
    /// The second paper: an engine for XMSS, module by module and whole, beside its comparisons; an hour the first time
    PostQuantumXmss,
    /// The third paper: the boot of a TEE by engines and in software, and their area beside the paper's cores
    QuickBootTee,
    /// Instructions for each byte of every hash kernel, beside other projects' and the fourth paper
    VectorCrypto,
}

impl Key {
    /// Returns the name of the measurement on the command line, which is also the name of its files.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns true if the numbers are times, which no test judges.
    pub fn is_timed(self) -> bool {
        matches!(self, Key::HostSpeed)
    }
}

impl LabArgs {
    /// Returns the folder where the run is stored. A quick run is stored in `target`, because its numbers say less and
    /// must not replace a full one.
    pub fn folder(&self) -> PathBuf {
        let top = if self.quick { project::target_dir() } else { project::root() };
        top.join("lab/runs/latest")
    }

    /// Makes the page of one run, or of all stored runs, and prints the paths of the pages.
    pub fn pages(&self, key: Option<&str>) -> Result<()> {
        let suffix = if self.quick { "-quick" } else { "" };
        for page in report::pages(&self.folder(), key, suffix)? {
            println!("page {}", page.display());
        }
        Ok(())
    }
}
