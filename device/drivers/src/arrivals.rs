//! The part of a transfer that has arrived, when requests complete in any order.

/// Maximum number of chunks from the first missing one on that can be tracked; each needs one bit.
const WINDOW: u64 = 64;

/// A transfer of `total` bytes in chunks, requested in order and completed in any order.
#[derive(Clone, Debug)]
pub struct Arrivals {
    chunk: u64,
    total: u64,
    requested: u64,
    arrived: u64,
    /// Bit i is set if the chunk i places after the first missing one has arrived.
    ahead: u64,
}

impl Arrivals {
    /// Creates a transfer without requests. `chunk` is the size of a request in bytes.
    pub const fn new(total: u64, chunk: u64) -> Self {
        Self { chunk, total, requested: 0, arrived: 0, ahead: 0 }
    }

    /// Returns offset and length of the next request. Returns `None` if everything was requested,
    /// or if the first missing chunk is so late that the window for later chunks is full.
    pub fn next_request(&self) -> Option<(u64, u64)> {
        let is_in_window =
            self.requested.saturating_sub(self.arrived) < WINDOW.saturating_mul(self.chunk);
        let len = self.total.saturating_sub(self.requested).min(self.chunk);
        (len > 0 && is_in_window).then_some((self.requested, len))
    }

    /// Records that the request that [`Arrivals::next_request`] returned was started.
    pub fn requested(&mut self, len: u64) {
        self.requested = self.requested.saturating_add(len);
    }

    /// Records that the request at `offset` is complete.
    pub fn completed(&mut self, offset: u64) {
        let place = offset.saturating_sub(self.arrived).checked_div(self.chunk).unwrap_or(WINDOW);
        self.ahead |= u32::try_from(place).ok().and_then(|bit| 1u64.checked_shl(bit)).unwrap_or(0);
        while self.ahead & 1 != 0 {
            self.ahead >>= 1;
            self.arrived = self.arrived.saturating_add(self.chunk).min(self.total);
        }
    }

    /// Returns the number of bytes at the start that have arrived.
    pub const fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Returns true if all bytes have arrived.
    pub const fn is_complete(&self) -> bool {
        self.arrived >= self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const CHUNK: u64 = 1000;

    /// Runs a transfer with `depth` requests in flight; `pick` selects the one that completes next.
    fn run(total: u64, depth: usize, mut pick: impl FnMut(&[u64]) -> usize) -> Arrivals {
        let mut arrivals = Arrivals::new(total, CHUNK);
        let mut in_flight: Vec<u64> = Vec::new();
        let mut there = Vec::new();
        let (mut completions, mut missing) = (0, 0);
        while !arrivals.is_complete() {
            while in_flight.len() < depth
                && let Some((offset, len)) = arrivals.next_request()
            {
                assert!(len > 0, "an empty request");
                arrivals.requested(len);
                in_flight.push(offset);
            }
            assert!(!in_flight.is_empty(), "stuck at {} of {total}", arrivals.arrived());
            let offset = in_flight.remove(pick(&in_flight) % in_flight.len());
            arrivals.completed(offset);
            there.push(offset);
            // A missing chunk does not count as arrived.
            while there.contains(&missing) {
                missing += CHUNK;
            }
            assert_eq!(arrivals.arrived(), missing.min(total));
            completions += 1;
        }
        assert_eq!(completions, total.div_ceil(CHUNK));
        arrivals
    }

    #[test]
    fn completes_in_order_backwards_and_with_a_short_last_chunk() {
        run(10 * CHUNK, 8, |_| 0);
        run(10 * CHUNK + 1, 8, |in_flight| in_flight.len() - 1);
        run(1, 8, |_| 0);
        assert!(Arrivals::new(0, CHUNK).is_complete());
    }

    #[test]
    fn a_chunk_that_is_overtaken_by_all_others_still_arrives() {
        // The first request completes only when no other request is in flight.
        run(500 * CHUNK, 8, |in_flight| in_flight.len() - 1);
    }

    #[test]
    fn any_order_completes() {
        let mut state = 1u64;
        for depth in 1..=8 {
            run(300 * CHUNK + 7, depth, |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize
            });
        }
    }
}
