//! A program in S-mode that lets a disk read and write memory at the addresses of a list. It does what a compromised
//! kernel could do.
//!
//! A test signs this program in place of the loader, and writes the list to the first sectors of the disk in slot 2 of
//! the PCI bus. The program processes the whole list and prints whether each request was completed. It decides nothing:
//! the test inspects memory, flash and disk.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

use hartlock_drivers::virtio_blk::pci::{Pci, PciBus};
use hartlock_drivers::virtio_blk::{Error, Transport};
use hartlock_virt::board::{FW_CFG, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::{clock, hart, sbi};

global_asm!(include_str!("start.S"));

unsafe extern "C" {
    fn try_store(address: u64, value: u64) -> bool;
}

// These are the addresses of the PCI bus of QEMU's `virt`, which the descriptions of boards without an IOMMU do not
// contain.
const CONFIG: usize = 0x3000_0000;
const MEMORY: (usize, usize) = (0x4000_0000, 0x4400_0000);
/// Slot of the disk with the list.
const SLOT: usize = 2;

// These are the data structures for the disk, in memory that it can access on every board.
const OWN: u64 = map::DMA.start;
const DESCRIPTORS: u64 = OWN;
const AVAILABLE: u64 = OWN + 0x800;
const USED: u64 = OWN + 0x1000;
const HEADER: u64 = OWN + 0x2000;
const STATUS: u64 = OWN + 0x2100;
/// Address of the request to fw_cfg (QEMU, fw_cfg.rst), which the test also uses.
const FW_CFG_REQUEST: u64 = OWN + 0x3000;
const SCRATCH: u64 = OWN + 0x4000;
const LIST: u64 = OWN + 0x8000;
const LIST_SECTORS: u32 = 4;
/// Address of a word that survives a warm reset.
const WAS_RESET: u64 = OWN + 0x1f_0000;
const WAS_RESET_MARK: u64 = u64::from_le_bytes(*b"was here");

const QUEUE_SIZE: u32 = 8;
const SECTOR: u32 = 512;
const PENDING: u8 = 0xff;

// The interrupts of QEMU's virtio devices (PCI Local Bus Specification 3.0, §6.8.2; Virtual I/O Device Specification
// v1.2, §4.1.4.3): the capability, the BARs of the table of vectors and of the common configuration, and registers.
const CAPABILITIES: u64 = 0x34;
const MSIX: u8 = 0x11;
const ENABLE: u16 = 1 << 15;
const VECTORS_BAR: u64 = 0x14;
const COMMON_BAR: u64 = 0x20;
const QUEUE_VECTOR: u64 = 0x1a;
/// What a message stores, which the test also uses.
const MESSAGE_DATA: u32 = u32::from_le_bytes(*b"HLKm");

/// Kinds of list entries. This one ends the list.
const END: u32 = 0;
/// Kind of an entry that reads a sector into memory.
const TO_MEMORY: u32 = 1;
/// Kind of an entry that writes memory to a sector.
const FROM_MEMORY: u32 = 2;
/// Kind of an entry for which this hart makes fw_cfg write four bytes.
const FW_CFG_DMA: u32 = 3;
/// Kind of an entry that resets the machine once.
const RESET: u32 = 4;
/// Kind of an entry that lets the disk send a message of MSI-X, which is a store of four bytes.
const MESSAGE: u32 = 6;
/// Kind of an entry for which this hart asks the monitor to let devices access the memory of the system.
const SYSTEM_MAP: u32 = 5;

/// An entry of the list, of 32 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    kind: u32,
    slot: u32,
    sector: u64,
    address: u64,
    len: u32,
    reserved: u32,
}

fn put<T>(address: u64, value: T) {
    let place: *mut T = core::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: only this program uses the memory, and the address is aligned.
    unsafe { place.write_volatile(value) };
}

fn get<T>(address: u64) -> T {
    let place: *const T = core::ptr::with_exposed_provenance(address as usize);
    // SAFETY: only this program uses the memory, and the address is aligned.
    unsafe { place.read_volatile() }
}

/// A minimal disk driver.
struct Disk {
    registers: Pci,
    index: u16,
}

impl Disk {
    fn open(slot: usize) -> Result<Self, Error> {
        // SAFETY: this is the bus of the board, and no other code uses it.
        let mut bus = unsafe { PciBus::new(CONFIG, (MEMORY.0 + (slot << 20), MEMORY.1)) };
        let registers = bus.block(slot)?;
        registers.set_status(0);
        registers.set_status(3);
        // A device that does not offer to use the IOMMU works without negotiated features.
        let features_ok = match registers.take_features() {
            Err(Error::Unguarded) => 0,
            other => u32::from(other?) << 3,
        };
        registers.set_status(3 | features_ok);
        let _ = registers.queue_limit();
        put::<u32>(AVAILABLE, 0);
        put::<u32>(USED, 0);
        registers.set_queue(QUEUE_SIZE, [DESCRIPTORS, AVAILABLE, USED].map(|it| it as usize));
        registers.set_status(3 | features_ok | 4);
        Ok(Self { registers, index: 0 })
    }

    /// Makes the disk in this slot store [`MESSAGE_DATA`] at an address after each request. Returns false if it has no
    /// such interrupts.
    fn set_message(slot: usize, address: u64) -> bool {
        let config = CONFIG as u64 + ((slot as u64) << 15);
        let mut at = u64::from(get::<u8>(config + CAPABILITIES));
        while at != 0 && get::<u8>(config + at) != MSIX {
            at = u64::from(get::<u8>(config + at + 1));
        }
        if at == 0 {
            return false;
        }
        put(config + at + 2, ENABLE);
        let [vector, common] =
            [VECTORS_BAR, COMMON_BAR].map(|bar| u64::from(get::<u32>(config + bar) & !0xf));
        put(vector, address);
        put(vector + 8, MESSAGE_DATA);
        put(vector + 12, 0_u32);
        put(common + QUEUE_VECTOR, 0_u16);
        get::<u16>(common + QUEUE_VECTOR) == 0
    }

    /// Sends one request with `len` bytes at `address`; the rest of the sectors is in memory of this program. Returns
    /// the status, or [`PENDING`].
    fn request(&mut self, is_write: bool, sector: u64, address: u64, len: u32, sectors: u32) -> u8 {
        put(HEADER, u32::from(is_write));
        put(HEADER + 4, 0_u32);
        put(HEADER + 8, sector);
        put(STATUS, PENDING);
        let into = if is_write { 1 } else { 1 | 2 };
        let rest = (sectors * SECTOR).saturating_sub(len);
        let after = if rest > 0 { 2 } else { 3 };
        for (index, (address, len, flags, next)) in [
            (HEADER, 16, 1, 1),
            (address, len, into, after),
            (SCRATCH, rest, into, 3),
            (STATUS, 1, 2, 0_u16),
        ]
        .into_iter()
        .enumerate()
        {
            let place = DESCRIPTORS + index as u64 * 16;
            put(place, address);
            put(place + 8, len);
            put::<u16>(place + 12, flags);
            put(place + 14, next);
        }
        put(AVAILABLE + 4 + u64::from(self.index) % u64::from(QUEUE_SIZE) * 2, 0_u16);
        hart::fence();
        self.index = self.index.wrapping_add(1);
        put(AVAILABLE + 2, self.index);
        hart::fence();
        self.registers.notify();
        let deadline = clock::deadline(300);
        while get::<u16>(USED + 2) != self.index && !clock::is_past(deadline) {
            core::hint::spin_loop();
        }
        hart::fence();
        get(STATUS)
    }
}

/// Returns true if this hart may make fw_cfg write the first bytes of its signature to an address.
fn fw_cfg(address: u64) -> bool {
    write_fw_cfg_request(address);
    // SAFETY: the routine survives a trap.
    unsafe { try_store(FW_CFG as u64 + 16, FW_CFG_REQUEST.to_be()) }
}

/// Writes a request that selects item 0, which begins with `QEMU`, and makes fw_cfg write four bytes of it.
fn write_fw_cfg_request(address: u64) {
    put(FW_CFG_REQUEST, 0xa_u32.to_be());
    put(FW_CFG_REQUEST + 4, 4_u32.to_be());
    put(FW_CFG_REQUEST + 8, address.to_be());
    hart::fence();
}

fn say(index: usize, result: &str) {
    console::line(&["dma: ", Number::decimal(index as u64).as_str(), " ", result]);
}

fn act(index: usize, entry: Entry) {
    match entry.kind {
        FW_CFG_DMA => say(index, if fw_cfg(entry.address) { "stored" } else { "trapped" }),
        SYSTEM_MAP => say(index, if sbi::system_map().is_ok() { "mapped" } else { "denied" }),
        RESET if get::<u64>(WAS_RESET) != WAS_RESET_MARK => {
            put(WAS_RESET, WAS_RESET_MARK);
            say(index, "reset");
            sbi::cold_reset();
        }
        RESET => say(index, "was reset"),
        MESSAGE => {
            let slot = entry.slot as usize;
            let result = Disk::open(slot).map(|mut disk| {
                let is_set = Disk::set_message(slot, entry.address);
                is_set && disk.request(false, entry.sector, SCRATCH, SECTOR, 1) == 0
            });
            say(index, if result == Ok(true) { "completed" } else { "failed" });
        }
        kind => {
            // A disk request to the registers of fw_cfg finds a prepared request.
            write_fw_cfg_request(map::DMA.end - 4096);
            let result = Disk::open(entry.slot as usize).map(|mut disk| {
                let is_write = kind == FROM_MEMORY;
                disk.request(is_write, entry.sector, entry.address, entry.len, 1)
            });
            match result {
                Ok(0) => say(index, "completed"),
                Ok(PENDING) => say(index, "silent"),
                Ok(_) => say(index, "failed"),
                Err(_) => say(index, "no disk"),
            }
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn dma_main() -> ! {
    let list = Disk::open(SLOT)
        .map(|mut disk| disk.request(false, 0, LIST, LIST_SECTORS * SECTOR, LIST_SECTORS));
    if list != Ok(0) {
        console::line(&["dma: no list"]);
    } else {
        for index in 0..(LIST_SECTORS * SECTOR / 32) as usize {
            let entry: Entry = get(LIST + index as u64 * 32);
            match entry.kind {
                END => break,
                TO_MEMORY | FROM_MEMORY | FW_CFG_DMA | RESET | SYSTEM_MAP | MESSAGE => {
                    act(index, entry)
                }
                _ => say(index, "unknown"),
            }
        }
    }
    console::line(&["dma: done"]);
    hart::halt()
}
