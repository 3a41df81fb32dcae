//! Computes the time of each stage and step of a boot (tables I, II, VI and VII) from two measurements: the
//! emulator counts the instructions of every step of ROM, OpenSBI and loader on one hart, and the cycle-accurate
//! machine measures the cost of such a step.
//!
//! | step | cycles |
//! |---|---|
//! | hash of kernel, initramfs, the loader's device tree | the measured cost of a byte, or of blocks on all harts |
//! | other steps of the loader | measured |
//! | ROM and OpenSBI | instructions, times the cycles of an instruction of such a step in the loader |
//! | reading in the loader | the rate at which the paper's board read: its stage without its verification |

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::{PayloadType, TreeMode};

use super::OF_PAPER;
use super::boots::{BootResults, StepCost};
use super::cost::{HashCosts, Setting};
use hartlock_device::boots::board::{Setup, TestBoard};
use hartlock_results::paper::Paper;
use hartlock_results::run::Row;
use hartlock_testkit::bundle::{Draft, Edit};

/// Sizes in bytes of the emulated payloads. Costs that depend on the size are not taken from the emulator.
const EMULATED: [usize; 2] = [300_000, 1_000_000];

/// Stages of the paper, and the corresponding stages of this project.
const STAGES: [(&str, Stage); 2] = [("U-Boot SPL", Stage::Rom), ("U-Boot Proper", Stage::Loader)];

/// Names of payloads in tables II and VII, and their types.
const TARGETS: [(&str, PayloadType); 6] = [
    ("OpenSBI", PayloadType::Opensbi),
    ("U-Boot", PayloadType::Loader),
    ("FDT of SPL", PayloadType::BootFdt),
    ("initramfs", PayloadType::Initramfs),
    ("kernel", PayloadType::Kernel),
    ("FDT of Proper", PayloadType::SystemFdt),
];

/// The way in which payloads are hashed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Each payload is hashed as a whole on one hart, after it was read.
    Sequential,
    /// Blocks are hashed on four harts while the payload is read.
    Parallel,
}

/// The cycles of a boot.
struct Cycles {
    hash: BTreeMap<&'static str, f64>,
    signature: BTreeMap<&'static str, f64>,
    /// Cycles by the paper's name of the stage.
    total: BTreeMap<&'static str, f64>,
    /// Same for a boot without any verification.
    unverified: BTreeMap<&'static str, f64>,
}

/// Returns the reason why a number of tables I, II, VI, VII or of section VII-B is not comparable with that of the
/// paper; `None` if it is comparable.
pub fn difference(row: &Row) -> Option<&'static str> {
    const PROGRAMS: &str = "another program with payloads of other sizes";
    let is_of_loader = row.config == "U-Boot Proper";
    match (row.table.as_str(), row.metric.as_str(), row.config.as_str()) {
        ("Table I" | "Table VI", ..) if !is_of_loader => Some(PROGRAMS),
        ("Table I" | "Table VI", ..) => Some("one signature in place of three"),
        ("Table II" | "Table VII", "signature", "OpenSBI" | "initramfs") => None,
        ("Table II" | "Table VII", "signature", _) => Some("the bundle has one signature"),
        ("Table II" | "Table VII", _, "initramfs" | "kernel") => None,
        ("Table II" | "Table VII", ..) => Some("a payload of another size"),
        ("Section VII-B", _, "boot") => Some("without SPL and OpenSBI of the paper"),
        ("Section VII-B", _, "verification") => Some("one signature in place of each three"),
        _ => None,
    }
}

/// Returns the rows of the four tables, and the numbers that follow from them.
pub fn rows(
    measured: &BootResults,
    (costs, of_rom): (&HashCosts, f64),
    block_size: u32,
    paper: &Paper,
) -> Result<Vec<Row>> {
    let entries = emulated()?;
    let setting = Setting::of(paper)?;
    let model = Model { entries: &entries, measured, costs, of_rom, block_size, paper, setting };
    let sequential = model.boot(Way::Sequential)?;
    let parallel = model.boot(Way::Parallel)?;
    let mut rows = Vec::new();
    for (stages, steps, boot) in
        [("Table I", "Table II", &sequential), ("Table VI", "Table VII", &parallel)]
    {
        rows.extend(boot.stage_rows(stages, &setting));
        rows.extend(boot.step_rows(steps, paper, &setting));
    }
    let times = |config: &str, before: f64, after: f64| {
        Row::info("Section VII-B", "speed-up", "times", before / after)
            .of(config)
            .noted("the sequential boot divided by the parallel one, both modelled")
    };
    rows.push(times(
        "verification",
        sequential.verification("total"),
        parallel.verification("total"),
    ));
    let (before, after) = (&sequential.total, &parallel.total);
    let rest = |table: &str| -> Result<f64> {
        let of = |stage| paper.number(table, "stage total", stage).context("a stage");
        Ok(setting.cycles(of("U-Boot SPL")?.value + of("OpenSBI")?.value))
    };
    rows.push(times("boot", before["total"], after["total"]).noted(format!(
        "both modelled; before the loader our ROM and OpenSBI, {:.0} ms where SPL and OpenSBI of the paper take {:.0}",
        setting.milliseconds(before["U-Boot SPL"] + before["OpenSBI"]),
        setting.milliseconds(rest("Table I")?)
    )));
    rows.push(
        times(
            "boot, with SPL and OpenSBI of the paper",
            rest("Table I")? + before["U-Boot Proper"],
            rest("Table VI")? + after["U-Boot Proper"],
        )
        .noted("both modelled; what the paper spends before its loader is in both boots")
        .with_published(
            paper.number("Section VII-B", "speed-up", "boot").context("section VII-B")?.value,
        ),
    );
    for payload in setting.payloads() {
        let config = format!("{} hash", payload.name);
        rows.push(times(&config, sequential.hash[payload.name], parallel.hash[payload.name]));
    }
    for (config, table, boot) in [
        ("whole boot, one hash on one hart, then", "Table I", &sequential),
        ("whole boot, four harts while loading", "Table VI", &parallel),
    ] {
        let of_paper = |metric| {
            let number = paper.number(table, metric, "total");
            Ok::<_, anyhow::Error>(number.context(table)?.value)
        };
        let (total, verification) = (of_paper("stage total")?, of_paper("verification")?);
        let ratio = boot.total["total"] / boot.unverified["total"];
        rows.push(Row::info("Overlap", "verified by unverified", "times", ratio).of(config).noted(
            format!(
                "modelled, with a storage as fast as the paper's; {:.2} by the paper's {table}",
                total / (total - verification)
            ),
        ));
    }
    Ok(rows)
}

impl Cycles {
    fn verification(&self, stage: &str) -> f64 {
        let is_in = |target: &str| {
            let is_of_rom = matches!(target, "OpenSBI" | "U-Boot" | "FDT of SPL");
            stage == "total" || is_of_rom == (stage == "U-Boot SPL")
        };
        let sum = |steps: &BTreeMap<&str, f64>| -> f64 {
            steps.iter().filter(|(target, _)| is_in(target)).map(|(_, cycles)| cycles).sum()
        };
        sum(&self.hash) + sum(&self.signature)
    }

    fn stage_rows(&self, table: &str, setting: &Setting) -> Vec<Row> {
        let note = "modelled from measured steps; the ROM and OpenSBI from their instructions";
        let mut rows = Vec::new();
        for stage in ["U-Boot SPL", "OpenSBI", "U-Boot Proper", "total"] {
            let row = |metric: &str, unit: &str, ours: f64| {
                Row::info(table, metric, unit, ours).of(stage).noted(note)
            };
            let total = self.total[stage];
            if stage != "OpenSBI" {
                let verification = self.verification(stage);
                rows.push(row("verification", "ms", setting.milliseconds(verification)).noted(
                    "hashes and signatures; those of four harts mostly while the payload is read",
                ));
                let (share, longer) =
                    (100.0 * verification / total, 100.0 * (1.0 - self.unverified[stage] / total));
                rows.push(row("share of verification", "percent", share).noted(
                    "modelled; as the paper defines it: the time of verification, whatever else is \
                     done meanwhile, divided by that of the stage",
                ));
                rows.push(row("longer by verification", "percent", longer).noted(
                    "modelled; the share of the stage that ends earlier without verification",
                ));
            }
            rows.push(row("stage total", "ms", setting.milliseconds(total)));
        }
        rows
    }

    fn step_rows(&self, table: &str, paper: &Paper, setting: &Setting) -> Vec<Row> {
        let mut rows = Vec::new();
        for (target, _) in TARGETS {
            let metric = ["hash", "hash, parallel"]
                .into_iter()
                .find(|metric| paper.number(table, metric, target).is_some())
                .unwrap_or("hash");
            let hash = setting.milliseconds(self.hash[target]);
            rows.push(Row::info(table, metric, "ms", hash).of(target).noted(match target {
                "initramfs" | "kernel" => "size times the measured cost, as in table V",
                "FDT of Proper" => "its bytes times the measured cost of a byte",
                _ => "the ROM's portable SHA-384: bytes times the cycles of a byte of a message of 8 KiB",
            }));
            let signature = setting.milliseconds(self.signature[target]);
            let is_first = signature > 0.0;
            rows.push(Row::info(table, "signature", "ms", signature).of(target).noted(
                match is_first {
                    true => "the one signature of the bundle",
                    false => "covered by the one signature of the bundle",
                },
            ));
        }
        rows
    }
}

/// The measurements from which cycles are computed.
struct Model<'a> {
    entries: &'a [Entry],
    measured: &'a BootResults,
    costs: &'a HashCosts,
    /// Cycles per byte of the ROM's hash.
    of_rom: f64,
    block_size: u32,
    paper: &'a Paper,
    setting: Setting,
}

impl Model<'_> {
    fn boot(&self, way: Way) -> Result<Cycles> {
        let mut boot = Cycles {
            hash: BTreeMap::new(),
            signature: TARGETS.iter().map(|(target, _)| (*target, 0.0)).collect(),
            total: BTreeMap::new(),
            unverified: BTreeMap::new(),
        };
        for (name, stage) in STAGES {
            let (mut verified, mut unverified) = (0.0, 0.0);
            for entry in self.entries.iter().filter(|entry| entry.stage == stage) {
                match entry.step {
                    Step::Hash => {
                        let (target, cycles, hidden) = self.hash(entry, way)?;
                        boot.hash.insert(target, cycles);
                        verified += cycles - hidden;
                    }
                    Step::Signature => {
                        let cycles = self.other(entry, way)?;
                        let first = if stage == Stage::Rom { "OpenSBI" } else { "initramfs" };
                        boot.signature.insert(first, cycles);
                        verified += cycles;
                    }
                    Step::Read if stage == Stage::Loader => {
                        let cycles = self.read(entry)?;
                        verified += cycles;
                        unverified += cycles;
                    }
                    Step::HartsStart | Step::HartsStop => {
                        if way == Way::Parallel {
                            verified += self.step(entry.step, 4)?.cycles as f64;
                        }
                    }
                    Step::HashPart | Step::Kernel | Step::Decrypt => {}
                    Step::Verdict => verified += self.other(entry, way)?,
                    _ => {
                        let cycles = self.other(entry, way)?;
                        verified += cycles;
                        unverified += cycles;
                    }
                }
            }
            boot.total.insert(name, verified);
            boot.unverified.insert(name, unverified);
        }
        let opensbi = self.opensbi()?;
        for totals in [&mut boot.total, &mut boot.unverified] {
            totals.insert("OpenSBI", opensbi);
            let sum = totals.values().sum();
            totals.insert("total", sum);
        }
        Ok(boot)
    }

    /// Returns the name of the hashed payload, the cycles of its hash, and the number of them that overlap with
    /// reading.
    fn hash(&self, entry: &Entry, way: Way) -> Result<(&'static str, f64, f64)> {
        let payload = entry.payload.context("a hash of no payload")?;
        let is_it = |target: &&(&str, PayloadType)| target.1 == payload;
        let (target, _) = TARGETS.iter().find(is_it).context("an unknown payload")?;
        let Some(of_paper) = self.setting.payloads().into_iter().find(|it| it.name == *target)
        else {
            let cycles = match entry.stage {
                Stage::Rom => self.of_rom * entry.bytes as f64,
                Stage::Loader => self.costs.flat(entry.bytes),
            };
            return Ok((target, cycles, 0.0));
        };
        let size = of_paper.size;
        if way == Way::Sequential {
            return Ok((target, self.costs.flat(size), 0.0));
        }
        let cycles = self.costs.blocks(4, self.block_size, size)?;
        let rate = self.read_rate()?;
        let both = self.costs.overlapped(self.block_size, size, rate)?;
        let hidden = cycles - (both - size as f64 / rate);
        Ok((target, cycles, hidden))
    }

    /// Returns the rate of the paper's storage in its last stage, in bytes per cycle.
    fn read_rate(&self) -> Result<f64> {
        let number = |metric| {
            let number = self.paper.number("Table I", metric, "U-Boot Proper");
            Ok::<_, anyhow::Error>(number.context("Table I")?.value)
        };
        let reading = number("stage total")? - number("verification")?;
        let size: u64 = self.setting.payloads().iter().map(|payload| payload.size).sum();
        Ok(size as f64 / (reading * self.setting.cycles_per_millisecond))
    }

    fn read(&self, entry: &Entry) -> Result<f64> {
        let of_paper = self
            .setting
            .payloads()
            .into_iter()
            .zip([PayloadType::Initramfs, PayloadType::Kernel])
            .find(|(_, payload)| entry.payload == Some(*payload));
        let size = of_paper.map_or(entry.bytes, |(payload, _)| payload.size);
        Ok(size as f64 / self.read_rate()?)
    }

    /// Returns the cycles of another step. They are measured for the loader; for other stages, emulated
    /// instructions are multiplied by the cost of an instruction in the loader.
    fn other(&self, entry: &Entry, way: Way) -> Result<f64> {
        let harts = if way == Way::Parallel { 4 } else { 1 };
        let cost = match (entry.stage, entry.step) {
            // A copy by plain code costs as much as the loader's plain code.
            (Stage::Rom, Step::Read) => self.step(Step::Start, harts)?,
            (_, step) => self.step(step, harts).or_else(|_| self.step(Step::Start, harts))?,
        };
        if entry.stage == Stage::Loader {
            return Ok(cost.cycles as f64);
        }
        let instructions = entry.instret.1.saturating_sub(entry.instret.0) as f64;
        Ok(instructions * cost.cycles as f64 / cost.instructions as f64)
    }

    fn step(&self, step: Step, harts: usize) -> Result<&StepCost> {
        let is_it = |it: &&StepCost| it.step == step && it.harts == harts && it.instructions > 0;
        let found = self.measured.steps.iter().find(is_it);
        found.with_context(|| format!("no {} on {harts} harts was measured", step.name()))
    }

    /// Returns the cycles of OpenSBI: from the last step of the ROM to the first one of the loader.
    fn opensbi(&self) -> Result<f64> {
        let of = |stage| self.entries.iter().filter(move |entry| entry.stage == stage);
        let left = of(Stage::Rom).map(|entry| entry.instret.1).max().context("no ROM")?;
        let entered = of(Stage::Loader).map(|entry| entry.instret.0).filter(|it| *it > 0).min();
        let instructions = entered.context("no loader")?.checked_sub(left);
        let cost = self.step(Step::Start, 1)?;
        let instructions = instructions.context("OpenSBI counts backwards")? as f64;
        Ok(instructions * cost.cycles as f64 / cost.instructions as f64)
    }
}

/// Returns the log of a boot on the emulator with one hart, which counts instructions.
fn emulated() -> Result<Vec<Entry>> {
    let bench = TestBoard::prepare(false)?;
    let sizes = Edit::Draft(|draft: &mut Draft| {
        for (payload, size) in draft.payloads.iter_mut().zip(EMULATED) {
            payload.data.resize(size, 1);
            payload.memory_size = (size as u64).next_multiple_of(4096);
            (payload.hash, payload.mode) = (OF_PAPER, TreeMode::Flat);
        }
    });
    let mut setup: Setup = bench.setup(&[], &[sizes])?;
    setup.harts = 1;
    let counting = ["-icount", "shift=0,sleep=off"].map(str::to_owned);
    let (device, machine) = bench.start(&setup, &counting)?;
    let run = bench.finish(machine, None);
    drop(device);
    let measurements = run.measurements.context("the emulator left no log")?;
    ensure!(measurements.is_handed_over(), "the emulated boot ended early\n{}", run.transcript);
    Ok(measurements.entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_things_have_no_ratio_and_say_why() {
        let row = |table, metric, config| {
            Row::info(table, metric, "ms", 2.0).of(config).noted("modelled").with_published(4.0)
        };
        for (table, metric, config) in [
            ("Table I", "stage total", "OpenSBI"),
            ("Table VI", "share of verification", "total"),
            ("Table II", "hash", "FDT of SPL"),
            ("Table VII", "signature", "kernel"),
            ("Section VII-B", "speed-up", "boot"),
        ] {
            let row = row(table, metric, config);
            let reason = difference(&row).unwrap();
            let row = row.incomparable(reason);
            assert_eq!((row.ratio, row.published), (None, Some(4.0)));
            assert!(row.note.unwrap().ends_with(reason));
        }
        for (table, metric, config) in [
            ("Table II", "hash", "initramfs"),
            ("Table VII", "hash, parallel", "kernel"),
            ("Table II", "signature", "OpenSBI"),
            ("Table V", "sequential", "initramfs, one hash"),
        ] {
            assert_eq!(difference(&row(table, metric, config)), None, "{table} {config}");
        }
    }
}
