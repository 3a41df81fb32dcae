//! Kinds of work. Each kind has a colour and an entry in the legend.

use super::boot::StepRecord;

/// The kind of work that a bar shows.
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
    /// A refusal, a fault, or a step that carries a reason against the boot.
    Refusal,
    /// A whole stage.
    Stage,
    /// Time for which there is no log.
    Gap,
}

impl Kind {
    /// Returns the kind of a step.
    pub fn of(step: &StepRecord) -> Self {
        if step.reason.is_some() {
            return Self::Refusal;
        }
        match step.step.as_str() {
            "signature" => Self::Signature,
            "read" => Self::Read,
            "hash" | "hash-part" | "decrypt" => Self::Hash,
            "verdict" => Self::Verdict,
            "harts-start" | "harts-stop" => Self::Harts,
            "handover" => Self::Handover,
            "refusal" | "hart-fault" => Self::Refusal,
            // The known answer of this implementation was wrong.
            "implementation" if step.value != 0 => Self::Refusal,
            _ => Self::Start,
        }
    }

    /// Returns the name of the kind, which is also its class in the page.
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
