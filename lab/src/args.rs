//! Arguments of `cargo xtask lab`.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use xtask::project;

use hartlock_results::report;

#[derive(clap::Args)]
pub struct LabArgs {
    /// Measurement to run [default: all]
    #[arg(value_name = "KEY")]
    pub key: Option<Key>,
    /// Run a small version in less than a minute, and store it in target/lab instead of lab/runs/latest
    #[arg(long)]
    pub quick: bool,
    /// Maximum time to wait for an idle processor, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub patience: u64,
    /// Measure nothing; ask models of cores for the cycles of inner loops, and store what they say (vector-crypto only)
    #[arg(long, conflicts_with_all = ["pages", "stale", "quick"])]
    pub models: bool,
    /// Measure nothing; write the pages of stored runs
    #[arg(long)]
    pub pages: bool,
    /// Measure nothing; list stored runs that are older than their sources, and exit with 1 if there are any
    #[arg(long, conflicts_with = "pages")]
    pub stale: bool,
}

/// What can be measured.
#[derive(Clone, Copy, ValueEnum)]
pub enum Key {
    /// `hartlock sign` and `verify` of 1 GiB, compared with `openssl dgst`
    HostSpeed,
    /// First paper: verification of blocks on one hart and on four, cycle-accurate; takes hours, or minutes with --quick
    ParallelVerification,
    /// Fifth paper: a root of trust as accelerator, compared with software
    OpentitanAccelerator,
    /// Second paper: an engine for XMSS, as modules and as a whole, with comparisons; takes an hour the first time
    PostQuantumXmss,
    /// Third paper: boot of a TEE by engines and in software, and their area compared with the paper's cores
    QuickBootTee,
    /// Fourth paper: instructions per byte of every hash kernel, compared with other projects
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
