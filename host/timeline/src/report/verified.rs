//! The digests in the log, and whether the stage accepted them.

use crate::{StepRecord, Timeline, bytes_text};

/// A signed region or payload with its digest.
pub(super) struct Verified {
    pub(super) what: String,
    pub(super) by: String,
    pub(super) bytes: String,
    pub(super) harts: u32,
    pub(super) hash: String,
    pub(super) digest: String,
    /// The decision of the stage, `accepted` or `not accepted`, because a digest in the log does
    /// not imply acceptance.
    pub(super) status: &'static str,
}

/// Returns the signed regions and payloads, in the order of the log.
pub(super) fn of(timeline: &Timeline) -> Vec<Verified> {
    let with_digest = timeline.stages.iter().filter_map(|step| {
        let what = match (step.step.as_str(), &step.payload) {
            ("signature", _) => format!(
                "{} bundle, signed part, security version {}",
                if step.stage == "rom" { "boot" } else { "system" },
                step.value
            ),
            ("hash", Some(payload)) => payload.clone(),
            _ => return None,
        };
        Some(Verified {
            what,
            by: step.stage.clone(),
            bytes: bytes_text(step.bytes),
            harts: step.harts,
            hash: step.hash.clone()?,
            digest: step.digest.clone()?,
            status: if is_accepted(timeline, &step.stage) { "accepted" } else { "not accepted" },
        })
    });
    with_digest.collect()
}

/// Returns true if the stage has a verdict without a reason against it, and no refusal.
fn is_accepted(timeline: &Timeline, stage: &str) -> bool {
    let of_stage = || timeline.stages.iter().filter(|step| step.stage == stage);
    let is_for = |step: &StepRecord| step.step == "verdict" && step.reason.is_none();
    let is_against = |step: &StepRecord| step.step == "refusal";
    let is_refused = timeline.refusal.as_ref().is_some_and(|refusal| refusal.stage == stage);
    of_stage().any(is_for) && !of_stage().any(is_against) && !is_refused
}
