//! A boot as data: what is stored, drawn and compared.

use hartlock_handoff::{Stage, Step};
use hartlock_image::Reason;
use serde::{Deserialize, Serialize, Serializer};

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
    /// Whether time is cycles of a simulated machine, whose harts take the same ones in every run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_cycles: bool,
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
    /// Where the rule is.
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
    /// Implementation of the hash that was used or, of a step `implementation`, is not used.
    pub implementation: Option<String>,
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
    /// Security version, a mask of harts, ticks, or wrong hashes of an implementation; see boot flow §3.5.
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

    /// Whether it is what one hart did of a step that is in the log as well.
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

    /// Where the scale ends, in words. The kernel is entered also if nothing was heard from it later.
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

    /// Whether the stages let the kernel in without having looked at anything.
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

pub(super) fn code_text(number: u32) -> String {
    format!("E{number:04}")
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
