//! The memory of a boot: what the library keeps between calls.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hartlock_image::{CallReason, MAX_PAYLOADS, Reason};
use hartlock_kernels::Kernels;
use hartlock_verify::pool::{MAX_HARTS, Pool};
use hartlock_verify::{Authenticated, Verdict};

use crate::decryption::Decryption;
use crate::types::{
    CallerPlatform, CallerRequirements, HARTLOCK_MEMORY_ALIGNMENT, HARTLOCK_MEMORY_SIZE,
};

/// Mark of memory that `begin` has prepared: "hartlock".
const PREPARED: u64 = u64::from_le_bytes(*b"hartlock");

const _: () = assert!(size_of::<Library>() <= HARTLOCK_MEMORY_SIZE);
const _: () = assert!(align_of::<Library>() == HARTLOCK_MEMORY_ALIGNMENT);

/// A number of a reason, which is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub u32);

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self(reason as u32)
    }
}

impl From<CallReason> for Refusal {
    fn from(reason: CallReason) -> Self {
        Self(reason as u32)
    }
}

/// How far a boot has come. Zeroed memory is a boot that has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress(u32);

impl Progress {
    pub const BEGUN: Self = Self(0x1b39_4c6a);
    pub const AUTHENTICATED: Self = Self(0x2d57_93c4);
    pub const LOADED: Self = Self(0x4e6a_35d8);
    pub const DECIDED: Self = Self(0x71c4_e992);
    pub const REFUSED: Self = Self(0);
}

/// What only the boot hart uses.
pub struct OfBootHart {
    pub progress: Progress,
    pub bundle: MaybeUninit<Authenticated<'static>>,
    pub verdict: MaybeUninit<Verdict>,
    /// Where the payloads are seen, in the order of the manifest.
    pub places: [*mut u8; MAX_PAYLOADS],
    /// The answers to both questions for the requirements. They are here to keep the stack small.
    pub requirements: [CallerRequirements; 2],
}

/// The memory of a boot. All bytes are zero before `begin` fills it.
#[repr(C, align(64))]
pub struct Library {
    prepared: AtomicU64,
    /// True while a call of the boot hart is running.
    is_busy: AtomicBool,
    boot_hart: AtomicU32,
    platform: UnsafeCell<MaybeUninit<CallerPlatform>>,
    of_boot_hart: UnsafeCell<OfBootHart>,
    /// The kernels of each hart, for which the hart has set its bit in `chosen`.
    kernels: [UnsafeCell<MaybeUninit<Kernels>>; MAX_HARTS],
    pub chosen: AtomicU64,
    /// Harts that are between their first `work` and its last answer.
    pub running: AtomicU64,
    /// Harts that have tried the closed ranges.
    pub tried: AtomicU64,
    pub trapped: AtomicU64,
    pub is_stopped: AtomicBool,
    /// The reason for which a hart other than the boot hart refuses, or 0.
    pub found: AtomicU32,
    pub pool: Pool,
    pub decryption: Decryption,
}

impl Library {
    /// Prepares the memory of the caller.
    ///
    /// # Errors
    /// `CallMemory`; `CallOrder` while harts work in it.
    ///
    /// # Safety
    /// `memory` is null, or points to `size` bytes that only the library uses from now on, besides harts that still call
    /// `work` with it.
    pub unsafe fn prepare<'a>(
        memory: *mut c_void,
        size: usize,
        boot_hart: u32,
        platform: CallerPlatform,
    ) -> Result<&'a Self, Refusal> {
        let at = memory.cast::<Self>();
        if at.is_null() || !at.is_aligned() || size < HARTLOCK_MEMORY_SIZE {
            return Err(CallReason::CallMemory.into());
        }
        // SAFETY: the caller guarantees the memory.
        if let Ok(earlier) = unsafe { Self::at(memory) } {
            if earlier.is_busy.load(Ordering::Acquire) {
                return Err(CallReason::CallNested.into());
            }
            if earlier.running.load(Ordering::Acquire) != 0 {
                return Err(CallReason::CallOrder.into());
            }
        }
        // SAFETY: the caller guarantees the memory, and no hart works in it.
        unsafe { ptr::write_bytes(at, 0, 1) };
        // SAFETY: zeros are a valid value: a pool without a job, a boot that has not begun, and memory without a value.
        let library = unsafe { &*at };
        // SAFETY: no other hart uses the memory before it is prepared.
        unsafe { (*library.platform.get()).write(platform) };
        library.boot_hart.store(boot_hart, Ordering::Relaxed);
        library.prepared.store(PREPARED, Ordering::Release);
        Ok(library)
    }

    /// Finds prepared memory.
    ///
    /// # Errors
    /// `CallMemory`.
    ///
    /// # Safety
    /// `memory` is null, or points to memory that was given to `begin`.
    pub unsafe fn at<'a>(memory: *mut c_void) -> Result<&'a Self, Refusal> {
        let at = memory.cast::<Self>();
        if at.is_null() || !at.is_aligned() {
            return Err(CallReason::CallMemory.into());
        }
        // SAFETY: the caller guarantees the memory, and all fields are atomic or cells.
        let library = unsafe { &*at };
        if library.prepared.load(Ordering::Acquire) == PREPARED {
            Ok(library)
        } else {
            Err(CallReason::CallMemory.into())
        }
    }

    /// Returns the description of the platform, which does not change.
    pub fn platform(&self) -> &CallerPlatform {
        // SAFETY: nothing writes there any more.
        let platform = unsafe { &*self.platform.get() };
        // SAFETY: `prepare` has written it before it marked the memory.
        unsafe { platform.assume_init_ref() }
    }

    /// Refuses if another hart can access closed memory.
    ///
    /// # Errors
    /// `MemoryReachable`.
    pub fn refuse_reachable_memory(&self) -> Result<(), Reason> {
        let is_closed = self.found.load(Ordering::SeqCst) == 0;
        if is_closed { Ok(()) } else { Err(Reason::MemoryReachable) }
    }

    pub fn boot_hart(&self) -> u32 {
        self.boot_hart.load(Ordering::Relaxed)
    }

    /// Does one step of the boot hart. It has to follow `after`; a refusal ends the boot.
    ///
    /// # Errors
    /// `CallNested`, `CallOrder`, and the errors of the step.
    pub fn step(
        &self,
        after: Progress,
        then: Progress,
        step: impl FnOnce(&mut OfBootHart) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return Err(CallReason::CallNested.into());
        }
        // SAFETY: only one call at a time comes here, and the reference ends before the next.
        let own = unsafe { &mut *self.of_boot_hart.get() };
        let result = if own.progress == after {
            // Whatever ends the step in another way leaves a boot that is refused.
            own.progress = Progress::REFUSED;
            step(own)
                .inspect(|()| own.progress = then)
                .inspect_err(|_| self.decryption.forget(self))
        } else {
            Err(CallReason::CallOrder.into())
        };
        self.is_busy.store(false, Ordering::Release);
        result
    }

    /// Ends a boot, whatever it has come to.
    ///
    /// # Errors
    /// `CallNested`.
    pub fn abandon(&self) -> Result<(), Refusal> {
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return Err(CallReason::CallNested.into());
        }
        // SAFETY: only one call at a time comes here, and the reference ends before the next.
        unsafe { &mut *self.of_boot_hart.get() }.progress = Progress::REFUSED;
        self.is_stopped.store(true, Ordering::SeqCst);
        self.decryption.forget(self);
        self.is_busy.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the kernels of a hart, which `choose` selects at its first call.
    pub fn kernels(&self, hart: u32, choose: impl FnOnce() -> Kernels) -> Kernels {
        let Some(place) = self.kernels.get(hart as usize) else { return Kernels::PORTABLE };
        let bit = 1 << (hart & 63);
        if self.chosen.load(Ordering::Acquire) & bit == 0 {
            let kernels = choose();
            // SAFETY: only this hart uses its place.
            unsafe { (*place.get()).write(kernels) };
            self.chosen.fetch_or(bit, Ordering::AcqRel);
            return kernels;
        }
        // SAFETY: only this hart uses its place.
        let kernels = unsafe { &*place.get() };
        // SAFETY: this hart has written it.
        unsafe { kernels.assume_init() }
    }
}
