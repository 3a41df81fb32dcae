//! In these tests constant memory replaces the registers. The tests in `hw/ip/aes/tb` check that the hardware behaves
//! as the driver expects.

use core::cell::Cell;

use super::*;

mod model;

const WORDS: usize = 40;
// These are offsets in words.
const ID: usize = 0;
const PARAMETERS: usize = 1;
const CONTROL: usize = 2;
const COMMAND: usize = 3;
const STATUS: usize = 4;
const ERROR: usize = 5;
const TEXT_LEN: usize = 8;
const AAD_LEN: usize = 9;
const IV_LEN: usize = 10;
const TAG_LEN_AT: usize = 11;
const DATA_IN: usize = 16;
const DATA_OUT: usize = 20;
const IV: usize = 24;
const TAG: usize = 28;
const KEY: usize = 32;

const IDLE: u32 = 1;
const READY: u32 = 7;
const MATCHES: u32 = 1 << 4;
const FAILED: u32 = 1 << 7;
const HEALTHY: u32 = 1 << 8;
const START: u32 = 1;
const BAD_KEY: u32 = 1 << 2;
const BAD_LENGTH: u32 = 1 << 4;
const BAD_TAG: u32 = 1 << 8;
const BAD_ENTROPY: u32 = 1 << 9;

struct FakeAes([Cell<u32>; WORDS]);

impl FakeAes {
    fn idle() -> FakeAes {
        let fake = FakeAes([const { Cell::new(0) }; WORDS]);
        fake.set(ID, MAGIC);
        fake.set(STATUS, READY);
        fake
    }

    fn base(&self) -> *mut u32 {
        self.0.as_ptr().cast::<u32>().cast_mut()
    }

    fn registers(&self) -> AesRegisters {
        // SAFETY: the file has a word for each register, in cells that may be written through a shared reference, and
        // outlives the driver in every test.
        unsafe { AesRegisters::new(self.base()) }
    }

    fn set(&self, at: usize, value: u32) {
        self.0.iter().skip(at).take(1).for_each(|cell| cell.set(value));
    }

    fn get(&self, at: usize) -> u32 {
        self.0.iter().skip(at).map(Cell::get).next().unwrap_or_default()
    }
}

fn aes(fake: &FakeAes) -> Aes {
    Aes::new(fake.registers()).unwrap()
}

#[test]
fn finds_its_engine_and_stops_at_a_fault() {
    let fake = FakeAes::idle();
    assert!(Aes::new(fake.registers()).is_ok());
    fake.set(STATUS, FAILED);
    assert_eq!(Aes::new(fake.registers()).err(), Some(Error::Failed));
    fake.set(STATUS, 0);
    assert_eq!(Aes::new(fake.registers()).err(), Some(Error::Silent));
    fake.set(ID, 0);
    assert_eq!(Aes::new(fake.registers()).err(), Some(Error::NoEngine));
}

#[test]
fn a_masked_engine_needs_its_noise_source() {
    let fake = FakeAes::idle();
    // The unmasked engine does not need it.
    let mut plain = aes(&fake);
    fake.set(ERROR, BAD_ENTROPY);
    assert!(!plain.is_masked());
    plain.load_key(&[0; 16]).unwrap();
    fake.set(ERROR, 0);

    fake.set(PARAMETERS, 1);
    assert_eq!(Aes::new(fake.registers()).err(), Some(Error::Entropy));
    fake.set(STATUS, READY | HEALTHY);
    let mut masked = aes(&fake);
    assert!(masked.is_masked());
    masked.load_key(&[0; 16]).unwrap();
    // The source fails, and the engine is idle without output, because it has dropped the message.
    fake.set(STATUS, IDLE);
    let mut block = [0; 16];
    assert_eq!(
        masked.process(ModeOfOperation::Ecb, Direction::Encrypt, &mut block),
        Err(Error::Entropy)
    );
    fake.set(STATUS, READY | HEALTHY);
    fake.set(ERROR, BAD_ENTROPY);
    assert_eq!(
        masked.process(ModeOfOperation::Ecb, Direction::Encrypt, &mut block),
        Err(Error::Entropy)
    );
}

#[test]
fn loads_keys_of_three_lengths_and_no_other() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    let key: [u8; 33] = core::array::from_fn(|at| at as u8);
    for length in [0, 1, 15, 17, 31, 33] {
        assert_eq!(aes.load_key(&key[..length]), Err(Error::Length), "{length}");
    }
    aes.load_key(&key[..32]).unwrap();
    assert_eq!((fake.get(KEY), fake.get(KEY + 7)), (0x0302_0100, 0x1f1e_1d1c));
    fake.set(ERROR, BAD_KEY);
    assert_eq!(aes.load_key(&key[..16]), Err(Error::Refused));
}

#[test]
fn configures_a_message() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    aes.load_key(&[0; 24]).unwrap();
    let mut text = [0xff; 20];
    fake.set(DATA_OUT, 0x0403_0201);
    aes.process(ModeOfOperation::Ctr(&[7; 16]), Direction::Decrypt, &mut text).unwrap();
    assert_eq!(fake.get(CONTROL), 3 | 1 << 3 | 1 << 4);
    assert_eq!((fake.get(TEXT_LEN), fake.get(AAD_LEN), fake.get(IV)), (20, 0, 0x0707_0707));
    assert_eq!(fake.get(COMMAND), START);
    // The last block has four bytes and is filled with zeros.
    assert_eq!((fake.get(DATA_IN), fake.get(DATA_IN + 1)), (0xffff_ffff, 0));
    assert_eq!(text[16..], [1, 2, 3, 4]);
    let streams = Streams { input: true, output: true };
    aes.begin(ModeOfOperation::Ecb, Direction::Encrypt, &[], 64, None, streams).unwrap();
    assert_eq!(fake.get(CONTROL), 1 | 1 << 4 | 3 << 6);
}

#[test]
fn opens_nothing_without_a_right_tag() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    let mut text = [1; 16];
    // The engine reports nothing about the tag: neither an error nor a match.
    assert_eq!(aes.open(&[0; 12], &[], &mut text, &[9; 16]), Err(Error::NotAuthentic));
    assert_eq!(text, [0; 16]);
    assert_eq!((fake.get(TAG_LEN_AT), fake.get(TAG), fake.get(IV_LEN)), (16, 0x0909_0909, 12));
    fake.set(STATUS, READY | MATCHES);
    fake.set(DATA_OUT, 5);
    aes.open(&[0; 12], &[], &mut text, &[9; 16]).unwrap();
    assert_eq!(text[0], 5);
    for length in [0, 3, 17] {
        let tag = [0; 17];
        assert_eq!(aes.open(&[0; 12], &[], &mut text, &tag[..length]), Err(Error::Length));
        assert_eq!(text, [0; 16]);
    }
    let streams = Streams::default();
    let missing =
        aes.begin(ModeOfOperation::Gcm(&[0; 12]), Direction::Decrypt, &[], 16, None, streams);
    assert_eq!(missing, Err(Error::Length));
    for (error, wanted) in
        [(BAD_TAG, Error::NotAuthentic), (BAD_LENGTH, Error::Length), (BAD_KEY, Error::Refused)]
    {
        fake.set(ERROR, error);
        text = [1; 16];
        assert_eq!(aes.open(&[0; 12], &[], &mut text, &[9; 16]), Err(wanted));
        assert_eq!(text, [0; 16]);
    }
}

#[test]
fn a_long_vector_goes_before_the_other_data() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    let _ = aes.seal(&[3; 20], &[4; 5], &mut []).unwrap();
    assert_eq!((fake.get(IV_LEN), fake.get(AAD_LEN), fake.get(IV)), (20, 5, 0));
    // The last input is the end of the additional data.
    assert_eq!((fake.get(DATA_IN), fake.get(DATA_IN + 1)), (0x0404_0404, 4));
}

#[test]
fn counts_to_any_offset_of_a_stream() {
    assert_eq!(counter_at(&[0; 16], 37), (2_u128.to_be_bytes(), 5));
    assert_eq!(counter_at(&[0xff; 16], 16), ([0; 16], 0));
    let (counter, skip) = counter_at(&[0xff; 16], u64::MAX);
    assert_eq!((u128::from_be_bytes(counter), skip), ((1 << 60) - 2, 15));
}

#[test]
fn wraps_keys_of_some_lengths_and_unwraps_no_other_key() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    let (key, mut wrapped) = ([1; MAX_WRAPPED_LEN + 8], [0; MAX_WRAPPED_LEN + 16]);
    for length in [0, 8, 17, MAX_WRAPPED_LEN + 1, MAX_WRAPPED_LEN + 8] {
        let result = aes.wrap(&key[..length], &mut wrapped[..length + 8]);
        assert_eq!(result, Err(Error::Length), "{length}");
    }
    assert_eq!(aes.wrap(&key[..16], &mut wrapped[..16]), Err(Error::Length));
    // The engine returns zero for every block, which is not a wrapped key.
    let mut back = [1; 16];
    assert_eq!(aes.unwrap_key(&[2; 24], &mut back), Err(Error::NotAuthentic));
    assert_eq!(back, [0; 16]);
    fake.set(STATUS, IDLE);
    back = [1; 16];
    assert_eq!(aes.unwrap_key(&[2; 24], &mut back), Err(Error::Silent));
    assert_eq!(back, [0; 16]);
    // The buffer already contained the key in clear, so it has to be overwritten.
    assert_eq!(aes.wrap(&key[..16], &mut wrapped[..24]), Err(Error::Silent));
    assert_eq!(wrapped[..24], [0; 24]);
}

#[test]
fn blocks_go_by_words_in_the_order_of_memory() {
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    aes.begin(
        ModeOfOperation::Cbc(&[0; 16]),
        Direction::Encrypt,
        &[],
        16,
        None,
        Streams::default(),
    )
    .unwrap();
    let control = AesControl::RESET.with_mode(AesMode::Cbc).with_key_len(AesKeyLen::Key256);
    assert_eq!(fake.get(CONTROL), control.to_bits());
    aes.push_block([1, 2, 3, 4]);
    let pushed = core::array::from_fn(|at| fake.get(DATA_IN + at));
    assert_eq!(pushed, [1, 2, 3, 4]);
    for (at, word) in (DATA_OUT..).zip([5, 6, 7, 8]) {
        fake.set(at, word);
    }
    aes.until_result().unwrap();
    assert_eq!(aes.pull_block(), [5, 6, 7, 8]);
    fake.set(STATUS, 0);
    assert_eq!(aes.until_result(), Err(Error::Silent));
}
