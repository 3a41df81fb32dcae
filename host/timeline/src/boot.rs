//! The data of a boot, as it is stored, drawn and compared.

use hartlock_handoff::{Stage, Step};
use hartlock_image::Reason;
use serde::{Deserialize, Serialize, Serializer};

/// The version of this format. It is raised when a field changes its meaning; new fields may be added
/// without that.
pub const SCHEMA: u32 = 1;

/// The unit of times.
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
    /// True if the emulator counted instructions instead of time.
    pub icount: bool,
    /// True if times are cycles of a simulated machine, which are the same in every run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_cycles: bool,
}

/// The meaning of the times of a boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBase {
    /// The unit of `start` and `end`.
    pub unit: Unit,
    /// A description for readers: what the times are and what they are not.
    pub note: String,
    /// Ticks of the counter `time` per second, from the log; `None` without a log.
    pub ticks_per_second: Option<u64>,
    /// A description of how the entries of ROM and loader were brought to the same scale.
    pub joined: String,
}

/// A refusal: the stage and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalInfo {
    /// The stage, `rom` or `loader`.
    pub stage: String,
    /// The reason code, for example `E0801`.
    pub code: String,
    /// The name of the reason.
    pub reason: String,
    /// A sentence that says what happened.
    pub title: String,
    /// A sentence that says what to do.
    pub hint: String,
    /// The section of the specification with the rule.
    pub spec: String,
}

impl RefusalInfo {
    /// Makes the description of a refusal.
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

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The stage, `rom` or `loader`.
    pub stage: String,
    /// Name of the step.
    pub step: String,
    /// Name of the payload, if the step has one.
    pub payload: Option<String>,
    /// Number of bytes that were read, hashed or verified.
    pub bytes: u64,
    /// Number of harts that took part.
    pub harts: u32,
    /// The harts that took part: bit i stands for hart i.
    #[serde(default)]
    pub harts_mask: u64,
    /// The hash implementation that was used. In a step `implementation`, it is the one that is not used.
    pub implementation: Option<String>,
    /// Start of the step, in `unit`, counted from the start of the first entry.
    #[serde(serialize_with = "number")]
    pub start: f64,
    /// End of the step, counted like `start`.
    #[serde(serialize_with = "number")]
    pub end: f64,
    /// The unit of `start` and `end`.
    pub unit: Unit,
    /// The first 48 bytes of the digest, in hexadecimal.
    pub digest: Option<String>,
    /// Name of the hash.
    pub hash: Option<String>,
    /// The reason code, if the step carries one.
    pub reason: Option<String>,
    /// The value of the entry: a security version, a mask of harts, a number of ticks, or the hashes that
    /// an implementation computes wrongly; see boot flow §3.5.
    #[serde(default)]
    pub value: u64,
    /// The time for which the hart hashed between `start` and `end`, or all harts decrypted, in `unit`. Only steps
    /// `hash-part` and `decrypt` have it.
    #[serde(serialize_with = "optional_number")]
    #[serde(default)]
    pub busy: Option<f64>,
}

impl StepRecord {
    /// Returns the duration of the step, in `unit`.
    pub fn duration(&self) -> f64 {
        (self.end - self.start).max(0.0)
    }

    /// Returns true if the step is the part of one hart in another step, which is in the log as well.
    pub fn is_part(&self) -> bool {
        self.step == Step::HashPart.name()
    }

    /// Returns true if the step is only a note about a hart, whose duration is not shown.
    pub fn is_note(&self) -> bool {
        self.step == Step::Kernel.name()
    }

    /// Returns true if the implementation is that of a hash, which was used.
    pub(crate) fn hashes(&self) -> bool {
        !self.is_note() && self.step != Step::Decrypt.name()
    }

    /// Returns the number of the hart of a part.
    pub fn hart(&self) -> u32 {
        self.harts_mask.trailing_zeros()
    }

    /// Returns the name of the step for use within a sentence.
    pub(crate) fn in_words(&self) -> String {
        let stage = if self.stage == "rom" { "ROM" } else { self.stage.as_str() };
        match (self.step.as_str(), &self.payload) {
            ("read", Some(payload)) => format!("reading the {payload}"),
            ("hash", Some(payload)) => format!("hashing the {payload}"),
            ("decrypt", Some(payload)) => format!("decrypting the {payload}"),
            ("signature", _) => format!("the signature check of the {stage}"),
            (name, _) => format!("{name} of the {stage}"),
        }
    }

    /// Returns the share of its time for which the hart of a part was hashing, in percent.
    pub fn busy_percent(&self) -> Option<u32> {
        let (busy, duration) = (self.busy?, self.duration());
        // The counter of a hart that finished late may exceed the duration.
        (duration > 0.0).then(|| (busy / duration * 100.0).clamp(0.0, 100.0).round() as u32)
    }
}

/// The data of one boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The version of this format, see [`SCHEMA`].
    pub schema: u32,
    /// True if the device booted.
    pub booted: bool,
    /// The outcome: `booted`, `refused`, `timed-out`, `guest-stopped`, `interrupted` or
    /// `emulator-failed`.
    pub outcome: String,
    /// The refusal, if the boot ended with one.
    pub refusal: Option<RefusalInfo>,
    /// The machine that booted.
    pub machine: MachineInfo,
    /// The meaning of the times.
    pub time_base: TimeBase,
    /// The entries in the order of the log.
    pub stages: Vec<StepRecord>,
}

impl Timeline {
    /// Returns the steps of the boot, without the parts of single harts and without notes about harts.
    pub fn steps(&self) -> impl Iterator<Item = &StepRecord> {
        self.stages.iter().filter(|step| !step.is_part() && !step.is_note())
    }

    /// Returns the end of the last step. If the boot reached that step, it is the jump into the kernel.
    pub fn total(&self) -> f64 {
        self.steps().map(|step| step.end).fold(0.0, f64::max)
    }

    /// Returns true if the boot ended with the jump into the kernel.
    pub fn reached_kernel(&self) -> bool {
        let is_jump = |step: &StepRecord| step.step == Step::Handover.name();
        self.booted && self.steps().last().is_some_and(is_jump)
    }

    /// Returns a description of the end of the scale. The kernel was entered even if it printed nothing
    /// afterwards.
    pub fn ended(&self) -> &'static str {
        let is_jump = |step: &StepRecord| {
            step.stage == Stage::Loader.name() && step.step == Step::Handover.name()
        };
        // A separate root of trust hands over to the host.
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

    /// Returns true if the stages started the kernel without verifying anything.
    pub fn verified_nothing(&self) -> bool {
        const LOOKS: [Step; 3] = [Step::Signature, Step::Hash, Step::Verdict];
        let is_look = |step: &StepRecord| LOOKS.iter().any(|look| step.step == look.name());
        self.reached_kernel() && !self.steps().any(is_look)
    }

    /// Returns the longest step, for a sentence about the boot.
    pub fn longest(&self) -> Option<&StepRecord> {
        self.steps().max_by(|one, other| one.duration().total_cmp(&other.duration()))
    }
}

pub(super) fn code_text(number: u32) -> String {
    format!("E{number:04}")
}

/// Serializes whole numbers without a decimal point, since instructions are counted exactly.
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
