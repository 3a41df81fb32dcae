//! The key slot of the AES engine and its lock (`hw/soc/rtl/key_slot.sv`). Software writes the key, and only the engine
//! can read it.

/// Length of the key in bytes.
pub const KEY_LEN: usize = 32;
/// Word offset of the lock, which follows the key.
const LOCK: usize = KEY_LEN / 4;
/// Bit of the lock: the slot is closed. The next constant is the bit that is set while the key is available to the
/// engine.
const CLOSED: u32 = 1;
const OFFERED: u32 = 2;

/// The driver of the page with the slot.
#[derive(Debug)]
pub struct KeySlot(*mut u32);

impl KeySlot {
    /// Creates the driver of the page at this address.
    ///
    /// # Safety
    /// The page is at this address, and no other code uses it.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> Self {
        Self(base)
    }

    /// Writes the key and closes the slot until reset. Returns true if the key is available to the engine. `fence`
    /// orders the stores before the load that checks this.
    ///
    /// The slot has to be open, because a store to a closed slot causes a bus error.
    #[must_use]
    pub fn fill(&mut self, key: &[u8; KEY_LEN], fence: impl FnOnce()) -> bool {
        for (index, word) in key.as_chunks::<4>().0.iter().enumerate() {
            // SAFETY: this is a word of the key, which only the engine can read.
            unsafe { self.word(index).write_volatile(u32::from_le_bytes(*word)) };
        }
        self.lock();
        fence();
        self.lock_state() == CLOSED | OFFERED
    }

    /// Closes the slot until reset, with a complete key or empty.
    pub fn lock(&mut self) {
        // SAFETY: this is the lock, which closes the slot and has no other effect.
        unsafe { self.word(LOCK).write_volatile(1) };
    }

    /// Returns true if the slot is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock_state() & CLOSED != 0
    }

    fn lock_state(&self) -> u32 {
        // SAFETY: this is the lock, and reading it has no side effect.
        unsafe { self.word(LOCK).read_volatile() }
    }

    const fn word(&self, index: usize) -> *mut u32 {
        self.0.wrapping_add(index)
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers; the lock has no effect.

    use core::cell::Cell;

    use super::*;

    fn slot(words: &[Cell<u32>; LOCK + 1]) -> KeySlot {
        // SAFETY: the cells may be written through a shared reference and outlive the driver in every test.
        unsafe { KeySlot::new(words.as_ptr().cast::<u32>().cast_mut()) }
    }

    #[test]
    fn a_key_is_written_in_the_order_of_memory_and_closed() {
        assert_eq!(LOCK, 8, "the lock follows eight words");
        let words = core::array::from_fn(|_| Cell::new(0));
        let key = core::array::from_fn(|at| at as u8);
        assert!(slot(&words).fill(&key, || words[LOCK].set(CLOSED | OFFERED)));
        for (at, word) in words[..LOCK].iter().enumerate() {
            assert_eq!(word.get(), 0x0302_0100 + 0x0404_0404 * at as u32);
        }
    }

    #[test]
    fn a_slot_that_does_not_close_or_offers_nothing_is_not_filled() {
        let words: [Cell<u32>; LOCK + 1] = core::array::from_fn(|_| Cell::new(0));
        for state in [0, CLOSED, OFFERED] {
            assert!(!slot(&words).fill(&[1; KEY_LEN], || words[LOCK].set(state)));
            assert_eq!(slot(&words).is_closed(), state & CLOSED != 0);
        }
        slot(&words).lock();
        assert_eq!(words[LOCK].get(), 1);
    }
}
