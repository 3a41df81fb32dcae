//! In these tests plain memory replaces the registers, as in the tests of the drivers.

use core::cell::Cell;

use hartlock_drivers::aes::Aes;
use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::mailbox::request::SIGNATURE_LEN;
use hartlock_drivers::noise_source::NoiseSource;
use hartlock_drivers::wait::Polling;
use hartlock_keystore::engines::HardwareKeyEngines;
use hartlock_keystore::keys::{Cipher, EngineFailure, KeyEngines, RsaPrivateKey, TextMode};
use hartlock_regs::Block;

/// Registers of `hw/ip/aes`, in words.
mod of_aes {
    pub const MAGIC: u32 = u32::from_be_bytes(*b"aes1");
    pub const COMMAND: usize = 3;
    pub const STATUS: usize = 4;
    pub const ERROR: usize = 5;
    pub const WORDS: usize = 40;

    pub const READY: u32 = 7;
    pub const WIPE: u32 = 1 << 2;
    pub const BAD_KEY: u32 = 1 << 2;
    pub const BAD_LENGTH: u32 = 1 << 4;
}

/// Registers of `hw/ip/bignum`, in words.
mod of_numbers {
    pub const MAGIC: u32 = u32::from_be_bytes(*b"bign");
    pub const COMMAND: usize = 4;
    pub const STATUS: usize = 5;
    pub const OUTCOME: usize = 9;
    pub const WORDS: usize = 12;

    pub const IDLE: u32 = 1;
    pub const WIPE: u32 = 1 << 7;
}

/// Answer of the big-number engine to a command that succeeded.
const GOOD: u32 = 0xc33c_c33c;

/// The registers of both engines.
struct Files {
    aes: [Cell<u32>; of_aes::WORDS],
    numbers: [Cell<u32>; of_numbers::WORDS],
}

impl Files {
    /// Returns idle engines. The big-number engine gives every command this outcome.
    fn with_outcome(outcome: u32) -> Files {
        let files = Files {
            aes: [const { Cell::new(0) }; of_aes::WORDS],
            numbers: [const { Cell::new(0) }; of_numbers::WORDS],
        };
        files.aes[0].set(of_aes::MAGIC);
        files.aes[of_aes::STATUS].set(of_aes::READY);
        files.numbers[0].set(of_numbers::MAGIC);
        files.numbers[of_numbers::STATUS].set(of_numbers::IDLE);
        files.numbers[of_numbers::OUTCOME].set(outcome);
        files
    }

    fn hardware(&self) -> HardwareKeyEngines {
        // SAFETY: a word for each register, in cells that may be written through a shared reference, which outlive the engine in
        // every test.
        let aes = Aes::new(unsafe { Block::new(base(&self.aes)) }).unwrap();
        // SAFETY: as above.
        let numbers = unsafe { Block::new(base(&self.numbers)) };
        let numbers = Bignum::new(numbers, Polling).unwrap();
        // SAFETY: no test asks for noise, so nothing is read there.
        let noise = unsafe { NoiseSource::new(core::ptr::null_mut()) };
        HardwareKeyEngines::new(aes, numbers, noise)
    }
}

fn base(registers: &[Cell<u32>]) -> *mut u32 {
    registers.as_ptr().cast::<u32>().cast_mut()
}

const MODULUS: [u8; SIGNATURE_LEN] = [0xff; SIGNATURE_LEN];
const NUMBER: [u8; SIGNATURE_LEN] = [2; SIGNATURE_LEN];
const HALF: [u8; SIGNATURE_LEN / 2] = [0xff; SIGNATURE_LEN / 2];
const KEY: RsaPrivateKey<'_> =
    RsaPrivateKey { modulus: &MODULUS, halves: [&HALF; 5], blinding: [&NUMBER; 2] };

type Operation = fn(&mut HardwareKeyEngines, &mut [u8]) -> Result<(), EngineFailure>;
const OPERATIONS: [Operation; 4] = [
    |engines, result| engines.private(KEY, &NUMBER, result),
    |engines, result| engines.square(&MODULUS, &NUMBER, result),
    |engines, result| engines.power_secret(&MODULUS, &NUMBER, &[1; 8], result),
    |engines, result| engines.recover(&MODULUS, &NUMBER, result),
];

/// A square would otherwise leave the blinding pair of the next signature in the engine.
#[test]
fn every_operation_with_numbers_ends_with_a_wipe() {
    for outcome in [GOOD, 0, 1] {
        for operation in OPERATIONS {
            let files = Files::with_outcome(outcome);
            let result = operation(&mut files.hardware(), &mut [0; SIGNATURE_LEN]);
            assert_eq!(result.is_ok(), outcome == GOOD);
            assert_eq!(
                files.numbers[of_numbers::COMMAND].get(),
                of_numbers::WIPE,
                "a number stays"
            );
        }
    }
}

/// The failure is the same for any part of the key that is out of range.
#[test]
fn numbers_that_are_no_key_are_none() {
    for (outcome, failure) in [
        (0x55aa_55aa, EngineFailure::BadKey),
        (0x5aa5_5aa5, EngineFailure::BadKey),
        (0x6996_6996, EngineFailure::BadKey),
        (0xa55a_a55a, EngineFailure::Failed),
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
    files.aes[of_aes::ERROR].set(of_aes::BAD_LENGTH);
    for mode in [TextMode::Gcm, TextMode::Ctr] {
        let (mut text, cipher) = ([1; 20], Cipher { key: &[3; 32], mode, iv: &[4; 16], more: &[] });
        assert_eq!(engines.decrypt(cipher, &mut text, &[5; 16]), Err(EngineFailure::Failed));
        assert_eq!(text, [0; 20]);
    }
}

/// A refused key may be in the buffer, because after an upset the error may be that of another operation.
#[test]
fn nothing_is_left_of_a_key_that_was_not_unwrapped() {
    for (error, failure) in
        [(of_aes::BAD_KEY, EngineFailure::NoKey), (of_aes::BAD_LENGTH, EngineFailure::Failed)]
    {
        let files = Files::with_outcome(GOOD);
        let (mut engines, mut key) = (files.hardware(), [1; 16]);
        files.aes[of_aes::ERROR].set(error);
        assert_eq!(engines.unwrap_key(&[2; 24], &mut key), Err(failure));
        assert_eq!((key, files.aes[of_aes::COMMAND].get()), ([0; 16], of_aes::WIPE));
    }
}
