//! Kinds of work: what shares a colour and a place in the legend.

use super::boot::StepRecord;

/// The work that a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the legend")]
pub enum Kind {
    Start,
    Signature,
    Read,
    Hash,
    Verdict,
    Harts,
    Handover,
    /// A refusal, a fault, and every step that carries a reason against the boot.
    Refusal,
    /// A whole stage.
    Stage,
    /// Time that no log describes.
    Gap,
}

impl Kind {
    /// The kind of a step.
    pub fn of(step: &StepRecord) -> Self {
        if step.reason.is_some() {
            return Self::Refusal;
        }
        match step.step.as_str() {
            "signature" => Self::Signature,
            "read" => Self::Read,
            "hash" | "hash-part" => Self::Hash,
            "verdict" => Self::Verdict,
            "harts-start" | "harts-stop" => Self::Harts,
            "handover" => Self::Handover,
            "refusal" | "hart-fault" => Self::Refusal,
            // A kernel whose known answer was wrong.
            "implementation" if step.value != 0 => Self::Refusal,
            _ => Self::Start,
        }
    }

    /// The word for it, which is also its class in the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Signature => "signature",
            Self::Read => "read",
            Self::Hash => "hash",
            Self::Verdict => "verdict",
            Self::Harts => "harts",
            Self::Handover => "handover",
            Self::Refusal => "refusal",
            Self::Stage => "stage",
            Self::Gap => "gap",
        }
    }
}
