//! The check and the redundant check of one manifest. Rule: both accept the same manifests
//! (`crate::looks`).

use hartlock_image::{Closing, Manifest, Policy};

use crate::choices::Choices;
use crate::draft::Draft;
use crate::keys::KEYS;
use crate::looks::Checks;
use crate::options::Options;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let draft = Draft::new(&mut choices);
    let options = Options::new(&mut choices, &draft);
    let (signed, _) = draft.encode();
    let blocks = draft.signer_records();
    let mut checks = Checks::new(&options, &blocks, &signed);

    // In the first check, the manifest parser compares the signature blocks with the listed
    // signers.
    let first = checks.first_accepts_signers() && draft.listed_records() == blocks;
    assert_eq!(first, checks.second_accepts_signers(), "signers");
    if checks
        .count_untrusted_signer(choices.of(&[0, 1, 2, 3, 4].map(|key: usize| KEYS[key].record)))
    {
        assert!(!checks.second_accepts_signers(), "a signer that is not trusted was counted");
    }
    let Ok(manifest) = Manifest::parse(&signed, &blocks) else { return };
    assert_eq!(checks.first_accepts_device(&manifest), checks.second_accepts_device(), "device");
    let placed = checks.second_accepts_placement(&manifest);
    assert_eq!(checks.first_accepts_placement(&manifest), placed, "placement");
    assert!(checks.second_accepts_parse(&manifest), "a manifest differs from its bytes");

    let mut other = manifest.clone();
    distort(&mut choices, &mut other);
    // The rules of form have no redundant check, so fields that only they cover may differ.
    assert_eq!(checks.second_accepts_parse(&other), other == manifest, "parsed fields");
    // The first check relies on the parser for load ranges that do not wrap or overlap; the
    // redundant check does not. That data payloads have no entry point is a rule of form.
    if other.payloads.iter().all(|it| it.payload_type.is_code() || it.entry == 0) {
        let is_placed = checks.first_accepts_placement(&other) && ranges_hold(&other);
        assert_eq!(is_placed, checks.second_accepts_placement(&other), "changed placement");
    }
}

/// Returns true if no load range wraps, is smaller than its payload, or overlaps another one.
fn ranges_hold(manifest: &Manifest<'_>) -> bool {
    let mut ranges: Vec<(u128, u128)> = Vec::new();
    manifest.payloads.iter().all(|payload| {
        let start = u128::from(payload.load_address);
        let end = start + u128::from(payload.memory_size);
        let is_apart = |other: &(u128, u128)| {
            start.max(other.0) >= end.min(other.1) || start == end || other.0 == other.1
        };
        let holds = end <= u128::from(u64::MAX)
            && payload.size <= payload.memory_size
            && ranges.iter().all(is_apart);
        ranges.push((start, end));
        holds
    })
}

/// Changes one field that a stage uses later.
fn distort(choices: &mut Choices<'_>, manifest: &mut Manifest<'_>) {
    let value = choices.number();
    let field = choices.below(8);
    if field == 0 {
        manifest.security_version = value;
        return;
    }
    if field == 1 {
        match &mut manifest.closing {
            Closing::Trust { list: trust, .. } => match choices.below(4) {
                0 => trust.policy = choices.of(&[Policy::Any, Policy::All, Policy::Hybrid]),
                1 => {
                    let _ = trust.keys.push(KEYS[choices.below(KEYS.len())].record);
                }
                field => {
                    let index = choices.below(trust.keys.len().max(1));
                    let Some(key) = trust.keys.iter_mut().nth(index) else { return };
                    match field {
                        2 => key.algorithm ^= 1 << choices.below(32),
                        _ => key.key_id[choices.below(48)] ^= 1 << choices.below(8),
                    }
                }
            },
            Closing::Bootargs(text) => *text = text.get(1..).unwrap_or_default(),
        }
        return;
    }
    let index = choices.below(manifest.payloads.len().max(1));
    // The address of another payload makes two payloads share memory that each of them may use.
    let other_place = manifest.payloads.iter().next_back().map_or(0, |last| last.load_address);
    let Some(payload) = manifest.payloads.iter_mut().nth(index) else { return };
    match field {
        2 => payload.offset = value,
        3 => payload.size = value,
        4 => payload.load_address = choices.of(&[value, other_place, other_place]),
        5 => payload.memory_size = value,
        6 => payload.entry = value,
        _ => payload.digest[choices.below(64)] ^= 1 << choices.below(8),
    }
}
