//! The AXI guard (`hw/ip/axi_guard/doc/README.md`): closes ranges of memory to the managers of a port, until reset.
//!
//! Before the lock no device reaches memory. The driver reads back what it wrote and locks last, so that a range that did
//! not arrive leaves the port closed.

use hartlock_regs::axi_guard as registers;

/// Ranges that a guard has.
pub const RANGES: usize = 4;
/// The letters `axig`, with which its registers begin.
const ID: u32 = u32::from_be_bytes(*b"axig");

/// Why the port stays closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no guard at this address.
    NotThere,
    /// It was locked before: its ranges are those of other code.
    Locked,
    /// A range does not read back as it was written.
    Failed,
}

/// Pages of 4 KiB, bits 31 to 12 of their addresses, both ends included. Empty if the first follows the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The first one.
    pub first: u32,
    /// The last one.
    pub last: u32,
}

impl Pages {
    /// No page.
    pub const NONE: Self = Self { first: 0xf_ffff, last: 0 };
}

/// The guard, locked.
pub struct AxiGuard {
    registers: registers::AxiGuard,
}

impl AxiGuard {
    /// Closes ranges, and opens the port for everything else. Both are final until reset.
    ///
    /// # Errors
    /// See [`Error`]. Nothing passes the port then, unless other code has locked it.
    ///
    /// # Safety
    /// `base` is the address of its registers, or reads as zero there, and no other code uses them while this value lives.
    pub unsafe fn close(base: *mut u32, closed: &[Pages; RANGES]) -> Result<AxiGuard, Error> {
        // SAFETY: the caller's promise is that of a block.
        let registers = unsafe { registers::AxiGuard::new(base) };
        if registers.id().read() != ID {
            return Err(Error::NotThere);
        }
        if registers.lock().read().locked() {
            return Err(Error::Locked);
        }
        let ends = || registers.first().iter().zip(registers.last().iter()).zip(closed);
        for ((first, last), pages) in ends() {
            first.write(registers::First::RESET.with_page(pages.first));
            last.write(registers::Last::RESET.with_page(pages.last));
        }
        let is_as_written = ends().all(|((first, last), pages)| {
            (first.read().page(), last.read().page()) == (pages.first, pages.last)
        });
        if !is_as_written {
            return Err(Error::Failed);
        }
        registers.lock().write(registers::Lock::RESET.with_locked(true));
        if !registers.lock().read().locked() {
            return Err(Error::Failed);
        }
        Ok(AxiGuard { registers })
    }

    /// Whether a device was refused since the last call: a read, a write.
    pub fn take_refused(&mut self) -> (bool, bool) {
        let refused = self.registers.refused().read();
        self.registers.refused().write(refused);
        (refused.read(), refused.write())
    }
}

#[cfg(test)]
mod tests {
    //! Registers are memory here. What hardware makes of the words is what `hw/ip/axi_guard/tb` tests.

    use core::cell::Cell;

    use super::*;

    // In words.
    const LOCK: usize = 1;
    const REFUSED: usize = 2;
    const FIRST: usize = 8;
    const LAST: usize = 12;

    const CLOSED: [Pages; RANGES] = [
        Pages { first: 0x8_0000, last: 0x8_00ff },
        Pages { first: 0, last: 0xf_ffff },
        Pages::NONE,
        Pages { first: 7, last: 7 },
    ];

    fn file(id: u32, lock: u32) -> [Cell<u32>; 16] {
        let words = [const { Cell::new(0) }; 16];
        words[0].set(id);
        words[LOCK].set(lock);
        words
    }

    fn close(words: &[Cell<u32>; 16], closed: &[Pages; RANGES]) -> Result<AxiGuard, Error> {
        // SAFETY: a word for each register, in cells that may be written through a shared reference, which outlive the
        // guard in every test.
        unsafe { AxiGuard::close(words.as_ptr().cast::<u32>().cast_mut(), closed) }
    }

    #[test]
    fn ranges_are_written_and_then_locked() {
        let words = file(ID, 0);
        assert!(close(&words, &CLOSED).is_ok());
        for (index, pages) in CLOSED.iter().enumerate() {
            assert_eq!(words[FIRST + index].get(), pages.first << 12);
            assert_eq!(words[LAST + index].get(), pages.last << 12);
        }
        assert_eq!(words[LOCK].get(), 1);
    }

    #[test]
    fn what_is_no_guard_or_is_locked_is_left_alone() {
        for (id, lock, error) in [(0, 0, Error::NotThere), (ID, 1, Error::Locked)] {
            let words = file(id, lock);
            assert_eq!(close(&words, &CLOSED).err(), Some(error));
            assert!(words[REFUSED..].iter().all(|word| word.get() == 0));
            assert_eq!(words[LOCK].get(), lock);
        }
    }

    #[test]
    fn a_range_that_does_not_arrive_leaves_the_port_closed() {
        // Pages past the address space are cut by the registers.
        let words = file(ID, 0);
        let mut closed = CLOSED;
        closed[3].last = 0x10_0000;
        assert_eq!(close(&words, &closed).err(), Some(Error::Failed));
        assert_eq!(words[LOCK].get(), 0);
    }

    #[test]
    fn what_was_refused_is_cleared() {
        let words = file(ID, 0);
        let mut guard = close(&words, &CLOSED).ok().unwrap();
        words[REFUSED].set(2);
        assert_eq!(guard.take_refused(), (false, true));
        // A one clears: that is what was written.
        assert_eq!(words[REFUSED].get(), 2);
    }
}
