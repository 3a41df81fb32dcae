//! The sources of Ibex for Verilator: its package, and the primitives of this project (`hw/soc/ibex`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::python::Packages;
use crate::rtl;
use xtask::project;

/// Packages of the primitives, before the modules that import them.
const PRIM_PACKAGES: [&str; 6] = [
    "prim_ram_1p_pkg.sv",
    "prim_secded_pkg.sv",
    "prim_mubi_pkg.sv",
    "prim_count_pkg.sv",
    "prim_cipher_pkg.sv",
    "prim_util_pkg.sv",
];

/// The folders of our own sources, all of which are part of a model's digest.
const OURS: [&str; 7] = [
    "hw/prim",
    "hw/soc/rtl",
    "hw/soc/ibex",
    "hw/soc/top",
    "hw/ip/boot_sequencer/rtl",
    "hw/ip/mailbox/rtl",
    "hw/ip/sha2/rtl",
];

fn folders() -> impl Iterator<Item = PathBuf> {
    OURS.iter().map(|folder| project::root().join(folder))
}

/// Sources and options for a top module in `hw/soc/top`. Modules are found by their file names.
pub fn arguments(verilator: &mut Command, soc: &Packages, top: &str) -> Result<()> {
    let root = project::root();
    let ibex = soc.ibex();
    let prim = ibex.join("vendor/lowrisc_ip/ip/prim/rtl");
    // Ibex has an assertion macro of the same name and arguments as this project; the first definition is
    // used for all.
    verilator.args(["+define+RVFI", "+define+HARTLOCK_ASSERT_SVH"]);
    for folder in
        [root.join("hw/prim"), prim.clone(), ibex.join("vendor/lowrisc_ip/dv/sv/dv_utils")]
    {
        verilator.arg(format!("-I{}", folder.display()));
    }
    for folder in [prim.clone(), ibex.join("rtl")] {
        verilator.arg("-y").arg(folder);
    }
    for folder in folders() {
        verilator.arg("-y").arg(folder);
    }
    verilator.arg(prim.join("prim_assert.sv"));
    verilator.args(PRIM_PACKAGES.map(|file| prim.join(file)));
    verilator.arg(ibex.join("rtl/ibex_pkg.sv")).arg(root.join("hw/soc/rtl/soc_pkg.sv"));
    // Packages of engines, likewise.
    for folder in folders() {
        verilator.args(sources(&folder)?.iter().filter(|path| {
            path.to_string_lossy().ends_with("_pkg.sv") && !path.ends_with("soc_pkg.sv")
        }));
    }
    verilator.arg(root.join("hw/soc/top").join(top).with_extension("sv"));
    Ok(())
}

/// Our sources without comments: what a model depends on.
pub fn texts() -> Result<Vec<String>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders() {
        paths.extend(sources(&folder)?);
    }
    paths.sort_unstable();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path);
        text.map(|text| rtl::code(&text)).with_context(|| format!("cannot read {}", path.display()))
    };
    paths.iter().map(read).collect()
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let is_source =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "sv" || end == "svh");
    let mut sources: Vec<PathBuf> = paths.into_iter().filter(is_source).collect();
    sources.sort_unstable();
    Ok(sources)
}
