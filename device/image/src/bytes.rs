//! Reads and writes at fixed offsets without a panic path.

/// Returns the `N` bytes at `offset`, or `None` if the slice is too short.
#[inline]
pub fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk::<N>().copied()
}

/// Returns the little-endian `u32` at `offset`, or `None` if the slice is too short.
#[inline]
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes_at(bytes, offset).map(u32::from_le_bytes)
}

/// Returns the little-endian `u64` at `offset`, or `None` if the slice is too short.
#[inline]
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes_at(bytes, offset).map(u64::from_le_bytes)
}

/// Returns true if every byte is zero. The function reads all bytes, without an early exit.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |seen, byte| seen | byte) == 0
}

/// A writer that appends fields to a slice and remembers if one of them did not fit.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
    is_full: bool,
}

impl<'a> Writer<'a> {
    /// Makes a writer that starts at the beginning of `out`.
    pub fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0, is_full: false }
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        match self.out.get_mut(self.len..end) {
            Some(place) => {
                for (to, from) in place.iter_mut().zip(bytes) {
                    *to = *from;
                }
                self.len = end;
            }
            None => self.is_full = true,
        }
    }

    /// Appends a little-endian `u32`.
    pub fn put_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// Appends a little-endian `u64`.
    pub fn put_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// Appends zeros until the length is a multiple of `alignment`.
    pub fn pad_to(&mut self, alignment: usize) {
        while !self.is_full && self.len.checked_rem(alignment).unwrap_or(0) != 0 {
            self.put(&[0]);
        }
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if no byte was written yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of bytes written, or `None` if some did not fit.
    pub fn finish(self) -> Option<usize> {
        (!self.is_full).then_some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_cancel_each_other_are_not_zero() {
        assert!(is_zero(&[]) && is_zero(&[0; 3]));
        for bytes in [[1, 0, 0], [0, 0, 0x80], [7, 0, 7], [1, 2, 3], [0xff, 0xff, 0]] {
            assert!(!is_zero(&bytes), "{bytes:?}");
        }
    }

    #[test]
    fn a_writer_counts_what_fits_and_forgets_the_rest() {
        let mut out = [0xaa; 10];
        let mut writer = Writer::new(&mut out);
        assert!(writer.is_empty());
        writer.put(&[1]);
        assert!(!writer.is_empty());
        writer.pad_to(4);
        assert_eq!(writer.len(), 4);
        writer.pad_to(4);
        writer.pad_to(0);
        writer.put_u32(0x0403_0201);
        assert_eq!(writer.len(), 8);
        assert_eq!(writer.finish(), Some(8));
        assert_eq!(out, [1, 0, 0, 0, 1, 2, 3, 4, 0xaa, 0xaa]);
        let mut writer = Writer::new(&mut out);
        writer.put_u64(0x0807_0605_0403_0201);
        writer.put(&[1; 3]);
        assert_eq!((writer.len(), out), (8, [1, 2, 3, 4, 5, 6, 7, 8, 0xaa, 0xaa]));
    }

    #[test]
    fn a_writer_that_was_full_stays_so() {
        let mut out = [0; 6];
        let mut writer = Writer::new(&mut out);
        writer.put_u64(1);
        writer.put_u32(2);
        writer.pad_to(4);
        writer.pad_to(7);
        assert_eq!(writer.len(), 4);
        assert_eq!(writer.finish(), None);
    }
}
