//! A buffer that splits a message into whole blocks for a compression function.

/// The bytes of a message that do not yet fill a block of `N` bytes.
// The kernels in assembly require 8-byte alignment.
#[derive(Clone)]
#[repr(align(8))]
pub(crate) struct BlockBuffer<const N: usize> {
    bytes: [u8; N],
    // The value is below N between calls, because a full block is compressed immediately.
    filled: usize,
}

impl<const N: usize> BlockBuffer<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], filled: 0 }
    }

    /// Passes every block that `data` completes to `compress`, in order, and stores the rest.
    ///
    /// Whole blocks are passed by reference, so a long message is not copied.
    pub(crate) fn feed(&mut self, mut data: &[u8], mut compress: impl FnMut(&[[u8; N]])) {
        if self.filled != 0 {
            let free = self.bytes.get_mut(self.filled..).unwrap_or_default();
            let (now, later) = data.split_at_checked(free.len()).unwrap_or((data, &[]));
            copy_prefix(free, now);
            self.filled = self.filled.wrapping_add(now.len());
            if self.filled < N {
                return;
            }
            compress(core::slice::from_ref(&self.bytes));
            data = later;
        }
        let (blocks, rest) = data.as_chunks::<N>();
        compress(blocks);
        copy_prefix(&mut self.bytes, rest);
        self.filled = rest.len();
    }

    /// Ends the message with the byte `marker` and zeros up to the end of the block.
    ///
    /// Returns the block and the number of these zero bytes at its end.
    pub(crate) fn terminate(mut self, marker: u8) -> ([u8; N], usize) {
        let mut zeros = 0;
        if let Some((first, rest)) =
            self.bytes.get_mut(self.filled..).and_then(<[u8]>::split_first_mut)
        {
            *first = marker;
            rest.fill(0);
            zeros = rest.len();
        }
        (self.bytes, zeros)
    }
}

/// Copies bytes until the shorter slice ends. In contrast to `copy_from_slice`, different lengths
/// are allowed, so there is no panic path.
fn copy_prefix(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
