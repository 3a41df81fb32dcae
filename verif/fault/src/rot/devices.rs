//! The devices on the bus of the root of trust (`hw/soc/README.md`): ROM, scratchpad, engines for SHA-2, SHA-3 and
//! DMA, mailbox, boot sequencer, and the host's memory. Like a chip, the model has no test bench device.

use hartlock_maps::hartlock_soc as map;
use hartlock_regs::boot_sequencer::{BootSequencerState, BootSequencerWord};
use hartlock_regs::dma::DmaCause;
use hartlock_regs::mailbox::MailboxState;

use super::RotStorage;
use super::dma::{Dma, Transfer};
use super::engine::Engine;
use super::registers::{
    self, BOOT_SEQUENCER, DMA, HOST_MEMORY, MAILBOX, SCRATCHPAD, SHA2, SHA3, boot_sequencer,
    mailbox,
};
use super::sha3::Sha3;
use crate::hart::Bus;
use crate::memory::{FILLER, Memory, read};

pub const SCRATCHPAD_SIZE: usize = 64 << 10;
/// Size in bytes of the modelled host memory for payloads and log; the bundle is modelled separately. Other memory
/// can be read, contains the attacker's filler, and ignores stores.
const LOW_SIZE: usize = (map::BOOT_FDT.end - map::RAM.start) as usize;
const PAGE: u32 = 0x1000;
/// Cycles by which each reading of the clock advances it. The clock does not advance otherwise, so two boots that
/// reach the same state have the same time.
const CYCLES_PER_READING: u64 = 1000;

#[derive(Clone, Debug)]
pub struct RotDevices<'a> {
    pub storage: &'a RotStorage,
    scratchpad: Memory,
    low: Memory,
    bundle: Memory,
    engine: Engine,
    dma: Dma,
    sha3: Sha3,
    state: BootSequencerState,
    reason: u32,
    mailbox_control: u32,
    cycles: u64,
    /// True if the host has been released from reset.
    pub is_released: bool,
}

impl<'a> RotDevices<'a> {
    pub fn new(storage: &'a RotStorage) -> Self {
        Self {
            storage,
            scratchpad: Memory::filled(SCRATCHPAD_SIZE, FILLER),
            low: Memory::filled(LOW_SIZE, FILLER),
            bundle: Memory::of(&storage.bundle, FILLER),
            engine: Engine::new(),
            dma: Dma::default(),
            sha3: Sha3::new(),
            state: BootSequencerState::Held,
            reason: 0,
            mailbox_control: 0,
            cycles: 0,
            is_released: false,
        }
    }

    /// Makes the devices equal to those of `leader`.
    pub fn follow(&mut self, leader: &mut Self) {
        self.scratchpad.follow(&mut leader.scratchpad);
        self.low.follow(&mut leader.low);
        self.bundle.follow(&mut leader.bundle);
        self.engine = leader.engine;
        self.dma = leader.dma;
        self.sha3 = leader.sha3;
        self.state = leader.state;
        self.reason = leader.reason;
        self.mailbox_control = leader.mailbox_control;
        self.cycles = leader.cycles;
        self.is_released = leader.is_released;
    }

    /// Returns the state of the boot sequencer, and the reason.
    pub fn decision(&self) -> (BootSequencerState, u32) {
        (self.state, self.reason)
    }

    /// Reports a fault of the core, after which the host stays in reset.
    pub fn fail(&mut self) {
        self.state = BootSequencerState::Error;
    }

    #[cold]
    fn read_elsewhere<const N: usize>(&mut self, address: u32) -> Option<u64> {
        let at = address.wrapping_sub(HOST_MEMORY as u32);
        if address >= HOST_MEMORY as u32 {
            let in_bundle = u64::from(address).wrapping_sub(map::BUNDLE.start);
            return self
                .low
                .load::<N>(at.into())
                .or_else(|| self.bundle.load::<N>(in_bundle))
                .or_else(|| {
                    let is_inside = u64::from(at) + N as u64 <= map::RAM.size();
                    let filler = u64::from(u16::from_le_bytes(FILLER)) * 0x0001_0001_0001_0001;
                    is_inside.then_some(filler & (u64::MAX >> (64 - 8 * N)))
                });
        }
        // The bus reads whole words, and the core selects bytes of them.
        let (offset, byte) = (address & (PAGE - 1) & !3, address & 3);
        if byte as usize + N > 4 {
            return None;
        }
        let word = self.read_register(address & !(PAGE - 1), offset)?;
        Some(u64::from(word >> (8 * byte)) & (u64::MAX >> (64 - 8 * N)))
    }

    fn read_register(&self, page: u32, offset: u32) -> Option<u32> {
        match page as usize {
            SHA2 => self.engine.read(offset),
            DMA => self.dma.read(offset),
            SHA3 => self.sha3.read(offset),
            BOOT_SEQUENCER => match offset {
                boot_sequencer::REASON => Some(self.reason),
                boot_sequencer::STATUS => Some(self.state as u32),
                _ => None,
            },
            MAILBOX => match offset {
                mailbox::STATUS if self.mailbox_control & mailbox::OPEN != 0 => {
                    Some(MailboxState::Ready as u32)
                }
                // The mailbox is closed, and the host has not written a request.
                0..mailbox::SIZE => Some(MailboxState::Closed as u32),
                _ => None,
            },
            _ => None,
        }
    }

    #[cold]
    fn write_elsewhere<const N: usize>(&mut self, address: u32, value: u64) -> Option<()> {
        if address >= HOST_MEMORY as u32 {
            let at = u64::from(address - HOST_MEMORY as u32);
            let in_bundle = u64::from(address).wrapping_sub(map::BUNDLE.start);
            let is_done = self.low.store::<N>(at, value).is_some()
                || self.bundle.store::<N>(in_bundle, value).is_some()
                || at + N as u64 <= map::RAM.size();
            return is_done.then_some(());
        }
        let (page, offset) = (address & !(PAGE - 1), address & (PAGE - 1));
        let is_fifo = (registers::sha2::FIFO..registers::sha2::FIFO_END).contains(&offset);
        if page as usize == SHA2 && is_fifo && N < 4 && offset as usize % 4 + N <= 4 {
            self.engine.push(&value.to_le_bytes()[..N]);
            return Some(());
        }
        // Registers are written as whole words.
        if N != 4 || offset % 4 != 0 {
            return None;
        }
        let word = value as u32;
        match page as usize {
            SHA2 => self.engine.write(offset, word),
            SHA3 => self.sha3.write(offset, word),
            DMA => {
                if self.dma.write(offset, word)? {
                    self.carry_out();
                }
                Some(())
            }
            BOOT_SEQUENCER => match offset {
                boot_sequencer::DECISION => self.decide(word),
                boot_sequencer::REASON if self.state == BootSequencerState::Held => {
                    self.reason = word;
                    Some(())
                }
                _ => None,
            },
            MAILBOX if offset < mailbox::SIZE => {
                if offset == mailbox::CONTROL {
                    self.mailbox_control = word;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Executes the list of the DMA engine.
    fn carry_out(&mut self) {
        let (list, count) = self.dma.list();
        let (streams, _) = self.dma.targets();
        if streams && !self.engine.is_streaming() {
            return self.dma.wait();
        }
        let done = (0..count).try_for_each(|index| {
            let word = |at: u32| {
                let word = self.scratchpad.load::<4>(u64::from(list + 16 * index + 4 * at));
                word.map(|word| word as u32)
            };
            let words: Option<Vec<u32>> = (0..4).map(word).collect();
            let words = words.and_then(|words| words.try_into().ok());
            let words = words.ok_or((DmaCause::Scratchpad, index))?;
            let part = self.dma.judge(words, HOST_MEMORY as u32);
            part.and_then(|part| self.transfer(part)).map_err(|cause| (cause, index))
        });
        match done {
            Ok(()) => self.dma.succeed(),
            Err((cause, index)) => self.dma.fail(cause, index),
        }
        if streams {
            self.engine.end_stream(done.is_ok());
        }
    }

    /// Transfers eight bytes at a time, then single bytes.
    fn transfer(&mut self, part: Transfer) -> Result<(), DmaCause> {
        let mut at = 0;
        while part.length - at >= 8 {
            self.move_bytes::<8>(part, at)?;
            at += 8;
        }
        (at..part.length).try_for_each(|at| self.move_bytes::<1>(part, at))
    }

    fn move_bytes<const N: usize>(&mut self, part: Transfer, at: u32) -> Result<(), DmaCause> {
        let (streams, writes) = self.dma.targets();
        let value = self.read_elsewhere::<N>(part.source + at).ok_or(DmaCause::Read)?;
        if streams {
            self.engine.stream(&value.to_le_bytes()[..N]);
        }
        if writes {
            self.write_elsewhere::<N>(part.destination + at, value).ok_or(DmaCause::Write)?;
        }
        Ok(())
    }

    /// Applies a decision word. The first decision is final, except that a stop is accepted after it
    /// (`hw/ip/boot_sequencer/doc/README.md`).
    fn decide(&mut self, word: u32) -> Option<()> {
        let word = BootSequencerWord::from_bits(word);
        self.state = match (self.state, word) {
            (BootSequencerState::Held, Some(BootSequencerWord::Release)) => {
                self.is_released = true;
                BootSequencerState::Released
            }
            (BootSequencerState::Held, Some(BootSequencerWord::Trap)) => {
                BootSequencerState::Trapped
            }
            (
                BootSequencerState::Held
                | BootSequencerState::Released
                | BootSequencerState::Refused
                | BootSequencerState::Trapped,
                Some(BootSequencerWord::Stop),
            ) => BootSequencerState::Stopped,
            (BootSequencerState::Held, _) => BootSequencerState::Refused,
            _ => return None,
        };
        Some(())
    }
}

impl Bus for RotDevices<'_> {
    #[inline]
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64> {
        let address = address as u32;
        if let Some(value) = self.scratchpad.load::<N>(offset(address)) {
            return Some(value);
        }
        match read::<N>(&self.storage.rom, address.into()) {
            Some(value) => Some(value),
            None => self.read_elsewhere::<N>(address),
        }
    }

    #[inline]
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        let address = address as u32;
        match self.scratchpad.store::<N>(offset(address), value) {
            Some(()) => Some(()),
            None => self.write_elsewhere::<N>(address, value),
        }
    }

    fn counter(&mut self) -> u64 {
        self.cycles += CYCLES_PER_READING;
        self.cycles as i32 as u64
    }

    fn counter_high(&mut self) -> Option<u64> {
        Some((self.cycles >> 32) as i32 as u64)
    }

    fn pending(&self, _: u64) -> u64 {
        0
    }
}

/// Returns the offset of an address in the scratchpad; the offset is past its end for other addresses.
fn offset(address: u32) -> u64 {
    address.wrapping_sub(SCRATCHPAD as u32).into()
}
