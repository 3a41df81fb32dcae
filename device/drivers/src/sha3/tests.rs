//! In some of these tests a model of the engine sees each access. It keeps the message and answers late; the tests in
//! `hw/ip/sha3/tb` check the computations of the hardware.

use core::cell::{Cell, RefCell};
use std::vec;
use std::vec::Vec;

use hartlock_kernels::Kernels;
use hartlock_kernels::xof::Xof;

use super::*;
use crate::trapped::{RegisterAccess, with_device};
use crate::wait::{Counted, Polling};

/// Computes KMAC of the same bytes as the engine: the blocks of the driver, then the message and its end.
fn kmac128(key: &[u8], customization: &[u8], message: &[u8], output: &mut [u8]) {
    const RATE: usize = 168;
    let filled = |part: Vec<u8>| part.into_iter().chain(iter::repeat(0)).take(RATE);
    let words = key_block(RATE, key).unwrap();
    let mut whole: Vec<u8> = filled(header(RATE, customization).collect()).collect();
    whole.extend(filled(words.iter().flat_map(|word| word.to_le_bytes()).collect()));
    whole.extend(message);
    whole.extend(right_encode(output.len() as u64 * 8));
    // The kernel forms the same first block from the same strings.
    let mut xof = Xof::cshake128(&Kernels::PORTABLE, b"KMAC", customization);
    xof.update(whole.get(RATE..).unwrap());
    xof.finalize().read(output);
}

/// Compares with samples 1 and 2 of KMAC in SP 800-185.
#[test]
fn encodes_kmac_as_the_standard_does() {
    let key: Vec<u8> = (0x40..0x60).collect();
    let mut mac = [0; 32];
    kmac128(&key, b"", &[0, 1, 2, 3], &mut mac);
    assert_eq!(mac[..4], [0xe5, 0x78, 0x0b, 0x0d]);
    kmac128(&key, b"My Tagged Application", &[0, 1, 2, 3], &mut mac);
    assert_eq!(mac[..4], [0x3b, 0x1f, 0xba, 0x96]);
}

#[test]
fn the_first_block_is_that_of_the_standard() {
    let start: Vec<u8> = header(168, b"").collect();
    assert_eq!(start, [1, 168, 1, 32, b'K', b'M', b'A', b'C', 1, 0]);
    assert_eq!(right_encode(256).as_ref(), [1, 0, 2]);
    assert_eq!(right_encode(0).as_ref(), [0, 1]);
}

#[test]
fn a_longer_key_is_refused() {
    assert!(key_block(136, &[0xff; MAX_KEY_LEN]).is_some());
    assert!(key_block(136, &[0xff; MAX_KEY_LEN + 1]).is_none());
}

#[test]
fn a_key_is_not_shown() {
    let kmac = Sha3Function::Kmac128(Kmac { key: b"secret", customization: b"name" });
    assert!(!std::format!("{kmac:?}").contains("115, 101, 99"));
}

// These are offsets in words.
const CONTROL: usize = 2;
const COMMAND: usize = 3;
const STATUS: usize = 4;
const ERROR: usize = 5;
const INTERRUPT: usize = 6;
const ENABLE: usize = 7;
const FINAL_SIZE: usize = 8;
const DATA: usize = 10;
const KEY: usize = 16;
const DIGEST: usize = 64;

const START: u32 = 1;
const SQUEEZE: u32 = 2;
const WIPE: u32 = 8;
const IDLE: u32 = 1;
const DIGEST_VALID: u32 = 4;
const FAILED: u32 = 16;
const LAST: u32 = 1 << 8;

#[derive(Default)]
struct Sha3Model {
    message: Vec<u8>,
    /// Other registers that were written, in order.
    writes: Vec<(usize, u32)>,
    /// Numbers of status reads, each with the status after it.
    next: Vec<(u32, u32)>,
    blocks: usize,
    is_failed: bool,
    errors: u32,
    /// Number of starts of an engine that is not idle, and of bytes past the last one that are not zero.
    refused: usize,
}

/// Returns a byte of the output, which is different in each block.
fn output_byte(block: usize, at: usize) -> u8 {
    (block * 59 + at) as u8
}

impl Sha3Model {
    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        words[0] = MAGIC;
        match access {
            RegisterAccess::Read(at) if at / 4 == STATUS => {
                if let Some((reads, status)) = self.next.first_mut() {
                    *reads -= 1;
                    if *reads == 0 {
                        words[STATUS] = if self.is_failed { FAILED } else { *status };
                        self.next.remove(0);
                    }
                }
            }
            RegisterAccess::Write(at) if at / 4 == DATA => {}
            RegisterAccess::Write(at) if at / 4 == DATA + 1 => {
                let both = [words[DATA].to_le_bytes(), words[DATA + 1].to_le_bytes()].concat();
                let is_last = words[FINAL_SIZE] & LAST != 0;
                let size = if is_last { words[FINAL_SIZE] & 15 } else { 8 };
                self.refused += both.iter().skip(size as usize).filter(|byte| **byte != 0).count();
                self.message.extend(&both[..size as usize]);
                if is_last {
                    words[FINAL_SIZE] = 0;
                    self.show(words);
                }
            }
            RegisterAccess::Write(at) => {
                self.writes.push((at / 4, words[at / 4]));
                if at / 4 == COMMAND {
                    match words[COMMAND] {
                        START => self.refused += usize::from(words[STATUS] & IDLE == 0),
                        SQUEEZE => self.show(words),
                        _ => (words[STATUS], self.next) = (0, vec![(4, IDLE)]),
                    }
                    words[ERROR] = self.errors;
                }
            }
            RegisterAccess::Read(_) => {}
        }
    }

    /// Shows the next block of output after some reads, and is idle after some others.
    fn show(&mut self, words: &mut [u32]) {
        words[STATUS] = 0;
        self.next = vec![(4, DIGEST_VALID), (3, DIGEST_VALID | IDLE)];
        for at in 0..168 {
            let word = &mut words[DIGEST + at / 4];
            let byte = u32::from(output_byte(self.blocks, at));
            *word = *word & !(0xff << (8 * (at % 4))) | byte << (8 * (at % 4));
        }
        self.blocks += 1;
    }
}

/// Calls `act` with a new driver, and returns what the engine saw afterwards.
fn with_engine<W: Wait, T>(
    wait: W,
    act: impl FnOnce(&mut Sha3<W>, &RefCell<Sha3Model>) -> T,
) -> (T, Sha3Model) {
    let (result, engine) =
        with_device(128, Sha3Model::default(), Sha3Model::access, |base, engine| {
            // SAFETY: the registers exist as long as the driver.
            let mut driver = Sha3::new(unsafe { Sha3Registers::new(base) }, wait).unwrap();
            assert_eq!(engine.borrow().writes, [(COMMAND, WIPE), (ERROR, 0)]);
            engine.borrow_mut().writes.clear();
            act(&mut driver, engine)
        });
    assert_eq!(engine.refused, 0);
    (result, engine)
}

#[test]
fn each_function_has_its_mode_and_length_of_output() {
    let text: Vec<u8> = (0..100).collect();
    for (number, (function, control, len, is_endless)) in [
        (Sha3Function::Sha3_224, 1, 28, false),
        (Sha3Function::Sha3_256, 2, 32, false),
        (Sha3Function::Sha3_384, 3, 48, false),
        (Sha3Function::Sha3_512, 4, 64, false),
        (Sha3Function::Shake128, 5, 168, true),
        (Sha3Function::Shake256, 6, 136, true),
        (Sha3Function::TurboShake128(0x1f), 11 | 0x1f00, 168, true),
    ]
    .into_iter()
    .enumerate()
    {
        let message = &text[..number * 13 + 1];
        let mut output = vec![0; len];
        let mut longer = vec![0; 2 * len + 3];
        let (results, engine) = with_engine(Polling, |sha3, _| {
            sha3.start(function).unwrap();
            for part in message.chunks(11) {
                sha3.push(part);
            }
            let first = sha3.finish(&mut output);
            sha3.start_stream(function).unwrap();
            sha3.push(message);
            (first, sha3.finish(&mut longer))
        });
        let size = (message.len() % 8) as u32 | LAST;
        let mut writes = vec![(CONTROL, control), (COMMAND, START), (FINAL_SIZE, size)];
        writes.extend([(CONTROL, control | 1 << 4), (COMMAND, START)]);
        if is_endless {
            writes.extend([(FINAL_SIZE, size), (COMMAND, SQUEEZE), (COMMAND, SQUEEZE)]);
            assert_eq!(results, (Ok(()), Ok(())));
            assert_eq!(engine.message[message.len()..], *message);
            for (at, byte) in longer.iter().enumerate() {
                assert_eq!(*byte, output_byte(1 + at / len, at % len), "{function:?} {at}");
            }
        } else {
            assert_eq!(results, (Ok(()), Err(Error::TooLong)));
        }
        assert_eq!(engine.writes, writes, "{function:?}");
        assert_eq!(engine.message[..message.len()], *message);
        assert!(output.iter().enumerate().all(|(at, byte)| *byte == output_byte(0, at)));
    }
}

#[test]
fn kmac_has_its_prefix_key_and_length_of_output() {
    let name = [9; 157];
    let key: Vec<u8> = (0..64).collect();
    for (is_wide, rate, mode, name, encoded) in [
        (false, 168_u8, 9, &name[..], &[2, 4, 232][..]),
        (true, 136, 10, &name[..3], &[1, 24]),
        (true, 136, 10, &[], &[1, 0]),
    ] {
        let kmac = Kmac { key: &key, customization: name };
        let function = if is_wide { Sha3Function::Kmac256 } else { Sha3Function::Kmac128 }(kmac);
        let (result, engine) = with_engine(Polling, |sha3, _| {
            sha3.start(function).unwrap();
            sha3.push(b"text");
            sha3.finish(&mut [0; 32])
        });
        assert_eq!(result, Ok(()));
        let mut message = vec![1, rate, 1, 32, b'K', b'M', b'A', b'C'];
        message.extend_from_slice(encoded);
        message.extend_from_slice(name);
        message.resize(usize::from(rate), 0);
        message.extend(b"text\x01\x00\x02");
        assert_eq!(engine.message, message);
        let mut block = vec![1, rate, 2, 2, 0];
        block.extend(&key);
        block.resize(4 * KEY_WORDS, 0);
        let words = block.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let mut writes: Vec<(usize, u32)> = (KEY..).zip(words).collect();
        writes.extend([(FINAL_SIZE, 0), (CONTROL, mode), (COMMAND, START), (FINAL_SIZE, 7 | LAST)]);
        assert_eq!(engine.writes, writes);
    }
    let long = Kmac { key: &[0; 65], customization: &[] };
    let named = Kmac { key: &key, customization: &[9; 158] };
    for kmac in [long, named] {
        let (result, engine) =
            with_engine(Polling, |sha3, _| sha3.start(Sha3Function::Kmac128(kmac)));
        assert_eq!((result, engine.writes), (Err(Error::TooLong), vec![]));
    }
    for function in [Sha3Function::Kmac128(named), Sha3Function::Kmac256(named)] {
        let (result, engine) = with_engine(Polling, |sha3, _| sha3.start_stream(function));
        assert_eq!((result, engine.writes), (Err(Error::Refused), vec![]));
    }
}

#[test]
fn a_wipe_drops_bytes_that_are_no_word_yet() {
    let ((), engine) = with_engine(Polling, |sha3, _| {
        sha3.push(b"secret");
        sha3.wipe().unwrap();
        sha3.end();
    });
    assert_eq!(engine.writes, [(COMMAND, WIPE), (ERROR, 0), (FINAL_SIZE, LAST)]);
    assert_eq!(engine.message, []);
    let ((), engine) = with_engine(Polling, |sha3, _| {
        sha3.push(b"other");
        sha3.start(Sha3Function::Shake128).unwrap();
        sha3.push(b"text");
        sha3.end();
        sha3.until_done().unwrap();
        sha3.end();
    });
    assert_eq!((engine.message, engine.next.len()), (b"text".to_vec(), 2));
}

#[test]
fn an_error_or_a_failure_is_no_digest() {
    let digest = |errors, is_failed| {
        let act = |sha3: &mut Sha3<Polling>, engine: &RefCell<Sha3Model>| {
            (engine.borrow_mut().errors, engine.borrow_mut().is_failed) = (errors, is_failed);
            sha3.start(Sha3Function::Sha3_256).and_then(|()| sha3.finish(&mut [0; 32]))
        };
        with_engine(Polling, act).0
    };
    assert_eq!(digest(0, true), Err(Error::Failed));
    for bit in 0..3 {
        assert_eq!(digest(1 << bit, false), Err(Error::Refused), "{bit}");
    }
    for is_failed in [false, true] {
        let act = |sha3: &mut Sha3<Polling>, engine: &RefCell<Sha3Model>| {
            (engine.borrow_mut().errors, engine.borrow_mut().is_failed) = (2, is_failed);
            Wipe::wipe(sha3)
        };
        let (result, engine) = with_engine(Polling, act);
        assert_eq!(result, Some(()));
        let mut writes = vec![(COMMAND, WIPE)];
        writes.extend((!is_failed).then_some((ERROR, 2)));
        assert_eq!(engine.writes, writes);
    }
}

#[test]
fn a_digest_is_slept_for_and_a_wipe_is_polled_for() {
    let sleeps = Cell::new(0);
    let (result, engine) = with_engine(Counted(&sleeps), |sha3, _| {
        assert_eq!(sleeps.get(), 0);
        sha3.start(Sha3Function::Sha3_256)?;
        sha3.finish(&mut [0; 32])
    });
    assert_eq!((result, sleeps.get()), (Ok(()), 3));
    let mut writes = vec![(CONTROL, 2), (ENABLE, 3), (COMMAND, START), (FINAL_SIZE, LAST)];
    writes.extend([(INTERRUPT, 0); 3]);
    assert_eq!(engine.writes, writes);
}

#[test]
fn an_engine_that_is_absent_or_failed_or_silent_is_not_used() {
    let in_memory = |id, status| {
        let mut registers = vec![0_u32; 128];
        (registers[0], registers[STATUS]) = (id, status);
        let base = registers.leak().as_mut_ptr();
        // SAFETY: there is a word for each register, which is never freed.
        (Sha3::new(unsafe { Sha3Registers::new(base) }, Polling), base.wrapping_add(STATUS))
    };
    assert_eq!(in_memory(MAGIC ^ 1, IDLE).0.err(), Some(Error::NoEngine));
    assert_eq!(in_memory(MAGIC, FAILED).0.err(), Some(Error::Failed));
    assert_eq!(in_memory(MAGIC, DIGEST_VALID).0.err(), Some(Error::Silent));
    let (mut engine, status) = in_memory(MAGIC, IDLE);
    let engine = engine.as_mut().ok().unwrap();
    assert_eq!(engine.start(Sha3Function::Sha3_384), Ok(()));
    assert_eq!(engine.until_done(), Err(Error::Silent));
    assert_eq!(engine.finish(&mut [0; 48]), Err(Error::Silent));
    // SAFETY: it is the address of a register.
    unsafe { status.write_volatile(0) };
    assert_eq!(Wipe::wipe(engine), None);
}
