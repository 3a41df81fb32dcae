//! The AXI guard (`hw/ip/axi_guard/doc/README.md`): closes ranges of memory to the managers of a port, until reset.
//!
//! Before the lock no device can access memory. The driver reads back its settings and locks last, so that the port
//! stays closed if a setting was lost.

use hartlock_regs::axi_guard::{AxiGuardFirst, AxiGuardLast, AxiGuardLock, AxiGuardRegisters};

/// Number of ranges of a guard.
pub const RANGES: usize = 4;
/// Value `axig` of the identification register.
const ID: u32 = u32::from_be_bytes(*b"axig");

/// The reason why the port stays closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no guard at this address.
    NotThere,
    /// The guard was already locked, with the ranges of other code.
    Locked,
    /// A range does not read back as it was written.
    Failed,
}

/// A range of 4 KiB pages, given by bits 31 to 12 of their addresses; both ends are included. The range is empty if
/// `first` is greater than `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    /// Number of the first page.
    pub first: u32,
    /// Number of the last page.
    pub last: u32,
}

impl PageRange {
    /// The empty range.
    pub const NONE: Self = Self { first: 0xf_ffff, last: 0 };
}

/// A guard that is locked.
pub struct AxiGuard {
    registers: AxiGuardRegisters,
}

impl AxiGuard {
    /// Closes these ranges, and opens the port for all other addresses. Both remain in effect until reset.
    ///
    /// # Errors
    /// Every error leaves the port closed, unless other code has locked the guard.
    ///
    /// # Safety
    /// `base` is the address of the guard's registers, or reads as zero, and no other code uses them while this value
    /// exists.
    pub unsafe fn close(base: *mut u32, closed: &[PageRange; RANGES]) -> Result<AxiGuard, Error> {
        // SAFETY: the caller guarantees what the register block requires.
        let registers = unsafe { AxiGuardRegisters::new(base) };
        if registers.id().read() != ID {
            return Err(Error::NotThere);
        }
        if registers.lock().read().locked() {
            return Err(Error::Locked);
        }
        let ends = || registers.first().iter().zip(registers.last().iter()).zip(closed);
        for ((first, last), pages) in ends() {
            first.write(AxiGuardFirst::RESET.with_page(pages.first));
            last.write(AxiGuardLast::RESET.with_page(pages.last));
        }
        let is_as_written = ends().all(|((first, last), pages)| {
            (first.read().page(), last.read().page()) == (pages.first, pages.last)
        });
        if !is_as_written {
            return Err(Error::Failed);
        }
        registers.lock().write(AxiGuardLock::RESET.with_locked(true));
        if !registers.lock().read().locked() {
            return Err(Error::Failed);
        }
        Ok(AxiGuard { registers })
    }

    /// Returns true for a read and for a write, if the guard has refused one since the last call.
    pub fn take_refused(&mut self) -> (bool, bool) {
        let refused = self.registers.refused().read();
        self.registers.refused().write(refused);
        (refused.read(), refused.write())
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers. The tests in `hw/ip/axi_guard/tb` check the hardware.

    use core::cell::Cell;

    use super::*;

    // These are offsets in words.
    const LOCK: usize = 1;
    const REFUSED: usize = 2;
    const FIRST: usize = 8;
    const LAST: usize = 12;

    const CLOSED: [PageRange; RANGES] = [
        PageRange { first: 0x8_0000, last: 0x8_00ff },
        PageRange { first: 0, last: 0xf_ffff },
        PageRange::NONE,
        PageRange { first: 7, last: 7 },
    ];

    fn file(id: u32, lock: u32) -> [Cell<u32>; 16] {
        let words = [const { Cell::new(0) }; 16];
        words[0].set(id);
        words[LOCK].set(lock);
        words
    }

    fn close(words: &[Cell<u32>; 16], closed: &[PageRange; RANGES]) -> Result<AxiGuard, Error> {
        // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
        // outlive the guard in every test.
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
        // The registers truncate page numbers past the address space.
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
        for refused in 0..4 {
            words[REFUSED].set(refused);
            assert_eq!(guard.take_refused(), (refused & 1 != 0, refused & 2 != 0));
            // A bit is cleared by writing one, and this is the value that was written.
            assert_eq!(words[REFUSED].get(), refused);
        }
    }
}
