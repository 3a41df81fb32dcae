//! The secret of a device and the latch that closes it until reset (`hw/soc/rtl/device_secret.sv`).

/// Number of words of the secret. The latch follows them.
const LEN: usize = 16;

/// The driver of the page with the secret.
#[derive(Debug)]
pub struct DeviceSecretPage(*mut u32);

impl DeviceSecretPage {
    /// Creates the driver of the page at this address.
    ///
    /// # Safety
    /// The page is at this address, and no other code uses it.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> Self {
        Self(base)
    }

    /// Reads the secret, which is all zeros after it was closed.
    pub fn read(&self, bytes: &mut [u8; 4 * LEN]) {
        for (index, to) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // SAFETY: this is a word of the secret, and reading it has no side effect.
            *to = unsafe { self.word(index).read_volatile() }.to_le_bytes();
        }
    }

    /// Closes the secret until reset. Returns true if it is closed. `fence` orders the store before the loads that
    /// check this.
    pub fn close(&mut self, fence: impl FnOnce()) -> bool {
        // SAFETY: this is the latch, which closes the secret and has no other effect.
        unsafe { self.word(LEN).write_volatile(1) };
        fence();
        // SAFETY: this is the latch, and reading it has no side effect.
        let latch = unsafe { self.word(LEN).read_volatile() };
        // SAFETY: these are the words of the secret, which read as zeros after it was closed.
        let word = |index| unsafe { self.word(index).read_volatile() };
        latch == 1 && (0..LEN).fold(0, |seen, index| seen | word(index)) == 0
    }

    const fn word(&self, index: usize) -> *mut u32 {
        self.0.wrapping_add(index)
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers; the latch has no effect.

    use core::cell::Cell;

    use super::*;

    fn page(words: &[Cell<u32>; LEN + 1]) -> DeviceSecretPage {
        // SAFETY: the cells may be written through a shared reference and outlive the driver in every test.
        unsafe { DeviceSecretPage::new(words.as_ptr().cast::<u32>().cast_mut()) }
    }

    #[test]
    fn words_are_bytes_in_the_order_of_memory() {
        let words = core::array::from_fn(|at| Cell::new(0x0302_0100 + 0x0404_0404 * at as u32));
        let mut bytes = [0; 64];
        page(&words).read(&mut bytes);
        assert_eq!(bytes, core::array::from_fn(|at| at as u8));
    }

    #[test]
    fn it_is_closed_if_the_latch_says_so_and_nothing_shows() {
        let words: [Cell<u32>; LEN + 1] = core::array::from_fn(|_| Cell::new(0));
        assert!(page(&words).close(|| ()));
        assert!(!page(&words).close(|| words[LEN].set(0)), "the latch does not close");
        assert!(!page(&words).close(|| words[LEN - 1].set(1)), "a word shows");
        assert!(!page(&words).close(|| words[0].set(1)), "two words show");
    }
}
