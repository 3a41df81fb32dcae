//! The devices on the bus: flash, memory, interrupts and timers (CLINT), console (16550), clock (goldfish RTC),
//! disk (virtio).

mod virtio;

use hartlock_maps::qemu_virt as map;
use hartlock_verify::board::Region;

use super::place::place_of;
use super::{BoardStorage, HARTS};
use crate::hart::Bus;
use crate::instruction::Instruction;
use crate::memory::{FILLER, Memory, read};
use crate::subject::{MemoryKind, SharedTrace};
use virtio::Virtio;

/// Size in bytes of the modelled memory. The stages use no address past the first 4 MiB for system payloads if
/// payloads are loaded there. Memory after it can be read, contains the attacker's filler, and ignores stores.
const RAM_SIZE: usize = 20 << 20;

const CLINT: u64 = 0x0200_0000;
const MTIMECMP: u64 = CLINT + 0x4000;
const MTIME: u64 = CLINT + 0xbff8;
const UART: u64 = 0x1000_0000;
const LINE_STATUS: u64 = UART + 5;
/// Line status of the console: it can always take a byte.
const TRANSMITTER_EMPTY: u64 = 0x60;
const TEST: u64 = 0x0010_0000;
const RTC: u64 = 0x0010_1000;
/// Address range of the virtio slots. The disk is in the first slot; the others are empty.
const VIRTIO: u64 = 0x1000_1000;
const VIRTIO_END: u64 = 0x1000_9000;
const VIRTIO_SIZE: u64 = 0x1000;
const MSIP: u64 = 1 << 3;
const MTIP: u64 = 1 << 7;
/// Ticks by which each reading of the clock advances it. The clock does not advance otherwise, so two boots that
/// reach the same state have the same time.
const TICKS_PER_READING: u64 = 50;
/// Same while the loader runs. It waits seconds for a disk and reads the clock meanwhile.
const TICKS_PER_READING_OF_LOADER: u64 = 5000;

#[derive(Clone, Debug)]
pub struct BoardDevices<'a> {
    pub storage: &'a BoardStorage,
    memory: Memory,
    disk: Virtio,
    is_supervisor: bool,
    /// `satp` of the boot hart: root page table and mode.
    satp: u64,
    msip: [bool; HARTS],
    mtimecmp: [u64; HARTS],
    time: u64,
    /// Mask of harts to which an interrupt was sent.
    pub woken: u8,
    pub console: Vec<u8>,
}

impl<'a> BoardDevices<'a> {
    pub fn new(storage: &'a BoardStorage) -> Self {
        Self {
            storage,
            memory: Memory::filled(RAM_SIZE, FILLER),
            disk: Virtio::default(),
            is_supervisor: false,
            satp: 0,
            msip: [false; HARTS],
            mtimecmp: [u64::MAX; HARTS],
            time: 0,
            woken: 0,
            console: Vec::new(),
        }
    }

    /// Makes all further accesses those of S-mode. From then on, stores to these regions by any hart or device
    /// are detected.
    pub fn enter_supervisor(&mut self, watched: &[Region]) {
        self.is_supervisor = true;
        for region in watched {
            self.memory.watch(region.start - map::RAM.start..region.end - map::RAM.start);
        }
    }

    /// Sets `satp` of the boot hart, which turns paging on or off.
    pub fn set_paging(&mut self, satp: u64) {
        self.satp = satp;
    }

    /// Returns true if the page tables allow this access; without paging they allow everything. The tables are
    /// consulted only for fetches outside the code and for stores to the loader's memory. All pages are assumed
    /// to be mapped to their own address.
    pub fn is_mapped(&self, address: u64, access: AccessKind) -> bool {
        let bit = match access {
            AccessKind::Read => 1 << 1,
            AccessKind::Write => 1 << 2,
            AccessKind::Fetch => 1 << 3,
        };
        if self.satp == 0 {
            return true;
        }
        let mut table = (self.satp & ((1 << 44) - 1)) << 12;
        for shift in [30, 21, 12] {
            let entry = self.contents::<8>(table + 8 * (address >> shift & 0x1ff)).unwrap_or(0);
            let (is_valid, is_leaf) = (entry & 1 != 0, entry & 0b1110 != 0);
            if !is_valid || is_leaf {
                return is_valid && entry & bit != 0;
            }
            table = (entry >> 10) << 12;
        }
        false
    }

    /// Returns true if a watched region was written.
    pub fn is_breached(&self) -> bool {
        self.memory.is_breached()
    }

    /// Makes the devices equal to those of `leader`, except for the console output, which is not copied.
    pub fn follow(&mut self, leader: &mut Self) {
        self.memory.follow(&mut leader.memory);
        self.disk = leader.disk;
        self.is_supervisor = leader.is_supervisor;
        self.satp = leader.satp;
        self.msip = leader.msip;
        self.mtimecmp = leader.mtimecmp;
        self.time = leader.time;
        self.woken = leader.woken;
        self.console.clear();
    }

    /// Waits for an enabled interrupt of a hart. Returns `false` if none of them can occur.
    pub fn wait(&mut self, hart: usize, enabled: u64) -> bool {
        if self.pending(hart as u64) & enabled != 0 {
            return true;
        }
        let is_set = enabled & MTIP != 0 && self.mtimecmp[hart] != u64::MAX;
        if is_set && hart == 0 {
            self.time = self.mtimecmp[hart];
        }
        is_set && hart == 0
    }

    /// Returns the instruction at an address outside the stage's code, and the kind of memory there.
    pub fn fetch(&self, pc: u64) -> Option<(MemoryKind, Instruction)> {
        if self.is_supervisor && !is_open(pc, AccessKind::Fetch) {
            return None;
        }
        let place = match place_of(pc)? {
            MemoryKind::Payload if self.is_supervisor && is_in(pc, &map::LOADER) => {
                MemoryKind::Data
            }
            place => place,
        };
        let half = |address| self.contents::<2>(address).unwrap_or(0) as u32;
        let word = half(pc) | half(pc.wrapping_add(2)) << 16;
        // Memory that still holds the filler has not been written since reset.
        let place =
            if word as u16 == u16::from_le_bytes(FILLER) { MemoryKind::Prepared } else { place };
        Some((place, Instruction::decode(word)))
    }

    /// Records loads and stores of memory from now on.
    pub fn trace(&mut self) -> SharedTrace {
        let trace = SharedTrace::default();
        self.memory.trace(trace.clone());
        trace
    }

    /// Returns the contents of a memory region.
    pub fn memory(&self, region: Region) -> &[u8] {
        let at = |address: u64| (address - map::RAM.start) as usize;
        self.memory.bytes(at(region.start)..at(region.end))
    }

    /// Reads memory or flash.
    #[inline]
    fn contents<const N: usize>(&self, address: u64) -> Option<u64> {
        let ram_offset = address.wrapping_sub(map::RAM.start);
        if let Some(value) = self.memory.load::<N>(ram_offset) {
            return Some(value);
        }
        if let Some(value) =
            read::<N>(&self.storage.bundle, address.wrapping_sub(map::BUNDLE_FLASH.start))
        {
            return Some(value);
        }
        if let Some(value) =
            read::<N>(&self.storage.rom, address.wrapping_sub(map::ROM_FLASH.start))
        {
            return Some(value);
        }
        let is_inside = |size: u64| ram_offset < size && size - ram_offset >= N as u64;
        let filler = u64::from(u16::from_le_bytes(FILLER)) * 0x0001_0001_0001_0001;
        is_inside(map::RAM.size()).then_some(filler & (u64::MAX >> (64 - 8 * N)))
    }

    #[cold]
    fn read_register(&mut self, address: u64) -> Option<u64> {
        Some(match address {
            LINE_STATUS => TRANSMITTER_EMPTY,
            UART..=0x1000_0007 | TEST => 0,
            VIRTIO..VIRTIO_END => {
                let register = address % VIRTIO_SIZE;
                match (address - VIRTIO) / VIRTIO_SIZE {
                    0 => self.disk.read(register, &self.storage.disk),
                    // A slot without a device has device ID 0.
                    _ if register == 8 => 0,
                    _ => Virtio::default().read(register, &[]),
                }
            }
            RTC => 0x1234_5678,
            0x0010_1004 => 1,
            MTIME => self.counter(),
            CLINT..MTIMECMP => {
                let hart = (address - CLINT) as usize / 4;
                self.msip.get(hart).copied().unwrap_or(false).into()
            }
            MTIMECMP..MTIME => {
                let hart = (address - MTIMECMP) as usize / 8;
                self.mtimecmp.get(hart).copied().unwrap_or(0)
            }
            _ => return None,
        })
    }

    #[cold]
    fn write_register(&mut self, address: u64, value: u64) -> Option<()> {
        match address {
            UART => self.console.push(value as u8),
            CLINT..MTIMECMP => {
                let hart = (address - CLINT) as usize / 4;
                if let Some(interrupt) = self.msip.get_mut(hart) {
                    *interrupt = value & 1 != 0;
                    self.woken |= u8::from(*interrupt) << hart & !1;
                }
            }
            MTIMECMP..MTIME => {
                let hart = (address - MTIMECMP) as usize / 8;
                if let Some(register) = self.mtimecmp.get_mut(hart) {
                    *register = value;
                }
            }
            VIRTIO..VIRTIO_END => {
                if address - VIRTIO < VIRTIO_SIZE {
                    let written = (address % VIRTIO_SIZE, value);
                    self.disk.write(written, &mut self.memory, &self.storage.disk);
                }
            }
            0x1000_0001..=0x1000_0007 | TEST | RTC | MTIME => {}
            _ if place_of(address).is_some() => {}
            _ => return None,
        }
        Some(())
    }
}

impl Bus for BoardDevices<'_> {
    #[inline]
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64> {
        if self.is_supervisor && !is_open(address, AccessKind::Read) {
            return None;
        }
        match self.contents::<N>(address) {
            Some(value) => Some(value),
            None => self.read_register(address),
        }
    }

    #[inline]
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        if self.is_supervisor && !is_open(address, AccessKind::Write)
            || self.satp != 0
                && is_in(address, &map::LOADER)
                && !self.is_mapped(address, AccessKind::Write)
        {
            return None;
        }
        match self.memory.store::<N>(address.wrapping_sub(map::RAM.start), value) {
            Some(()) => Some(()),
            None => self.write_register(address, value),
        }
    }

    fn counter(&mut self) -> u64 {
        let ticks =
            if self.is_supervisor { TICKS_PER_READING_OF_LOADER } else { TICKS_PER_READING };
        self.time += ticks;
        self.time
    }

    fn pending(&self, hart: u64) -> u64 {
        let hart = hart as usize;
        let software = if self.msip[hart] { MSIP } else { 0 };
        let timer = if self.time >= self.mtimecmp[hart] { MTIP } else { 0 };
        software | timer
    }
}

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Read,
    Write,
    Fetch,
}

/// Returns true if S-mode may make this access under the signed boot device tree, as OpenSBI programs the PMP
/// from it (boot flow §5.1). OpenSBI itself closes the CLINT.
#[inline]
fn is_open(address: u64, access: AccessKind) -> bool {
    // All closed regions are below the log: at the start of memory, or before memory.
    if address >= map::LOG.start {
        return true;
    }
    let closed = [map::FLASH, map::OPENSBI, map::ROM_RAM, Region::new(CLINT, 0x1_0000)];
    !closed.iter().any(|region| is_in(address, region))
        && (access == AccessKind::Read || !is_in(address, &map::HANDOFF))
}

fn is_in(address: u64, region: &Region) -> bool {
    region.contains(&Region::new(address, 1))
}
