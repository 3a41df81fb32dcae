//! Memory that records which pages were written, so that a copy of a machine can be updated page by page.

mod trace;

use std::sync::{Arc, Mutex};

pub use trace::Trace;

/// Page size in bytes.
const PAGE: usize = 4096;

/// The instruction `c.li zero, 21`: legal, without effect, and a value that a boot does not write.
pub const FILLER: [u8; 2] = [0x55, 0x40];

/// Random-access memory.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    is_written: Vec<bool>,
    written: Vec<u32>,
    /// For each page, true if a store to it is to be detected.
    is_watched: Vec<bool>,
    is_breached: bool,
    /// Recorder of loads and stores; present only while a boot is recorded.
    trace: Option<Arc<Mutex<Trace>>>,
}

impl Memory {
    /// Makes memory that is filled with a pattern.
    pub fn filled(size: usize, pattern: [u8; 2]) -> Self {
        assert!(size.is_multiple_of(PAGE), "whole pages");
        let pages = size / PAGE;
        Self {
            bytes: pattern.repeat(size / 2),
            is_written: vec![false; pages],
            written: vec![],
            is_watched: vec![false; pages],
            is_breached: false,
            trace: None,
        }
    }

    /// Records loads and stores of this memory from now on.
    pub fn trace(&mut self, trace: Arc<Mutex<Trace>>) {
        self.trace = Some(trace);
    }

    #[cold]
    fn note(trace: &Mutex<Trace>, note: impl FnOnce(&mut Trace)) {
        note(&mut trace.lock().expect("no one panicked with it"));
    }

    /// Makes memory with these bytes, followed by a pattern up to the end of the last page.
    pub fn of(bytes: &[u8], pattern: [u8; 2]) -> Self {
        let mut memory = Self::filled(bytes.len().next_multiple_of(PAGE), pattern);
        memory.bytes[..bytes.len()].copy_from_slice(bytes);
        memory
    }

    /// Detects stores to the pages of this range from now on.
    pub fn watch(&mut self, offsets: std::ops::Range<u64>) {
        let pages = offsets.start as usize / PAGE..(offsets.end as usize).div_ceil(PAGE);
        self.is_watched[pages].fill(true);
        // A watched page is checked when it is marked as written for the first time, so all marks are
        // cleared.
        self.written.drain(..).for_each(|page| self.is_written[page as usize] = false);
    }

    /// Returns true if a watched page was written.
    pub fn is_breached(&self) -> bool {
        self.is_breached
    }

    /// Returns the bytes at these offsets.
    ///
    /// # Panics
    /// Panics if the range is not inside the memory.
    pub fn bytes(&self, offsets: std::ops::Range<usize>) -> &[u8] {
        if let Some(trace) = &self.trace {
            Self::note(trace, |trace| trace.load(offsets.start as u64, offsets.len() as u64));
        }
        &self.bytes[offsets]
    }

    /// Reads `N` bytes, zero-extended. Returns `None` if they are not all inside the memory.
    #[inline]
    pub fn load<const N: usize>(&self, offset: u64) -> Option<u64> {
        if let Some(trace) = &self.trace {
            Self::note(trace, |trace| trace.load(offset, N as u64));
        }
        read::<N>(&self.bytes, offset)
    }

    /// Writes the lowest `N` bytes of a value. Returns `None` if they are not all inside the memory.
    #[inline]
    pub fn store<const N: usize>(&mut self, offset: u64, value: u64) -> Option<()> {
        if let Some(trace) = &self.trace {
            Self::note(trace, |trace| trace.store(offset, N as u64));
        }
        let offset = usize::try_from(offset).ok()?;
        let place = self.bytes.get_mut(offset..offset.checked_add(N)?)?;
        place.copy_from_slice(&value.to_le_bytes()[..N]);
        self.mark(offset / PAGE);
        self.mark((offset + N - 1) / PAGE);
        Some(())
    }

    #[inline]
    fn mark(&mut self, page: usize) {
        if !self.is_written[page] {
            self.is_written[page] = true;
            self.written.push(page as u32);
            self.is_breached |= self.is_watched[page];
        }
    }

    /// Makes this memory equal to `leader`. The two may differ only in pages that were written in either
    /// of them since the last call.
    pub fn follow(&mut self, leader: &mut Self) {
        self.is_breached = leader.is_breached;
        let mut copy = |page: u32| {
            let start = page as usize * PAGE;
            self.bytes[start..start + PAGE].copy_from_slice(&leader.bytes[start..start + PAGE]);
        };
        for page in self.written.drain(..) {
            self.is_written[page as usize] = false;
            copy(page);
        }
        for page in leader.written.drain(..) {
            leader.is_written[page as usize] = false;
            copy(page);
        }
    }
}

/// Reads `N` little-endian bytes, zero-extended.
#[inline]
pub fn read<const N: usize>(bytes: &[u8], offset: u64) -> Option<u64> {
    let offset = usize::try_from(offset).ok()?;
    let source = bytes.get(offset..)?.first_chunk::<N>()?;
    let mut word = [0; 8];
    word[..N].copy_from_slice(source);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_what_either_of_two_memories_wrote() {
        let mut leader = Memory::filled(4 * PAGE, [1, 2]);
        let mut copy = leader.clone();
        leader.store::<1>(0, 7).unwrap();
        // The store crosses a page boundary.
        copy.store::<8>(2 * PAGE as u64 - 4, 0).unwrap();
        copy.follow(&mut leader);
        assert_eq!(copy.bytes, leader.bytes);
        assert_eq!(copy.load::<2>(0), Some(0x0207));
        leader.store::<4>(3 * PAGE as u64, 9).unwrap();
        copy.follow(&mut leader);
        assert_eq!(copy.bytes, leader.bytes);
    }

    #[test]
    fn notices_a_store_to_a_watched_page() {
        let mut leader = Memory::filled(4 * PAGE, [0, 0]);
        leader.store::<1>(PAGE as u64, 1).unwrap();
        leader.watch(PAGE as u64..PAGE as u64 + 1);
        let mut copy = leader.clone();
        copy.store::<8>(2 * PAGE as u64, 1).unwrap();
        assert!(!copy.is_breached());
        copy.store::<8>(PAGE as u64 - 1, 1).unwrap();
        assert!(copy.is_breached());
        copy.follow(&mut leader);
        assert!(!copy.is_breached());
    }

    #[test]
    fn what_is_partly_outside_is_outside() {
        let mut memory = Memory::filled(PAGE, [0, 0]);
        assert_eq!(memory.load::<8>(PAGE as u64 - 7), None);
        assert_eq!(memory.store::<2>(PAGE as u64 - 1, 0), None);
        assert_eq!(memory.load::<1>(u64::MAX), None);
    }
}
