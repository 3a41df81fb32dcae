//! Texts in the form that scalar kernels of AES require: aligned, and whole numbers of blocks. Other texts are
//! copied.

use crate::aes::{BLOCK_SIZE, Block, ctr};
use crate::secret::wipe;

/// Alignment that the kernels require, in bytes.
const ALIGNMENT: usize = 8;
/// Length of four blocks, which the kernel of counter mode computes at once.
const QUAD: usize = 4 * BLOCK_SIZE;
/// Length of a copy in bytes.
const PIECE: usize = 4 * QUAD;

/// Bytes that are aligned.
#[repr(C, align(8))]
pub(super) struct AlignedBytes<const N: usize>(pub [u8; N]);

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
}

/// Passes a text to a kernel in parts that are aligned and have whole quads. Each comes with its first counter block.
pub(super) fn each_quad(
    first: &Block,
    text: &mut [u8],
    kernel: impl Fn(&AlignedBytes<BLOCK_SIZE>, &mut [u8]),
) {
    let direct = if is_aligned(text) { text.len() / QUAD * QUAD } else { 0 };
    let Some((whole, rest)) = text.split_at_mut_checked(direct) else { return };
    if !whole.is_empty() {
        kernel(&AlignedBytes(*first), whole);
    }
    if rest.is_empty() {
        return;
    }
    let mut done = (direct / BLOCK_SIZE) as u32;
    let mut copy = AlignedBytes([0; PIECE]);
    for part in rest.chunks_mut(PIECE) {
        for (to, from) in copy.0.iter_mut().zip(part.iter()) {
            *to = *from;
        }
        let len = part.len().next_multiple_of(QUAD);
        kernel(&AlignedBytes(ctr::after(first, done)), copy.0.get_mut(..len).unwrap_or_default());
        for (to, from) in part.iter_mut().zip(&copy.0) {
            *to = *from;
        }
        done = done.wrapping_add((PIECE / BLOCK_SIZE) as u32);
    }
    wipe(&mut copy.0);
}

/// Passes data to a kernel in parts that are aligned and have whole blocks, the last one padded with zeros.
#[cfg(feature = "aes")]
pub(super) fn each_block(data: &[u8], mut kernel: impl FnMut(&[u8])) {
    let direct = if is_aligned(data) { data.len() / BLOCK_SIZE * BLOCK_SIZE } else { 0 };
    let Some((whole, rest)) = data.split_at_checked(direct) else { return };
    if !whole.is_empty() {
        kernel(whole);
    }
    // What is hashed is public, so that the copy stays.
    let mut copy = AlignedBytes([0; PIECE]);
    for part in rest.chunks(PIECE) {
        let len = part.len().next_multiple_of(BLOCK_SIZE);
        let copy = copy.0.get_mut(..len).unwrap_or_default();
        for (to, from) in copy.iter_mut().zip(part.iter().chain(&[0; BLOCK_SIZE])) {
            *to = *from;
        }
        kernel(copy);
    }
}
