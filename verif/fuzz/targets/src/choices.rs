//! Derives decisions from the bytes of the fuzzer.
//!
//! The type is a thin layer over `arbitrary::Unstructured` that never fails. At the end of the
//! bytes every choice is the first option, so that a short input is a simple case and additional
//! bytes modify it.

use arbitrary::Unstructured;

/// The unread rest of an input.
pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn long(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// Returns true in one of `in_all` cases; false at the end of the bytes.
    pub fn rarely(&mut self, in_all: u8) -> bool {
        self.byte() % in_all == in_all - 1
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        if end <= 256 { usize::from(self.byte()) % end } else { self.word() as usize % end }
    }

    /// Returns one of these values; the first one at the end of the bytes.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Returns a number at or near a limit, or an arbitrary one.
    pub fn number(&mut self) -> u64 {
        const LIMITS: [u64; 12] = [
            0,
            1,
            7,
            8,
            0x7f,
            0xfff,
            0x1000,
            0xffff_ffff,
            1 << 32,
            1 << 40,
            u64::MAX - 0xfff,
            u64::MAX,
        ];
        match self.byte() {
            choice @ 0..=199 => LIMITS[usize::from(choice) % LIMITS.len()]
                .wrapping_add(self.of(&[0, 1, u64::MAX, 8, 4096])),
            _ => self.long(),
        }
    }

    /// Returns at most `longest` bytes; none at the end of the bytes.
    pub fn bytes(&mut self, longest: usize) -> &'a [u8] {
        let len = self.below(longest + 1).min(self.0.len());
        self.0.bytes(len).unwrap_or_default()
    }

    /// Returns all remaining bytes.
    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
