//! Serves the host, once it runs: what it leaves in the mailbox is copied once, checked in the copy
//! (`hartlock_drivers::mailbox::request`), and done by the engine.

use hartlock_drivers::mailbox::request::{Limits, Operation, Permitted};
use hartlock_drivers::mailbox::{Answer, RESULT_WORDS, Request, RootSide};
use hartlock_drivers::sha2::{Function, Polling, Sha2};
use hartlock_rot::{MAILBOX, interrupt, sleep_until};
use hartlock_verify::board::Region;

use crate::{map, memory};

/// Status beside those of `request::Refusal`: the engine failed.
const ENGINE_FAILED: u8 = 0x80;

const LIMITS: Limits<'static> =
    Limits { memory: map::RAM, protected: &map::PROTECTED, max_input: 16 << 20 };

/// Serves for ever. A mailbox that reported an error serves no request until reset.
pub fn serve(engine: &mut Sha2<Polling>) -> ! {
    // SAFETY: the root of trust's side of the mailbox, of which this is the only user.
    let mut mailbox = unsafe { RootSide::new(core::ptr::with_exposed_provenance_mut(MAILBOX)) };
    mailbox.open(true);
    loop {
        match mailbox.take() {
            Ok(Some(request)) => {
                let answer = answer(engine, &request);
                // A request that was dropped meanwhile needs no answer.
                let _ = mailbox.answer(&answer);
            }
            // Its interrupt is pending while there is a request.
            Ok(None) => sleep_until(interrupt::MAILBOX),
            Err(_) => halt(),
        }
    }
}

fn answer(engine: &mut Sha2<Polling>, request: &Request) -> Answer {
    let permitted = match LIMITS.judge(request) {
        Ok(permitted) => permitted,
        Err(refusal) => return Answer { status: refusal as u8, ..Answer::default() },
    };
    match digest(engine, permitted) {
        Some(digest) => done(permitted.output, &digest),
        None => {
            // Its remaining data must not reach the next request.
            let _ = engine.wipe();
            Answer { status: ENGINE_FAILED, ..Answer::default() }
        }
    }
}

/// The input is read once, by the engine's pushes.
fn digest(
    engine: &mut Sha2<Polling>,
    Permitted { operation, input, .. }: Permitted,
) -> Option<[u8; 32]> {
    match operation {
        Operation::Sha256 => engine.start(Function::Sha256).ok()?,
    }
    // SAFETY: the host's memory. It may change meanwhile, which changes the digest and nothing else: no
    // byte is read twice.
    engine.push(unsafe { memory::bytes(input) });
    engine.finish().ok()
}

fn done(output: Option<Region>, digest: &[u8; 32]) -> Answer {
    let mut answer = Answer::default();
    match output {
        // SAFETY: the host's memory, checked; no object of this program is there.
        Some(output) => memory::copy(unsafe { memory::bytes_mut(output) }, digest),
        None => {
            let (words, _) = digest.as_chunks();
            for (word, bytes) in answer.result.iter_mut().zip(words) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
    }
    answer
}

const _: () = assert!(RESULT_WORDS >= 8);

/// Nothing is done any more until reset.
pub fn halt() -> ! {
    loop {
        sleep_until(0);
    }
}
