//! The computations on harts of QEMU that have extensions, observed by a plugin.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::bare;
use xtask::{project, run};

use super::latency::is_listed;
use super::{INSTRUCTIONS, Linked, TimingRow, named};
use crate::bench;

/// Runs all computations with kernels that the harts have, with this number of secrets each.
pub fn run(secrets: u32, harts: &[&str]) -> Result<Vec<TimingRow>> {
    let folder = project::work_dir("timing");
    fs::create_dir_all(&folder)?;
    let plugin = folder.join("observe.so");
    let source = project::root().join("verif/campaigns/src/timing/observe.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
    compiler.args(["-fvisibility=hidden", "-o"]).arg(&plugin).arg(source);
    run::quietly(&mut compiler)?;
    let linked = Linked::build()?;
    let (image, out) = (folder.join("timing.bin"), folder.join("observed"));
    fs::write(&image, linked.image(secrets, false)?)?;
    let mut arguments = format!("{},out={}", escape(&plugin)?, escape(&out)?);
    for mark in ["subject", "begin", "end"] {
        arguments += &format!(",{mark}={:#x}", linked.mark(mark)?);
    }
    let mut rows = Vec::new();
    for name in harts {
        let hart = bare::Hart::find(name).context("there is no such hart")?;
        let options = ["-cpu", &hart.cpu(), "-plugin", &arguments];
        let console = bench::emulate_without_pack(&image, &options)?;
        ensure!(!console.contains("wrong"), "{name}: {console}");
        let names = console.lines().filter(|line| line.starts_with("timing "));
        let names: Vec<_> = names.filter(|line| *line != "timing: done").collect();
        let observed = fs::read_to_string(&out)?;
        let (observed, executed) = observed.split_once("names ").context("no end of the plugin")?;
        rows.push(latency(hart.name, executed));
        ensure!(names.len() == observed.lines().count(), "{name}: {console}{observed}");
        for (name, observed) in names.into_iter().zip(observed.lines()) {
            rows.push(row(&linked, hart.name, secrets, name, observed)?);
        }
    }
    Ok(rows)
}

/// Returns a path as QEMU expects it in a list.
fn escape(path: &std::path::Path) -> Result<String> {
    Ok(path.to_str().context("the path is not UTF-8")?.replace(',', ",,"))
}

/// Looks for instructions whose time may depend on data, even with Zkt and Zvkt.
fn latency(hart: &str, executed: &str) -> TimingRow {
    let all: Vec<&str> = executed.split_whitespace().collect();
    let others: Vec<&str> = all.iter().copied().filter(|name| !is_listed(name)).collect();
    TimingRow {
        subject: INSTRUCTIONS.0.to_owned(),
        tier: INSTRUCTIONS.1.to_owned(),
        observed: format!("{hart}: {} different instructions", all.len()),
        leak: (!others.is_empty()).then(|| format!("not in Zkt or Zvkt: {}", others.join(", "))),
    }
}

/// Reads a line of the plugin (observe.c).
fn row(linked: &Linked, hart: &str, secrets: u32, name: &str, observed: &str) -> Result<TimingRow> {
    let (subject, tier) = named(name)?;
    let words: Vec<&str> = observed.split(' ').collect();
    let [runs, instructions, accesses, ref rest @ ..] = words[..] else {
        bail!("{subject}: {observed}")
    };
    ensure!(runs.parse() == Ok(secrets) && instructions != "0", "{subject} was not run");
    let leak = match rest {
        ["same"] => None,
        ["run", run, "pc", pc, "first", first, "other", other] => {
            let pc = linked.name(u64::from_str_radix(pc, 16)?);
            Some(format!("secret {run}, at {pc}: {other} instead of {first}"))
        }
        _ => bail!("{subject}: {observed}"),
    };
    let observed = format!("{hart}: {instructions} instructions, {accesses} accesses");
    Ok(TimingRow { subject, tier, observed, leak })
}
