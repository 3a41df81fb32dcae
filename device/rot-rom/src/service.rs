//! The service for the running host. A request in the mailbox is copied once, the copy is checked
//! (`hartlock_drivers::mailbox::request`), and the engine serves it, with DMA if there is such an engine.
//! [`keys`](crate::keys) serves requests that need a key.
//!
//! No request stops the service. If memory fails while the input is read or the output is written, the answer is
//! [`Refusal::Failed`], and the next request is served.

use hartlock_drivers::mailbox::request::{Limits, Permitted, Refusal};
use hartlock_drivers::mailbox::{Answer, RESULT_WORDS, RootSide};
use hartlock_drivers::sha2::{Sha2, Sha2Function};
use hartlock_drivers::wait::Polling;
use hartlock_rot::{MAILBOX, host, interrupt, sleep_until};
use hartlock_verify::board::Region;

use crate::dma::{LockedDma, Sink};
use crate::keys::KeyService;
use crate::{engines, map};

const LIMITS: Limits<'static> = Limits {
    memory: map::RAM,
    protected: &map::PROTECTED,
    max_input: 16 << 20,
    has_keys: cfg!(feature = "keys"),
};

/// Number of 32-bit words in a digest.
const DIGEST_WORDS: usize = 8;

/// Serves requests for ever. If the mailbox reports an error, no request is served until reset.
pub fn serve(engine: &mut Sha2<Polling>, mut dma: Option<&mut LockedDma>) -> ! {
    // SAFETY: the address is the root of trust's side of the mailbox, of which this is the only user.
    let mut mailbox = unsafe { RootSide::new(core::ptr::with_exposed_provenance_mut(MAILBOX)) };
    let mut keys = KeyService::take();
    mailbox.open(true);
    loop {
        match mailbox.take() {
            Ok(Some(request)) => {
                let mut answer = Answer::default();
                let served = LIMITS.judge(&request).and_then(|permitted| {
                    if permitted.operation.is_by_key() {
                        keys.serve(permitted, &mut answer)
                    } else {
                        hash_one(engine, dma.as_deref_mut(), permitted, &mut answer)
                    }
                });
                if let Err(refusal) = served {
                    answer.status = refusal as u8;
                    answer.reason = refusal.reason() as u16;
                }
                // If the host has withdrawn the request, it needs no answer.
                let _ = mailbox.answer(&answer);
            }
            // The interrupt of the mailbox is pending while there is a request.
            Ok(None) => sleep_until(interrupt::MAILBOX),
            Err(_) => halt(),
        }
    }
}

/// Computes SHA-256 of the input.
fn hash_one(
    engine: &mut Sha2<Polling>,
    dma: Option<&mut LockedDma>,
    Permitted { input, output, .. }: Permitted,
    answer: &mut Answer,
) -> Result<(), Refusal> {
    let hashed = match dma {
        Some(dma) => hash_by_dma(engine, dma, input),
        None => hash(engine, input),
    };
    if hashed.and_then(|()| deliver(engine, output, answer)).is_some() {
        return Ok(());
    }
    // Remaining data of this request must not reach the next one.
    let _ = engine.wipe();
    Err(Refusal::Failed)
}

/// Hashes the input by DMA. Each byte of the input is read once and sent to the engine. If the host changes it before,
/// only the digest changes.
fn hash_by_dma(engine: &mut Sha2<Polling>, dma: &mut LockedDma, input: Region) -> Option<()> {
    let size = usize::try_from(input.size()).ok()?;
    engines::receive(engine, || dma.feed(Sink::Sha2, input.start, size).ok())
}

/// Hashes the input by loads and stores.
fn hash(engine: &mut Sha2<Polling>, input: Region) -> Option<()> {
    engine.start(Sha2Function::Sha256).ok()?;
    // The input consists of bytes before the first word boundary, words, and bytes after the last word.
    let size = usize::try_from(input.size()).ok()?;
    let before = (input.start.wrapping_neg() % 4) as usize;
    let before = before.min(size);
    let words = size.wrapping_sub(before) / 4;
    let words_at = input.start.checked_add(before as u64)?;
    let after_at = words_at.checked_add(4 * words as u64)?;
    push_bytes(engine, Region { start: input.start, end: words_at })?;
    let port = engine.port()?;
    // SAFETY: the port is the engine's register that takes words of the message.
    unsafe { host::feed(port, words_at, words) }.ok()?;
    push_bytes(engine, Region { start: after_at, end: input.end })?;
    engine.process();
    engine.until_done().ok()
}

/// Sends up to three bytes to the engine.
fn push_bytes(engine: &mut Sha2<Polling>, input: Region) -> Option<()> {
    let mut bytes = [0; 4];
    let bytes = bytes.get_mut(..usize::try_from(input.size()).ok()?)?;
    host::read(input.start, bytes).ok()?;
    engine.push(bytes);
    Some(())
}

/// Writes the digest to the host's memory or into the answer. Returns `None` if the memory access fails.
fn deliver(engine: &mut Sha2<Polling>, output: Option<Region>, answer: &mut Answer) -> Option<()> {
    let digest = &mut [0; DIGEST_WORDS];
    engine.digest_words(digest).ok()?;
    match output {
        Some(output) => host::write_words(output.start, digest).ok()?,
        None => answer.result.iter_mut().zip(digest).for_each(|(to, from)| *to = *from),
    }
    Some(())
}

const _: () = assert!(RESULT_WORDS >= DIGEST_WORDS);

/// Stops until reset.
pub fn halt() -> ! {
    loop {
        sleep_until(0);
    }
}
