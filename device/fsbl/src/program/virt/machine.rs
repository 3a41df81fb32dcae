//! Storage, memory and secret on QEMU `virt`, where the ROM verifies this loader as the first payload of its boot bundle.
//!
//! The monitor's own boot bundle is in flash bank 1, after that of the ROM. The page after it holds the secret of
//! the device, a model of one-time storage: flash cannot be closed, so a locked entry of PMP closes it, to M-mode as well,
//! until reset. There is no engine.

use core::arch::{asm, global_asm};

use hartlock_handoff::Handoff;
use hartlock_image::{PAGE_SIZE, Reason};
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

use crate::{Board, DeviceSecret, Point};

/// The bundle of the monitor.
const STORAGE: Region =
    Region { start: map::BOOT_SLOT.end, end: map::BUNDLE_FLASH.end - (1 << 20) };
/// The page of the secret, which is in its first 64 bytes.
const SECRET: Region = Region::new(STORAGE.end, PAGE_SIZE);
/// Where the monitor finds its endorsement: the last page of the log, as on `tee-1`.
pub const HANDOVER: Region = Region::new(map::LOG.end - PAGE_SIZE, PAGE_SIZE);
/// What a payload may be loaded to, beside what the map of the board says: below this loader (link.ld).
const MEMORY: Region = Region { start: map::RAM.start, end: 0x8800_0000 };
/// Other harts have ten instructions to go.
const PATIENCE_MS: u64 = 1000;

const _: () = assert!(
    SECRET.end <= map::STATE_COPIES[0].start && SECRET.start.is_multiple_of(PAGE_SIZE),
    "the secret is in a page of its own"
);

/// `pmpcfg`: a naturally aligned power of two without access, and its lock, which holds for M-mode until reset.
const NAPOT: u64 = 3 << 3;
const LOCKED: u64 = 1 << 7;

/// `pmpaddr`: a range of 2^n bytes, ones below its size say how many (RISC-V Privileged Architecture §3.7.1).
const fn napot(region: Region) -> u64 {
    (region.start >> 2) | ((region.size() >> 3) - 1)
}

global_asm!(include_str!("relocate.S"), secret = const napot(SECRET));

unsafe extern "C" {
    static fsbl_first: u8;
    static fsbl_left: u8;
}

/// The machine.
pub struct Machine {
    /// Whether other harts are out of the place of the monitor.
    is_alone: bool,
}

impl Machine {
    pub const fn new() -> Self {
        Self { is_alone: false }
    }

    /// Nothing: the time of an emulator says nothing about a board.
    #[expect(clippy::unused_self, reason = "as on a machine with cycles")]
    pub const fn note(&mut self, _: &'static str) {}

    /// Nothing is wiped before the end, where it is measured.
    #[expect(clippy::unused_self, reason = "as where something is")]
    pub const fn stack_used(&self) -> Option<u64> {
        None
    }

    /// As `note`.
    #[expect(clippy::unused_self, reason = "as on a machine with cycles")]
    pub const fn print(&self) {}

    /// Nothing is read ahead.
    ///
    /// # Errors
    /// None.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where something is")]
    pub const fn settle(&mut self) -> Result<(), Reason> {
        Ok(())
    }
}

impl Board for Machine {
    fn size(&self) -> u64 {
        STORAGE.size()
    }

    fn read(&mut self, offset: u64, into: &mut [u8; PAGE_SIZE as usize]) -> Result<(), Reason> {
        copy(offset, into)
    }

    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason> {
        // They were entered where the monitor will be. Their word is there, too, so it is read before the first payload is.
        if !self.is_alone {
            wait_for_harts()?;
            self.is_alone = true;
        }
        copy(offset, self.memory(address, size).ok_or(Reason::InternalLimit)?)
    }

    fn memory(&mut self, address: u64, size: u64) -> Option<&mut [u8]> {
        let region = Region { start: address, end: address.checked_add(size)? };
        if !MEMORY.contains(&region) {
            return None;
        }
        // SAFETY: a place of a payload, which no running code uses; the slice ends before the next one is made.
        Some(unsafe { memory::bytes_mut(region) })
    }

    /// As `note`.
    fn reached(&mut self, _: Point) {}
}

/// Copies bytes of the storage, each of which is read once.
fn copy(offset: u64, into: &mut [u8]) -> Result<(), Reason> {
    // SAFETY: flash of this board, which the ROM left in read mode; nothing writes to it.
    let flash = unsafe { memory::bytes(STORAGE) };
    let offset = usize::try_from(offset).map_err(|_| Reason::Truncated)?;
    let from = flash.get(offset..).and_then(|rest| rest.get(..into.len()));
    let from = from.ok_or(Reason::Truncated)?;
    into.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    Ok(())
}

/// Waits until every hart that the ROM has released is out of the place of the monitor.
fn wait_for_harts() -> Result<(), Reason> {
    // SAFETY: the block of the ROM, which nothing changes.
    let harts = Handoff::parse(unsafe { memory::bytes(map::HANDOFF) })?.harts;
    let offset = (&raw const fsbl_left).addr().wrapping_sub((&raw const fsbl_first).addr());
    let at = (map::OPENSBI.start as usize).wrapping_add(offset);
    let left: *const u64 = core::ptr::with_exposed_provenance(at);
    let deadline = clock::deadline(PATIENCE_MS);
    loop {
        // SAFETY: a word of the copy that the ROM has verified, to which other harts add their bits.
        let left = unsafe { left.read_volatile() };
        // Hart 0 is this one.
        if (left | 1) & harts == harts {
            return Ok(());
        }
        if clock::is_past(deadline) {
            return Err(Reason::HartNotStopped);
        }
    }
}

/// Takes the secret, and closes it until reset.
///
/// # Errors
/// `DeviceSecretInvalid`; `NotEndorsed` if it stays open.
pub fn take_secret() -> Result<DeviceSecret, Reason> {
    let start: *const u8 = core::ptr::with_exposed_provenance(SECRET.start as usize);
    // SAFETY: a byte of the secret; reading it changes nothing.
    let byte = |index| unsafe { start.wrapping_add(index).read_volatile() };
    DeviceSecret::take_and_close(|| core::array::from_fn(byte), shut_secret)
}

/// Closes the secret until reset, in the first entry of PMP. Whether it is closed.
pub fn shut_secret() -> bool {
    let (address, access): (u64, u64);
    // SAFETY: forbids what nothing does from here on, and reads back whether it is forbidden.
    unsafe {
        asm!(
            "csrw pmpaddr0, {at}", "csrs pmpcfg0, {closed}",
            "csrr {address}, pmpaddr0", "csrr {access}, pmpcfg0",
            at = in(reg) napot(SECRET), closed = in(reg) NAPOT | LOCKED,
            address = out(reg) address, access = out(reg) access,
            options(nostack)
        );
    }
    address == napot(SECRET) && access & 0xff == NAPOT | LOCKED
}

/// Memory of the record for the monitor.
pub fn handover() -> &'static mut [u8] {
    // SAFETY: memory that nothing else uses; the map keeps payloads away from the log.
    unsafe { memory::bytes_mut(HANDOVER) }
}

/// Closes the record to S- and U-mode, in the second entry of PMP. M-mode is not locked out: the monitor reads it.
pub fn close_pages() {
    // SAFETY: changes what lower modes may access, none of which runs.
    unsafe {
        asm!(
            "csrw pmpaddr1, {}", "csrs pmpcfg0, {}",
            in(reg) napot(HANDOVER), in(reg) NAPOT << 8,
            options(nostack)
        );
    }
}
