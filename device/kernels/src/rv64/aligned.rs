//! Blocks as the kernels take them: whole and aligned, copied if they are not.

use core::num::NonZeroUsize;

use crate::dispatch::MAX_LANES;

/// Where kernels want their blocks to begin.
const ALIGNMENT: usize = 8;
/// The longest block: the rate of SHAKE128 and KT128.
pub(super) const MAX_BLOCK_LEN: usize = 168;

/// A block in the right place.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Copied([u8; MAX_BLOCK_LEN]);

impl Copied {
    fn of(block: &[u8]) -> Self {
        let mut copy = [0; MAX_BLOCK_LEN];
        for (to, from) in copy.iter_mut().zip(block) {
            *to = *from;
        }
        Self(copy)
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
}

/// Aligned blocks of one message. Only [`each_aligned`] makes it.
pub(super) struct Blocks {
    first: *const u8,
    count: usize,
}

impl Blocks {
    /// An aligned address of [`Self::count`] blocks, which may be read during the call that got them.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.first
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Hands the whole blocks of a message to a kernel, of which each has `block_len` bytes, from 1 to
/// [`MAX_BLOCK_LEN`].
pub(super) fn each_aligned<S>(
    state: &mut S,
    blocks: &[u8],
    block_len: usize,
    kernel: impl Fn(&mut S, Blocks),
) {
    if is_aligned(blocks) {
        let count = blocks.len().checked_div(block_len).unwrap_or(0);
        kernel(state, Blocks { first: blocks.as_ptr(), count });
    } else {
        each_copied(state, blocks, block_len, kernel);
    }
}

/// The same for blocks that are not aligned. Out of line: a short message would pay for its frame.
#[inline(never)]
fn each_copied<S>(state: &mut S, blocks: &[u8], block_len: usize, kernel: impl Fn(&mut S, Blocks)) {
    let mut rest = blocks;
    while let Some((block, later)) = rest.split_at_checked(block_len.max(1)) {
        kernel(state, Blocks { first: Copied::of(block).0.as_ptr(), count: 1 });
        rest = later;
    }
}

/// Aligned blocks of as many messages as there are states beside it. Only [`each_group`] makes it. Two words,
/// which are passed in registers.
pub(super) struct Messages {
    first: *const *const u8,
    count: usize,
}

impl Messages {
    /// Addresses as [`Blocks::as_ptr`], one for each state.
    pub(super) fn as_ptr(&self) -> *const *const u8 {
        self.first
    }

    /// Blocks of each message.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Hands the whole blocks of several messages to a kernel, in groups of 1 to `max`. Messages of
/// another length than the first of their group are left out, with their states.
pub(super) fn each_group<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    max: usize,
    kernel: impl Fn(&mut [S], Messages),
) {
    let max = max.clamp(1, MAX_LANES);
    let (mut states, mut messages) = (states, messages);
    // Not with `chunks`: the compiler cannot prove that `max` is not 0 and would add a panic.
    loop {
        let n = max.min(states.len()).min(messages.len());
        let (Some((now_states, later_states)), Some((now, later))) =
            (core::mem::take(&mut states).split_at_mut_checked(n), messages.split_at_checked(n))
        else {
            return;
        };
        if n == 0 {
            return;
        }
        one_group(now_states, now, block_len.max(1), &kernel);
        (states, messages) = (later_states, later);
    }
}

/// As many states as messages, and no more than the kernel takes.
fn one_group<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    kernel: &impl Fn(&mut [S], Messages),
) {
    let len = messages.first().map_or(0, |message| message.len());
    let is_even = messages.iter().all(|message| message.len() == len);
    let Some(count) = len.checked_div(block_len).and_then(NonZeroUsize::new) else {
        return;
    };
    if !is_even {
        return;
    }
    let mut first = [core::ptr::null(); MAX_LANES];
    if messages.iter().all(|message| is_aligned(message)) {
        for (first, message) in first.iter_mut().zip(messages) {
            *first = message.as_ptr();
        }
        kernel(states, Messages { first: first.as_ptr(), count: count.get() });
    } else {
        group_copied(states, messages, block_len, count, kernel);
    }
}

/// The same for messages that are not aligned. Out of line: other callers have no room for copies on
/// the stack.
#[inline(never)]
fn group_copied<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    count: NonZeroUsize,
    kernel: &impl Fn(&mut [S], Messages),
) {
    let mut first = [core::ptr::null(); MAX_LANES];
    let mut copies = [Copied([0; MAX_BLOCK_LEN]); MAX_LANES];
    let mut from = 0_usize;
    for _ in 0..count.get() {
        for ((copy, first), message) in copies.iter_mut().zip(&mut first).zip(messages) {
            *copy = Copied::of(message.get(from..).unwrap_or_default());
            *first = copy.0.as_ptr();
        }
        kernel(states, Messages { first: first.as_ptr(), count: 1 });
        from = from.saturating_add(block_len);
    }
}
