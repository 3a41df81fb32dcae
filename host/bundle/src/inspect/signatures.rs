//! Whether signatures verify, and which policies that could be enough for.
//!
//! Nothing here decides about trust: no key was given.

use hartlock_image::{Algorithm, Family, Policy, Reason, SignatureBlock, SignatureBlocks};
use serde::{Serialize, Serializer};

use crate::describe::Key;

/// A signature block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signature {
    /// The key in the block. An attacker can put one there.
    #[serde(flatten)]
    pub key: Key,
    /// Of the algorithm, if it is known.
    #[serde(skip)]
    pub family: Option<Family>,
    /// Whether the signature fits the key and the signed region.
    pub check: Check,
}

/// Result of checking one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A holder of the private key signed these bytes.
    Verifies,
    /// A verifier refuses it, with this reason.
    Fails(Reason),
    /// Of an algorithm that this build cannot verify.
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

/// Checks each block by itself. A verifier stops at the first that fails (image format §8
/// step 4).
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
    // The verifier of the boot stages, not the faster one that signs: both must agree about odd keys
    // and signatures.
    match hartlock_verify::check_signature(block, signed) {
        None => Check::NotCarried,
        Some(Ok(())) => Check::Verifies,
        Some(Err(reason)) => Check::Fails(reason),
    }
}

/// Whether any set of trusted keys could meet a policy with these signatures (image format §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prospect {
    /// The policy.
    pub policy: Policy,
    /// Why no set of trusted keys satisfies it; `None` if one does.
    pub obstacle: Option<Obstacle>,
}

/// Why a policy cannot be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No signature verifies; the first one that can be checked fails for this reason.
    SignatureFails(Reason),
    /// The bundle is refused for another reason, whichever key signed it.
    Otherwise(Reason),
    /// No signature could be checked.
    NothingVerifies,
    /// There is no signature of this family that verifies.
    Lacks(Family),
}

impl Obstacle {
    /// What a verifier would say.
    pub const fn reason(self) -> Reason {
        match self {
            Obstacle::SignatureFails(reason) | Obstacle::Otherwise(reason) => reason,
            Obstacle::NothingVerifies => Reason::NoTrustedSigner,
            Obstacle::Lacks(_) => Reason::PolicyHybridNotMet,
        }
    }
}

/// The prospects of each policy that a device or a trust list can have. `otherwise` is what a
/// device refuses about the form of the bundle or the places of its payloads.
pub(super) fn prospects(signatures: &[Signature], otherwise: Option<Reason>) -> Vec<Prospect> {
    let failure = signatures.iter().find_map(|signature| match signature.check {
        Check::Fails(reason) => Some(Obstacle::SignatureFails(reason)),
        _ => None,
    });
    let families: Vec<_> = signatures
        .iter()
        .filter(|signature| signature.check == Check::Verifies)
        .filter_map(|signature| signature.family)
        .collect();
    // A device verifies the signatures of the keys that it trusts, and no others.
    let nothing = families.is_empty().then_some(failure.unwrap_or(Obstacle::NothingVerifies));
    let missing = [Family::Classical, Family::PostQuantum]
        .into_iter()
        .find(|family| !families.contains(family))
        .map(Obstacle::Lacks);
    [Policy::Any, Policy::All, Policy::Hybrid]
        .into_iter()
        .map(|policy| {
            let lacking = if policy == Policy::Hybrid { missing } else { None };
            // In the order in which a verifier checks them (image format §8).
            let otherwise = otherwise.map(Obstacle::Otherwise);
            Prospect { policy, obstacle: nothing.or(lacking).or(otherwise) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(family: Option<Family>, check: Check) -> Signature {
        let key = Key { algorithm: String::new(), key_id: String::new() };
        Signature { key, family, check }
    }

    fn obstacles(signatures: &[Signature], otherwise: Option<Reason>) -> Vec<Option<Obstacle>> {
        prospects(signatures, otherwise).into_iter().map(|prospect| prospect.obstacle).collect()
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
        // A signature of an algorithm that is not carried is not counted.
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
