//! Checks whether signatures verify, and which policies they could satisfy.
//!
//! This module makes no decision about trust, because it has no trusted keys.

use hartlock_image::{Algorithm, Family, Policy, Reason, SignatureBlock, SignatureBlocks};
use serde::{Serialize, Serializer};

use crate::describe::Key;

/// A signature block with the result of its check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signature {
    /// Public key in the block. An attacker may have put it there.
    #[serde(flatten)]
    pub key: Key,
    /// Family of the algorithm, if the algorithm is known.
    #[serde(skip)]
    pub family: Option<Family>,
    /// Result of checking the signature over the signed region with that key.
    pub check: Check,
}

/// The result of checking one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The signature is valid for the public key.
    Verifies,
    /// A verifier refuses the signature with this reason.
    Fails(Reason),
    /// This build cannot verify signatures of the algorithm.
    NotCarried,
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Check::Verifies => serializer.serialize_str("verifies"),
            Check::Fails(reason) => serializer.collect_str(&format_args!("E{:04}", *reason as u16)),
            Check::NotCarried => serializer.serialize_str("not carried"),
        }
    }
}

/// Checks every block independently. A verifier stops at the first signature that fails (image format §8 step
/// 4).
pub(super) fn check_all(blocks: &SignatureBlocks<'_>, signed: &[u8]) -> Vec<Signature> {
    blocks
        .iter()
        .map(|block| Signature {
            key: Key::from(&hartlock_verify::key_record(block)),
            family: block.known_algorithm().map(Algorithm::family),
            check: check(block, signed),
        })
        .collect()
}

fn check(block: &SignatureBlock<'_>, signed: &[u8]) -> Check {
    // This is the verifier of the boot stages, not the faster one of the library that signs: the result must be
    // the same as on a device for unusual keys and signatures too.
    match hartlock_verify::check_signature(block, signed) {
        None => Check::NotCarried,
        Some(Ok(())) => Check::Verifies,
        Some(Err(reason)) => Check::Fails(reason),
    }
}

/// The answer to the question whether any set of trusted keys could satisfy a policy with these signatures
/// (image format §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyOutcome {
    /// The policy.
    pub policy: Policy,
    /// Reason why no set of trusted keys satisfies the policy; `None` if a set does.
    pub obstacle: Option<Obstacle>,
}

/// A reason why a policy cannot be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No signature verifies. The first one that can be checked fails for this reason.
    SignatureFails(Reason),
    /// The bundle is refused for another reason, which does not depend on trusted keys.
    Otherwise(Reason),
    /// No signature could be checked.
    NothingVerifies,
    /// No signature of this family verifies.
    Lacks(Family),
}

impl Obstacle {
    /// Returns the reason with which a verifier would refuse the bundle.
    pub const fn reason(self) -> Reason {
        match self {
            Obstacle::SignatureFails(reason) | Obstacle::Otherwise(reason) => reason,
            Obstacle::NothingVerifies => Reason::NoTrustedSigner,
            Obstacle::Lacks(_) => Reason::PolicyHybridNotMet,
        }
    }
}

/// Returns the result for every policy that a device or a trust list can have. `otherwise` is the reason for
/// which a device refuses the form of the bundle or the load addresses of its payloads, if there is one.
pub(super) fn policy_outcomes(
    signatures: &[Signature],
    otherwise: Option<Reason>,
) -> Vec<PolicyOutcome> {
    let failure = signatures.iter().find_map(|signature| match signature.check {
        Check::Fails(reason) => Some(Obstacle::SignatureFails(reason)),
        _ => None,
    });
    let families: Vec<_> = signatures
        .iter()
        .filter(|signature| signature.check == Check::Verifies)
        .filter_map(|signature| signature.family)
        .collect();
    // A device verifies only the signatures of the keys that it trusts.
    let nothing = families.is_empty().then_some(failure.unwrap_or(Obstacle::NothingVerifies));
    let missing = [Family::Classical, Family::PostQuantum]
        .into_iter()
        .find(|family| !families.contains(family))
        .map(Obstacle::Lacks);
    [Policy::Any, Policy::All, Policy::Hybrid]
        .into_iter()
        .map(|policy| {
            let lacking = if policy == Policy::Hybrid { missing } else { None };
            // The order is that in which a verifier checks the bundle (image format §8).
            let otherwise = otherwise.map(Obstacle::Otherwise);
            PolicyOutcome { policy, obstacle: nothing.or(lacking).or(otherwise) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(family: Option<Family>, check: Check) -> Signature {
        let key = Key { algorithm: String::new(), key_id: String::new(), published: None };
        Signature { key, family, check }
    }

    fn obstacles(signatures: &[Signature], otherwise: Option<Reason>) -> Vec<Option<Obstacle>> {
        policy_outcomes(signatures, otherwise).into_iter().map(|outcome| outcome.obstacle).collect()
    }

    #[test]
    fn a_signature_that_fails_does_not_count() {
        let failure = Reason::SignatureNotCanonical;
        let failing = signed(Some(Family::PostQuantum), Check::Fails(failure));
        let signatures = [signed(Some(Family::Classical), Check::Verifies), failing.clone()];
        let lacking = Some(Obstacle::Lacks(Family::PostQuantum));
        assert_eq!(obstacles(&signatures, None), [None, None, lacking]);
        assert_eq!(obstacles(&[failing], None), [Some(Obstacle::SignatureFails(failure)); 3]);
    }

    #[test]
    fn hybrid_needs_both_families() {
        let classical = signed(Some(Family::Classical), Check::Verifies);
        let post_quantum = signed(Some(Family::PostQuantum), Check::Verifies);
        // A signature of an algorithm that this build does not support is not counted.
        let foreign = signed(None, Check::NotCarried);
        let lacking = Some(Obstacle::Lacks(Family::PostQuantum));
        let nothing = Some(Obstacle::NothingVerifies);
        assert_eq!(obstacles(std::slice::from_ref(&classical), None), [None, None, lacking]);
        assert_eq!(obstacles(&[classical.clone(), foreign.clone()], None), [None, None, lacking]);
        assert_eq!(obstacles(&[classical, post_quantum], None), [None; 3]);
        assert_eq!(obstacles(&[foreign], None), [nothing; 3]);
    }

    #[test]
    fn signatures_count_before_everything_else() {
        let classical = signed(Some(Family::Classical), Check::Verifies);
        let misplaced = Some(Reason::OutsideMemory);
        let reasons: Vec<_> = obstacles(&[classical], misplaced)
            .into_iter()
            .map(|obstacle| obstacle.map(Obstacle::reason))
            .collect();
        assert_eq!(reasons, [misplaced, misplaced, Some(Reason::PolicyHybridNotMet)]);
    }
}
