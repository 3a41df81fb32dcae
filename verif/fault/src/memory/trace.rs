//! Which stores of a boot nothing reads: without one of them, the boot is the same.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// Bytes whose loads and stores are told from others.
const WORD: u64 = 8;

/// Loads and stores of a boot.
#[derive(Debug, Default)]
pub struct Trace {
    /// Stores that are the latest to some bytes of a word, by their position in the boot.
    latest: HashMap<u64, Vec<u32>>,
    stores: Vec<u32>,
    read: HashSet<u32>,
}

impl Trace {
    /// A store that may be left out was executed.
    pub fn executed(&mut self, position: u32, offset: u64, len: u64) {
        self.stores.push(position);
        for word in words(offset, len) {
            self.latest.entry(word).or_default().push(position);
        }
    }

    /// The stores that nothing has read, in ascending order.
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

    /// Whatever stores: what a whole word had before is gone.
    pub(super) fn store(&mut self, offset: u64, len: u64) {
        if len == WORD && offset.is_multiple_of(WORD) {
            self.latest.remove(&(offset / WORD));
        }
    }
}

/// The words in which bytes are.
fn words(offset: u64, len: u64) -> RangeInclusive<u64> {
    offset / WORD..=offset.saturating_add(len.max(1) - 1) / WORD
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a boot does: the memory notes the store, and then it was executed.
    fn store(trace: &mut Trace, position: u32, offset: u64, len: u64) {
        trace.store(offset, len);
        trace.executed(position, offset, len);
    }

    #[test]
    fn a_store_is_read_by_a_load_of_any_of_its_bytes() {
        let mut trace = Trace::default();
        store(&mut trace, 1, 0, 8);
        store(&mut trace, 2, 8, 8);
        // Across two words.
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
        // A device or another hart.
        store(&mut trace, 4, 64, 8);
        trace.store(64, 8);
        trace.load(64, 8);
        assert_eq!(trace.unread(), [1, 4]);
    }
}
