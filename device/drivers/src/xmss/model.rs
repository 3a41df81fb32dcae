//! In these tests a model of the engine sees each access, and answers late.

use core::cell::{Cell, RefCell};
use std::vec;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_device};
use crate::wait::{Counted, Polling};

// These are offsets in words.
const PARAMETERS: usize = 1;
const CONTROL: usize = 2;
const COMMAND: usize = 3;
const STATUS: usize = 4;
const ERROR: usize = 5;
const INTERRUPT: usize = 6;
const ENABLE: usize = 7;
const EXPECTED_TYPE: usize = 8;
const KEY_TYPE: usize = 9;
const FINAL_SIZE: usize = 11;
const VERDICT: usize = 12;
const DATA: usize = 14;
const KEY: usize = 16;
const ROOT: usize = 32;
const ALGORITHM: usize = 40;

const START: u32 = 1;
const ABORT: u32 = 2;

#[derive(Default)]
struct XmssModel {
    /// What was pushed, with true at the end of a message.
    pushed: Vec<(Vec<u8>, bool)>,
    /// Registers that were written, in order, except those of key and input.
    writes: Vec<(usize, u32)>,
    /// Reads of the status until the command has ended, and the status then.
    busy: (u32, u32),
    is_failed: bool,
    errors: u32,
    /// Accesses while the engine is busy.
    refused: usize,
}

impl XmssModel {
    fn access(&mut self, access: RegisterAccess, words: &mut [u32]) {
        (words[0], words[PARAMETERS]) = (MAGIC, 0x1f << 8);
        (words[VERDICT], words[VERDICT + 1]) = (PASSED as u32, (PASSED >> 32) as u32);
        let (RegisterAccess::Read(at) | RegisterAccess::Write(at)) = access;
        match (access, at / 4) {
            (RegisterAccess::Read(_), STATUS) => {
                self.busy.0 = self.busy.0.saturating_sub(1);
                words[STATUS] = if self.busy.0 == 0 { self.busy.1 } else { 0 };
                if self.is_failed {
                    words[STATUS] = 8 | 1;
                }
            }
            (RegisterAccess::Read(_), at @ ROOT..ALGORITHM) => words[at] = 0x100 + at as u32,
            (RegisterAccess::Read(_), _) | (RegisterAccess::Write(_), DATA | KEY..ROOT) => {}
            (RegisterAccess::Write(_), DATA_HIGH) => {
                let both = [words[DATA], words[DATA_HIGH]].map(u32::to_le_bytes).concat();
                let size = core::mem::take(&mut words[FINAL_SIZE]);
                let is_last = size != 0;
                let len = if is_last { (size & 15) as usize } else { 8 };
                self.refused += both.iter().skip(len).filter(|byte| **byte != 0).count();
                self.pushed.push((both[..len].to_vec(), is_last));
            }
            (RegisterAccess::Write(_), FINAL_SIZE) => {}
            (RegisterAccess::Write(_), at) => {
                let is_free = at == INTERRUPT || (at, words[at]) == (COMMAND, ABORT);
                self.refused += usize::from(self.busy.0 > 0 && !is_free);
                self.writes.push((at, words[at]));
                if at == COMMAND || at == ALGORITHM {
                    let is_start = at == COMMAND && words[COMMAND] == START;
                    self.busy = (4, if is_start { 4 } else { 1 });
                    words[ERROR] = if is_start { self.errors } else { words[ERROR] };
                }
            }
        }
    }

    /// Returns the messages that were pushed; a word before the end of a message is full.
    fn messages(&self) -> Vec<Vec<u8>> {
        let mut messages = vec![Vec::new()];
        for (word, is_last) in &self.pushed {
            messages.last_mut().unwrap().extend(word);
            if *is_last {
                messages.push(Vec::new());
            }
        }
        messages
    }
}

const DATA_HIGH: usize = DATA + 1;

fn with_engine<W: Wait, T>(
    wait: W,
    engine: XmssModel,
    act: impl FnOnce(&mut Xmss<W>, &RefCell<XmssModel>) -> T,
) -> (T, XmssModel) {
    let (result, engine) = with_device(48, engine, XmssModel::access, |base, engine| {
        // SAFETY: the registers exist as long as the driver.
        let mut driver = Xmss::new(unsafe { XmssRegisters::new(base) }, wait).unwrap();
        assert_eq!(engine.borrow().writes, [(COMMAND, ABORT), (ERROR, 0)]);
        engine.borrow_mut().writes.clear();
        act(&mut driver, engine)
    });
    assert_eq!(engine.refused, 0);
    (result, engine)
}

fn key(kind: u32) -> Vec<u8> {
    kind.to_be_bytes().into_iter().chain(0..64).collect()
}

#[test]
fn the_verdict_is_the_number_that_the_hardware_has() {
    assert_eq!(PASSED, 0xfda4_51c8_1f52_7a59);
}

#[test]
fn signature_and_message_are_pushed_in_words_with_their_ends() {
    let bytes: Vec<u8> = (1..=100).collect();
    for (len, at) in [(0, 0), (1, 1), (7, 3), (8, 8), (9, 4), (16, 1), (41, 20)] {
        let (signature, message) = (&bytes[..len + 3], &bytes[50..50 + len]);
        let (first, second) = message.split_at(at);
        let (judged, engine) = with_engine(Polling, XmssModel::default(), |engine, _| {
            engine.verify(1, &key(1), &[first, &[], second], signature)
        });
        let root = core::array::from_fn(|at| 0x120 + at as u32);
        assert_eq!(judged, Ok(Judged { verdict: Ok(()), root }));
        assert_eq!(engine.messages(), [signature, message, &[]]);
        let wanted = [
            (ERROR, 0),
            (CONTROL, 0),
            (EXPECTED_TYPE, 1),
            (KEY_TYPE, 1),
            (COMMAND, START),
            (COMMAND, ABORT),
        ];
        assert_eq!(engine.writes, wanted);
    }
    // The lowest layer of XMSS^MT signs the message.
    for len in [39, 40, 41, 60] {
        let signature = &bytes[..len];
        let (_, engine) = with_engine(Polling, XmssModel::default(), |engine, _| {
            engine.verify_by(1, &Key::xmss_mt(&key(1)).unwrap(), &[b"text"], signature)
        });
        let wanted = if len > 40 {
            vec![[&signature[..40], b"text"].concat(), signature[40..].to_vec(), vec![]]
        } else {
            vec![signature.to_vec(), b"text".to_vec(), vec![]]
        };
        assert_eq!(engine.messages(), wanted, "{len}");
        assert_eq!(engine.writes[..3], [(ERROR, 0), (ALGORITHM, 1), (ERROR, 0)]);
    }
}

#[test]
fn an_error_or_a_failure_is_no_verdict_and_the_engine_is_stopped() {
    for bit in 0..3 {
        let (judged, engine) = with_engine(
            Polling,
            XmssModel { errors: 1 << bit, ..XmssModel::default() },
            |engine, _| engine.verify(1, &key(1), &[], &[1]),
        );
        assert_eq!(judged, Err(Error::Refused));
        assert_eq!(engine.writes.last(), Some(&(COMMAND, ABORT)));
    }
    let (results, _) = with_engine(Polling, XmssModel::default(), |engine, model| {
        let started = engine.start(&Key::xmss(&key(1)).unwrap(), &[], &[1]);
        model.borrow_mut().is_failed = true;
        (started, engine.root(&mut [0; 8]), engine.verify(1, &key(1), &[], &[]))
    });
    assert_eq!(results, (Some(()), None, Err(Error::Failed)));
}

#[test]
fn the_verdict_is_slept_for() {
    let sleeps = Cell::new(0);
    let (judged, engine) = with_engine(Counted(&sleeps), XmssModel::default(), |engine, _| {
        assert_eq!(Wipe::wipe(engine), Some(()));
        engine.verify(1, &key(1), &[b"text"], &[1])
    });
    assert_eq!((judged.unwrap().verdict, sleeps.get()), (Ok(()), 3));
    let mut wanted = vec![(INTERRUPT, 3), (ENABLE, 3), (COMMAND, START)];
    wanted.extend([(INTERRUPT, 3); 3]);
    wanted.push((COMMAND, ABORT));
    assert!(engine.writes.ends_with(&wanted), "{:?}", engine.writes);
}
