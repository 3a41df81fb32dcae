//! Compares LMS and HSS with the crates `lms-signature` (32-byte hashes with trees of height 5 and 10, for which
//! it compiles) and `hbs-lms` (the other sets).
//!
//! Rules: both accept the same signatures, and only the genuine signature of a key is accepted. Any bytes of the
//! correct length are a valid signature under some key, whose root is computed from them. So signatures of all
//! tree heights can be made quickly, and the other crate confirms the root.
//!
//! Two gaps of the other crates are filled here: an HSS signature is split into its levels, and lengths and
//! numbers that `hbs-lms` does not expect are refused before it is called. `hbs-lms` is older than SP 800-208,
//! so it gets the sets with 24-byte hashes under the numbers that it knows. For 24-byte hashes with w = 1, it
//! shifts the checksum by seven bits instead of eight (SP 800-208, table 2), so it does not verify those.

use hartlock_kernels::lms::{self as ours, hss};
use hartlock_kernels::signature::Rejection;
use lms_signature::lms::{LmsMode, Signature, VerifyingKey};
use lms_signature::lms::{LmsSha256M32H5 as H5, LmsSha256M32H10 as H10};
use lms_signature::ots::{
    LmsOtsSha256N32W1 as W1, LmsOtsSha256N32W2 as W2, LmsOtsSha256N32W4 as W4,
    LmsOtsSha256N32W8 as W8,
};
use rsa::signature::Verifier;
use sha2::Digest;

use super::{KERNELS, MESSAGES, pieces};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree, count};

/// A parameter set: numbers of the tree and of the one-time signature (RFC 8554 §4.1, §5.1; SP 800-208 §4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct LmsSet {
    tree: u32,
    ots: u32,
}

impl LmsSet {
    fn new(tree: u32, ots: u32) -> Option<Self> {
        let is_32 = (5..=9).contains(&tree) && (1..=4).contains(&ots);
        let is_24 = (10..=14).contains(&tree) && (5..=8).contains(&ots);
        (is_32 || is_24).then_some(Self { tree, ots })
    }

    /// Returns the parameter set at the start of a key.
    fn of(key: &[u8]) -> Option<Self> {
        Self::new(word(key, 0)?, word(key, 4)?)
    }

    fn n(self) -> usize {
        if self.tree < 10 { 32 } else { 24 }
    }

    fn h(self) -> u32 {
        [5, 10, 15, 20, 25][(self.tree as usize - 5) % 5]
    }

    /// Returns the number of hash chains in a one-time signature.
    fn p(self) -> usize {
        [265, 133, 67, 34, 200, 101, 51, 26][self.ots as usize - 1]
    }

    /// Returns the set with the same height and width, and with the hash length of `other`.
    fn with_length_of(self, other: Self) -> Self {
        let lowest = |set: Self| if set.n() == 32 { (5, 1) } else { (10, 5) };
        let ((from_tree, from_ots), (to_tree, to_ots)) = (lowest(self), lowest(other));
        Self { tree: self.tree - from_tree + to_tree, ots: self.ots - from_ots + to_ots }
    }

    fn signature_len(self) -> usize {
        12 + self.n() * (1 + self.p() + self.h() as usize)
    }

    fn key_len(self) -> usize {
        24 + self.n()
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub fn run(data: &[u8]) {
    static POOL: Pool<(Vec<LmsSet>, usize, u8)> = Pool::new();
    let mut choices = Choices::new(data);
    // Level 0 stands for LMS without HSS.
    let levels = choices.of(&[0, 0, 1, 2, 0, 3, 8]);
    let mut sets = vec![any_set(&mut choices)];
    for _ in 1..levels {
        let set = any_set(&mut choices);
        sets.push(if choices.rarely(6) { set } else { set.with_length_of(sets[0]) });
    }
    // In the image format (§2.2) all levels must have the same hash length; the standards do not require that.
    let is_one_length = sets.iter().all(|set| set.n() == sets[0].n());
    let (message, number) = (choices.below(MESSAGES.len()), choices.below(4) as u8);
    let genuine = POOL.get((sets, message, number | u8::from(levels == 0) << 7), |what| {
        sign(levels, &what.0, MESSAGES[message], number)
    });
    let values: [&[u8]; 4] = [&[0, 0, 0, 5], &[0, 0, 0, 4], &[0, 0, 0, 10], &[0, 0, 0, 8]];
    let mut signed = genuine.changed(&mut choices, &values);
    if choices.rarely(8) {
        // The index of the one-time key is the last one of the tree, or one more.
        let at = if levels == 0 { 0 } else { 4 };
        if let (Some(set), Some(to)) =
            (signed.key.get(at..).and_then(LmsSet::of), signed.signature.get_mut(at..at + 4))
        {
            to.copy_from_slice(&((1_u32 << set.h()) - choices.of(&[0, 1])).to_be_bytes());
        }
    }
    let Signed { key, message, signature } = &signed;
    let verify = if levels == 0 { ours::verify } else { hss::verify };
    let verdict: Result<(), Rejection> = verify(KERNELS, key, &pieces(message), signature);
    let is_accepted = verdict.is_ok();
    if !is_one_length {
        assert!(!is_accepted, "levels of different lengths");
        count(false);
        return;
    }
    let theirs = if levels == 0 {
        lms_accepts(key, message, signature)
    } else {
        hss_accepts(key, message, signature)
    };
    match theirs {
        Some(theirs) => {
            agree("lms-signature or hbs-lms", "LMS", verdict, theirs);
        }
        None => count(is_accepted),
    }
    assert_eq!(is_accepted, signed == genuine, "only the genuine signature is one: {verdict:?}");
}

fn any_set(choices: &mut Choices<'_>) -> LmsSet {
    // Sets with long hash chains are chosen rarely, because they take longest.
    let tree = choices.of(&[5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    let ots = choices.of(&[3, 2, 1, 3, 4]);
    LmsSet { tree, ots: if tree < 10 { ots } else { ots + 4 } }
}

/// Makes keys and signatures from the lowest level up: each key is the message of the level above it.
fn sign(levels: u32, sets: &[LmsSet], message: &[u8], number: u8) -> Signed {
    let mut signed = message.to_vec();
    let mut signature = Vec::new();
    for (level, set) in sets.iter().enumerate().rev() {
        let bytes = random(&[number, level as u8], 16 + set.signature_len());
        let (identifier, values) = bytes.split_at(16);
        let mut part = values.to_vec();
        let last = (1_u32 << set.h()) - 1;
        let index = last & [0, u32::MAX, 0x1234_5678, 9][usize::from(number)];
        part[..4].copy_from_slice(&index.to_be_bytes());
        part[4..8].copy_from_slice(&set.ots.to_be_bytes());
        let at = 8 + set.n() * (1 + set.p());
        part[at..at + 4].copy_from_slice(&set.tree.to_be_bytes());
        let mut key = [set.tree.to_be_bytes(), set.ots.to_be_bytes()].concat();
        key.extend(identifier);
        key.resize(set.key_len(), 0);
        let comparison = ours::compare(KERNELS, &key, &pieces(&signed), &part);
        let root = comparison.expect("well formed").computed;
        key[24..].copy_from_slice(&root[..set.n()]);
        let below = if level + 1 == sets.len() { Vec::new() } else { signed };
        signature = [part, below, signature].concat();
        signed = key;
    }
    let (mut key, message) = (signed, message.to_vec());
    if levels > 0 {
        key = [&levels.to_be_bytes()[..], &key].concat();
        signature = [&(levels - 1).to_be_bytes()[..], &signature].concat();
    }
    Signed { key, message, signature }
}

fn random(seed: &[u8], len: usize) -> Vec<u8> {
    let block = |at: u32| sha2::Sha256::digest([seed, &at.to_be_bytes()].concat());
    (0..).flat_map(block).take(len).collect()
}

/// Verifies an HSS signature level by level (RFC 8554 §6.3). Returns `None` if neither crate supports a set.
fn hss_accepts(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let (Some(levels @ 1..=8), Some(signed_keys)) = (word(key, 0), word(signature, 0)) else {
        return Some(false);
    };
    if signed_keys != levels - 1 {
        return Some(false);
    }
    let (mut key, mut rest) = (&key[4..], &signature[4..]);
    let mut unknown = false;
    for _ in 0..signed_keys {
        let Some(set) = LmsSet::of(key) else { return Some(false) };
        let Some((part, after)) = rest.split_at_checked(set.signature_len()) else {
            return Some(false);
        };
        let below = LmsSet::of(after).and_then(|set| after.split_at_checked(set.key_len()));
        let Some((below, after)) = below else { return Some(false) };
        match lms_accepts(key, below, part) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => unknown = true,
        }
        (key, rest) = (below, after);
    }
    lms_accepts(key, message, rest).filter(|verdict| !verdict || !unknown)
}

/// Verifies an LMS signature. Returns `None` if neither crate supports the set.
fn lms_accepts(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let Some(set) = LmsSet::of(key) else { return Some(false) };
    Some(match (set.tree, set.ots) {
        (5, 1) => judge::<H5<W1>>(key, message, signature),
        (5, 2) => judge::<H5<W2>>(key, message, signature),
        (5, 3) => judge::<H5<W4>>(key, message, signature),
        (5, 4) => judge::<H5<W8>>(key, message, signature),
        (6, 1) => judge::<H10<W1>>(key, message, signature),
        (6, 2) => judge::<H10<W2>>(key, message, signature),
        (6, 3) => judge::<H10<W4>>(key, message, signature),
        (6, 4) => judge::<H10<W8>>(key, message, signature),
        (_, 5) => return None,
        _ => judge_other(set, key, message, signature),
    })
}

fn judge<M: LmsMode>(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let (Ok(key), Ok(signature)) =
        (VerifyingKey::<M>::try_from(key), Signature::<M>::try_from(signature))
    else {
        return false;
    };
    key.verify(message, &signature).is_ok()
}

/// Verifies with `hbs-lms`, as HSS of one level, with the numbers of the sets translated.
fn judge_other(set: LmsSet, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let at = 8 + set.n() * (1 + set.p());
    let is_whole = key.len() == set.key_len() && signature.len() == set.signature_len();
    if !is_whole || word(signature, 4) != Some(set.ots) || word(signature, at) != Some(set.tree) {
        return false;
    }
    let (less_tree, less_ots) = if set.n() == 24 { (5, 4) } else { (0, 0) };
    let (tree, ots) = ((set.tree - less_tree).to_be_bytes(), (set.ots - less_ots).to_be_bytes());
    let key = [&1_u32.to_be_bytes(), &tree, &ots, &key[8..]].concat();
    let mut translated = [&[0; 4], signature].concat();
    translated[8..12].copy_from_slice(&ots);
    translated[4 + at..8 + at].copy_from_slice(&tree);
    let verify = match set.n() {
        24 => hbs_lms::verify::<hbs_lms::Sha256_192>,
        _ => hbs_lms::verify::<hbs_lms::Sha256_256>,
    };
    verify(message, &translated, &key).is_ok()
}
