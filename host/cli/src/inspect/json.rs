//! The output of `hartlock inspect --json` (JSON.md).

use std::path::Path;

use hartlock_bundle::describe::Description;
use hartlock_bundle::inspect::{
    Field, FirstStage, Header, Inspection, Memory, Obstacle, Place, PolicyOutcome, Signature,
};
use hartlock_image::Family;
use serde::Serialize;

/// The fields of `hartlock/inspect-v1`.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    bundle: &'a Path,
    /// Always false, to state in the object itself that nothing was verified.
    verified: bool,
    file_size: u64,
    header: Option<&'a Header>,
    manifest: Option<&'a Description>,
    fault: Option<&'a Place>,
    signatures: &'a [Signature],
    policies: Vec<Policy>,
    memory: Option<&'a Memory>,
    /// Content of a first-stage image, if the file begins as one.
    first_stage: Option<&'a FirstStage>,
    /// Type of a file that is no bundle, if it is known.
    looks_like: Option<&'static str>,
    /// Signature schemes that a ROM or loader states that it carries.
    carries: Option<Vec<&'static str>>,
    fields: &'a [Field],
}

#[derive(Serialize)]
struct Policy {
    policy: &'static str,
    possible: bool,
    /// Reason code with which a device refuses the bundle, whichever keys it trusts.
    code: Option<String>,
    /// Family of the signature that is missing.
    lacks: Option<&'static str>,
}

impl<'a> Object<'a> {
    pub(super) fn new(bundle: &'a Path, inspection: &'a Inspection) -> Self {
        Self {
            bundle,
            verified: false,
            file_size: inspection.file_size,
            header: inspection.header.as_ref(),
            manifest: inspection.manifest.as_ref(),
            fault: inspection.place.as_ref(),
            signatures: &inspection.signatures,
            policies: inspection.policy_outcomes().iter().map(Policy::from).collect(),
            memory: inspection.memory.as_ref(),
            first_stage: inspection.first_stage.as_ref(),
            looks_like: inspection.looks_like,
            carries: inspection.carried_names(),
            fields: &inspection.fields,
        }
    }
}

impl From<&PolicyOutcome> for Policy {
    fn from(outcome: &PolicyOutcome) -> Self {
        let obstacle = outcome.obstacle;
        Self {
            policy: outcome.policy.name(),
            possible: obstacle.is_none(),
            code: obstacle.map(|it| format!("E{:04}", it.reason() as u16)),
            lacks: match obstacle {
                Some(Obstacle::Lacks(Family::Classical)) => Some("classical"),
                Some(Obstacle::Lacks(Family::PostQuantum)) => Some("post-quantum"),
                _ => None,
            },
        }
    }
}
