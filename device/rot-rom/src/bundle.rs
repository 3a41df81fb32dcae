//! The boot bundle in the host's memory as a medium, and the load addresses of its payloads in that memory.
//!
//! The host is in reset during the verification. Nevertheless its memory is not treated as memory of this program: an
//! access may fail, and a write by another bus master must have no effect other than a wrong digest. Therefore no
//! reference points into the host's memory (`hartlock_rot::host`), and each byte of the bundle is copied into the
//! scratchpad once. Payloads are copied by the DMA engine, if there is one.

use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::{HashId, PAGE_SIZE, PayloadRecord, Reason, TreeMode, align_up};
use hartlock_kernels::{Kernels, Tier};
use hartlock_rot::host::{self, BusError};
use hartlock_stage::{Instant, RomLog, entry, push};
use hartlock_verify::tree::{self, Digest, Hasher, SoftwareHasher, TreeRootHasher};
use hartlock_verify::{Loaded, Platform, bits_of};

use crate::dma::{LockedDma, Sink};
use crate::engines::RotEngines;
use crate::sha3::RootHasher;
use crate::words::Words;
use crate::{clock, map, sha3, tee};

/// Number of bytes that are hashed at once. The size is large enough that the cost of starting the engine is small, and
/// fits the free stack while no signature is verified.
const PIECE_SIZE: usize = 2048;

/// The boot bundle as a medium.
pub struct Bundle<'a> {
    kernels: Kernels,
    engines: &'a RotEngines,
    dma: Option<&'a mut LockedDma>,
    log: &'a mut RomLog,
    /// SHA3-512 digest of the monitor's copy, if the device has a TEE.
    measurement: Option<Digest>,
}

impl<'a> Bundle<'a> {
    /// Opens it.
    pub fn open(
        kernels: Kernels,
        engines: &'a RotEngines,
        dma: Option<&'a mut LockedDma>,
        log: &'a mut RomLog,
    ) -> Self {
        Self { kernels, engines, dma, log, measurement: None }
    }

    /// Returns the measurement of the monitor after it was loaded.
    pub const fn measurement(&self) -> Option<Digest> {
        self.measurement
    }

    /// Adds an entry to the log.
    pub fn push(&mut self, entry: Entry) {
        push(self.log, entry);
    }

    fn step(step: Step, start: Instant) -> Entry {
        entry(Stage::Rom, step, start, clock::now())
    }

    /// Copies a payload to its load address, zeroes the rest of its memory, and returns the OR of the padding bytes
    /// after the original.
    fn copy(&mut self, payload: &PayloadRecord) -> Result<u64, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let source = place(payload.offset, padded_size)?;
        let size = usize::try_from(payload.size).map_err(|_| Reason::InternalLimit)?;
        let rest = payload.memory_size.checked_sub(payload.size).ok_or(Reason::InternalLimit)?;
        let rest = usize::try_from(rest).map_err(|_| Reason::InternalLimit)?;
        let end = |start: u64| start.checked_add(payload.size).ok_or(Reason::InternalLimit);
        // The load range was checked against the board's map: it is memory that no running stage uses and that contains
        // no part of the bundle.
        let to = payload.load_address;
        let done = match &mut self.dma {
            Some(dma) => dma.copy(to, source, size),
            None => host::copy(to, source, size),
        };
        done.map_err(failed)?;
        let after = end(payload.load_address)?;
        let cleared = match &mut self.dma {
            Some(dma) => dma.clear(after, rest),
            None => host::clear(after, rest),
        };
        cleared.map_err(failed)?;
        let Words(padding) = &mut Words([0; PAGE_SIZE as usize]);
        let padding_size = padded_size.wrapping_sub(payload.size) as usize;
        let padding = padding.get_mut(..padding_size).ok_or(Reason::InternalLimit)?;
        host::read(end(source)?, padding).map_err(failed)?;
        Ok(bits_of(padding))
    }

    /// Computes the digest of a payload's copy.
    ///
    /// The digest is not computed during the copy, although the engines could do that: the copy, which will be
    /// executed, is hashed instead of the bytes that were read, so that a fault between the two changes the digest.
    fn digest(&mut self, payload: &PayloadRecord) -> Result<Digest, BusError> {
        if self.is_streamed(payload)
            && let Some(dma) = &mut self.dma
        {
            let is_sha3 = sha3::has(&self.kernels, payload.hash);
            let mut engine = Streamed { hash: payload.hash, is_sha3, engines: self.engines, dma };
            return match payload.mode {
                TreeMode::Flat => {
                    let size = usize::try_from(payload.size).map_err(|_| BusError)?;
                    engine.digest(None, payload.load_address, size)
                }
                // The SHA-2 engine is a kernel, to which a root goes as it comes: keeping it would cost moves.
                mode if is_sha3 => {
                    digest_of_blocks::<RootHasher>(&self.kernels, &mut engine, payload, mode)
                }
                mode => {
                    digest_of_blocks::<SoftwareHasher>(&self.kernels, &mut engine, payload, mode)
                }
            };
        }
        let Words(piece) = &mut Words([0; PIECE_SIZE]);
        tree::digest_in_pieces(&self.kernels, payload, piece, |at, piece| {
            let at = payload.load_address.checked_add(at).ok_or(BusError)?;
            host::read(at, piece)
        })
    }

    /// Computes the digest of the monitor's copy and its measurement, in one pass if engines compute both.
    fn digest_and_measure(&mut self, payload: &PayloadRecord) -> Result<Digest, BusError> {
        let measured = PayloadRecord { hash: HashId::Sha3_512, mode: TreeMode::Flat, ..*payload };
        let is_measurement = (payload.hash, payload.mode) == (measured.hash, measured.mode);
        let is_of_both = payload.hash == HashId::Sha256
            && payload.mode == TreeMode::Flat
            && self.is_streamed(payload)
            && self.is_streamed(&measured);
        if is_of_both && let Some(dma) = &mut self.dma {
            let size = usize::try_from(payload.size).map_err(|_| BusError)?;
            let mut measurement = None;
            let engines = self.engines;
            let digest = engines.sha256_of_stream(|| {
                let bring = || dma.feed(Sink::Both, payload.load_address, size).ok();
                measurement = engines.sha3_of_stream(measured.hash, bring);
                measurement.map(|_| ())
            });
            self.measurement = measurement;
            return digest.map(|it| tree::padded(&it)).ok_or(BusError);
        }
        let measurement = self.digest(&measured)?;
        self.measurement = Some(measurement);
        if is_measurement { Ok(measurement) } else { self.digest(payload) }
    }

    /// Returns true if an engine has this hash and DMA can stream the data to it.
    fn is_streamed(&self, payload: &PayloadRecord) -> bool {
        let has_sha2 = payload.hash == HashId::Sha256
            && tree::tier(&self.kernels, (payload.mode, payload.hash)) == Tier::Engine;
        let has_sha3 = sha3::has(&self.kernels, payload.hash);
        let is_of_blocks = matches!(payload.mode, TreeMode::Flat | TreeMode::Blocks { .. });
        self.dma.is_some() && is_of_blocks && (has_sha2 || has_sha3)
    }

    fn tier(&self, payload: &PayloadRecord) -> Tier {
        if self.is_streamed(payload) {
            Tier::Engine
        } else {
            tree::tier(&self.kernels, (payload.mode, payload.hash))
        }
    }
}

/// Computes the digest of a payload in blocks. The prefix of a block is streamed before the block, from the place where
/// the log will be written. That memory is still unused, and a change of the prefix by another master only changes the
/// digest.
fn digest_of_blocks<H: Hasher>(
    kernels: &Kernels,
    engine: &mut Streamed<'_>,
    payload: &PayloadRecord,
    mode: TreeMode,
) -> Result<Digest, BusError> {
    let block_size = u64::from(mode.block_size().unwrap_or(0).max(1));
    let mut root = TreeRootHasher::<H>::with(payload, kernels);
    let (mut at, mut index) = (0_u64, 0_u64);
    while at < payload.size {
        let count = payload.size.wrapping_sub(at).min(block_size);
        let from = payload.load_address.checked_add(at).ok_or(BusError)?;
        let prefix = tree::leaf_prefix(mode, index).ok_or(BusError)?;
        host::write(map::LOG.start, &prefix)?;
        let place = (map::LOG.start, prefix.len());
        root.push(&engine.digest(Some(place), from, count as usize)?);
        (at, index) = (at.wrapping_add(count), index.wrapping_add(1));
    }
    Ok(root.finalize())
}

/// A hash engine and the DMA engine that streams messages to it.
struct Streamed<'a> {
    hash: HashId,
    /// The hash is that of the engine for SHA-3.
    is_sha3: bool,
    engines: &'a RotEngines,
    dma: &'a mut LockedDma,
}

impl Streamed<'_> {
    /// Computes the digest of a range of bytes, preceded by a prefix if there is one.
    fn digest(
        &mut self,
        prefix: Option<(u64, usize)>,
        from: u64,
        count: usize,
    ) -> Result<Digest, BusError> {
        let dma = &mut *self.dma;
        let mut bring = |sink| match prefix {
            Some(prefix) => dma.feed_after(sink, prefix, from, count).ok(),
            None => dma.feed(sink, from, count).ok(),
        };
        let digest = if self.is_sha3 {
            self.engines.sha3_of_stream(self.hash, || bring(Sink::Sha3))
        } else {
            self.engines.sha256_of_stream(|| bring(Sink::Sha2)).map(|it| tree::padded(&it))
        };
        digest.ok_or(BusError)
    }
}

/// Returns the address of a range of the bundle. A manifest has 64-bit sizes, and a range that exceeds the bundle is an
/// error.
fn place(offset: u64, len: u64) -> Result<u64, Reason> {
    let end = offset.checked_add(len).ok_or(Reason::Truncated)?;
    if end > map::BUNDLE.size() {
        return Err(Reason::Truncated);
    }
    map::BUNDLE.start.checked_add(offset).ok_or(Reason::Truncated)
}

fn failed(_: BusError) -> Reason {
    Reason::MediumError
}

impl Platform for Bundle<'_> {
    fn medium_len(&self) -> u64 {
        map::BUNDLE.size()
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        host::read(place(offset, into.len() as u64)?, into).map_err(failed)
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let start = clock::now();
        let padding = self.copy(payload)?;
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            ..Self::step(Step::Read, start)
        });
        // From here on only the copy is used.
        let start = clock::now();
        let is_monitor = tee::MONITOR == Some(payload.payload_type);
        let digest =
            if is_monitor { self.digest_and_measure(payload) } else { self.digest(payload) };
        let digest = digest.map_err(failed)?;
        self.push(Entry {
            payload: Some(payload.payload_type),
            bytes: payload.size,
            harts: 1,
            digest: tree::first_48(&digest),
            hash: Some(payload.hash),
            kernel: self.tier(payload) as u32,
            ..Self::step(Step::Hash, start)
        });
        Ok(Loaded { digest, padding })
    }
}
