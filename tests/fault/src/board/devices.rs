//! What is on the bus: flash, memory, interrupts and timers (CLINT), console (16550), clock (goldfish RTC).

use hartlock_verify::board::qemu_virt as map;

use super::{Flash, HARTS, Place};
use crate::hart::Bus;
use crate::instruction::Instruction;
use crate::memory::{Memory, read};

/// Memory that is modelled: the ROM uses no address past `LINUX_FDT`. What is after it can be read, holds
/// what the attacker left, and ignores what is stored.
const RAM_SIZE: usize = 8 << 20;
/// `c.li zero, 21`: a legal instruction that does nothing, and a value that a boot does not write.
pub const FILLER: [u8; 2] = [0x55, 0x40];

const CLINT: u64 = 0x0200_0000;
const MTIMECMP: u64 = CLINT + 0x4000;
const MTIME: u64 = CLINT + 0xbff8;
const UART: u64 = 0x1000_0000;
const LINE_STATUS: u64 = UART + 5;
/// The console can always take a byte.
const TRANSMITTER_EMPTY: u64 = 0x60;
const TEST: u64 = 0x0010_0000;
const RTC: u64 = 0x0010_1000;
const MSIP: u64 = 1 << 3;
const MTIP: u64 = 1 << 7;
/// A clock that goes on each time it is read, and only then: two boots that come to the same state have the
/// same time there.
const TICKS_PER_READING: u64 = 50;

#[derive(Clone, Debug)]
pub struct Devices<'a> {
    pub flash: &'a Flash,
    memory: Memory,
    msip: [bool; HARTS],
    mtimecmp: [u64; HARTS],
    time: u64,
    /// Harts whose interrupt was raised.
    pub woken: u8,
    pub console: Vec<u8>,
}

impl<'a> Devices<'a> {
    pub fn new(flash: &'a Flash) -> Self {
        Self {
            flash,
            memory: Memory::filled(RAM_SIZE, FILLER),
            msip: [false; HARTS],
            mtimecmp: [u64::MAX; HARTS],
            time: 0,
            woken: 0,
            console: Vec::new(),
        }
    }

    /// Does not copy what was printed.
    pub fn follow(&mut self, leader: &mut Self) {
        self.memory.follow(&mut leader.memory);
        self.msip = leader.msip;
        self.mtimecmp = leader.mtimecmp;
        self.time = leader.time;
        self.woken = leader.woken;
        self.console.clear();
    }

    /// Waits for an interrupt of a hart; `false` if none of these ever comes.
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

    /// The instruction at an address that is not in the ROM's code, and what is there.
    pub fn fetch(&self, pc: u64) -> Option<(Place, Instruction)> {
        let place = Place::of(pc)?;
        let half = |address| self.contents::<2>(address).unwrap_or(0) as u32;
        let word = half(pc) | half(pc.wrapping_add(2)) << 16;
        // What is as the attacker left it was not written since reset.
        let place = if word as u16 == u16::from_le_bytes(FILLER) { Place::Prepared } else { place };
        Some((place, Instruction::decode(word)))
    }

    /// Reads memory or flash.
    #[inline]
    fn contents<const N: usize>(&self, address: u64) -> Option<u64> {
        let ram_offset = address.wrapping_sub(map::RAM.start);
        if let Some(value) = self.memory.load::<N>(ram_offset) {
            return Some(value);
        }
        if let Some(value) =
            read::<N>(&self.flash.bundle, address.wrapping_sub(map::BUNDLE_FLASH.start))
        {
            return Some(value);
        }
        if let Some(value) = read::<N>(&self.flash.rom, address.wrapping_sub(map::ROM_FLASH.start))
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
            0x1000_0001..=0x1000_0007 | TEST | RTC | MTIME => {}
            _ if Place::of(address).is_some() => {}
            _ => return None,
        }
        Some(())
    }
}

impl Bus for Devices<'_> {
    #[inline]
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64> {
        match self.contents::<N>(address) {
            Some(value) => Some(value),
            None => self.read_register(address),
        }
    }

    #[inline]
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        match self.memory.store::<N>(address.wrapping_sub(map::RAM.start), value) {
            Some(()) => Some(()),
            None => self.write_register(address, value),
        }
    }

    fn counter(&mut self) -> u64 {
        self.time += TICKS_PER_READING;
        self.time
    }

    fn pending(&self, hart: u64) -> u64 {
        let hart = hart as usize;
        let software = if self.msip[hart] { MSIP } else { 0 };
        let timer = if self.time >= self.mtimecmp[hart] { MTIP } else { 0 };
        software | timer
    }
}
