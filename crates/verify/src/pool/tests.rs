use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::vec::Vec;

use super::*;

fn job(blocks: u64) -> Job {
    Job { address: 0x1000, size: blocks * 1024 - 1, block_size: 1024, hash: HashId::Sha384 }
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
}

#[test]
fn nothing_is_claimed_before_it_arrived() {
    let pool = Pool::new();
    assert_eq!(pool.claim(1), None);
    let mut work = Coordinator::open(&pool, 0, job(3));
    assert_eq!(pool.claim(1), None);
    assert!(!work.arrived(1023));
    assert_eq!(pool.claim(1), None);
    assert!(work.arrived(1024));
    assert_eq!(pool.claim(1).map(|claim| claim.block), Some(0));
    assert_eq!(pool.claim(1), None);
}

#[test]
fn a_second_and_a_late_result_are_dropped() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(2));
    work.arrived(u64::MAX);
    let late = pool.claim(1).unwrap();
    assert_eq!(work.holder(0), Some(1));
    assert_eq!(pool.exclude(1), Some(0));
    assert!(work.redo(0, &leaf_of(0, 7)));
    assert!(!pool.submit(1, &late, &leaf_of(0, 666)), "a late result was accepted");
    assert_eq!(work.next_leaf(), Some(leaf_of(0, 7)));
    assert!(!pool.submit(1, &late, &leaf_of(0, 666)), "a late result hit a reused slot");
    assert_eq!(pool.claim(1), None, "an excluded hart got work");
    let last = pool.claim(2).unwrap();
    assert!(pool.submit(2, &last, &leaf_of(1, 7)));
    assert!(!pool.submit(2, &last, &leaf_of(1, 8)), "a second result was accepted");
    assert_eq!(work.next_leaf(), Some(leaf_of(1, 7)));
    assert!(work.is_complete());
    assert_eq!(work.delivered(), 0b101);
}

#[test]
fn a_result_of_an_earlier_job_is_dropped() {
    let pool = Pool::new();
    let mut first = Coordinator::open(&pool, 0, job(1));
    first.arrived(u64::MAX);
    let late = pool.claim(1).unwrap();
    let mut second = Coordinator::open(&pool, 0, job(1));
    second.arrived(u64::MAX);
    assert!(!pool.submit(1, &late, &leaf_of(0, 666)), "job numbers are not compared");
    let fresh = pool.claim(2).unwrap();
    assert!(pool.submit(2, &fresh, &leaf_of(0, 1)));
    assert_eq!(second.next_leaf(), Some(leaf_of(0, 1)));
}

#[test]
fn the_window_bounds_how_far_claims_run_ahead() {
    let pool = Pool::new();
    let mut work = Coordinator::open(&pool, 0, job(3 * WINDOW));
    work.arrived(u64::MAX);
    let claims: Vec<Claim> = core::iter::from_fn(|| pool.claim(1)).collect();
    assert_eq!(claims.len() as u64, WINDOW);
    for claim in claims.iter().rev() {
        assert_eq!(work.next_leaf(), None);
        assert!(pool.submit(1, claim, &leaf_of(claim.block, 0)));
    }
    for block in 0..WINDOW {
        assert_eq!(work.next_leaf(), Some(leaf_of(block, 0)));
    }
    assert_eq!(pool.claim(1).map(|claim| claim.block), Some(WINDOW));
}

/// Threads as harts, several jobs in a row, one hart that stalls on its first block of every job
/// and delivers garbage long after.
#[test]
fn every_leaf_arrives_once_and_in_order_with_a_late_hart() {
    const BLOCKS: u64 = 5 * WINDOW + 3;
    let pool = Pool::new();
    let is_over = AtomicBool::new(false);
    let accepted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for hart in 1..4 {
            let (pool, is_over, accepted) = (&pool, &is_over, &accepted);
            scope.spawn(move || {
                while !is_over.load(Ordering::Acquire) {
                    let Some(claim) = pool.claim(hart) else {
                        std::thread::yield_now();
                        continue;
                    };
                    let salt = claim.job.address;
                    if hart == 3 {
                        while !pool.is_excluded(hart) && !is_over.load(Ordering::Acquire) {
                            std::thread::yield_now();
                        }
                        let garbage = leaf_of(claim.block, !salt);
                        assert!(!pool.submit(hart, &claim, &garbage), "garbage was accepted");
                    } else if pool.submit(hart, &claim, &leaf_of(claim.block, salt)) {
                        accepted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for round in 1..=20 {
            pool.reset();
            let job = Job { address: round, ..job(BLOCKS) };
            let mut work = Coordinator::open(&pool, 0, job);
            let mut bytes = 0;
            let mut expected = 0;
            while !work.is_complete() {
                bytes += 3000;
                work.arrived(bytes);
                while let Some(leaf) = work.next_leaf() {
                    assert_eq!(leaf, leaf_of(expected, round), "block {expected} of job {round}");
                    expected += 1;
                }
                // Hart 3 never delivers in time: its block is redone before it is let go.
                if let Some(block) = work.missing_block()
                    && work.holder(block) == Some(3)
                    && work.redo(block, &leaf_of(block, round))
                {
                    pool.exclude(3);
                }
            }
            assert_eq!(expected, BLOCKS);
        }
        is_over.store(true, Ordering::Release);
    });
}
