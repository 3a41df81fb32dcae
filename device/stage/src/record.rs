//! What a stage measures and logs (boot flow §3.5).

use hartlock_handoff::{Entry, Log, LogHeader, MAX_ROM_ENTRIES, Stage, Step};
use hartlock_image::{HashId, List};
use hartlock_kernels::Kernels;
use hartlock_verify::Authenticated;
use hartlock_verify::tree::{self, Hasher, SoftwareHasher};

/// A point in time by two clocks.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Ticks.
    pub time: u64,
    /// Retired instructions of this hart.
    pub instret: u64,
}

/// Measurements of a ROM so far. There is no memory for a log before the bundle is verified.
pub type RomLog = List<Entry, MAX_ROM_ENTRIES>;

/// An entry of a stage from `start` to `end`.
#[inline]
pub fn entry(stage: Stage, step: Step, start: Instant, end: Instant) -> Entry {
    Entry {
        time: (start.time, end.time),
        instret: (start.instret, end.instret),
        ..Entry::new(stage, step)
    }
}

/// The digest of a signed region that goes into the log.
#[inline]
pub fn measure(kernels: &Kernels, signed: &[u8]) -> [u8; 48] {
    let mut hash = SoftwareHasher::with(HashId::Sha384, kernels);
    hash.update(signed);
    tree::first_48(&hash.finalize())
}

/// The entry of an authenticated bundle with this digest, as `of` for the rest.
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

/// A full log drops entries: three payloads need at most ten of its 24 places.
#[inline]
pub fn push(log: &mut RomLog, entry: Entry) {
    let _ = log.push(entry);
}

/// Starts the log in memory with what a ROM measured.
// The one caller of each ROM adds entries, too: as a function of its own it would carry their encoding twice.
#[inline(always)]
pub fn start_log<'a>(memory: &'a mut [u8], header: &LogHeader, entries: &RomLog) -> Log<'a> {
    let mut log = Log::start(memory, header);
    for entry in entries.iter() {
        log.push(entry);
    }
    log
}
