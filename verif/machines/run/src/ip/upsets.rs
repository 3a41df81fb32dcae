//! `cargo xtask ip NAME --upsets` flips bits of registers in a simulated engine, with one upset in each run, and
//! records how the run ends.
//!
//! A campaign (`[[campaign]]` of `data/ip.toml`) names registers and cycles, and scripts that say what the engine does
//! in these cycles. A compiled bench (`verif/machines/sim/upsets`) runs a script once, and again from each chosen cycle with a bit
//! flipped. Variants without a protection have to show a bad outcome; otherwise the campaign would prove nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use self::bench::ReferenceRun;
use self::choice::Space;
use self::counts::{LAYOUT, Row, UpsetCounts};
use self::model::Model;
use self::plan::CampaignPart;
pub use self::plan::UpsetCampaign;
pub use self::store::is_current;
use super::args::{Share, UpsetArgs};
use super::engine::{Ip, Tools};
use super::schemata::option_without;
use crate::parallel::in_parallel;
use xtask::{packages, project};

mod bench;
mod choice;
mod counts;
mod model;
mod plan;
mod registers;
mod report;
mod store;

/// Number of upsets that one process runs. At most this many are lost when a campaign is interrupted.
const CHUNK: usize = 20_000;
/// Number of bad outcomes of a chunk that are stored.
const FINDINGS: usize = 20;

/// The extent of a campaign.
pub struct CampaignExtent {
    quick: bool,
    samples: Option<usize>,
    seed: u64,
    share: Share,
    is_stored: bool,
    is_silent: bool,
}

impl CampaignExtent {
    pub fn of(args: &UpsetArgs) -> CampaignExtent {
        CampaignExtent {
            quick: args.quick,
            samples: args.samples,
            seed: args.seed,
            share: args.part,
            is_stored: args.store,
            is_silent: false,
        }
    }

    fn samples(&self, part: &CampaignPart) -> Option<usize> {
        if self.quick { Some(part.quick) } else { self.samples.or(part.samples) }
    }
}

/// The stored result of a chunk.
#[derive(Default, Serialize, Deserialize)]
struct StoredChunk {
    counts: UpsetCounts,
    findings: Vec<String>,
}

/// A variant of the engine with its scripts.
struct Subject {
    parameters: Vec<String>,
    must_find: bool,
    model: Model,
    references: Vec<(String, ReferenceRun)>,
}

/// The upsets that one process runs.
struct Chunk<'a> {
    row: usize,
    subject: &'a Subject,
    reference: &'a ReferenceRun,
    space: Space,
    positions: Vec<u64>,
}

/// Runs the quick form, for `cargo xtask test`.
pub fn step(tools: &Tools, ip: &Ip, campaign: &UpsetCampaign) -> Result<Vec<String>> {
    let form = CampaignExtent {
        quick: true,
        samples: None,
        seed: 1,
        share: Share::WHOLE,
        is_stored: false,
        is_silent: true,
    };
    run(tools, ip, campaign, &form, false)
}

/// Runs a campaign, prints its table, and returns the faults.
///
/// In the quick form one model serves the engine and its variants, because compiling takes most of the time. A
/// protection that is a copy of registers is still built and compared in that model, also if a run switches it off. So
/// if there is a fault, every variant is built with its own parameters, as in the other forms, and that result counts.
pub fn run(
    tools: &Tools,
    ip: &Ip,
    campaign: &UpsetCampaign,
    form: &CampaignExtent,
    is_verbose: bool,
) -> Result<Vec<String>> {
    let faults = attempt(tools, ip, campaign, form, form.quick, is_verbose)?;
    if faults.is_empty() || !form.quick {
        return Ok(faults);
    }
    attempt(tools, ip, campaign, form, false, is_verbose)
}

fn attempt(
    tools: &Tools,
    ip: &Ip,
    campaign: &UpsetCampaign,
    form: &CampaignExtent,
    has_choices: bool,
    is_verbose: bool,
) -> Result<Vec<String>> {
    let start = Instant::now();
    let folder = project::work_dir("ip").join(&ip.name).join("upsets").join(&campaign.name);
    let subjects = subjects(tools, ip, campaign, &folder, form.quick, has_choices)?;
    let (mut rows, chunks) = plan(campaign, form, &subjects)?;
    let (total, done) = (chunks.len(), AtomicUsize::new(0));
    let show = !form.is_silent && stderr().is_terminal();
    let mine: Vec<_> = chunks.iter().enumerate().collect();
    let results = in_parallel(&mine, |(place, chunk)| {
        let result = chunk.result(campaign, &folder, form.share.has(*place));
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if show {
            eprint!("\r{}: {done} of {total} ", campaign.name);
        }
        result
    });
    if show {
        eprint!("\r{:60}\r", "");
    }
    let (mut findings, mut missing) = (Vec::new(), 0);
    for (chunk, result) in chunks.iter().zip(results) {
        let Some(kept) = result? else {
            missing += 1;
            continue;
        };
        rows[chunk.row].counts.merge(&kept.counts);
        if !rows[chunk.row].must_find || is_verbose {
            findings.extend(kept.findings);
        }
    }
    let registers = &subjects[0].model.design.registers;
    let omitted = campaign.omitted(registers);
    if !form.is_silent {
        report::print(ip, campaign, &rows, &omitted, registers.len());
        let runs: u64 = rows.iter().map(|row| row.counts.runs).sum();
        println!("{runs} runs in {:.1} s", start.elapsed().as_secs_f64());
        findings
            .iter()
            .take(if is_verbose { usize::MAX } else { FINDINGS })
            .for_each(|it| println!("  {it}"));
    }
    if missing > 0 {
        println!(
            "{missing} of {total} chunks are left to other parts (`--part`); nothing is judged yet"
        );
        return Ok(Vec::new());
    }
    let faults = faults(ip, campaign, &rows, &findings);
    if form.is_stored && faults.is_empty() {
        store::put(ip, campaign, form.seed, &rows, &omitted)?;
    }
    Ok(faults)
}

/// Builds the variants, writes their scripts, and runs each script once.
fn subjects(
    tools: &Tools,
    ip: &Ip,
    campaign: &UpsetCampaign,
    folder: &Path,
    is_quick: bool,
    has_choices: bool,
) -> Result<Vec<Subject>> {
    let variants = campaign.variants();
    let texts = variants.iter().map(|variant| {
        let parameters = variant.iter().map(|(name, value)| format!("{name}={value}"));
        parameters.collect::<Vec<_>>()
    });
    let off: Vec<_> = campaign.must_find.iter().map(plan::disabled_protections).collect();
    let is_one = has_choices && !off.is_empty() && off.iter().all(Option::is_some);
    let build = |(place, parameters): (usize, Vec<String>)| {
        let model = if is_one {
            let base = campaign.parameters.iter().map(|(name, value)| format!("{name}={value}"));
            let base: Vec<_> = base.collect();
            let lacking =
                place.checked_sub(1).and_then(|at| off[at].as_ref()).into_iter().flatten();
            let options = lacking.map(|name| option_without(name)).collect();
            model::with_choices(tools, ip, &campaign.top, &base, options)?
        } else {
            model::model(tools, ip, &campaign.top, &parameters, is_quick)?
        };
        if place == 0 {
            campaign.check(&model.design.registers)?;
        }
        let scripts = folder.join(format!("scripts-{place}"));
        bench::write_scripts(tools, ip, campaign, &parameters, &scripts)?;
        let reference = |input: &String| {
            let script = scripts.join(format!("{input}.script"));
            Ok((input.clone(), bench::reference_run(&model, campaign, script)?))
        };
        let extra = campaign.must_find_inputs.iter().filter(|_| place == 0);
        let references =
            campaign.inputs.iter().chain(extra).map(reference).collect::<Result<_>>()?;
        Ok(Subject { parameters, must_find: place > 0, model, references })
    };
    texts.enumerate().map(build).collect()
}

/// Returns the rows of the table, and the work for them.
fn plan<'a>(
    campaign: &UpsetCampaign,
    form: &CampaignExtent,
    subjects: &'a [Subject],
) -> Result<(Vec<Row>, Vec<Chunk<'a>>)> {
    let (mut rows, mut chunks) = (Vec::new(), Vec::new());
    for subject in subjects {
        for (input, reference) in &subject.references {
            for part in campaign.part.iter().filter(|part| part.takes(input)) {
                let place =
                    || format!("{} {}, {input}", campaign.name, subject.parameters.join(" "));
                let new = || Space::of(part, &subject.model.design.registers, &reference.marks);
                let space = new().with_context(place)?;
                let positions = space.positions(form.samples(part), form.seed);
                rows.push(Row {
                    variant: subject.parameters.join(" "),
                    must_find: subject.must_find || campaign.must_find_inputs.contains(input),
                    input: input.clone(),
                    part: part.name.clone(),
                    registers: space.registers(),
                    bits: space.bits,
                    cycles: space.cycles,
                    is_exhaustive: positions.len() as u64 == space.len(),
                    counts: UpsetCounts::default(),
                });
                for positions in positions.chunks(CHUNK) {
                    let (row, positions) = (rows.len() - 1, positions.to_vec());
                    chunks.push(Chunk { row, subject, reference, space: new()?, positions });
                }
            }
        }
    }
    ensure!(!chunks.is_empty(), "{} has no upsets", campaign.name);
    Ok((rows, chunks))
}

impl Chunk<'_> {
    /// Returns the stored result; or runs the upsets, if the chunk is in this share of the work.
    fn result(
        &self,
        campaign: &UpsetCampaign,
        folder: &Path,
        is_mine: bool,
    ) -> Result<Option<StoredChunk>> {
        let lines: String = self.positions.iter().map(|at| self.space.line(*at)).collect();
        let patience = campaign.patience.to_string();
        let options = self.subject.model.options.join(" ");
        let parts =
            [LAYOUT, &self.subject.model.digest, &options, &self.reference.text, &patience, &lines];
        let digest = packages::digest(&parts);
        let path: PathBuf = folder.join(format!("{digest}.toml"));
        if let Ok(text) = fs::read_to_string(&path) {
            return toml::from_str(&text).map(Some).with_context(|| path.display().to_string());
        }
        if !is_mine {
            return Ok(None);
        }
        let file = folder.join(format!("{digest}.upsets"));
        let Subject { model, parameters, .. } = self.subject;
        let (counts, found) =
            bench::upset(model, campaign, self.reference, &self.space, &self.positions, &file)?;
        let name = self.reference.script.file_stem().unwrap_or_default().to_string_lossy();
        let describe = |finding: bench::Finding| {
            let register = &model.design.registers[finding.register].name;
            format!(
                "{} {name}: {register} bit {} in cycle {} of {}: {}",
                parameters.join(" "),
                finding.bit,
                finding.cycle,
                self.reference.cycles,
                finding.line
            )
        };
        let findings = found.into_iter().take(FINDINGS).map(describe).collect();
        let kept = StoredChunk { counts, findings };
        // The rename makes the file visible as a whole.
        let beside = folder.join(format!("{digest}.new"));
        fs::write(&beside, toml::to_string(&kept)?)?;
        fs::rename(&beside, &path)?;
        Ok(Some(kept))
    }
}

/// Returns a fault for each bad outcome of the hardened engine, and for each variant without a bad outcome.
fn faults(ip: &Ip, campaign: &UpsetCampaign, rows: &[Row], findings: &[String]) -> Vec<String> {
    let mut bad: BTreeMap<(bool, String), u64> = BTreeMap::new();
    for row in rows {
        *bad.entry((row.must_find, row.subject(campaign))).or_default() += row.counts.bad();
    }
    let name = format!("{} {}", ip.name, campaign.name);
    let mut faults = Vec::new();
    for ((must_find, variant), bad) in bad {
        if must_find && bad == 0 {
            faults.push(format!(
                "{name}: {variant} shows no bad outcome, so the campaign proves nothing"
            ));
        }
        if !must_find && bad > 0 {
            let first = findings.first().map(String::as_str).unwrap_or_default();
            faults.push(format!(
                "{name}: {bad} upsets are accepted or release a wrong result: {first}"
            ));
        }
    }
    faults
}
