//! Finds the stores of a boot that nothing reads. A boot without one of them is the same boot.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// Size in bytes of the words that the trace distinguishes.
const WORD: u64 = 8;

/// Loads and stores of a boot.
#[derive(Debug, Default)]
pub struct Trace {
    /// For each word, the positions in the boot of the latest stores to some of its bytes.
    latest: HashMap<u64, Vec<u32>>,
    stores: Vec<u32>,
    read: HashSet<u32>,
}

impl Trace {
    /// Records that the instruction at `position` stored to these bytes and did nothing else.
    pub fn executed(&mut self, position: u32, offset: u64, len: u64) {
        self.stores.push(position);
        for word in words(offset, len) {
            self.latest.entry(word).or_default().push(position);
        }
    }

    /// Returns the positions of the stores that nothing has read, in ascending order.
    pub fn unread(self) -> Vec<u32> {
        self.stores.into_iter().filter(|position| !self.read.contains(position)).collect()
    }

    pub(super) fn load(&mut self, offset: u64, len: u64) {
        for word in words(offset, len) {
            if let Some(latest) = self.latest.remove(&word) {
                self.read.extend(latest);
            }
        }
    }

    /// Records a store by any source. A store to a whole word hides all earlier stores to it.
    pub(super) fn store(&mut self, offset: u64, len: u64) {
        if len == WORD && offset.is_multiple_of(WORD) {
            self.latest.remove(&(offset / WORD));
        }
    }
}

/// Returns the indices of the words that contain these bytes.
fn words(offset: u64, len: u64) -> RangeInclusive<u64> {
    offset / WORD..=offset.saturating_add(len.max(1) - 1) / WORD
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records a store as a boot does: first by the memory, then by the executed instruction.
    fn store(trace: &mut Trace, position: u32, offset: u64, len: u64) {
        trace.store(offset, len);
        trace.executed(position, offset, len);
    }

    #[test]
    fn a_store_is_read_by_a_load_of_any_of_its_bytes() {
        let mut trace = Trace::default();
        store(&mut trace, 1, 0, 8);
        store(&mut trace, 2, 8, 8);
        // The store covers parts of two words.
        store(&mut trace, 3, 20, 8);
        trace.load(15, 1);
        trace.load(27, 1);
        assert_eq!(trace.unread(), [1]);
    }

    #[test]
    fn a_store_to_the_whole_word_hides_those_before_and_one_to_a_part_does_not() {
        let mut trace = Trace::default();
        store(&mut trace, 1, 0, 8);
        store(&mut trace, 2, 0, 8);
        store(&mut trace, 3, 4, 4);
        trace.load(0, 4);
        // The second store to offset 64 comes from a device or another hart.
        store(&mut trace, 4, 64, 8);
        trace.store(64, 8);
        trace.load(64, 8);
        assert_eq!(trace.unread(), [1, 4]);
    }
}
