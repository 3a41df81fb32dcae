//! Runs the compiled bench (`verif/machines/sim/upsets/main.cpp`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::choice::Space;
use super::counts::{Outcome, UpsetCounts};
use super::model::Model;
use super::plan::UpsetCampaign;
use crate::ip::engine::{Ip, Tools, prim};
use xtask::run;

/// A script for a model, and the result of its run without an upset.
pub struct ReferenceRun {
    pub script: PathBuf,
    pub text: String,
    pub end: String,
    pub cycles: u64,
    pub marks: BTreeMap<String, u64>,
}

/// A run that ended badly.
pub struct Finding {
    pub cycle: u64,
    pub register: usize,
    pub bit: usize,
    pub line: String,
}

/// Writes the scripts of a variant.
pub fn write_scripts(
    tools: &Tools,
    ip: &Ip,
    campaign: &UpsetCampaign,
    parameters: &[String],
    folder: &Path,
) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let tb = ip.dir.join("tb");
    let mut python = Command::new("python3");
    python.arg(tb.join(format!("{}.py", campaign.stimulus))).arg(folder);
    let path = std::env::join_paths([tools.ip.dir(), &tb, &prim().join("tb")])?;
    python.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    python.env("HARTLOCK_PARAMETERS", parameters.join(" "));
    run::quietly(&mut python).map(drop)
}

/// Runs a script without an upset.
pub fn reference_run(
    model: &Model,
    campaign: &UpsetCampaign,
    script: PathBuf,
) -> Result<ReferenceRun> {
    let text = fs::read_to_string(&script)
        .with_context(|| format!("{} writes no {}", campaign.stimulus, script.display()))?;
    let mut bench = Command::new(&model.program);
    bench.args(&model.options).arg(&script).arg(campaign.patience.to_string());
    let output = run::quietly(&mut bench)?;
    let mut reference =
        ReferenceRun { script, text, end: String::new(), cycles: 0, marks: BTreeMap::new() };
    let mut registers = model.design.registers.iter();
    for line in output.lines().take_while(|line| !line.is_empty()) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["end", end] => reference.end = end.to_owned(),
            ["cycles", cycles] => reference.cycles = cycles.parse()?,
            ["mark", name, cycle] => {
                reference.marks.insert(name.to_owned(), cycle.parse()?);
            }
            ["register", name, bits] => {
                let known = registers.next();
                let is_it =
                    known.is_some_and(|it| it.name == name && it.bits().to_string() == bits);
                ensure!(is_it, "the model has a register {name} that the design has not");
            }
            _ => anyhow::bail!("the bench says `{line}`"),
        }
    }
    ensure!(registers.next().is_none(), "the model lacks registers");
    let is_harmless = matches!(reference.end.as_str(), "done" | "refused" | "accepted");
    ensure!(is_harmless, "{} ends with {}", reference.script.display(), reference.end);
    Ok(reference)
}

/// Runs the script once for the upset at each of these positions.
pub fn upset(
    model: &Model,
    campaign: &UpsetCampaign,
    reference: &ReferenceRun,
    space: &Space,
    positions: &[u64],
    file: &Path,
) -> Result<(UpsetCounts, Vec<Finding>)> {
    let lines: String = positions.iter().map(|position| space.line(*position)).collect();
    fs::write(file, lines).with_context(|| format!("cannot write {}", file.display()))?;
    let mut bench = Command::new(&model.program);
    bench.args(&model.options).arg(&reference.script).arg(campaign.patience.to_string()).arg(file);
    let output = run::quietly(&mut bench)?;
    fs::remove_file(file)?;
    let (mut counts, mut findings) = (UpsetCounts::default(), Vec::new());
    let results = output.lines().skip_while(|line| !line.is_empty()).skip(1);
    for (line, position) in results.zip(positions) {
        let outcome = Outcome::read(line, &reference.end)?;
        counts.add(outcome);
        if outcome.is_bad() {
            let (cycle, register, bit) = space.at(*position);
            findings.push(Finding { cycle, register, bit, line: line.to_owned() });
        }
    }
    ensure!(counts.runs == positions.len() as u64, "the bench ended early");
    Ok((counts, findings))
}
