//! In these tests plain memory replaces the registers, and the test changes it as the hardware would. The tests in
//! `hw/ip/stream_writer/tb` check the hardware.

use core::cell::Cell;

use super::*;
use crate::trapped::{RegisterAccess, with_registers};
use crate::wait::{Polling, Sleeping};

const WORDS: usize = 11;
// These are offsets in words.
const ID: usize = 0;
const DESTINATION: usize = 1;
const LENGTH: usize = 2;
const COMMAND: usize = 3;
const STATUS: usize = 4;
const OUTCOME: usize = 5;
const INTERRUPT: usize = 6;
const ENABLE: usize = 7;
const LOCK: usize = 8;
const WINDOW: usize = 9;

const IDLE: u32 = 1;
const FAILED: u32 = 2;
const DONE: u32 = 1;
const ERROR: u32 = 2;

struct FakeStreamWriter([Cell<u32>; WORDS]);

impl FakeStreamWriter {
    fn idle() -> FakeStreamWriter {
        let fake = FakeStreamWriter([const { Cell::new(0) }; WORDS]);
        fake.set(ID, MAGIC);
        fake.set(STATUS, IDLE);
        fake
    }

    fn registers(&self) -> StreamWriterRegisters {
        // SAFETY: the file has a word for each register, in cells that may be written through a shared reference, and
        // outlives the driver in every test.
        unsafe { StreamWriterRegisters::new(self.0.as_ptr().cast::<u32>().cast_mut()) }
    }

    fn set(&self, at: usize, value: u32) {
        self.0.iter().skip(at).take(1).for_each(|cell| cell.set(value));
    }

    fn get(&self, at: usize) -> u32 {
        self.0.iter().skip(at).map(Cell::get).next().unwrap_or_default()
    }
}

fn writer(fake: &FakeStreamWriter) -> StreamWriter<Polling> {
    StreamWriter::new(fake.registers(), Polling).unwrap()
}

#[test]
fn finds_its_writer() {
    let fake = FakeStreamWriter::idle();
    assert!(StreamWriter::new(fake.registers(), Polling).is_ok());
    fake.set(STATUS, FAILED);
    assert_eq!(StreamWriter::new(fake.registers(), Polling).err(), Some(Error::Failed));
    fake.set(ID, 0);
    assert_eq!(StreamWriter::new(fake.registers(), Polling).err(), Some(Error::NoWriter));
}

#[test]
fn locks_its_window_and_notices_another() {
    let fake = FakeStreamWriter::idle();
    let mut writer = writer(&fake);
    let window = Window { first: 0x80000, last: 0x8ffff };
    writer.lock(window).unwrap();
    assert_eq!((fake.get(WINDOW), fake.get(WINDOW + 1)), (0x8000_0000, 0x8fff_f000));
    assert_eq!(fake.get(LOCK), 1);
}

#[test]
fn starts_a_stream_at_any_offset() {
    let fake = FakeStreamWriter::idle();
    let mut writer = StreamWriter::new(fake.registers(), Sleeping(|| ())).unwrap();
    for (destination, length) in [(0x8000_0000, 64), (0x8000_0ffd, 1), (0xffff_ffff, u32::MAX)] {
        fake.set(INTERRUPT, DONE);
        writer.start(destination, length).unwrap();
        assert_eq!((fake.get(DESTINATION), fake.get(LENGTH)), (destination, length));
        assert_eq!((fake.get(COMMAND), fake.get(ENABLE)), (1, DONE | ERROR));
        assert_eq!(fake.get(INTERRUPT), DONE, "events before it are cleared by ones");
    }
    writer.abort();
    assert_eq!(fake.get(COMMAND), 2);
}

#[test]
fn starts_nothing_beside_another_stream() {
    let fake = FakeStreamWriter::idle();
    let mut writer = writer(&fake);
    fake.set(STATUS, 0);
    assert_eq!(writer.start(0, 1), Err(Error::Busy));
    assert!(!writer.is_idle());
    fake.set(STATUS, FAILED);
    assert_eq!(writer.start(0, 1), Err(Error::Failed));
    assert_eq!(fake.get(COMMAND), 0);
    // The writer itself refuses a range.
    fake.set(STATUS, IDLE);
    fake.set(INTERRUPT, ERROR);
    fake.set(OUTCOME, StreamWriterCause::Window as u32);
    assert_eq!(writer.start(0, 1), Err(Error::Refused(StreamWriterCause::Window)));
}

#[test]
fn tells_what_became_of_a_stream() {
    let fake = FakeStreamWriter::idle();
    let mut writer = writer(&fake);
    assert_eq!(writer.poll(), Ok(None));
    fake.set(INTERRUPT, DONE);
    assert_eq!(writer.poll(), Ok(Some(())));
    for (bits, cause) in [
        (3, StreamWriterCause::Length),
        (4, StreamWriterCause::Write),
        (5, StreamWriterCause::Stream),
        (0, StreamWriterCause::None),
    ] {
        fake.set(INTERRUPT, ERROR);
        fake.set(OUTCOME, bits);
        assert_eq!(writer.poll(), Err(Error::Refused(cause)));
    }
    for status in [FAILED, 0] {
        fake.set(STATUS, status);
        fake.set(INTERRUPT, DONE);
        assert_eq!(writer.poll(), Err(Error::Failed), "an event alone is no message");
    }
}

#[test]
fn each_end_of_the_window_and_the_lock_are_read_back() {
    let right = Window { first: 5, last: 9 };
    let lock = |window, lock_bit| {
        let model = |access: RegisterAccess, words: &mut [u32]| {
            (words[ID], words[STATUS]) = (MAGIC, IDLE);
            if access == RegisterAccess::Write(4 * LOCK) {
                words[LOCK] &= lock_bit;
            }
        };
        with_registers(16, model, |base| {
            // SAFETY: the registers exist as long as the driver.
            let registers = unsafe { StreamWriterRegisters::new(base) };
            StreamWriter::new(registers, Polling).unwrap().lock(window)
        })
    };
    assert_eq!((lock(right, 1), lock(right, 0)), (Ok(()), Err(Error::Locked)));
    for wrong in [Window { first: 1 << 20, ..right }, Window { last: 1 << 20, ..right }] {
        assert_eq!(lock(wrong, 1), Err(Error::Locked));
    }
}

#[test]
fn events_are_seen_and_waited_for() {
    std::thread_local!(static SLEEPS: Cell<u32> = const { Cell::new(0) });
    let fake = FakeStreamWriter::idle();
    let sleep = Sleeping(|| SLEEPS.with(|sleeps| sleeps.set(sleeps.get() + 1)));
    let mut writer = StreamWriter::new(fake.registers(), sleep).unwrap();
    writer.wait();
    assert_eq!(SLEEPS.with(Cell::get), 1);
    assert!(writer.is_idle());
    for (event, is_there) in [(0, false), (DONE, true), (ERROR, true), (4, false)] {
        fake.set(INTERRUPT, event);
        assert_eq!(writer.has_event(), is_there, "{event}");
    }
}
