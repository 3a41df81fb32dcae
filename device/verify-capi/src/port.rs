//! The medium, and the memory of payloads (specification §3).

use core::ptr;
use core::sync::atomic::Ordering;

use hartlock_image::{PAGE_SIZE, PayloadRecord, Reason, SignatureBlock, TreeMode, align_up};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Comparison;
use hartlock_verify::board::Region;
use hartlock_verify::pool::{ClaimedLeaves, Coordinator, Job, LostBlock, Patience};
use hartlock_verify::tree::{self, Digest, Hasher, SoftwareHasher, TreeRootHasher};
use hartlock_verify::{Loaded, Platform, bits_of};

use crate::harts;
use crate::library::Library;
use crate::types::{
    CallerPayload, CallerPlatform, CallerSignature, HARTLOCK_GENUINE, HARTLOCK_MEMORY_SIZE,
    HARTLOCK_NOT_GENUINE, HARTLOCK_SECTOR_SIZE,
};

/// Seconds for a part of a payload to arrive.
const DEVICE_SECONDS: u64 = 10;
/// Seconds for a hart to deliver a block that it holds (boot flow §5.3).
pub(crate) const PATIENCE_SECONDS: u64 = 5;
/// Seconds for the digest of a payload after its last byte has arrived.
const PAYLOAD_SECONDS: u64 = 60;

/// The clock of the platform.
#[derive(Clone, Copy)]
pub struct Time<'a>(&'a Library);

impl<'a> Time<'a> {
    pub const fn of(library: &'a Library) -> Self {
        Self(library)
    }

    /// Returns the time in ticks.
    pub fn now(self) -> u64 {
        let Some(ticks) = self.0.platform().ticks else { return u64::MAX };
        // SAFETY: the caller gave this function for this purpose.
        unsafe { ticks(self.0.platform().context, self.0.boot_hart()) }
    }

    /// Returns the patience with a hart that holds a block.
    fn patience(self) -> Patience {
        let ticks = self.0.platform().ticks_per_second.saturating_mul(PATIENCE_SECONDS);
        Patience::new(self.now(), ticks)
    }

    /// Returns the time in so many seconds.
    pub fn after(self, seconds: u64) -> u64 {
        let ticks = self.0.platform().ticks_per_second.saturating_mul(seconds);
        self.now().saturating_add(ticks)
    }
}

/// The access of verification to the platform.
pub struct CallerPort<'a> {
    library: &'a Library,
    kernels: Kernels,
    bundle_type: u32,
    /// Where the payloads that were loaded are seen, in their order.
    places: &'a mut [*mut u8],
    loaded: usize,
}

impl<'a> CallerPort<'a> {
    pub fn new(
        library: &'a Library,
        kernels: Kernels,
        bundle_type: u32,
        places: &'a mut [*mut u8],
    ) -> Self {
        Self { library, kernels, bundle_type, places, loaded: 0 }
    }

    fn platform(&self) -> &'a CallerPlatform {
        self.library.platform()
    }

    const fn time(&self) -> Time<'a> {
        Time::of(self.library)
    }

    /// Returns where physical memory is seen, or null.
    fn map(&self, address: u64, size: u64) -> *mut u8 {
        let Some(map) = self.platform().map else { return address as *mut u8 };
        // SAFETY: the caller gave this function for this purpose.
        unsafe { map(self.platform().context, self.library.boot_hart(), address, size) }.cast()
    }

    /// Fills the beginning of the buffer with whole sectors, or up to the end of the medium.
    fn fill(&mut self, offset: u64, len: usize) -> Result<(), Reason> {
        let Some(read) = self.platform().read else { return Err(Reason::MediumError) };
        let CallerPlatform { context, buffer, .. } = *self.platform();
        // SAFETY: the buffer has at least `len` bytes, and nobody keeps a reference to it.
        let count = unsafe { read(context, self.library.boot_hart(), offset, buffer, len) };
        if usize::try_from(count) == Ok(len) { Ok(()) } else { Err(Reason::MediumError) }
    }

    /// Returns true if memory overlaps that of the library or that which reading needs.
    fn is_own(&self, start: *mut u8, size: u64) -> bool {
        let CallerPlatform { buffer, buffer_size, metadata, metadata_size, .. } = *self.platform();
        let range = Region::new(start as u64, size);
        let own = ptr::from_ref(self.library) as u64;
        [
            Region::new(own, HARTLOCK_MEMORY_SIZE as u64),
            Region::new(buffer as u64, buffer_size as u64),
            Region::new(metadata as u64, metadata_size as u64),
        ]
        .iter()
        .any(|own| own.overlaps(&range))
    }

    /// Hashes a payload of mode flat, as far as it has arrived.
    fn load_flat(
        &mut self,
        payload: &PayloadRecord,
        transfer: &mut Transfer,
    ) -> Result<Digest, Reason> {
        let mut hasher = SoftwareHasher::with(payload.hash, &self.kernels);
        let mut hashed = 0;
        while hashed < payload.size {
            transfer.advance(self)?;
            let arrived = transfer.arrived.min(payload.size);
            // SAFETY: these bytes were copied, and nothing writes to them any more.
            hasher.update(unsafe { transfer.bytes(hashed, arrived) });
            hashed = arrived;
        }
        let digest = hasher.finalize();
        let Self { library: Library { decryption, .. }, .. } = *self;
        if decryption.begin(payload, transfer.place)? {
            let own = self.library.boot_hart();
            // SAFETY: the payload was hashed, and this is the only hart that works on it.
            unsafe { decryption.decrypt(&self.kernels, own, transfer.place, 0, payload.size) }
            decryption.end(payload);
        }
        Ok(digest)
    }

    /// Hashes the blocks of a payload on all harts as they arrive. This hart also reads, and adds the leaves to the root.
    fn load_blocks(
        &mut self,
        payload: &PayloadRecord,
        transfer: &mut Transfer,
    ) -> Result<Digest, Reason> {
        let library = self.library;
        let own = library.boot_hart();
        let is_encrypted = library.decryption.begin(payload, transfer.place)?;
        let job = Job {
            address: transfer.place as u64,
            size: payload.size,
            mode: payload.mode,
            hash: payload.hash,
            is_encrypted,
        };
        let mut root = TreeRootHasher::<SoftwareHasher>::with(payload, &self.kernels);
        let mut work = Coordinator::open(&library.pool, own as usize, job);
        let mut patience = self.time().patience();
        let mut end = None;
        let mut leaves = ClaimedLeaves::new();
        while !work.is_complete() || (is_encrypted && !library.decryption.is_done(payload.size)) {
            if !transfer.is_complete() {
                transfer.advance(self)?;
            } else {
                let end = *end.get_or_insert_with(|| self.time().after(PAYLOAD_SECONDS));
                if self.time().now() >= end {
                    return Err(Reason::HashingTooSlow);
                }
            }
            let others = library.running.load(Ordering::SeqCst).count_ones();
            if work.arrived(transfer.arrived) && others != 0 {
                self.wake();
            }
            while let Some(leaf) = work.next_leaf() {
                root.push(&leaf);
                patience.renew(self.time().now());
            }
            // While this hart hashes, nobody reads. So it hashes only what is more than the other harts need until it is
            // back.
            let is_free = transfer.is_complete() || work.unclaimed() > u64::from(others);
            let most = tree::lanes(&self.kernels, payload.hash);
            let claim = is_free.then(|| library.pool.claim_group(own as usize, most)).flatten();
            if let Some(claim) = claim {
                // SAFETY: only blocks that have arrived can be claimed, and this hart does not write to them again.
                unsafe { harts::deliver(library, own, &self.kernels, &claim, &mut leaves) }
            } else {
                self.replace_lost_hart(&work, &mut patience);
            }
        }
        if is_encrypted {
            library.decryption.end(payload);
        }
        Ok(root.finalize())
    }

    fn wake(&self) {
        if let Some(wake) = self.platform().wake {
            // SAFETY: the caller gave this function for this purpose.
            unsafe { wake(self.platform().context, self.library.boot_hart()) }
        }
    }

    /// Redoes the oldest missing block if the hart that holds it has trapped or takes too long.
    fn replace_lost_hart(&self, work: &Coordinator<'_>, patience: &mut Patience) {
        let trapped = self.library.trapped.load(Ordering::Acquire);
        let Some(LostBlock { block, .. }) =
            work.give_up(trapped, patience.is_over(self.time().now()))
        else {
            core::hint::spin_loop();
            return;
        };
        let job = work.job();
        if let Some((address, len)) = job.block(block) {
            // SAFETY: the block has arrived, and nothing writes to it.
            let bytes = unsafe { core::slice::from_raw_parts(address as *const u8, len as usize) };
            let leaf = tree::leaf(&self.kernels, (job.mode, job.hash), block, bytes);
            if work.redo(block, &leaf) {
                let (own, decryption) = (self.library.boot_hart(), &self.library.decryption);
                // SAFETY: the leaf of the block was accepted from this hart.
                unsafe { decryption.decrypt_block(&self.kernels, own, job, block) }
            }
        }
        patience.renew(self.time().now());
    }
}

impl Platform for CallerPort<'_> {
    fn medium_len(&self) -> u64 {
        self.platform().medium_size
    }

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        const SECTOR: u64 = HARTLOCK_SECTOR_SIZE as u64;
        let CallerPlatform { buffer, buffer_size, medium_size, .. } = *self.platform();
        let most = (buffer_size as u64) & !(SECTOR - 1);
        let (mut at, mut rest) = (offset, into);
        while !rest.is_empty() {
            let skip = at % SECTOR;
            let start = at.wrapping_sub(skip);
            let here = most.saturating_sub(skip).min(rest.len() as u64);
            let end = align_up(at.saturating_add(here), SECTOR).ok_or(Reason::InternalLimit)?;
            self.fill(start, end.min(medium_size).saturating_sub(start) as usize)?;
            let (now, later) =
                rest.split_at_mut_checked(here as usize).ok_or(Reason::InternalLimit)?;
            // SAFETY: the sectors from `start` on were read into the buffer, which has `most` bytes.
            unsafe { copy(buffer.wrapping_add(skip as usize), now.as_mut_ptr(), now.len()) };
            rest = later;
            at = at.saturating_add(here);
        }
        Ok(())
    }

    fn verify_signature(
        &mut self,
        block: &SignatureBlock<'_>,
        signed: &[u8],
    ) -> Option<Comparison> {
        let verify = self.platform().verify_signature?;
        let (_, shorter) = signed.split_last()?;
        let verdict = |message: &[u8]| {
            let signature = CallerSignature {
                algorithm: block.algorithm,
                parameters: block.parameters,
                public_key: block.public_key.as_ptr(),
                public_key_size: block.public_key.len(),
                message: message.as_ptr(),
                message_size: message.len(),
                signature: block.signature.as_ptr(),
                signature_size: block.signature.len(),
            };
            // SAFETY: the caller gave this function for this purpose, and the bytes live until it returns.
            unsafe {
                verify(self.platform().context, self.library.boot_hart(), &raw const signature)
            }
        };
        // An engine that takes a signature for one of another message, too, is not asked for a verdict.
        if verdict(shorter) != HARTLOCK_NOT_GENUINE {
            return None;
        }
        let verdict = verdict(signed);
        let is_verdict = matches!(verdict, HARTLOCK_GENUINE | HARTLOCK_NOT_GENUINE);
        let compared = Comparison::of(&verdict.to_le_bytes(), &HARTLOCK_GENUINE.to_le_bytes());
        compared.ok().filter(|_| is_verdict)
    }

    fn refuses_place(&mut self, payload: &PayloadRecord) -> u32 {
        let place = self.map(payload.load_address, payload.memory_size);
        if place.is_null() {
            return Reason::OutsideMemory as u32;
        }
        if self.is_own(place, payload.memory_size) {
            return Reason::OverlapsLiveRegion as u32;
        }
        let payload = described(payload, self.bundle_type);
        let Some(may_load) = self.platform().may_load else { return Reason::OutsideMemory as u32 };
        // SAFETY: the caller gave this function for this purpose, and the payload lives until it returns.
        unsafe { may_load(self.platform().context, self.library.boot_hart(), &raw const payload) }
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let place = self.map(payload.load_address, payload.memory_size);
        // A map that answers differently than when it was judged does not move a payload over the memory of the library.
        if place.is_null()
            || self.is_own(place, payload.memory_size)
            || padded_size > payload.memory_size
        {
            return Err(Reason::InternalLimit);
        }
        *self.places.get_mut(self.loaded).ok_or(Reason::InternalLimit)? = place;
        self.loaded = self.loaded.saturating_add(1);
        let mut transfer = Transfer::new(self, payload.offset, place, padded_size);
        let digest = match payload.mode {
            TreeMode::Flat => self.load_flat(payload, &mut transfer)?,
            TreeMode::Blocks { .. } | TreeMode::ParallelHash { .. } => {
                self.load_blocks(payload, &mut transfer)?
            }
        };
        while !transfer.is_complete() {
            transfer.advance(self)?;
        }
        // SAFETY: these bytes were copied, and nothing writes to them any more.
        let padding = bits_of(unsafe { transfer.bytes(payload.size, padded_size) });
        let rest = payload.memory_size.saturating_sub(padded_size);
        // SAFETY: the caller permitted all of the memory of the payload, and nothing else uses it.
        unsafe { ptr::write_bytes(place.wrapping_add(padded_size as usize), 0, rest as usize) };
        Ok(Loaded { digest, padding })
    }
}

/// Returns what the caller is told of a payload.
pub fn described(payload: &PayloadRecord, bundle_type: u32) -> CallerPayload {
    CallerPayload {
        payload_type: payload.payload_type as u32,
        bundle_type,
        address: payload.load_address,
        size: payload.size,
        memory_size: payload.memory_size,
        entry: payload.entry,
    }
}

/// A payload that is being read. A part of it is read into the buffer and copied to its place, and only copied bytes count
/// as arrived. A device that reads by itself fills one half of the buffer while the other is copied.
struct Transfer {
    /// Offset of the payload in the bundle.
    offset: u64,
    place: *mut u8,
    /// Size of the payload with its padding.
    size: u64,
    arrived: u64,
    /// Number of bytes that were requested, with those that have arrived.
    requested: u64,
    /// Largest part that is read at once.
    part: u64,
    /// True if the pending part goes to the second half of the buffer.
    is_second: bool,
    deadline: u64,
}

impl Transfer {
    fn new(port: &CallerPort<'_>, offset: u64, place: *mut u8, size: u64) -> Self {
        let CallerPlatform { buffer_size, read_start, .. } = *port.platform();
        let size_of_part = if read_start.is_some() { buffer_size / 2 } else { buffer_size };
        let deadline = port.time().after(DEVICE_SECONDS);
        let part = (size_of_part as u64) & !(HARTLOCK_SECTOR_SIZE as u64 - 1);
        Self { offset, place, size, arrived: 0, requested: 0, part, is_second: false, deadline }
    }

    fn is_complete(&self) -> bool {
        self.arrived >= self.size
    }

    /// Returns bytes that have arrived.
    ///
    /// # Safety
    /// Nobody writes to them.
    unsafe fn bytes(&self, start: u64, end: u64) -> &[u8] {
        let len = end.min(self.arrived).saturating_sub(start) as usize;
        // SAFETY: the bytes are inside of the payload's memory, which the caller permitted.
        unsafe { core::slice::from_raw_parts(self.place.wrapping_add(start as usize), len) }
    }

    /// Reads the next part, or sees whether it has arrived.
    fn advance(&mut self, port: &mut CallerPort<'_>) -> Result<(), Reason> {
        let CallerPlatform { context, buffer, read_start, read_poll, .. } = *port.platform();
        let hart = port.library.boot_hart();
        let (Some(_), Some(poll)) = (read_start, read_poll) else {
            let len = self.part.min(self.size.saturating_sub(self.arrived));
            port.fill(self.offset.saturating_add(self.arrived), len as usize)?;
            self.requested = self.arrived.saturating_add(len);
            self.take(buffer);
            return Ok(());
        };
        if self.requested == self.arrived {
            self.request(port)?;
        }
        // SAFETY: the caller gave this function for this purpose.
        match unsafe { poll(context, hart) } {
            1 => {
                let from = self.half(buffer);
                let arrived = self.requested;
                self.is_second = !self.is_second;
                if self.requested < self.size {
                    self.request(port)?;
                }
                let next = core::mem::replace(&mut self.requested, arrived);
                self.take(from);
                self.requested = next;
                self.deadline = port.time().after(DEVICE_SECONDS);
                Ok(())
            }
            0 if port.time().now() < self.deadline => Ok(()),
            _ => Err(Reason::MediumError),
        }
    }

    fn half(&self, buffer: *mut u8) -> *mut u8 {
        if self.is_second { buffer.wrapping_add(self.part as usize) } else { buffer }
    }

    /// Begins to read the next part into its half of the buffer.
    fn request(&mut self, port: &CallerPort<'_>) -> Result<(), Reason> {
        let CallerPlatform { context, buffer, read_start, .. } = *port.platform();
        let Some(start) = read_start else { return Err(Reason::MediumError) };
        let len = self.part.min(self.size.saturating_sub(self.requested));
        let (offset, place) = (self.offset.saturating_add(self.requested), self.half(buffer));
        self.requested = self.requested.saturating_add(len);
        // SAFETY: the half has room for a part, and nobody keeps a reference to it.
        match unsafe { start(context, port.library.boot_hart(), offset, place, len as usize) } {
            0 => Ok(()),
            _ => Err(Reason::MediumError),
        }
    }

    /// Copies the part that was read last to its place.
    fn take(&mut self, from: *const u8) {
        let len = self.requested.saturating_sub(self.arrived);
        // SAFETY: the part is inside of the payload's memory, and `from` has as many bytes.
        unsafe { copy(from, self.place.wrapping_add(self.arrived as usize), len as usize) };
        self.arrived = self.requested;
    }
}

/// Copies bytes that a device may change at the same time. Each is read once.
///
/// # Safety
/// `from` can be read and `to` written, for `len` bytes each, and they do not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let (from_words, to_words) = (from.cast::<u64>(), to.cast::<u64>());
    let words = if from_words.is_aligned() && to_words.is_aligned() { len / 8 } else { 0 };
    for index in 0..words {
        // SAFETY: the caller guarantees the memory, and the pointer is aligned.
        let word = unsafe { from_words.wrapping_add(index).read_volatile() };
        // SAFETY: the same.
        unsafe { to_words.wrapping_add(index).write(word) };
    }
    for index in words.wrapping_mul(8)..len {
        // SAFETY: the caller guarantees the memory.
        let byte = unsafe { from.wrapping_add(index).read_volatile() };
        // SAFETY: the same.
        unsafe { to.wrapping_add(index).write(byte) };
    }
}
