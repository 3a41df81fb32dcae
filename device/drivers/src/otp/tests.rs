//! In these tests plain memory replaces the registers. The tests in `hw/ip/otp/tb` check the hardware.

use core::cell::Cell;
use std::vec::Vec;

use super::*;

// These are offsets in words.
const STATUS: usize = 1;
const FIELDS: usize = 2;
const LOCKS: usize = 3;
const PROGRESS: usize = 5;
const HIDE: usize = 6;
const LATCH: usize = 7;
const DATA: usize = 8;
const BURN: usize = 9;
const SEND: usize = 10;
const ROWS: usize = 128;
/// A value that the driver never writes.
const UNTOUCHED: u32 = 0xdead_beef;
const IDLE: u32 = 1 << 8;

struct File(Vec<Cell<u32>>);

impl File {
    /// Returns a device in this lifecycle state, with all fields good, whose last burn had this outcome.
    fn new(verdict: OtpVerdict, lifecycle: OtpLifecycle, outcome: OtpOutcome) -> File {
        let file = File((0..256).map(|_| Cell::new(UNTOUCHED)).collect());
        file.set(STATUS, verdict as u32 | (lifecycle as u32) << 16);
        file.set(FIELDS, 0x3ff);
        file.set(LOCKS, 0);
        file.set(PROGRESS, IDLE | outcome as u32);
        for row in 0..128 {
            file.set(ROWS + row, 0x0101_0101 * u32::try_from(row).unwrap());
        }
        file
    }

    fn good() -> File {
        File::new(OtpVerdict::Ready, OtpLifecycle::Production, OtpOutcome::Done)
    }

    fn set(&self, at: usize, value: u32) {
        self.0[at].set(value);
    }

    fn word(&self, at: usize) -> u32 {
        self.0[at].get()
    }

    fn otp(&self) -> Otp {
        let base = self.0.as_ptr().cast::<u32>().cast_mut();
        // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
        // outlive the driver in every test.
        unsafe { Otp::new(base) }
    }
}

const SLOTS: [Slot; 4] = [Slot::Zero, Slot::One, Slot::Two, Slot::Three];

#[test]
fn fields_are_read_from_their_rows() {
    let file = File::good();
    for (field, row) in [
        (Field::RootKey(Slot::Zero), 32u8),
        (Field::RootKey(Slot::Three), 56),
        (Field::Board, 24),
        (Field::Secret, 64),
        (Field::Key(Slot::Zero), 72),
        (Field::Key(Slot::Three), 96),
    ] {
        let bytes = file.otp().read(field).unwrap();
        for (index, byte) in (0u8..).zip(bytes) {
            assert_eq!(byte, row + index / 4, "{field:?}");
        }
    }
    for (index, slot) in (16u32..).zip(SLOTS) {
        assert_eq!(file.otp().key_type(slot), Ok(0x0101_0101 * index));
    }
}

#[test]
fn what_hardware_would_refuse_is_not_asked_for() {
    let file = File::good();
    file.set(FIELDS, 0x3ff & !(1 << 4) | 1 << 25);
    assert_eq!(file.otp().read(Field::Board), Err(Error::Closed));
    assert_eq!(file.otp().read(Field::Secret), Err(Error::Closed));
    assert_eq!(file.otp().send(Field::Secret, 0), Err(Error::Closed));
    assert_eq!(file.otp().send(Field::Board, 0), Err(Error::Closed));
    assert!(file.otp().read(Field::Key(Slot::Zero)).is_ok());
    for (verdict, lifecycle) in [
        (OtpVerdict::Failed, OtpLifecycle::Production),
        (OtpVerdict::Loading, OtpLifecycle::Production),
        (OtpVerdict::Ready, OtpLifecycle::Development),
        (OtpVerdict::Ready, OtpLifecycle::Returned),
    ] {
        let file = File::new(verdict, lifecycle, OtpOutcome::Done);
        for field in [Field::Secret, Field::Key(Slot::Two)] {
            assert_eq!(file.otp().read(field), Err(Error::Closed));
            assert_eq!(file.otp().send(field, 1), Err(Error::Closed));
        }
        assert!(file.otp().read(Field::RootKey(Slot::One)).is_ok());
        assert_eq!(file.word(SEND), UNTOUCHED);
    }
}

#[test]
fn latches_are_single_bits() {
    let file = File::good();
    file.otp().hide(Field::Secret);
    assert_eq!(file.word(HIDE), 1 << 5);
    file.otp().close(Field::Key(Slot::Three));
    assert_eq!(file.word(LATCH), 1 << 9);
    file.otp().close_flags(Flags::Floor);
    assert_eq!(file.word(LATCH), 1 << 12);
}

#[test]
fn a_key_is_sent_to_its_engine() {
    let file = File::good();
    assert_eq!(file.otp().send(Field::Key(Slot::One), 3), Ok(()));
    assert_eq!(file.word(SEND), 2 | 3 << 8);
    file.set(PROGRESS, IDLE | 1 << 9);
    assert_eq!(file.otp().send(Field::Secret, 0), Err(Error::Fault));
}

#[test]
fn burns_are_unlocked_and_told() {
    let file = File::new(OtpVerdict::Ready, OtpLifecycle::Development, OtpOutcome::Done);
    assert_eq!(file.otp().burn(Field::Board, &[7; FIELD_BYTES]), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (0x0707_0707, 0xb1a5_0000 | 31));
    assert_eq!(file.otp().burn_key_type(Slot::Two, 0x1100_0001), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (0x1100_0001, 0xb1a5_0000 | 18));
    assert_eq!(file.otp().step(Step::Production), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (2, 0xb1a5_0000));
    assert_eq!(file.otp().revoke(Slot::Three), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (3, 0xb1a5_0001));
    assert_eq!(file.otp().lock(Field::Key(Slot::Two)), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (0, 0xb1a5_0003));
    assert_eq!(file.otp().lock_flags(Flags::Locks), Ok(()));
    assert_eq!((file.word(DATA), file.word(BURN)), (5, 0xb1a5_0003));
    for outcome in [OtpOutcome::Conflict, OtpOutcome::Verify, OtpOutcome::Order] {
        let file = File::new(OtpVerdict::Failed, OtpLifecycle::Development, outcome);
        assert_eq!(file.otp().burn_key_type(Slot::Zero, 1), Err(Error::Burn(outcome)));
    }
}

#[test]
fn burns_that_would_be_refused_are_not_asked_for() {
    let file = File::new(OtpVerdict::Ready, OtpLifecycle::Development, OtpOutcome::Done);
    file.set(LOCKS, 1 << 4 | 1 << 12);
    file.set(FIELDS, 1 << 25);
    let locked = Err(Error::Burn(OtpOutcome::Locked));
    assert_eq!(file.otp().burn(Field::Board, &[0; FIELD_BYTES]), locked);
    assert_eq!(file.otp().burn(Field::Secret, &[0; FIELD_BYTES]), locked);
    assert_eq!(file.otp().raise_floor(1), locked);
    let later = Err(Error::Burn(OtpOutcome::Lifecycle));
    let file = File::good();
    assert_eq!(file.otp().burn(Field::Secret, &[0; FIELD_BYTES]), later);
    let file = File::new(OtpVerdict::Failed, OtpLifecycle::Blank, OtpOutcome::Done);
    assert_eq!(file.otp().revoke(Slot::Zero), later);
    let file = File::good();
    file.set(PROGRESS, OtpOutcome::Busy as u32);
    assert_eq!(file.otp().revoke(Slot::Zero), Err(Error::Fault));
    let upset = File::good();
    upset.set(STATUS, OtpVerdict::Failed as u32 | (OtpReason::Upset as u32) << 4);
    assert_eq!(upset.otp().revoke(Slot::Zero), Err(Error::Fault));
    for file in [file, upset] {
        assert_eq!((file.word(DATA), file.word(BURN)), (UNTOUCHED, UNTOUCHED));
    }
}

#[test]
fn a_floor_that_does_not_rise_ends() {
    let file = File::good();
    // The floor in memory stays 0, whatever is burned.
    assert_eq!(file.otp().raise_floor(3), Err(Error::Fault));
    assert_eq!(file.otp().raise_floor(0), Ok(()));
    assert_eq!(file.otp().raise_floor(65), Err(Error::Burn(OtpOutcome::Order)));
    file.set(STATUS, OtpVerdict::Ready as u32 | 3 << 16 | 9 << 24);
    file.set(BURN, UNTOUCHED);
    assert_eq!(file.otp().raise_floor(9), Ok(()));
    assert_eq!(file.word(BURN), UNTOUCHED);
    assert_eq!(file.otp().raise_floor(10), Err(Error::Fault));
    assert_eq!((file.word(DATA), file.word(BURN)), (1, 0xb1a5_0005));
}

#[test]
fn undefined_numbers_are_failures() {
    let file = File::good();
    file.set(STATUS, 3 | 15 << 4 | 6 << 16);
    assert!(!file.otp().is_ready());
    assert_eq!(file.otp().reason().0, OtpReason::Upset);
    assert_eq!(file.otp().lifecycle(), OtpLifecycle::Invalid);
}
