//! Serves the host, once it runs: what it leaves in the mailbox is copied once, checked in the copy
//! (`hartlock_drivers::mailbox::request`), and done by the engine.
//!
//! No request stops the service. Memory that fails while its input is read or its output written gives
//! [`ENGINE_FAILED`], and the next request is served.

use hartlock_drivers::mailbox::request::{ENGINE_FAILED, Limits, Operation, Permitted};
use hartlock_drivers::mailbox::{Answer, RESULT_WORDS, Request, RootSide};
use hartlock_drivers::sha2::{Function, Polling, Sha2};
use hartlock_rot::{MAILBOX, host, interrupt, sleep_until};
use hartlock_verify::board::Region;

use crate::map;
use crate::words::Words;

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
    match digest(engine, permitted).and_then(|digest| done(permitted, &digest)) {
        Some(answer) => answer,
        None => {
            // Its remaining data must not reach the next request.
            let _ = engine.wipe();
            Answer { status: ENGINE_FAILED, ..Answer::default() }
        }
    }
}

/// Each byte of the input is read once, and goes to the engine. The host may change it before, which changes the digest
/// and nothing else.
fn digest(
    engine: &mut Sha2<Polling>,
    Permitted { operation, input, .. }: Permitted,
) -> Option<[u8; 32]> {
    match operation {
        Operation::Sha256 => engine.start(Function::Sha256).ok()?,
    }
    // Bytes before the first word, words, bytes after the last one.
    let size = usize::try_from(input.size()).ok()?;
    let before = (input.start.wrapping_neg() % 4) as usize;
    let before = before.min(size);
    let words = size.wrapping_sub(before) / 4;
    let words_at = input.start.checked_add(before as u64)?;
    let after_at = words_at.checked_add(4 * words as u64)?;
    push_bytes(engine, Region { start: input.start, end: words_at })?;
    let port = engine.port()?;
    // SAFETY: the engine's registers; it takes words of the message there.
    unsafe { host::feed(port, words_at, words) }.ok()?;
    push_bytes(engine, Region { start: after_at, end: input.end })?;
    engine.finish().ok()
}

/// Pushes up to three bytes.
fn push_bytes(engine: &mut Sha2<Polling>, input: Region) -> Option<()> {
    let mut bytes = [0; 4];
    let bytes = bytes.get_mut(..usize::try_from(input.size()).ok()?)?;
    host::read(input.start, bytes).ok()?;
    engine.push(bytes);
    Some(())
}

/// The answer, with the output in it or in memory; nothing if memory does not take it.
fn done(permitted: Permitted, digest: &[u8; 32]) -> Option<Answer> {
    let mut answer = Answer::default();
    match permitted.output {
        Some(output) => host::write(output.start, &Words(*digest).0).ok()?,
        None => {
            let (words, _) = digest.as_chunks();
            for (word, bytes) in answer.result.iter_mut().zip(words) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
    }
    Some(answer)
}

const _: () = assert!(RESULT_WORDS >= 8);

/// Nothing is done any more until reset.
pub fn halt() -> ! {
    loop {
        sleep_until(0);
    }
}
