//! The measurements of a boot as data and as pictures. Each boot is one object, with times relative
//! to the start of its first entry (boot flow §3.5).
//!
//! | module | content |
//! |---|---|
//! | `measurement` | reads the measurement log from the memory of a machine |
//! | `outcome` | the outcome of a boot |
//! | `lib`, `stored` | convert the log to JSON, and read stored JSON |
//! | `table`, `chart` | the log as a table and as bars |
//! | [`report`] | a self-contained page about one boot, or several boots next to each other |
//!
//! Linux can write to the log of a device, so its entries are not trusted then. They are shown,
//! and nothing is decided by them.

#![forbid(unsafe_code)]

mod boot;
mod chart;
mod cost;
mod kernels;
mod kind;
mod lanes;
mod measurement;
mod outcome;
mod quantity;
pub mod report;
mod stored;
mod table;
mod words;

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::HashId;

use boot::code_text;
pub use boot::{MachineInfo, RefusalInfo, SCHEMA, StepRecord, TimeBase, Timeline, Unit};
pub use chart::{Line, Look, Span, chart};
pub use cost::Cost;
pub(crate) use kernels::{KernelRemarks, reason_text, remarks as kernel_remarks};
pub use kind::Kind;
pub(crate) use lanes::{Group, Lane, groups, overlap_percent, ticks};
pub use measurement::{Measurements, Source, reason_of};
pub use outcome::Outcome;
pub use quantity::{bytes_text, factor_text, time_text};
pub use stored::{StoredError, read};
pub use table::table;
pub(crate) use words::together;

impl Timeline {
    /// Converts the entries of a boot to a common scale.
    pub fn new(
        outcome: &Outcome,
        measurements: Option<&Measurements>,
        machine: MachineInfo,
    ) -> Self {
        let entries = measurements.map_or(&[][..], |measured| &measured.entries);
        let ticks_per_second = measurements.map(|measured| measured.header.ticks_per_second);
        let scale = ClockConversion::new(entries, ticks_per_second.unwrap_or(1), &machine);
        Self {
            schema: SCHEMA,
            booted: *outcome == Outcome::Booted,
            outcome: outcome.name().to_owned(),
            refusal: match outcome {
                Outcome::Refused { stage, reason } => Some(RefusalInfo::new(*stage, *reason)),
                _ => None,
            },
            time_base: TimeBase {
                unit: scale.unit,
                note: note(scale.unit, &machine),
                ticks_per_second,
                joined: scale.joined.to_owned(),
            },
            stages: scale.shown(entries).map(|entry| record(entry, &scale)).collect(),
            machine,
        }
    }
}

fn note(unit: Unit, machine: &MachineInfo) -> String {
    match unit {
        Unit::Microseconds if machine.counts_cycles => format!(
            "Cycles of {}. Its harts take the same ones in every run; a chip has another clock.",
            machine.emulator
        ),
        Unit::Microseconds => format!(
            "Time of the clock of {}. It shows the order and the overlap of steps and depends on \
             the host; it is not the time of any board.",
            machine.emulator
        ),
        Unit::Instructions => format!(
            "Instructions that the one hart retired, counted by {}. Steps that wait for the disk \
             vary from run to run. They are not cycles, and not the time of any board.",
            machine.emulator
        ),
    }
}

/// The conversion from values of the log to the times that are shown.
struct ClockConversion {
    unit: Unit,
    joined: &'static str,
    ticks_per_second: u64,
    origin: u64,
    /// The value that is added to the counter of the loader.
    loader_shift: u64,
}

impl ClockConversion {
    fn new(entries: &[Entry], ticks_per_second: u64, machine: &MachineInfo) -> Self {
        let counts_instructions = machine.icount && machine.harts == 1;
        let unit = if counts_instructions { Unit::Instructions } else { Unit::Microseconds };
        let of = |stage: Stage| {
            let of_boot_hart = entries.iter().filter(|entry| is_step(entry));
            let times = of_boot_hart.filter(move |entry| entry.stage == stage);
            times.map(move |entry| raw(entry, unit))
        };
        // The counter `time` runs as long as the machine. `instret` is also one counter of the hart,
        // but firmware between the stages may write it.
        let rom_end = of(Stage::Rom).map(|(_, end)| end).max().unwrap_or(0);
        let loader_start = of(Stage::Loader).map(|(start, _)| start).min();
        let is_reset =
            unit == Unit::Instructions && loader_start.is_some_and(|start| start < rom_end);
        let loader_shift =
            if is_reset { rom_end.saturating_sub(loader_start.unwrap_or(0)) } else { 0 };
        let joined = match unit {
            Unit::Microseconds => "ROM and loader read the same counter, time.",
            Unit::Instructions if is_reset => {
                "The loader found the counter instret reset. Its entries are shown after those of the ROM; \
                 what OpenSBI executed in between is missing."
            }
            Unit::Instructions => {
                "ROM and loader read the same counter, instret; the gap between them is OpenSBI."
            }
        };
        let mut scale = Self { unit, joined, ticks_per_second, origin: 0, loader_shift };
        let of_boot_hart = entries.iter().filter(|entry| is_step(entry));
        scale.origin = of_boot_hart.map(|entry| scale.raw(entry).0).min().unwrap_or(0);
        scale
    }

    /// Returns the entries that have times in the unit. Parts of single harts and decryption have no count of
    /// instructions; instructions are used only with one hart, so the other steps hold the same
    /// information.
    fn shown<'a>(&self, entries: &'a [Entry]) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let has_parts = self.unit == Unit::Microseconds;
        let is_counted = |entry: &Entry| !matches!(entry.step, Step::HashPart | Step::Decrypt);
        entries.iter().filter(move |entry| has_parts || is_counted(entry))
    }

    /// Converts ticks of `time` to microseconds.
    fn ticks(&self, ticks: u64) -> f64 {
        ticks as f64 * 1e6 / self.ticks_per_second as f64
    }

    fn raw(&self, entry: &Entry) -> (u64, u64) {
        let (start, end) = raw(entry, self.unit);
        let shift = if entry.stage == Stage::Loader { self.loader_shift } else { 0 };
        (start.saturating_add(shift), end.saturating_add(shift))
    }

    /// Returns start and end of an entry in the unit, counted from the start of the first entry.
    fn times(&self, entry: &Entry) -> (f64, f64) {
        let (start, end) = self.raw(entry);
        let convert = |raw: u64| {
            let since = raw.saturating_sub(self.origin);
            match self.unit {
                Unit::Instructions => since as f64,
                Unit::Microseconds => self.ticks(since),
            }
        };
        // If the end of an entry was never written, it is set to its start.
        (convert(start), convert(end.max(start)))
    }
}

/// Returns true if the boot hart measured the entry. Entries of other harts do not affect the scale.
fn is_step(entry: &Entry) -> bool {
    !matches!(entry.step, Step::HashPart | Step::Kernel | Step::Decrypt)
}

fn raw(entry: &Entry, unit: Unit) -> (u64, u64) {
    match unit {
        Unit::Microseconds => entry.time,
        Unit::Instructions => entry.instret,
    }
}

fn record(entry: &Entry, scale: &ClockConversion) -> StepRecord {
    let (start, end) = scale.times(entry);
    StepRecord {
        stage: entry.stage.name().to_owned(),
        step: entry.step.name().to_owned(),
        payload: entry.payload.map(|payload| payload.name().to_owned()),
        bytes: entry.bytes,
        harts: entry.harts.count_ones(),
        harts_mask: entry.harts,
        implementation: kernels::name(entry.step, entry.kernel),
        start,
        end,
        unit: scale.unit,
        digest: entry.hash.map(|hash| hex(&entry.digest, hash)),
        hash: entry.hash.map(|hash| hash.name().to_owned()),
        reason: (entry.reason != 0).then(|| code_text(entry.reason)),
        value: entry.value,
        busy: matches!(entry.step, Step::HashPart | Step::Decrypt)
            .then(|| scale.ticks(entry.value)),
    }
}

fn hex(digest: &[u8], hash: HashId) -> String {
    digest.iter().take(hash.output_len()).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests;
