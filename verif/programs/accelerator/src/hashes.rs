//! Measurements of SHA-256 and HMAC-SHA-256, by polling and by interrupt.

use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use hartlock_drivers::sha2::{Error, Sha2, Sha2Function};
use hartlock_drivers::wait::{Polling, Sleeping, Wait};
use hartlock_regs::Block;
use hartlock_rot::{HOST_MEMORY, SHA2, interrupt, sleep_until};
use hartlock_rot_bench::{Console, mark};

use crate::hexadecimal::print;
use crate::labels::{self, label};
use crate::operands::{self, SIZES};
use crate::speed::{IS_OF_PAPER, is_left_out};

const MAX_WORDS: usize = 4096 / 4;
const KEY_LEN: usize = 32;
const BLOCK_WORDS: usize = 16;

/// A key that is aligned to words.
#[repr(align(4))]
struct HmacKey([u8; KEY_LEN]);

/// A payload and space for its digest.
#[repr(C, align(64))]
struct HashBuffers {
    payload: [u32; MAX_WORDS],
    digest: [u32; 8],
}

static mut SCRATCHPAD: HashBuffers = HashBuffers { payload: [0; MAX_WORDS], digest: [0; 8] };

/// A function that is measured, with its name.
#[derive(Clone, Copy)]
struct Task<'a> {
    name: &'static str,
    function: Sha2Function<'a>,
}

/// Returns a driver of the engine. Only one driver may be in use at a time.
fn engine<W: Wait>(wait: W) -> Result<Sha2<W>, Error> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    Sha2::new(registers, wait)
}

pub fn measure() -> Result<(), Error> {
    let mut engine = engine(Polling)?;
    let key = HmacKey(core::array::from_fn(operands::key_byte));
    let tasks = [
        Task { name: "sha256", function: Sha2Function::Sha256 },
        Task { name: "hmac-sha256", function: Sha2Function::HmacSha256(&key.0) },
    ];
    let scratchpad = &raw mut SCRATCHPAD;
    let host: *mut HashBuffers = core::ptr::with_exposed_provenance_mut(HOST_MEMORY);
    for (memory, place) in [("scratchpad", scratchpad), ("ram", host)] {
        if is_left_out(memory) {
            continue;
        }
        // SAFETY: no other code uses this memory, and the places are used one after the other.
        let place = unsafe { &mut *place };
        fill(&mut place.payload);
        for task in tasks {
            for size in SIZES {
                hash(&mut engine, task.function, place, size)?;
                mark(1);
                let result = hash(&mut engine, task.function, place, size);
                mark(0);
                result?;
                report(task.name, memory, size, &place.digest);
            }
        }
    }
    if !IS_OF_PAPER {
        return Ok(());
    }
    let scratchpad = &raw mut SCRATCHPAD;
    for task in tasks {
        // SAFETY: no other code uses this memory; the payload is still in it.
        by_interrupt(task, unsafe { &mut *scratchpad })?;
    }
    Ok(())
}

/// Number of times that the hart slept during a wait for the engine.
static SLEPT: AtomicU32 = AtomicU32::new(0);

/// Hashes the same payloads by interrupt, so that the hart sleeps while the engine works.
fn by_interrupt(task: Task<'_>, place: &mut HashBuffers) -> Result<(), Error> {
    let mut engine = engine(Sleeping(|| {
        SLEPT.store(SLEPT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        sleep_until(interrupt::SHA2);
    }))?;
    SLEPT.store(0, Ordering::Relaxed);
    let size = 4 * MAX_WORDS;
    hash(&mut engine, task.function, place, size)?;
    let _ = write!(Console, "slept {} {} {size} ", SLEPT.load(Ordering::Relaxed), task.name);
    print_digest(&place.digest);
    Ok(())
}

/// The measured part. It hashes whole blocks, because the paper's payloads consist of whole blocks.
#[inline(never)]
fn hash<W: Wait>(
    engine: &mut Sha2<W>,
    function: Sha2Function<'_>,
    place: &mut HashBuffers,
    size: usize,
) -> Result<(), Error> {
    label!(labels::CONFIG);
    engine.start(function)?;
    let (blocks, _) = place.payload.as_chunks::<BLOCK_WORDS>();
    for block in blocks.iter().take(size / 64) {
        label!(labels::WAIT);
        engine.until_empty()?;
        label!(labels::DIGEST);
        engine.push_block(block);
    }
    label!(labels::FINAL);
    engine.process();
    label!(labels::WAIT);
    engine.until_done()?;
    label!(labels::FINAL);
    let digest = engine.digest()?;
    let (words, _) = digest.as_chunks();
    for (to, from) in place.digest.iter_mut().zip(words) {
        // SAFETY: the word belongs to the result. The store is volatile, so that the compiler does
        // not move it out of the measured part.
        unsafe { core::ptr::from_mut(to).write_volatile(u32::from_le_bytes(*from)) };
    }
    label!(labels::NONE);
    Ok(())
}

fn fill(payload: &mut [u32; MAX_WORDS]) {
    for (index, word) in payload.iter_mut().enumerate() {
        *word = u32::from_le_bytes(core::array::from_fn(|byte| {
            operands::payload_byte(4 * index + byte)
        }));
    }
}

fn report(name: &str, memory: &str, size: usize, digest: &[u32; 8]) {
    let _ = write!(Console, "run {name} {memory} {size} ");
    print_digest(digest);
}

fn print_digest(digest: &[u32; 8]) {
    digest.iter().for_each(|word| print(&word.to_le_bytes()));
    let _ = writeln!(Console);
}
