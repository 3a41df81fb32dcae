//! AES key wrap (RFC 3394, SP 800-38F §6.2): unwrapping of a key by another one.

use super::{AesKey, BLOCK_SIZE};
use crate::secret::wipe;

/// Length of the check value and of each part of a key, in bytes.
const HALF: usize = BLOCK_SIZE / 2;
/// The check value (RFC 3394 §2.2.3.1).
const CHECK: [u8; HALF] = [0xa6; HALF];
/// Number of passes over all parts.
const PASSES: u64 = 6;

/// The reason for which nothing was unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnwrapError {
    /// The wrapped key is not two parts or more, with a part for the check value, or `key` is not shorter by one part.
    Length,
    /// The wrapped key is that of another key, or was changed. `key` was overwritten with zeros.
    NotAuthentic,
}

/// Unwraps a key into `key`, which is shorter by eight bytes (RFC 3394 §2.2.2, by index).
///
/// # Errors
/// [`UnwrapError`].
pub fn unwrap(wrapping_key: &AesKey, wrapped: &[u8], key: &mut [u8]) -> Result<(), UnwrapError> {
    let Some((first, rest)) = wrapped.split_first_chunk::<HALF>() else {
        return Err(UnwrapError::Length);
    };
    if rest.len() != key.len() || key.len() < 2 * HALF || !key.len().is_multiple_of(HALF) {
        return Err(UnwrapError::Length);
    }
    key.copy_from_slice(rest);
    let (parts, _) = key.as_chunks_mut::<HALF>();
    let mut check = *first;
    let mut step = PASSES.wrapping_mul(parts.len() as u64);
    let mut blocks = super::Blocks::ZERO;
    for _ in 0..PASSES {
        for part in parts.iter_mut().rev() {
            let number = (u64::from_be_bytes(check) ^ step).to_be_bytes();
            let block = &mut blocks.0[0];
            for (to, from) in block.iter_mut().zip(number.iter().chain(part.iter())) {
                *to = *from;
            }
            wrapping_key.decrypt(&mut blocks);
            let ([high, low], []) = blocks.0[0].as_chunks::<HALF>() else { continue };
            (check, *part) = (*high, *low);
            step = step.wrapping_sub(1);
        }
    }
    wipe(blocks.0.as_flattened_mut());
    let difference = check.iter().zip(CHECK).fold(0, |all, (ours, wanted)| all | ours ^ wanted);
    wipe(&mut check);
    if core::hint::black_box(difference) != 0 {
        wipe(key);
        return Err(UnwrapError::NotAuthentic);
    }
    Ok(())
}
