//! Starts, uses and stops the other harts (boot flow §5.2 to §5.4).

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::Reason;
use hartlock_kernels::{Kernels, Tier};
use hartlock_verify::board::Region;
use hartlock_verify::pool::{Claim, ClaimedLeaves, MAX_HARTS, Pool};
use hartlock_verify::tree;
use hartlock_virt::kernels::{self as virt_kernels, Choice};
use hartlock_virt::{clock, environment, hart, memory};

use crate::decryption;
use crate::log::step;
use crate::protection;
use crate::timeouts::{START_MS, STOP_MS};

/// The work that all harts share.
pub(crate) static POOL: Pool = Pool::new();
/// These are the bit mask of harts that run worker code, that of harts that trapped, and the request to stop all
/// workers.
static READY: AtomicU64 = AtomicU64::new(0);
static FAULTED: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn worker_entry();
}

/// The harts of this boot as the boot hart knows them.
#[derive(Debug)]
pub struct Harts {
    boot_hart: usize,
    /// Harts that reported to the ROM.
    present: u64,
    /// Harts that this loader started and has not seen STOPPED since.
    started: u64,
}

impl Harts {
    /// Creates the set from the hart mask `present` of the hand-off block, which includes the boot hart.
    pub fn new(boot_hart: usize, present: u64) -> Self {
        Self { boot_hart, present, started: 0 }
    }

    /// Returns the number of the boot hart.
    pub const fn boot_hart(&self) -> usize {
        self.boot_hart
    }

    /// Returns the bit mask of the boot hart.
    pub const fn own_bit(&self) -> u64 {
        1 << (self.boot_hart & 63)
    }

    /// Returns the mask of the harts that reported to the ROM.
    pub const fn present(&self) -> u64 {
        self.present
    }

    /// Returns the mask of the boot hart and the harts that work for it.
    pub fn running(&self) -> u64 {
        self.own_bit() | self.started
    }

    /// Returns the number of harts that work for the boot hart.
    pub fn workers(&self) -> u64 {
        u64::from((self.started & !self.faulted()).count_ones())
    }

    /// Returns the mask of the harts that trapped since they were started.
    pub fn faulted(&self) -> u64 {
        FAULTED.load(Ordering::Acquire)
    }

    /// Starts every other hart that reported, and waits until all of them run and have tried their memory protection.
    ///
    /// # Errors
    /// `HartNotStarted`, `PagingOff`, `MemoryReachable`.
    pub fn start(&mut self) -> Result<(), Reason> {
        POOL.reset();
        READY.store(0, Ordering::Release);
        STOP.store(false, Ordering::Release);
        for other in self.others() {
            let entry = worker_entry as *const () as usize;
            if !environment::start_hart(other, entry) {
                return Err(Reason::HartNotStarted);
            }
            // The hart is recorded before it is seen running, because it has to be stopped from here on.
            self.started |= 1 << other;
        }
        let deadline = clock::deadline(START_MS);
        while READY.load(Ordering::Acquire) & self.started != self.started {
            if clock::is_past(deadline) {
                return Err(Reason::HartNotStarted);
            }
            core::hint::spin_loop();
        }
        protection::of_workers()
    }

    /// Wakes the workers, because blocks became available or because they should stop.
    pub fn wake(&self) {
        let idle = self.started & !self.faulted();
        if idle != 0 {
            environment::interrupt(idle);
        }
    }

    /// Stops every hart that was started, and checks that each is STOPPED.
    ///
    /// # Errors
    /// `HartNotStopped`.
    pub fn stop(&mut self) -> Result<(), Reason> {
        STOP.store(true, Ordering::Release);
        if self.started != 0 {
            environment::interrupt(self.started);
        }
        let deadline = clock::deadline(STOP_MS);
        for other in self.others() {
            // The loop includes harts that this loader never started, because Linux needs them STOPPED as well.
            while !environment::is_stopped(other) {
                if clock::is_past(deadline) {
                    return Err(Reason::HartNotStopped);
                }
                core::hint::spin_loop();
            }
            self.started &= !(1 << other);
        }
        Ok(())
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (present, boot_hart) = (self.present, self.boot_hart);
        (0..MAX_HARTS).filter(move |hart| *hart != boot_hart && present & (1 << hart) != 0)
    }
}

/// Stops all workers, for a trap in [`Harts::stop`] or in what comes before it. Returns false if one is not STOPPED by the
/// deadline.
pub(crate) fn stop_workers() -> bool {
    STOP.store(true, Ordering::Release);
    let ready = READY.load(Ordering::Acquire);
    if ready != 0 {
        environment::interrupt(ready);
    }
    let deadline = clock::deadline(STOP_MS);
    let is_stopped = |hart: usize| {
        while !environment::is_stopped(hart) {
            if clock::is_past(deadline) {
                return false;
            }
            core::hint::spin_loop();
        }
        true
    };
    (0..MAX_HARTS).filter(|hart| ready & (1 << hart) != 0).all(is_stopped)
}

/// Records that a worker trapped.
pub(crate) fn report_fault(hart: usize) {
    FAULTED.fetch_or(1 << (hart & 63), Ordering::AcqRel);
}

/// The work of one hart on the current payload. Only the log uses these numbers; a late hart may make them wrong.
#[derive(Debug)]
struct Part {
    kernel: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    busy: AtomicU64,
    bytes: AtomicU64,
}

impl Part {
    const fn new() -> Self {
        let [kernel, first, last, busy, bytes] = [const { AtomicU64::new(0) }; 5];
        Self { kernel, first, last, busy, bytes }
    }

    fn clear(&self) {
        for number in [&self.kernel, &self.first, &self.last, &self.busy, &self.bytes] {
            number.store(0, Ordering::Relaxed);
        }
    }

    fn add(&self, start: u64, end: u64, bytes: u64) {
        if self.bytes.fetch_add(bytes, Ordering::Relaxed) == 0 {
            self.first.store(start, Ordering::Relaxed);
        }
        self.last.store(end, Ordering::Relaxed);
        self.busy.fetch_add(end.saturating_sub(start), Ordering::Relaxed);
    }
}

static PARTS: [Part; MAX_HARTS] = [const { Part::new() }; MAX_HARTS];

/// Clears the numbers of the previous payload.
pub(crate) fn clear_parts() {
    PARTS.iter().for_each(Part::clear);
}

/// Returns an entry for each hart that hashed a part of the payload (boot flow §3.5, step 11).
pub(crate) fn parts() -> impl Iterator<Item = Entry> {
    PARTS.iter().enumerate().filter_map(|(hart, part)| {
        let numbers = [&part.kernel, &part.first, &part.last, &part.busy, &part.bytes];
        let [kernel, first, last, busy, bytes] =
            numbers.map(|number| number.load(Ordering::Relaxed));
        (bytes > 0).then_some(Entry {
            harts: 1 << (hart & 63),
            bytes,
            time: (first, last),
            value: busy,
            kernel: kernel as u32,
            ..Entry::new(Stage::Loader, Step::HashPart)
        })
    })
}

/// Computes the leaves of claimed blocks on this hart.
pub(crate) fn compute_leaves(
    hart: usize,
    kernels: &Kernels,
    claim: &Claim,
    leaves: &mut ClaimedLeaves,
) {
    let start = clock::now().time;
    // A claim is always inside its job and is not larger than the caller requested.
    let Some((address, len)) = claim.job.blocks(claim.block, claim.count) else { return };
    // SAFETY: the payload's range was checked against the board's map, the device has completed
    // these blocks, and nothing writes to them until the kernel runs.
    let blocks = unsafe { memory::bytes(Region::new(address, len)) };
    leaves.compute(kernels, claim, blocks);
    if let Some(part) = PARTS.get(hart) {
        let kind = (claim.job.mode, claim.job.hash);
        part.kernel.store(tree::tier(kernels, kind) as u64, Ordering::Relaxed);
        part.add(start, clock::now().time, len);
    }
}

/// Delivers the leaves of a claim, and decrypts the blocks of those that are accepted.
pub(crate) fn submit(hart: usize, kernels: &Kernels, claim: &Claim, leaves: &ClaimedLeaves) {
    let accepted = POOL.submit(hart, claim, leaves.get());
    for block in claim.accepted(accepted) {
        // SAFETY: the leaf of the block was accepted from this hart.
        unsafe { decryption::decrypt_block(kernels, hart, &claim.job, block) }
    }
}

/// Result of each worker's kernel selection ([`Choice::rejections`]), one word for each tier.
static REJECTED: [[AtomicU64; TIERS]; MAX_HARTS] =
    [const { [const { AtomicU64::new(0) }; TIERS] }; MAX_HARTS];
const TIERS: usize = Tier::LAST as usize + 1;
/// Bit of such a word: the hart does not use the tier.
const IS_REJECTED: u64 = 1 << 8;

/// Selects the kernels of a hart and records the rejected ones for the boot hart to log.
fn choose(number: usize) -> Choice {
    let choice = virt_kernels::choose(environment::MODE);
    if let Some(words) = REJECTED.get(number) {
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        for (tier, families) in choice.rejections() {
            if let Some(word) = words.get(tier as usize) {
                word.store(IS_REJECTED | families, Ordering::Relaxed);
            }
        }
    }
    choice
}

/// Returns entries about kernels that a hart does not use (boot flow §3.5, step 12): all rejections of the boot hart,
/// and those of other harts that differ from them.
pub(crate) fn rejections(boot_hart: usize, harts: u64) -> impl Iterator<Item = Entry> {
    let found = |hart: usize, tier: usize| {
        let word = REJECTED.get(hart).and_then(|words| words.get(tier));
        word.map_or(0, |word| word.load(Ordering::Relaxed))
    };
    let of_hart = move |hart: usize| {
        (0..TIERS).filter_map(move |tier| {
            let word = found(hart, tier);
            let is_new = hart == boot_hart || word != found(boot_hart, tier);
            (word != 0 && is_new).then_some(Entry {
                kernel: tier as u32,
                harts: 1 << (hart & 63),
                value: word & !IS_REJECTED,
                ..step(Step::Kernel, clock::now())
            })
        })
    };
    (0..MAX_HARTS).filter(move |hart| harts & (1 << hart) != 0).flat_map(of_hart)
}

/// Selects the kernels of the boot hart and prints them on the console.
pub(crate) fn choose_on_boot_hart(number: usize) -> Kernels {
    let choice = choose(number);
    virt_kernels::print(&choice);
    choice.kernels
}

/// Runs the main loop of a worker, which sleeps and hashes blocks until all workers are told to stop. `claimed` is
/// called after this hart has claimed blocks.
pub fn work(number: usize, claimed: impl Fn(usize)) {
    environment::enable_interrupt();
    let kernels = choose(number).kernels;
    protection::check_worker(number);
    READY.fetch_or(1 << (number & 63), Ordering::AcqRel);
    let mut leaves = ClaimedLeaves::new();
    while !STOP.load(Ordering::Acquire) {
        // The next payload may have another hash, so the number of blocks in a group is computed anew.
        let most = POOL.hash().map_or(1, |hash| tree::lanes(&kernels, hash));
        match POOL.claim_group(number, most) {
            Some(claim) => {
                claimed(number);
                compute_leaves(number, &kernels, &claim, &mut leaves);
                submit(number, &kernels, &claim, &leaves);
            }
            None => {
                hart::wait_for_interrupt();
                // The interrupt is cleared before the check for work, so that an interrupt that arrives later ends the
                // next `wfi`.
                environment::clear_interrupt(number);
            }
        }
    }
}
