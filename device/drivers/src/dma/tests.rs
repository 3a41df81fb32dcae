//! In these tests plain memory replaces the registers, and the test changes it as the hardware would. The tests in
//! `hw/ip/dma/tb` check the hardware.

use core::cell::Cell;

use super::*;
use crate::trapped::{RegisterAccess, with_registers};
use crate::wait::{Polling, Sleeping};

const WORDS: usize = 16;
const DONE: u32 = 1;
const ERROR: u32 = 2;
const IDLE: u32 = 1;
const FAILED: u32 = 2;

// These are offsets in words.
const ID: usize = 0;
const PARAMETERS: usize = 1;
const CONTROL: usize = 2;
const LIST: usize = 3;
const COUNT: usize = 4;
const COMMAND: usize = 5;
const STATUS: usize = 6;
const OUTCOME: usize = 7;
const INTERRUPT: usize = 8;
const ENABLE: usize = 9;
const LOCK: usize = 10;
const WINDOWS: usize = 12;

struct FakeDma([Cell<u32>; WORDS]);

impl FakeDma {
    fn idle() -> FakeDma {
        let fake = FakeDma([const { Cell::new(0) }; WORDS]);
        fake.set(ID, MAGIC);
        fake.set(PARAMETERS, 16 << 16 | 8 << 8 | 3);
        fake.set(STATUS, IDLE);
        fake
    }

    fn registers(&self) -> DmaRegisters {
        // SAFETY: the file has a word for each register, in cells that may be written through a shared reference, and
        // outlives the driver in every test.
        unsafe { DmaRegisters::new(self.0.as_ptr().cast::<u32>().cast_mut()) }
    }

    fn set(&self, at: usize, value: u32) {
        self.0.iter().skip(at).take(1).for_each(|cell| cell.set(value));
    }

    fn get(&self, at: usize) -> u32 {
        self.0.iter().skip(at).map(Cell::get).next().unwrap_or_default()
    }
}

fn dma<'a>(fake: &FakeDma, list: &'a mut DescriptorList) -> Dma<'a, Polling> {
    Dma::new(fake.registers(), list, 3 * LIST_LEN, Polling).unwrap()
}

#[test]
fn finds_its_engine_and_a_place_for_lists() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    for offset in [1, 512, 1025, 1 << 16, (1 << 16) + 1024] {
        let made = Dma::new(fake.registers(), &mut list, offset, Polling);
        assert_eq!(made.err(), Some(Error::NotInScratchpad), "{offset}");
    }
    assert!(Dma::new(fake.registers(), &mut list, (1 << 16) - 1024, Polling).is_ok());
    fake.set(STATUS, FAILED);
    assert_eq!(Dma::new(fake.registers(), &mut list, 0, Polling).err(), Some(Error::Failed));
    fake.set(ID, 0);
    assert_eq!(Dma::new(fake.registers(), &mut list, 0, Polling).err(), Some(Error::NoEngine));
}

#[test]
fn writes_a_list_and_rings() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let mut dma = dma(&fake, &mut list);
    // The ranges are unaligned, cross a page, and one has length 0 and an invalid address.
    let ranges = [
        Range { source: 0x8000_0ffd, destination: 0x9000_0001, length: 5000 },
        Range { source: 1, destination: 0xffff_ffff, length: 0 },
        Range { source: 0x8000_3000, destination: 0x9000_2000, length: 1 },
    ];
    fake.set(INTERRUPT, DONE | ERROR);
    dma.start(&ranges, 5, true).unwrap();
    assert_eq!(fake.get(CONTROL), 1 << 8 | 5);
    assert_eq!((fake.get(LIST), fake.get(COUNT), fake.get(COMMAND)), (3 << 10, 3, 1));
    assert_eq!(fake.get(INTERRUPT), DONE | ERROR, "events of the last list are cleared by ones");
    assert_eq!(list.0[0], [5000, 0x8000_0ffd, 0x9000_0001, 0]);
    assert_eq!(list.0[1], [0, 1, 0xffff_ffff, 0]);
    assert_eq!(list.0[2], [1, 0x8000_3000, 0x9000_2000, 0]);
}

#[test]
fn starts_nothing_that_cannot_be_carried_out() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let mut dma = dma(&fake, &mut list);
    assert_eq!(dma.start(&[Range::default(); 65], 1, false), Err(Error::TooLong));
    fake.set(STATUS, 0);
    assert_eq!(dma.start(&[], 1, false), Err(Error::Busy));
    fake.set(STATUS, FAILED);
    assert_eq!(dma.start(&[], 1, false), Err(Error::Failed));
    assert_eq!(fake.get(COMMAND), 0);
    fake.set(STATUS, IDLE);
    assert_eq!(dma.start(&[Range::default(); 64], 1, false), Ok(()));
    assert_eq!((fake.get(COUNT), fake.get(COMMAND)), (64, 1));
}

#[test]
fn tells_what_became_of_a_list() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let mut dma = dma(&fake, &mut list);
    assert_eq!(dma.poll(), Ok(None));
    assert_eq!(dma.finish(10), Err(Error::Silent));
    fake.set(INTERRUPT, DONE);
    assert_eq!(dma.finish(10), Ok(()));
    for (bits, cause) in [(4, DmaCause::Source), (9, DmaCause::Read), (11, DmaCause::Abort)] {
        fake.set(INTERRUPT, ERROR);
        fake.set(OUTCOME, 63 << 8 | bits);
        assert_eq!(dma.finish(0), Err(Error::Refused { cause, index: 63 }));
    }
    // A list that reports both its end and an error has failed.
    fake.set(INTERRUPT, DONE | ERROR);
    assert!(dma.finish(0).is_err());
    fake.set(STATUS, FAILED);
    assert_eq!(dma.finish(0), Err(Error::Failed));
}

#[test]
fn locks_its_windows_or_says_that_others_are_locked() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let mut dma = dma(&fake, &mut list);
    let source = Window { first: 0x80000, last: 0x8ffff };
    assert_eq!(dma.lock(source, Window::EMPTY), Ok(()));
    assert_eq!(fake.get(LOCK), 1);
    let words = [0x8000_0000, 0x8fff_f000, 0xffff_f000, 0];
    for (at, word) in words.into_iter().enumerate() {
        assert_eq!(fake.get(WINDOWS + at), word);
    }
    // Plain memory accepts every value. A page number of more than twenty bits reads back as another window.
    assert_eq!(dma.lock(Window { first: 1 << 20, last: 0 }, source), Err(Error::Locked));
}

#[test]
fn sleeps_until_the_interrupt() {
    std::thread_local!(static SLEEPS: Cell<u32> = const { Cell::new(0) });
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let sleep = Sleeping(|| SLEEPS.with(|sleeps| sleeps.set(sleeps.get() + 1)));
    let mut dma = Dma::new(fake.registers(), &mut list, 0, sleep).unwrap();
    dma.start(&[], 1, false).unwrap();
    assert_eq!(fake.get(ENABLE), DONE | ERROR);
    assert_eq!(dma.finish(4), Err(Error::Silent));
    assert_eq!(SLEEPS.with(Cell::get), 5);
    dma.abort();
    assert_eq!(fake.get(COMMAND), 2);
}

#[test]
fn each_end_of_a_window_and_the_lock_are_read_back() {
    let right = Window { first: 5, last: 9 };
    let lock = |source, destination, lock_bit| {
        let model = |access: RegisterAccess, words: &mut [u32]| {
            (words[ID], words[STATUS], words[PARAMETERS]) = (MAGIC, IDLE, 16 << 16);
            if access == RegisterAccess::Write(4 * LOCK) {
                words[LOCK] &= lock_bit;
            }
        };
        let mut list = DescriptorList::EMPTY;
        with_registers(WORDS, model, |base| {
            // SAFETY: the registers exist as long as the driver.
            let registers = unsafe { DmaRegisters::new(base) };
            Dma::new(registers, &mut list, 0, Polling).unwrap().lock(source, destination)
        })
    };
    assert_eq!(lock(right, right, 1), Ok(()));
    assert_eq!(lock(right, right, 0), Err(Error::Locked));
    // A page number of more than twenty bits reads back as another one.
    for wrong in [Window { first: 1 << 20, ..right }, Window { last: 1 << 20, ..right }] {
        assert_eq!(lock(wrong, right, 1), Err(Error::Locked));
        assert_eq!(lock(right, wrong, 1), Err(Error::Locked));
    }
}

#[test]
fn an_idle_engine_and_an_error_are_seen() {
    let fake = FakeDma::idle();
    let mut list = DescriptorList::EMPTY;
    let dma = dma(&fake, &mut list);
    assert!(dma.is_idle() && !dma.has_error());
    fake.set(INTERRUPT, DONE);
    assert!(!dma.has_error());
    fake.set(INTERRUPT, ERROR);
    fake.set(STATUS, 0);
    assert!(!dma.is_idle() && dma.has_error());
}
