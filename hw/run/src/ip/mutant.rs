//! Mutants: for each assertion a small fault in the RTL that it has to detect (`data/mutants.toml`).
//!
//! All mutants of a bench are built into one model (*mutant schemata*): each mutated expression becomes a choice
//! between the original and the mutated expression, and a plusarg of the run names the mutant. So a model is
//! built once for many mutants, and a run takes seconds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::{Bench, Ip, Tools, bench, prim};

/// Read before all other sources. The choice is made at the start of a run and never changes.
const CHOICE: &str = "package mutant_pkg;
  function automatic int unsigned choose();
    int unsigned number;
    if ($value$plusargs(\"mutant=%d\", number) != 0) return number;
    return 0;
  endfunction
  int unsigned chosen = choose();
endpackage
";

/// A fault, and the assertion that has to fail first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The source that is changed, by its name.
    pub file: String,
    /// An expression that the file has once; between « and », if text around it is needed to find it.
    pub text: String,
    pub instead: String,
    /// `module.Name_A`.
    pub assertion: String,
    /// The bench that runs it, by the start of its name; without one, the first whose top is the file.
    bench: Option<String>,
    /// Tests of the bench that show it; without any, all of them.
    #[serde(default)]
    tests: Vec<String>,
    /// Part of `cargo xtask test`.
    #[serde(default)]
    is_daily: bool,
}

/// `data/mutants.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    mutant: Vec<Mutant>,
}

/// The mutants of an engine; none if it has no table.
pub fn load(dir: &Path) -> Result<Vec<Mutant>> {
    let path = dir.join("data/mutants.toml");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table =
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    Ok(table.mutant)
}

/// A bench with the numbers of its mutants, counted from one over the whole table.
pub struct Campaign<'a> {
    pub bench: &'a Bench,
    numbers: Vec<usize>,
}

impl Campaign<'_> {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// All mutants, or those of every day, by the bench that runs them.
pub fn campaigns(ip: &Ip, is_daily: bool) -> Result<Vec<Campaign<'_>>> {
    let mut campaigns: Vec<Campaign<'_>> = Vec::new();
    for (index, mutant) in ip.mutants.iter().enumerate() {
        if is_daily && !mutant.is_daily {
            continue;
        }
        let bench = bench_of(ip, mutant)?;
        match campaigns.iter_mut().find(|campaign| std::ptr::eq(campaign.bench, bench)) {
            Some(campaign) => campaign.numbers.push(index + 1),
            None => campaigns.push(Campaign { bench, numbers: vec![index + 1] }),
        }
    }
    Ok(campaigns)
}

fn bench_of<'a>(ip: &'a Ip, mutant: &Mutant) -> Result<&'a Bench> {
    let stem = mutant.file.trim_end_matches(".sv");
    let is_right = |bench: &&Bench| match &mutant.bench {
        Some(name) => bench.name().starts_with(name.as_str()),
        None => bench.top == stem,
    };
    let mut benches = ip.plan.bench.iter().filter(|b| !b.of_netlist && b.must_fail.is_empty());
    let found = benches.find(is_right);
    found.with_context(|| format!("no bench runs the mutant for {}", mutant.assertion))
}

/// Runs the mutants of a campaign, and returns the faults: assertions that do not fail.
pub fn run(tools: &Tools, ip: &Ip, campaign: &Campaign<'_>) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for &number in &campaign.numbers {
        let mutant = &ip.mutants[number - 1];
        let log = bench::run_mutant(tools, ip, campaign.bench, number, &mutant.tests)?;
        let first = first_failure(&log);
        if first.as_deref() != Some(mutant.assertion.as_str()) {
            let seen = first.unwrap_or_else(|| "no assertion".to_owned());
            faults.push(format!(
                "{}, mutant {number} of {}: {} has to fail first, and {seen} did",
                campaign.bench.name(),
                mutant.file,
                mutant.assertion
            ));
        }
    }
    Ok(faults)
}

/// `module.Name_A` of the first assertion that a log reports: the module is the name of the file.
fn first_failure(log: &str) -> Option<String> {
    let line = log.lines().find(|line| line.contains("Assertion failed in "))?;
    let (place, rest) = line.split_once("Assertion failed in ")?;
    let name = rest.split([':', ' ']).next()?.rsplit('.').next()?;
    let file = place.split_once(".sv:")?.0.rsplit(['/', ' ']).next()?;
    Some(format!("{file}.{name}"))
}

/// The sources of an engine with all of its mutants in them: package, shared modules that are changed, sources.
pub fn write(ip: &Ip, tree: &Path) -> Result<Vec<PathBuf>> {
    let package = tree.join("mutant_pkg.sv");
    fs::write(&package, CHOICE)?;
    let mut paths = vec![package];
    let shared = super::files(&prim(), "sv")?;
    let is_changed = |path: &&PathBuf| ip.mutants.iter().any(|mutant| path.ends_with(&mutant.file));
    for source in shared.iter().filter(is_changed).chain(&ip.sources) {
        let text = fs::read_to_string(source)?;
        let name = source.file_name().context("a source has a name")?;
        let mutants =
            ip.mutants.iter().zip(1..).filter(|(mutant, _)| source.ends_with(&mutant.file));
        let mutants: Vec<_> = mutants.map(|(mutant, number)| (number, mutant)).collect();
        let changed = mutated(&text, &mutants)
            .with_context(|| format!("cannot put mutants into {}", source.display()))?;
        let path = tree.join(name);
        fs::write(&path, changed)?;
        paths.push(path);
    }
    for mutant in &ip.mutants {
        let is_there = paths.iter().any(|path| path.ends_with(&mutant.file));
        ensure!(is_there, "{} has no source {}", ip.name, mutant.file);
    }
    Ok(paths)
}

/// Replaces expressions by choices. Several mutants may change one expression; none may change a part of
/// another's.
fn mutated(text: &str, mutants: &[(usize, &Mutant)]) -> Result<String> {
    let mut places: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for (number, mutant) in mutants {
        let (start, end) = place_of(text, &mutant.text)?;
        let choice = format!("(mutant_pkg::chosen == {number}) ? ({}) : ", mutant.instead);
        let place = places.entry(start).or_insert((end, String::new()));
        ensure!(place.0 == end, "`{}` is part of another", mutant.text);
        place.1.push_str(&choice);
    }
    let (mut result, mut at) = (String::new(), 0);
    for (start, (end, choices)) in places {
        if start < at {
            bail!("`{}` is part of another", &text[start..end]);
        }
        result.push_str(&text[at..start]);
        result.push_str(&format!("({choices}({}))", &text[start..end]));
        at = end;
    }
    result.push_str(&text[at..]);
    Ok(result)
}

/// Where the expression begins and ends.
fn place_of(text: &str, wanted: &str) -> Result<(usize, usize)> {
    let whole = wanted.replace(['«', '»'], "");
    let mut found = text.match_indices(&whole);
    let (start, _) = found.next().with_context(|| format!("`{whole}` is not there"))?;
    ensure!(found.next().is_none(), "`{whole}` is there more than once");
    let (before, rest) = wanted.split_once('«').unwrap_or(("", wanted));
    let inner = rest.split_once('»').map_or(rest, |(inner, _)| inner);
    Ok((start + before.len(), start + before.len() + inner.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::all_names;

    fn mutant(text: &str, instead: &str) -> Mutant {
        Mutant {
            file: "a.sv".into(),
            text: text.into(),
            instead: instead.into(),
            assertion: "a.B_A".into(),
            bench: None,
            tests: Vec::new(),
            is_daily: false,
        }
    }

    #[test]
    fn expressions_become_choices() {
        let (one, two) = (mutant("x & y", "x"), mutant("z", "1'b0"));
        let text = mutated("assign a = x & y;\nassign b = z;\n", &[(4, &one), (7, &two)]).unwrap();
        assert_eq!(
            text,
            "assign a = ((mutant_pkg::chosen == 4) ? (x) : (x & y));\n\
             assign b = ((mutant_pkg::chosen == 7) ? (1'b0) : (z));\n"
        );
        let both = mutated("= z;", &[(1, &two), (2, &two)]).unwrap();
        let choice = |number| format!("(mutant_pkg::chosen == {number}) ? (1'b0) : ");
        assert_eq!(both, format!("= ({}{}(z));", choice(1), choice(2)));
        let placed = mutant("b = «x»;", "y");
        let choice = "((mutant_pkg::chosen == 3) ? (y) : (x))";
        assert_eq!(
            mutated("a = x; b = x;", &[(3, &placed)]).unwrap(),
            format!("a = x; b = {choice};")
        );
    }

    #[test]
    fn an_expression_has_to_be_there_once() {
        let (one, part) = (mutant("x & y", "x"), mutant("x", "1'b0"));
        assert!(mutated("= y;", &[(1, &one)]).is_err());
        assert!(mutated("= x & y; = x & y;", &[(1, &one)]).is_err());
        assert!(mutated("= x & y;", &[(1, &one), (2, &part)]).is_err());
    }

    #[test]
    fn the_first_failure_is_found_in_the_log() {
        let log = "0 ns INFO x\n[130000] %Error: /t/sha2_fifo.sv:166: Assertion failed in \
                   sha2.u_fifo.NeverTooFull_A: sha2.u_fifo.NeverTooFull_A does not hold\n\
                   [2] %Error: b.sv:1: Assertion failed in top.B_A: x";
        assert_eq!(first_failure(log).unwrap(), "sha2_fifo.NeverTooFull_A");
        assert!(first_failure("0 ns INFO x").is_none());
    }

    #[test]
    fn every_assertion_has_a_mutant() {
        let mut missing = Vec::new();
        for name in all_names().unwrap() {
            let ip = Ip::load(&name).unwrap();
            for mutant in &ip.mutants {
                bench_of(&ip, mutant).unwrap();
            }
            write(&ip, tempfile::tempdir().unwrap().path()).unwrap();
            for source in &ip.sources {
                let module = source.file_stem().unwrap().to_string_lossy();
                let text = fs::read_to_string(source).unwrap();
                for part in text.split("`ASSERT(").skip(1) {
                    let wanted = format!("{module}.{}", part.split(',').next().unwrap());
                    if !ip.mutants.iter().any(|mutant| mutant.assertion == wanted) {
                        missing.push(wanted);
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
