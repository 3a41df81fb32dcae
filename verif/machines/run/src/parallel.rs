//! Runs work on all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::machines::model::jobs;

/// Does all work on as many threads as there are cores. Results are in the order of the work.
pub fn in_parallel<T: Sync, R: Send>(work: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut results = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match work.get(at) {
                Some(work) => results.push((at, act(work))),
                None => return results,
            }
        }
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs()).map(|_| scope.spawn(take)).collect();
        let results = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => resume_unwind(panic),
        });
        results.collect::<Vec<_>>()
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_results_are_in_its_order() {
        let work: Vec<u32> = (0..100).collect();
        let done = AtomicUsize::new(0);
        let squares = in_parallel(&work, |&number| {
            done.fetch_add(1, Ordering::Relaxed);
            number * number
        });
        assert_eq!(done.into_inner(), 100);
        assert!(squares.iter().zip(&work).all(|(square, number)| *square == number * number));
    }
}
