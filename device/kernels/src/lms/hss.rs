//! HSS: LMS trees that sign the public keys of the trees on the next level (RFC 8554 §6).

use super::{Key, Signature, take, take_u32};
use crate::Kernels;
use crate::signature::{Comparison, MAX_COMPARED_LEN, Rejection};

/// Maximum number of levels (RFC 8554 §6).
const MAX_LEVELS: u32 = 8;

/// Verifies an HSS signature. `message` is split into pieces (RFC 8554 §6.3).
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

/// Computes the root from the signature on the lowest level, and returns it with the root in the public key of that
/// level. The two values also differ if a signature on a higher level is invalid.
///
/// # Errors
///
/// The errors of [`super::compare`]. In addition: `InvalidKey` if the number of levels is not 1 to 8.
/// `OtherParameters` if the signature has another number of levels, or contains a key with another hash length.
/// `UnsupportedKey` if the signature contains a key with an unknown type. `Mismatch` if the signature of such a key
/// is invalid. `Ok` does not mean that the signature of the message is valid.
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
    // With one level the rest is an LMS signature, which is parsed only once.
    if signed_keys == 0 {
        return key.compare_all(kernels, message, rest, both);
    }
    compare_levels(kernels, *key, signed_keys, message, rest, both)
}

/// Does the work of [`compare_in`] for several levels.
// The function is not inlined, so that the key is not moved if there is only one level.
#[inline(never)]
fn compare_levels<'a>(
    kernels: &Kernels,
    mut key: Key<'a>,
    signed_keys: u32,
    message: &[&[u8]],
    mut rest: &'a [u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    // The form of all levels is checked first, so that nothing is hashed for a truncated signature.
    check_form(key, signed_keys, rest)?;

    let mut differences = [0; MAX_COMPARED_LEN];
    for _ in 0..signed_keys {
        let (one, after) = Signature::parse(&key, rest)?;
        let mut after_key = after;
        let next = Key::parse(&mut after_key, Some(key.ots.n)).map_err(in_signature)?;
        let signed_len = after.len().wrapping_sub(after_key.len());
        let mut from = after;
        let signed = take(&mut from, signed_len).ok_or(Rejection::SignatureLength)?;
        // If a fault skips the comparison below, the code must not find the equal values of the previous level.
        *both = None;
        key.compare_in(kernels, &[signed], &one, both)?;
        let comparison = both.as_ref().ok_or(Rejection::Mismatch)?;
        comparison.check()?;
        // This is a redundant check of the branch above, so that the result does not depend only on that branch.
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

/// Checks the form of a signature without hashing: first all levels from the top, then the end, then the indexes.
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

/// Maps the error of a key inside a signature to an error of the signature.
const fn in_signature(rejection: Rejection) -> Rejection {
    match rejection {
        Rejection::InvalidKey => Rejection::OtherParameters,
        _ => rejection,
    }
}
