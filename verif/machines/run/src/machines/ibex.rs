//! Collects the sources of Ibex for Verilator: its package, and the primitives of this project (`hw/soc/ibex`).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::python::Packages;
use crate::rtl;
use xtask::project;

/// Packages of the primitives, which are read before the modules that import them.
const PRIM_PACKAGES: [&str; 6] = [
    "prim_ram_1p_pkg.sv",
    "prim_secded_pkg.sv",
    "prim_mubi_pkg.sv",
    "prim_count_pkg.sv",
    "prim_cipher_pkg.sv",
    "prim_util_pkg.sv",
];

/// The folders of this project's sources. All of them are part of a model's digest.
const OURS: [&str; 13] = [
    "hw/prim",
    "hw/prim/rtl",
    "hw/soc/rtl",
    "hw/soc/ibex",
    "hw/soc/top",
    "hw/ip/axi_guard/rtl",
    "hw/ip/boot_sequencer/rtl",
    "hw/ip/dma/rtl",
    "hw/ip/ed25519/rtl",
    "hw/ip/mailbox/rtl",
    "hw/ip/sha2/rtl",
    "hw/ip/sha3/rtl",
    "hw/ip/xmss/rtl",
];

/// The package that is read before the sources with mutants, because they take the number of the run from it.
pub const MUTANT_PACKAGE: &str = "mutant_pkg.sv";

/// The flags for the trace port of Ibex and for the assertions of `hw/soc/top`; `--assert` overrides the `--noassert`
/// of all models. Other assertions are off: those of cores by SYNTHESIS; those of blocks because Ibex has a macro of
/// the same name, and the first definition is used for all. Blocks have benches instead. `--no-assert-case` turns
/// checks of `unique case` off.
pub const FLAGS: [&str; 5] = [
    "+define+RVFI",
    "+define+HARTLOCK_ASSERT_SVH",
    "+define+MACHINE_ASSERTIONS",
    "--assert",
    "--no-assert-case",
];

/// Returns the folders without duplicates, because a machine may name a folder that is already in [`OURS`].
fn folders<'a>(more: &'a [&str]) -> impl Iterator<Item = PathBuf> + 'a {
    let own = more.iter().filter(|folder| !OURS.contains(folder));
    OURS.iter().chain(own).map(|folder| project::root().join(folder))
}

/// Adds sources and options for a top module, which is in `hw/soc/top` or in one of the folders `more` of the machine.
/// Verilator finds modules by their file names, first in the folder `replaced`, whose files replace ours.
pub fn arguments(
    verilator: &mut Command,
    soc: &Packages,
    top: &str,
    more: &[&str],
    replaced: Option<&Path>,
) -> Result<()> {
    let root = project::root();
    let ibex = soc.ibex();
    let prim = ibex.join("vendor/lowrisc_ip/ip/prim/rtl");
    verilator.args(FLAGS);
    if let Some(folder) = replaced {
        verilator.arg("-y").arg(folder);
        verilator.args(Some(folder.join(MUTANT_PACKAGE)).filter(|path| path.is_file()));
    }
    for folder in
        [root.join("hw/prim"), prim.clone(), ibex.join("vendor/lowrisc_ip/dv/sv/dv_utils")]
    {
        verilator.arg(format!("-I{}", folder.display()));
    }
    for folder in [prim.clone(), ibex.join("rtl")] {
        verilator.arg("-y").arg(folder);
    }
    for folder in folders(more) {
        verilator.arg("-y").arg(folder);
    }
    verilator.arg(prim.join("prim_assert.sv"));
    verilator.args(PRIM_PACKAGES.map(|file| prim.join(file)));
    verilator.arg(ibex.join("rtl/ibex_pkg.sv")).arg(root.join("hw/soc/rtl/soc_pkg.sv"));
    // The packages of engines are also read before the modules.
    for folder in folders(more) {
        verilator.args(sources(&folder)?.iter().filter(|path| {
            path.to_string_lossy().ends_with("_pkg.sv") && !path.ends_with("soc_pkg.sv")
        }));
    }
    let top = Path::new(top).with_extension("sv");
    let own = more.iter().chain(&["hw/soc/top"]).map(|folder| root.join(folder));
    let mut found = replaced.map(Path::to_owned).into_iter().chain(own).map(|it| it.join(&top));
    verilator.args(found.find(|path| path.is_file()));
    Ok(())
}

/// Returns our sources without comments, on which a model depends.
pub fn texts(more: &[&str]) -> Result<Vec<String>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders(more) {
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
