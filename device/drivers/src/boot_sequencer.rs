//! The boot sequencer (`hw/ip/boot_sequencer/doc/README.md`), which releases or refuses the host once.
//!
//! The driver reads the state before it writes. A second decision that bypasses this driver causes a bus error and does
//! not change the first one.

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::boot_sequencer::{
    BootSequencerDecision, BootSequencerRegisters, BootSequencerState, BootSequencerWord,
};

/// The reason why there was no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There was a decision before, which is final.
    Decided,
    /// The hardware stopped in an illegal state, or the root of trust stopped itself. The host is in reset until a
    /// reset of the whole system.
    Fault,
}

/// The boot sequencer, which holds the host in reset.
pub struct BootSequencer {
    registers: BootSequencerRegisters,
}

impl BootSequencer {
    /// Creates the driver of the sequencer at this address.
    ///
    /// # Safety
    /// `base` is the address of the sequencer's registers, and no other code uses them while this value exists.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> BootSequencer {
        // SAFETY: the caller guarantees what the register block requires: the registers exist, and only this driver
        // uses them.
        BootSequencer { registers: unsafe { BootSequencerRegisters::new(base) } }
    }

    /// Releases the host from reset. Its program must be in memory before this call.
    ///
    /// # Errors
    /// An error if there was a decision before, or if none is possible any more. Then nothing was changed.
    pub fn release(&mut self) -> Result<(), Error> {
        self.decide(BootSequencerWord::Release, 0)
    }

    /// Keeps the host in reset and records the number of the reason.
    ///
    /// # Errors
    /// The same as those of a release.
    pub fn refuse(&mut self, reason: u32) -> Result<(), Error> {
        self.decide(BootSequencerWord::Refuse, reason)
    }

    /// Releases the host from reset but lets every instruction fetch of the host fail. Records the number of the
    /// reason.
    ///
    /// # Errors
    /// The same as those of a release.
    pub fn trap(&mut self, reason: u32) -> Result<(), Error> {
        self.decide(BootSequencerWord::Trap, reason)
    }

    /// Returns the decision. An undefined number counts as an error.
    #[must_use]
    pub fn state(&self) -> BootSequencerState {
        self.registers.status().read().state().unwrap_or(BootSequencerState::Error)
    }

    /// Returns the number of the reason, or 0 if there is none.
    #[must_use]
    pub fn reason(&self) -> u32 {
        self.registers.reason().read()
    }

    fn decide(&mut self, word: BootSequencerWord, reason: u32) -> Result<(), Error> {
        match self.state() {
            BootSequencerState::Held => {}
            BootSequencerState::Released
            | BootSequencerState::Refused
            | BootSequencerState::Trapped => return Err(Error::Decided),
            BootSequencerState::Error | BootSequencerState::Stopped => return Err(Error::Fault),
        }
        // The decision makes the reason final.
        self.registers.reason().write(reason);
        // The fence orders all writes to memory before the release, because the host reads them.
        fence(Ordering::SeqCst);
        self.registers.decision().write(BootSequencerDecision::RESET.with_word(word));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers. The tests in `hw/ip/boot_sequencer/tb` check the hardware.

    use core::cell::Cell;

    use super::*;

    // These are offsets in words.
    const DECISION: usize = 0;
    const REASON: usize = 1;
    const STATUS: usize = 2;
    /// A value that is not a word of any decision.
    const UNTOUCHED: u32 = 0xdead_beef;

    struct FakeBootSequencer([Cell<u32>; 3]);

    impl FakeBootSequencer {
        fn with_status(status: u32) -> FakeBootSequencer {
            FakeBootSequencer([UNTOUCHED, UNTOUCHED, status].map(Cell::new))
        }

        fn sequencer(&self) -> BootSequencer {
            let base = self.0.as_ptr().cast::<u32>().cast_mut();
            // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
            // outlive the sequencer in every test.
            unsafe { BootSequencer::new(base) }
        }

        fn word(&self, at: usize) -> u32 {
            self.0[at].get()
        }
    }

    type Call = fn(&mut BootSequencer) -> Result<(), Error>;

    const CALLS: [(Call, BootSequencerWord, u32); 3] = [
        (|sequencer| sequencer.release(), BootSequencerWord::Release, 0),
        (|sequencer| sequencer.refuse(603), BootSequencerWord::Refuse, 603),
        (|sequencer| sequencer.trap(604), BootSequencerWord::Trap, 604),
    ];

    #[test]
    fn a_decision_comes_with_its_reason() {
        for (call, word, reason) in CALLS {
            let fake = FakeBootSequencer::with_status(BootSequencerState::Held as u32);
            assert_eq!(call(&mut fake.sequencer()), Ok(()));
            assert_eq!((fake.word(DECISION), fake.word(REASON)), (word as u32, reason));
            assert_eq!(fake.sequencer().reason(), reason);
        }
    }

    #[test]
    fn what_is_decided_is_not_written_again() {
        for state in
            [BootSequencerState::Released, BootSequencerState::Refused, BootSequencerState::Trapped]
        {
            for (call, ..) in CALLS {
                let fake = FakeBootSequencer::with_status(state as u32);
                assert_eq!(call(&mut fake.sequencer()), Err(Error::Decided));
                assert_eq!((fake.word(DECISION), fake.word(REASON)), (UNTOUCHED, UNTOUCHED));
            }
        }
    }

    #[test]
    fn nothing_is_asked_of_hardware_that_stopped() {
        for status in [BootSequencerState::Error as u32, BootSequencerState::Stopped as u32, 6, 7] {
            for (call, ..) in CALLS {
                let fake = FakeBootSequencer::with_status(status);
                assert_eq!(call(&mut fake.sequencer()), Err(Error::Fault));
                assert_eq!((fake.word(DECISION), fake.word(REASON)), (UNTOUCHED, UNTOUCHED));
                let state =
                    BootSequencerState::from_bits(status).unwrap_or(BootSequencerState::Error);
                assert_eq!(fake.sequencer().state(), state);
            }
        }
    }

    #[test]
    fn words_are_far_from_each_other_and_from_nothing() {
        let words = [
            BootSequencerWord::Release,
            BootSequencerWord::Refuse,
            BootSequencerWord::Trap,
            BootSequencerWord::Stop,
        ]
        .map(|word| word as u32);
        let words = [&words[..], &[0, u32::MAX]].concat();
        for (index, one) in words.iter().enumerate() {
            assert!(words[..index].iter().all(|other| (one ^ other).count_ones() >= 16));
        }
    }

    #[test]
    fn states_are_told_apart() {
        for (bits, state) in (0..).zip([
            BootSequencerState::Held,
            BootSequencerState::Released,
            BootSequencerState::Refused,
            BootSequencerState::Trapped,
        ]) {
            let fake = FakeBootSequencer::with_status(bits);
            assert_eq!(fake.sequencer().state(), state);
            assert_eq!(fake.word(STATUS), bits);
        }
    }
}
