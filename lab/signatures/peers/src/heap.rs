//! A heap for verifiers that want one: it gives memory away and takes none back, which costs them as few
//! instructions as an allocator can, and remembers how much was in use at most.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// More than all cases of any verifier take together; a library's are judged three times.
const SIZE: usize = if cfg!(feature = "library") { 8 } else { 4 } << 20;

#[repr(align(64))]
struct Memory(UnsafeCell<[u8; SIZE]>);

// SAFETY: one hart; no byte is given away twice at a time.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; SIZE]));
static NEXT: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Bump;

#[global_allocator]
static HEAP: Bump = Bump;

// SAFETY: parts do not overlap, because NEXT only grows while any is in use.
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
        // A library that gives everything back may take so much for each case that it would not last.
        if cfg!(feature = "library") && in_use == 0 {
            NEXT.store(0, Relaxed);
        }
    }
}

/// Bytes that are in use.
#[cfg(feature = "library")]
pub fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// Most bytes that were in use at one time.
pub fn most() -> usize {
    MOST.load(Relaxed)
}
