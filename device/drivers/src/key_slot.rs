//! The key slot of the AES engine and its lock (`hw/soc/rtl/key_slot.sv`): a key to write, which nothing reads but the engine.

/// Bytes of the key.
pub const KEY_LEN: usize = 32;
/// The lock, in words: it follows the key.
const LOCK: usize = KEY_LEN / 4;
/// Of the lock: the slot is closed, and the engine is offered the key.
const CLOSED: u32 = 1;
const OFFERED: u32 = 2;

/// The page of the slot.
#[derive(Debug)]
pub struct KeySlot(*mut u32);

impl KeySlot {
    /// # Safety
    /// The page is at this address, and nothing else uses it.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> Self {
        Self(base)
    }

    /// Writes the key and closes the slot until reset. Whether the engine is offered the key. `fence` orders the stores
    /// before the load that asks.
    ///
    /// The slot has to be open: a store to a closed one is an error of the bus.
    #[must_use]
    pub fn fill(&mut self, key: &[u8; KEY_LEN], fence: impl FnOnce()) -> bool {
        for (index, word) in key.as_chunks::<4>().0.iter().enumerate() {
            // SAFETY: a word of the key, which only the engine sees.
            unsafe { self.word(index).write_volatile(u32::from_le_bytes(*word)) };
        }
        self.lock();
        fence();
        self.lock_state() == CLOSED | OFFERED
    }

    /// Closes the slot until reset, with a whole key or empty.
    pub fn lock(&mut self) {
        // SAFETY: the lock, which closes the slot and does nothing else.
        unsafe { self.word(LOCK).write_volatile(1) };
    }

    /// Whether the slot is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock_state() & CLOSED != 0
    }

    fn lock_state(&self) -> u32 {
        // SAFETY: the lock; reading it changes nothing.
        unsafe { self.word(LOCK).read_volatile() }
    }

    const fn word(&self, index: usize) -> *mut u32 {
        self.0.wrapping_add(index)
    }
}

#[cfg(test)]
mod tests {
    //! Registers are memory here, without the lock's effect.

    use core::cell::Cell;

    use super::*;

    fn slot(words: &[Cell<u32>; LOCK + 1]) -> KeySlot {
        // SAFETY: cells that may be written through a shared reference, which outlive it in every test.
        unsafe { KeySlot::new(words.as_ptr().cast::<u32>().cast_mut()) }
    }

    #[test]
    fn a_key_is_written_in_the_order_of_memory_and_closed() {
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
