//! Registers are memory here, as in the tests of the drivers.

use core::cell::Cell;

use super::super::request::SIGNATURE_LEN;
use super::*;

const WORDS: usize = 40;

// Of the engine for big numbers, in words.
const COMMAND: usize = 4;
const STATUS: usize = 5;
const OUTCOME: usize = 9;
const IDLE: u32 = 1;
const WIPE: u32 = 1 << 7;
const GOOD: u32 = 0xc33c_c33c;

// Of AES, in words.
const AES_COMMAND: usize = 3;
const AES_STATUS: usize = 4;
const AES_ERROR: usize = 5;
const AES_READY: u32 = 7;
const AES_WIPE: u32 = 1 << 2;
const BAD_KEY: u32 = 1 << 2;
const BAD_LENGTH: u32 = 1 << 4;

/// Registers of all three.
struct Files {
    aes: [Cell<u32>; WORDS],
    numbers: [Cell<u32>; WORDS],
    noise: [Cell<u32>; WORDS],
}

impl Files {
    /// Engines that are idle, the one for big numbers with this outcome of every command.
    fn with_outcome(outcome: u32) -> Files {
        let [aes, numbers, noise] = core::array::from_fn(|_| [const { Cell::new(0) }; WORDS]);
        aes[0].set(u32::from_be_bytes(*b"aes1"));
        aes[AES_STATUS].set(AES_READY);
        numbers[0].set(u32::from_be_bytes(*b"bign"));
        numbers[STATUS].set(IDLE);
        numbers[OUTCOME].set(outcome);
        Files { aes, numbers, noise }
    }

    fn hardware(&self) -> Hardware {
        let [aes, numbers, noise] = [&self.aes, &self.numbers, &self.noise]
            .map(|file| file.as_ptr().cast::<u32>().cast_mut());
        // SAFETY: a word for each register, in cells that may be written through a shared reference, which outlive the engines in
        // every test.
        unsafe { Hardware::at(aes, numbers, noise) }.unwrap()
    }
}

const MODULUS: [u8; SIGNATURE_LEN] = [0xff; SIGNATURE_LEN];
const NUMBER: [u8; SIGNATURE_LEN] = [2; SIGNATURE_LEN];
const HALF: [u8; SIGNATURE_LEN / 2] = [0xff; SIGNATURE_LEN / 2];
const KEY: Private<'_> = Private { modulus: &MODULUS, halves: [&HALF; 5], blinding: [&NUMBER; 2] };

type Operation = fn(&mut Hardware, &mut [u8]) -> Result<(), Failure>;
const OPERATIONS: [Operation; 4] = [
    |engines, result| engines.private(KEY, &NUMBER, result),
    |engines, result| engines.square(&MODULUS, &NUMBER, result),
    |engines, result| engines.power_secret(&MODULUS, &NUMBER, &[1; 8], result),
    |engines, result| engines.recover(&MODULUS, &NUMBER, result),
];

/// A square leaves the pair of the next signature, otherwise.
#[test]
fn every_operation_with_numbers_ends_with_a_wipe() {
    for outcome in [GOOD, 0, 1] {
        for operation in OPERATIONS {
            let files = Files::with_outcome(outcome);
            let result = operation(&mut files.hardware(), &mut [0; SIGNATURE_LEN]);
            assert_eq!(result.is_ok(), outcome == GOOD);
            assert_eq!(files.numbers[COMMAND].get(), WIPE, "a number stays");
        }
    }
}

/// Whatever part of it is out of range.
#[test]
fn numbers_that_are_no_key_are_none() {
    for (outcome, failure) in [
        (0x55aa_55aa, Failure::BadKey),
        (0x5aa5_5aa5, Failure::BadKey),
        (0x6996_6996, Failure::BadKey),
        (0xa55a_a55a, Failure::Failed),
    ] {
        let files = Files::with_outcome(outcome);
        let mut result = [1; SIGNATURE_LEN];
        assert_eq!(files.hardware().private(KEY, &NUMBER, &mut result), Err(failure));
        assert_eq!(result, [0; SIGNATURE_LEN]);
    }
}

#[test]
fn nothing_is_left_of_a_text_that_failed() {
    let files = Files::with_outcome(GOOD);
    let mut engines = files.hardware();
    files.aes[AES_ERROR].set(BAD_LENGTH);
    for mode in [Mode::Gcm, Mode::Ctr] {
        let (mut text, cipher) = ([1; 20], Cipher { key: &[3; 32], mode, iv: &[4; 16], more: &[] });
        assert_eq!(engines.decrypt(cipher, &mut text, &[5; 16]), Err(Failure::Failed));
        assert_eq!(text, [0; 20]);
    }
}

/// One that is refused may be there: after an upset, the error is another's.
#[test]
fn nothing_is_left_of_a_key_that_was_not_unwrapped() {
    for (error, failure) in [(BAD_KEY, Failure::NoKey), (BAD_LENGTH, Failure::Failed)] {
        let files = Files::with_outcome(GOOD);
        let (mut engines, mut key) = (files.hardware(), [1; 16]);
        files.aes[AES_ERROR].set(error);
        assert_eq!(engines.unwrap_key(&[2; 24], &mut key), Err(failure));
        assert_eq!((key, files.aes[AES_COMMAND].get()), ([0; 16], AES_WIPE));
    }
}
