//! Work on all harts. Hart 0 stores a job, wakes the others, does its share and waits.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hartlock_kernels::sha3::Sha3_384;
use hartlock_kernels::{Hash, Kernels};
use hartlock_smoke::{BLOCKS, Digest};
use hartlock_verify::board::Region;
use hartlock_virt::kernels::{self, PrivilegeMode};
use hartlock_virt::{clint, hart, memory, soc};

/// A job for all harts.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// An empty job, which measures the cost of waking.
    Nothing,
    /// Selection of kernels.
    Choose,
    /// Hashing of consecutive blocks of this length, from `start` on.
    Hash {
        /// Address of the first block.
        start: usize,
        /// Length of each block in bytes.
        block_len: usize,
    },
}

// These words contain a job for all harts. They are written before a hart is woken, and the hart
// reads them afterwards.
static KIND: AtomicUsize = AtomicUsize::new(NOTHING);
static START: AtomicUsize = AtomicUsize::new(0);
static BLOCK_LEN: AtomicUsize = AtomicUsize::new(0);
/// Number of the other harts that have finished.
static DONE: AtomicUsize = AtomicUsize::new(0);
/// Digests of the blocks. Each occupies a whole cache line, so that harts do not share cache lines.
static DIGESTS: [Slot; BLOCKS] = [const { Slot([const { AtomicU64::new(0) }; 6]) }; BLOCKS];

const NOTHING: usize = 0;
const CHOOSE: usize = 1;
const HASH: usize = 2;

#[repr(align(64))]
struct Slot([AtomicU64; 6]);

/// Runs a job on all harts and returns when it is complete. Hart 0 calls this function and uses
/// these kernels.
pub fn run(kernels: &Kernels, job: Job) {
    let kind = match job {
        Job::Nothing => NOTHING,
        Job::Choose => CHOOSE,
        Job::Hash { start, block_len } => {
            START.store(start, Ordering::Relaxed);
            BLOCK_LEN.store(block_len, Ordering::Relaxed);
            HASH
        }
    };
    KIND.store(kind, Ordering::Relaxed);
    DONE.store(0, Ordering::Relaxed);
    // The interrupt is a store to a device, so the job has to be in memory before.
    hart::fence();
    let harts = soc::harts();
    for other in 1..harts {
        clint::raise(other);
    }
    work(&mut kernels.clone(), 0, harts);
    while DONE.load(Ordering::Acquire) < harts.saturating_sub(1) {
        core::hint::spin_loop();
    }
}

/// Does the jobs of hart 0 for ever. The first interrupt is still pending when this function is
/// called.
pub fn serve(hart: usize) -> ! {
    let harts = soc::harts();
    let mut kernels = Kernels::PORTABLE;
    loop {
        while !clint::is_raised(hart) {
            hart::wait_for_interrupt();
        }
        clint::lower(hart);
        hart::fence();
        work(&mut kernels, hart, harts);
        DONE.fetch_add(1, Ordering::Release);
    }
}

/// Returns true if the last job of kind `Hash` computed these digests.
pub fn digests_are(expected: &[Digest; BLOCKS]) -> bool {
    DIGESTS.iter().zip(expected).all(|(slot, expected)| {
        let (words, _) = expected.as_chunks();
        slot.0
            .iter()
            .zip(words)
            .all(|(found, word)| found.load(Ordering::Acquire) == u64::from_le_bytes(*word))
    })
}

/// Does this hart's share of the job.
fn work(kernels: &mut Kernels, hart: usize, harts: usize) {
    match KIND.load(Ordering::Relaxed) {
        CHOOSE if hart != 0 => *kernels = kernels::choose(PrivilegeMode::Machine).kernels,
        HASH => {
            let start = START.load(Ordering::Relaxed) as u64;
            let block_len = BLOCK_LEN.load(Ordering::Relaxed) as u64;
            for (block, slot) in (0_u64..).zip(&DIGESTS).skip(hart).step_by(harts.max(1)) {
                let at = start.saturating_add(block.saturating_mul(block_len));
                // SAFETY: hart 0 guarantees that the blocks are memory, and nothing writes to them.
                let bytes = unsafe { memory::bytes(Region::new(at, block_len)) };
                let mut hash = Sha3_384::with(kernels);
                hash.update(bytes);
                let digest = hash.finalize();
                for (to, word) in slot.0.iter().zip(digest.as_chunks().0) {
                    to.store(u64::from_le_bytes(*word), Ordering::Relaxed);
                }
            }
        }
        _ => {}
    }
}
