//! In these tests a model of the engine sees each access. Its cipher is a toy, and its timing is the least favourable.

use core::cell::RefCell;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_device, writes_to};

const INPUT_FREE: u32 = 2;
const OUTPUT_VALID: u32 = 4;
/// More reads of the status than the driver makes before it handles errors.
const LATE: u32 = BLOCK_POLLS + 4;

#[derive(Default)]
struct AesModel {
    /// The registers that were written, in order, except those of blocks.
    writes: Vec<(usize, u32)>,
    blocks: Vec<[u32; 4]>,
    /// Accesses that the engine would refuse.
    refused: Vec<RegisterAccess>,
    /// Number of input blocks without a result, and of all input blocks, until the message ends.
    quiet: u32,
    left: u32,
    /// The status after these reads of it.
    next: (u32, u32),
    /// This word of the tag is the number of its reads.
    tag_upset: Option<(usize, u32)>,
    /// The second write of the configuration is lost, as that of an upset bus.
    loses_control: bool,
}

impl AesModel {
    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        words[ID] = MAGIC;
        let status = words[STATUS];
        let free = |bit: u32| status & bit != 0;
        match access {
            RegisterAccess::Read(at) if at / 4 == STATUS => {
                self.next.1 = self.next.1.saturating_sub(1);
                if self.next.1 == 0 {
                    words[STATUS] = self.next.0;
                }
            }
            RegisterAccess::Read(at) if (DATA_OUT..DATA_OUT + 4).contains(&(at / 4)) => {
                if !free(OUTPUT_VALID) {
                    self.refused.push(access);
                }
                if at / 4 == DATA_OUT + 3 {
                    self.take_up(words, 1);
                }
            }
            RegisterAccess::Read(at)
                if self.tag_upset.is_some_and(|(word, _)| TAG + word == at / 4) =>
            {
                self.tag_upset = self.tag_upset.map(|(word, reads)| (word, reads + 1));
                words[at / 4] = self.tag_upset.map_or(0, |(_, reads)| reads);
            }
            RegisterAccess::Read(_) => {}
            RegisterAccess::Write(at) if (DATA_IN..DATA_IN + 4).contains(&(at / 4)) => {
                if !free(INPUT_FREE) {
                    self.refused.push(access);
                }
                if at / 4 == DATA_IN + 3 {
                    self.block(words);
                }
            }
            RegisterAccess::Write(at) => {
                if !free(IDLE) && ![COMMAND, ERROR].contains(&(at / 4)) {
                    self.refused.push(access);
                }
                self.write(at / 4, words);
            }
        }
    }

    fn write(&mut self, at: usize, words: &mut [u32]) {
        self.writes.push((at, words[at]));
        match (at, words[at]) {
            (CONTROL, _) if self.loses_control && self.left == 0 && self.writes.len() > 8 => {
                words[CONTROL] = 0;
            }
            (COMMAND, START) => {
                let blocks = |len: u32| len.div_ceil(16);
                let is_gcm = words[CONTROL] & 7 == 4;
                let vector = if words[IV_LEN] == 12 { 0 } else { blocks(words[IV_LEN]) };
                self.quiet = if is_gcm { vector + blocks(words[AAD_LEN]) } else { 0 };
                self.left = self.quiet + blocks(words[TEXT_LEN]);
                words[STATUS] = 0;
                self.take_up(words, 3);
            }
            (COMMAND, _) => {
                self.left = 0;
                words[STATUS] = 0;
                self.take_up(words, 3);
            }
            _ => {}
        }
    }

    /// Takes a block, and shows its result after a while.
    fn block(&mut self, words: &mut [u32]) {
        let block: [u32; 4] = core::array::from_fn(|at| words[DATA_IN + at]);
        self.blocks.push(block);
        words[STATUS] = 0;
        if self.left == 0 {
            self.refused.push(RegisterAccess::Write(DATA_IN * 4));
        }
        self.left = self.left.saturating_sub(1);
        if self.quiet > 0 {
            self.quiet -= 1;
            return self.take_up(words, 3);
        }
        let result = if words[CONTROL] & 8 == 0 { encrypt(block) } else { decrypt(block) };
        words[DATA_OUT..DATA_OUT + 4].copy_from_slice(&result);
        self.next = (OUTPUT_VALID, if self.left.is_multiple_of(2) { LATE } else { 1 });
    }

    /// Shows the status between blocks after these reads of it.
    fn take_up(&mut self, words: &mut [u32], reads: u32) {
        // A block that was just read is not there any more, and the next one can be written at once.
        let status = if self.left > 0 { INPUT_FREE } else { IDLE | INPUT_FREE };
        self.next = (status, reads);
        if reads == 1 {
            words[STATUS] = status;
        }
    }
}

const ROUNDS: u32 = 12;

fn mixed(b: u32, d: u32, round: u32) -> u32 {
    (b ^ d.rotate_left(9)).rotate_left(7).wrapping_add(0x9e37_79b9 ^ round)
}

fn encrypt(block: [u32; 4]) -> [u32; 4] {
    (0..ROUNDS).fold(block, |[a, b, c, d], round| [b, c, d, a.wrapping_add(mixed(b, d, round))])
}

fn decrypt(block: [u32; 4]) -> [u32; 4] {
    let back = |[b, c, d, e]: [u32; 4], round| [e.wrapping_sub(mixed(b, d, round)), b, c, d];
    (0..ROUNDS).rev().fold(block, back)
}

/// Calls `act` with a driver that has loaded a key of 16 bytes; checks that the engine refused nothing.
fn with_engine<T>(
    engine: AesModel,
    act: impl FnOnce(&mut Aes, &RefCell<AesModel>) -> T,
) -> (T, AesModel) {
    let (result, engine) = with_device(WORDS, engine, AesModel::access, |base, engine| {
        // SAFETY: the registers exist as long as the driver.
        let mut aes = Aes::new(unsafe { AesRegisters::new(base) }).unwrap();
        aes.load_key(&[9; 16]).unwrap();
        engine.borrow_mut().writes.clear();
        act(&mut aes, engine)
    });
    assert_eq!(engine.refused, []);
    (result, engine)
}

fn of_bytes(bytes: &[u8]) -> Vec<[u32; 4]> {
    let blocks = bytes.chunks(16).map(|block| {
        let mut padded = [0; 16];
        padded[..block.len()].copy_from_slice(block);
        core::array::from_fn(|at| u32::from_le_bytes(padded[4 * at..][..4].try_into().unwrap()))
    });
    blocks.collect()
}

#[test]
fn a_text_of_any_length_passes_block_by_block() {
    let text: Vec<u8> = (0..80).collect();
    for len in [1, 15, 16, 17, 64, 80] {
        let mut buffer = text[..len].to_vec();
        let (result, engine) = with_engine(AesModel::default(), |aes, _| {
            aes.process(ModeOfOperation::Ctr(&[1; 16]), Direction::Encrypt, &mut buffer)
        });
        assert_eq!((result, &engine.blocks), (Ok(()), &of_bytes(&text[..len])));
        let wanted: Vec<u8> =
            engine.blocks.iter().flat_map(|it| encrypt(*it)).flat_map(u32::to_le_bytes).collect();
        assert_eq!(buffer, wanted[..len]);
    }
    let ecb = |direction, text: &mut [u8]| {
        with_engine(AesModel::default(), |aes, _| {
            aes.process(ModeOfOperation::Ecb, direction, text)
        })
        .0
    };
    let mut buffer = text.clone();
    assert_eq!(ecb(Direction::Encrypt, &mut buffer), Ok(()));
    assert_ne!(buffer, text);
    assert_eq!(ecb(Direction::Decrypt, &mut buffer), Ok(()));
    assert_eq!(buffer, text);
    let gcm = |aes: &mut Aes| {
        aes.process(ModeOfOperation::Gcm(&[1; 12]), Direction::Encrypt, &mut [0; 16])
    };
    let (result, engine) = with_engine(AesModel::default(), |aes, _| gcm(aes));
    assert_eq!((result, engine.writes), (Err(Error::Length), vec![]));
}

#[test]
fn a_message_is_configured_before_it_starts() {
    let (vector, more, mut text): (Vec<u8>, Vec<u8>, _) =
        ((0..20).collect(), (30..70).collect(), [5; 20]);
    let ((), engine) = with_engine(AesModel::default(), |aes, _| {
        let _ = aes.seal(&vector, &more, &mut text).unwrap();
    });
    let control = 4;
    let wanted = [
        (ERROR, 0),
        (CONTROL, control),
        (TEXT_LEN, 20),
        (AAD_LEN, 40),
        (IV_LEN, 20),
        (COMMAND, START),
        (CONTROL, control),
    ];
    assert_eq!(engine.writes, wanted);
    let blocks = [of_bytes(&vector), of_bytes(&more), of_bytes(&[5; 20])].concat();
    assert_eq!(engine.blocks, blocks);

    let (result, engine) = with_engine(AesModel::default(), |aes, _| {
        aes.open(&[7; 12], &[], &mut text, &[1, 2, 3, 4, 5])
    });
    assert_eq!((result, text), (Err(Error::NotAuthentic), [0; 20]));
    let control = 4 | 1 << 3;
    let wanted = [
        (ERROR, 0),
        (CONTROL, control),
        (TEXT_LEN, 20),
        (AAD_LEN, 0),
        (IV_LEN, 12),
        (IV, 0x0707_0707),
        (IV + 1, 0x0707_0707),
        (IV + 2, 0x0707_0707),
        (TAG_LEN_AT, 5),
        (TAG, 0x0403_0201),
        (TAG + 1, 5),
        (TAG + 2, 0),
        (TAG + 3, 0),
        (COMMAND, START),
        (CONTROL, control),
    ];
    assert_eq!(engine.writes, wanted);
}

#[test]
fn a_tag_or_configuration_that_reads_differently_is_refused() {
    let seal = |engine| with_engine(engine, |aes, _| aes.seal(&[1; 12], &[], &mut [0; 32])).0;
    assert_eq!(seal(AesModel::default()), Ok([0; 16]));
    for word in 0..4 {
        let engine = AesModel { tag_upset: Some((word, 0)), ..AesModel::default() };
        assert_eq!(seal(engine), Err(Error::Refused), "{word}");
    }
    assert_eq!(seal(AesModel { loses_control: true, ..AesModel::default() }), Err(Error::Refused));
}

#[test]
fn a_key_of_the_slot_has_its_length_and_is_waited_for() {
    let (result, engine) = with_engine(AesModel::default(), |aes, _| {
        aes.load_slot()?;
        aes.process(ModeOfOperation::Ecb, Direction::Encrypt, &mut [0; 16])
    });
    assert_eq!(result, Ok(()));
    assert_eq!(engine.writes[..3], [(ERROR, 0), (COMMAND, 1 << 3), (ERROR, 0)]);
    assert_eq!(engine.writes[3], (CONTROL, 1 | 2 << 4));
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    fake.set(ERROR, BAD_KEY);
    assert_eq!(aes.load_slot(), Err(Error::Refused), "there is no key");
}

#[test]
fn a_key_leaves_no_word_in_the_register_block() {
    let key: [u8; 32] = core::array::from_fn(|at| at as u8);
    for len in [16, 24, 32] {
        let (result, writes) = writes_to(&[(0, MAGIC), (4 * STATUS, READY)], |base| {
            // SAFETY: the registers exist as long as the driver.
            let mut aes = Aes::new(unsafe { AesRegisters::new(base) }).unwrap();
            aes.load_key(&key[..len])
        });
        assert_eq!(result, Ok(()));
        let mut wanted = vec![(4 * COMMAND, 4), (4 * ERROR, 0)];
        let word = |at: usize| 0x0302_0100 + 0x0404_0404 * at as u32;
        wanted.extend((0..len / 4).map(|at| (4 * (KEY + at), word(at))));
        wanted.push((4 * AAD_LEN, 0));
        assert_eq!(writes, wanted);
    }
}

#[test]
fn an_abort_and_a_wipe_are_waited_for() {
    let ((), engine) = with_engine(AesModel::default(), |aes, engine| {
        aes.begin(ModeOfOperation::Ecb, Direction::Encrypt, &[], 64, None, Streams::default())
            .unwrap();
        aes.abort().unwrap();
        assert_eq!(engine.borrow().next.1, 0, "it does not wait");
        aes.wipe().unwrap();
        assert_eq!(engine.borrow().next.1, 0, "it does not wait");
    });
    assert_eq!(engine.writes[engine.writes.len() - 2..], [(COMMAND, 2), (COMMAND, 4)]);
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    fake.set(STATUS, INPUT_FREE);
    assert_eq!(aes.abort(), Err(Error::Silent));
}

#[test]
fn every_error_bit_has_its_meaning_and_is_cleared() {
    let refused = Err(Error::Refused);
    let length = Err(Error::Length);
    let authentic = Err(Error::NotAuthentic);
    let wanted = [
        refused,
        refused,
        refused,
        length,
        length,
        refused,
        refused,
        length,
        authentic,
        Ok(()),
        refused,
    ];
    for masked in [0, 1] {
        let fake = FakeAes::idle();
        fake.set(PARAMETERS, masked);
        fake.set(STATUS, READY | HEALTHY);
        let aes = aes(&fake);
        let check = |bits| {
            fake.set(ERROR, bits);
            let result = aes.check();
            // Hardware clears the bits that are written; memory keeps them.
            assert_eq!(fake.get(ERROR), bits);
            result
        };
        assert_eq!(check(0), Ok(()));
        for (bit, wanted) in wanted.into_iter().enumerate() {
            let wanted = if bit == 9 && masked == 1 { Err(Error::Entropy) } else { wanted };
            assert_eq!(check(1 << bit), wanted, "{bit}");
            // A failed noise source hides no other error of an unmasked engine.
            let both = if masked == 1 { Err(Error::Entropy) } else { wanted };
            assert_eq!(check(1 << bit | BAD_ENTROPY), both, "{bit}");
        }
        if masked == 0 {
            assert_eq!(check(BAD_TAG | BAD_LENGTH), authentic);
            assert_eq!(check(BAD_LENGTH | 1), length);
        }
    }
}

/// SP 800-38F §6.2, algorithm 3, over numbers of 64 bits.
fn wrapped(key: &[u8]) -> Vec<u8> {
    let mut a = 0xa6a6_a6a6_a6a6_a6a6_u64;
    let mut r: Vec<u64> =
        key.chunks(8).map(|half| u64::from_be_bytes(half.try_into().unwrap())).collect();
    let mut t = 0;
    for _ in 0..6 {
        for half in &mut r {
            t += 1;
            let block = [a.to_be_bytes(), half.to_be_bytes()].concat();
            let result = encrypt(of_bytes(&block)[0]).map(u32::to_le_bytes).concat();
            a = u64::from_be_bytes(result[..8].try_into().unwrap()) ^ t;
            *half = u64::from_be_bytes(result[8..].try_into().unwrap());
        }
    }
    core::iter::once(&a).chain(&r).flat_map(|half| half.to_be_bytes()).collect()
}

#[test]
fn keys_are_wrapped_as_the_standard_says() {
    for len in [16, 24, 40] {
        let key: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let (mut wrapping, mut back) = (vec![0; len + 8], vec![0; len]);
        let (result, engine) =
            with_engine(AesModel::default(), |aes, _| aes.wrap(&key, &mut wrapping));
        assert_eq!((result, engine.left), (Ok(()), 0));
        assert_eq!(wrapping, wrapped(&key));
        let unwrap = |wrapping: &[u8], back: &mut [u8]| {
            with_engine(AesModel::default(), |aes, _| aes.unwrap_key(wrapping, back)).0
        };
        assert_eq!(unwrap(&wrapping, &mut back), Ok(()));
        assert_eq!(back, key);
        wrapping[len / 2] ^= 1;
        assert_eq!(unwrap(&wrapping, &mut back), Err(Error::NotAuthentic));
        assert_eq!(back, vec![0; len]);
        assert_eq!(unwrap(&wrapping[1..], &mut back), Err(Error::Length));
    }
    // Memory as an engine takes less time.
    let fake = FakeAes::idle();
    let mut aes = aes(&fake);
    let (key, mut wrapping) = ([0; MAX_WRAPPED_LEN], [0; MAX_WRAPPED_LEN + 8]);
    assert_eq!(aes.wrap(&key, &mut wrapping), Ok(()));
    let mut lengths = |key: usize| aes.unwrap_key(&vec![0; key + 8], &mut vec![0; key]);
    assert_eq!(lengths(MAX_WRAPPED_LEN), Err(Error::NotAuthentic));
    for len in [0, 8, 17, 20, MAX_WRAPPED_LEN + 8] {
        assert_eq!(lengths(len), Err(Error::Length), "{len}");
    }
}
