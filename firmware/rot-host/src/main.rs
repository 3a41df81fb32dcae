//! What the root of trust boots in a test: a host in M-mode that asks it for digests, and for what it must
//! not get (SECURITY.md, "Requests of the host"). It ends the machine with 0 if every answer is what it
//! has to be. Lines on the console:
//!
//! ```text
//! host: <what> <cycles>
//! ```

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::{asm, global_asm};

use hartlock_drivers::mailbox::{Answer, Error, HostSide, Request};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};
use hartlock_verify::board::soc;
use hartlock_verify::request::{INLINE, Operation, Refusal};
use hartlock_virt::console::{self, Number};
use hartlock_virt::machine;

global_asm!(include_str!("../../bench/src/start.S"));

/// The host's side of the mailbox (hw/soc/README.md).
const MAILBOX: usize = 0x1500_0000;
/// Messages and digests, in memory that belongs to nobody else.
const MESSAGE: usize = 0x8100_0000;
const MESSAGE_LEN: usize = 4096;
const DIGEST: usize = 0x8110_0000;
/// Memory that nobody uses, more than a data cache holds.
const OTHERS: usize = 0x8200_0000;
const OTHERS_LEN: usize = 64 << 10;
/// Times that an answer is looked for.
const PATIENCE: u32 = 1_000_000;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    console::line(&["host: runs"]);
    // SAFETY: the host's side of the mailbox, of which this is the only user.
    let mut mailbox = unsafe { HostSide::new(core::ptr::with_exposed_provenance_mut(MAILBOX)) };
    // SAFETY: memory that nobody else uses while no request is under way.
    let message = unsafe { core::slice::from_raw_parts_mut(MESSAGE as *mut u8, MESSAGE_LEN) };
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = (at % 251) as u8;
    }
    let mut hash = Sha256::with(&Kernels::PORTABLE);
    hash.update(message);
    let expected = hash.finalize();

    let good = Request {
        operation: Operation::Sha256 as u16,
        flags: 0,
        id: 1,
        source: MESSAGE as u64,
        destination: DIGEST as u64,
        length: MESSAGE_LEN as u32,
    };
    let answer = ask(&mut mailbox, "a digest in memory", &good);
    // SAFETY: the answer is there, so nobody writes to it any more.
    let digest = unsafe { (DIGEST as *const [u8; 32]).read_volatile() };
    expect(answer.status == 0 && digest == expected, "the digest in memory is wrong");

    let inline = Request { flags: INLINE, id: 2, destination: 0, ..good };
    let answer = ask(&mut mailbox, "a digest in the answer", &inline);
    let words = answer.result.iter().flat_map(|word| word.to_le_bytes());
    expect(answer.status == 0 && words.zip(expected).all(|(a, b)| a == b), "its digest is wrong");

    for (what, request, refusal) in [
        ("its own M-mode memory", Request { source: soc::FIRST.start, ..good }, Refusal::Protected),
        (
            "a digest over the log",
            Request { destination: soc::LOG.start, ..good },
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
        let answer = ask(&mut mailbox, what, &request);
        expect(answer.status == refusal as u8, "it should have been refused");
    }
    // Nothing of the refused ones is in the way of the next.
    let answer = ask(&mut mailbox, "a digest again", &Request { id: 3, ..good });
    expect(answer.status == 0, "it serves no more");
    console::line(&["host: done"]);
    machine::end(0)
}

/// Writes back what the data cache holds, and forgets it: the root of trust reaches memory behind it. The core
/// has no instruction for that, so other memory takes its place.
fn clean_cache() {
    // SAFETY: memory that nobody writes to.
    let others = unsafe { core::slice::from_raw_parts(OTHERS as *const u8, OTHERS_LEN) };
    core::hint::black_box(others.iter().step_by(64).fold(0, |sum: u8, byte| sum ^ byte));
}

/// Asks and waits for the answer, and says how long it took.
fn ask(mailbox: &mut HostSide, what: &str, request: &Request) -> Answer {
    clean_cache();
    let start = cycles();
    // It opens its mailbox a moment after it let us go.
    let mut asked = Err(Error::Closed);
    for _ in 0..PATIENCE {
        asked = mailbox.ask(request);
        if asked != Err(Error::Closed) {
            break;
        }
    }
    expect(asked.is_ok(), "nobody takes a request");
    for _ in 0..PATIENCE {
        match mailbox.poll() {
            Ok(None) => {}
            Ok(Some(answer)) => {
                let taken = Number::decimal(cycles().wrapping_sub(start));
                console::line(&["host: ", what, " ", taken.as_str()]);
                return answer;
            }
            Err(_) => fail("the request was lost"),
        }
    }
    fail("there is no answer")
}

fn cycles() -> u64 {
    let count: u64;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) count, options(nomem, nostack)) };
    count
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
