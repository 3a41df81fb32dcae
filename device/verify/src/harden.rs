//! Hardening against single faults such as a flipped bit or a skipped instruction (boot flow §7).
//!
//! The policy in `flow.rs` follows the text of the specification; the countermeasures that protect its result are in
//! this module. There are two: every step that the verdict depends on contributes to its *computation*, and the verdict
//! is *compared twice*, by code that the compiler cannot merge.
//!
//! The countermeasures do not stop every fault: several faults, or one in the jump itself, are out of scope
//! (`docs/security/faults.md`).

use core::hint::black_box;

use hartlock_image::PayloadRecord;

/// Value of a verdict after the complete and correct computation. About half of its bits are set, so that neither an
/// all-zero nor an all-one register equals it.
const ACCEPTED: u64 = 0x9d3a_5c6e_71b4_e28b;
/// Sealed value of comparison number 0 if the digests are equal. [`seal`] derives the values of the other numbers from
/// it.
const EQUAL: u64 = 0xd8b4_73ad_16ca_7861;
/// Mask of the second copy of the word. A single fault in memory makes the two copies inconsistent.
const MASK: u64 = 0x5ae7_1fc2_8d36_b94c;

/// A step that the verdict depends on. The numbers differ from each other in many bits.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub enum Checkpoint {
    /// The signature of one trusted key verified.
    Signature = 0xc3b1_68e7_5a2d_94f0,
    /// The trust policy is met.
    Policy = 0x6d94_b3c8_1e7f_52a6,
    /// The manifest is well formed and its signers are the signature blocks.
    Manifest = 0x38e5_d71b_c6a4_0f9d,
    /// The manifest names this board and SoC, and satisfies the floor and the lifecycle.
    Acceptance = 0xa74c_2f96_e81b_d35a,
    /// Every load range is inside its permitted region.
    Placement = 0x5f82_9ad4_37c6_eb19,
    /// The digest of one payload was compared.
    Payload = 0xe29b_46f5_8d13_7ac4,
}

/// A running value that every completed step and every comparison changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress(u64);

impl Progress {
    /// Returns the initial value, before the first step.
    pub const fn start() -> Self {
        Progress(0x1b6f_e4d2_905c_a837)
    }

    /// Folds a completed step into the value.
    #[must_use]
    pub const fn step(self, step: Checkpoint) -> Self {
        self.fold(step as u64)
    }

    /// Folds the result of a comparison into the value. `difference` is 0 exactly if both sides are equal. Any other
    /// value changes the progress for good, whatever branches are taken later.
    #[must_use]
    pub const fn compared(self, difference: u64) -> Self {
        Progress(self.0 ^ difference).fold(0)
    }

    /// Mixes `value` into the progress. The function is a bijection for every `value`, so that a correct step never
    /// maps a wrong state to the correct one.
    const fn fold(self, value: u64) -> Self {
        Progress((self.0 ^ value).rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Returns a word in which every bit is set that differs in any 8-byte word of the two digests; 0 exactly if they are
/// equal.
pub fn difference(left: &[u8; 64], right: &[u8; 64]) -> u64 {
    !equal_bits(left, right, [!0; 2])
}

/// Returns the bits that are equal in all 8-byte words of the two digests. The result starts from two copies of an
/// all-ones word, because a single one might be a value that a previous call left in the register.
#[inline(never)]
fn equal_bits(left: &[u8; 64], right: &[u8; 64], [equal, again]: [u64; 2]) -> u64 {
    // Both references pass through one `black_box` call. In two separate calls both would use the same stack slot, and
    // if the second store were skipped, the first digest would be compared with itself.
    let [left, right] = black_box([left, right]);
    // If a skipped instruction leaves an old address in a register, both references may point to the same array. That
    // is not a comparison, so it counts as unequal.
    let equal = if core::ptr::eq(left, right) { 0 } else { equal };
    let (left, _) = left.as_chunks::<8>();
    let (right, _) = right.as_chunks::<8>();
    left.iter().zip(right).fold(equal & again, |equal, (l, r)| {
        equal & !(u64::from_le_bytes(*l) ^ u64::from_le_bytes(*r))
    })
}

/// Returns true if a difference that was folded into the progress is not 0; this is the condition of the branch that
/// returns the reason.
///
/// The value is made opaque. Otherwise the compiler knows that the difference is 0 where the branch is not taken, and
/// may fold a constant into the progress in place of the difference itself. Then it would be enough for a fault to skip
/// this one branch.
pub(crate) fn is_different(difference: u64) -> bool {
    #[cfg(test)]
    if crate::faults::is_branch_skipped() {
        return false;
    }
    black_box(difference) != 0
}

/// Compares two digests and returns [`seal`]`(index)` if they are equal. A result that is left over from another
/// comparison, or from none, has a different value and is not accepted.
///
/// The digests are compared twice, so that a fault in one comparison, up to its return, does not affect the other. The
/// second comparison starts from the result of the first: there is no later instruction that combines two results and
/// could be skipped.
#[inline(never)]
pub(crate) fn compare_twice(left: &[u8; 64], right: &[u8; 64], index: u32) -> u64 {
    let equal = equal_bits(left, right, [!0; 2]);
    black_box(!equal_bits(right, left, [black_box(equal), black_box(equal)]) ^ seal(index))
}

/// Returns the difference in a sealed value, from which the reason is decided. The verdict depends on the sealed value
/// itself, so that a fault in this computation does not affect the verdict.
pub(crate) const fn unseal(sealed: u64, index: u32) -> u64 {
    sealed ^ seal(index)
}

/// Returns the result of comparison number `index` for equal digests.
pub(crate) const fn seal(index: u32) -> u64 {
    // The factor is odd, so that every index has a different value, which differs in most bits.
    EQUAL.wrapping_mul((index as u64).wrapping_mul(2).wrapping_add(1))
}

/// Returns a value that identifies a payload record. It is folded into the progress when the payload was compared, and
/// again from the manifest when the verdict is derived. If a skipped instruction leaves the previous record in its
/// register, that payload is compared twice and this one is not compared; then the two values differ. Payloads that are not
/// empty do not overlap (`LoadRangesOverlap`), so that no two of them have the same load address. Only an initramfs may be
/// empty; it may have the address of another payload, and differs from it in its digest.
#[inline(never)]
pub(crate) fn mark(payload: &PayloadRecord) -> u64 {
    let [first, ..] = payload.digest.as_chunks::<8>().0 else { return 0 };
    black_box(u64::from_le_bytes(*first) ^ payload.load_address.rotate_left(20))
}

/// The redundant 64-bit result of a verification. Only [`Verdict::conclude`] creates one.
///
/// The type implements neither `PartialEq` nor `Copy`: callers have to use its methods instead of comparing words, and
/// there is only one copy.
#[derive(Debug)]
pub struct Verdict {
    word: u64,
    masked: u64,
}

impl Verdict {
    /// Derives the verdict from the progress that was made and the progress that a correct verification makes.
    pub(crate) fn conclude(actual: Progress, expected: Progress) -> Self {
        // Both reads of `actual` are opaque, so that one glitched read does not feed both words.
        let word = black_box(actual).0 ^ black_box(expected).0 ^ ACCEPTED;
        let masked = black_box(actual).0 ^ black_box(expected).0 ^ ACCEPTED ^ MASK;
        Verdict { word, masked }
    }

    /// Takes the first decision, at the end of the verification.
    #[inline(never)]
    pub fn is_accepted(&self) -> bool {
        black_box(self.word) == ACCEPTED && black_box(self.masked) == ACCEPTED ^ MASK
    }

    /// Takes the second decision, directly before the jump. It evaluates a different expression over the same two
    /// words, which an optimiser cannot derive from the first.
    #[inline(never)]
    pub fn is_confirmed(&self) -> bool {
        let masked = black_box(self.masked);
        let inverted = !black_box(self.word);
        black_box(masked ^ inverted) == !MASK && inverted.wrapping_add(ACCEPTED) == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use hartlock_image::{HashId, PayloadType, TreeMode};

    use super::*;

    fn accepted() -> Verdict {
        let path = Progress::start().step(Checkpoint::Policy);
        Verdict::conclude(path, path)
    }

    #[test]
    fn accepts_the_right_path_twice() {
        assert!(accepted().is_accepted());
        assert!(accepted().is_confirmed());
    }

    #[test]
    fn no_flipped_bit_turns_a_refusal_or_survives_both_checks() {
        let refused = Verdict::conclude(
            Progress::start().step(Checkpoint::Policy).compared(1),
            Progress::start().step(Checkpoint::Policy).compared(0),
        );
        assert!(!refused.is_accepted() && !refused.is_confirmed());
        for bit in 0..64 {
            let flip = |verdict: &Verdict, word: u64, masked: u64| Verdict {
                word: verdict.word ^ word,
                masked: verdict.masked ^ masked,
            };
            for (word, masked) in [(1 << bit, 0), (0, 1 << bit)] {
                for verdict in [flip(&refused, word, masked), flip(&accepted(), word, masked)] {
                    assert!(!verdict.is_accepted(), "bit {bit} turns the first check");
                    assert!(!verdict.is_confirmed(), "bit {bit} turns the second check");
                }
            }
        }
    }

    #[test]
    fn every_skipped_doubled_or_swapped_step_leaves_the_path() {
        use Checkpoint::*;
        let steps = [Signature, Policy, Manifest, Acceptance, Placement, Payload];
        let run =
            |steps: &[Checkpoint]| steps.iter().fold(Progress::start(), |at, step| at.step(*step));
        let whole = run(&steps);
        for index in 0..steps.len() {
            let mut skipped = steps.to_vec();
            skipped.remove(index);
            assert_ne!(run(&skipped), whole, "step {index} can be skipped");
            let mut doubled = steps.to_vec();
            doubled.insert(index, steps[index]);
            assert_ne!(run(&doubled), whole, "step {index} can be doubled");
            let mut swapped = steps.to_vec();
            swapped.swap(index, (index + 1) % steps.len());
            assert_ne!(run(&swapped), whole, "step {index} can be swapped");
        }
    }

    /// Folds records into the progress as `load_payloads` does; `conclude` expects the same value.
    fn payloads<'a>(records: impl IntoIterator<Item = &'a PayloadRecord>) -> Progress {
        (0..).zip(records).fold(Progress::start(), |at, (index, payload)| {
            let digest = payload.digest;
            let sealed = compare_twice(&digest, &payload.digest, index);
            at.step(Checkpoint::Payload).compared(sealed ^ mark(payload))
        })
    }

    #[test]
    fn a_payload_that_is_compared_in_place_of_another_leaves_the_path() {
        let record = |digest, load_address| PayloadRecord {
            payload_type: PayloadType::Opensbi,
            hash: HashId::Sha384,
            mode: TreeMode::Flat,
            offset: 4096,
            size: 4096,
            load_address,
            memory_size: 4096,
            entry: load_address,
            digest: [digest; 64],
        };
        // An empty payload at the address of another one has another digest.
        let empty = PayloadRecord { size: 0, memory_size: 0, ..record(3, 0x8000_0000) };
        assert_ne!(mark(&empty), mark(&record(1, 0x8000_0000)));
        // The third payload has the content of the first one and another load address.
        let [first, second, third] =
            [record(1, 0x8000_0000), record(2, 0x8020_0000), record(1, 0x8040_0000)];
        let whole = payloads([&first, &second, &third]);
        for wrong in [
            [&first, &first, &third],
            [&first, &second, &second],
            [&first, &second, &first],
            [&second, &first, &third],
        ] {
            assert_ne!(payloads(wrong), whole);
        }
    }

    #[test]
    fn an_array_is_not_compared_with_itself() {
        let digest = [7; 64];
        assert_ne!(difference(&digest, &digest), 0);
        assert_ne!(compare_twice(&digest, &digest, 1), seal(1));
        assert_eq!(compare_twice(&digest, &[7; 64], 1), seal(1));
    }

    #[test]
    fn difference_sees_every_bit() {
        let zero = [0; 64];
        assert_eq!(difference(&zero, &[0; 64]), 0);
        for bit in 0..512 {
            let mut other = zero;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(difference(&zero, &other), 0, "bit {bit} is not compared");
        }
    }

    #[test]
    fn every_comparison_has_a_seal_of_its_own() {
        let seals: std::collections::BTreeSet<u64> = (0..64).map(seal).collect();
        assert_eq!(seals.len(), 64);
        assert_eq!(seal(0), EQUAL);
        assert!(seals.iter().all(|seal| (16..48).contains(&seal.count_ones())));
    }

    #[test]
    fn a_sealed_value_gives_the_difference_back() {
        for (index, bit) in (0..5).flat_map(|index| (0..512).map(move |bit| (index, bit))) {
            let left = [0x5a; 64];
            let mut right = left;
            right[bit / 8] ^= 1 << (bit % 8);
            let sealed = compare_twice(&left, &right, index);
            assert_eq!(unseal(sealed, index), difference(&left, &right), "{index} {bit}");
            assert_eq!(unseal(sealed, index), 1 << (bit % 64));
        }
    }

    #[test]
    fn a_mark_is_the_start_of_the_digest_and_the_turned_address() {
        let mut record = PayloadRecord {
            payload_type: PayloadType::Opensbi,
            hash: HashId::Sha384,
            mode: TreeMode::Flat,
            offset: 4096,
            size: 4096,
            load_address: 0xffff_ffff,
            memory_size: 4096,
            entry: 0,
            digest: [0xff; 64],
        };
        assert_eq!(mark(&record), !(0xffff_ffff_u64 << 20));
        record.load_address = 1 << 63;
        assert_eq!(mark(&record), !(1 << 19));
    }

    #[test]
    fn every_bit_of_a_wrong_progress_is_in_both_words() {
        for bit in 0..64 {
            let verdict = Verdict::conclude(Progress(0), Progress(1 << bit));
            assert_eq!(verdict.word, ACCEPTED ^ 1 << bit);
            assert_eq!(verdict.masked, ACCEPTED ^ MASK ^ 1 << bit);
        }
    }
}
