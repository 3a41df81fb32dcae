//! The root of trust of `hw/soc` as its ROM sees it: Ibex (RV32IMC) with its memories, the SHA-2 engine, the boot
//! sequencer, and the host's memory with a bundle in it.
//!
//! Code comes from the ROM alone: the address map of the hardware fails every other fetch, whatever the core does, and
//! so does this. What turns a boot is the release of the host.
//!
//! What it leaves out: interrupts; time (the engine answers at once, the clock goes on when it is read); accesses to
//! the host's memory that fail within it; requests in the mailbox, which come after a release; the PMP, which the
//! machines `rot` and `soc-1` do not have; lockstep; parts of words in registers other than the FIFO, which end in an
//! access fault here; ends of the watchdog of the bus.

mod devices;
mod engine;
mod registers;

use hartlock_regs::boot_sequencer::State;
use hartlock_verify::board::hartlock_soc as map;

use crate::code::Code;
use crate::hart::{Event, FETCH_FAULT, Hart, ILLEGAL};
use crate::instruction::{Instruction, Operation};
use crate::memory::read;
use crate::subject::{End, Place, Subject, step_until};
use devices::Devices;

/// Bytes of the boot ROM (`hw/soc/README.md`).
pub const ROM_SIZE: usize = 128 << 10;
/// Where the status of the engine is read.
pub const ENGINE_STATUS: u32 = registers::SHA2 as u32 + registers::sha2::STATUS;
/// Ibex fetches its first instruction after 32 vectors.
const RESET: u64 = registers::ROM as u64 + 0x80;
/// A base of vectors is a multiple of this (Ibex reference manual, `mtvec`).
const VECTORS: u64 = 0x100;

/// What cannot change, and the bundle as it is when reset ends.
#[derive(Debug)]
pub struct Storage {
    code: Code,
    rom: Vec<u8>,
    bundle: Vec<u8>,
}

impl Storage {
    /// A ROM, of which the first bytes are code, and a bundle in the host's memory.
    pub fn new(mut rom: Vec<u8>, code_len: usize, bundle: Vec<u8>) -> Self {
        rom.resize(ROM_SIZE, 0);
        let decode = |word, pc| Instruction::decode_rv32(word, pc as u32);
        let code = Code::decode(registers::ROM as u64, &rom[..code_len], decode);
        Self { code, rom, bundle }
    }
}

/// A root of trust that runs.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    hart: Hart,
    devices: Devices<'a>,
    code: &'a Code,
    executed: u64,
    last_wait: Option<u64>,
    fetched_from: u64,
}

impl<'a> Machine<'a> {
    /// After reset. Scratchpad and memory hold what an attacker left there.
    pub fn new(storage: &'a Storage) -> Self {
        Self {
            hart: Hart::new(0, RESET),
            devices: Devices::new(storage),
            code: &storage.code,
            executed: 0,
            last_wait: None,
            fetched_from: 0,
        }
    }

    /// What the boot sequencer was told, and the number of the reason.
    pub fn decision(&self) -> (State, u32) {
        self.devices.decision()
    }

    /// The address that the next instruction loads from or stores to, if it does; `None` if it is not of the code.
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
            // The instructions after the first wait run, as if it had ended for no reason.
            Event::Wait => {
                self.last_wait = Some(pc);
                None
            }
            Event::Protection | Event::Call => None,
        }
    }

    /// Enters the handler. A trap in the handler is a double fault, upon which the hardware keeps the host in reset.
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
        Some(End::Ran(Place::Host))
    }

    /// A fetch from somewhere else than the code.
    #[cold]
    fn fetch_elsewhere(&mut self) -> Option<End> {
        let pc = u64::from(self.hart.pc as u32);
        let half = |at| read::<2>(&self.devices.storage.rom, at);
        let Some(first) = half(pc) else { return self.trap(FETCH_FAULT, pc) };
        let word = (first | half(pc + 2).unwrap_or(0) << 16) as u32;
        if Instruction::decode_rv32(word, pc as u32).operation == Operation::Illegal {
            return self.trap(ILLEGAL, word.into());
        }
        self.fetched_from = pc;
        Some(End::Ran(Place::Constants))
    }
}

impl Subject for Machine<'_> {
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

    fn console(&self) -> String {
        // A chip has none.
        String::new()
    }

    fn skip(&mut self) -> bool {
        let found = self.code.at(self.hart.pc);
        if let Some(instruction) = found {
            self.hart.pc = self.hart.pc.wrapping_add(instruction.len.into());
        }
        found.is_some()
    }

    fn is_next_idle(&self) -> bool {
        self.code.at(self.hart.pc).is_some_and(|instruction| self.hart.is_idle(instruction))
    }

    fn follow(&mut self, leader: &mut Self) {
        self.hart.clone_from(&leader.hart);
        self.devices.follow(&mut leader.devices);
        self.executed = leader.executed;
        self.last_wait = leader.last_wait;
    }

    #[inline]
    fn step(&mut self) -> Option<End> {
        let pc = self.hart.pc;
        self.executed += 1;
        let Some(instruction) = self.code.at(pc) else { return self.fetch_elsewhere() };
        match self.hart.execute(instruction, &mut self.devices) {
            Ok(()) if self.devices.is_released => self.release(),
            Ok(()) => None,
            Err(event) => self.handle(pc, event),
        }
    }
}

#[cfg(test)]
mod tests;
