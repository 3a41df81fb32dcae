//! Distributes the parts of a job to several threads in order.

use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The parts of a job that may be started. A part may be started only if its number is less than `window`
/// above the first part that is not done, so that few results have to wait for an earlier one.
#[derive(Debug)]
pub(super) struct PartQueue {
    window: u64,
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueState {
    next: u64,
    end: u64,
    done: u64,
}

impl PartQueue {
    /// Makes a job with the parts 0 to `count` - 1.
    pub(super) fn new(count: u64, window: u64) -> Self {
        let state = Mutex::new(QueueState { next: 0, end: count, done: 0 });
        Self { window, state, changed: Condvar::new() }
    }

    /// Waits until the next part may be started, and returns its number. Returns `None` if no part is left.
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

    /// States that all parts before `count` are done. With `Break`, no further part is started.
    pub(super) fn advance(&self, count: u64, flow: ControlFlow<()>) {
        let mut state = self.lock();
        state.done = state.done.max(count);
        if flow.is_break() {
            state.end = 0;
        }
        self.changed.notify_all();
    }

    /// Locks the state. A thread that panicked while it held the lock leaves consistent numbers, so poisoning
    /// is ignored.
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_order_and_end() {
        let parts = PartQueue::new(3, 5);
        assert_eq!([(); 4].map(|()| parts.take()), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_thread_waits_for_the_window() {
        let parts = PartQueue::new(10, 2);
        assert_eq!((parts.take(), parts.take()), (Some(0), Some(1)));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| parts.take());
            parts.advance(1, ControlFlow::Continue(()));
            assert_eq!(waiting.join().unwrap(), Some(2));
        });
    }

    #[test]
    fn a_break_wakes_everybody() {
        let parts = PartQueue::new(10, 1);
        assert_eq!(parts.take(), Some(0));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| parts.take());
            parts.advance(0, ControlFlow::Break(()));
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
