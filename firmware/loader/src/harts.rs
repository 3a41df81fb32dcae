//! Starting, employing and stopping the other harts (boot flow §5.2 to §5.4).

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::Reason;
use hartlock_verify::board::Region;
use hartlock_verify::pool::{Claim, MAX_HARTS, Pool};
use hartlock_verify::tree::{self, Digest, Kernel};
use hartlock_virt::{clock, hart, memory, sbi};

/// How long a hart may take to start, and to stop.
const START_MS: u64 = 5000;
const STOP_MS: u64 = 5000;

/// Blocks for everybody.
pub static POOL: Pool = Pool::new();
/// Harts that run worker code, those that trapped, and whether they should all stop.
static READY: AtomicU64 = AtomicU64::new(0);
static FAULTED: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn worker_entry();
}

/// The harts of this boot, from the view of the boot hart.
#[derive(Debug)]
pub struct Harts {
    boot_hart: usize,
    /// Harts that reported to the ROM.
    present: u64,
    /// Harts that were started here and not seen STOPPED since.
    started: u64,
}

impl Harts {
    /// `present` comes from the hand-off block; the boot hart is one of them.
    pub fn new(boot_hart: usize, present: u64) -> Self {
        Self { boot_hart, present, started: 0 }
    }

    /// The boot hart's number.
    pub const fn boot_hart(&self) -> usize {
        self.boot_hart
    }

    /// The boot hart's bit.
    pub const fn own_bit(&self) -> u64 {
        1 << (self.boot_hart & 63)
    }

    /// Harts that reported to the ROM.
    pub const fn present(&self) -> u64 {
        self.present
    }

    /// The boot hart and the harts that work for it.
    pub fn running(&self) -> u64 {
        self.own_bit() | self.started
    }

    /// Harts that trapped since they were started.
    pub fn faulted(&self) -> u64 {
        FAULTED.load(Ordering::Acquire)
    }

    /// Starts every other hart that reported, and waits until all of them run.
    ///
    /// # Errors
    /// `HartNotStarted`.
    pub fn start(&mut self) -> Result<(), Reason> {
        POOL.reset();
        READY.store(0, Ordering::Release);
        STOP.store(false, Ordering::Release);
        for other in crate::inject::to_start(self.others()) {
            let entry = worker_entry as *const () as usize;
            sbi::hart_start(other, entry, 0).map_err(|_| Reason::HartNotStarted)?;
            // Noted before it is seen running: from here on it has to be stopped.
            self.started |= 1 << other;
        }
        let deadline = clock::deadline(START_MS);
        while READY.load(Ordering::Acquire) & self.started != self.started {
            if clock::is_past(deadline) {
                return Err(Reason::HartNotStarted);
            }
            core::hint::spin_loop();
        }
        Ok(())
    }

    /// Wakes the workers: blocks became available, or they should stop.
    pub fn wake(&self) {
        let idle = self.started & !self.faulted();
        if idle != 0 {
            sbi::send_ipi(idle);
        }
    }

    /// Stops every hart that was started, and checks that it is STOPPED.
    ///
    /// # Errors
    /// `HartNotStopped`.
    pub fn stop(&mut self) -> Result<(), Reason> {
        STOP.store(true, Ordering::Release);
        if self.started != 0 {
            sbi::send_ipi(self.started);
        }
        let deadline = clock::deadline(STOP_MS);
        for other in self.others() {
            // Also those that this loader never started: Linux needs them STOPPED as well.
            while sbi::hart_status(other) != Ok(sbi::STOPPED) {
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

/// Tells the workers to stop, from a place that cannot wait for them.
pub fn request_stop() {
    STOP.store(true, Ordering::Release);
    sbi::send_ipi(READY.load(Ordering::Acquire));
}

/// Notes that a worker trapped.
pub fn report_fault(hart: usize) {
    FAULTED.fetch_or(1 << (hart & 63), Ordering::AcqRel);
}

/// What one hart hashed of the payload in work. For the log alone: a hart that comes late may
/// spoil its numbers, and nothing else.
#[derive(Debug)]
struct Part {
    first: AtomicU64,
    last: AtomicU64,
    busy: AtomicU64,
    bytes: AtomicU64,
}

impl Part {
    const fn new() -> Self {
        let [first, last, busy, bytes] = [const { AtomicU64::new(0) }; 4];
        Self { first, last, busy, bytes }
    }

    fn clear(&self) {
        for number in [&self.first, &self.last, &self.busy, &self.bytes] {
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

/// Forgets what was hashed of the payload before.
pub fn clear_parts() {
    PARTS.iter().for_each(Part::clear);
}

/// An entry for each hart that hashed something (boot flow §3.5, step 11).
pub fn parts() -> impl Iterator<Item = Entry> {
    PARTS.iter().enumerate().filter_map(|(hart, part)| {
        let [first, last, busy, bytes] = [&part.first, &part.last, &part.busy, &part.bytes]
            .map(|number| number.load(Ordering::Relaxed));
        (bytes > 0).then_some(Entry {
            harts: 1 << (hart & 63),
            bytes,
            time: (first, last),
            value: busy,
            kernel: crate::PORTABLE_KERNEL,
            ..Entry::new(Stage::Loader, Step::HashPart)
        })
    })
}

/// Computes the leaf of a claimed block, on this hart.
pub fn leaf(hart: usize, claim: &Claim) -> Digest {
    let start = clock::ticks();
    let leaf = leaf_of(claim);
    if let (Some(part), Some((_, len))) = (PARTS.get(hart), claim.job.block(claim.block)) {
        part.add(start, clock::ticks(), len);
    }
    leaf
}

fn leaf_of(claim: &Claim) -> Digest {
    match claim.job.block(claim.block) {
        Some((address, len)) => {
            // SAFETY: the payload's range was checked against the board's map, the device has
            // completed this block, and nobody writes to it until the kernel runs.
            let block = unsafe { memory::bytes(Region::new(address, len)) };
            tree::leaf::<Kernel>(claim.job.mode, claim.job.hash, claim.block, block)
        }
        // A claim is always inside its job; a digest that matches nothing if it were not.
        None => [0; 64],
    }
}

/// The life of a worker: sleep, hash blocks, stop. Entered from start.S.
#[unsafe(no_mangle)]
extern "C" fn worker_main(number: usize) {
    enable_ipi();
    READY.fetch_or(1 << (number & 63), Ordering::AcqRel);
    while !STOP.load(Ordering::Acquire) {
        match POOL.claim(number) {
            Some(claim) => {
                crate::inject::before_leaf(number);
                let leaf = leaf(number, &claim);
                POOL.submit(number, &claim, &leaf);
            }
            None => {
                hart::wait_for_interrupt();
                clear_ipi();
            }
        }
    }
    crate::inject::before_stop(number);
    sbi::hart_stop();
}

/// Lets the supervisor software interrupt end a `wfi`; sstatus.SIE stays 0, so it is not taken.
fn enable_ipi() {
    // SAFETY: changes only what wakes `wfi`.
    unsafe { core::arch::asm!("csrw sie, {}", in(reg) 2usize, options(nomem, nostack)) };
}

/// Cleared before work is looked for: an interrupt that arrives later ends the next `wfi`.
fn clear_ipi() {
    // SAFETY: clears the pending bit of this hart's own software interrupt.
    unsafe { core::arch::asm!("csrc sip, {}", in(reg) 2usize, options(nostack)) };
}
