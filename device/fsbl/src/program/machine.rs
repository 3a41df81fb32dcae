//! Storage, memory, secret and clock of the machine.

use core::arch::asm;

use hartlock_image::{List, MAX_PAYLOADS, PAGE_SIZE, Reason};
use hartlock_verify::board::Region;
use hartlock_virt::board::{self, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::soc::{self, SECTOR_SIZE, Storage};
use hartlock_virt::{hart, memory};

use super::stack;
use crate::{Board, DeviceSecret, HEAD, Next, Point};

/// Pages of the engines (`hw/soc/tee/rtl/tee_axi_pkg.sv`), and all of their window.
pub const ENGINES: Region = Region::new(board::SECRET as u64, 8 * PAGE_SIZE);
/// Where the monitor finds its endorsement: the last page of the log.
pub const HANDOVER: Region = Region::new(map::LOG.end - PAGE_SIZE, PAGE_SIZE);

/// Reads of the storage's state before it is given up: a fixed number, and for each byte. One takes fifteen cycles and more.
const PATIENCE: u64 = 100_000;
/// Requests that the storage takes in advance.
const QUEUE_LENGTH: u64 = 16;
/// Bytes of the last part of a payload that is hashed in parts.
const LAST_PART: u64 = 1024;
/// Places of a timeline.
const POINTS: usize = 20;

/// What a payload may be loaded to: the map of the board says so, and verification has checked it.
const MEMORY: Region = map::RAM;

/// The machine.
pub struct Machine {
    storage: Storage,
    /// What was asked for ahead, in order; the first `taken` of it was used.
    ahead: List<Ahead, MAX_PAYLOADS>,
    taken: usize,
    points: [(&'static str, u64); POINTS],
    count: usize,
    stack_used: Option<u64>,
}

impl Machine {
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

    /// Bytes of the stack that were in use at most until the key of the device was there; then what is not in use was wiped.
    pub const fn stack_used(&self) -> Option<u64> {
        self.stack_used
    }

    /// A point of the timeline: cycles since reset. More than there are places are dropped.
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

    /// Brings sectors to memory that nothing uses meanwhile.
    fn bring(&mut self, offset: u64, to: Region) -> Result<(), Reason> {
        let end = offset.checked_add(to.size()).ok_or(Reason::Truncated)?;
        if end > self.size() {
            return Err(Reason::Truncated);
        }
        self.settle()?;
        self.start(offset, to)?;
        self.until(0, to.size())
    }

    /// Waits for what was asked for ahead. Nothing of it is used.
    pub fn settle(&mut self) -> Result<(), Reason> {
        let sizes = self.ahead.iter().skip(self.taken).map(|ahead| ahead.size);
        let size = sizes.fold(0, u64::saturating_add);
        self.taken = self.ahead.len();
        self.until(0, size)
    }

    /// Asks for the parts of a payload. As many requests were started, also if one was refused.
    fn start_parts(&mut self, ahead: &Ahead) -> Result<(), Reason> {
        let mut at = 0;
        for len in ahead.parts() {
            let part = Region::new(ahead.address.wrapping_add(at), len);
            self.start(ahead.offset.wrapping_add(at), part)?;
            at = at.wrapping_add(len);
        }
        Ok(())
    }

    /// Has a payload under way: what was asked for ahead if it is the same, and else by requests from now on. How many
    /// requests are after it.
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

    /// Waits until at most so many requests are not done, of which the next one has `size` bytes.
    fn until(&mut self, pending: u64, size: u64) -> Result<(), Reason> {
        for _ in 0..PATIENCE.saturating_add(size) {
            if self.storage.pending() <= pending {
                return Ok(());
            }
        }
        Err(Reason::MediumError)
    }
}

/// Whole pages that are brought to memory.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    offset: u64,
    address: u64,
    size: u64,
    /// By one request.
    is_whole: bool,
}

impl Ahead {
    /// Sizes of the parts, which are told of one by one. Each request costs its latency, so each has half of what is left: a
    /// part is hashed while the next one is read, and after the last one, a quarter of a page, little is left to hash.
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

    /// Requests.
    fn count(&self) -> u64 {
        self.parts().count() as u64
    }
}

// As many parts as bits of the number of pages, and what is left of it: a page, or two parts where there is a bit less. One
// request may precede them.
const _: () = assert!((map::FIRST.size() / PAGE_SIZE).ilog2() as u64 + 2 <= QUEUE_LENGTH);
const _: () = assert!(LAST_PART.is_multiple_of(SECTOR_SIZE) && LAST_PART < PAGE_SIZE);

impl Board for Machine {
    fn size(&self) -> u64 {
        self.storage.sectors().saturating_mul(SECTOR_SIZE)
    }

    fn read(&mut self, offset: u64, into: &mut [u8; PAGE_SIZE as usize]) -> Result<(), Reason> {
        let len = self.size().saturating_sub(offset).min(PAGE_SIZE);
        let start = into.as_mut_ptr().expose_provenance() as u64;
        self.bring(offset, Region::new(start, len))
    }

    /// The storage is never without a request from the first one on: what follows the page is asked for while the rest of it is
    /// on its way.
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
        // SAFETY: bytes that are there; the storage writes none of them from here on.
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
            // If one is refused all the same, waiting for the last one fails.
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
            // Requests end in their order.
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
        // SAFETY: a place of a payload, which no running code uses; the slice ends before the next one is made.
        Some(unsafe { memory::bytes_mut(region) })
    }

    fn bits(&mut self, address: u64, size: u64) -> Option<u64> {
        // SAFETY: any bits are a word.
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
        // What follows waits for the storage, and needs less of the stack than what was.
        if point == Point::DeviceKey {
            self.stack_used = Some(stack::wipe_unused());
        }
    }
}

fn secret_page() -> hartlock_drivers::device_secret::DeviceSecret {
    let base = core::ptr::with_exposed_provenance_mut(board::SECRET);
    // SAFETY: the page of the secret on this machine, which only this file uses, from one place at a time.
    unsafe { hartlock_drivers::device_secret::DeviceSecret::new(base) }
}

/// Takes the secret, and closes it until reset.
///
/// # Errors
/// `DeviceSecretInvalid`; `NotEndorsed` if it stays open.
pub fn take_secret() -> Result<DeviceSecret, Reason> {
    DeviceSecret::take_and_close(|| secret_page().read(), shut_secret)
}

/// Closes the secret until reset. Whether it is closed.
pub fn shut_secret() -> bool {
    secret_page().close(hart::fence)
}

/// Memory of the record for the monitor.
pub fn handover() -> &'static mut [u8] {
    // SAFETY: memory that nothing else uses; the map keeps payloads away from the log.
    unsafe { memory::bytes_mut(HANDOVER) }
}

/// Closes the pages of the engines and the record to S- and U-mode, in the first two entries of PMP. M-mode is not locked
/// out: the monitor signs with an engine, and may lock them itself.
pub fn close_pages() {
    const NAPOT: u64 = 3 << 3;
    // A range of 2^n bytes: ones below its size say how many (RISC-V Privileged Architecture §3.7.1).
    let napot = |region: Region| (region.start >> 2) | ((region.size() >> 3).wrapping_sub(1));
    // SAFETY: changes what lower modes may access, none of which runs.
    unsafe {
        asm!(
            "csrw pmpaddr0, {}", "csrw pmpaddr1, {}", "csrw pmpcfg0, {}",
            in(reg) napot(ENGINES), in(reg) napot(HANDOVER), in(reg) NAPOT | NAPOT << 8,
            options(nostack)
        );
    }
}
