//! Several messages of equal length at once.

use crate::dispatch::MAX_LANES;
use crate::{Hash, Kernels};

/// A hash of which several can be computed in about the time of one.
///
/// Boot stages hash blocks of a payload this way; hash-based signatures need the same of chains.
pub trait HashMany: Hash {
    /// How many messages [`HashMany::digest_many`] hashes at once: 1 to [`MAX_LANES`].
    fn lanes(kernels: &Kernels) -> usize;

    /// The digests of the messages `heads[i] ‖ bodies[i]`, which `on_digest` gets with `i`, in order.
    ///
    /// Heads are of equal length, and so are bodies; where they are not, the digests are wrong.
    /// Bodies of which byte `N * k - head length` is at an address that is a multiple of 8, for
    /// blocks of `N` bytes, are not copied.
    fn digest_many(
        kernels: &Kernels,
        heads: &[&[u8]],
        bodies: &[&[u8]],
        on_digest: &mut dyn FnMut(usize, Self::Output),
    );
}

/// Heads and bodies in groups of `lanes`, the last one smaller.
///
/// Not with `chunks`: the compiler cannot exclude its panic for this value of `lanes`.
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

/// A message in two pieces, followed by its padding.
pub(crate) trait Padding<const N: usize> {
    /// Adds what belongs to the padding to a block whose first byte is number `start` of the padded
    /// message, and which has zeros after the message.
    fn pad(&self, block: &mut [u8; N], start: usize, message_len: usize);

    /// Blocks of a padded message.
    fn block_count(&self, message_len: usize) -> usize;
}

/// Block `index` of a padded message.
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

/// Blocks are multiples of 8 bytes, so each has the alignment that assembly requires.
#[repr(align(8))]
struct Aligned<T>(T);

/// Feeds padded messages, at most [`MAX_LANES`] of them, to `compress`, which takes equally many blocks
/// of each: whole blocks of bodies by reference, everything else from a copy.
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
