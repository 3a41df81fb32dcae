//! Hashing of several messages of equal length at once.

use crate::dispatch::MAX_LANES;
use crate::{Hash, Kernels};

/// A hash function that can hash several messages in about the time of one.
///
/// Boot stages hash the blocks of a payload in this way, and hash-based signatures hash their chains in this way.
pub trait HashMany: Hash {
    /// Returns the number of messages that [`HashMany::digest_many`] hashes at once, from 1 to [`MAX_LANES`].
    fn lanes(kernels: &Kernels) -> usize;

    /// Computes the digests of the messages `heads[i] ‖ bodies[i]` and passes each with its index `i` to `on_digest`,
    /// in order.
    ///
    /// All heads must have the same length, and all bodies too; otherwise the digests are wrong. For a hash with
    /// blocks of `N` bytes, the whole blocks of a body are not copied if byte `N * k - head length` of the body has
    /// an address that is a multiple of 8.
    fn digest_many(
        kernels: &Kernels,
        heads: &[&[u8]],
        bodies: &[&[u8]],
        on_digest: &mut dyn FnMut(usize, Self::Output),
    );
}

/// Splits heads and bodies into groups of `lanes`. The last group can be smaller.
///
/// The function does not use `chunks`, because the compiler cannot exclude its panic for this value of `lanes`.
pub(crate) fn groups<'a, 'b>(
    lanes: usize,
    mut heads: &'a [&'b [u8]],
    mut bodies: &'a [&'b [u8]],
) -> impl Iterator<Item = (&'a [&'b [u8]], &'a [&'b [u8]])> {
    core::iter::from_fn(move || {
        let len = lanes.max(1).min(heads.len()).min(bodies.len());
        let (now, later) = heads.split_at_checked(len)?;
        heads = later;
        let (bodies_now, later) = bodies.split_at_checked(len)?;
        bodies = later;
        (len > 0).then_some((now, bodies_now))
    })
}

/// The padding of a message that consists of two pieces.
pub(crate) trait Padding<const N: usize> {
    /// Writes the padding that belongs into `block`. The block starts at byte `start` of the padded message, and is
    /// zero after the end of the message.
    fn pad(&self, block: &mut [u8; N], start: usize, message_len: usize);

    /// Returns the number of blocks of a padded message.
    fn block_count(&self, message_len: usize) -> usize;
}

/// Returns block `index` of a padded message.
pub(crate) fn padded_block<const N: usize>(
    padding: &impl Padding<N>,
    head: &[u8],
    body: &[u8],
    index: usize,
) -> [u8; N] {
    let mut block = [0; N];
    let start = index.wrapping_mul(N);
    let from_head = head.get(start..).unwrap_or_default();
    let skipped = start.saturating_sub(head.len());
    let bytes = from_head.iter().chain(body.get(skipped..).unwrap_or_default());
    for (to, from) in block.iter_mut().zip(bytes) {
        *to = *from;
    }
    padding.pad(&mut block, start, head.len().wrapping_add(body.len()));
    block
}

/// A value with the alignment that assembly requires. Blocks are multiples of 8 bytes long, so each block in an array
/// is aligned.
#[repr(align(8))]
struct Aligned<T>(T);

/// Passes the blocks of padded messages to `compress`, with the same number of blocks of each message in a call.
/// There are at most [`MAX_LANES`] messages. Whole blocks of the bodies are passed by reference, all others as a
/// copy.
pub(crate) fn feed<const N: usize>(
    padding: &impl Padding<N>,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    mut compress: impl FnMut(&[&[u8]]),
) {
    let (Some(head), Some(body)) = (heads.first(), bodies.first()) else { return };
    let count = heads.len().min(bodies.len()).min(MAX_LANES);
    let (head_len, message_len) = (head.len(), head.len().wrapping_add(body.len()));
    let first_whole = head_len.div_ceil(N);
    let end_whole = message_len.checked_div(N).unwrap_or(0);
    let block_count = padding.block_count(message_len);
    let mut index = 0;
    while index < block_count {
        let mut whole: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        if index >= first_whole && index < end_whole {
            let from = index.wrapping_mul(N).wrapping_sub(head_len);
            let to = end_whole.wrapping_mul(N).wrapping_sub(head_len);
            let mut is_whole = true;
            for (blocks, body) in whole.iter_mut().zip(bodies).take(count) {
                *blocks = body.get(from..to).unwrap_or_default();
                is_whole &= blocks.len() == to.wrapping_sub(from);
            }
            if is_whole && let Some(whole) = whole.get(..count) {
                compress(whole);
                index = end_whole;
                continue;
            }
        }
        let mut copies = Aligned([[0; N]; MAX_LANES]);
        for ((copy, head), body) in copies.0.iter_mut().zip(heads).zip(bodies).take(count) {
            *copy = padded_block(padding, head, body, index);
        }
        for (blocks, copy) in whole.iter_mut().zip(&copies.0) {
            *blocks = copy;
        }
        if let Some(whole) = whole.get(..count) {
            compress(whole);
        }
        index = index.wrapping_add(1);
    }
}
