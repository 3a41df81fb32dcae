use super::*;
use hartlock_image::Reason;

use crate::measurement::Source;
use hartlock_handoff::{LogHeader, Step};
use hartlock_image::PayloadType;
use serde_json::Value;

/// The ticks per second of the example: 10 MHz, as on the board.
const RATE: u64 = 10_000_000;

struct Maker {
    entries: Vec<Entry>,
}

impl Maker {
    /// Adds an entry. Times are in ticks of 0.1 microseconds after an origin that is not zero.
    fn add(&mut self, stage: Stage, step: Step, start: u64, end: u64) -> &mut Entry {
        let time = (5_000 + start, 5_000 + end);
        let instret = (70 + start * 3, 70 + end * 3);
        self.entries.push(Entry { time, instret, harts: 1, ..Entry::new(stage, step) });
        self.entries.last_mut().unwrap()
    }

    fn payload(
        &mut self,
        stage: Stage,
        payload: PayloadType,
        bytes: u64,
        read: (u64, u64),
        hash: (u64, u64),
    ) {
        let entry = self.add(stage, Step::Read, read.0, read.1);
        (entry.payload, entry.bytes) = (Some(payload), bytes);
        let entry = self.add(stage, Step::Hash, hash.0, hash.1);
        (entry.payload, entry.bytes, entry.kernel) = (Some(payload), bytes, 1);
        (entry.hash, entry.digest) = (Some(HashId::Sha384), [payload as u8; 48]);
        if stage == Stage::Loader {
            entry.harts = 0b11111;
            self.parts(payload, bytes, hash);
        }
    }

    /// Adds the parts of harts 0 to 4, each of which hashed for less time than the previous one; a
    /// small payload has only hart 0. A hart with a higher number was idle for a longer part of its
    /// time.
    fn parts(&mut self, payload: PayloadType, bytes: u64, hash: (u64, u64)) {
        let harts = if bytes < 100_000 { 1 } else { 5 };
        for hart in 0..harts {
            let (start, end) = (hash.0 + hart * 1_000, hash.1 - hart * 2_000);
            let entry = self.add(Stage::Loader, Step::HashPart, start, end);
            (entry.payload, entry.kernel, entry.harts) = (Some(payload), 1, 1 << hart);
            entry.instret = (0, 0);
            entry.bytes = bytes / harts;
            entry.value = (end - start) * (95 - 20 * hart) / 100;
        }
    }
}

/// Returns a boot of a Debian kernel with five harts. If `is_refused`, the loader refuses at the
/// end.
pub(crate) fn example(is_refused: bool) -> (Outcome, Measurements) {
    let mut maker = Maker { entries: Vec::new() };
    let (rom, loader) = (Stage::Rom, Stage::Loader);
    maker.add(rom, Step::Start, 0, 3_020_000);
    let entry = maker.add(rom, Step::Signature, 3_020_000, 3_160_000);
    (entry.bytes, entry.value) = (4_096, 7);
    (entry.hash, entry.digest) = (Some(HashId::Sha384), [0xb0; 48]);
    maker.payload(
        rom,
        PayloadType::Opensbi,
        278_528,
        (3_160_000, 3_190_000),
        (3_165_000, 3_310_000),
    );
    maker.payload(rom, PayloadType::Loader, 65_536, (3_310_000, 3_320_000), (3_312_000, 3_350_000));
    maker.payload(rom, PayloadType::BootFdt, 8_192, (3_350_000, 3_351_000), (3_350_500, 3_356_000));
    maker.add(rom, Step::Verdict, 3_356_000, 3_357_000);
    maker.add(rom, Step::Handover, 3_357_000, 3_390_000);
    maker.add(loader, Step::Start, 4_100_000, 4_130_000);
    let entry = maker.add(loader, Step::Signature, 4_130_000, 4_290_000);
    (entry.bytes, entry.value) = (4_096, 12);
    (entry.hash, entry.digest) = (Some(HashId::Sha384), [0x5e; 48]);
    maker.add(loader, Step::HartsStart, 4_290_000, 4_330_000).harts = 0b11111;
    maker.payload(
        loader,
        PayloadType::Kernel,
        31_200_000,
        (4_330_000, 9_000_000),
        (4_350_000, 10_900_000),
    );
    maker.payload(
        loader,
        PayloadType::Initramfs,
        43_400_000,
        (9_000_000, 16_200_000),
        (10_200_000, 19_900_000),
    );
    maker.payload(
        loader,
        PayloadType::SystemFdt,
        8_192,
        (16_200_000, 16_201_000),
        (19_900_000, 19_905_000),
    );
    maker.add(loader, Step::HartsStop, 19_905_000, 19_960_000).harts = 0b11111;
    let outcome = if is_refused {
        maker.add(loader, Step::Verdict, 19_960_000, 19_961_000).reason = 801;
        maker.add(loader, Step::Refusal, 19_961_000, 19_961_000).reason = 801;
        Outcome::Refused { stage: loader, reason: Reason::PayloadDigestMismatch }
    } else {
        maker.add(loader, Step::Verdict, 19_960_000, 19_961_000);
        maker.add(loader, Step::Handover, 19_961_000, 20_120_000);
        Outcome::Booted
    };
    let header = LogHeader { ticks_per_second: RATE, generation: 1 };
    (outcome, Measurements { source: Source::Log, header, entries: maker.entries })
}

pub(crate) fn machine(icount: bool) -> MachineInfo {
    MachineInfo {
        emulator: "QEMU 10.0.13".into(),
        cpu: "rv64".into(),
        harts: if icount { 1 } else { 5 },
        icount,
        counts_cycles: false,
    }
}

pub(crate) fn timeline(is_refused: bool, icount: bool) -> Timeline {
    let (outcome, measurements) = example(is_refused);
    Timeline::new(&outcome, Some(&measurements), machine(icount))
}

/// Returns the example with notes about implementations: number, harts, and hashes whose known
/// answer was wrong.
pub(crate) fn with_kernels(kernels: &[(u32, u64, u64)]) -> Timeline {
    let (outcome, mut measurements) = example(false);
    for (kernel, harts, value) in kernels.iter().copied().rev() {
        let time = (5_000, 5_001);
        let entry = Entry { time, kernel, harts, value, ..Entry::new(Stage::Loader, Step::Kernel) };
        measurements.entries.insert(1, entry);
    }
    Timeline::new(&outcome, Some(&measurements), machine(false))
}

#[test]
fn the_json_has_the_documented_fields() {
    let value: Value = serde_json::to_value(timeline(false, false)).unwrap();
    assert_eq!(value["booted"], true);
    assert_eq!(value["schema"], 1);
    let stages = value["stages"].as_array().unwrap();
    for step in stages {
        for field in
            ["stage", "step", "payload", "bytes", "harts", "implementation", "start", "end", "unit"]
        {
            assert!(step.get(field).is_some(), "{field} is not in {step}");
        }
        assert_eq!(step["unit"], "us");
        assert!(step["start"].as_f64().unwrap() <= step["end"].as_f64().unwrap());
    }
    assert_eq!(stages[0]["start"], 0);
    assert_eq!(stages[0]["payload"], Value::Null);
    assert_eq!(stages[1]["end"], 316_000);
    let hash = stages.iter().find(|step| step["payload"] == "kernel" && step["step"] == "hash");
    let hash = hash.unwrap();
    assert_eq!((&hash["harts"], &hash["harts_mask"]), (&5.into(), &31.into()));
    assert_eq!(hash["implementation"], "portable");
    assert_eq!(hash["digest"], "10".repeat(48));
}

#[test]
fn the_json_says_what_each_hart_hashed() {
    let value: Value = serde_json::to_value(timeline(false, false)).unwrap();
    let stages = value["stages"].as_array().unwrap();
    let is_part = |step: &&Value| step["step"] == "hash-part" && step["payload"] == "kernel";
    let parts: Vec<_> = stages.iter().filter(is_part).collect();
    assert_eq!(parts.len(), 5);
    assert_eq!((&parts[3]["harts"], &parts[3]["harts_mask"]), (&1.into(), &8.into()));
    assert_eq!((&parts[0]["start"], &parts[0]["end"]), (&435_000.into(), &1_090_000.into()));
    assert_eq!(parts[0]["busy"], 622_250);
    assert_eq!(parts[0]["bytes"], 6_240_000);
    let others = stages.iter().filter(|step| step["step"] != "hash-part");
    assert!(others.into_iter().all(|step| step["busy"] == Value::Null));
}

#[test]
fn what_single_harts_did_changes_no_scale() {
    let (outcome, mut measurements) = example(false);
    // A hart that finished late may have written wrong numbers.
    for entry in measurements.entries.iter_mut().filter(|entry| entry.step == Step::HashPart) {
        (entry.time, entry.value) = ((3, u64::MAX), u64::MAX);
    }
    let spoilt = Timeline::new(&outcome, Some(&measurements), machine(false));
    let sound = timeline(false, false);
    assert_eq!(spoilt.total(), sound.total());
    assert!(spoilt.steps().eq(sound.steps()));
    assert!(spoilt.stages.iter().all(|step| step.busy_percent().is_none_or(|busy| busy <= 100)));
    // Parts are not shown if instructions are counted.
    assert!(timeline(false, true).stages.iter().all(|step| !step.is_part()));
}

#[test]
fn a_boot_that_looked_at_nothing_is_known_by_its_log() {
    let mut unverified = timeline(false, false);
    assert!(unverified.reached_kernel() && !unverified.verified_nothing());
    unverified.stages.retain(|step| {
        !["signature", "hash", "hash-part", "verdict"].contains(&step.step.as_str())
    });
    assert!(unverified.verified_nothing());
    // A device that refuses before its first check verified nothing either, but it starts no
    // kernel.
    unverified.booted = false;
    assert!(!unverified.verified_nothing());
    assert!(!timeline(true, false).reached_kernel());
}

#[test]
fn a_kernel_that_says_nothing_was_entered_all_the_same() {
    let (_, measurements) = example(false);
    let silent = Timeline::new(&Outcome::TimedOut, Some(&measurements), machine(false));
    assert_eq!(silent.ended(), "the kernel's entry");
    assert!(!silent.reached_kernel(), "the log does not say that the kernel was reached");
    let mut early = silent;
    early.stages.retain(|step| step.step != "handover" || step.stage == "rom");
    assert_eq!(early.ended(), "the last entry");
    assert_eq!(timeline(true, false).ended(), "the refusal");
}

#[test]
fn the_json_names_the_kernels() {
    let value = serde_json::to_value(with_kernels(&[(6, 0b10, 0b11), (9, 1, 0)])).unwrap();
    let kernel = |index: usize| value["stages"][index].clone();
    assert_eq!(
        (&kernel(1)["step"], &kernel(1)["implementation"]),
        (&"implementation".into(), &"zvknh".into())
    );
    assert_eq!((&kernel(1)["harts_mask"], &kernel(1)["value"]), (&2.into(), &3.into()));
    assert_eq!(kernel(2)["implementation"], "other-9");
}

#[test]
fn a_refused_boot_says_who_and_why() {
    let value: Value = serde_json::to_value(timeline(true, false)).unwrap();
    assert_eq!((&value["booted"], &value["outcome"]), (&false.into(), &"refused".into()));
    assert_eq!(value["refusal"]["stage"], "loader");
    assert_eq!(value["refusal"]["code"], "E0801");
    assert!(value["refusal"]["hint"].as_str().unwrap().len() > 10);
    let last = value["stages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["step"], &last["reason"]), (&"refusal".into(), &"E0801".into()));
}

#[test]
fn instructions_are_counted_on_one_hart_only() {
    let timeline = timeline(false, true);
    assert_eq!(timeline.time_base.unit, Unit::Instructions);
    assert_eq!(timeline.stages[1].start, 9_060_000.0);
    assert!(timeline.time_base.joined.contains("the same counter, instret"));
    let five = MachineInfo { harts: 5, ..machine(true) };
    let (outcome, measurements) = example(false);
    let timeline = Timeline::new(&outcome, Some(&measurements), five);
    assert_eq!(timeline.time_base.unit, Unit::Microseconds);
}

#[test]
fn a_counter_that_was_reset_is_laid_after_the_rom_and_said_so() {
    let (outcome, mut measurements) = example(false);
    let of_loader = |entry: &&mut Entry| entry.stage == Stage::Loader && entry.instret.0 > 0;
    for entry in measurements.entries.iter_mut().filter(of_loader) {
        entry.instret = (entry.instret.0 - 12_300_000, entry.instret.1 - 12_300_000);
    }
    let timeline = Timeline::new(&outcome, Some(&measurements), machine(true));
    assert!(timeline.time_base.joined.contains("reset"));
    let start_of = |stage| timeline.stages.iter().find(|step| step.stage == stage).unwrap().start;
    let rom_end = timeline.stages.iter().filter(|step| step.stage == "rom").map(|step| step.end);
    assert_eq!(start_of("loader"), rom_end.fold(0.0, f64::max));
    assert_eq!(start_of("rom"), 0.0);
}

#[test]
fn nonsense_in_a_log_makes_odd_numbers_and_no_panic() {
    let entry = |time| Entry { time, instret: time, ..Entry::new(Stage::Loader, Step::Hash) };
    let entries = vec![
        entry((u64::MAX, 0)),
        Entry { kernel: 99, reason: u32::MAX, ..Entry::new(Stage::Rom, Step::Refusal) },
        entry((0, u64::MAX)),
    ];
    let header = LogHeader { ticks_per_second: 1, generation: 0 };
    let measurements = Measurements { source: Source::Log, header, entries };
    for icount in [false, true] {
        let timeline = Timeline::new(&Outcome::TimedOut, Some(&measurements), machine(icount));
        assert!(timeline.stages.iter().all(|step| step.end >= step.start));
        assert!(!table(&timeline).is_empty());
    }
}

#[test]
fn without_a_log_there_is_an_outcome_and_nothing_else() {
    let timeline = Timeline::new(&Outcome::TimedOut, None, machine(false));
    assert_eq!((timeline.booted, timeline.outcome.as_str()), (false, "timed-out"));
    assert!(timeline.stages.is_empty());
    assert_eq!(table(&timeline), "no measurement log\n");
}

#[test]
fn cycles_of_a_machine_are_not_called_those_of_an_emulator() {
    let mut timeline = timeline(false, false);
    timeline.machine.counts_cycles = true;
    let text = table(&timeline);
    assert!(text.contains("cycles of a simulated machine") && !text.contains("emulator"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_table_fits_80_columns_and_names_its_time_base() {
    for (is_refused, icount) in [(false, false), (true, false), (false, true)] {
        let text = table(&timeline(is_refused, icount));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("not the time of any board"), "{text}");
        assert_eq!(text.contains("E0801"), is_refused);
        assert!(!text.contains("hash-part"), "{text}");
        assert!(text.contains("instructions") == icount);
    }
}
