//! In these tests plain memory replaces the registers, and the test changes it as the hardware would. The tests in
//! `hw/ip/mailbox/tb` check the hardware.

use core::cell::Cell;

use super::*;
use crate::trapped::{RegisterAccess, with_registers};

const WORDS: usize = 32;
const REFUSED: u32 = 1 << 8;
const EMPTIED: u32 = 1 << 9;
const RING: u32 = 1;
const ACKNOWLEDGE: u32 = 2;

// These are offsets of both sides, in words.
const STATUS: usize = 0;
const COMMAND: usize = 1;
const CONTROL: usize = 2;
const REQUEST: usize = 4;
const OUTCOME: usize = 12;
const ANSWER_ID: usize = 13;
const RESULT: usize = 16;

/// The registers of one side.
struct FakeMailbox([Cell<u32>; WORDS]);

impl FakeMailbox {
    fn in_state(state: MailboxState) -> FakeMailbox {
        let fake = FakeMailbox([const { Cell::new(0) }; WORDS]);
        fake.0[STATUS].set(state as u32);
        fake
    }

    fn base(&self) -> *mut u32 {
        self.0.as_ptr().cast::<u32>().cast_mut()
    }

    fn host(&self) -> HostSide {
        // SAFETY: the file has a word for each register, in cells that may be written through a shared reference, and
        // outlives the driver in every test.
        unsafe { HostSide::new(self.base()) }
    }

    fn root(&self) -> RootSide {
        // SAFETY: the same argument as for the host applies.
        unsafe { RootSide::new(self.base()) }
    }

    fn set(&self, at: usize, words: &[u32]) {
        self.0.iter().skip(at).zip(words).for_each(|(cell, word)| cell.set(*word));
    }

    fn words(&self, at: usize, count: usize) -> std::vec::Vec<u32> {
        self.0.iter().skip(at).take(count).map(Cell::get).collect()
    }
}

const SAMPLE: Request = Request {
    operation: 0x1234,
    flags: 0xabcd,
    id: 7,
    source: 0x1_8000_0040,
    destination: 0x2_9000_0080,
    length: 4096,
};
const SAMPLE_WORDS: [u32; 7] = [0xabcd_1234, 7, 0x8000_0040, 0x1, 0x9000_0080, 0x2, 4096];

fn result() -> [u32; RESULT_WORDS] {
    core::array::from_fn(|index| 0x100 + index as u32)
}

/// Returns a host that has sent a request.
fn asked(fake: &FakeMailbox) -> HostSide {
    let mut host = fake.host();
    host.ask(&SAMPLE).unwrap();
    host
}

#[test]
fn a_request_is_written_before_the_doorbell_rings() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    asked(&fake);
    assert_eq!(fake.words(REQUEST, 7), SAMPLE_WORDS);
    assert_eq!(fake.words(COMMAND, 1), [RING]);
}

#[test]
fn nothing_is_written_while_it_is_not_the_hosts_turn() {
    for (state, error) in [
        (MailboxState::Closed, Error::Closed),
        (MailboxState::Busy, Error::Busy),
        (MailboxState::Answered, Error::Busy),
        (MailboxState::Fault, Error::Fault),
    ] {
        let fake = FakeMailbox::in_state(state);
        assert_eq!(fake.host().ask(&SAMPLE), Err(error));
        assert_eq!(fake.words(COMMAND, WORDS - 1), [0; WORDS - 1]);
    }
}

#[test]
fn a_refused_ring_is_no_request() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    fake.set(STATUS, &[MailboxState::Ready as u32 | REFUSED]);
    assert_eq!(fake.host().ask(&SAMPLE), Err(Error::Closed));
}

#[test]
fn an_answer_is_read_once_and_acknowledged() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    let mut host = asked(&fake);
    fake.set(STATUS, &[MailboxState::Busy as u32]);
    assert_eq!(host.poll(), Ok(None));
    fake.set(STATUS, &[MailboxState::Answered as u32]);
    fake.set(OUTCOME, &[0x0301_0002, SAMPLE.id]);
    fake.set(RESULT, &result());
    let answer = Answer { status: 2, reason: 0x0301, result: result() };
    assert_eq!(host.poll(), Ok(Some(answer)));
    assert_eq!(fake.words(COMMAND, 1), [ACKNOWLEDGE]);
}

#[test]
fn an_answer_to_another_request_is_dropped() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    let mut host = asked(&fake);
    fake.set(STATUS, &[MailboxState::Answered as u32]);
    fake.set(ANSWER_ID, &[SAMPLE.id + 1]);
    assert_eq!(host.poll(), Err(Error::Foreign));
    assert_eq!(fake.words(COMMAND, 1), [ACKNOWLEDGE]);
    // An answer does not count, either, if there is no request.
    fake.set(ANSWER_ID, &[SAMPLE.id]);
    assert_eq!(host.poll(), Err(Error::Foreign));
}

#[test]
fn a_forgotten_request_is_reported_once() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    let mut host = asked(&fake);
    fake.set(STATUS, &[MailboxState::Closed as u32 | EMPTIED]);
    assert_eq!(host.poll(), Err(Error::Forgotten));
    assert_eq!(fake.words(COMMAND, 1), [ACKNOWLEDGE]);
    fake.set(STATUS, &[MailboxState::Closed as u32]);
    assert_eq!(host.poll(), Ok(None));
}

#[test]
fn states_that_do_not_exist_are_faults() {
    for state in [4, 5, 6, 7] {
        let fake = FakeMailbox::in_state(MailboxState::Ready);
        fake.set(STATUS, &[state]);
        assert_eq!(fake.host().ask(&SAMPLE), Err(Error::Fault));
        assert_eq!(fake.host().poll(), Err(Error::Fault));
        assert_eq!(fake.root().take(), Err(Error::Fault));
        assert_eq!(fake.root().answer(&Answer::default()), Err(Error::Fault));
    }
}

#[test]
fn the_root_of_trust_reads_what_the_host_wrote() {
    let fake = FakeMailbox::in_state(MailboxState::Busy);
    fake.set(REQUEST, &SAMPLE_WORDS);
    assert_eq!(fake.root().take(), Ok(Some(SAMPLE)));
    for state in [MailboxState::Closed, MailboxState::Ready, MailboxState::Answered] {
        fake.set(STATUS, &[state as u32]);
        assert_eq!(fake.root().take(), Ok(None));
    }
}

#[test]
fn an_answer_is_written_whole_and_handed_over() {
    let fake = FakeMailbox::in_state(MailboxState::Busy);
    let answer = Answer { status: 0x5a, reason: 0x0603, result: result() };
    fake.root().answer(&answer).unwrap();
    assert_eq!(fake.words(OUTCOME, 1), [0x0603_005a]);
    assert_eq!(fake.words(RESULT, RESULT_WORDS), result());
    assert_eq!(fake.words(COMMAND, 1), [1]);
}

#[test]
fn an_answer_to_nothing_is_an_error() {
    let fake = FakeMailbox::in_state(MailboxState::Closed);
    assert_eq!(fake.root().answer(&Answer::default()), Err(Error::Forgotten));
    // The error is the same if the request disappears before the answer is written.
    fake.set(STATUS, &[MailboxState::Busy as u32 | REFUSED]);
    assert_eq!(fake.root().answer(&Answer::default()), Err(Error::Forgotten));
}

#[test]
fn both_sides_choose_how_they_are_told() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    fake.host().set_interrupt(true);
    assert_eq!(fake.words(CONTROL, 1), [1]);
    let mut root = fake.root();
    root.open(true);
    assert_eq!(fake.words(CONTROL, 1), [3]);
    root.open(false);
    assert_eq!(fake.words(CONTROL, 1), [1]);
    root.close();
    assert_eq!(fake.words(CONTROL, 1), [0]);
    root.discard();
    assert_eq!(fake.words(COMMAND, 1), [2]);
}

/// Calls `act` with registers in this state, until the one at `last` is read; then the mailbox is wiped.
fn wiped_at<T>(state: MailboxState, last: usize, act: impl FnOnce(*mut u32) -> T) -> T {
    let mut is_wiped = false;
    let model = |access: RegisterAccess, words: &mut [u32]| {
        is_wiped |= access == RegisterAccess::Read(4 * last);
        words[STATUS] = if is_wiped { MailboxState::Closed } else { state } as u32;
    };
    with_registers(WORDS, model, act)
}

#[test]
fn what_is_read_during_a_wipe_is_not_used() {
    // SAFETY: the registers exist as long as the driver.
    let host = |base| unsafe { HostSide::new(base) };
    let poll = |last| {
        wiped_at(MailboxState::Answered, last, |base| {
            HostSide { asked: Some(0), ..host(base) }.poll()
        })
    };
    assert_eq!(poll(WORDS), Ok(Some(Answer::default())));
    assert_eq!(poll(OUTCOME), Err(Error::Forgotten));
    assert_eq!(poll(ANSWER_ID), Err(Error::Forgotten));
    // SAFETY: the same argument applies.
    let take =
        |last| wiped_at(MailboxState::Busy, last, |base| unsafe { RootSide::new(base) }.take());
    assert_eq!(take(WORDS), Ok(Some(Request::default())));
    assert_eq!((take(REQUEST), take(REQUEST + 6)), (Ok(None), Ok(None)));
}

#[test]
fn a_refused_ring_awaits_no_answer() {
    let fake = FakeMailbox::in_state(MailboxState::Ready);
    let mut host = fake.host();
    host.set_interrupt(false);
    assert_eq!(fake.words(CONTROL, 1), [0]);
    fake.set(STATUS, &[MailboxState::Ready as u32 | REFUSED]);
    assert_eq!(host.ask(&SAMPLE), Err(Error::Closed));
    fake.set(STATUS, &[MailboxState::Answered as u32]);
    fake.set(ANSWER_ID, &[SAMPLE.id]);
    assert_eq!(host.poll(), Err(Error::Foreign));
    for state in [MailboxState::Ready, MailboxState::Closed] {
        fake.set(STATUS, &[state as u32]);
        assert_eq!(host.poll(), Ok(None));
    }
}
