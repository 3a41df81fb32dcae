//! Arguments of `cargo xtask ip`.

use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Engines, by the names of their folders in hw/ip, or `soc` or `prim`; without any, all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Count look-up tables and the like as well
    #[arg(long)]
    pub synth: bool,
    /// Place and route for a clock frequency, too: minutes for each netlist
    #[arg(long, requires = "synth")]
    pub fmax: bool,
    /// Take what is counted into the record that later counts are compared with
    #[arg(long, requires = "synth")]
    pub record: bool,
    /// Run every mutant of data/mutants.toml, each of which its assertion has to notice
    #[arg(long)]
    pub mutants: bool,
    /// Count and test the engine of others that this folder holds as well: see [[peer]] of its ip.toml
    #[arg(long, value_name = "FOLDER", requires = "synth")]
    pub peer: Option<PathBuf>,
    /// Only simulations and netlists whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Show what the tests print
    #[arg(short, long)]
    pub verbose: bool,
}

impl Args {
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}
