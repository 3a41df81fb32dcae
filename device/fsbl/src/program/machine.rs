//! Storage, memory, device secret and clock of the machine `tee-1`.

use core::arch::asm;

use hartlock_image::{List, MAX_PAYLOADS, PAGE_SIZE, Reason};
use hartlock_verify::board::Region;
use hartlock_virt::board::{self, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::soc::{self, SECTOR_SIZE, Storage};
use hartlock_virt::{hart, memory};

use super::stack;
use crate::{ExpandedDeviceKey, FsblBoard, HEAD, Next, Point};

/// Address range of all engines, including the secret (`hw/soc/tee/rtl/tee_axi_pkg.sv`).
pub const ENGINES: Region = Region::new(board::SECRET as u64, 8 * PAGE_SIZE);
/// Memory of the monitor's endorsement: the last page of the log.
pub const HANDOVER: Region = Region::new(map::LOG.end - PAGE_SIZE, PAGE_SIZE);

/// Number of reads of the storage's state before a request counts as timed out. One more is added for every byte. A
/// read takes at least fifteen cycles.
const PATIENCE: u64 = 100_000;
/// Number of requests that the storage can queue.
const QUEUE_LENGTH: u64 = 16;
/// Size in bytes of the last part of a payload that is hashed in parts.
const LAST_PART: u64 = 1024;
/// Maximum number of points in a timeline.
const POINTS: usize = 20;

/// Memory that payloads may occupy. The board's map defines the load ranges, and verification has checked them.
const MEMORY: Region = map::RAM;

/// The devices and the state of a boot on this machine.
pub struct TeeMachine {
    storage: Storage,
    /// Ranges that were requested ahead, in order. The first `taken` of them were used.
    ahead: List<Ahead, MAX_PAYLOADS>,
    taken: usize,
    points: [(&'static str, u64); POINTS],
    count: usize,
    stack_used: Option<u64>,
}

impl TeeMachine {
    pub fn new() -> Self {
        Self {
            storage: Storage::new(),
            ahead: List::new(),
            taken: 0,
            points: [("", 0); POINTS],
            count: 0,
            stack_used: None,
        }
    }

    /// Returns the maximum number of stack bytes in use until the device's key was computed. At that point the unused
    /// stack was wiped.
    pub const fn stack_used(&self) -> Option<u64> {
        self.stack_used
    }

    /// Records a point of the timeline, in cycles since reset. Points that exceed the maximum number are dropped.
    pub fn note(&mut self, what: &'static str) {
        if let Some(place) = self.points.get_mut(self.count) {
            *place = (what, soc::cycles());
            self.count = self.count.wrapping_add(1);
        }
    }

    /// Prints the timeline.
    pub fn print(&self) {
        for (what, cycle) in self.points.iter().take(self.count) {
            console::line(&["fsbl: ", what, ": ", Number::decimal(*cycle).as_str()]);
        }
    }

    /// Reads sectors into memory that no other code uses during the read.
    fn bring(&mut self, offset: u64, to: Region) -> Result<(), Reason> {
        let end = offset.checked_add(to.size()).ok_or(Reason::Truncated)?;
        if end > self.size() {
            return Err(Reason::Truncated);
        }
        self.settle()?;
        self.start(offset, to)?;
        self.until(0, to.size())
    }

    /// Waits for all ranges that were requested ahead. They are not used.
    pub fn settle(&mut self) -> Result<(), Reason> {
        let sizes = self.ahead.iter().skip(self.taken).map(|ahead| ahead.size);
        let size = sizes.fold(0, u64::saturating_add);
        self.taken = self.ahead.len();
        self.until(0, size)
    }

    /// Starts the requests for all parts of a payload. After an error some of them may have been started.
    fn start_parts(&mut self, ahead: &Ahead) -> Result<(), Reason> {
        let mut at = 0;
        for len in ahead.parts() {
            let part = Region::new(ahead.address.wrapping_add(at), len);
            self.start(ahead.offset.wrapping_add(at), part)?;
            at = at.wrapping_add(len);
        }
        Ok(())
    }

    /// Ensures that a payload is being read. If the next range that was requested ahead is the same, that one is used;
    /// otherwise new requests are started. Returns the number of requests after it.
    fn under_way(&mut self, wanted: &mut Ahead) -> Result<u64, Reason> {
        let place = |it: &Ahead| (it.offset, it.address, it.size);
        let first = self.ahead.iter().nth(self.taken).copied();
        let Some(first) = first.filter(|first| place(first) == place(wanted)) else {
            self.settle()?;
            self.start_parts(wanted)?;
            return Ok(0);
        };
        *wanted = first;
        self.taken = self.taken.wrapping_add(1);
        let after = self.ahead.iter().skip(self.taken);
        Ok(after.fold(0, |count: u64, it| count.saturating_add(it.count())))
    }

    fn start(&mut self, offset: u64, to: Region) -> Result<(), Reason> {
        // SAFETY: callers own the memory.
        let is_started = unsafe { self.storage.start(offset / SECTOR_SIZE, to) };
        is_started.then_some(()).ok_or(Reason::MediumError)
    }

    /// Waits until at most `pending` requests are incomplete. `size` is the size in bytes of the next request.
    fn until(&mut self, pending: u64, size: u64) -> Result<(), Reason> {
        for _ in 0..PATIENCE.saturating_add(size) {
            if self.storage.pending() <= pending {
                return Ok(());
            }
        }
        Err(Reason::MediumError)
    }
}

/// A range of whole pages that is being read into memory.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    offset: u64,
    address: u64,
    size: u64,
    /// True if a single request reads the range.
    is_whole: bool,
}

impl Ahead {
    /// Returns the sizes of the parts. The latency of each request limits the number of parts, so each part has half of
    /// the remaining bytes: a part is hashed while the next one is read, and after the last part, a quarter of a page,
    /// only that little is left to hash.
    fn parts(&self) -> impl Iterator<Item = u64> + use<> {
        let (mut left, is_whole) = (self.size, self.is_whole);
        let is_split = self.size <= map::FIRST.size() / 2;
        core::iter::from_fn(move || {
            let half = (left / 2) & !(PAGE_SIZE - 1);
            let part = match (is_whole, half) {
                (false, 1..) => half,
                (false, 0) if is_split && left == PAGE_SIZE => PAGE_SIZE.wrapping_sub(LAST_PART),
                _ => left,
            };
            left = left.wrapping_sub(part);
            (part > 0).then_some(part)
        })
    }

    /// Returns the number of requests.
    fn count(&self) -> u64 {
        self.parts().count() as u64
    }
}

// There are at most as many parts as the number of pages has bits, plus the rest, which is one page or two parts of a
// smaller payload. One other request may precede them.
const _: () = assert!((map::FIRST.size() / PAGE_SIZE).ilog2() as u64 + 2 <= QUEUE_LENGTH);
const _: () = assert!(LAST_PART.is_multiple_of(SECTOR_SIZE) && LAST_PART < PAGE_SIZE);

impl FsblBoard for TeeMachine {
    fn size(&self) -> u64 {
        self.storage.sectors().saturating_mul(SECTOR_SIZE)
    }

    fn read(&mut self, offset: u64, into: &mut [u8; PAGE_SIZE as usize]) -> Result<(), Reason> {
        let len = self.size().saturating_sub(offset).min(PAGE_SIZE);
        let start = into.as_mut_ptr().expose_provenance() as u64;
        self.bring(offset, Region::new(start, len))
    }

    /// Reads a page. From the first request on the storage is never idle: the range after the page is requested while
    /// the rest of the page is still being read.
    fn read_before(
        &mut self,
        offset: u64,
        into: &mut [u8; PAGE_SIZE as usize],
        next: Next<'_>,
    ) -> Result<(), Reason> {
        let start = into.as_mut_ptr().expose_provenance() as u64;
        let len = self.size().saturating_sub(offset).min(PAGE_SIZE);
        let Some(rest) = len.checked_sub(HEAD as u64).filter(|rest| *rest > 0) else {
            return self.read(offset, into);
        };
        self.settle()?;
        self.start(offset, Region::new(start, HEAD as u64))?;
        let rest_at = offset.wrapping_add(HEAD as u64);
        self.start(rest_at, Region::new(start.wrapping_add(HEAD as u64), rest))?;
        self.until(1, HEAD as u64)?;
        // SAFETY: these bytes have arrived, and the storage does not write to them from here on.
        let head: &[u8; HEAD] =
            unsafe { &*core::ptr::with_exposed_provenance::<[u8; HEAD]>(start as usize) };
        let before = self.storage.started();
        if let Some((offset, size)) = next(head) {
            self.read_ahead(offset, None, size);
        }
        self.until(self.storage.started().wrapping_sub(before), rest)
    }

    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason> {
        self.load_parts(offset, address, (size, size), &mut |_, _| ())
    }

    fn read_ahead(&mut self, offset: u64, address: Option<u64>, size: u64) {
        let place = address.unwrap_or(map::FIRST.start);
        let ahead = Ahead { offset, address: place, size, is_whole: address.is_some() };
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= self.size());
        let has_place = address.is_some() || size <= map::FIRST.size();
        let requests = self.storage.pending().saturating_add(ahead.count());
        if is_inside && has_place && requests <= QUEUE_LENGTH && self.ahead.push(ahead) {
            // If a request is refused nevertheless, waiting for the last one fails.
            let _ = self.start_parts(&ahead);
        }
    }

    fn load_parts(
        &mut self,
        offset: u64,
        address: u64,
        (size, used): (u64, u64),
        arrived: &mut dyn FnMut(&[u8], bool),
    ) -> Result<(), Reason> {
        let end = offset.checked_add(size).ok_or(Reason::Truncated)?;
        if end > self.size() {
            return Err(Reason::Truncated);
        }
        let mut wanted = Ahead { offset, address, size, is_whole: false };
        let after = self.under_way(&mut wanted)?;
        let (mut told, mut pending) = (0, after.saturating_add(wanted.count()));
        for len in wanted.parts() {
            // Requests complete in order.
            pending = pending.wrapping_sub(1);
            self.until(pending, len)?;
            let is_used = used.saturating_sub(told).min(len);
            let part = self.memory(address.wrapping_add(told), is_used);
            if is_used > 0 {
                arrived(part.ok_or(Reason::InternalLimit)?, used.wrapping_sub(told) == is_used);
            }
            told = told.wrapping_add(len);
        }
        Ok(())
    }

    fn memory(&mut self, address: u64, size: u64) -> Option<&mut [u8]> {
        let region = Region { start: address, end: address.checked_add(size)? };
        if !MEMORY.contains(&region) {
            return None;
        }
        // SAFETY: the range is a load range of a payload, which no running code uses; the slice ends before the next
        // one is created.
        Some(unsafe { memory::bytes_mut(region) })
    }

    fn bits(&mut self, address: u64, size: u64) -> Option<u64> {
        // SAFETY: any bits are a valid word.
        let (before, words, after) = unsafe { self.memory(address, size)?.align_to::<u64>() };
        let words = words.iter().fold(0, |seen, word| seen | word);
        let byte = before.iter().chain(after).fold(0, |seen, byte| seen | byte);
        Some(words | u64::from(byte))
    }

    fn reached(&mut self, point: Point) {
        self.note(match point {
            Point::Authenticated => "authenticated",
            Point::Tried => "engines tried",
            Point::Read => "read",
            Point::Hashed => "hashed",
            Point::Verified => "verified",
            Point::Derived => "derived",
            Point::KeyPair => "key pair",
            Point::DeviceKey => "device key",
            Point::Endorsed => "endorsed",
        });
        // The following work waits for the storage, and needs less of the stack than the earlier work.
        if point == Point::DeviceKey {
            self.stack_used = Some(stack::wipe_unused());
        }
    }
}

fn secret_page() -> hartlock_drivers::device_secret::DeviceSecretPage {
    let base = core::ptr::with_exposed_provenance_mut(board::SECRET);
    // SAFETY: this is the page of the secret of this machine, which only this file uses, from one place at a time.
    unsafe { hartlock_drivers::device_secret::DeviceSecretPage::new(base) }
}

/// Reads the secret and closes it until reset.
///
/// # Errors
/// `DeviceSecretInvalid`; `NotEndorsed` if the secret stays accessible.
pub fn take_secret(secret: &mut ExpandedDeviceKey) -> Result<(), Reason> {
    secret.take(|bytes| secret_page().read(bytes), shut_secret)
}

/// Closes the secret until reset. Returns true if it is closed.
pub fn shut_secret() -> bool {
    secret_page().close(hart::fence)
}

/// Returns the memory of the record for the monitor.
pub fn handover() -> &'static mut [u8] {
    // SAFETY: no other code uses this memory, and the map excludes payloads from the log.
    unsafe { memory::bytes_mut(HANDOVER) }
}

/// Closes the pages of the engines and the record to S-mode and U-mode, by the first two PMP entries. M-mode keeps
/// access: the monitor signs with an engine, and can lock the entries itself.
pub fn close_pages() {
    const NAPOT: u64 = 3 << 3;
    // In the address of a range of 2^n bytes (NAPOT) the trailing ones encode the size (RISC-V Privileged Architecture
    // §3.7.1).
    let napot = |region: Region| (region.start >> 2) | ((region.size() >> 3).wrapping_sub(1));
    // SAFETY: the write changes the access rights of lower modes only, and none of them runs.
    unsafe {
        asm!(
            "csrw pmpaddr0, {}", "csrw pmpaddr1, {}", "csrw pmpcfg0, {}",
            in(reg) napot(ENGINES), in(reg) napot(HANDOVER), in(reg) NAPOT | NAPOT << 8,
            options(nostack)
        );
    }
}
