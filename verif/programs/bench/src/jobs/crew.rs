//! Harts that share the blocks of a first stage. Hart 0 stores the work, wakes the others, does its share and waits.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hartlock_image::HashId;
use hartlock_jobs::first_stage::{FirstStagePlan, MAX_BLOCKS, MAX_HARTS};
use hartlock_kernels::Kernels;
use hartlock_verify::board::Region;
use hartlock_verify::tree::{Digest, leaves};
use hartlock_virt::board::map;
use hartlock_virt::kernels::{PrivilegeMode, choose};
use hartlock_virt::{clint, clock, hart, memory};

/// The image, which no hart writes while others read it.
pub const IMAGE: u64 = map::RAM.start + (16 << 20);
/// The leaves of its blocks, one after the other.
const LEAVES: u64 = map::RAM.start + (48 << 20);
const LEAF_SIZE: usize = size_of::<Digest>();

// The work for the other harts: written before a hart is woken, and read by it afterwards.
static IMAGE_LEN: AtomicUsize = AtomicUsize::new(0);
static BLOCK_LEN: AtomicUsize = AtomicUsize::new(0);
static HARTS: AtomicUsize = AtomicUsize::new(1);
/// 1 if the kernels are those that work on a hart, 0 if they are the portable ones.
static IS_CHOSEN: AtomicUsize = AtomicUsize::new(0);
/// Number of the other harts that have finished.
static DONE: AtomicUsize = AtomicUsize::new(0);
/// Retired instructions of each hart's share.
static RETIRED: [AtomicU64; MAX_HARTS] = [const { AtomicU64::new(0) }; MAX_HARTS];

/// Computes the leaves of all blocks on several harts at the same time, and returns the retired instructions of each
/// hart's share. Hart 0 uses these kernels, and the others theirs or the portable ones.
pub fn run(kernels: &Kernels, plan: &FirstStagePlan, is_chosen: bool) -> [u64; MAX_HARTS] {
    IMAGE_LEN.store(plan.image_len, Ordering::Relaxed);
    BLOCK_LEN.store(plan.block_len, Ordering::Relaxed);
    HARTS.store(plan.harts, Ordering::Relaxed);
    IS_CHOSEN.store(is_chosen.into(), Ordering::Relaxed);
    DONE.store(0, Ordering::Relaxed);
    // The interrupt is a store to a device, so the work has to be in memory before.
    hart::fence();
    (1..plan.harts).for_each(clint::raise);
    work(kernels, plan, 0);
    while DONE.load(Ordering::Acquire) < plan.harts.saturating_sub(1) {
        core::hint::spin_loop();
    }
    RETIRED.each_ref().map(|retired| retired.load(Ordering::Acquire))
}

/// Does the work of hart 0 for ever. The first interrupt is still pending when this function is called.
pub fn serve(hart: usize) -> ! {
    let chosen = choose(PrivilegeMode::Machine).kernels;
    loop {
        while !clint::is_raised(hart) {
            hart::wait_for_interrupt();
        }
        clint::lower(hart);
        hart::fence();
        let plan = FirstStagePlan {
            image_len: IMAGE_LEN.load(Ordering::Relaxed),
            block_len: BLOCK_LEN.load(Ordering::Relaxed),
            harts: HARTS.load(Ordering::Relaxed),
            parts: 0,
            digest: [0; 32],
            root: [0; 32],
        };
        let is_chosen = IS_CHOSEN.load(Ordering::Relaxed) == 1;
        work(if is_chosen { &chosen } else { &Kernels::PORTABLE }, &plan, hart);
        DONE.fetch_add(1, Ordering::Release);
    }
}

fn work(kernels: &Kernels, plan: &FirstStagePlan, hart: usize) {
    let before = clock::retired();
    share(kernels, plan, hart, plan.harts);
    if let Some(retired) = RETIRED.get(hart) {
        retired.store(clock::retired().saturating_sub(before), Ordering::Relaxed);
    }
}

/// Computes the leaves of the blocks of a hart.
pub fn share(kernels: &Kernels, plan: &FirstStagePlan, hart: usize, harts: usize) {
    let (first, count) = plan.share(hart, harts);
    let start = first.saturating_mul(plan.block_len);
    let len = count.saturating_mul(plan.block_len).min(plan.image_len.saturating_sub(start));
    let blocks = Region::new(IMAGE.saturating_add(start as u64), len as u64);
    let to = Region::new(
        LEAVES.saturating_add(first.saturating_mul(LEAF_SIZE) as u64),
        count.saturating_mul(LEAF_SIZE) as u64,
    );
    // SAFETY: this is memory of this board after the program, which nothing writes to now.
    let blocks = unsafe { memory::bytes(blocks) };
    // SAFETY: this is memory of this board after the image, and each hart has a part of it to itself.
    let to = unsafe { memory::bytes_mut(to) };
    let mut places = to.as_chunks_mut::<LEAF_SIZE>().0.iter_mut();
    leaves(kernels, (plan.record().mode, HashId::Sha256), first as u64, blocks, |leaf| {
        if let Some(place) = places.next() {
            *place = *leaf;
        }
    });
}

/// Returns the leaves of all blocks.
pub fn all_leaves(plan: &FirstStagePlan) -> &'static [Digest] {
    let size = plan.blocks().min(MAX_BLOCKS).saturating_mul(LEAF_SIZE);
    // SAFETY: this is memory of this board, to which all harts have written before they answered.
    unsafe { memory::bytes(Region::new(LEAVES, size as u64)) }.as_chunks().0
}
