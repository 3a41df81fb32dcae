//! A model of the root of trust of `hw/soc` as its ROM uses it: Ibex (RV32IMC) with its memories, the engines for
//! SHA-2, SHA-3 and DMA, the boot sequencer, and the host's memory with a bundle in it.
//!
//! Instructions are fetched from the ROM only: the address decoder of the hardware answers every other fetch with an
//! error, and so does this model. If a boot jumps to data of the ROM (constants, identity of the device), that data is
//! executed, as on the hardware; such boots are counted. A boot is turned if the host is released.
//!
//! The model does not implement: interrupts; time (engines finish at once, and the clock advances only when it is
//! read); bus errors inside the host's memory; requests in the mailbox, which follow a release; the PMP, which the
//! machines `rot` and `soc-1` do not have; lockstep; accesses to parts of register words other than the FIFO, which are
//! an access fault here; timeouts of the bus watchdog.

mod devices;
mod dma;
mod engine;
mod registers;
mod sha3;

use hartlock_maps::hartlock_soc as map;
use hartlock_regs::boot_sequencer::BootSequencerState;

use crate::code::Code;
use crate::hart::{Event, FETCH_FAULT, Hart};
use crate::instruction::{Instruction, Operation};
use crate::memory::read;
use crate::subject::{End, FaultMachine, MemoryKind, step_until};
use devices::RotDevices;

/// Size of the boot ROM in bytes (`hw/soc/README.md`).
pub const ROM_SIZE: usize = 128 << 10;
/// Addresses of the registers that software polls until an engine is done: status of the hash engines, events of the
/// DMA engine.
pub const POLLED: [u32; 3] = [
    registers::SHA2 as u32 + registers::sha2::STATUS,
    registers::SHA3 as u32 + registers::sha3::STATUS,
    registers::DMA as u32 + registers::dma::INTERRUPT,
];
/// Address of Ibex's first instruction, after 32 vectors.
const RESET: u64 = registers::ROM as u64 + 0x80;
/// Alignment of the vector table in bytes (Ibex reference manual, `mtvec`).
const VECTORS: u64 = 0x100;

/// The constant part of a machine, and the bundle as it is when reset ends.
#[derive(Debug)]
pub struct RotStorage {
    code: Code,
    rom: Vec<u8>,
    bundle: Vec<u8>,
}

impl RotStorage {
    /// Makes storage from a ROM, whose first `code_len` bytes are code, and a bundle in the host's memory.
    pub fn new(mut rom: Vec<u8>, code_len: usize, bundle: Vec<u8>) -> Self {
        rom.resize(ROM_SIZE, 0);
        let decode = |word, pc| Instruction::decode_rv32(word, pc as u32);
        let code = Code::decode(registers::ROM as u64, &rom[..code_len], decode);
        Self { code, rom, bundle }
    }
}

/// A running root of trust.
#[derive(Clone, Debug)]
pub struct RotMachine<'a> {
    hart: Hart,
    devices: RotDevices<'a>,
    code: &'a Code,
    executed: u64,
    last_wait: Option<u64>,
    fetched_from: u64,
    ran_constants: bool,
}

impl<'a> RotMachine<'a> {
    /// Makes a machine after reset, in which scratchpad and memory contain an attacker's data.
    pub fn new(storage: &'a RotStorage) -> Self {
        Self {
            hart: Hart::new(0, RESET),
            devices: RotDevices::new(storage),
            code: &storage.code,
            executed: 0,
            last_wait: None,
            fetched_from: 0,
            ran_constants: false,
        }
    }

    /// Returns the state of the boot sequencer and the number of the reason.
    pub fn decision(&self) -> (BootSequencerState, u32) {
        self.devices.decision()
    }

    /// Returns the address of the load or store of the next instruction; the inner value is `None` for other
    /// instructions. Returns `None` if the next address is outside the code.
    pub fn next_access(&self) -> Option<Option<u32>> {
        use Operation as O;
        let it = self.code.at(self.hart.pc)?;
        let is_access =
            matches!(it.operation, O::Lb | O::Lh | O::Lw | O::Lbu | O::Lhu | O::Sb | O::Sh | O::Sw);
        let base = self.hart.x[usize::from(it.rs1)];
        Some(is_access.then(|| base.wrapping_add(it.immediate as u64) as u32))
    }

    #[cold]
    fn handle(&mut self, pc: u64, event: Event) -> Option<End> {
        match event {
            Event::Trap(cause, value) => self.trap(cause, value),
            Event::Wait if self.last_wait == Some(pc) => Some(End::Stopped),
            // After the first `wfi` the next instructions are executed, as if it had ended without an interrupt.
            Event::Wait => {
                self.last_wait = Some(pc);
                None
            }
            Event::Protection | Event::Call => None,
        }
    }

    /// Enters the trap handler. A trap in the handler is a double fault, after which the hardware keeps the host in
    /// reset.
    fn trap(&mut self, cause: u64, value: u64) -> Option<End> {
        if self.hart.is_in_handler() {
            self.devices.fail();
            return Some(End::Stopped);
        }
        self.hart.pc = self.hart.pc as i32 as u64;
        self.hart.trap(cause, value as i32 as u64);
        self.hart.pc &= !(VECTORS - 1);
        None
    }

    #[cold]
    fn release(&mut self) -> Option<End> {
        self.fetched_from = map::FIRST.start;
        Some(End::Ran(MemoryKind::Host))
    }

    /// Returns the instruction at an address of the ROM.
    #[inline]
    fn instruction(&self, pc: u64) -> Option<Instruction> {
        self.code.at(pc).or_else(|| self.constant(pc))
    }

    #[cold]
    fn constant(&self, pc: u64) -> Option<Instruction> {
        let half = |at| read::<2>(&self.devices.storage.rom, at);
        let word = half(pc)? | half(pc + 2).unwrap_or(0) << 16;
        Some(Instruction::decode_rv32(word as u32, pc as u32))
    }
}

impl FaultMachine for RotMachine<'_> {
    fn run(&mut self, until: u64) -> End {
        step_until(self, until)
    }

    fn pc(&self) -> u64 {
        self.hart.pc
    }

    fn executed(&self) -> u64 {
        self.executed
    }

    fn fetched_from(&self) -> u64 {
        self.fetched_from
    }

    fn ran_constants(&self) -> bool {
        self.ran_constants
    }

    fn console(&self) -> String {
        // A chip has no console.
        String::new()
    }

    fn skip(&mut self) -> bool {
        let found = self.instruction(self.hart.pc);
        if let Some(instruction) = found {
            self.hart.pc = self.hart.pc.wrapping_add(instruction.len.into());
        }
        found.is_some()
    }

    fn is_next_idle(&self) -> bool {
        self.instruction(self.hart.pc).is_some_and(|instruction| self.hart.is_idle(instruction))
    }

    fn follow(&mut self, leader: &mut Self) {
        self.hart.clone_from(&leader.hart);
        self.devices.follow(&mut leader.devices);
        self.executed = leader.executed;
        self.last_wait = leader.last_wait;
        self.ran_constants = leader.ran_constants;
    }

    #[inline]
    fn step(&mut self) -> Option<End> {
        let pc = self.hart.pc;
        self.executed += 1;
        let instruction = match self.code.at(pc) {
            Some(instruction) => instruction,
            None => match self.constant(pc) {
                Some(instruction) => {
                    // An instruction that traps was not executed.
                    if instruction.operation != Operation::Illegal {
                        (self.ran_constants, self.fetched_from) = (true, pc);
                    }
                    instruction
                }
                None => return self.trap(FETCH_FAULT, pc),
            },
        };
        match self.hart.execute(instruction, &mut self.devices) {
            Ok(()) if self.devices.is_released => self.release(),
            Ok(()) => None,
            Err(event) => self.handle(pc, event),
        }
    }
}

#[cfg(test)]
mod tests;
