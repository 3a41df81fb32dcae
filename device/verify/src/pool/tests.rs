//! Tests of the pool with one hart at a time. `threads` tests several harts at the same time.

use std::vec::Vec;

use super::*;
use watch::watched;

mod threads;
mod watch;

fn job(blocks: u64) -> Job {
    let mode = TreeMode::Blocks { block_size: 1024 };
    let hash = HashId::Sha384;
    Job { address: 0x1000, size: blocks * 1024 - 1, mode, hash, is_encrypted: false }
}

/// Delivers leaves, and returns true if all were accepted.
fn submit(pool: &Pool, hart: usize, claim: &Claim, leaves: &[Digest]) -> bool {
    u64::from(pool.submit(hart, claim, leaves).count_ones()) == claim.count
}

fn leaf_of(block: u64, salt: u64) -> Digest {
    let mut leaf = [0; 64];
    leaf[..8].copy_from_slice(&block.wrapping_mul(0x9e37_79b9).wrapping_add(salt).to_le_bytes());
    leaf[56..].copy_from_slice(&(!block).to_le_bytes());
    leaf
}

#[test]
fn blocks_of_a_job_cover_the_payload_exactly() {
    let job = job(3);
    assert_eq!(job.block(0), Some((0x1000, 1024)));
    assert_eq!(job.block(2), Some((0x1800, 1023)));
    assert_eq!(job.block(3), None);
    assert_eq!(job.block(u64::MAX), None);
    // The payload ends with its last block.
    let whole = Job { size: 3 * 1024, ..job };
    assert_eq!(whole.block(2), Some((0x1800, 1024)));
    assert_eq!(whole.block(3), None);
}

#[test]
fn each_block_is_accepted_from_one_hart_which_is_told_so() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, Job { is_encrypted: true, ..job(4) });
    work.arrived(4 * 1024);
    let claim = pool.claim_group(1, 4).unwrap();
    assert!(claim.job.is_encrypted && claim.count == 4);
    // The coordinator redoes two blocks while the hart is late.
    assert!(work.redo(0, &leaf_of(0, 1)) && work.redo(2, &leaf_of(2, 1)));
    let leaves: Vec<_> = (0..4).map(|block| leaf_of(block, 1)).collect();
    assert_eq!(pool.submit(1, &claim, &leaves), 0b1010);
    // A claim keeps what its own job says after the next one was opened.
    while work.next_leaf().is_some() {}
    let _next = Coordinator::open(&pool, 0, job(1));
    assert!(claim.job.is_encrypted);
    assert_eq!(pool.submit(1, &claim, &leaves), 0);
}

#[test]
fn words_have_the_job_above_the_block() {
    assert_eq!(slot_word(2, 3), (2 << 48) | (3 << 8));
    assert_eq!(slot_word(0x1_0002, (1 << 40) + 3), slot_word(2, 3), "numbers wrap");
    // Neither part of a claim word reaches into the other.
    let pool = Pool::new();
    pool.next.store(0xff_ffff << BLOCK_BITS, Ordering::Relaxed);
    assert_eq!(Coordinator::open(&pool, 0, job(1)).number, 0);
    assert_eq!(Coordinator::open(&pool, 0, job(1)).number, 1);
    assert_eq!(pool.next.load(Ordering::Relaxed), 1 << BLOCK_BITS);
}

#[test]
fn the_hash_of_the_last_job_is_published() {
    let pool = Pool::new();
    for hash in [HashId::Sha384, HashId::Shake256] {
        Coordinator::open(&pool, 0, Job { hash, ..job(1) });
        assert_eq!(pool.hash(), Some(hash));
    }
}

#[test]
fn nothing_is_claimed_before_it_arrived() {
    watched(|_| {
        let pool = Pool::new();
        assert_eq!(pool.claim(1), None);
        let mut work = Coordinator::open(&pool, 0, job(3));
        assert_eq!(pool.claim(1), None);
        assert!(!work.arrived(1023));
        assert_eq!(pool.claim(1), None);
        assert!(work.arrived(1024));
        assert_eq!(pool.claim(1).map(|claim| claim.block), Some(0));
        assert_eq!(pool.claim(1), None);
    });
}

#[test]
fn a_reset_closes_the_job_and_takes_every_hart_again() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(3));
    work.arrived(u64::MAX);
    pool.exclude(1);
    assert!(pool.is_excluded(1));
    pool.reset();
    assert!(!pool.is_excluded(1));
    assert_eq!([pool.claim(1), pool.claim(2)], [None, None]);
}

#[test]
fn what_has_arrived_is_unclaimed_until_it_is_claimed() {
    watched(|_| {
        let pool = Pool::new();
        let mut work = Coordinator::open(&pool, 0, job(WINDOW + 3));
        assert_eq!(work.unclaimed(), 0);
        work.arrived(3 * 1024);
        assert_eq!(work.unclaimed(), 3);
        pool.claim_group(1, 2).unwrap();
        assert_eq!(work.unclaimed(), 1);
        pool.claim(2).unwrap();
        assert_eq!(work.unclaimed(), 0);
        // Blocks beyond the window cannot be claimed yet.
        work.arrived(u64::MAX);
        assert_eq!(work.unclaimed(), WINDOW - 3);
    });
}

#[test]
fn a_second_and_a_late_result_are_dropped() {
    watched(|_| {
        let pool = Pool::new();
        let mut work = Coordinator::open(&pool, 0, job(2));
        work.arrived(u64::MAX);
        let late = pool.claim(1).unwrap();
        assert_eq!(work.holder(0), Some(1));
        assert_eq!(pool.exclude(1), Some(0));
        assert!(work.redo(0, &leaf_of(0, 7)));
        assert!(!submit(&pool, 1, &late, &[leaf_of(0, 666)]), "a late result was accepted");
        assert_eq!(work.next_leaf(), Some(leaf_of(0, 7)));
        assert!(!submit(&pool, 1, &late, &[leaf_of(0, 666)]), "a late result hit a reused slot");
        assert_eq!(pool.claim(1), None, "an excluded hart got work");
        let last = pool.claim(2).unwrap();
        assert!(submit(&pool, 2, &last, &[leaf_of(1, 7)]));
        assert!(!submit(&pool, 2, &last, &[leaf_of(1, 8)]), "a second result was accepted");
        assert_eq!(work.next_leaf(), Some(leaf_of(1, 7)));
        assert!(work.is_complete());
        assert_eq!(work.delivered(), 0b101);
    });
}

#[test]
fn a_result_of_an_earlier_job_is_dropped() {
    watched(|_| {
        let pool = Pool::new();
        let mut first = Coordinator::open(&pool, 0, job(1));
        first.arrived(u64::MAX);
        let late = pool.claim(1).unwrap();
        let mut second = Coordinator::open(&pool, 0, job(1));
        second.arrived(u64::MAX);
        assert!(!submit(&pool, 1, &late, &[leaf_of(0, 666)]), "job numbers are not compared");
        let fresh = pool.claim(2).unwrap();
        assert!(submit(&pool, 2, &fresh, &[leaf_of(0, 1)]));
        assert_eq!(second.next_leaf(), Some(leaf_of(0, 1)));
    });
}

/// Regression test: a hart that had trapped on block 2 of the kernel was taken for the holder of
/// block 2 of the initramfs, which was then redone before it had arrived.
#[test]
fn a_hart_lost_in_one_job_holds_nothing_of_the_next() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(4));
    work.arrived(4 * 1024);
    let lost = pool.claim(1).unwrap();
    assert_eq!((lost.block, work.holder(0)), (0, Some(1)));
    assert_eq!(pool.exclude(1), Some(0));
    assert!(work.redo(0, &leaf_of(0, 0)));

    let mut next = Coordinator::open(&pool, 0, job(4));
    assert_eq!(next.holder(0), None, "it holds a block of the job before");
    assert_eq!(next.missing_block(), None, "nothing has arrived that could be redone");
    next.arrived(1024);
    assert_eq!(next.missing_block(), Some(0));
    let mine = pool.claim(2).unwrap();
    assert_eq!((mine.block, next.holder(0)), (0, Some(2)));
}

/// Regression test: harts that had reached the end of the window slept until the payload was
/// complete.
#[test]
fn room_that_absorbed_leaves_make_is_announced() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(WINDOW + 2));
    assert!(work.arrived(u64::MAX), "a whole window");
    assert!(!work.arrived(u64::MAX), "nothing new");
    let claim = pool.claim(1).unwrap();
    assert!(submit(&pool, 1, &claim, &[leaf_of(0, 0)]));
    assert!(work.next_leaf().is_some());
    assert!(work.arrived(u64::MAX), "one block past the window");
    assert!(!work.arrived(u64::MAX), "nothing new");
}

#[test]
fn the_window_bounds_how_far_claims_run_ahead() {
    watched(|_| {
        let pool = Pool::new();
        let mut work = Coordinator::open(&pool, 0, job(3 * WINDOW));
        work.arrived(u64::MAX);
        let claims: Vec<Claim> = core::iter::from_fn(|| pool.claim(1)).collect();
        assert_eq!(claims.len() as u64, WINDOW);
        for claim in claims.iter().rev() {
            assert_eq!(work.next_leaf(), None);
            assert!(submit(&pool, 1, claim, &[leaf_of(claim.block, 0)]));
        }
        for block in 0..WINDOW {
            assert_eq!(work.next_leaf(), Some(leaf_of(block, 0)));
        }
        assert_eq!(pool.claim(1).map(|claim| claim.block), Some(WINDOW));
    });
}

#[test]
fn a_hart_that_slept_takes_no_block_that_another_took() {
    watched(|_| {
        let pool = Pool::new();
        let mut work = Coordinator::open(&pool, 0, job(2));
        work.arrived(u64::MAX);
        let seen = pool.next.load(Ordering::Acquire);
        assert_eq!(pool.offer(seen, 1).map(|claim| claim.block), Some(0));
        assert_eq!(pool.claim(2).map(|claim| claim.block), Some(0));
        assert_eq!(pool.take(&pool.holding[1], seen, 1), Err(seen + 1));
        assert_eq!(work.holder(0), Some(2), "who takes nothing holds nothing");
        assert_eq!(pool.claim(1).map(|claim| claim.block), Some(1));
    });
}

#[test]
fn a_hart_that_slept_through_a_job_takes_nothing_of_the_next() {
    watched(|_| {
        let pool = Pool::new();
        Coordinator::open(&pool, 0, job(1)).arrived(u64::MAX);
        let seen = pool.next.load(Ordering::Acquire);
        assert_eq!(pool.offer(seen, 1).map(|claim| claim.job), Some(job(1)));
        let mut work = Coordinator::open(&pool, 0, job(2));
        work.arrived(u64::MAX);
        assert!(
            pool.take(&pool.holding[1], seen, 1).is_err(),
            "it has the parameters of the last job"
        );
        assert_eq!(work.holder(0), None);
        assert_eq!(pool.claim(1).map(|claim| claim.job), Some(job(2)));
    });
}

#[test]
fn a_group_is_as_large_as_what_arrived_and_no_larger_than_asked_for() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(7));
    work.arrived(3 * 1024);
    let group = |hart, most| pool.claim_group(hart, most).map(|claim| (claim.block, claim.count));
    assert_eq!(group(1, 2), Some((0, 2)));
    assert_eq!(group(2, 4), Some((2, 1)));
    assert_eq!(group(3, 4), None);
    work.arrived(u64::MAX);
    assert_eq!(group(3, 1000), Some((3, 4)));
    assert_eq!(group(4, 0), None);
}

#[test]
fn every_block_of_a_group_is_held_until_the_last_is_delivered() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(4));
    work.arrived(u64::MAX);
    let lost = pool.claim_group(1, 3).unwrap();
    assert_eq!([0, 1, 2, 3].map(|block| work.holder(block)), [Some(1), Some(1), Some(1), None]);
    // Hart 1 delivers one leaf and then stops. That leaf counts, the others are redone.
    assert!(pool.deliver(1, lost.number, 0, &leaf_of(0, 1)));
    assert_eq!(work.holder(1), Some(1));
    assert_eq!(pool.exclude(1), Some(0));
    assert!(work.redo(1, &leaf_of(1, 2)) && work.redo(2, &leaf_of(2, 2)));
    let last = pool.claim_group(2, 16).unwrap();
    assert_eq!((last.block, last.count), (3, 1));
    assert!(submit(&pool, 2, &last, &[leaf_of(3, 3)]));
    let late = [leaf_of(0, 666), leaf_of(1, 666), leaf_of(2, 666)];
    assert!(!submit(&pool, 1, &lost, &late), "late results were accepted");
    let leaves: Vec<Digest> = core::iter::from_fn(|| work.next_leaf()).collect();
    assert_eq!(leaves, [leaf_of(0, 1), leaf_of(1, 2), leaf_of(2, 2), leaf_of(3, 3)]);
}

#[test]
fn a_hart_is_given_up_if_it_trapped_or_if_its_time_is_over() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(4));
    work.arrived(u64::MAX);
    assert_eq!(work.give_up(!0, true), None, "nobody holds the block");
    let claim = pool.claim_group(3, 2).unwrap();
    assert_eq!(work.give_up(1 << 2, false), None, "another hart trapped");
    assert!(!pool.is_excluded(3));
    let lost = Some(LostBlock { block: 0, holder: 3 });
    assert_eq!(work.give_up(1 << 3, false), lost);
    assert!(pool.is_excluded(3));
    assert_eq!(pool.claim(3), None);
    assert_eq!(work.give_up(0, true), lost, "it still holds the block");
    assert!(work.redo(0, &leaf_of(0, 0)));
    assert!(!submit(&pool, 3, &claim, &[leaf_of(0, 666)]), "its late result was accepted");
}

#[test]
fn patience_ends_after_its_ticks_and_begins_again() {
    let mut patience = Patience::new(100, 50);
    assert!(!patience.is_over(149));
    assert!(patience.is_over(150));
    patience.renew(150);
    assert_eq!((patience.is_over(199), patience.is_over(200)), (false, true));
    assert!(!Patience::new(u64::MAX - 1, 50).is_over(u64::MAX - 1));
}
