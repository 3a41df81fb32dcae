//! In these tests a model of the engine sees each access, and answers late.

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
const OUTCOME: usize = 8;
const KEY: usize = 16;
const DIGEST: usize = 48;
const POINT: usize = 64;
const S: usize = 72;

const LOAD: u32 = 1;
const PUBLIC_KEY: u32 = 2;
const NONCE: u32 = 4;
const SIGN: u32 = 8;
const VERIFY: u32 = 16;
const WIPE: u32 = 128;
const CLAMP: u32 = 32;
const GOOD: u32 = 0xc33c_c33c;
const DONE: u32 = 0xa55a_a55a;

#[derive(Default)]
struct Ed25519Model {
    /// The registers that were written, in order; a row of words is one entry, with its first word.
    writes: Vec<(usize, u32)>,
    last: usize,
    busy: u32,
    /// Bits that these writes of the configuration change, by their number.
    control_upset: Option<usize>,
    controls: usize,
    /// Each word of the point in this mask is the number of its reads.
    point_upset: u8,
    reads: [u32; 8],
    errors: u32,
    is_failed: bool,
    refused: usize,
}

impl Ed25519Model {
    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        words[0] = MAGIC;
        match access {
            RegisterAccess::Read(at) if at / 4 == STATUS => {
                self.busy = self.busy.saturating_sub(1);
                words[STATUS] = if self.is_failed { 16 } else { u32::from(self.busy == 0) };
            }
            RegisterAccess::Read(at) if (POINT..POINT + 8).contains(&(at / 4)) => {
                let index = at / 4 - POINT;
                let is_upset = self.point_upset >> index & 1 != 0;
                words[at / 4] = if is_upset { self.reads[index] } else { index as u32 };
                self.reads[index] += 1;
            }
            RegisterAccess::Read(_) => {}
            RegisterAccess::Write(at) => {
                let at = at / 4;
                self.refused += usize::from(self.busy > 0 && at != INTERRUPT);
                let is_next = at == self.last + 1 && at > KEY && !at.is_multiple_of(8)
                    || at == DIGEST + 8 && self.last == at - 1;
                self.last = at;
                if !is_next {
                    self.writes.push((at, words[at]));
                }
                if at == CONTROL {
                    words[CONTROL] ^= u32::from(self.control_upset == Some(self.controls));
                    self.controls += 1;
                }
                if at == COMMAND {
                    self.busy = 4;
                    words[STATUS] = 0;
                    words[OUTCOME] = if words[COMMAND] == VERIFY { GOOD } else { DONE };
                    words[ERROR] = self.errors;
                    words[S] = 0x5555;
                }
            }
        }
    }
}

fn with_engine<W: Wait, T>(
    wait: W,
    engine: Ed25519Model,
    act: impl FnOnce(&mut Ed25519<W>, &RefCell<Ed25519Model>) -> T,
) -> (T, Ed25519Model) {
    let (result, engine) = with_device(80, engine, Ed25519Model::access, |base, engine| {
        // SAFETY: the registers exist as long as the driver.
        let mut driver = Ed25519::new(unsafe { Ed25519Registers::new(base) }, wait).unwrap();
        assert_eq!(engine.borrow().writes.first(), Some(&(COMMAND, WIPE)));
        engine.borrow_mut().writes.clear();
        act(&mut driver, engine)
    });
    assert_eq!(engine.refused, 0);
    (result, engine)
}

/// The point of the model.
fn point() -> [u8; 32] {
    core::array::from_fn(|at| if at % 4 == 0 { at as u8 / 4 } else { 0 })
}

fn load(engine: Ed25519Model) -> (Result<[u8; 32], Error>, Ed25519Model) {
    let slot = Ed25519Slot::from(SigningSlot::Known);
    with_engine(Polling, engine, |engine, _| engine.load(slot, &[7; 64]))
}

#[test]
fn a_key_is_loaded_with_its_scalar_clamped_and_no_word_stays() {
    let (key, engine) = load(Ed25519Model::default());
    assert_eq!(key, Ok(point()));
    let wanted = [
        (ERROR, 0),
        (CONTROL, 2 | CLAMP),
        (DIGEST, 0x0707_0707),
        (CONTROL, 2),
        (CONTROL, 2),
        (COMMAND, LOAD),
        (ERROR, 0),
        (CONTROL, 2),
        (COMMAND, PUBLIC_KEY),
    ];
    assert_eq!(engine.writes, wanted);
    for (slot, number) in
        [(SigningSlot::Device, 0), (SigningSlot::Monitor, 1), (SigningSlot::Known, 2)]
    {
        assert_eq!(Ed25519Slot::new(number), Some(Ed25519Slot::from(slot)));
    }
}

#[test]
fn a_signature_is_made_from_a_nonce_and_a_challenge() {
    let slot = Ed25519Slot::new(3).unwrap();
    let (signature, engine) = with_engine(Polling, Ed25519Model::default(), |engine, _| {
        engine.sign(slot, &[8; 64], |r| {
            assert_eq!(*r, point());
            [9; 64]
        })
    });
    let signature = signature.unwrap();
    assert_eq!((&signature[..32], &signature[32..36]), (&point()[..], &[0x55, 0x55, 0, 0][..]));
    let wanted = [
        (ERROR, 0),
        (DIGEST, 0x0808_0808),
        (CONTROL, 3),
        (COMMAND, NONCE),
        (ERROR, 0),
        (DIGEST, 0x0909_0909),
        (CONTROL, 3),
        (COMMAND, SIGN),
    ];
    assert_eq!(engine.writes, wanted);
}

#[test]
fn what_was_upset_is_not_used() {
    // The second write of the three that follow the key overwrites the register block, and nothing reads it.
    for (control, wanted) in [(0, Err(Error::Failed)), (1, Ok(point())), (2, Err(Error::Failed))] {
        let engine = Ed25519Model { control_upset: Some(control), ..Ed25519Model::default() };
        assert_eq!(load(engine).0, wanted, "{control}");
    }
    // Also two words that differ in the same bit.
    for mask in (0..8).map(|word| 1 << word).chain([0b11]) {
        let engine = Ed25519Model { point_upset: mask, ..Ed25519Model::default() };
        assert_eq!(load(engine).0, Err(Error::Failed), "{mask:#x}");
    }
    for bit in 0..2 {
        let (key, engine) = load(Ed25519Model { errors: 1 << bit, ..Ed25519Model::default() });
        assert_eq!(key, Err(Error::Refused));
        assert_eq!(engine.writes[0], (ERROR, 1 << bit), "earlier errors are not cleared");
    }
    let (results, _) = with_engine(Polling, Ed25519Model::default(), |engine, model| {
        model.borrow_mut().is_failed = true;
        (engine.public_key(Ed25519Slot(0)), Wipe::wipe(engine))
    });
    assert_eq!(results, (Err(Error::Failed), Some(())), "a failed engine has wiped itself");
}

#[test]
fn a_kernel_is_wiped_unless_its_engine_is_silent() {
    let (wiped, engine) =
        with_engine(Polling, Ed25519Model::default(), |engine, _| Wipe::wipe(engine));
    assert_eq!((wiped, engine.writes), (Some(()), vec![(COMMAND, WIPE)]));
    let registers = vec![0_u32; 80].leak();
    (registers[0], registers[STATUS]) = (MAGIC, 1);
    let base = registers.as_mut_ptr();
    // SAFETY: there is a word for each register, which is never freed.
    let mut engine = Ed25519::new(unsafe { Ed25519Registers::new(base) }, Polling).ok().unwrap();
    // SAFETY: it is a word of the registers.
    unsafe { base.wrapping_add(STATUS).write_volatile(0) };
    assert_eq!(Wipe::wipe(&mut engine), None);
}

#[test]
fn the_end_of_a_command_is_slept_for() {
    let sleeps = Cell::new(0);
    let (verdict, engine) = with_engine(Counted(&sleeps), Ed25519Model::default(), |engine, _| {
        sleeps.set(0);
        engine.verify(&[1; 32], &[2; 64], &[3; 64])
    });
    assert_eq!((verdict, sleeps.get()), (Ok(Ok(())), 3));
    let mut wanted = vec![(ERROR, 0), (KEY, 0x0101_0101), (KEY + 8, 0x0202_0202)];
    wanted.extend([(KEY + 16, 0x0202_0202), (DIGEST, 0x0303_0303), (CONTROL, 0)]);
    wanted.extend([(INTERRUPT, 3), (ENABLE, 3), (COMMAND, VERIFY)]);
    wanted.extend([(INTERRUPT, 3); 3]);
    assert_eq!(engine.writes, wanted);
}
