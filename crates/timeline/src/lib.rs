//! What a boot measured, as data and as pictures: one object a boot, with times relative to its first
//! entry (boot flow §3.5).
//!
//! | module | what |
//! |---|---|
//! | `measurement` | the measurement log out of the memory of a machine |
//! | `outcome` | how a boot ended |
//! | `lib`, `stored` | the log as JSON; earlier ones read back |
//! | `table`, `chart` | the log as a table and as bars |
//! | [`report`] | one boot, or several beside each other, as one self-contained page |
//!
//! What a device writes to its log once Linux runs is its own word. It is shown, and decides nothing.

#![forbid(unsafe_code)]

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
use hartlock_image::{HashId, Reason};
use serde::{Deserialize, Serialize, Serializer};

pub use chart::{Line, Look, Span, chart};
pub use cost::Cost;
pub(crate) use kernels::{Remarks as KernelRemarks, reason_text, remarks as kernel_remarks};
pub use kind::Kind;
pub(crate) use lanes::{Group, Lane, groups, overlap_percent, ticks};
pub use measurement::{Measurements, Source, reason_of};
pub use outcome::Outcome;
pub use quantity::{bytes_text, factor_text, time_text};
pub use stored::{StoredError, read};
pub use table::table;
pub(crate) use words::together;

/// Grows when a field changes its meaning; new fields may come at any time.
pub const SCHEMA: u32 = 1;

/// What times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Microseconds of the emulator's clock.
    #[serde(rename = "us")]
    Microseconds,
    /// Retired instructions of the boot hart.
    #[serde(rename = "instructions")]
    Instructions,
}

/// The machine that booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineInfo {
    /// Name and version of the emulator.
    pub emulator: String,
    /// CPU model with its properties.
    pub cpu: String,
    /// Number of harts.
    pub harts: u32,
    /// Whether the emulator counted instructions instead of time.
    pub icount: bool,
}

/// What a time means, and what it does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBase {
    /// Unit of `start` and `end`.
    pub unit: Unit,
    /// In words.
    pub note: String,
    /// Ticks of `time` per second, from the log; none without one.
    pub ticks_per_second: Option<u64>,
    /// How the entries of ROM and loader were brought to one scale.
    pub joined: String,
}

/// Who refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalInfo {
    /// `rom` or `loader`.
    pub stage: String,
    /// For example `E0801`.
    pub code: String,
    /// The name of the reason.
    pub reason: String,
    /// What happened.
    pub title: String,
    /// What to do.
    pub hint: String,
    /// Where the rule is specified.
    pub spec: String,
}

impl RefusalInfo {
    /// Describes a refusal.
    pub fn new(stage: Stage, reason: Reason) -> Self {
        Self {
            stage: stage.name().to_owned(),
            code: code_text(reason as u32),
            reason: reason.name().to_owned(),
            title: reason.title().to_owned(),
            hint: reason.hint().to_owned(),
            spec: reason.spec().to_owned(),
        }
    }
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// `rom` or `loader`.
    pub stage: String,
    /// Name of the step.
    pub step: String,
    /// Name of the payload, if the step has one.
    pub payload: Option<String>,
    /// Bytes worked on.
    pub bytes: u64,
    /// Number of harts that took part.
    pub harts: u32,
    /// Which, bit i = hart i.
    #[serde(default)]
    pub harts_mask: u64,
    /// Hash kernel that was used or, of a step `kernel`, is not used.
    pub kernel: Option<String>,
    /// Start and end, in `unit`, since the first entry began.
    #[serde(serialize_with = "number")]
    pub start: f64,
    /// See `start`.
    #[serde(serialize_with = "number")]
    pub end: f64,
    /// What `start` and `end` count.
    pub unit: Unit,
    /// The first 48 bytes of the digest, in hexadecimal.
    pub digest: Option<String>,
    /// Name of the hash.
    pub hash: Option<String>,
    /// Reason code.
    pub reason: Option<String>,
    /// Security version, a mask of harts, ticks, or wrong hashes of a kernel; see boot flow §3.5.
    #[serde(default)]
    pub value: u64,
    /// Step `hash-part` only: how long the hart hashed between `start` and `end`, in `unit`.
    #[serde(serialize_with = "optional_number")]
    #[serde(default)]
    pub busy: Option<f64>,
}

impl StepRecord {
    /// How long it took.
    pub fn duration(&self) -> f64 {
        (self.end - self.start).max(0.0)
    }

    /// Whether it is what one hart did of a step that the log has as well.
    pub fn is_part(&self) -> bool {
        self.step == Step::HashPart.name()
    }

    /// Whether it says something about a hart, and took no time worth showing.
    pub fn is_note(&self) -> bool {
        self.step == Step::Kernel.name()
    }

    /// The hart of a part.
    pub fn hart(&self) -> u32 {
        self.harts_mask.trailing_zeros()
    }

    /// Its name within a sentence.
    pub(crate) fn in_words(&self) -> String {
        let stage = if self.stage == "rom" { "ROM" } else { self.stage.as_str() };
        match (self.step.as_str(), &self.payload) {
            ("read", Some(payload)) => format!("reading the {payload}"),
            ("hash", Some(payload)) => format!("hashing the {payload}"),
            ("signature", _) => format!("the signature check of the {stage}"),
            (name, _) => format!("{name} of the {stage}"),
        }
    }

    /// How much of its time the hart of a part was hashing, in percent.
    pub fn busy_percent(&self) -> Option<u32> {
        let (busy, duration) = (self.busy?, self.duration());
        // The counter of a hart that came late may say more than there was time.
        (duration > 0.0).then(|| (busy / duration * 100.0).clamp(0.0, 100.0).round() as u32)
    }
}

/// One boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Version of this format.
    pub schema: u32,
    /// Whether the device booted.
    pub booted: bool,
    /// `booted`, `refused`, `timed-out`, `guest-stopped`, `interrupted` or `emulator-failed`.
    pub outcome: String,
    /// Who refused, if the device was refused.
    pub refusal: Option<RefusalInfo>,
    /// What booted.
    pub machine: MachineInfo,
    /// What the times mean.
    pub time_base: TimeBase,
    /// Entries in the order of the log.
    pub stages: Vec<StepRecord>,
}

impl Timeline {
    /// Brings the entries of a boot to one scale.
    pub fn new(
        outcome: &Outcome,
        measurements: Option<&Measurements>,
        machine: MachineInfo,
    ) -> Self {
        let entries = measurements.map_or(&[][..], |measured| &measured.entries);
        let ticks_per_second = measurements.map(|measured| measured.header.ticks_per_second);
        let scale = Scale::new(entries, ticks_per_second.unwrap_or(1), &machine);
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

    /// Steps of the boot, without what single harts did of them and without notes about harts.
    pub fn steps(&self) -> impl Iterator<Item = &StepRecord> {
        self.stages.iter().filter(|step| !step.is_part() && !step.is_note())
    }

    /// The end of the last step: of a boot that came so far, the jump into the kernel.
    pub fn total(&self) -> f64 {
        self.steps().map(|step| step.end).fold(0.0, f64::max)
    }

    /// Whether the boot ended with the jump into the kernel.
    pub fn reached_kernel(&self) -> bool {
        let is_jump = |step: &StepRecord| step.step == Step::Handover.name();
        self.booted && self.steps().last().is_some_and(is_jump)
    }

    /// Where the scale ends, in words. The kernel is entered even if it printed nothing later.
    pub fn ended(&self) -> &'static str {
        let is_jump = |step: &StepRecord| {
            step.stage == Stage::Loader.name() && step.step == Step::Handover.name()
        };
        // A root of trust of its own hands over to the host.
        let is_release = |step: &StepRecord| {
            step.stage == Stage::Rom.name() && step.step == Step::Handover.name()
        };
        match self.outcome.as_str() {
            _ if self.steps().last().is_some_and(is_release) => "the release of the host",
            _ if self.reached_kernel() => "the kernel's entry",
            "refused" => "the refusal",
            _ if self.steps().last().is_some_and(is_jump) => "the kernel's entry",
            _ => "the last entry",
        }
    }

    /// Whether the stages started the kernel without any verification.
    pub fn verified_nothing(&self) -> bool {
        const LOOKS: [Step; 3] = [Step::Signature, Step::Hash, Step::Verdict];
        let is_look = |step: &StepRecord| LOOKS.iter().any(|look| step.step == look.name());
        self.reached_kernel() && !self.steps().any(is_look)
    }

    /// The longest step, for one sentence about a boot.
    pub fn longest(&self) -> Option<&StepRecord> {
        self.steps().max_by(|one, other| one.duration().total_cmp(&other.duration()))
    }
}

fn note(unit: Unit, machine: &MachineInfo) -> String {
    match unit {
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

/// From values of the log to what is shown.
struct Scale {
    unit: Unit,
    joined: &'static str,
    ticks_per_second: u64,
    origin: u64,
    /// Added to the counter of the loader.
    loader_shift: u64,
}

impl Scale {
    fn new(entries: &[Entry], ticks_per_second: u64, machine: &MachineInfo) -> Self {
        let counts_instructions = machine.icount && machine.harts == 1;
        let unit = if counts_instructions { Unit::Instructions } else { Unit::Microseconds };
        let of = |stage: Stage| {
            let of_boot_hart = entries.iter().filter(|entry| is_step(entry));
            let times = of_boot_hart.filter(move |entry| entry.stage == stage);
            times.map(move |entry| raw(entry, unit))
        };
        // `time` counts for as long as the machine runs. `instret` is one counter of the hart
        // too, but firmware between the stages may write it.
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

    /// Entries that have times in the unit: what single harts did is not counted in instructions,
    /// and where these are counted there is one hart, whose steps say the same.
    fn shown<'a>(&self, entries: &'a [Entry]) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let has_parts = self.unit == Unit::Microseconds;
        entries.iter().filter(move |entry| has_parts || entry.step != Step::HashPart)
    }

    /// Ticks of `time` in the unit.
    fn ticks(&self, ticks: u64) -> f64 {
        ticks as f64 * 1e6 / self.ticks_per_second as f64
    }

    fn raw(&self, entry: &Entry) -> (u64, u64) {
        let (start, end) = raw(entry, self.unit);
        let shift = if entry.stage == Stage::Loader { self.loader_shift } else { 0 };
        (start.saturating_add(shift), end.saturating_add(shift))
    }

    /// In the unit, since the first entry began.
    fn times(&self, entry: &Entry) -> (f64, f64) {
        let (start, end) = self.raw(entry);
        let convert = |raw: u64| {
            let since = raw.saturating_sub(self.origin);
            match self.unit {
                Unit::Instructions => since as f64,
                Unit::Microseconds => self.ticks(since),
            }
        };
        // An entry whose end was never written ends where it began.
        (convert(start), convert(end.max(start)))
    }
}

/// Whether the boot hart measured it: what others say changes no scale.
fn is_step(entry: &Entry) -> bool {
    !matches!(entry.step, Step::HashPart | Step::Kernel)
}

fn raw(entry: &Entry, unit: Unit) -> (u64, u64) {
    match unit {
        Unit::Microseconds => entry.time,
        Unit::Instructions => entry.instret,
    }
}

fn record(entry: &Entry, scale: &Scale) -> StepRecord {
    let (start, end) = scale.times(entry);
    StepRecord {
        stage: entry.stage.name().to_owned(),
        step: entry.step.name().to_owned(),
        payload: entry.payload.map(|payload| payload.name().to_owned()),
        bytes: entry.bytes,
        harts: entry.harts.count_ones(),
        harts_mask: entry.harts,
        kernel: kernels::name(entry.kernel),
        start,
        end,
        unit: scale.unit,
        digest: entry.hash.map(|hash| hex(&entry.digest, hash)),
        hash: entry.hash.map(|hash| hash.name().to_owned()),
        reason: (entry.reason != 0).then(|| code_text(entry.reason)),
        value: entry.value,
        busy: (entry.step == Step::HashPart).then(|| scale.ticks(entry.value)),
    }
}

fn code_text(number: u32) -> String {
    format!("E{number:04}")
}

fn hex(digest: &[u8], hash: HashId) -> String {
    digest.iter().take(hash.output_len()).map(|byte| format!("{byte:02x}")).collect()
}

/// Whole numbers without a decimal point: instructions are counted, not measured.
fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && *value < 9e15 {
        serializer.serialize_u64(*value as u64)
    } else {
        serializer.serialize_f64(*value)
    }
}

fn optional_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
