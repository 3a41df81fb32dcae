//! The system bundle on a block device. Payloads are hashed while they are still being read.

use core::marker::PhantomData;

use hartlock_drivers::arrivals::Arrivals;
use hartlock_handoff::{Entry, Log, Step};
use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, TreeMode, align_up};
use hartlock_kernels::{HashFamily, Kernels, Tier};
use hartlock_verify::board::Region;
use hartlock_verify::pool::{ClaimedLeaves, Coordinator, Job, LostBlock, Patience};
use hartlock_verify::tree::{self, Digest, Hasher, SoftwareHasher, TreeRootHasher};
use hartlock_verify::{Loaded, Platform, bits_of};
use hartlock_virt::block::{self, BlockDevice, DEPTH, SECTOR_SIZE, request_size};
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::memory;

use crate::decryption;
use crate::harts::{self, Harts, POOL};
use crate::log::step;
use crate::timeouts::{DEVICE_MS, PATIENCE_MS, PAYLOAD_MS};

/// Maximum number of bytes in one request for metadata.
const METADATA_REQUEST_SIZE: usize = 4096;

/// A strategy for reading payloads from the disk.
pub trait Reading: Sized {
    /// True if the boot hart tries its memory protection, as the other harts do.
    const TRIES_ON_BOOT_HART: bool = true;

    /// Reads a payload into memory and computes its digest.
    ///
    /// # Errors
    /// The same as those of [`Platform::load`].
    fn load(disk: &mut Disk<'_, '_, Self>, payload: &PayloadRecord) -> Result<Loaded, Reason>;

    /// Stops the device, so that memory does not change between the digests and the verdict.
    ///
    /// # Errors
    /// `MediumError` for a device that does not complete its reset, because it may still write to memory.
    fn close(mut disk: Disk<'_, '_, Self>) -> Result<(), Reason> {
        disk.reset()
    }
}

/// The strategy that reads each payload once and hashes it while the rest of it is read.
pub struct Once;

impl Reading for Once {
    fn load(disk: &mut Disk<'_, '_, Self>, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let transfer = disk.begin(payload)?;
        disk.digest(payload, transfer)
    }
}

/// The block device with the harts that hash the data, and the log.
pub struct Disk<'a, 'b, R> {
    device: BlockDevice,
    kernels: Kernels,
    /// Harts that take part in this boot.
    pub harts: &'a mut Harts,
    /// Measurement log of this boot.
    pub log: &'a mut Log<'b>,
    reading: PhantomData<R>,
}

/// Every exit of the loader resets the device: a device that still reads would write to memory that the loader no
/// longer owns.
impl<R> Drop for Disk<'_, '_, R> {
    fn drop(&mut self) {
        // On the way to Linux the result is checked in `Reading::close`. Every other way ends in a refusal, for which
        // the result does not matter.
        let _ = self.device.reset();
    }
}

impl<'a, 'b, R> Disk<'a, 'b, R> {
    /// Finds the block device and opens it (boot flow §4.1).
    ///
    /// # Errors
    /// `MediumMissing`.
    pub fn open(
        kernels: Kernels,
        harts: &'a mut Harts,
        log: &'a mut Log<'b>,
    ) -> Result<Self, Reason> {
        Ok(Self { device: BlockDevice::open()?, kernels, harts, log, reading: PhantomData })
    }

    /// Stops the device; afterwards it does not write to memory.
    ///
    /// # Errors
    /// `MediumError` if the device does not complete the reset.
    pub fn reset(&mut self) -> Result<(), Reason> {
        self.device.reset()
    }

    /// Reads whole sectors, waits until they are in the buffer of a request, and returns the slot of the request.
    fn read_sectors(&mut self, sector: u64, len: u64) -> Result<usize, Reason> {
        self.device.submit(sector, len)?.ok_or(Reason::MediumError)?;
        let deadline = clock::deadline(DEVICE_MS);
        loop {
            if let Some(slot) = self.device.poll()? {
                return Ok(slot);
            }
            if clock::is_past(deadline) {
                return Err(Reason::MediumError);
            }
            core::hint::spin_loop();
        }
    }

    /// Logs one step of the work on a payload.
    pub fn push(&mut self, payload: &PayloadRecord, what: Entry) {
        self.log.push(&Entry { payload: Some(payload.payload_type), bytes: payload.size, ..what });
    }
}

impl<R: Reading> Platform for Disk<'_, '_, R> {
    fn medium_len(&self) -> u64 {
        self.device.capacity()
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        let mut at = offset;
        let mut rest = into;
        while !rest.is_empty() {
            let skip = (at % SECTOR_SIZE) as usize;
            let here = rest.len().min(METADATA_REQUEST_SIZE.saturating_sub(skip));
            let sectors_len = align_up((skip as u64).saturating_add(here as u64), SECTOR_SIZE)
                .ok_or(Reason::InternalLimit)?;
            let slot = self.read_sectors(at / SECTOR_SIZE, sectors_len)?;
            let (now, later) = rest.split_at_mut_checked(here).ok_or(Reason::InternalLimit)?;
            block::copy_from(slot, skip, now, has_vectors(&self.kernels));
            rest = later;
            at = at.saturating_add(here as u64);
        }
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        R::load(self, payload)
    }
}

impl<R> Disk<'_, '_, R> {
    /// Begins to read a payload into memory.
    ///
    /// # Errors
    /// `InternalLimit`.
    pub fn begin(&self, payload: &PayloadRecord) -> Result<Transfer, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        Ok(Transfer::new(payload, padded_size, has_vectors(&self.kernels)))
    }

    /// Waits until the whole payload is in memory.
    ///
    /// # Errors
    /// `MediumError`.
    pub fn finish(&mut self, transfer: &mut Transfer) -> Result<(), Reason> {
        transfer.finish(&mut self.device)
    }

    /// Computes the digest of a payload while it arrives.
    ///
    /// # Errors
    /// `MediumError`, `HashingTooSlow`.
    pub fn digest(
        &mut self,
        payload: &PayloadRecord,
        mut transfer: Transfer,
    ) -> Result<Loaded, Reason> {
        let digest = match payload.mode {
            TreeMode::Flat => self.load_flat(payload, &mut transfer)?,
            TreeMode::Blocks { .. } | TreeMode::ParallelHash { .. } => {
                self.load_blocks(payload, &mut transfer)?
            }
        };
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let padding = Region {
            start: payload.load_address.saturating_add(payload.size),
            end: payload.load_address.saturating_add(padded_size),
        };
        // SAFETY: the range is inside the payload's load range, was copied, and is not written any more.
        let padding = bits_of(unsafe { memory::bytes(padding) });
        // The rest of the payload's memory may contain data of an earlier boot, so it is zeroed.
        let rest = Region {
            start: payload.load_address.saturating_add(padded_size),
            end: payload.load_address.saturating_add(payload.memory_size),
        };
        // SAFETY: the range is inside the payload's load range, which was checked, and nothing else uses it.
        unsafe { memory::bytes_mut(rest) }.fill(0);
        Ok(Loaded { digest, padding })
    }

    /// Hashes a payload of mode flat on this hart, as far as it has arrived.
    fn load_flat(
        &mut self,
        payload: &PayloadRecord,
        transfer: &mut Transfer,
    ) -> Result<Digest, Reason> {
        let mut hasher = SoftwareHasher::with(payload.hash, &self.kernels);
        let mut hashed = 0;
        let mut hash_start = None;
        while hashed < payload.size {
            transfer.advance(&mut self.device)?;
            let arrived = transfer.arrived().min(payload.size);
            if arrived > hashed {
                hash_start.get_or_insert_with(clock::now);
                let range = Region {
                    start: payload.load_address.saturating_add(hashed),
                    end: payload.load_address.saturating_add(arrived),
                };
                // SAFETY: the range is inside the payload's load range, was copied, and is not written any more.
                hasher.update(unsafe { memory::bytes(range) });
                hashed = arrived;
            }
        }
        let digest = hasher.finalize();
        transfer.finish(&mut self.device)?;
        self.push(payload, Entry { harts: self.harts.own_bit(), ..transfer.entry() });
        let hash = step(Step::Hash, hash_start.unwrap_or(transfer.start));
        self.push(payload, self.hashed_by(hash, payload, &digest, self.harts.own_bit()));
        if decryption::begin(payload)? {
            let (hart, address) = (self.harts.boot_hart(), payload.load_address);
            // SAFETY: the payload was hashed, and this is the only hart that works on it.
            unsafe { decryption::decrypt(&self.kernels, hart, address, 0, payload.size) }
            self.log.push(&decryption::end(payload, &self.kernels));
        }
        Ok(digest)
    }

    /// Hashes the blocks of a payload on all harts as they arrive. This hart also drives the device and adds the leaves
    /// to the root.
    fn load_blocks(
        &mut self,
        payload: &PayloadRecord,
        transfer: &mut Transfer,
    ) -> Result<Digest, Reason> {
        let own = self.harts.boot_hart();
        let is_encrypted = decryption::begin(payload)?;
        let job = Job {
            address: payload.load_address,
            size: payload.size,
            mode: payload.mode,
            hash: payload.hash,
            is_encrypted,
        };
        let mut root = TreeRootHasher::<SoftwareHasher>::with(payload, &self.kernels);
        harts::clear_parts();
        let mut work = Coordinator::open(&POOL, own, job);
        let mut patience = Patience::new(clock::ticks(), clock::ticks_of(PATIENCE_MS));
        let mut hash_start = None;
        let mut payload_deadline = None;
        let mut leaves = ClaimedLeaves::new();
        while !work.is_complete() || (is_encrypted && !decryption::is_done(payload.size)) {
            if !transfer.is_complete() {
                transfer.advance(&mut self.device)?;
            } else if clock::is_past(
                *payload_deadline.get_or_insert_with(|| clock::deadline(PAYLOAD_MS)),
            ) {
                return Err(Reason::HashingTooSlow);
            }
            if work.arrived(transfer.arrived()) {
                hash_start.get_or_insert_with(clock::now);
                self.harts.wake();
            }
            while let Some(leaf) = work.next_leaf() {
                root.push(&leaf);
                patience.renew(clock::ticks());
            }
            // While this hart hashes, nobody copies and announces what arrives. So it hashes only what is more than the
            // other harts need until it is back.
            let is_free = transfer.is_complete() || work.unclaimed() > self.harts.workers();
            let most = tree::lanes(&self.kernels, payload.hash);
            if let Some(claim) = is_free.then(|| POOL.claim_group(own, most)).flatten() {
                harts::compute_leaves(own, &self.kernels, &claim, &mut leaves);
                harts::submit(own, &self.kernels, &claim, &leaves);
            } else {
                self.replace_lost_hart(&work, &mut patience);
            }
        }
        let digest = root.finalize();
        transfer.finish(&mut self.device)?;
        self.push(payload, Entry { harts: self.harts.own_bit(), ..transfer.entry() });
        let hash = step(Step::Hash, hash_start.unwrap_or(transfer.start));
        self.push(payload, self.hashed_by(hash, payload, &digest, work.delivered()));
        for part in harts::parts() {
            self.log.push(&Entry { payload: Some(payload.payload_type), ..part });
        }
        if is_encrypted {
            self.log.push(&decryption::end(payload, &self.kernels));
        }
        Ok(digest)
    }

    fn hashed_by(
        &self,
        hash: Entry,
        payload: &PayloadRecord,
        digest: &Digest,
        harts: u64,
    ) -> Entry {
        Entry {
            harts,
            digest: tree::first_48(digest),
            hash: Some(payload.hash),
            kernel: tree::tier(&self.kernels, (payload.mode, payload.hash)) as u32,
            ..hash
        }
    }

    /// Redoes the oldest missing block if the hart that holds it has trapped or takes too long.
    fn replace_lost_hart(&mut self, work: &Coordinator<'_>, patience: &mut Patience) {
        let is_over = patience.is_over(clock::ticks());
        let Some(LostBlock { block, holder }) = work.give_up(self.harts.faulted(), is_over) else {
            core::hint::spin_loop();
            return;
        };
        let start = clock::now();
        if let Some((address, len)) = work.job().block(block) {
            // SAFETY: the block has arrived, and nothing writes to it.
            let bytes = unsafe { memory::bytes(Region::new(address, len)) };
            let job = work.job();
            let kind = (job.mode, job.hash);
            if work.redo(block, &tree::leaf(&self.kernels, kind, block, bytes)) {
                let own = self.harts.boot_hart();
                // SAFETY: the leaf of the block was accepted from this hart.
                unsafe { decryption::decrypt_block(&self.kernels, own, job, block) }
            }
        }
        patience.renew(clock::ticks());
        self.log.push(&Entry {
            harts: self.harts.own_bit(),
            value: 1 << (holder & 63),
            ..step(Step::HartFault, start)
        });
    }
}

/// Returns true if this hart has vector instructions: one of its kernels passed a test with them.
fn has_vectors(kernels: &Kernels) -> bool {
    HashFamily::ALL.into_iter().any(|family| {
        [kernels.tier(family), kernels.tier_of_many(family)]
            .into_iter()
            .any(|tier| matches!(tier, Tier::V | Tier::Zvbb | Tier::Zvknh))
    })
}

/// A payload that is being read by several requests at a time.
///
/// The device writes to the buffers of the requests. The boot hart copies them to the payload's place in the order in
/// which they complete, and only copied bytes count as arrived. Other harts never copy: a hart that was given up as lost
/// may run on later, and could then change bytes that were already hashed.
pub struct Transfer {
    has_vectors: bool,
    start: Instant,
    end: Instant,
    first_sector: u64,
    address: u64,
    arrivals: Arrivals,
    /// Offset in the payload, and length, of the request in each slot of the device.
    range_of: [(u64, u64); DEPTH],
    silence: u64,
}

impl Transfer {
    fn new(payload: &PayloadRecord, padded_size: u64, has_vectors: bool) -> Self {
        let start = clock::now();
        let block_size = payload.mode.block_size().map_or(u64::MAX, u64::from);
        Self {
            has_vectors,
            start,
            end: start,
            // Payload offsets are multiples of 4096, so the division is exact.
            first_sector: payload.offset / SECTOR_SIZE,
            address: payload.load_address,
            arrivals: Arrivals::new(padded_size, request_size(block_size)),
            range_of: [(0, 0); DEPTH],
            silence: clock::deadline(DEVICE_MS),
        }
    }

    /// Number of bytes at the start of the payload that are in memory.
    fn arrived(&self) -> u64 {
        self.arrivals.arrived()
    }

    fn is_complete(&self) -> bool {
        self.arrivals.is_complete()
    }

    /// Submits requests as long as the device accepts them, and copies what the completed ones have read.
    fn advance(&mut self, device: &mut BlockDevice) -> Result<(), Reason> {
        while let Some((offset, len)) = self.arrivals.next_request() {
            let sector = self.first_sector.saturating_add(offset / SECTOR_SIZE);
            let Some(slot) = device.submit(sector, len)? else { break };
            if let Some(place) = self.range_of.get_mut(slot) {
                *place = (offset, len);
            }
            self.arrivals.requested(len);
        }
        while let Some(slot) = device.poll()? {
            let (offset, len) = self.range_of.get(slot).copied().unwrap_or((u64::MAX, 0));
            let place = Region::new(self.address.saturating_add(offset), len);
            // SAFETY: the range is inside the payload's load range, which was checked against the board's map, and no
            // code reads its bytes before they have arrived.
            block::copy_from(slot, 0, unsafe { memory::bytes_mut(place) }, self.has_vectors);
            self.arrivals.completed(offset);
            self.end = clock::now();
            self.silence = clock::deadline(DEVICE_MS);
        }
        if !self.is_complete() && clock::is_past(self.silence) {
            return Err(Reason::MediumError);
        }
        Ok(())
    }

    /// Waits for the padding that follows the last hashed byte.
    fn finish(&mut self, device: &mut BlockDevice) -> Result<(), Reason> {
        while !self.is_complete() {
            self.advance(device)?;
        }
        Ok(())
    }

    /// Returns the log entry of this transfer.
    pub fn entry(&self) -> Entry {
        Entry {
            time: (self.start.time, self.end.time),
            instret: (self.start.instret, self.end.instret),
            ..step(Step::Read, self.start)
        }
    }
}
