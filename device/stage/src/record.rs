//! Measurements and log entries of a stage (boot flow §3.5).

use hartlock_handoff::{Entry, Log, LogHeader, MAX_ROM_ENTRIES, Stage, Step};
use hartlock_image::{HashId, List};
use hartlock_kernels::Kernels;
use hartlock_verify::Authenticated;
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};

/// A point in time, given by two counters.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Time in ticks.
    pub time: u64,
    /// Number of instructions that this hart has retired.
    pub instret: u64,
}

/// Log entries of a ROM. The ROM collects them, because there is no memory for a log before the bundle is verified.
pub type RomLog = List<Entry, MAX_ROM_ENTRIES>;

/// Returns an entry of a stage for a step from `start` to `end`.
#[inline]
pub fn entry(stage: Stage, step: Step, start: Instant, end: Instant) -> Entry {
    Entry {
        time: (start.time, end.time),
        instret: (start.instret, end.instret),
        ..Entry::new(stage, step)
    }
}

/// Computes the digest of a signed region for the log.
#[inline]
pub fn measure(kernels: &Kernels, signed: &[u8]) -> [u8; 48] {
    let mut hash = SoftwareHasher::with(HashId::Sha384, kernels);
    hash.update(signed);
    tree::first_48(&hash.finalize())
}

/// Returns the log entry for an authenticated bundle with this digest. `of` provides all other fields.
#[inline]
pub fn signature(bundle: &Authenticated<'_>, digest: [u8; 48], harts: u64, of: Entry) -> Entry {
    Entry {
        bytes: bundle.signed().len() as u64,
        digest,
        hash: Some(HashId::Sha384),
        harts,
        value: bundle.manifest().security_version,
        ..of
    }
}

/// Adds an entry. A full log drops entries; three payloads need at most ten of its 24 places.
#[inline]
pub fn push(log: &mut RomLog, entry: Entry) {
    let _ = log.push(entry);
}

/// Starts the log in memory with the entries of a ROM.
// This function is inlined, because the only caller in each ROM also adds entries: as a separate function it would
// contain the code that encodes entries a second time.
#[inline(always)]
pub fn start_log<'a>(memory: &'a mut [u8], header: &LogHeader, entries: &RomLog) -> Log<'a> {
    let mut log = Log::start(memory, header);
    for entry in entries.iter() {
        log.push(entry);
    }
    log
}
