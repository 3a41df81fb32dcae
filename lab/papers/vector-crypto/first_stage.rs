//! The paper's last slide as an experiment: SHA-256 of a first stage and the verification of its signature, with portable
//! kernels, in scalar assembly, with vectors, and on all harts.
//!
//! The slide is a picture without a number in its text, so the paper has no row for it.

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, ensure};
use hartlock_device::bench::PACK_ADDRESS;
use hartlock_device::kernels::first_stage::{
    FirstStageBench, FirstStageCount, FirstStageKernels, read,
};
use hartlock_hw::machines::model::{self, Core};
use hartlock_hw::machines::{End, Machine, kept};
use hartlock_jobs::first_stage::{
    CHOSEN, FLAT, FirstStagePlan, FirstStageScheme, FirstStageSigner, IN_TURN,
    PORTABLE as PORTABLE_KERNELS, TOGETHER, fill_image,
};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};
use hartlock_results::run::{How, Row};
use hartlock_testkit::signed;
use hartlock_verify::tree;

use super::walnut_signer::WalnutKeyPair;

/// Bytes of the first stage: what a ROM verifies before it hands over, from the boot bundle of the board `qemu-virt`. OpenSBI
/// has 266,936 bytes, the loader 243,312 and the device tree 4,742; in sectors of 512 bytes.
const IMAGE_LEN: usize = 515_072;
/// Bytes of a block of the tree.
const BLOCK_LEN: usize = 16 << 10;
/// Harts that share the blocks.
const HARTS: usize = 4;
/// Seed of the key of WalnutDSA.
const SEED: u64 = 1;
/// Maximum difference between the sum of all shares and the same blocks on one hart: what starting a share costs.
const SHARES: f64 = 0.01;

const COUNTED: &str = "first stage, instructions";
const BY_HART: &str = "first stage, instructions of each hart";
const SIMULATED: &str = "first stage, cycles on Rocket";
const SPEED_UP: &str = "first stage, speed-up";

/// A way to do the work: its name, the hart that executes it, and false for the portable kernels.
type FirstStageWay = (&'static str, &'static str, bool);

const PORTABLE: &str = "portable";
const WAYS: [FirstStageWay; 5] = [
    (PORTABLE, "rv64", false),
    ("scalar assembly", "rv64", true),
    ("scalar assembly, Zbb, Zknh, Zbc", "scalar-crypto", true),
    ("vectors, VLEN 128", "vectors-128", true),
    ("vectors, VLEN 256", "vectors-256", true),
];
/// Number of the ways that Rocket can execute: the first ones.
const ON_ROCKET: usize = 2;
/// Harts with the tiers that have to be chosen there: SHA-256 of one message and of several, and E-multiplication.
const TIERS: [(&str, [&str; 3]); 4] = [
    ("rv64", ["rv64", "rv64", "rv64"]),
    ("scalar-crypto", ["zknh", "zknh", "zbc"]),
    ("vectors-128", ["zvknh", "zvknh", "zvbc"]),
    ("vectors-256", ["zvknh", "zvknh", "zvbc"]),
];
/// Cores of the cycle-accurate machine, and what runs on each. The first one is one hart of the second one.
const CORES: [(&str, u32); 2] = [("rocket-1-full", FLAT), ("rocket-4-full", TOGETHER)];
/// The machine on which instructions are counted.
const EMULATOR: &str = "qemu";

/// A count, and where it was made: on the emulator, or on a core of the cycle-accurate machine.
pub struct FirstStageSample {
    pub machine: String,
    pub hart: String,
    pub count: FirstStageCount,
}

/// Everything that is measured.
pub struct FirstStage {
    samples: Vec<FirstStageSample>,
    /// Generators of the encoded digest and of the signature, for the digest and for the root.
    generators: [[usize; 2]; 2],
}

/// A key with its signatures of digest and root.
struct Signed {
    scheme: FirstStageScheme,
    key: Vec<u8>,
    signatures: [Vec<u8>; 2],
}

/// A program on a cycle-accurate machine, and the tiers that it has to choose.
struct SimulatedRun {
    core: Core,
    machine: PathBuf,
    bench: FirstStageBench,
    tiers: [&'static str; 3],
}

/// Counts all ways on the emulator and, if wanted, those of Rocket on the cycle-accurate machine.
pub fn measured(is_simulated: bool) -> Result<FirstStage> {
    let mut image = vec![0; IMAGE_LEN];
    fill_image(&mut image);
    let plan = plan(&image);
    let (signed, generators) = signed(&plan)?;
    let signers: Vec<FirstStageSigner<'_>> = signed
        .iter()
        .map(|Signed { scheme, key, signatures: [of_digest, of_root] }| FirstStageSigner {
            scheme: *scheme,
            key,
            of_digest,
            of_root,
        })
        .collect();
    let mut samples = Vec::new();
    let programs = [(false, PORTABLE_KERNELS), (true, CHOSEN)];
    for (has_kernels, kernels) in programs {
        let plan = FirstStagePlan { parts: FLAT | IN_TURN | kernels, ..plan };
        let bench = FirstStageBench::prepare(&[], has_kernels, &plan, &signers)?;
        let tiers = if has_kernels { &TIERS[..] } else { &[("rv64", ["portable"; 3])] };
        for (hart, tiers) in tiers {
            eprintln!("first stage on {hart}");
            let console = bench.console(hart)?;
            samples.extend(read_samples(EMULATOR, hart, tiers, &console)?);
        }
    }
    if !is_simulated {
        return Ok(FirstStage { samples, generators });
    }
    let mut runs = Vec::new();
    for (core, parts) in CORES {
        let core = model::core(core).map_err(anyhow::Error::msg)?;
        // Verification is the work of one hart, and a machine with four of them takes four times as long to simulate.
        let signers = if parts == FLAT { &signers[..] } else { &[] };
        for (has_kernels, kernels) in programs {
            let plan = FirstStagePlan { parts: parts | kernels, ..plan };
            let bench = FirstStageBench::prepare(&["soc"], has_kernels, &plan, signers)?;
            let tiers = if has_kernels { TIERS[0].1 } else { ["portable"; 3] };
            let machine = model::machine(core, false)?;
            runs.push(SimulatedRun { core, machine, bench, tiers });
        }
    }
    // Each takes minutes on a processor.
    let consoles = thread::scope(|scope| {
        let mut threads = Vec::new();
        for SimulatedRun { core, machine, bench, tiers } in &runs {
            eprintln!("first stage on {}, {}", core.name, tiers[0]);
            threads.push(scope.spawn(move || {
                read_samples(core.name, "rv64", tiers, &simulated(machine, bench)?)
            }));
        }
        let joined = threads.into_iter().map(|it| it.join().expect("a thread does not panic"));
        joined.collect::<Result<Vec<_>>>()
    })?;
    samples.extend(consoles.into_iter().flatten());
    Ok(FirstStage { samples, generators })
}

/// Parses the console of a hart, which has to choose these tiers.
fn read_samples(
    machine: &str,
    hart: &str,
    tiers: &[&str; 3],
    console: &str,
) -> Result<Vec<FirstStageSample>> {
    let (kernels, counts) = read(console).with_context(|| format!("{hart} of {machine}"))?;
    let [FirstStageKernels { sha256: [one, many], walnut, .. }] = &kernels[..] else {
        anyhow::bail!("{hart} of {machine}: not one set of kernels")
    };
    ensure!([one, many, walnut] == *tiers, "{hart} of {machine} has {kernels:?}");
    let sample =
        |count| FirstStageSample { machine: machine.to_owned(), hart: hart.to_owned(), count };
    Ok(counts.into_iter().map(sample).collect())
}

fn plan(image: &[u8]) -> FirstStagePlan {
    let mut hash = Sha256::with(&Kernels::PORTABLE);
    hash.update(image);
    let plan = FirstStagePlan {
        image_len: image.len(),
        block_len: BLOCK_LEN,
        harts: HARTS,
        parts: 0,
        digest: hash.finalize(),
        root: [0; 32],
    };
    let root = tree::digest(&plan.record(), image);
    FirstStagePlan { root: *root.first_chunk().expect("64 bytes"), ..plan }
}

/// Signs both digests with a key of each algorithm. Also returns how many generators WalnutDSA multiplies.
fn signed(plan: &FirstStagePlan) -> Result<(Vec<Signed>, [[usize; 2]; 2])> {
    let pair = WalnutKeyPair::new(SEED);
    let walnut = [pair.sign(&plan.digest)?, pair.sign(&plan.root)?];
    let generators =
        walnut.each_ref().map(|it| [it.digest_generators, it.generators - it.digest_generators]);
    let mut all = vec![Signed {
        scheme: FirstStageScheme::Walnut,
        key: pair.public_key()?,
        signatures: walnut.map(|it| it.bytes),
    }];
    for scheme in FirstStageScheme::ALL.into_iter().skip(1) {
        let messages = [plan.digest, plan.root].map(|digest| digest.to_vec());
        let cases = signed::over(scheme.name(), messages.to_vec())?;
        let key = cases.first().context("no signature")?.key.clone();
        let signatures: Vec<Vec<u8>> = cases.into_iter().map(|case| case.signature).collect();
        let signatures = signatures.try_into().ok().context("two signatures")?;
        all.push(Signed { scheme, key, signatures });
    }
    Ok((all, generators))
}

/// Runs the bench on a cycle-accurate machine. The same program and pack take the same cycles, so the console is kept.
fn simulated(machine: &Path, bench: &FirstStageBench) -> Result<String> {
    let (program, pack) = (bench.program(), bench.pack());
    kept::console(machine, &[&program.bin, pack], &[], || {
        let pack = pack.to_str().context("the path of the pack is not UTF-8")?;
        let folder = tempfile::tempdir()?;
        let ran = Machine {
            machine,
            program: &program.elf,
            folder: folder.path(),
            options: &["--load".to_owned(), format!("{pack}@{PACK_ADDRESS:#x}")],
        };
        let (console, _, end) = ran.run(&[])?;
        ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
        Ok(console)
    })
}

/// What is counted of a part: instructions, or cycles.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Instructions,
    Cycles,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Cycles => "cycles",
        }
    }

    fn of(self, count: &FirstStageCount) -> Option<u64> {
        match self {
            Self::Instructions => Some(count.instructions),
            Self::Cycles => count.cycles,
        }
    }
}

impl FirstStage {
    /// Returns the counts of a part of a way that fulfil a condition.
    fn find(
        &self,
        unit: Unit,
        (_, hart, is_chosen): &FirstStageWay,
        part: &str,
        is_it: impl Fn(&FirstStageCount) -> bool,
    ) -> Vec<u64> {
        let is_machine = |sample: &FirstStageSample| {
            (sample.machine == EMULATOR) == (unit == Unit::Instructions)
        };
        let of_way = self.samples.iter().filter(|it| is_machine(it) && it.hart == *hart);
        let counts = of_way.map(|it| &it.count).filter(|it| it.is_chosen == *is_chosen);
        counts.filter(|it| it.part == part && is_it(it)).filter_map(|it| unit.of(it)).collect()
    }

    /// Returns the cost of the hash on one hart as one message, or of the tree on several harts: the largest share, and the
    /// root on the boot hart.
    fn hash(&self, unit: Unit, way: &FirstStageWay, harts: Option<usize>) -> Option<u64> {
        let Some(harts) = harts else {
            return self.find(unit, way, "hash", |_| true).first().copied();
        };
        let of_harts = |count: &FirstStageCount| count.harts == harts as u64;
        let shares = match unit {
            Unit::Instructions => self.find(unit, way, "share", of_harts),
            Unit::Cycles => self.find(unit, way, "together", of_harts),
        };
        let root = self.find(unit, way, "root", of_harts);
        Some(shares.into_iter().max()? + root.first()?)
    }

    fn verification(
        &self,
        unit: Unit,
        way: &FirstStageWay,
        scheme: FirstStageScheme,
        is_tree: bool,
    ) -> Option<u64> {
        // On the cycle-accurate machine the signature of the digest stands for that of the root.
        let form = if is_tree && unit == Unit::Instructions { "tree" } else { "flat" };
        let is_it = |it: &FirstStageCount| it.form == form && it.who == scheme.name();
        self.find(unit, way, "verify", is_it).first().copied()
    }

    fn sum(
        &self,
        unit: Unit,
        way: &FirstStageWay,
        scheme: FirstStageScheme,
        harts: Option<usize>,
    ) -> Option<u64> {
        Some(self.hash(unit, way, harts)? + self.verification(unit, way, scheme, harts.is_some())?)
    }

    /// Returns the rows of all tables.
    pub fn rows(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for way in &WAYS {
            for harts in [None, Some(HARTS)] {
                rows.extend(self.costs(Unit::Instructions, way, harts)?);
            }
        }
        rows.extend(self.by_hart()?);
        let is_simulated = self.samples.iter().any(|it| it.machine != EMULATOR);
        for (index, way) in WAYS.iter().enumerate() {
            for harts in [None, Some(HARTS)] {
                if index >= ON_ROCKET {
                    let row = Row::absent(SIMULATED, "sum", "cycles", why_not_on_rocket(way));
                    rows.push(row.of(&config(way, harts)));
                } else if is_simulated {
                    rows.extend(self.costs(Unit::Cycles, way, harts)?);
                }
            }
        }
        rows.extend(self.speed_ups(is_simulated)?);
        Ok(rows)
    }

    fn costs(&self, unit: Unit, way: &FirstStageWay, harts: Option<usize>) -> Result<Vec<Row>> {
        let (table, measured) = match unit {
            Unit::Instructions => (COUNTED, How::Counted),
            Unit::Cycles => (SIMULATED, How::Simulated),
        };
        let place = config(way, harts);
        let row = |metric: String, value: u64, how: How| {
            Row::info(table, metric, unit.name(), value as f64).of(&place).how(how)
        };
        let hash = self.hash(unit, way, harts).with_context(|| format!("{place}: no hash"))?;
        let mut rows = vec![match harts {
            None => row("SHA-256".to_owned(), hash, measured),
            Some(_) => row("SHA-256".to_owned(), hash, How::Computed).noted(
                match unit {
                    Unit::Instructions => {
                        "tree of blocks of 16 KiB, another form than one message: the boot hart's share, which is the largest, \
                         and the root"
                    }
                    Unit::Cycles => {
                        "tree of blocks of 16 KiB, another form than one message: from the first wake-up until all harts have \
                         answered, and the root"
                    }
                },
            ),
        }];
        for scheme in FirstStageScheme::ALL {
            let verification = self.verification(unit, way, scheme, harts.is_some());
            let verification = verification.with_context(|| format!("{place}: {scheme:?}"))?;
            let title = title(scheme);
            let sum = row(format!("{title}, sum"), hash + verification, How::Computed);
            if (unit, harts.is_some()) == (Unit::Cycles, true) {
                rows.push(
                    sum.noted("with the verification of the digest's signature, on one hart"),
                );
                continue;
            }
            let of_one = row(format!("{title}, verification"), verification, measured);
            rows.push(match scheme {
                FirstStageScheme::Walnut => {
                    let [digest, braid] = self.generators[usize::from(harts.is_some())];
                    of_one.noted(format!(
                        "research: broken; {digest} generators of the digest, {braid} of the signature"
                    ))
                }
                _ => of_one,
            });
            rows.push(sum);
        }
        Ok(rows)
    }

    /// Returns the instructions of each hart: shares, the root, and the same tree on one hart.
    fn by_hart(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for way in &WAYS {
            let row = |metric: String, value: u64| {
                Row::info(BY_HART, metric, "instructions", value as f64).of(way.0)
            };
            let mut sum = 0;
            for hart in 0..HARTS {
                let is_it =
                    |it: &FirstStageCount| it.harts == HARTS as u64 && it.who == hart.to_string();
                let share = self.find(Unit::Instructions, way, "share", is_it);
                let share = *share.first().with_context(|| format!("{}: a share", way.0))?;
                sum += share;
                rows.push(row(format!("hart {hart}, share"), share));
            }
            let one = |part: &str, harts: u64| {
                let found = self.find(Unit::Instructions, way, part, |it| it.harts == harts);
                found.first().copied().with_context(|| format!("{}: no {part}", way.0))
            };
            let whole = one("share", 1)?;
            ensure!(
                sum.abs_diff(whole) as f64 <= SHARES * whole as f64,
                "{}: shares of {sum}, {whole} on one hart",
                way.0
            );
            rows.push(row("hart 0, root".to_owned(), one("root", HARTS as u64)?));
            rows.push(row("one hart, all blocks".to_owned(), whole));
        }
        Ok(How::Counted.made(rows))
    }

    /// Returns how many times less each way costs, where form and work are the same.
    fn speed_ups(&self, is_simulated: bool) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        let units = [Some(Unit::Instructions), is_simulated.then_some(Unit::Cycles)];
        for unit in units.into_iter().flatten() {
            let ways = if unit == Unit::Cycles { &WAYS[..ON_ROCKET] } else { &WAYS };
            for scheme in FirstStageScheme::ALL {
                let metric = format!("{}, sum in {}", title(scheme), unit.name());
                let sum = |way, harts| {
                    self.sum(unit, way, scheme, harts).with_context(|| format!("{metric}: no sum"))
                };
                let row = |one: u64, other: u64, place: String| {
                    Row::info(SPEED_UP, &metric, "times", one as f64 / other as f64)
                        .of(&place)
                        .how(How::Computed)
                };
                for way in ways.iter().skip(1) {
                    let place = format!("{}, by portable", config(way, None));
                    rows.push(row(sum(&WAYS[0], None)?, sum(way, None)?, place));
                }
                for way in ways {
                    let all = config(way, Some(HARTS));
                    let other_form = Row::absent(SPEED_UP, &metric, "times", OTHER_FORM);
                    rows.push(other_form.of(&format!("{all}, by one message")));
                    // Cycles of one hart with the tree were not simulated.
                    if unit == Unit::Instructions {
                        let place = format!("{all}, by one hart with the same tree");
                        rows.push(row(sum(way, Some(1))?, sum(way, Some(HARTS))?, place));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Formats all counts as CSV.
    pub fn csv(&self) -> String {
        let mut text =
            "machine,hart,kernels,form,part,who,harts,blocks,instructions,cycles\n".to_owned();
        for FirstStageSample { machine, hart, count } in &self.samples {
            let FirstStageCount { is_chosen, form, part, who, harts, blocks, instructions, cycles } =
                count;
            let kernels = if *is_chosen { "chosen" } else { "portable" };
            let cycles = cycles.map_or(String::new(), |cycles| cycles.to_string());
            text += &format!(
                "{machine},{hart},{kernels},{form},{part},{who},{harts},{blocks},{instructions},{cycles}\n"
            );
        }
        text
    }
}

const OTHER_FORM: &str =
    "no ratio: a tree is another form than one message, which cannot be hashed by several harts";

fn why_not_on_rocket(way: &FirstStageWay) -> &'static str {
    if way.0.starts_with("vectors") {
        "Rocket has no vector unit"
    } else {
        "this Rocket is RV64GC, without Zbb, Zknh and Zbc"
    }
}

fn config((name, ..): &FirstStageWay, harts: Option<usize>) -> String {
    match harts {
        None => (*name).to_owned(),
        Some(harts) => format!("{name}, {harts} harts"),
    }
}

const fn title(scheme: FirstStageScheme) -> &'static str {
    match scheme {
        FirstStageScheme::Walnut => "WalnutDSA",
        FirstStageScheme::Ed25519 => "Ed25519",
        FirstStageScheme::EcdsaP256 => "ECDSA P-256",
        FirstStageScheme::Lms => "LMS-SHA256 H10/W4",
        FirstStageScheme::MlDsa44 => "ML-DSA-44",
        FirstStageScheme::MlDsa65 => "ML-DSA-65",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of all ways on the emulator, with costs that depend on way and harts alone.
    fn counted() -> FirstStage {
        let mut samples = Vec::new();
        for (cost, (_, hart, is_chosen)) in (1..).zip(&WAYS) {
            let mut add = |form: &str, part: &str, who: &str, harts, blocks, instructions| {
                let count = FirstStageCount {
                    is_chosen: *is_chosen,
                    form: form.to_owned(),
                    part: part.to_owned(),
                    who: who.to_owned(),
                    harts,
                    blocks,
                    instructions,
                    cycles: None,
                };
                samples.push(FirstStageSample {
                    machine: EMULATOR.to_owned(),
                    hart: (*hart).to_owned(),
                    count,
                });
            };
            add("flat", "hash", "", 1, 0, 6000 / cost);
            add("tree", "share", "0", 1, 31, 3100);
            add("tree", "root", "", 1, 0, 40);
            add("tree", "root", "", 4, 0, 40);
            for hart in 0..4 {
                add("tree", "share", &hart.to_string(), 4, 8, if hart < 3 { 800 } else { 700 });
            }
            for scheme in FirstStageScheme::ALL {
                add("flat", "verify", scheme.name(), 1, 0, 600 / cost);
                add("tree", "verify", scheme.name(), 1, 0, 160);
            }
        }
        FirstStage { samples, generators: [[704, 1000]; 2] }
    }

    #[test]
    fn a_ratio_stands_only_between_the_same_forms() {
        let rows = counted().rows().unwrap();
        let find = |table: &str, metric: &str, config: &str| {
            let is_it =
                |row: &&Row| (&*row.table, &*row.metric, &*row.config) == (table, metric, config);
            rows.iter().find(is_it).unwrap_or_else(|| panic!("{table}, {metric}, {config}")).ours
        };
        assert_eq!(find(COUNTED, "SHA-256", "scalar assembly"), Some(3000.0));
        assert_eq!(find(COUNTED, "Ed25519, sum", "scalar assembly"), Some(3300.0));
        assert_eq!(find(COUNTED, "Ed25519, sum", "scalar assembly, 4 harts"), Some(1000.0));
        let metric = "Ed25519, sum in instructions";
        assert_eq!(find(SPEED_UP, metric, "scalar assembly, by portable"), Some(2.0));
        assert_eq!(find(SPEED_UP, metric, "scalar assembly, 4 harts, by one message"), None);
        let same = "scalar assembly, 4 harts, by one hart with the same tree";
        assert_eq!(find(SPEED_UP, metric, same), Some(3.3));
        assert_eq!(find(SIMULATED, "sum", "vectors, VLEN 256"), None);
        assert!(rows.iter().filter(|row| row.ours.is_none()).all(|row| row.note.is_some()));
    }

    #[test]
    fn shares_that_are_not_the_whole_are_refused() {
        let mut counted = counted();
        let is_share = |it: &&mut FirstStageSample| it.count.who == "2" && it.count.harts == 4;
        counted.samples.iter_mut().find(is_share).unwrap().count.instructions += 100;
        assert!(counted.rows().is_err());
    }

    #[test]
    fn signers_sign_both_digests() {
        let mut image = vec![0; IMAGE_LEN];
        fill_image(&mut image);
        let plan = plan(&image);
        let (all, _) = signed(&plan).unwrap();
        assert_eq!(all.len(), FirstStageScheme::ALL.len());
        for Signed { scheme, key, signatures: [of_digest, of_root] } in &all {
            let is_valid = |digest: &[u8; 32], signature: &[u8]| {
                scheme.verify(&Kernels::PORTABLE, key, digest, signature)
            };
            assert!(is_valid(&plan.digest, of_digest) && is_valid(&plan.root, of_root));
            assert!(!is_valid(&plan.digest, of_root) && !is_valid(&plan.root, of_digest));
        }
    }
}
