//! Sending of requests, and waiting for their answers.

use hartlock_drivers::mailbox::{Answer, Error, HostSide, Request};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, Kernels};
use hartlock_maps::hartlock_soc;
use hartlock_virt::console::{self, Number};
use hartlock_virt::plic::{self, Source};
use hartlock_virt::{board, clint, machine, soc as bench};

/// Interrupt source of the mailbox's answers.
const ANSWERS: Source = Source(board::MAILBOX_INTERRUPT);
/// Address without memory on the machines that test memory errors.
pub const MISSING: u64 = hartlock_soc::RAM.end - (1 << 20);
/// Maximum number of polls for an answer; the next constant is the time limit for sleeping, in
/// ticks of the timer.
const PATIENCE: u32 = 10_000;
const DEADLINE: u64 = 10_000_000;

/// Enables the interrupt for answers.
pub fn listen(mailbox: &mut HostSide) {
    mailbox.set_interrupt(true);
    clint::set_timer(0, clint::NEVER);
    plic::listen(ANSWERS);
}

pub fn sha256(message: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::with(&Kernels::PORTABLE);
    hash.update(message);
    hash.finalize()
}

/// The way of waiting for an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Awake,
    Asleep,
}

/// Sends a request, waits for the answer, and prints the time that it took.
pub fn ask(mailbox: &mut HostSide, patience: Patience, what: &str, request: &Request) -> Answer {
    let start = bench::cycles();
    // The root of trust opens the mailbox a moment after it has released the host.
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
        // The answer was read, so the source does not raise its interrupt any more.
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

pub fn expect(is_right: bool, what: &str) {
    if !is_right {
        fail(what)
    }
}

pub fn fail(what: &str) -> ! {
    console::line(&["host: failed: ", what]);
    machine::end(1)
}
