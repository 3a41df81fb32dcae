//! The kernels of a hart, its attempts at closed memory, and the work of harts that do not boot (specification §6).

use core::sync::atomic::Ordering;

use hartlock_image::{CallReason, Reason};
use hartlock_kernels::{HashFamily, KernelFault, Kernels, Probe, Tier};
use hartlock_verify::pool::{Claim, ClaimedLeaves, MAX_HARTS};
use hartlock_verify::tree;

use crate::library::{Library, Refusal};
use crate::port::{PATIENCE_SECONDS, Time};
use crate::types::{
    CallerPlatform, CallerRange, HARTLOCK_READ_ONLY, HARTLOCK_RETURNED, HARTLOCK_STOPPED,
    HARTLOCK_WAIT,
};

/// Causes of traps (RISC-V Privileged Architecture §10.1.8). A page fault would tell about the tables of the program and
/// not about the protection behind them.
const LOAD_ACCESS_FAULT: u64 = 5;
const STORE_ACCESS_FAULT: u64 = 7;

#[cfg(target_arch = "riscv64")]
unsafe extern "C" {
    fn hartlock_try_load(address: u64);
    fn hartlock_try_store(address: u64);
}

// Other machines have no kernel to probe and close no memory.
#[cfg(not(target_arch = "riscv64"))]
unsafe extern "C" fn hartlock_try_load(_: u64) {}
#[cfg(not(target_arch = "riscv64"))]
unsafe extern "C" fn hartlock_try_store(_: u64) {}

/// A probe that asks the platform to call the instructions.
struct OfPlatform<'a> {
    platform: &'a CallerPlatform,
    hart: u32,
}

impl OfPlatform<'_> {
    /// Returns `HARTLOCK_RETURNED`, or the cause of the trap; 0 if the platform cannot try.
    fn attempt(&self, function: unsafe extern "C" fn(u64), argument: u64) -> u64 {
        let Some(attempt) = self.platform.attempt else { return 0 };
        // SAFETY: the platform promises to call the function, which is a leaf that uses no saved register.
        unsafe { attempt(self.platform.context, self.hart, Some(function), argument) }
    }
}

// SAFETY: the platform returns `HARTLOCK_RETURNED` only after the called code has returned.
unsafe impl Probe for OfPlatform<'_> {
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool {
        // SAFETY: by the calling convention of RISC-V, a function without parameters ignores the register of the first.
        let function = unsafe {
            core::mem::transmute::<unsafe extern "C" fn(), unsafe extern "C" fn(u64)>(instructions)
        };
        self.attempt(function, 0) == HARTLOCK_RETURNED
    }

    fn rejected(&mut self, _: HashFamily, _: Tier, _: KernelFault) {}
}

/// Returns the best kernels of a hart, which are selected at the first call.
pub fn kernels(library: &Library, hart: u32) -> Kernels {
    let platform = library.platform();
    library.kernels(hart, || Kernels::detect(&mut OfPlatform { platform, hart }))
}

/// Tries the first, the last and the middle byte of each closed range.
///
/// # Errors
/// `MemoryReachable`.
pub fn try_closed_memory(platform: &CallerPlatform, hart: u32) -> Result<(), Reason> {
    let tried = OfPlatform { platform, hart };
    for index in 0..platform.closed_count {
        // SAFETY: the caller has given as many ranges.
        let CallerRange { start, end, access, .. } =
            unsafe { platform.closed.wrapping_add(index).read() };
        let (function, expected): (unsafe extern "C" fn(u64), u64) = match access {
            HARTLOCK_READ_ONLY => (hartlock_try_store, STORE_ACCESS_FAULT),
            _ => (hartlock_try_load, LOAD_ACCESS_FAULT),
        };
        let size = end.wrapping_sub(start);
        for address in [start, start.wrapping_add(size / 2), end.wrapping_sub(1)] {
            if tried.attempt(function, address) != expected {
                return Err(Reason::MemoryReachable);
            }
        }
    }
    Ok(())
}

/// Computes the leaves of claimed blocks, delivers them, and decrypts the blocks of those that are accepted.
///
/// # Safety
/// The blocks of the claim have arrived in memory, and nobody writes to them.
pub unsafe fn deliver(
    library: &Library,
    hart: u32,
    kernels: &Kernels,
    claim: &Claim,
    leaves: &mut ClaimedLeaves,
) {
    let Some((address, len)) = claim.job.blocks(claim.block, claim.count) else { return };
    // SAFETY: the caller guarantees the blocks.
    let blocks = unsafe { core::slice::from_raw_parts(address as *const u8, len as usize) };
    leaves.compute(kernels, claim, blocks);
    let accepted = library.pool.submit(hart as usize, claim, leaves.get());
    for block in claim.accepted(accepted) {
        // SAFETY: the leaf of the block was accepted from this hart.
        unsafe { library.decryption.decrypt_block(kernels, hart, &claim.job, block) }
    }
}

/// Hashes blocks as long as there are some.
///
/// # Errors
/// `CallHart`; `CallOrder` for a hart that has trapped; `MemoryReachable` if this hart can access closed memory.
pub fn work(library: &Library, hart: u32) -> Result<u32, Refusal> {
    if hart as usize >= MAX_HARTS || hart == library.boot_hart() {
        return Err(CallReason::CallHart.into());
    }
    let bit = 1_u64 << (hart & 63);
    if library.trapped.load(Ordering::Acquire) & bit != 0 {
        return Err(CallReason::CallOrder.into());
    }
    // A hart that begins when the boot hart has stopped all is never seen as running.
    let is_new = library.running.fetch_or(bit, Ordering::SeqCst) & bit == 0;
    let leave = |answer| {
        library.running.fetch_and(!bit, Ordering::SeqCst);
        answer
    };
    if library.is_stopped.load(Ordering::SeqCst) {
        return leave(Ok(HARTLOCK_STOPPED));
    }
    if is_new && let Err(reason) = try_closed_memory(library.platform(), hart) {
        library.found.store(reason as u32, Ordering::SeqCst);
        return leave(Err(reason.into()));
    }
    library.tried.fetch_or(bit, Ordering::SeqCst);
    let kernels = kernels(library, hart);
    let mut leaves = ClaimedLeaves::new();
    while !library.is_stopped.load(Ordering::SeqCst) {
        let most = library.pool.hash().map_or(1, |hash| tree::lanes(&kernels, hash));
        let Some(claim) = library.pool.claim_group(hart as usize, most) else {
            return Ok(HARTLOCK_WAIT);
        };
        // SAFETY: only blocks that have arrived can be claimed, and the boot hart does not write to them again.
        unsafe { deliver(library, hart, &kernels, &claim, &mut leaves) }
    }
    leave(Ok(HARTLOCK_STOPPED))
}

/// Waits until each hart that works has tried the closed ranges: all have done so before the first byte of a payload is read.
/// A hart that comes later tries them before it works.
///
/// # Errors
/// `MemoryReachable`; `HartNotStarted` if one does not come back from its attempts.
pub fn wait_for_attempts(library: &Library) -> Result<(), Reason> {
    let time = Time::of(library);
    let end = time.after(PATIENCE_SECONDS);
    let missing = || {
        let away = library.tried.load(Ordering::SeqCst) | library.trapped.load(Ordering::SeqCst);
        library.running.load(Ordering::SeqCst) & !away
    };
    while missing() != 0 {
        if time.now() >= end {
            return Err(Reason::HartNotStarted);
        }
        core::hint::spin_loop();
    }
    library.refuse_reachable_memory()
}

/// Records that a hart trapped and works no longer.
///
/// # Errors
/// `CallHart`.
pub fn report_trap(library: &Library, hart: u32) -> Result<(), Refusal> {
    if hart as usize >= MAX_HARTS || hart == library.boot_hart() {
        return Err(CallReason::CallHart.into());
    }
    let bit = 1_u64 << (hart & 63);
    library.trapped.fetch_or(bit, Ordering::AcqRel);
    library.running.fetch_and(!bit, Ordering::SeqCst);
    Ok(())
}
