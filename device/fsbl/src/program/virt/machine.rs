//! Storage, memory and device secret on QEMU `virt`, where the ROM verifies this loader as the first payload of its
//! boot bundle.
//!
//! The monitor's own boot bundle is in flash bank 1, after that of the ROM. The page after it holds the secret of the
//! device, as a model of one-time-programmable storage. Flash cannot be closed, so a locked PMP entry closes the page
//! until reset, also to M-mode. There is no engine.

use core::arch::{asm, global_asm};

use hartlock_handoff::Handoff;
use hartlock_image::{PAGE_SIZE, Reason};
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

use crate::{ExpandedDeviceKey, FsblBoard, Point};

/// Flash region of the monitor's bundle.
const STORAGE: Region =
    Region { start: map::BOOT_SLOT.end, end: map::BUNDLE_FLASH.end - (1 << 20) };
/// Page of the secret, which is in its first 64 bytes.
const SECRET: Region = Region::new(STORAGE.end, PAGE_SIZE);
/// Memory of the monitor's endorsement: the last page of the log, the same as on `tee-1`.
pub const HANDOVER: Region = Region::new(map::LOG.end - PAGE_SIZE, PAGE_SIZE);
/// Memory that payloads may occupy, in addition to the check against the board's map: the part below this loader
/// (link.ld).
const MEMORY: Region = Region { start: map::RAM.start, end: 0x8800_0000 };
/// Time in milliseconds for the other harts to leave. They have to execute ten instructions.
const PATIENCE_MS: u64 = 1000;

const _: () = assert!(
    SECRET.end <= map::STATE_COPIES[0].start && SECRET.start.is_multiple_of(PAGE_SIZE),
    "the secret is in a page of its own"
);

/// Bits of `pmpcfg`: a naturally aligned power-of-two region without access, and the lock, which applies to M-mode
/// until reset.
const NAPOT: u64 = 3 << 3;
const LOCKED: u64 = 1 << 7;

/// Returns the value of `pmpaddr` for a range of 2^n bytes, whose trailing ones encode the size (RISC-V Privileged
/// Architecture §3.7.1).
const fn napot(region: Region) -> u64 {
    (region.start >> 2) | ((region.size() >> 3) - 1)
}

global_asm!(include_str!("relocate.S"), secret = const napot(SECRET));

unsafe extern "C" {
    static fsbl_first: u8;
    static fsbl_left: u8;
}

/// The state of a boot on this machine.
pub struct VirtMachine {
    /// True if all other harts have left the load region of the monitor.
    is_alone: bool,
}

impl VirtMachine {
    pub const fn new() -> Self {
        Self { is_alone: false }
    }

    /// Does nothing, because the time of an emulator does not correspond to that of a board.
    #[expect(clippy::unused_self, reason = "as on a machine with cycles")]
    pub const fn note(&mut self, _: &'static str) {}

    /// Returns `None`, because the stack is wiped only at the end, where its use is measured.
    #[expect(clippy::unused_self, reason = "as where something is")]
    pub const fn stack_used(&self) -> Option<u64> {
        None
    }

    /// Does nothing, for the same reason as `note`.
    #[expect(clippy::unused_self, reason = "as on a machine with cycles")]
    pub const fn print(&self) {}

    /// Does nothing, because nothing is read ahead.
    ///
    /// # Errors
    /// None.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where something is")]
    pub const fn settle(&mut self) -> Result<(), Reason> {
        Ok(())
    }
}

impl FsblBoard for VirtMachine {
    fn size(&self) -> u64 {
        STORAGE.size()
    }

    fn read(&mut self, offset: u64, into: &mut [u8; PAGE_SIZE as usize]) -> Result<(), Reason> {
        copy(offset, into)
    }

    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason> {
        // The other harts entered at the address where the monitor will be, and the word with their bits is there, too.
        // Therefore the word is read before the first payload is.
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
        // SAFETY: the range is a load range of a payload, which no running code uses; the slice ends before the next
        // one is created.
        Some(unsafe { memory::bytes_mut(region) })
    }

    /// Does nothing, for the same reason as `note`.
    fn reached(&mut self, _: Point) {}
}

/// Copies bytes of the storage. Each byte is read once.
fn copy(offset: u64, into: &mut [u8]) -> Result<(), Reason> {
    // SAFETY: the region is flash of this board, which the ROM left in read mode; nothing writes to it.
    let flash = unsafe { memory::bytes(STORAGE) };
    let offset = usize::try_from(offset).map_err(|_| Reason::Truncated)?;
    let from = flash.get(offset..).and_then(|rest| rest.get(..into.len()));
    let from = from.ok_or(Reason::Truncated)?;
    into.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    Ok(())
}

/// Waits until every hart that the ROM has released has left the load region of the monitor.
fn wait_for_harts() -> Result<(), Reason> {
    // SAFETY: the region is the hand-off block of the ROM, which nothing changes.
    let harts = Handoff::parse(unsafe { memory::bytes(map::HANDOFF) })?.harts;
    let offset = (&raw const fsbl_left).addr().wrapping_sub((&raw const fsbl_first).addr());
    let at = (map::OPENSBI.start as usize).wrapping_add(offset);
    let left: *const u64 = core::ptr::with_exposed_provenance(at);
    let deadline = clock::deadline(PATIENCE_MS);
    loop {
        // SAFETY: this is a word of the copy that the ROM has verified, to which the other harts add their bits.
        let left = unsafe { left.read_volatile() };
        // Bit 0 is set because hart 0 is the current hart.
        if (left | 1) & harts == harts {
            return Ok(());
        }
        if clock::is_past(deadline) {
            return Err(Reason::HartNotStopped);
        }
    }
}

/// Reads the secret and closes it until reset.
///
/// # Errors
/// `DeviceSecretInvalid`; `NotEndorsed` if the secret stays accessible.
pub fn take_secret(secret: &mut ExpandedDeviceKey) -> Result<(), Reason> {
    let start: *const u8 = core::ptr::with_exposed_provenance(SECRET.start as usize);
    // SAFETY: this is a byte of the secret, and reading it has no side effect.
    let byte = |index| unsafe { start.wrapping_add(index).read_volatile() };
    secret.take(|bytes| (0..).zip(bytes).for_each(|(at, to)| *to = byte(at)), shut_secret)
}

/// Closes the secret until reset, by the first PMP entry. Returns true if it is closed.
pub fn shut_secret() -> bool {
    let (address, access): (u64, u64);
    // SAFETY: the code forbids an access that no code makes from here on, and reads the registers back.
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

/// Returns the memory of the record for the monitor.
pub fn handover() -> &'static mut [u8] {
    // SAFETY: no other code uses this memory, and the map excludes payloads from the log.
    unsafe { memory::bytes_mut(HANDOVER) }
}

/// Closes the record to S-mode and U-mode, by the second PMP entry. M-mode keeps access, because the monitor reads the
/// record.
pub fn close_pages() {
    // SAFETY: the write changes the access rights of lower modes only, and none of them runs.
    unsafe {
        asm!(
            "csrw pmpaddr1, {}", "csrs pmpcfg0, {}",
            in(reg) napot(HANDOVER), in(reg) NAPOT << 8,
            options(nostack)
        );
    }
}
