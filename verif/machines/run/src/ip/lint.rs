//! Runs Verilator's lint on an engine. Waivers are in `lint/`, each with its reason.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Result;

use super::engine::{Ip, Tools, files, folder_of, prim};
use xtask::run;

/// Returns the warnings that are not waived, for every top module with every set of parameters that
/// is built.
pub fn check(tools: &Tools, ip: &Ip) -> Result<Vec<String>> {
    let root = tools.machine.verilator();
    let mut faults = Vec::new();
    // Several benches may differ only in their tests, so each module is checked once.
    let mut seen = BTreeSet::new();
    let benches = ip.plan.bench.iter().filter(|bench| !bench.of_netlist);
    for bench in benches.filter(|bench| seen.insert(bench.name())) {
        let mut verilator = Command::new(root.join("bin/verilator_bin"));
        verilator.env("VERILATOR_ROOT", &root);
        verilator.args(["--lint-only", "-Wall", "--assert", "--no-timing"]);
        verilator.args(["--top-module", &bench.top]);
        verilator.args(bench.values().iter().map(|(name, value)| format!("-G{name}={value}")));
        verilator.arg(format!("-I{}", prim().display()));
        verilator.args(files(&prim().join("lint"), "vlt")?);
        for used in &ip.plan.uses {
            verilator.args(files(&folder_of(used).join("lint"), "vlt")?);
        }
        verilator.args(files(&ip.dir.join("lint"), "vlt")?).args(&ip.sources);
        let output = run::capture(&mut verilator)?;
        if !output.status.success() {
            faults.push(format!("lint of {}:\n{}", bench.name(), run::tail(&output, 40)));
        }
    }
    Ok(faults)
}
