//! HSS: trees of LMS that sign the keys of trees below them (RFC 8554 §6).

use super::{Key, Signature, take, take_u32};
use crate::Kernels;
use crate::signature::{Comparison, MAX_COMPARED_LEN, Rejection};

/// Maximum number of levels (RFC 8554 §6).
const MAX_LEVELS: u32 = 8;

/// Checks a signature of the message that `message` is cut into (RFC 8554 §6.3).
///
/// # Errors
///
/// Every [`Rejection`] of [`compare`], and `Mismatch`.
pub fn verify(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, public_key, message, signature)?.check()
}

/// The root that the lowest signature leads to, and the root in the key that it was made with. Both
/// differ too if a signature further up does.
///
/// # Errors
///
/// Those of [`super::compare`]; `InvalidKey` for a count of levels that is not 1 to 8;
/// `OtherParameters` for a signature with another count, and for a key in it with another length of hash
/// values; `UnsupportedKey` for a type in it that is not listed; `Mismatch` for a signature of such a key.
/// `Ok` says nothing about the signature of the message yet.
pub fn compare(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut both = None;
    compare_in(kernels, public_key, message, signature, &mut both)?;
    both.ok_or(Rejection::Mismatch)
}

pub(super) fn compare_in(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    let mut rest = public_key;
    let levels = take_u32(&mut rest).ok_or(Rejection::InvalidKey)?;
    if !(1..=MAX_LEVELS).contains(&levels) {
        return Err(Rejection::InvalidKey);
    }
    let parsed = Key::parse_all(rest);
    let key = parsed.as_ref().map_err(|rejection| *rejection)?;
    let mut rest = signature;
    let signed_keys = take_u32(&mut rest).ok_or(Rejection::SignatureLength)?;
    if signed_keys.wrapping_add(1) != levels {
        return Err(Rejection::OtherParameters);
    }
    // One tree is a key of LMS: its signature is read once.
    if signed_keys == 0 {
        return key.compare_all(kernels, message, rest, both);
    }
    compare_levels(kernels, *key, signed_keys, message, rest, both)
}

/// The same of several trees.
// Out of line: the key is not moved for one tree.
#[inline(never)]
fn compare_levels<'a>(
    kernels: &Kernels,
    mut key: Key<'a>,
    signed_keys: u32,
    message: &[&[u8]],
    mut rest: &'a [u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    // The form of all levels first: nothing is hashed for a signature that ends too early.
    check_form(key, signed_keys, rest)?;

    let mut differences = [0; MAX_COMPARED_LEN];
    for _ in 0..signed_keys {
        let (one, after) = Signature::parse(&key, rest)?;
        let mut after_key = after;
        let next = Key::parse(&mut after_key, Some(key.ots.n)).map_err(in_signature)?;
        let signed_len = after.len().wrapping_sub(after_key.len());
        let mut from = after;
        let signed = take(&mut from, signed_len).ok_or(Rejection::SignatureLength)?;
        // A comparison that is left out must not find the values of the level above, which are equal.
        *both = None;
        key.compare_in(kernels, &[signed], &one, both)?;
        let comparison = both.as_ref().ok_or(Rejection::Mismatch)?;
        comparison.check()?;
        // Redundant check of the branch above: the result does not depend on that branch alone.
        for ((difference, computed), claimed) in
            differences.iter_mut().zip(&comparison.computed).zip(&comparison.claimed)
        {
            *difference |= computed ^ claimed;
        }
        (key, rest) = (next, after_key);
    }
    let (last, _) = Signature::parse(&key, rest)?;
    *both = None;
    key.compare_in(kernels, message, &last, both)?;
    let comparison = both.as_mut().ok_or(Rejection::Mismatch)?;
    for (computed, difference) in comparison.computed.iter_mut().zip(differences) {
        *computed ^= difference;
    }
    Ok(())
}

/// Reads a signature without hashing: its form on all levels from the top, then its end, then the indexes.
fn check_form<'a>(mut key: Key<'a>, signed_keys: u32, mut rest: &'a [u8]) -> Result<(), Rejection> {
    let mut is_outside = false;
    for _ in 0..signed_keys {
        let (one, after) = Signature::parse(&key, rest)?;
        is_outside |= !one.is_of_tree(&key);
        rest = after;
        key = Key::parse(&mut rest, Some(key.ots.n)).map_err(in_signature)?;
    }
    let (one, after) = Signature::parse(&key, rest)?;
    if !after.is_empty() {
        return Err(Rejection::SignatureLength);
    }
    if is_outside || !one.is_of_tree(&key) { Err(Rejection::IndexOutOfRange) } else { Ok(()) }
}

/// Maps a fault of a key inside a signature to a fault of the signature.
const fn in_signature(rejection: Rejection) -> Rejection {
    match rejection {
        Rejection::InvalidKey => Rejection::OtherParameters,
        _ => rejection,
    }
}
