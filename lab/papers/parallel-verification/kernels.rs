//! Measures the cost of a byte in cycles on one hart of a core, for this project's kernels of the base
//! instruction set, for the portable form, and for other projects' hashes.

use anyhow::{Context, Result, ensure};
use hartlock_image::HashId;
use hartlock_jobs::kernels::mark_tag;
use hartlock_kernels::Tier;

use crate::peers;
use crate::peers::PeerCount;
use hartlock_device::bench::PACK_ADDRESS;
use hartlock_device::kernels::{Count, HARTS, KernelBench, read};
use hartlock_hw::machines;
use hartlock_hw::machines::model;
use hartlock_hw::machines::model::Core;
use hartlock_hw::machines::report;
use hartlock_hw::machines::report::{Section, Slots};
use hartlock_hw::machines::{End, Machine};
use hartlock_results::run::Row;

/// Hashes that signed images use; the other hashes share their kernels.
const HASHES: [HashId; 5] =
    [HashId::Sha256, HashId::Sha384, HashId::Sha3_256, HashId::Sha3_384, HashId::Kt128];
/// The hash that the ROM uses.
const ROM: HashId = HashId::Sha384;
/// Message length in bytes, as in `lab/peers/src/main.rs`. A hash takes seconds to simulate.
const LEN: usize = 8 << 10;
/// A shorter message length, for the cost of a further byte.
const SHORT: usize = 4 << 10;
/// Maximum number of cycles between the marks around a hash and the reading of its counters.
const MARK_CYCLES: u64 = 500;

/// Cost of the hash of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct HashCost {
    /// Tier of this project's kernel, or name of the other project.
    pub who: String,
    pub is_ours: bool,
    pub hash: String,
    pub bytes: u64,
    pub instructions: u64,
    pub cycles: u64,
    /// Breakdown of the cycles, which is known only for this project's kernels.
    pub slots: Option<Slots>,
}

impl HashCost {
    pub fn cycles_per_byte(&self) -> f64 {
        self.cycles as f64 / self.bytes as f64
    }

    pub fn instructions_per_byte(&self) -> f64 {
        self.instructions as f64 / self.bytes as f64
    }

    fn new(who: &str, is_ours: bool, count: Count, slots: Option<Slots>) -> Result<Self> {
        let Count { hash, bytes, instructions, cycles, .. } = count;
        let cycles = cycles.with_context(|| format!("{who} counted no cycles for {hash}"))?;
        Ok(Self { who: who.to_owned(), is_ours, hash, bytes, instructions, cycles, slots })
    }
}

/// Measures all hashes on this core, this project's first. Fails if a digest is wrong.
pub fn measure(core: Core) -> Result<Vec<HashCost>> {
    let mut all = ours(core, &HASHES, LEN)?;
    all.extend(ours(core, &HASHES, SHORT)?);
    eprintln!("peers on {}", core.name);
    let image = peers::build(core.name, HARTS[0].name, &[], &["soc"])?;
    let machine = model::machine(core, false)?;
    let folder = machines::folder(core);
    let peers = Machine { machine: &machine, program: &image, folder: &folder, options: &[] };
    let (console, _) = run(&peers)?;
    for PeerCount { peer, count, .. } in peers::read(core.name, &console)? {
        let is_right = [SHORT, LEN].contains(&(count.bytes as usize));
        ensure!(is_right, "{peer} hashed {} bytes", count.bytes);
        all.push(HashCost::new(&peer, false, count, None)?);
    }
    Ok(all)
}

/// Measures this project's kernels of these hashes.
fn ours(core: Core, hashes: &[HashId], len: usize) -> Result<Vec<HashCost>> {
    let machine = model::machine(core, false)?;
    let bench = KernelBench::for_machine(hashes, len)?;
    let pack = bench.pack();
    let pack = pack.to_str().context("the path of the pack is not UTF-8")?;
    let ours = Machine {
        machine: &machine,
        program: bench.elf(),
        folder: &machines::folder(core),
        options: &["--load".to_owned(), format!("{pack}@{PACK_ADDRESS:#x}")],
    };
    eprintln!("our kernels on {}", core.name);
    let (console, report) = run(&ours)?;
    of_ours(&console, &report)
}

/// Returns the cycles per byte of the ROM's hash, which is the portable form, from `all` or by a separate
/// measurement.
pub fn of_rom(core: Core, all: &[HashCost]) -> Result<f64> {
    let of = |all: &[HashCost]| {
        let is_it = |it: &&HashCost| it.who == Tier::Portable.name() && it.hash == ROM.name();
        whole(all).find(is_it).map(HashCost::cycles_per_byte)
    };
    match of(all) {
        Some(cycles) => Ok(cycles),
        None => of(&ours(core, &[ROM], LEN)?).context("the hash of the ROM was not counted"),
    }
}

/// The kind of cost per byte, so that only equal kinds are compared.
#[derive(Clone, Copy)]
pub enum CostKind {
    /// Cost per byte of a message of 8 KiB that is not in the cache, including start and padding.
    Message,
    /// Cost of a further byte of a message, which is the difference between two lengths.
    FurtherByte,
}

impl CostKind {
    /// Returns the cost in cycles per byte; `None` if a length was not measured.
    fn of(self, all: &[HashCost], it: &HashCost) -> Option<f64> {
        match self {
            Self::Message => Some(it.cycles_per_byte()),
            Self::FurtherByte => {
                let is_it = |other: &&HashCost| (&other.who, &other.hash) == (&it.who, &it.hash);
                let short = all.iter().filter(|other| other.bytes == SHORT as u64).find(is_it)?;
                let cycles = it.cycles.checked_sub(short.cycles)?;
                Some(cycles as f64 / (it.bytes - short.bytes) as f64)
            }
        }
    }
}

/// Returns the measurements with the full message length.
fn whole(all: &[HashCost]) -> impl Iterator<Item = &HashCost> {
    all.iter().filter(|it| it.bytes == LEN as u64)
}

/// Returns the best of the other projects, and its cycles per byte.
pub fn best_peer(all: &[HashCost], hash: HashId, cost: CostKind) -> Option<(&str, f64)> {
    let of_hash = whole(all).filter(|it| !it.is_ours && it.hash == hash.name());
    let costs = of_hash.filter_map(|it| Some((it.who.as_str(), cost.of(all, it)?)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Formats each kernel as a line of CSV.
pub fn csv(all: &[HashCost]) -> String {
    let mut text = "who,hash,bytes,instructions,cycles\n".to_owned();
    for HashCost { who, hash, bytes, instructions, cycles, .. } in all {
        text += &format!("{who},{hash},{bytes},{instructions},{cycles}\n");
    }
    text
}

/// Returns the costs per byte, and the breakdown of the cycles of this project's kernels.
pub fn rows(all: &[HashCost]) -> Vec<Row> {
    let mut rows = Vec::new();
    let costs = [CostKind::Message, CostKind::FurtherByte];
    for (hash, cost) in HASHES.into_iter().flat_map(|hash| costs.map(|cost| (hash, cost))) {
        for it in whole(all).filter(|it| it.hash == hash.name()) {
            let Some(cycles) = cost.of(all, it) else { continue };
            let who = match it.who.as_str() {
                "rv64" => "ours, RV64I in assembly",
                "portable" => "ours, portable",
                other => other,
            };
            let (metric, note) = match cost {
                CostKind::Message => (
                    hash.name().to_owned(),
                    format!(
                        "{:.2} instructions/byte; {} KiB from memory",
                        it.instructions_per_byte(),
                        it.bytes >> 10
                    ),
                ),
                CostKind::FurtherByte => (
                    format!("{}, a further byte", hash.name()),
                    format!("between messages of {} and {} KiB", SHORT >> 10, LEN >> 10),
                ),
            };
            let row = Row::info("Kernels", metric, "cycles/byte", cycles).of(who).noted(note);
            rows.push(match best_peer(all, hash, cost) {
                Some((_, peer)) if it.is_ours => row.peer(peer),
                _ => row,
            });
        }
    }
    for hash in [HashId::Sha3_384, HashId::Sha384] {
        let is_it = |it: &&HashCost| it.who == Tier::Rv64.name() && it.hash == hash.name();
        let slots = whole(all).find(is_it).and_then(|it| it.slots.as_ref());
        for (slot, cycles) in slots.map_or(&[][..], |slots| &slots.slots) {
            let cycles = 100.0 * *cycles as f64 / slots.map_or(1, Slots::cycles) as f64;
            let row = Row::info("Where cycles go", slot.clone(), "percent", cycles).of(hash.name());
            rows.push(row.noted(meaning(slot)));
        }
    }
    rows
}

/// Explains a category in the machine's report (hw/README.md).
fn meaning(slot: &str) -> &'static str {
    match slot {
        "issued" => "an instruction left the decode stage",
        "redirected" => "the next instruction was the wrong one",
        "starved" => "the next instruction had not been fetched",
        "waiting" => "the hart slept",
        "interlocked" => "an operand was a cycle or two away",
        "missed" => "an operand was further away",
        "blocked" => "the data cache was busy, with a miss most of all",
        _ => "fences, CSRs and the like",
    }
}

/// Runs a program that needs no storage and must succeed; returns console output and report.
fn run(machine: &Machine<'_>) -> Result<(String, String)> {
    let (console, report, end) = machine.run(&[])?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    Ok((console, report))
}

/// Returns the counts of this project's kernels, each with the machine's breakdown.
fn of_ours(console: &str, report: &str) -> Result<Vec<HashCost>> {
    let hart = HARTS.first().context("a hart with the base instruction set")?;
    let (counts, faults) = read(hart, console)?;
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    ensure!(!counts.is_empty(), "nothing was counted");
    let sections = report::sections(report)?;
    counts.into_iter().map(|count| with_slots(count, &sections)).collect()
}

fn with_slots(count: Count, sections: &[Section]) -> Result<HashCost> {
    let hash = HashId::from_name(&count.hash).context("a hash of ours")?;
    let tier = Tier::ALL.into_iter().find(|tier| tier.name() == count.tier);
    let tag = mark_tag(hash, tier.context("a tier of ours")?);
    let section = sections.iter().find(|section| section.tag == tag);
    let slots = section.and_then(|section| section.harts.first()).cloned();
    let slots = slots.with_context(|| format!("{} {} has no mark", count.hash, count.tier))?;
    let who = count.tier.clone();
    let measured = HashCost::new(&who, true, count, Some(slots.clone()))?;
    // The cycles that the hart counted and those of the machine's report must belong to the same run.
    let between = slots.cycles().checked_sub(measured.cycles);
    ensure!(
        between.is_some_and(|cycles| cycles < MARK_CYCLES),
        "{who} {}: {} cycles counted, {} seen",
        measured.hash,
        measured.cycles,
        slots.cycles()
    );
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count() -> Count {
        Count {
            hash: "sha3-384".into(),
            tier: "rv64".into(),
            form: "one".into(),
            bytes: 100,
            instructions: 4600,
            cycles: Some(4700),
        }
    }

    #[test]
    fn a_further_byte_is_the_difference_of_two_lengths() {
        let of = |who: &str, is_ours, bytes: usize, cycles| HashCost {
            who: who.into(),
            is_ours,
            hash: "sha384".into(),
            bytes: bytes as u64,
            instructions: 0,
            cycles,
            slots: None,
        };
        let all = [
            of("rv64", true, LEN, 8 * 8192),
            of("a", false, LEN, 9 * 8192),
            of("a", false, SHORT, 9 * 8192 - 8 * 4096),
            of("b", false, LEN, 8 * 8192 + 1),
            of("b", false, SHORT, 8 * 8192 + 1 - 9 * 4096),
        ];
        assert_eq!(best_peer(&all, HashId::Sha384, CostKind::FurtherByte), Some(("a", 8.0)));
        assert_eq!(best_peer(&all, HashId::Sha384, CostKind::Message).map(|it| it.0), Some("b"));
        // Without a second length there is no cost of a further byte.
        assert_eq!(rows(&all).iter().filter(|row| row.config.starts_with("ours")).count(), 1);
    }

    fn report(tag: u64, seen: u64) -> String {
        format!(
            "mark 0 cycle 5\nhart 0 retired 1 issued 1 other 4\nmark {tag} cycle 9\n\
             hart 0 retired 4605 issued {seen} other 20\nend cycle 9\n"
        )
    }

    #[test]
    fn finds_where_the_cycles_of_a_kernel_went() {
        let sections = report::sections(&report(0x205, 4700)).unwrap();
        let measured = with_slots(count(), &sections).unwrap();
        assert_eq!((measured.who.as_str(), measured.cycles_per_byte()), ("rv64", 47.0));
        assert_eq!(measured.slots.unwrap().slots[0], ("issued".to_owned(), 4700));
    }

    #[test]
    fn refuses_a_report_of_something_else() {
        let of = |count: Count, report: &str| with_slots(count, &report::sections(report).unwrap());
        assert!(of(count(), &report(0x204, 4700)).is_err());
        assert!(of(count(), &report(0x205, 4000)).is_err());
        assert!(of(count(), &report(0x205, 9000)).is_err());
        assert!(of(Count { cycles: None, ..count() }, &report(0x205, 4700)).is_err());
    }
}
