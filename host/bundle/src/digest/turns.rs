//! Hands out the parts of a job in their order to several threads.

use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Which parts may be begun. No thread runs further ahead of the first part that is not done than
/// `window`, so that results which have to wait for it stay few.
#[derive(Debug)]
pub(super) struct Turns {
    window: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    next: u64,
    end: u64,
    done: u64,
}

impl Turns {
    /// Parts 0 to `count`.
    pub(super) fn new(count: u64, window: u64) -> Self {
        let state = Mutex::new(State { next: 0, end: count, done: 0 });
        Self { window, state, changed: Condvar::new() }
    }

    /// The next part, once it may be begun; nothing when there is none left.
    pub(super) fn take(&self) -> Option<u64> {
        let mut state = self.lock();
        while state.next < state.end && state.next - state.done >= self.window {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (state.next < state.end).then(|| {
            state.next += 1;
            state.next - 1
        })
    }

    /// All parts before `count` are done, and the job continues or ends with those that were begun.
    pub(super) fn advance(&self, count: u64, flow: ControlFlow<()>) {
        let mut state = self.lock();
        state.done = state.done.max(count);
        if flow.is_break() {
            state.end = 0;
        }
        self.changed.notify_all();
    }

    /// The numbers are consistent even if a thread panicked while it held the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_order_and_end() {
        let turns = Turns::new(3, 5);
        assert_eq!([(); 4].map(|()| turns.take()), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_thread_waits_for_the_window() {
        let turns = Turns::new(10, 2);
        assert_eq!((turns.take(), turns.take()), (Some(0), Some(1)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take());
            turns.advance(1, ControlFlow::Continue(()));
            assert_eq!(waiting.join().unwrap(), Some(2));
        });
    }

    #[test]
    fn a_break_wakes_everybody() {
        let turns = Turns::new(10, 1);
        assert_eq!(turns.take(), Some(0));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take());
            turns.advance(0, ControlFlow::Break(()));
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
