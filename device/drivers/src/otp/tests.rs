//! In these tests plain memory replaces the registers. The tests in `hw/ip/otp/tb` check the hardware.

use core::cell::Cell;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_registers};

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

struct FakeOtp(Vec<Cell<u32>>);

impl FakeOtp {
    /// Returns a device in this lifecycle state, with all fields good, whose last burn had this outcome.
    fn new(verdict: OtpVerdict, lifecycle: OtpLifecycle, outcome: OtpOutcome) -> FakeOtp {
        let fake = FakeOtp((0..256).map(|_| Cell::new(UNTOUCHED)).collect());
        fake.set(STATUS, verdict as u32 | (lifecycle as u32) << 16);
        fake.set(FIELDS, 0x3ff);
        fake.set(LOCKS, 0);
        fake.set(PROGRESS, IDLE | outcome as u32);
        for row in 0..128 {
            fake.set(ROWS + row, 0x0101_0101 * u32::try_from(row).unwrap());
        }
        fake
    }

    fn good() -> FakeOtp {
        FakeOtp::new(OtpVerdict::Ready, OtpLifecycle::Production, OtpOutcome::Done)
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

const SLOTS: [OtpSlot; 4] = [OtpSlot::Zero, OtpSlot::One, OtpSlot::Two, OtpSlot::Three];

#[test]
fn fields_are_read_from_their_rows() {
    let fake = FakeOtp::good();
    for (field, row) in [
        (Field::RootKey(OtpSlot::Zero), 32u8),
        (Field::RootKey(OtpSlot::Three), 56),
        (Field::Board, 24),
        (Field::Secret, 64),
        (Field::Key(OtpSlot::Zero), 72),
        (Field::Key(OtpSlot::Three), 96),
    ] {
        let bytes = fake.otp().read(field).unwrap();
        for (index, byte) in (0u8..).zip(bytes) {
            assert_eq!(byte, row + index / 4, "{field:?}");
        }
    }
    for (index, slot) in (16u32..).zip(SLOTS) {
        assert_eq!(fake.otp().key_type(slot), Ok(0x0101_0101 * index));
    }
}

#[test]
fn what_hardware_would_refuse_is_not_asked_for() {
    let fake = FakeOtp::good();
    fake.set(FIELDS, 0x3ff & !(1 << 4) | 1 << 25);
    assert_eq!(fake.otp().read(Field::Board), Err(Error::Closed));
    assert_eq!(fake.otp().read(Field::Secret), Err(Error::Closed));
    assert_eq!(fake.otp().send(Field::Secret, 0), Err(Error::Closed));
    assert_eq!(fake.otp().send(Field::Board, 0), Err(Error::Closed));
    assert!(fake.otp().read(Field::Key(OtpSlot::Zero)).is_ok());
    for (verdict, lifecycle) in [
        (OtpVerdict::Failed, OtpLifecycle::Production),
        (OtpVerdict::Loading, OtpLifecycle::Production),
        (OtpVerdict::Ready, OtpLifecycle::Development),
        (OtpVerdict::Ready, OtpLifecycle::Returned),
    ] {
        let fake = FakeOtp::new(verdict, lifecycle, OtpOutcome::Done);
        for field in [Field::Secret, Field::Key(OtpSlot::Two)] {
            assert_eq!(fake.otp().read(field), Err(Error::Closed));
            assert_eq!(fake.otp().send(field, 1), Err(Error::Closed));
        }
        assert!(fake.otp().read(Field::RootKey(OtpSlot::One)).is_ok());
        assert_eq!(fake.word(SEND), UNTOUCHED);
    }
}

#[test]
fn latches_are_single_bits() {
    let fake = FakeOtp::good();
    fake.otp().hide(Field::Secret);
    assert_eq!(fake.word(HIDE), 1 << 5);
    fake.otp().close(Field::Key(OtpSlot::Three));
    assert_eq!(fake.word(LATCH), 1 << 9);
    fake.otp().close_flags(Flags::Floor);
    assert_eq!(fake.word(LATCH), 1 << 12);
}

#[test]
fn a_key_is_sent_to_its_engine() {
    let fake = FakeOtp::good();
    assert_eq!(fake.otp().send(Field::Key(OtpSlot::One), 3), Ok(()));
    assert_eq!(fake.word(SEND), 2 | 3 << 8);
    fake.set(PROGRESS, IDLE | 1 << 9);
    assert_eq!(fake.otp().send(Field::Secret, 0), Err(Error::Fault));
}

#[test]
fn burns_are_unlocked_and_told() {
    let fake = FakeOtp::new(OtpVerdict::Ready, OtpLifecycle::Development, OtpOutcome::Done);
    assert_eq!(fake.otp().burn(Field::Board, &[7; FIELD_BYTES]), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (0x0707_0707, 0xb1a5_0000 | 31));
    assert_eq!(fake.otp().burn_key_type(OtpSlot::Two, 0x1100_0001), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (0x1100_0001, 0xb1a5_0000 | 18));
    assert_eq!(fake.otp().step(LifecycleStep::Production), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (2, 0xb1a5_0000));
    assert_eq!(fake.otp().revoke(OtpSlot::Three), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (3, 0xb1a5_0001));
    assert_eq!(fake.otp().lock(Field::Key(OtpSlot::Two)), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (0, 0xb1a5_0003));
    assert_eq!(fake.otp().lock_flags(Flags::Locks), Ok(()));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (5, 0xb1a5_0003));
    for outcome in [OtpOutcome::Conflict, OtpOutcome::Verify, OtpOutcome::Order] {
        let fake = FakeOtp::new(OtpVerdict::Failed, OtpLifecycle::Development, outcome);
        assert_eq!(fake.otp().burn_key_type(OtpSlot::Zero, 1), Err(Error::Burn(outcome)));
    }
}

#[test]
fn burns_that_would_be_refused_are_not_asked_for() {
    let fake = FakeOtp::new(OtpVerdict::Ready, OtpLifecycle::Development, OtpOutcome::Done);
    fake.set(LOCKS, 1 << 4 | 1 << 12);
    fake.set(FIELDS, 1 << 25);
    let locked = Err(Error::Burn(OtpOutcome::Locked));
    assert_eq!(fake.otp().burn(Field::Board, &[0; FIELD_BYTES]), locked);
    assert_eq!(fake.otp().burn(Field::Secret, &[0; FIELD_BYTES]), locked);
    assert_eq!(fake.otp().raise_floor(1), locked);
    let later = Err(Error::Burn(OtpOutcome::Lifecycle));
    let fake = FakeOtp::good();
    assert_eq!(fake.otp().burn(Field::Secret, &[0; FIELD_BYTES]), later);
    let fake = FakeOtp::new(OtpVerdict::Failed, OtpLifecycle::Blank, OtpOutcome::Done);
    assert_eq!(fake.otp().revoke(OtpSlot::Zero), later);
    let fake = FakeOtp::good();
    fake.set(PROGRESS, OtpOutcome::Busy as u32);
    assert_eq!(fake.otp().revoke(OtpSlot::Zero), Err(Error::Fault));
    let upset = FakeOtp::good();
    upset.set(STATUS, OtpVerdict::Failed as u32 | (OtpReason::Upset as u32) << 4);
    assert_eq!(upset.otp().revoke(OtpSlot::Zero), Err(Error::Fault));
    for fake in [fake, upset] {
        assert_eq!((fake.word(DATA), fake.word(BURN)), (UNTOUCHED, UNTOUCHED));
    }
}

#[test]
fn a_floor_that_does_not_rise_ends() {
    let fake = FakeOtp::good();
    // The floor in memory stays 0, whatever is burned.
    assert_eq!(fake.otp().raise_floor(3), Err(Error::Fault));
    assert_eq!(fake.otp().raise_floor(0), Ok(()));
    assert_eq!(fake.otp().raise_floor(65), Err(Error::Burn(OtpOutcome::Order)));
    fake.set(STATUS, OtpVerdict::Ready as u32 | 3 << 16 | 9 << 24);
    fake.set(BURN, UNTOUCHED);
    assert_eq!(fake.otp().raise_floor(9), Ok(()));
    assert_eq!(fake.word(BURN), UNTOUCHED);
    assert_eq!(fake.otp().raise_floor(10), Err(Error::Fault));
    assert_eq!((fake.word(DATA), fake.word(BURN)), (1, 0xb1a5_0005));
}

#[test]
fn undefined_numbers_are_failures() {
    let fake = FakeOtp::good();
    fake.set(STATUS, 3 | 15 << 4 | 6 << 16);
    assert!(!fake.otp().is_ready());
    assert_eq!(fake.otp().reason().0, OtpReason::Upset);
    assert_eq!(fake.otp().lifecycle(), OtpLifecycle::Invalid);
}

/// Each field with its number, and each group of flags.
const FIELD_NUMBERS: [(Field, u8); 10] = [
    (Field::RootKey(OtpSlot::Zero), 0),
    (Field::RootKey(OtpSlot::One), 1),
    (Field::RootKey(OtpSlot::Two), 2),
    (Field::RootKey(OtpSlot::Three), 3),
    (Field::Board, 4),
    (Field::Secret, 5),
    (Field::Key(OtpSlot::Zero), 6),
    (Field::Key(OtpSlot::One), 7),
    (Field::Key(OtpSlot::Two), 8),
    (Field::Key(OtpSlot::Three), 9),
];

#[test]
fn a_field_is_open_by_its_own_bits() {
    for (field, number) in FIELD_NUMBERS {
        let fake = FakeOtp::good();
        let bit = 1 << number;
        for (fields, is_open) in [
            (bit, true),
            (0x3ff ^ bit, false),
            (0x3ff | bit << 20, false),
            (0x3ff | (0x3ff ^ bit) << 20, true),
        ] {
            fake.set(FIELDS, fields);
            assert_eq!(fake.otp().read(field).is_ok(), is_open, "{field:?} {fields:#x}");
        }
        let burn = |lifecycle, locks, fields| {
            let fake = FakeOtp::new(OtpVerdict::Ready, lifecycle, OtpOutcome::Done);
            fake.set(LOCKS, locks);
            fake.set(FIELDS, fields);
            fake.otp().burn(field, &[0; FIELD_BYTES])
        };
        let locked = Err(Error::Burn(OtpOutcome::Locked));
        let later = Err(Error::Burn(OtpOutcome::Lifecycle));
        assert_eq!(burn(OtpLifecycle::Test, bit, 0), locked);
        assert_eq!(burn(OtpLifecycle::Test, 0, bit << 20), locked);
        assert_eq!(burn(OtpLifecycle::Test, 0x3fff ^ bit, (0x3ff ^ bit) << 20), Ok(()));
        assert_eq!(burn(OtpLifecycle::Development, 0, 0), Ok(()));
        let is_secret = (5..10).contains(&number);
        assert_eq!(burn(OtpLifecycle::Production, 0, 0), if is_secret { later } else { Ok(()) });
        for lifecycle in [OtpLifecycle::Blank, OtpLifecycle::Returned, OtpLifecycle::Scrapped] {
            assert_eq!(burn(lifecycle, 0, 0), later);
        }
    }
}

#[test]
fn flags_are_burned_by_their_own_locks() {
    for number in 10..14 {
        for lifecycle in [OtpLifecycle::Production, OtpLifecycle::Returned] {
            let burn = |locks| {
                let fake = FakeOtp::new(OtpVerdict::Ready, lifecycle, OtpOutcome::Done);
                fake.set(LOCKS, locks);
                match number {
                    10 => fake.otp().step(LifecycleStep::Scrapped),
                    11 => fake.otp().revoke(OtpSlot::One),
                    12 => fake.otp().raise_floor(0).and_then(|()| fake.otp().raise_floor(1)),
                    _ => fake.otp().lock(Field::Board),
                }
            };
            assert_eq!(burn(1 << number), Err(Error::Burn(OtpOutcome::Locked)), "{number}");
            // The lifecycle advances in every state; plain memory has no floor that rises.
            let wanted = match number {
                10 => Ok(()),
                _ if lifecycle == OtpLifecycle::Returned => Err(Error::Burn(OtpOutcome::Lifecycle)),
                12 => Err(Error::Fault),
                _ => Ok(()),
            };
            assert_eq!(burn(0x3fff ^ 1 << number), wanted, "{number}");
        }
    }
}

#[test]
fn states_are_read_from_their_bits() {
    let fake = FakeOtp::good();
    let otp = fake.otp();
    fake.set(STATUS, 2 | 7 << 4 | 99 << 8 | 3 << 16 | 64 << 24);
    assert_eq!((otp.reason(), otp.floor()), ((OtpReason::Mixed, 99), 64));
    fake.set(STATUS + 3, 99 << 8 | 250);
    assert_eq!(otp.corrected(), 250);
    for (number, slot) in SLOTS.into_iter().enumerate() {
        for revoked in 0..16 {
            fake.set(LOCKS, revoked << 16 | 0x3fff);
            assert_eq!(otp.is_revoked(slot), revoked >> number & 1 != 0);
        }
    }
    fake.set(STATUS, OtpVerdict::Ready as u32);
    assert!(otp.is_ready());
}

/// A device in production whose burns and transfers take some reads of the progress. Returns the rows and data that
/// `act` burns.
fn slow<T>(act: impl FnOnce(&mut Otp) -> T) -> (T, Vec<(u32, u32)>) {
    let mut burned = Vec::new();
    let (mut busy, mut floor) = (0, 0);
    let model = |access: RegisterAccess, words: &mut [u32]| {
        match access {
            RegisterAccess::Write(at) if at / 4 == BURN => {
                burned.push((words[BURN] & 0x7f, if busy == 0 { words[DATA] } else { UNTOUCHED }));
                floor += u32::from((4..12).contains(&(words[BURN] & 0x7f)));
                busy = 3;
            }
            RegisterAccess::Write(at) if at / 4 == SEND => busy = 3,
            RegisterAccess::Read(at) if at / 4 == PROGRESS => busy = u32::max(busy, 1) - 1,
            _ => {}
        }
        words[STATUS] = OtpVerdict::Ready as u32 | 3 << 16 | floor << 24;
        words[FIELDS] = 0x3ff;
        words[PROGRESS] = if busy == 0 { IDLE | OtpOutcome::Done as u32 } else { 1 << 9 };
    };
    // SAFETY: the registers exist as long as the driver.
    let result = with_registers(256, model, |base| act(&mut unsafe { Otp::new(base) }));
    (result, burned)
}

#[test]
fn a_floor_rises_by_one_flag_after_the_other() {
    let (result, burned) = slow(|otp| (otp.raise_floor(64), otp.raise_floor(64), otp.floor()));
    assert_eq!(result, (Ok(()), Ok(()), 64));
    let flags = (0..64).map(|step| (4 + step / 8, step % 8));
    assert_eq!(burned, flags.collect::<Vec<_>>());
}

#[test]
fn a_burn_and_a_transfer_are_waited_for() {
    let bytes = core::array::from_fn(|at| at as u8);
    let (result, burned) = slow(|otp| {
        let sent = otp.send(Field::Key(OtpSlot::Two), 1);
        let is_waited_for = !otp.registers.progress().read().sending();
        (sent, is_waited_for, otp.burn(Field::RootKey(OtpSlot::One), &bytes))
    });
    assert_eq!(result, (Ok(()), true, Ok(())));
    let words = (0..8).map(|at| (40 + at, 0x0302_0100 + 0x0404_0404 * at));
    assert_eq!(burned, words.collect::<Vec<_>>());
}
