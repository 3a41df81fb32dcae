//! A heap for verifiers that need one. It does not reuse freed memory, so that it adds as few
//! instructions as possible, and it records the peak use.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Size in bytes, which is more than all cases of any verifier need together. The cases of a library are
/// verified three times.
const SIZE: usize = if cfg!(feature = "library") { 8 } else { 4 } << 20;

#[repr(align(64))]
struct Memory(UnsafeCell<[u8; SIZE]>);

// SAFETY: there is one hart, and no byte is allocated twice at a time.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; SIZE]));
static NEXT: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Bump;

#[global_allocator]
static HEAP: Bump = Bump;

// SAFETY: allocations do not overlap, because `NEXT` only grows while any of them is in use.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = NEXT.load(Relaxed).next_multiple_of(layout.align());
        let end = start.saturating_add(layout.size());
        if end > SIZE {
            return core::ptr::null_mut();
        }
        NEXT.store(end, Relaxed);
        let in_use = IN_USE.load(Relaxed).wrapping_add(layout.size());
        IN_USE.store(in_use, Relaxed);
        MOST.store(MOST.load(Relaxed).max(in_use), Relaxed);
        MEMORY.0.get().cast::<u8>().wrapping_add(start)
    }

    unsafe fn dealloc(&self, _: *mut u8, layout: Layout) {
        let in_use = IN_USE.load(Relaxed).wrapping_sub(layout.size());
        IN_USE.store(in_use, Relaxed);
        // A library can allocate so much for each case that the heap would not suffice. The heap starts
        // again when nothing is in use.
        if cfg!(feature = "library") && in_use == 0 {
            NEXT.store(0, Relaxed);
        }
    }
}

/// Returns the number of bytes in use.
#[cfg(feature = "library")]
pub fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// Returns the peak number of bytes in use.
pub fn most() -> usize {
    MOST.load(Relaxed)
}
