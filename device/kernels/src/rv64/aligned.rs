//! Blocks in the form that kernels require: whole and aligned. Blocks that are not aligned are copied.

use core::num::NonZeroUsize;

use crate::dispatch::MAX_LANES;

/// Alignment of blocks that kernels require, in bytes.
const ALIGNMENT: usize = 8;
/// Length in bytes of the longest block, which is the rate of SHAKE128 and KT128.
pub(super) const MAX_BLOCK_LEN: usize = 168;

/// An aligned copy of a block.
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

/// The aligned blocks of one message. Only functions of this module make it.
pub(super) struct AlignedBlocks {
    first: *const u8,
    count: usize,
}

impl AlignedBlocks {
    /// Returns the aligned address of [`Self::count`] blocks. They may be read during the call that received this
    /// value.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.first
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Passes the whole blocks of a message to a kernel. Each has `block_len` bytes, from 1 to [`MAX_BLOCK_LEN`].
pub(super) fn each_aligned<S>(
    state: &mut S,
    blocks: &[u8],
    block_len: usize,
    kernel: impl Fn(&mut S, AlignedBlocks),
) {
    if is_aligned(blocks) {
        let count = blocks.len().checked_div(block_len).unwrap_or(0);
        kernel(state, AlignedBlocks { first: blocks.as_ptr(), count });
    } else {
        each_copied(state, blocks, block_len, kernel);
    }
}

/// Does the work of [`each_aligned`] for blocks that are not aligned. The function is not inlined, because a short
/// aligned message would pay for its stack frame.
#[inline(never)]
fn each_copied<S>(
    state: &mut S,
    blocks: &[u8],
    block_len: usize,
    kernel: impl Fn(&mut S, AlignedBlocks),
) {
    let mut rest = blocks;
    while let Some((block, later)) = rest.split_at_checked(block_len.max(1)) {
        kernel(state, AlignedBlocks { first: Copied::of(block).0.as_ptr(), count: 1 });
        rest = later;
    }
}

/// The aligned blocks of several messages, one for each state that is passed with it. Only functions of this module
/// make it. It has two words, which are passed in registers.
pub(super) struct Messages {
    first: *const *const u8,
    count: usize,
}

impl Messages {
    /// Addresses of the messages, one for each state. Each is valid like that of [`Blocks::as_ptr`].
    pub(super) fn as_ptr(&self) -> *const *const u8 {
        self.first
    }

    /// Returns the number of blocks of each message.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Passes the whole blocks of several messages to a kernel, in groups of 1 to `max` messages. If the messages of a
/// group have different lengths, the whole group is skipped and its states do not change.
pub(super) fn each_group<S>(
    states: &mut [S],
    messages: &[&[u8]],
    block_len: usize,
    max: usize,
    kernel: impl Fn(&mut [S], Messages),
) {
    let max = max.clamp(1, MAX_LANES);
    let (mut states, mut messages) = (states, messages);
    // The loop does not use `chunks`, because the compiler cannot prove that `max` is not 0 and would add a panic.
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

/// Passes one group to a kernel. The numbers of states and messages are equal and at most the number of lanes of the
/// kernel.
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

/// Does the work of [`one_group`] for messages that are not aligned. The function is not inlined, because other
/// callers have no stack space for the copies.
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
