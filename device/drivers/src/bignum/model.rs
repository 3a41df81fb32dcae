//! In these tests a model of the engine sees each access, and answers late.

use core::cell::Cell;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_device};
use crate::wait::{Counted, Polling};

// These are offsets in words.
const LENGTH: usize = 2;
const CONTROL: usize = 3;
const COMMAND: usize = 4;
const STATUS: usize = 5;
const ERROR: usize = 6;
const INTERRUPT: usize = 7;
const ENABLE: usize = 8;
const OUTCOME: usize = 9;
const OPERAND: usize = 10;
const DATA: usize = 11;

const GOOD: u32 = 0xc33c_c33c;
const BAD: u32 = 0x9669_9669;
const POWER: u32 = 1;
const SECRET: u32 = 1 << 1;
const P256: u32 = 1 << 4;
const WIPE: u32 = 1 << 7;
const PRIVATE: u32 = 1 << 8;

#[derive(Default)]
struct BignumModel {
    /// Each operand with its words.
    operands: Vec<(u32, Vec<u32>)>,
    commands: Vec<u32>,
    /// Other registers that were written, in order.
    writes: Vec<(usize, u32)>,
    /// Reads of the status until the engine is idle.
    busy: u32,
    /// Outcomes of commands other than a wipe, the last one for all others.
    outcomes: Vec<u32>,
    /// Word of the result that differs in the second command.
    upset: Option<usize>,
    /// Errors, also if there were some before.
    errors: u32,
    /// Accesses while the engine is busy.
    refused: usize,
}

impl BignumModel {
    fn runs(&self) -> usize {
        self.commands.iter().filter(|command| **command != WIPE).count()
    }

    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        words[0] = MAGIC;
        match access {
            RegisterAccess::Read(at) if at / 4 == STATUS => {
                self.busy = self.busy.saturating_sub(1);
                words[STATUS] = u32::from(self.busy == 0);
            }
            RegisterAccess::Read(at) if at / 4 == DATA => {
                let (_, read) = self.operands.last_mut().unwrap();
                let is_upset = self.upset == Some(read.len()) && self.commands.len() > 2;
                words[DATA] = result_word(read.len()) ^ u32::from(is_upset);
                read.push(0);
            }
            RegisterAccess::Read(_) => {}
            RegisterAccess::Write(at) => {
                let (at, word) = (at / 4, words[at / 4]);
                self.refused += usize::from(self.busy > 0 && at != INTERRUPT);
                match at {
                    OPERAND => self.operands.push((word, Vec::new())),
                    DATA => self.operands.last_mut().unwrap().1.push(word),
                    COMMAND => {
                        self.commands.push(word);
                        self.busy = 4;
                        words[STATUS] = 0;
                        let index = self.runs().saturating_sub(1).min(self.outcomes.len() - 1);
                        words[OUTCOME] = if word == WIPE { 0 } else { self.outcomes[index] };
                        words[ERROR] = self.errors;
                    }
                    _ => self.writes.push((at, word)),
                }
            }
        }
    }
}

/// Returns a word of the result, the lowest first.
fn result_word(index: usize) -> u32 {
    // The modulus has 35 bytes.
    (0x0403_0201 + 0x0404_0404 * index as u32) & if index == 8 { 0xff_ffff } else { u32::MAX }
}

fn with_engine<W: Wait, T>(
    wait: W,
    engine: BignumModel,
    act: impl FnOnce(&mut Bignum<W>) -> T,
) -> (T, BignumModel) {
    let (result, engine) = with_device(12, engine, BignumModel::access, |base, engine| {
        // SAFETY: the registers exist as long as the driver.
        let mut driver = Bignum::new(unsafe { BignumRegisters::new(base) }, wait).unwrap();
        engine.borrow_mut().commands.clear();
        act(&mut driver)
    });
    assert_eq!(engine.refused, 0);
    (result, engine)
}

/// Returns an engine whose commands end like this.
fn ends(outcomes: &[u32]) -> BignumModel {
    BignumModel { outcomes: outcomes.to_vec(), ..BignumModel::default() }
}

/// Returns the words of a big-endian number, the lowest first.
fn words(number: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    number.rchunks(4).map(word).collect()
}

const MODULUS: [u8; 35] = [
    0x11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
];
const BASE: [u8; 6] = [1, 2, 3, 4, 5, 6];

/// Returns the result that the model has, which has the length of the modulus.
fn wanted() -> Vec<u8> {
    let bytes: Vec<u8> = (0..9).rev().flat_map(|index| result_word(index).to_be_bytes()).collect();
    bytes[1..].to_vec()
}

#[test]
fn a_power_has_its_operands_and_its_result_in_words_from_the_end() {
    let mut result = [0; 35];
    let (power, engine) = with_engine(Polling, ends(&[GOOD]), |engine| {
        engine.power(&MODULUS, &BASE, 0x1_0203, &mut result)
    });
    assert_eq!((power, result.to_vec()), (Ok(()), wanted()));
    assert_eq!(engine.commands, [WIPE, POWER]);
    let operands = [(1, words(&MODULUS)), (2, words(&BASE)), (3, vec![0x1_0203]), (6, vec![0; 9])];
    assert_eq!(engine.operands, operands);
    assert_eq!(engine.writes, [(ERROR, 0), (CONTROL, 0), (LENGTH, 17 << 16 | 277)]);
    let (power, engine) = with_engine(Polling, ends(&[GOOD]), |engine| {
        engine.power_secret(&MODULUS, &BASE, &[1, 2, 3, 4, 5, 6, 7, 8], &mut result)
    });
    assert_eq!((power, result.to_vec()), (Ok(()), wanted()));
    assert_eq!(engine.commands, [WIPE, SECRET, WIPE]);
    assert_eq!(engine.operands[2], (3, vec![0x0506_0708, 0x0102_0304]));
}

#[test]
fn a_signature_is_recovered_twice_and_both_results_are_equal() {
    let recover = |engine| {
        let mut result = [9; 35];
        let (recovered, engine) =
            with_engine(Polling, engine, |engine| engine.recover(&MODULUS, &BASE, 3, &mut result));
        (recovered, result.to_vec(), engine.commands)
    };
    let twice = vec![WIPE, POWER, WIPE, POWER];
    assert_eq!(recover(ends(&[GOOD])), (Ok(()), wanted(), twice.clone()));
    let failed = (Err(Error::Failed), vec![0; 35], twice.clone());
    for word in 0..9 {
        assert_eq!(recover(BignumModel { upset: Some(word), ..ends(&[GOOD]) }), failed);
    }
    assert_eq!(recover(ends(&[GOOD, 1])), failed);
    assert_eq!(recover(ends(&[1])), (Err(Error::Failed), vec![9; 35], vec![WIPE, POWER]));
}

#[test]
fn a_good_signature_is_verified_twice_and_a_bad_one_once() {
    let (x, y, r, s, digest) = ([1; 32], [2; 32], [3; 32], [4; 32], [5; 32]);
    let judge = |outcomes: &[u32]| {
        with_engine(Polling, ends(outcomes), |engine| {
            engine.judge(false, &[x, y].concat(), &digest, &[r, s].concat())
        })
    };
    let (word, engine) = judge(&[GOOD]);
    assert_eq!(word, Ok(GOOD));
    assert_eq!(engine.commands, [WIPE, P256, WIPE, P256]);
    let operands = [(7, x), (8, y), (9, r), (10, s), (11, digest)];
    let operands = operands.map(|(number, bytes)| (number, words(&bytes)));
    assert_eq!(engine.operands, [operands.clone(), operands].concat());
    let (word, engine) = judge(&[BAD]);
    assert_eq!((word, engine.commands), (Ok(BAD), vec![WIPE, P256]));
    assert_eq!(judge(&[GOOD, BAD]).0, Err(Error::Failed));
}

#[test]
fn a_private_key_is_written_in_full_and_wiped() {
    let modulus = [0xff; 33];
    let parts: [[u8; 17]; 5] = core::array::from_fn(|at| [20 + at as u8; 17]);
    let key = PrivateKey {
        modulus: &modulus,
        exponent: 65537,
        primes: (&parts[0], &parts[1]),
        exponents: (&parts[2], &parts[3]),
        coefficient: &parts[4],
    };
    let (factor, inverse) = ([6; 33], [7; 33]);
    let blinding = Blinding { factor: &factor, inverse: &inverse };
    let private = |engine| {
        let mut result = [1; 33];
        let act = |engine: &mut Bignum<_>| engine.private(&key, &blinding, &BASE, &mut result);
        let (done, engine) = with_engine(Polling, engine, act);
        (done, result, engine)
    };
    let (done, result, engine) = private(ends(&[GOOD]));
    assert_eq!(done, Ok(()));
    assert!(result.ends_with(&[8, 7, 6, 5, 4, 3, 2, 1]));
    assert_eq!(engine.commands, [WIPE, PRIVATE, WIPE]);
    let mut operands = vec![(1, words(&modulus)), (2, words(&BASE)), (3, vec![65537])];
    operands.extend((12..).zip(parts.map(|part| words(&part))));
    operands.extend([(17, words(&factor)), (18, words(&inverse)), (6, vec![0; 9])]);
    assert_eq!(engine.operands, operands);
    for bit in 0..3 {
        let (done, result, engine) = private(BignumModel { errors: 1 << bit, ..ends(&[GOOD]) });
        assert_eq!((done, result), (Err(Error::Refused), [0; 33]), "{bit}");
        assert_eq!(engine.commands, [WIPE, PRIVATE, WIPE]);
        assert_eq!(engine.writes[0], (ERROR, 1 << bit), "earlier errors are not cleared");
    }
    for long in [0, 1] {
        let long: [&[u8]; 2] = if long == 0 { [&[1; 34], &[1; 33]] } else { [&[1; 33], &[1; 34]] };
        let blinding = Blinding { factor: long[0], inverse: long[1] };
        let act = |engine: &mut Bignum<_>| engine.private(&key, &blinding, &BASE, &mut [0; 33]);
        assert_eq!(with_engine(Polling, ends(&[GOOD]), act).0, Err(Error::BadOperand));
    }
}

#[test]
fn the_end_of_a_command_is_slept_for() {
    let sleeps = Cell::new(0);
    let (power, engine) = with_engine(Counted(&sleeps), ends(&[GOOD]), |engine| {
        engine.power(&[0xff; 32], &BASE, 3, &mut [0; 32])
    });
    assert_eq!((power, sleeps.get()), (Ok(()), 3));
    let mut writes = vec![(ERROR, 0), (CONTROL, 0), (LENGTH, 2 << 16 | 256)];
    writes.extend([(INTERRUPT, 3), (ENABLE, 3), (INTERRUPT, 3), (INTERRUPT, 3), (INTERRUPT, 3)]);
    assert_eq!(engine.writes, writes);
    let (wiped, engine) = with_engine(Counted(&sleeps), ends(&[GOOD]), |engine| {
        Wipe::wipe(engine).map(|()| Bignum::wipe(engine))
    });
    assert_eq!((wiped, engine.commands, sleeps.get()), (Some(Ok(())), vec![WIPE], 3));
}
