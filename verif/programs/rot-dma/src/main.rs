//! Hashes of the host's memory by DMA, on the root of trust of `hw/soc`: one read for one engine, for both, and at the
//! same time for a write. The program prints a line for each, and the workstation checks the digests:
//!
//! ```text
//! dma <functions> <bytes> <source offset> <cycles> <cycles of the set-up> <digest>...
//! ```
//!
//! The cycles are those from the doorbell to the last valid digest, including its read. The set-up before it starts the
//! engines and writes list and registers. Both are measured in the second of two runs, with the payload in the
//! last-level cache. Byte i of memory is i mod 251.
//!
//! With the feature `feeds` the engines get the same bytes from the core, by polling and by interrupt, and from DMA by
//! interrupt (`feeds.rs`). With the feature `released` the host is released first, so that all accesses go through the
//! host's port for other bus masters, which is coherent with its caches. The host waits for the word that this program
//! writes at its end.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]
#![cfg_attr(feature = "feeds", expect(dead_code, reason = "nothing is measured then"))]

#[cfg(feature = "feeds")]
mod feeds;

use core::fmt::Write;

#[cfg(feature = "released")]
use hartlock_drivers::boot_sequencer::BootSequencer;
use hartlock_drivers::dma::{self, DescriptorList, Dma, Range, Window};
use hartlock_drivers::sha2::{self, Sha2};
use hartlock_drivers::sha3::{self, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_regs::dma::DmaCause;
#[cfg(feature = "released")]
use hartlock_rot::BOOT_SEQUENCER;
use hartlock_rot::{DMA, HOST_MEMORY, SCRATCHPAD, SHA2, SHA3, cycle};
use hartlock_rot_bench::{Console, exit};

/// Sizes of the payloads in bytes.
const SIZES: [u32; 4] = [64, 1024, 4096, 16384];
/// Size of a payload for which the constant costs are negligible. It is not copied, because a copy is compared byte by
/// byte.
const LONG: u32 = 65536;
/// Length in words of the memory for the largest payload at every offset.
const MEMORY_LEN: usize = (LONG as usize + 64) / 4;
/// Address of the payloads, after the host's program; copies are 1 MiB after them.
const PAYLOAD: usize = HOST_MEMORY + (16 << 20);
const COPY: u32 = PAYLOAD as u32 + (1 << 20);
/// Address of the word that the host waits for (`verif/programs/rot-host`, feature `waits`).
#[cfg(feature = "released")]
const DONE: usize = HOST_MEMORY + (18 << 20);
/// Maximum number of reads of the events, which is more than any list takes.
const PATIENCE: u32 = 100_000;
/// Bits of the DMA sinks (hw/soc/top/rot_registers.sv).
const TO_SHA2: u8 = 1 << 0;
const TO_SHA3: u8 = 1 << 1;

static mut LIST: DescriptorList = DescriptorList::EMPTY;

/// The reason why the program stopped.
#[derive(Debug)]
#[expect(dead_code, reason = "errors are printed")]
enum Error {
    Dma(dma::Error),
    Sha2(sha2::Error),
    Sha3(sha3::Error),
    /// A digest differs from the published one.
    #[cfg(feature = "feeds")]
    Known(&'static str),
    /// The copy differs from the hashed bytes.
    Copy,
    /// A list that has to be refused was accepted.
    Allowed,
    /// The host was not released.
    #[cfg(feature = "released")]
    Release,
}

impl From<dma::Error> for Error {
    fn from(error: dma::Error) -> Self {
        Self::Dma(error)
    }
}

impl From<sha2::Error> for Error {
    fn from(error: sha2::Error) -> Self {
        Self::Sha2(error)
    }
}

impl From<sha3::Error> for Error {
    fn from(error: sha3::Error) -> Self {
        Self::Sha3(error)
    }
}

/// The engines and the memory that receive the payload.
#[derive(Clone, Copy)]
struct Task {
    name: &'static str,
    sha2: Option<sha2::Sha2Function<'static>>,
    /// SHA-3 function and the length of its digest in bytes.
    sha3: Option<(sha3::Sha3Function<'static>, usize)>,
    writes: bool,
}

/// HMAC key. Byte i is 255 - i.
static KEY: [u8; 32] = {
    let mut key = [255; 32];
    let mut at = 0;
    while at < 32 {
        key[at] -= at as u8;
        at += 1;
    }
    key
};

const TASKS: [Task; 8] = [
    Task { name: "sha256", sha2: Some(sha2::Sha2Function::Sha256), sha3: None, writes: false },
    Task {
        name: "hmac-sha256",
        sha2: Some(sha2::Sha2Function::HmacSha256(&KEY)),
        sha3: None,
        writes: false,
    },
    Task {
        name: "sha3-256",
        sha2: None,
        sha3: Some((sha3::Sha3Function::Sha3_256, 32)),
        writes: false,
    },
    Task {
        name: "sha3-384",
        sha2: None,
        sha3: Some((sha3::Sha3Function::Sha3_384, 48)),
        writes: false,
    },
    Task {
        name: "sha3-512",
        sha2: None,
        sha3: Some((sha3::Sha3Function::Sha3_512, 64)),
        writes: false,
    },
    Task {
        name: "sha256+sha3-384",
        sha2: Some(sha2::Sha2Function::Sha256),
        sha3: Some((sha3::Sha3Function::Sha3_384, 48)),
        writes: false,
    },
    Task { name: "sha256+write", sha2: Some(sha2::Sha2Function::Sha256), sha3: None, writes: true },
    Task {
        name: "sha256+sha3-384+write",
        sha2: Some(sha2::Sha2Function::Sha256),
        sha3: Some((sha3::Sha3Function::Sha3_384, 48)),
        writes: true,
    },
];

struct Engines<'a> {
    dma: Dma<'a, Polling>,
    sha2: Sha2<Polling>,
    sha3: Sha3<Polling>,
}

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_bench::catch_traps();
    match run() {
        Ok(()) => exit(0),
        Err(error) => {
            let _ = writeln!(Console, "rot-dma: {error:?}");
            exit(1)
        }
    }
}

fn run() -> Result<(), Error> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let dma = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
    // SAFETY: these are the engine's registers, of which this is the only user.
    let sha2 = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    // SAFETY: these are the engine's registers, of which this is the only user.
    let sha3 = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
    let list = &raw mut LIST;
    // SAFETY: no other code names the list.
    let list = unsafe { &mut *list };
    let offset = core::ptr::from_mut(list).addr() - SCRATCHPAD;
    let mut engines = Engines {
        dma: Dma::new(dma, list, offset, Polling)?,
        sha2: Sha2::new(sha2, Polling)?,
        sha3: Sha3::new(sha3, Polling)?,
    };
    let page = PAYLOAD as u32 >> 12;
    // The first MiB of the host's memory is readable, and the second is writable. The first window also names pages
    // below the host's memory; those are never accessible.
    let (first, second) = (
        Window { first: 0, last: page + 0xff },
        Window { first: page + 0x100, last: page + 0x1ff },
    );
    engines.dma.lock(first, second)?;
    // SAFETY: no other code uses this memory.
    let memory = unsafe {
        core::slice::from_raw_parts_mut(
            core::ptr::with_exposed_provenance_mut::<u32>(PAYLOAD),
            MEMORY_LEN,
        )
    };
    for (index, word) in memory.iter_mut().enumerate() {
        *word = u32::from_le_bytes(core::array::from_fn(|byte| ((4 * index + byte) % 251) as u8));
    }
    #[cfg(feature = "released")]
    release()?;
    #[cfg(feature = "feeds")]
    feeds::run(engines)?;
    #[cfg(not(feature = "feeds"))]
    measure_all(engines)?;
    #[cfg(feature = "released")]
    tell_the_host();
    Ok(())
}

/// Measures every task with every size, and checks ranges that have to be refused.
#[cfg(not(feature = "feeds"))]
#[inline(always)]
fn measure_all(mut engines: Engines<'_>) -> Result<(), Error> {
    for task in TASKS {
        for size in SIZES {
            engines.measure(task, size, 0)?;
        }
        if !task.writes {
            engines.measure(task, LONG, 0)?;
        }
        engines.measure(task, 0, 0)?;
        engines.measure(task, 4093, 3)?;
    }
    for source in [COPY - 32, HOST_MEMORY as u32 - 32, SCRATCHPAD as u32] {
        engines.is_refused(source)?;
    }
    Ok(())
}

/// Releases the host, which runs from here on. Every access to its memory then takes the path that is coherent with its
/// caches.
#[cfg(feature = "released")]
fn release() -> Result<(), Error> {
    let base = core::ptr::with_exposed_provenance_mut(BOOT_SEQUENCER);
    // SAFETY: these are registers of the sequencer, which no other code uses.
    let mut sequencer = unsafe { BootSequencer::new(base) };
    sequencer.release().map_err(|_| Error::Release)
}

#[cfg(feature = "released")]
fn tell_the_host() {
    // SAFETY: this is a word that only the host reads.
    unsafe { core::ptr::with_exposed_provenance_mut::<u32>(DONE).write_volatile(1) };
}

impl Engines<'_> {
    /// Runs a task twice, and prints the line of the second run.
    fn measure(&mut self, task: Task, length: u32, offset: u32) -> Result<(), Error> {
        let mut digests = [[0; 64]; 2];
        self.hash(task, length, offset, &mut digests)?;
        let (set_up, all) = self.hash(task, length, offset, &mut digests)?;
        let _ = write!(Console, "dma {} {length} {offset} {all} {set_up}", task.name);
        let lengths = [task.sha2.map_or(0, |_| 32), task.sha3.map_or(0, |(_, length)| length)];
        for (digest, length) in digests.iter().zip(lengths).filter(|(_, length)| *length > 0) {
            let _ = Console.write_char(' ');
            for byte in digest.iter().take(length) {
                let _ = write!(Console, "{byte:02x}");
            }
        }
        let _ = writeln!(Console);
        if task.writes { is_copied(length, offset) } else { Ok(()) }
    }

    /// Returns the cycles of the set-up, and those of the whole task.
    #[inline(never)]
    fn hash(
        &mut self,
        task: Task,
        length: u32,
        offset: u32,
        digests: &mut [[u8; 64]; 2],
    ) -> Result<(u32, u32), Error> {
        let start = cycle();
        let mut sinks = 0;
        if let Some(function) = task.sha2 {
            self.sha2.start_stream(function)?;
            sinks |= TO_SHA2;
        }
        if let Some((function, _)) = task.sha3 {
            self.sha3.start_stream(function)?;
            sinks |= TO_SHA3;
        }
        let range =
            Range { source: PAYLOAD as u32 + offset, destination: COPY + 5 * offset, length };
        self.dma.prepare(&[range], sinks, task.writes)?;
        let doorbell = cycle();
        self.dma.ring();
        self.dma.finish(PATIENCE)?;
        if task.sha2.is_some() {
            self.sha2.until_done()?;
        }
        if task.sha3.is_some() {
            self.sha3.until_done()?;
        }
        let end = cycle();
        let [of_sha2, of_sha3] = digests;
        if task.sha2.is_some() {
            of_sha2[..32].copy_from_slice(&self.sha2.digest()?);
        }
        if let Some((_, length)) = task.sha3 {
            self.sha3.read(&mut of_sha3[..length])?;
        }
        Ok((doorbell.wrapping_sub(start), end.wrapping_sub(doorbell)))
    }

    /// Checks that a range outside of its window is refused: nothing is read, and the engine has dropped its message,
    /// so that another one can begin.
    fn is_refused(&mut self, source: u32) -> Result<(), Error> {
        self.sha2.start_stream(sha2::Sha2Function::Sha256)?;
        self.dma.start(&[Range { source, destination: COPY, length: 64 }], TO_SHA2, false)?;
        let refused = dma::Error::Refused { cause: DmaCause::Source, index: 0 };
        if self.dma.finish(PATIENCE) != Err(refused) {
            return Err(Error::Allowed);
        }
        let [only_sha256, ..] = TASKS;
        self.measure(only_sha256, 64, 0)
    }
}

/// Checks that the copy of a payload equals the bytes that were read.
fn is_copied(length: u32, offset: u32) -> Result<(), Error> {
    for at in 0..length {
        let copy = core::ptr::with_exposed_provenance::<u8>((COPY + 5 * offset + at) as usize);
        // SAFETY: no other code uses this memory at this time.
        if unsafe { copy.read_volatile() } != ((offset + at) % 251) as u8 {
            return Err(Error::Copy);
        }
    }
    Ok(())
}
