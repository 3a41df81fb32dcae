//! Tests of the pool in which threads play the harts.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::channel;
use std::thread::{scope, yield_now};

use super::watch::Life;
use super::*;

/// A guard that stops the workers when the coordinator returns or panics, because the scope waits
/// for them.
struct Work<'a>(&'a AtomicBool);

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs several jobs in a row with one hart that stalls on its first block of every job and
/// delivers a wrong leaf long afterwards.
#[test]
fn every_leaf_arrives_once_and_in_order_with_a_late_hart() {
    const BLOCKS: u64 = 5 * WINDOW + 3;
    const JOBS: u64 = 20;
    watched(|life| {
        let pool = Pool::new();
        let is_over = AtomicBool::new(false);
        let accepted = AtomicUsize::new(0);
        scope(|scope| {
            let _ends = Work(&is_over);
            for hart in 1..4 {
                let (pool, is_over, accepted) = (&pool, &is_over, &accepted);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Acquire) {
                        let Some(claim) = pool.claim(hart) else {
                            yield_now();
                            continue;
                        };
                        let salt = claim.job.address;
                        if hart == 3 {
                            while !pool.is_excluded(hart) && !is_over.load(Ordering::Acquire) {
                                yield_now();
                            }
                            let garbage = leaf_of(claim.block, !salt);
                            assert!(
                                !submit(pool, hart, &claim, &[garbage]),
                                "garbage was accepted"
                            );
                        } else if submit(pool, hart, &claim, &[leaf_of(claim.block, salt)]) {
                            accepted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
            for round in 1..=JOBS {
                pool.reset();
                let job = Job { address: round, ..job(BLOCKS) };
                let mut work = Coordinator::open(&pool, 0, job);
                let mut bytes = 0;
                let mut expected = 0;
                while !work.is_complete() {
                    bytes += 3000;
                    work.arrived(bytes);
                    while let Some(leaf) = work.next_leaf() {
                        life.sign();
                        assert_eq!(leaf, leaf_of(expected, round), "{expected} of job {round}");
                        expected += 1;
                    }
                    // Hart 3 never delivers in time: its block is redone before the hart may
                    // continue.
                    if let Some(block) = work.missing_block()
                        && work.holder(block) == Some(3)
                        && work.redo(block, &leaf_of(block, round))
                    {
                        accepted.fetch_add(1, Ordering::Relaxed);
                        pool.exclude(3);
                    }
                }
                assert_eq!(expected, BLOCKS);
            }
        });
        assert_eq!(accepted.into_inner() as u64, JOBS * BLOCKS, "leaves that were accepted");
    });
}

/// The actions of the coordinator before a stalled worker continues. Each variant includes those
/// before it.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    /// The coordinator redoes the block of the worker.
    Redo,
    /// The coordinator also absorbs the leaf, so that the slot is open for a later block.
    Absorb,
    /// The later block is also delivered.
    Reuse,
    /// The job is also abandoned, and the next one is opened.
    Reopen,
}

#[test]
fn the_late_leaf_of_a_stalled_worker_is_dropped() {
    use Meanwhile::{Absorb, Redo, Reopen, Reuse};
    for meanwhile in [Redo, Absorb, Reuse, Reopen] {
        watched(move |_| deliver_late(meanwhile));
    }
}

fn deliver_late(meanwhile: Meanwhile) {
    let pool = &Pool::new();
    let mut work = Coordinator::open(pool, 0, job(2 * WINDOW));
    work.arrived(u64::MAX);
    let (stalls, stalled) = channel();
    let (wake, woken) = channel::<()>();
    scope(|scope| {
        let worker = scope.spawn(move || {
            let claim = pool.claim(1).unwrap();
            stalls.send(claim.block).unwrap();
            woken.recv().unwrap();
            submit(pool, 1, &claim, &[leaf_of(claim.block, 666)])
        });
        // The closure owns the channel end, so that the worker does not wait for a coordinator that
        // failed.
        let wake = wake;
        let block = stalled.recv().unwrap();
        assert_eq!((block, work.holder(block)), (0, Some(1)));
        pool.exclude(1);
        assert!(work.redo(block, &leaf_of(block, 7)));
        let mut expected = Vec::from([leaf_of(block, 7)]);
        if !matches!(meanwhile, Meanwhile::Redo) {
            assert_eq!(work.next_leaf(), expected.pop());
        }
        if matches!(meanwhile, Meanwhile::Reuse | Meanwhile::Reopen) {
            for claim in core::iter::from_fn(|| pool.claim(2)) {
                expected.push(leaf_of(claim.block, 7));
                assert!(submit(pool, 2, &claim, &[leaf_of(claim.block, 7)]));
            }
            assert_eq!(expected.len() as u64, WINDOW);
        }
        if matches!(meanwhile, Meanwhile::Reopen) {
            work = Coordinator::open(pool, 0, job(1));
            work.arrived(u64::MAX);
            expected.clear();
        }
        wake.send(()).unwrap();
        assert!(!worker.join().unwrap(), "{meanwhile:?}: a second leaf was accepted");
        let leaves: Vec<Digest> = core::iter::from_fn(|| work.next_leaf()).collect();
        assert!(leaves == expected, "{meanwhile:?}: a late leaf changed another");
    });
}

/// Lets the coordinator and a worker do their parts of a job at the same time, for many jobs.
fn race<T: Send>(
    life: &Life,
    (jobs, blocks): (u64, u64),
    coordinator: impl Fn(&mut Coordinator<'_>) -> T,
    worker: impl Fn(&Pool, u64) -> T + Sync,
    judge: impl Fn(&mut Coordinator<'_>, T, T),
) {
    let (pool, worker) = (&Pool::new(), &worker);
    let (is_over, started) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let (report, reports) = channel();
    scope(|scope| {
        let _ends = Work(is_over);
        scope.spawn(move || {
            for number in 1..=jobs {
                // The worker polls instead of waiting at a barrier: a thread that has to be woken
                // is too late for a race.
                while started.load(Ordering::Acquire) != number {
                    if is_over.load(Ordering::Acquire) {
                        return;
                    }
                    yield_now();
                }
                report.send(worker(pool, number)).unwrap();
            }
        });
        for number in 1..=jobs {
            let mut work = Coordinator::open(pool, 0, job(blocks));
            work.arrived(u64::MAX);
            started.store(number, Ordering::Release);
            let of_coordinator = coordinator(&mut work);
            let of_worker = reports.recv().expect("the worker failed");
            judge(&mut work, of_coordinator, of_worker);
            life.sign();
        }
    });
}

#[test]
fn harts_that_claim_at_the_same_time_share_the_blocks() {
    const BLOCKS: u64 = 50 * WINDOW;
    fn claims(pool: &Pool, hart: usize, mut absorb: impl FnMut()) -> Vec<u64> {
        let mut claimed = Vec::new();
        while pool.next.load(Ordering::Acquire) & BLOCK_MASK < BLOCKS {
            if let Some(claim) = pool.claim(hart) {
                submit(pool, hart, &claim, &[leaf_of(claim.block, 0)]);
                claimed.push(claim.block);
            } else {
                yield_now();
            }
            absorb();
        }
        claimed
    }
    watched(|life| {
        race(
            life,
            (100, BLOCKS),
            |work| claims(work.pool, 0, || while work.next_leaf().is_some() {}),
            |pool, _| claims(pool, 1, || {}),
            |_, mut claimed, of_worker| {
                claimed.extend(of_worker);
                claimed.sort_unstable();
                assert!(claimed.into_iter().eq(0..BLOCKS), "a block was claimed twice or never");
            },
        );
    });
}

/// Lets the coordinator redo blocks while the worker delivers them.
#[test]
fn of_two_leaves_at_the_same_time_one_is_accepted() {
    watched(|life| {
        race(
            life,
            (5000, WINDOW),
            |work| (0..WINDOW).map(|block| work.redo(block, &leaf_of(block, 0))).collect(),
            |pool, number| {
                let deliver = |block| pool.deliver(1, number, block, &leaf_of(block, 1));
                (0..WINDOW).map(deliver).collect::<Vec<bool>>()
            },
            |work, is_redone, is_accepted| {
                for (is_redone, is_accepted) in is_redone.into_iter().zip(is_accepted) {
                    assert_ne!(is_redone, is_accepted, "both leaves or none were accepted");
                    let block = work.missing_block().unwrap();
                    assert_eq!(work.next_leaf(), Some(leaf_of(block, u64::from(is_accepted))));
                }
            },
        );
    });
}
