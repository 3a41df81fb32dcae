//! WOTS+ chains and paths through trees, several at once on a hart with lanes.
//!
//! Two parts of a verification consist of independent sequences of blocks: the chains of a WOTS+ key, which have
//! different lengths, and the trees of a FORS signature, which have equal heights. A [`Lane`] holds the current block
//! of one sequence. When a chain ends, [`run_chains`] starts the longest waiting chain in its lane, so that lanes
//! stay in use until the end. [`climb`] computes one level of all its trees at a time. Without lanes, one [`Lane`]
//! processes one chain after the other.

use super::functions::{
    AlignedBlock, Functions, KeyPairAddress, MAX_BLOCK_LEN, part, put, put_byte,
};
use super::parameters::MAX_CHAINS;
use crate::dispatch::MAX_LANES;

/// Number of lanes with storage. A stage without kernels for several messages needs one.
pub(super) const LANES: usize = if cfg!(any(feature = "lanes", test)) { MAX_LANES } else { 1 };

/// Number of steps of a complete WOTS+ chain, w - 1 of §5. The steps are numbered from 0 to `LAST_STEP - 1`.
pub(super) const LAST_STEP: u8 = 15;

/// All lanes, and the hash states of their kernels. The arrays have elements for all lanes of the widest hart. The
/// arrays of states are empty in a stage without lanes.
///
/// The states exist as long as the lanes, because their initialization would cost as much as a chain step.
pub(super) struct Lanes<'a> {
    pub each: [Lane<'a>; LANES],
    /// States of SHA-256.
    pub states32: [[u32; 8]; STATES],
    /// States of SHA-512 or Keccak. They have different lengths and are stored consecutively.
    pub states64: [u64; 25 * STATES],
}

/// Number of stored states. A stage without lanes has its single state on the stack.
const STATES: usize = if LANES == 1 { 0 } else { LANES };

impl Lanes<'_> {
    pub(super) const NEW: Self =
        Self { each: [Lane::NEW; LANES], states32: [[0; 8]; STATES], states64: [0; 25 * STATES] };

    /// Initializes the block of each lane that F can use as a message of F with this address.
    pub(super) fn prepare(&mut self, functions: &Functions<'_>, address: &KeyPairAddress) {
        for lane in self.each.iter_mut().take(functions.lanes(functions.f)) {
            functions.prepare(functions.f, &mut lane.block.0, address, 1);
        }
    }
}

/// A sequence of blocks that is processed in one lane.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    /// Padded message of the next step.
    pub block: AlignedBlock<[u8; MAX_BLOCK_LEN]>,
    /// Offset of the result in the same block.
    pub place: usize,
    /// Number of the chain, or of the tree node, counted from the left on its level.
    pub number: u32,
    /// Next step of the chain. It is `LAST_STEP` in an idle lane.
    step: u8,
    /// Rest of the authentication path.
    pub path: &'a [u8],
}

impl Lane<'_> {
    const NEW: Self = Self {
        block: AlignedBlock([0; MAX_BLOCK_LEN]),
        place: 0,
        number: 0,
        step: LAST_STEP,
        path: &[],
    };

    /// Returns the result of the last step.
    pub(super) fn value(&self, n: usize) -> &[u8] {
        part(&self.block.0, self.place, n)
    }
}

/// A queue of chains that wait for a lane. Chains with more steps come first.
struct Queue {
    /// For each step, the first chain that starts at it, or `NONE`.
    first: [u8; LAST_STEP as usize + 1],
    /// For each chain, the next chain that starts at the same step, or `NONE`.
    next: [u8; MAX_CHAINS],
    step: u8,
}

/// End of a list. The value is larger than every chain number.
const NONE: u8 = 0xff;
const _: () = assert!(MAX_CHAINS < NONE as usize);

impl Queue {
    /// Makes a queue of chains that start at the steps `digits`. Chains that start at the last step need no work and
    /// are left out.
    fn new(digits: &[u8]) -> Self {
        let mut queue = Self { first: [NONE; 16], next: [NONE; MAX_CHAINS], step: 0 };
        for ((chain, digit), next) in (0..).zip(digits).zip(&mut queue.next) {
            // The digit is below 16. The mask tells this to the compiler.
            let first = &mut queue.first[usize::from(digit & 15)];
            *next = *first;
            *first = chain;
        }
        queue
    }

    /// Removes the longest chain and returns its number and its first step.
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

/// Returns all chains and their first steps in the order of the queue.
#[cfg(test)]
pub(super) fn order_for_test(digits: &[u8]) -> std::vec::Vec<(u8, u8)> {
    let mut queue = Queue::new(digits);
    core::iter::from_fn(|| queue.pop()).collect()
}

/// Processes WOTS+ chains to their ends (FIPS 205 §5.3, steps 8 to 11, and algorithm 5). F is applied to value i from
/// step `digits[i]`.
///
/// `values` holds the n bytes of each chain, which the end of the chain replaces. [`Lanes::prepare`] must have
/// initialized `lanes` with the address of the key.
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

/// Does the work of [`run_chains`] in `count` lanes.
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
                    // No chain is waiting, so the last lane moves here and is processed next.
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

/// Computes the root of a tree in each of the first `count` lanes (§6.3, algorithm 11, steps 8 to 17; §8.4, algorithm
/// 17, steps 8 to 17).
///
/// A lane has its node at `place`, the number of the node, and the path. Its block is a message of H with the address
/// of the tree and zeros in the rest of the address. Afterwards the root is at `place`.
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
            // This is the position at which the next level reads the node. A node with an odd number is a right
            // child.
            lane.place = side(functions, lane.number);
        }
        functions.hash_each(functions.h, lanes, count);
    }
}

/// Returns the offset of the node with this number in a message of H.
pub(super) fn side(functions: &Functions<'_>, number: u32) -> usize {
    let offset = if number & 1 == 0 { 0 } else { functions.n };
    functions.values_at.wrapping_add(offset)
}
