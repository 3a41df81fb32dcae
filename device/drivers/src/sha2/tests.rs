//! In these tests a model of the engine sees each access. It keeps the message and answers late; the tests in
//! `hw/ip/sha2/tb` check the computations of the hardware.

use core::cell::{Cell, RefCell};
use std::vec;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_device};
use crate::wait::{Counted, Polling};

// These are offsets in words.
const CONTROL: usize = 2;
const COMMAND: usize = 3;
const STATUS: usize = 4;
const ERROR: usize = 5;
const INTERRUPT: usize = 6;
const ENABLE: usize = 7;
const LENGTH: usize = 8;
const KEY: usize = 16;
const DIGEST: usize = 32;
const FIFO: usize = 64;

const START: u32 = 1;
const PROCESS: u32 = 1 << 1;
const STOP: u32 = 1 << 2;
const RESUME: u32 = 1 << 3;
const WIPE: u32 = 1 << 5;
const IDLE: u32 = 1;
const EMPTY: u32 = 1 << 1;
const DIGEST_VALID: u32 = 1 << 3;
const STATE_VALID: u32 = 1 << 4;
const FAILED: u32 = 1 << 6;
/// A store of one byte leaves the others of this word.
const NO_WORD: u32 = 0xa5a5_a5a5;

#[derive(Default)]
struct Sha2Model {
    message: Vec<u8>,
    /// Other registers that were written, in order.
    writes: Vec<(usize, u32)>,
    /// The status after these reads of it.
    next: (u32, u32),
    /// The status in place of what is waited for.
    instead: Option<u32>,
    /// Errors after the message.
    errors: u32,
}

impl Sha2Model {
    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        words[0] = MAGIC;
        match access {
            RegisterAccess::Read(at) if at / 4 == STATUS => {
                self.next.1 = self.next.1.saturating_sub(1);
                if self.next.1 == 0 {
                    words[STATUS] = self.instead.unwrap_or(self.next.0);
                }
            }
            RegisterAccess::Write(at) if at / 4 >= FIFO => {
                let word = words[at / 4];
                let is_byte = at / 4 == FIFO && word >> 8 == NO_WORD >> 8;
                self.message.extend(&word.to_le_bytes()[..if is_byte { 1 } else { 4 }]);
            }
            RegisterAccess::Write(at) => {
                self.writes.push((at / 4, words[at / 4]));
                if at / 4 == COMMAND {
                    words[STATUS] = 0;
                    let wanted = match words[COMMAND] {
                        START | RESUME => EMPTY,
                        PROCESS => DIGEST_VALID,
                        STOP => STATE_VALID,
                        _ => IDLE,
                    };
                    self.next = (wanted, 4);
                    words[ERROR] = if wanted == EMPTY { 0 } else { self.errors };
                }
            }
            RegisterAccess::Read(_) => {}
        }
        words[FIFO] = NO_WORD;
    }
}

/// Calls `act` with a new driver, and returns what the engine saw afterwards.
fn with_engine<W: Wait, T>(
    wait: W,
    act: impl FnOnce(&mut Sha2<W>, &RefCell<Sha2Model>) -> T,
) -> (T, Sha2Model) {
    let (result, engine) =
        with_device(80, Sha2Model::default(), Sha2Model::access, |base, engine| {
            // SAFETY: the registers exist as long as the driver.
            let mut driver = Sha2::new(unsafe { Sha2Registers::new(base) }, wait).unwrap();
            assert_eq!(engine.borrow().writes, [(COMMAND, WIPE), (ERROR, 0)]);
            engine.borrow_mut().writes.clear();
            act(&mut driver, engine)
        });
    (result, engine)
}

#[repr(align(4))]
struct Aligned([u8; 204]);

#[test]
fn a_message_is_pushed_whatever_its_place_and_length() {
    let bytes = Aligned(core::array::from_fn(|at| at as u8));
    for start in 0..4 {
        for len in [0, 1, 3, 4, 5, 63, 64, 65, 130, 200] {
            let message = &bytes.0[start..start + len];
            let (digest, engine) = with_engine(Polling, |sha2, _| {
                sha2.start(Sha2Function::Sha256).unwrap();
                sha2.until_empty().unwrap();
                let (first, second) = message.split_at(len / 3);
                sha2.push(first);
                sha2.push(second);
                sha2.finish()
            });
            assert_eq!(engine.message, message, "{start} {len}");
            assert_eq!(engine.writes, [(CONTROL, 1), (COMMAND, START), (COMMAND, PROCESS)]);
            assert_eq!(digest, Ok([0; 32]));
        }
    }
    let ((), engine) = with_engine(Polling, |sha2, _| {
        sha2.start_stream(Sha2Function::Sha256).unwrap();
        sha2.push_block(&core::array::from_fn(|at| at as u32));
        let port = sha2.port().unwrap();
        // SAFETY: it is the address of a register.
        unsafe { port.write_volatile(77) };
    });
    assert_eq!(engine.writes, [(CONTROL, 1 | 1 << 6), (COMMAND, START)]);
    let words: Vec<u8> = (0..16).chain([77]).flat_map(u32::to_le_bytes).collect();
    assert_eq!(engine.message, words);
}

#[test]
fn a_key_is_filled_with_zeros_whatever_its_place_and_length() {
    let bytes = Aligned(core::array::from_fn(|at| at as u8));
    for start in 0..4 {
        for len in [0, 1, 31, 32, 63, 64] {
            let key = &bytes.0[start..start + len];
            let function = Sha2Function::HmacSha256(key);
            let (result, engine) = with_engine(Polling, |sha2, _| sha2.start(function));
            assert_eq!(result, Ok(()));
            let mut padded = [0; 64];
            padded[..len].copy_from_slice(key);
            let words = padded.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
            let mut wanted: Vec<(usize, u32)> = (KEY..).zip(words).collect();
            wanted.extend([(CONTROL, 2), (COMMAND, START)]);
            assert_eq!(engine.writes, wanted, "{start} {len}");
        }
    }
    let long = Sha2Function::HmacSha256(&bytes.0[..65]);
    let (result, engine) =
        with_engine(Polling, |sha2, _| (sha2.start(long), sha2.start_stream(long)));
    assert_eq!(result, (Err(Error::KeyTooLong), Err(Error::KeyTooLong)));
    assert_eq!(engine.writes, []);
}

#[test]
fn a_digest_is_words_in_the_order_of_memory_and_an_error_is_none() {
    let digest = |errors, instead| {
        with_engine(Polling, |sha2, engine| {
            sha2.start(Sha2Function::Sha256).unwrap();
            let port = sha2.port().unwrap().wrapping_sub(FIFO - DIGEST);
            for word in 0..8_u32 {
                // SAFETY: it is the address of a register.
                unsafe { port.wrapping_add(word as usize).write_volatile(0x0302_0100 + word) };
            }
            let mut engine = engine.borrow_mut();
            (engine.errors, engine.instead) = (errors, instead);
            drop(engine);
            sha2.finish()
        })
        .0
    };
    let wanted: Vec<u8> = (0..8).flat_map(|word| [word, 1, 2, 3]).collect();
    assert_eq!(digest(0, None).unwrap().as_slice(), wanted);
    for bit in 0..4 {
        assert_eq!(digest(1 << bit, None), Err(Error::Refused), "{bit}");
    }
    assert_eq!(digest(0, Some(FAILED)), Err(Error::Failed));
}

#[test]
fn blocks_are_compressed_into_a_state() {
    let blocks: [[u8; 64]; 2] = [core::array::from_fn(|at| at as u8), [7; 64]];
    let (result, engine) = with_engine(Polling, |sha2, _| {
        let mut state = core::array::from_fn(|at| 100 + at as u32);
        sha2.compress(&mut state, &blocks).map(|()| state)
    });
    // The model does not change the state.
    let state: [u32; 8] = core::array::from_fn(|at| 100 + at as u32);
    assert_eq!(result, Ok(state));
    assert_eq!(engine.message, blocks.as_flattened());
    let mut wanted = vec![(CONTROL, 1 | 1 << 5)];
    wanted.extend((DIGEST..).zip(state));
    wanted.extend([(LENGTH, 64), (LENGTH + 1, 0), (COMMAND, RESUME), (COMMAND, STOP)]);
    assert_eq!(engine.writes, wanted);
    for (errors, instead, error) in [(1, None, Error::Refused), (0, Some(FAILED), Error::Failed)] {
        let (result, engine) = with_engine(Polling, |sha2, engine| {
            (engine.borrow_mut().errors, engine.borrow_mut().instead) = (errors, instead);
            sha2.compress(&mut [0; 8], &blocks)
        });
        assert_eq!(result, Err(error));
        assert_eq!(engine.writes.last(), Some(&(COMMAND, WIPE)), "it is not wiped");
    }
    let (result, engine) = with_engine(Polling, |sha2, _| sha2.compress(&mut [0; 8], &[]));
    assert_eq!((result, engine.writes), (Ok(()), vec![]));
}

#[test]
fn a_wipe_is_polled_for_and_a_message_is_slept_for() {
    let sleeps = Cell::new(0);
    let (result, engine) = with_engine(Counted(&sleeps), |sha2, _| {
        assert_eq!(sleeps.get(), 0);
        sha2.start(Sha2Function::Sha256)?;
        sha2.until_empty()
    });
    assert_eq!((result, sleeps.get()), (Ok(()), 3));
    let clears = [(INTERRUPT, 0); 3];
    assert_eq!(engine.writes[..3], [(CONTROL, 1), (ENABLE, 7), (COMMAND, START)]);
    assert_eq!(engine.writes[3..], clears);
}

/// Returns a driver whose registers are plain memory, and the status.
fn in_memory(id: u32, status: u32) -> (Result<Sha2<Polling>, Error>, *mut u32) {
    let mut registers = vec![0_u32; 80];
    (registers[0], registers[STATUS]) = (id, status);
    let base = registers.leak().as_mut_ptr();
    // SAFETY: there is a word for each register, which is never freed.
    (Sha2::new(unsafe { Sha2Registers::new(base) }, Polling), base.wrapping_add(STATUS))
}

#[test]
fn an_engine_that_is_absent_or_failed_or_silent_is_not_used() {
    assert_eq!(in_memory(MAGIC ^ 1, IDLE).0.err(), Some(Error::NoEngine));
    assert_eq!(in_memory(MAGIC, FAILED).0.err(), Some(Error::Failed));
    assert_eq!(in_memory(MAGIC, DIGEST_VALID).0.err(), Some(Error::Silent));
    let (mut engine, status) = in_memory(MAGIC, IDLE);
    let engine = engine.as_mut().ok().unwrap();
    // SAFETY: it is the address of a register.
    unsafe { status.write_volatile(EMPTY) };
    assert_eq!(engine.finish(), Err(Error::Silent));
    assert_eq!(Wipe::wipe(engine), None);
}

#[test]
fn a_failed_engine_has_wiped_itself() {
    for instead in [None, Some(FAILED)] {
        let (result, engine) = with_engine(Polling, |sha2, engine| {
            (engine.borrow_mut().errors, engine.borrow_mut().instead) = (2, instead);
            Wipe::wipe(sha2)
        });
        assert_eq!(result, Some(()));
        let mut writes = vec![(COMMAND, WIPE)];
        writes.extend(instead.is_none().then_some((ERROR, 2)));
        assert_eq!(engine.writes, writes);
    }
}
