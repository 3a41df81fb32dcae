//! Hands out blocks to harts and collects their leaves (boot flow §5.3).
//!
//! One *coordinator* (the boot hart) opens jobs, publishes the number of blocks that have arrived, and absorbs leaves
//! in order. Any number of *workers* claim blocks. The whole state consists of atomics, so that the pool is safe code
//! on every hart and can be tested with threads.
//!
//! Three rules ensure that a slow hart does no harm:
//!
//! * A claim is a compare-and-swap on (job, next block): a worker that was stopped during a whole job cannot take a
//!   block of the next job with the old parameters.
//! * A result is accepted only once, by a compare-and-swap of its slot from *open (job, block)* to *done by hart*. A
//!   later result finds a different word in the slot and is dropped.
//! * Each hart writes leaves only to its own row, before that compare-and-swap.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hartlock_image::{HashId, TreeMode};
use hartlock_kernels::{Kernels, MAX_LANES};

use crate::tree::{self, Digest};

/// Maximum number of harts of a pool.
pub const MAX_HARTS: usize = 8;
/// Maximum distance in blocks from the oldest missing leaf to the newest claim.
pub const WINDOW: u64 = 64;

const BLOCK_BITS: u32 = 40;
const BLOCK_MASK: u64 = (1 << BLOCK_BITS) - 1;
/// Number of bits below (job, block) in a slot word. They are 0 if the slot is open, else 1 + hart. In a holding word
/// these bits are the number of blocks, which is at least 1.
const HART_BITS: u32 = 8;
/// Maximum number of blocks of a claim.
const MAX_GROUP: u64 = 32;
/// The job number is reduced modulo 2^16 in a slot word and modulo 2^24 in a claim word.
const SLOT_JOB_MASK: u64 = (1 << 16) - 1;
const CLAIM_JOB_MASK: u64 = (1 << 24) - 1;

/// Parameters of the payload that is being hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Load address of the payload.
    pub address: u64,
    /// Size of the payload in bytes.
    pub size: u64,
    /// Mode, which defines the blocks of the payload and the prefix that is hashed with each.
    pub mode: TreeMode,
    /// Hash algorithm of the leaves.
    pub hash: HashId,
    /// True if a block is decrypted after its leaf was accepted. This belongs to the job, because a hart may be late.
    pub is_encrypted: bool,
}

impl Job {
    /// Returns the block size in bytes; 0 in mode flat, which has no blocks.
    pub const fn block_size(&self) -> u64 {
        match self.mode.block_size() {
            Some(block_size) => block_size as u64,
            None => 0,
        }
    }

    /// Returns the number of blocks.
    pub const fn block_count(&self) -> u64 {
        match self.block_size() {
            0 => 0,
            block_size => self.size.div_ceil(block_size),
        }
    }

    /// Returns address and length of a block, or `None` if it is past the end of the payload.
    pub fn block(&self, index: u64) -> Option<(u64, u64)> {
        self.blocks(index, 1)
    }

    /// Returns address and length of `count` blocks from `index` on; the length is less at the end of the payload.
    /// Returns `None` past the end.
    pub fn blocks(&self, index: u64, count: u64) -> Option<(u64, u64)> {
        let offset = index.checked_mul(self.block_size())?;
        let most = self.block_size().checked_mul(count)?;
        let len = self.size.checked_sub(offset)?.min(most);
        (len > 0).then_some((self.address.checked_add(offset)?, len))
    }
}

/// Exclusive right of a hart to deliver the leaves of consecutive blocks.
#[derive(Debug, PartialEq, Eq)]
pub struct Claim {
    number: u64,
    /// Index of the first block.
    pub block: u64,
    /// Number of blocks, from 1 to the number that the caller requested.
    pub count: u64,
    /// Job that the blocks belong to.
    pub job: Job,
}

impl Claim {
    /// Returns the blocks of the claim whose leaves were accepted, by the mask that [`Pool::submit`] returned.
    pub fn accepted(&self, mask: u32) -> impl Iterator<Item = u64> + use<> {
        let blocks = self.block..self.block.saturating_add(self.count);
        let is_accepted =
            move |index: u32| mask.checked_shr(index).is_some_and(|bits| bits & 1 == 1);
        (0_u32..).zip(blocks).filter(move |(index, _)| is_accepted(*index)).map(|(_, block)| block)
    }
}

/// The leaves of a claim. Each hart has one buffer for all its claims, because it is large and would otherwise be cleared
/// and copied for each claim.
#[derive(Debug)]
pub struct ClaimedLeaves {
    leaves: [Digest; MAX_LANES],
    count: usize,
}

impl ClaimedLeaves {
    /// Returns an empty buffer.
    pub const fn new() -> Self {
        Self { leaves: [[0; 64]; MAX_LANES], count: 0 }
    }

    /// Computes the leaves of claimed blocks. `blocks` has their bytes.
    pub fn compute(&mut self, kernels: &Kernels, claim: &Claim, blocks: &[u8]) {
        self.count = 0;
        tree::leaves(kernels, (claim.job.mode, claim.job.hash), claim.block, blocks, |leaf| {
            if let Some(place) = self.leaves.get_mut(self.count) {
                *place = *leaf;
                self.count = self.count.saturating_add(1);
            }
        });
    }

    /// Returns the leaves of the last claim, one for each claimed block.
    pub fn get(&self) -> &[Digest] {
        self.leaves.get(..self.count).unwrap_or_default()
    }
}

impl Default for ClaimedLeaves {
    fn default() -> Self {
        Self::new()
    }
}

/// A block that its hart will not deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostBlock {
    /// Index of the block.
    pub block: u64,
    /// Hart that held it.
    pub holder: usize,
}

/// The time limit for the oldest missing block, in ticks of the caller's clock.
#[derive(Debug)]
pub struct Patience {
    ticks: u64,
    deadline: u64,
}

impl Patience {
    /// Returns a limit that ends `ticks` after `now`.
    pub const fn new(now: u64, ticks: u64) -> Self {
        Self { ticks, deadline: now.saturating_add(ticks) }
    }

    /// Lets the time begin again, because a leaf was delivered.
    pub const fn renew(&mut self, now: u64) {
        *self = Self::new(now, self.ticks);
    }

    /// Returns true if the time is over.
    pub const fn is_over(&self, now: u64) -> bool {
        now >= self.deadline
    }
}

/// Leaves of one hart, by slot.
type Row = [[AtomicU64; 8]; WINDOW as usize];

/// The shared state of all harts. It can be stored in a `static`.
#[derive(Debug)]
pub struct Pool {
    /// Word (job number, next block to claim).
    next: AtomicU64,
    /// Index of the first block that may not be claimed yet.
    limit: AtomicU64,
    /// Parameters of the job. They are written only while no block can be claimed.
    address: AtomicU64,
    size: AtomicU64,
    /// Mode in the upper half, block size in the lower one.
    mode: AtomicU64,
    hash: AtomicU64,
    is_encrypted: AtomicBool,
    slots: [AtomicU64; WINDOW as usize],
    leaves: [Row; MAX_HARTS],
    /// Word (job number, first block, count) of the blocks that a hart is hashing, 0 if none. The job number is needed
    /// because a hart that was lost in one job still holds its blocks of that job during the next.
    holding: [AtomicU64; MAX_HARTS],
    /// Bit mask of the harts that have delivered a block in the current job.
    delivered: AtomicU64,
    /// Bit mask of the harts that get no more work.
    excluded: AtomicU64,
}

const fn slot_word(job: u64, block: u64) -> u64 {
    ((job & SLOT_JOB_MASK) << (BLOCK_BITS + HART_BITS)) | ((block & BLOCK_MASK) << HART_BITS)
}

impl Pool {
    /// Returns a pool without a job.
    pub const fn new() -> Self {
        Self {
            next: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            address: AtomicU64::new(0),
            size: AtomicU64::new(0),
            mode: AtomicU64::new(0),
            hash: AtomicU64::new(0),
            is_encrypted: AtomicBool::new(false),
            slots: [const { AtomicU64::new(0) }; WINDOW as usize],
            leaves: [const { [const { [const { AtomicU64::new(0) }; 8] }; WINDOW as usize] };
                MAX_HARTS],
            holding: [const { AtomicU64::new(0) }; MAX_HARTS],
            delivered: AtomicU64::new(0),
            excluded: AtomicU64::new(0),
        }
    }

    /// Claims the next block, if it has arrived. Workers and the coordinator call this function.
    pub fn claim(&self, hart: usize) -> Option<Claim> {
        self.claim_group(hart, 1)
    }

    /// Returns the hash algorithm of the job, from which a hart derives the number of blocks to claim. The next claim
    /// may already belong to another job.
    pub fn hash(&self) -> Option<HashId> {
        HashId::from_number(self.hash.load(Ordering::Relaxed) as u32)
    }

    /// Claims up to `most` of the next blocks that have arrived. The caller passes the number of blocks that the hart
    /// hashes at once.
    pub fn claim_group(&self, hart: usize, most: usize) -> Option<Claim> {
        if self.is_excluded(hart) {
            return None;
        }
        let holding = self.holding.get(hart)?;
        let mut next = self.next.load(Ordering::Acquire);
        loop {
            let claim = self.offer(next, most)?;
            match self.take(holding, next, claim.count) {
                Ok(_) => return Some(claim),
                Err(current) => next = current,
            }
        }
    }

    /// Returns the claim that a hart that read `next` may try to take. The parameters may be those of a later job; then
    /// `take` fails.
    fn offer(&self, next: u64, most: usize) -> Option<Claim> {
        let (number, block) = (next >> BLOCK_BITS, next & BLOCK_MASK);
        // `limit` is read after `next`. A limit of an older job is never larger than the number of blocks of that job,
        // and in that case `take` fails.
        let available = self.limit.load(Ordering::Acquire).checked_sub(block)?;
        let count = available.min((most as u64).clamp(1, MAX_GROUP));
        if count == 0 {
            return None;
        }
        let mode = self.mode.load(Ordering::Relaxed);
        let job = Job {
            address: self.address.load(Ordering::Relaxed),
            size: self.size.load(Ordering::Relaxed),
            mode: TreeMode::from_fields((mode >> 32) as u32, mode as u32).ok()?,
            hash: HashId::from_number(self.hash.load(Ordering::Relaxed) as u32)?,
            is_encrypted: self.is_encrypted.load(Ordering::Relaxed),
        };
        Some(Claim { number, block, count, job })
    }

    /// Takes the offered blocks, unless another hart has claimed a block or another job was opened in the meantime.
    /// Then the offer is void, and `Err` holds the current word.
    fn take(&self, holding: &AtomicU64, next: u64, count: u64) -> Result<u64, u64> {
        // The blocks are announced before they are claimed, so that the coordinator never sees a claimed block without
        // a holder.
        let held = slot_word(next >> BLOCK_BITS, next & BLOCK_MASK) | count;
        holding.store(held, Ordering::Release);
        let after = next.wrapping_add(count);
        self.next
            .compare_exchange_weak(next, after, Ordering::AcqRel, Ordering::Acquire)
            .inspect_err(|_| holding.store(0, Ordering::Release))
    }

    /// Delivers the leaves of a claim, in order. Returns a bit mask of those that were accepted; a leaf that is late or
    /// was already delivered is not. So the leaf of a block is accepted from exactly one hart.
    pub fn submit(&self, hart: usize, claim: &Claim, leaves: &[Digest]) -> u32 {
        let blocks = claim.block..claim.block.saturating_add(claim.count);
        let mut accepted = 0_u32;
        for (index, (block, leaf)) in (0_u32..).zip(blocks.zip(leaves)) {
            let bit = u32::from(self.deliver(hart, claim.number, block, leaf));
            accepted = accepted.wrapping_add(bit.checked_shl(index).unwrap_or(0));
        }
        // The blocks are held until the last leaf is delivered: if the hart is lost before, the coordinator redoes the
        // missing ones.
        if let Some(holding) = self.holding.get(hart) {
            holding.store(0, Ordering::Release);
        }
        accepted
    }

    fn deliver(&self, hart: usize, number: u64, block: u64, leaf: &Digest) -> bool {
        let index = (block % WINDOW) as usize;
        let (Some(row), Some(slot)) = (self.leaves.get(hart), self.slots.get(index)) else {
            return false;
        };
        let open = slot_word(number, block);
        // Only this hart writes to the row; the compare-and-swap below publishes it.
        if slot.load(Ordering::Acquire) == open
            && let Some(words) = row.get(index)
        {
            for (word, bytes) in words.iter().zip(leaf.as_chunks::<8>().0) {
                word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
            }
        }
        let done = open | (hart as u64).wrapping_add(1);
        let is_accepted =
            slot.compare_exchange(open, done, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if is_accepted {
            self.delivered.fetch_or(1 << (hart & 63), Ordering::Relaxed);
        }
        is_accepted
    }

    /// Excludes a hart from further work and returns the first block that it holds.
    pub fn exclude(&self, hart: usize) -> Option<u64> {
        self.excluded.fetch_or(1 << (hart & 63), Ordering::AcqRel);
        let held = self.holding.get(hart)?.load(Ordering::Acquire);
        (held != 0).then_some((held >> HART_BITS) & BLOCK_MASK)
    }

    /// Returns true if a hart gets no more work.
    pub fn is_excluded(&self, hart: usize) -> bool {
        self.excluded.load(Ordering::Acquire) & (1 << (hart & 63)) != 0
    }

    /// Closes the job and clears the exclusions. The coordinator calls this function before there are workers.
    pub fn reset(&self) {
        self.limit.store(0, Ordering::Release);
        self.excluded.store(0, Ordering::Release);
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

/// The coordinator of one job. A pool must have only one at a time; the type does not enforce this.
#[derive(Debug)]
pub struct Coordinator<'a> {
    pool: &'a Pool,
    hart: usize,
    job: Job,
    number: u64,
    absorbed: u64,
    arrived: u64,
    /// Limit that workers were last told of.
    announced: u64,
}

impl<'a> Coordinator<'a> {
    /// Opens a job. No block can be claimed before the first call of [`Coordinator::arrived`].
    pub fn open(pool: &'a Pool, hart: usize, job: Job) -> Self {
        // From here on no claim succeeds: the last job was completely absorbed or abandoned, and a claim needs a limit
        // above `next`.
        pool.limit.store(0, Ordering::SeqCst);
        let number =
            (pool.next.load(Ordering::Acquire) >> BLOCK_BITS).wrapping_add(1) & CLAIM_JOB_MASK;
        // The slots are opened for the new job before workers can see its number.
        for (block, slot) in (0..WINDOW).zip(&pool.slots) {
            slot.store(slot_word(number, block), Ordering::Release);
        }
        // After an abandoned job `next` may still allow claims of its blocks, so it is moved past all blocks first.
        pool.next.store((number << BLOCK_BITS) | BLOCK_MASK, Ordering::SeqCst);
        pool.address.store(job.address, Ordering::Relaxed);
        pool.size.store(job.size, Ordering::Relaxed);
        let (mode, block_size) = job.mode.fields();
        pool.mode.store((u64::from(mode) << 32) | u64::from(block_size), Ordering::Relaxed);
        pool.hash.store(job.hash as u64, Ordering::Relaxed);
        pool.is_encrypted.store(job.is_encrypted, Ordering::Relaxed);
        pool.delivered.store(0, Ordering::Relaxed);
        pool.next.store(number << BLOCK_BITS, Ordering::SeqCst);
        Self { pool, hart, job, number, absorbed: 0, arrived: 0, announced: 0 }
    }

    /// Publishes that the first `bytes` bytes of the payload are in memory. Returns true if there are blocks that
    /// workers were not told of, either because they have just arrived or because absorbed leaves made room for them.
    /// Sleeping workers must then be woken.
    pub fn arrived(&mut self, bytes: u64) -> bool {
        self.arrived = if bytes >= self.job.size {
            self.job.block_count()
        } else {
            bytes.checked_div(self.job.block_size()).unwrap_or(0)
        };
        let limit = self.publish();
        core::mem::replace(&mut self.announced, limit) < limit
    }

    fn publish(&self) -> u64 {
        let limit = self.arrived.min(self.absorbed.wrapping_add(WINDOW));
        self.pool.limit.store(limit, Ordering::Release);
        limit
    }

    /// Returns the number of blocks that can be claimed and that no hart has claimed.
    pub fn unclaimed(&self) -> u64 {
        self.announced.saturating_sub(self.pool.next.load(Ordering::Acquire) & BLOCK_MASK)
    }

    /// Takes the leaf of the oldest block that is not absorbed yet, if it was delivered.
    pub fn next_leaf(&mut self) -> Option<Digest> {
        if self.is_complete() {
            return None;
        }
        let index = (self.absorbed % WINDOW) as usize;
        let slot = self.pool.slots.get(index)?;
        let word = slot.load(Ordering::Acquire);
        let open = slot_word(self.number, self.absorbed);
        let hart = (word ^ open).checked_sub(1)?;
        let words = self.pool.leaves.get(hart as usize)?.get(index)?;
        let mut leaf = [0; 64];
        for (bytes, word) in leaf.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        slot.store(slot_word(self.number, self.absorbed.wrapping_add(WINDOW)), Ordering::Release);
        self.absorbed = self.absorbed.wrapping_add(1);
        self.publish();
        Some(leaf)
    }

    /// Returns the oldest block whose leaf is missing, if the block has arrived. Only such a block can be redone.
    pub const fn missing_block(&self) -> Option<u64> {
        if self.absorbed < self.arrived { Some(self.absorbed) } else { None }
    }

    /// Returns the hart, other than the coordinator, that holds `block` of this job.
    pub fn holder(&self, block: u64) -> Option<usize> {
        let is_held = |held: u64| {
            let (first, count) = ((held >> HART_BITS) & BLOCK_MASK, held & ((1 << HART_BITS) - 1));
            let is_of_this_job = (held ^ slot_word(self.number, first)) >> HART_BITS == 0;
            is_of_this_job && block.checked_sub(first).is_some_and(|after| after < count)
        };
        self.pool
            .holding
            .iter()
            .enumerate()
            .find(|(hart, held)| *hart != self.hart && is_held(held.load(Ordering::Acquire)))
            .map(|(hart, _)| hart)
    }

    /// Gives up the hart that holds the oldest missing block, if it is one of the harts that have `trapped`, or if its time
    /// `is_over`. The hart gets no more work, and the caller redoes the block ([`Coordinator::redo`]).
    pub fn give_up(&self, trapped: u64, is_over: bool) -> Option<LostBlock> {
        let block = self.missing_block()?;
        let holder = self.holder(block)?;
        if trapped & (1 << (holder & 63)) == 0 && !is_over {
            return None;
        }
        self.pool.exclude(holder);
        Some(LostBlock { block, holder })
    }

    /// Delivers the leaf of a block that another hart claimed and will not deliver.
    pub fn redo(&self, block: u64, leaf: &Digest) -> bool {
        self.pool.deliver(self.hart, self.number, block, leaf)
    }

    /// Returns true if every leaf was taken.
    pub const fn is_complete(&self) -> bool {
        self.absorbed >= self.job.block_count()
    }

    /// Returns the bit mask of the harts whose leaves were accepted.
    pub fn delivered(&self) -> u64 {
        self.pool.delivered.load(Ordering::Relaxed)
    }

    /// Returns the parameters of the job.
    pub const fn job(&self) -> &Job {
        &self.job
    }
}

#[cfg(test)]
mod tests;
