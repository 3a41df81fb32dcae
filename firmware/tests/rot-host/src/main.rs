//! What the root of trust boots in a test: a host in M-mode that requests digests, and what it must
//! not get (SECURITY.md, "Requests of the host"). It ends the machine with 0 if every answer is what it
//! has to be. Lines on the console:
//!
//! ```text
//! host: <what> <cycles>
//! ```
//!
//! For the first answer it polls, for the others it sleeps. Messages are written directly before their
//! request and digests are read directly afterwards: this checks that the root of trust reads what is in
//! the host's caches, and the other way round.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

use hartlock_drivers::mailbox::request::{ENGINE_FAILED, INLINE, Operation, Refusal};
use hartlock_drivers::mailbox::{Answer, Error, HostSide, Request};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};
use hartlock_verify::board::hartlock_soc;
use hartlock_virt::console::{self, Number};
use hartlock_virt::plic::{self, Source};
use hartlock_virt::{board, clint, machine, soc as bench};

global_asm!(include_str!("../../bench/src/start.S"));

/// Answers of the mailbox, as the interrupt controller knows them.
const ANSWERS: Source = Source(board::MAILBOX_INTERRUPT);
/// Messages and digests, in memory that nothing else uses.
const MESSAGE: usize = hartlock_soc::RAM.start as usize + (16 << 20);
const MESSAGE_LEN: usize = 4096;
const DIGEST: usize = hartlock_soc::RAM.start as usize + (17 << 20);
/// Messages of no word, and over the ends of words, lines and pages: offset, length, and offset of the digest.
const ODD: [(usize, usize, usize); 8] = [
    (0, 0, 0),
    (5, 0, 1),
    (3, 1, 2),
    (4095, 1, 3),
    (1, 4095, 4),
    (7, 4097, 61),
    (4093, 6, 4090),
    (4064, 8192 + 33, 0),
];
/// With the feature `bus-faults`: where the machine has no memory, and a page whose accesses take longer than the root of
/// trust waits.
const MISSING: u64 = hartlock_soc::RAM.end - (1 << 20);
const STALLED: u64 = hartlock_soc::RAM.start + (18 << 20);
/// The end of the bundle, which is the end of memory there.
const BUNDLE_END: u64 = hartlock_soc::BUNDLE.end;
/// With the feature `waits`: the word that ends it.
#[cfg(feature = "waits")]
const DONE: usize = hartlock_soc::RAM.start as usize + (18 << 20);
/// Maximum number of requests until one is served after a stall.
const RETRIES: usize = 100;
/// Maximum number of polls for an answer, and the timeout asleep (ticks of the timer).
const PATIENCE: u32 = 10_000;
const DEADLINE: u64 = 1_000_000;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    #[cfg(feature = "waits")]
    wait();
    console::line(&["host: runs"]);
    // SAFETY: the host's side of the mailbox, of which this is the only user.
    let mut mailbox =
        unsafe { HostSide::new(core::ptr::with_exposed_provenance_mut(board::MAILBOX)) };
    let expected = write_message(1);

    let good = Request {
        operation: Operation::Sha256 as u16,
        flags: 0,
        id: 1,
        source: MESSAGE as u64,
        destination: DIGEST as u64,
        length: MESSAGE_LEN as u32,
    };
    let answer = ask(&mut mailbox, Patience::Awake, "a digest in memory", &good);
    expect(answer.status == 0 && digest() == expected, "the digest in memory is wrong");

    mailbox.set_interrupt(true);
    clint::set_timer(0, clint::NEVER);
    plic::listen(ANSWERS);
    // The caches of this hart hold the old message and the old digest.
    let expected = write_message(2);
    let answer =
        ask(&mut mailbox, Patience::Asleep, "a digest, asleep", &Request { id: 4, ..good });
    expect(answer.status == 0 && digest() == expected, "the second digest in memory is wrong");

    let inline = Request { flags: INLINE, id: 2, destination: 0, ..good };
    let answer = ask(&mut mailbox, Patience::Asleep, "a digest in the answer", &inline);
    let words = answer.result.iter().flat_map(|word| word.to_le_bytes());
    expect(answer.status == 0 && words.zip(expected).all(|(a, b)| a == b), "its digest is wrong");

    for (what, request, refusal) in [
        (
            "its own M-mode memory",
            Request { source: hartlock_soc::FIRST.start, ..good },
            Refusal::Protected,
        ),
        (
            "a digest over the log",
            Request { destination: hartlock_soc::LOG.start, ..good },
            Refusal::Protected,
        ),
        ("the root of trust's ROM", Request { source: 0, ..good }, Refusal::OutsideMemory),
        ("its scratchpad", Request { source: 0x1000_0000, ..good }, Refusal::OutsideMemory),
        ("its registers", Request { destination: 0x4000_0000, ..good }, Refusal::OutsideMemory),
        (
            "an address that wraps",
            Request { source: u64::MAX - 100, ..good },
            Refusal::OutsideMemory,
        ),
        ("more than 4 GiB", Request { source: 0x1_8100_0000, ..good }, Refusal::OutsideMemory),
        ("too much at once", Request { length: u32::MAX, ..good }, Refusal::TooLong),
        ("an unknown operation", Request { operation: 9, ..good }, Refusal::UnknownOperation),
        (
            "a digest into its message",
            Request { destination: MESSAGE as u64, ..good },
            Refusal::Overlap,
        ),
    ] {
        let answer = ask(&mut mailbox, Patience::Asleep, what, &request);
        expect(answer.status == refusal as u8, "it should have been refused");
    }
    // Nothing of the refused ones is in the way of the next.
    for (source, length, destination) in ODD {
        let source = MESSAGE.saturating_add(source);
        // SAFETY: memory that nothing else uses while no request is under way.
        let message = unsafe { core::slice::from_raw_parts(source as *const u8, length) };
        let expected = sha256(message);
        let odd = Request {
            source: source as u64,
            length: length as u32,
            destination: (DIGEST + destination) as u64,
            ..good
        };
        let answer = ask(&mut mailbox, Patience::Asleep, "an odd message", &odd);
        let is_right = answer.status == 0 && digest_at(destination) == expected;
        expect(is_right, "the digest of an odd message is wrong");
    }
    let expected = write_message(3);
    let again = Request { id: 3, ..good };
    let answer = ask(&mut mailbox, Patience::Asleep, "a digest again", &again);
    expect(answer.status == 0 && digest() == expected, "it serves no more");
    if cfg!(feature = "bus-faults") {
        survive_bus_faults(&mut mailbox, &good);
    }
    console::line(&["host: done"]);
    machine::end(0)
}

/// Memory that fails costs its own request and no other one.
fn survive_bus_faults(mailbox: &mut HostSide, good: &Request) {
    for (salt, (what, request)) in (4..).zip([
        ("memory that is missing", Request { source: MISSING, ..*good }),
        ("a digest into memory that is missing", Request { destination: MISSING, ..*good }),
        // It begins in memory, so that the engine has a part of it.
        ("the end of memory", Request { source: BUNDLE_END - 1000, ..*good }),
        ("memory that stalls", Request { source: STALLED, ..*good }),
        ("a digest into memory that stalls", Request { destination: STALLED, ..*good }),
    ]) {
        let expected = write_message(salt);
        let answer = ask(mailbox, Patience::Asleep, what, &request);
        expect(answer.status == ENGINE_FAILED, "it should have failed");
        // Until a stalled access is answered, every further one fails at once.
        let mut status = ENGINE_FAILED;
        for _ in 0..RETRIES {
            status = ask(mailbox, Patience::Asleep, "a digest after it", good).status;
            if status != ENGINE_FAILED {
                break;
            }
        }
        expect(status == 0 && digest() == expected, "it serves no more");
    }
}

/// Writes a message, and returns its digest.
fn write_message(salt: usize) -> [u8; 32] {
    // SAFETY: memory that nothing else uses while no request is under way.
    let message = unsafe { core::slice::from_raw_parts_mut(MESSAGE as *mut u8, MESSAGE_LEN) };
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = (at.wrapping_mul(salt) % 251) as u8;
    }
    sha256(message)
}

fn sha256(message: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::with(&Kernels::PORTABLE);
    hash.update(message);
    hash.finalize()
}

/// The memory where digests go.
fn digest() -> [u8; 32] {
    digest_at(0)
}

fn digest_at(offset: usize) -> [u8; 32] {
    // SAFETY: the answer is there, so nothing writes to it any more; bytes are at any address.
    unsafe { ((DIGEST + offset) as *const [u8; 32]).read_volatile() }
}

/// How an answer is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Awake,
    Asleep,
}

/// Sends a request, waits for the answer, and prints how long it took.
fn ask(mailbox: &mut HostSide, patience: Patience, what: &str, request: &Request) -> Answer {
    let start = bench::cycles();
    // It opens its mailbox a moment after it released the host.
    let mut asked = Err(Error::Closed);
    for _ in 0..PATIENCE {
        asked = mailbox.ask(request);
        if asked != Err(Error::Closed) {
            break;
        }
    }
    expect(asked.is_ok(), "no request is taken");
    let deadline = clint::time().saturating_add(DEADLINE);
    for _ in 0..PATIENCE {
        let source = match patience {
            Patience::Awake => None,
            Patience::Asleep => Some(woken(deadline)),
        };
        let polled = mailbox.poll();
        // The answer was taken, so the source is silent.
        source.into_iter().for_each(plic::complete);
        match polled {
            Ok(None) => {}
            Ok(Some(answer)) => {
                let taken = Number::decimal(bench::cycles().wrapping_sub(start));
                console::line(&["host: ", what, " ", taken.as_str()]);
                return answer;
            }
            Err(_) => fail("the request was lost"),
        }
    }
    fail("there is no answer")
}

/// Waits for a word of the root of trust, and ends the machine. It polls a line of its own cache, so that the bus is
/// quiet until the line is taken away.
#[cfg(feature = "waits")]
fn wait() -> ! {
    let done = core::ptr::with_exposed_provenance::<u32>(DONE);
    // SAFETY: a word that only the root of trust writes.
    while unsafe { done.read_volatile() } == 0 {}
    machine::end(0)
}

/// Sleeps until the mailbox has an answer.
fn woken(deadline: u64) -> Source {
    clint::set_timer(0, deadline);
    plic::sleep();
    clint::set_timer(0, clint::NEVER);
    match plic::claim() {
        Some(source) => {
            expect(source == ANSWERS, "an interrupt of another source");
            source
        }
        None => fail("there is no interrupt"),
    }
}

fn expect(is_right: bool, what: &str) {
    if !is_right {
        fail(what)
    }
}

fn fail(what: &str) -> ! {
    console::line(&["host: failed: ", what]);
    machine::end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    console::line(&[
        "host: trap ",
        text[0].as_str(),
        " at ",
        text[1].as_str(),
        " value ",
        text[2].as_str(),
    ]);
    machine::end(2)
}
