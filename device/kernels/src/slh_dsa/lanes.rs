//! Chains and tree climbs, several at once where the hart has lanes.
//!
//! Two kinds of work consist of independent sequences of blocks: the chains of a WOTS+ key, which are
//! of different length, and the trees of a FORS signature, which are of equal length. A [`Lane`] holds
//! the block of one of them. [`run_chains`] takes the next chain into a lane as soon as one ends, and
//! the longest first, so that lanes stay full to the end; [`climb`] goes up all its trees in step. Where
//! there are no lanes, one [`Lane`] takes one chain after the other.

use super::functions::{Address, Aligned, Functions, MAX_BLOCK_LEN, part, put, put_byte};
use super::parameters::MAX_CHAINS;
use crate::dispatch::MAX_LANES;

/// Lanes that there is room for. A stage without kernels for several messages needs one.
pub(super) const LANES: usize = if cfg!(any(feature = "lanes", test)) { MAX_LANES } else { 1 };

/// A step of a WOTS+ chain is numbered 0 to `LAST_STEP - 1`: w - 1 of §5.
pub(super) const LAST_STEP: u8 = 15;

/// All lanes, and the states that their kernels work on. Every array has room for all lanes of the widest
/// hart, and states have none where there are no lanes.
///
/// States live as long as the lanes: to make all of them anew for each step would cost as much as the step.
pub(super) struct Lanes<'a> {
    pub each: [Lane<'a>; LANES],
    /// Of SHA-256.
    pub states32: [[u32; 8]; STATES],
    /// Of SHA-512 or Keccak, whose states have different lengths and follow each other.
    pub states64: [u64; 25 * STATES],
}

/// One block at a time finds its state on the stack.
const STATES: usize = if LANES == 1 { 0 } else { LANES };

impl Lanes<'_> {
    pub(super) const NEW: Self =
        Self { each: [Lane::NEW; LANES], states32: [[0; 8]; STATES], states64: [0; 25 * STATES] };

    /// Makes a message of F with this address out of each lane that F can use.
    pub(super) fn prepare(&mut self, functions: &Functions<'_>, address: &Address) {
        for lane in self.each.iter_mut().take(functions.lanes(functions.f)) {
            functions.prepare(functions.f, &mut lane.block.0, address, 1);
        }
    }
}

/// One sequence of blocks.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    /// The message of the next step, padded.
    pub block: Aligned<[u8; MAX_BLOCK_LEN]>,
    /// Where its result goes, in the same block.
    pub place: usize,
    /// The chain, or the node of a tree, counted from the left on its level.
    pub number: u32,
    /// The next step of the chain; `LAST_STEP` in a lane without one.
    step: u8,
    /// The rest of the path through the tree.
    pub path: &'a [u8],
}

impl Lane<'_> {
    const NEW: Self = Self {
        block: Aligned([0; MAX_BLOCK_LEN]),
        place: 0,
        number: 0,
        step: LAST_STEP,
        path: &[],
    };

    /// The result of the last step.
    pub(super) fn value(&self, n: usize) -> &[u8] {
        part(&self.block.0, self.place, n)
    }
}

/// Chains that wait for a lane, those with the most steps first.
struct Queue {
    /// The first chain that starts at each step, or `NONE`.
    first: [u8; LAST_STEP as usize + 1],
    /// The next one that starts at the same step as each chain, or `NONE`.
    next: [u8; MAX_CHAINS],
    step: u8,
}

/// More than there are chains.
const NONE: u8 = 0xff;
const _: () = assert!(MAX_CHAINS < NONE as usize);

impl Queue {
    /// Chains that start at the steps `digits`. Those at the last one need no step, and are left out.
    fn new(digits: &[u8]) -> Self {
        let mut queue = Self { first: [NONE; 16], next: [NONE; MAX_CHAINS], step: 0 };
        for ((chain, digit), next) in (0..).zip(digits).zip(&mut queue.next) {
            // Digits are below 16: the mask says so to the compiler.
            let first = &mut queue.first[usize::from(digit & 15)];
            *next = *first;
            *first = chain;
        }
        queue
    }

    /// Takes the longest chain: its number, and the step where it starts.
    fn pop(&mut self) -> Option<(u8, u8)> {
        while self.step < LAST_STEP {
            let first = &mut self.first[usize::from(self.step & 15)];
            if let Some(next) = self.next.get(usize::from(*first)) {
                let chain = *first;
                *first = *next;
                return Some((chain, self.step));
            }
            self.step = self.step.wrapping_add(1);
        }
        None
    }
}

/// All chains and their steps in the order of the queue.
#[cfg(test)]
pub(super) fn order_for_test(digits: &[u8]) -> std::vec::Vec<(u8, u8)> {
    let mut queue = Queue::new(digits);
    core::iter::from_fn(|| queue.pop()).collect()
}

/// Ends WOTS+ chains (FIPS 205 §5.3, steps 8 to 11, and algorithm 5): applies F from step `digits[i]` to
/// value i.
///
/// `values` holds the n bytes of each chain and takes their ends. `lanes` were [`Lanes::prepare`]d with the
/// address of the key.
#[inline(never)]
pub(super) fn run_chains(
    functions: &Functions<'_>,
    lanes: &mut Lanes<'_>,
    digits: &[u8],
    values: &mut [u8],
) {
    let (n, values_at) = (functions.n, functions.values_at);
    let count = functions.lanes(functions.f);
    if LANES > 1 && count > 1 {
        return run_chains_at_once(functions, lanes, count, digits, values);
    }
    let Some(Lane { block, .. }) = lanes.each.first_mut() else { return };
    let mut values = values;
    for (chain, digit) in (0..).zip(digits) {
        let (value, rest) =
            core::mem::take(&mut values).split_at_mut_checked(n).unwrap_or_default();
        values = rest;
        put_byte(&mut block.0, values_at.wrapping_sub(5), chain);
        put(&mut block.0, values_at, value);
        for step in *digit..LAST_STEP {
            put_byte(&mut block.0, values_at.wrapping_sub(1), step);
            functions.hash(functions.f, &mut block.0, functions.f.block_len(), values_at);
        }
        put(value, 0, part(&block.0, values_at, n));
    }
}

/// The same in `count` lanes.
#[inline(never)]
fn run_chains_at_once(
    functions: &Functions<'_>,
    lanes: &mut Lanes<'_>,
    mut count: usize,
    digits: &[u8],
    values: &mut [u8],
) {
    let (n, values_at) = (functions.n, functions.values_at);
    let mut queue = Queue::new(digits);
    for lane in lanes.each.iter_mut().take(count) {
        lane.step = LAST_STEP;
    }
    loop {
        let mut index = 0;
        while index < count {
            let Some(lane) = lanes.each.get_mut(index) else { return };
            if lane.step == LAST_STEP {
                let Some((chain, step)) = queue.pop() else {
                    // No chain is waiting: the last lane moves here, and is processed next.
                    count = count.wrapping_sub(1);
                    let last = lanes.each.get(count).copied();
                    if let (Some(lane), Some(last)) = (lanes.each.get_mut(index), last) {
                        *lane = last;
                    }
                    continue;
                };
                (lane.number, lane.step, lane.place) = (chain.into(), step, values_at);
                put_byte(&mut lane.block.0, values_at.wrapping_sub(5), chain);
                let value = part(values, n.wrapping_mul(chain.into()), n);
                put(&mut lane.block.0, values_at, value);
            }
            put_byte(&mut lane.block.0, values_at.wrapping_sub(1), lane.step);
            index = index.wrapping_add(1);
        }
        if count == 0 {
            return;
        }
        functions.hash_each(functions.f, lanes, count);
        for lane in lanes.each.iter_mut().take(count) {
            lane.step = lane.step.wrapping_add(1);
            if lane.step == LAST_STEP {
                put(values, (lane.number as usize).wrapping_mul(n), lane.value(n));
            }
        }
    }
}

/// Climbs a tree in each of the first `count` lanes (§6.3, algorithm 11, steps 8 to 17; §8.4, algorithm
/// 17, steps 8 to 17).
///
/// A lane has its node at `place`, the node's number, and the path; its block is a message of H with the
/// address of the tree and zeros for the rest. The root is at `place` afterwards.
#[inline(never)]
pub(super) fn climb(functions: &Functions<'_>, lanes: &mut Lanes<'_>, count: usize, height: usize) {
    let (n, values_at) = (functions.n, functions.values_at);
    for level in 1..=height {
        for lane in lanes.each.iter_mut().take(count) {
            let (sibling, rest) = lane.path.split_at_checked(n).unwrap_or_default();
            lane.path = rest;
            let is_left = lane.place == values_at;
            put(&mut lane.block.0, side(functions, is_left.into()), sibling);
            lane.number >>= 1;
            put_byte(&mut lane.block.0, values_at.wrapping_sub(5), level as u8);
            put(&mut lane.block.0, values_at.wrapping_sub(4), &lane.number.to_be_bytes());
            // Where the next level reads it: an odd node is a right one.
            lane.place = side(functions, lane.number);
        }
        functions.hash_each(functions.h, lanes, count);
    }
}

/// Offset of the node with this number in a message of H.
pub(super) fn side(functions: &Functions<'_>, number: u32) -> usize {
    let offset = if number & 1 == 0 { 0 } else { functions.n };
    functions.values_at.wrapping_add(offset)
}
