//! A model of QEMU's `virt` machine as ROM and loader use it: flash, disk, memory, console, clock and five
//! harts.
//!
//! The model does not implement interrupts that trap, flash commands, the interrupt controller, and devices that
//! the stages do not use. A store to flash has no effect. OpenSBI is not interpreted: the model answers the
//! loader's SBI calls and closes the memory regions that OpenSBI closes.

mod devices;
mod handover;
mod place;

use hartlock_maps::qemu_virt as map;

use crate::code::Code;
use crate::hart::{Event, FETCH_FAULT, FETCH_PAGE_FAULT, Hart, ILLEGAL};
use crate::instruction::{Instruction, Operation};
use crate::subject::{End, FaultMachine, MemoryKind, SharedTrace, step_until};
use devices::{AccessKind, BoardDevices};
pub use handover::Handover;

/// Number of harts of the board.
pub const HARTS: usize = map::BOARD.hart_count;
/// Maximum number of instructions that a parked hart executes from one `wfi` to the next.
const PATIENCE: u64 = 10_000;

/// Extension, function and error numbers of the SBI (§4, §8, §9, §10; errors in table 1).
mod sbi {
    pub const BASE: u64 = 0x10;
    pub const PROBE_EXTENSION: u64 = 3;
    pub const HSM: u64 = 0x48_534d;
    pub const HART_STOP: u64 = 1;
    pub const IPI: u64 = 0x73_5049;
    pub const SYSTEM_RESET: u64 = 0x5352_5354;
    pub const NOT_SUPPORTED: i64 = -2;
    pub const INVALID_PARAMETER: i64 = -3;
}

/// The constant part of a machine: contents of flash and disk, and the decoded code of the stages.
#[derive(Debug)]
pub struct BoardStorage {
    rom_code: Code,
    loader_code: Code,
    rom: Vec<u8>,
    bundle: Vec<u8>,
    disk: Vec<u8>,
    /// In a boot that is to be accepted: the values that the ROM hands over in the boot without a fault.
    handover: Option<Handover>,
}

impl BoardStorage {
    /// Makes storage from the contents of the two flash banks, in the form of QEMU's image files. Bytes of the
    /// first bank past the end of `rom` are erased (0xff).
    pub fn new(mut rom: Vec<u8>, bundle: Vec<u8>) -> Self {
        let code_len = map::ROM_CODE.size() as usize;
        rom.resize((map::ROOT_OF_TRUST.end - map::ROM_FLASH.start) as usize, 0xff);
        let rom_code = Code::decode(map::ROM_FLASH.start, &rom[..code_len], decode);
        let loader_code = Code::decode(map::LOADER.start, &[], decode);
        Self { rom_code, loader_code, rom, bundle, disk: vec![], handover: None }
    }

    /// Same as [`BoardStorage::new`], with a disk and with the code of the loader in the boot bundle.
    pub fn with_loader(rom: Vec<u8>, bundle: Vec<u8>, disk: Vec<u8>, code: &[u8]) -> Self {
        let loader_code = Code::decode(map::LOADER.start, code, decode);
        Self { loader_code, disk, ..Self::new(rom, bundle) }
    }

    /// Returns this storage with a bundle that is to be accepted: the ROM may enter OpenSBI with exactly these
    /// hand-over values.
    #[must_use]
    pub fn expecting_handover(self, handover: Handover) -> Self {
        Self { handover: Some(handover), ..self }
    }

    /// Returns true if the bundle is to be accepted.
    pub fn is_accepted(&self) -> bool {
        self.handover.is_some()
    }
}

/// Decodes an instruction for the board's harts, which are RV64.
fn decode(word: u32, _: u64) -> Instruction {
    Instruction::decode(word)
}

/// A running machine.
#[derive(Clone, Debug)]
pub struct BoardMachine<'a> {
    harts: [Hart; HARTS],
    /// Number of harts that exist.
    present: usize,
    devices: BoardDevices<'a>,
    code: &'a Code,
    executed: u64,
    last_wait: Option<u64>,
    is_code_executable: bool,
    fetched_from: u64,
}

impl<'a> BoardMachine<'a> {
    /// Makes a machine after reset. An attacker has prepared its memory: it is filled with instructions that do
    /// nothing. The harts other than the boot hart have run until they wait for an interrupt.
    pub fn new(storage: &'a BoardStorage) -> Self {
        let mut machine = Self::with_one_hart(storage);
        machine.present = HARTS;
        for other in 1..HARTS {
            let end = machine.run_other(other);
            assert_eq!(end, None, "hart {other} does not wait");
        }
        machine
    }

    /// Same as [`BoardMachine::new`], with the boot hart only.
    pub fn with_one_hart(storage: &'a BoardStorage) -> Self {
        let harts = std::array::from_fn(|number| Hart::new(number as u64, map::ROM_FLASH.start));
        Self {
            harts,
            present: 1,
            devices: BoardDevices::new(storage),
            code: &storage.rom_code,
            executed: 0,
            last_wait: None,
            is_code_executable: true,
            fetched_from: 0,
        }
    }

    /// Ends the ROM and starts the loader. The boot hart must be about to execute the first instruction of
    /// OpenSBI. OpenSBI is left out, and executed instructions are counted from the loader's first instruction.
    pub fn enter_loader(&mut self) {
        let storage = self.devices.storage;
        self.code = &storage.loader_code;
        self.devices.enter_supervisor(&[map::OPENSBI, self.code.region()]);
        self.harts[0].enter_supervisor(map::LOADER.start, map::BOOT_FDT.start);
        self.is_code_executable = true;
        self.last_wait = None;
        self.executed = 0;
    }

    /// Returns the boot hart.
    pub fn hart(&self) -> &Hart {
        &self.harts[0]
    }

    /// Sets x0 to x31 and the program counter of the boot hart.
    pub fn set_registers(&mut self, registers: [u64; 33]) {
        let [x @ .., pc] = registers;
        self.harts[0].x = x;
        self.harts[0].pc = pc;
    }

    /// Returns the hand-over values at the first instruction of OpenSBI.
    pub fn handover(&self) -> Handover {
        Handover::of(&self.harts[0].x, |region| self.devices.memory(region))
    }

    #[inline]
    fn instruction(&self, pc: u64) -> Option<Instruction> {
        self.code.at(pc).filter(|_| self.is_code_executable)
    }

    #[cold]
    fn handle(&mut self, pc: u64, event: Event) -> Option<End> {
        match event {
            Event::Trap(cause, value) => self.harts[0].trap(cause, value),
            Event::Protection => {
                let (hart, start) = (&self.harts[0], self.code.start);
                self.devices.set_paging(hart.satp());
                self.is_code_executable = hart.pmp().is_executable(start)
                    && self.devices.is_mapped(start, AccessKind::Fetch);
            }
            Event::Call => return self.call(pc),
            Event::Wait => {
                let enabled = self.harts[0].enabled();
                if !self.devices.wait(0, enabled) {
                    // After the first `wfi` the next instructions are executed, as if it had ended without an
                    // interrupt (Privileged Architecture §3.3.3 permits that). The second `wfi` at the same
                    // address ends the boot.
                    if self.last_wait == Some(pc) {
                        return Some(End::Stopped);
                    }
                    self.last_wait = Some(pc);
                }
            }
        }
        None
    }

    /// Handles a call to OpenSBI (RISC-V SBI specification v2.0). The loader has one hart only, so starting
    /// another one fails, and it asks for extensions that the project's OpenSBI does not have.
    #[cold]
    fn call(&mut self, pc: u64) -> Option<End> {
        let hart = &mut self.harts[0];
        let (extension, function) = (hart.x[17], hart.x[16]);
        hart.x[11] = 0;
        hart.x[10] = match (extension, function) {
            (sbi::HSM, sbi::HART_STOP) | (sbi::SYSTEM_RESET, _) => return Some(End::Stopped),
            (sbi::HSM, _) => sbi::INVALID_PARAMETER as u64,
            (sbi::BASE, sbi::PROBE_EXTENSION) | (sbi::IPI, _) => 0,
            _ => sbi::NOT_SUPPORTED as u64,
        };
        hart.pc = pc.wrapping_add(4);
        None
    }

    #[cold]
    fn run_woken(&mut self) -> Option<End> {
        let woken = std::mem::take(&mut self.devices.woken);
        (1..self.present)
            .filter(|other| woken & (1 << other) != 0)
            .find_map(|other| self.run_other(other))
    }

    /// Lets another hart run until it waits.
    fn run_other(&mut self, other: usize) -> Option<End> {
        for _ in 0..PATIENCE {
            let pc = self.harts[other].pc;
            let is_executable = self.harts[other].pmp().is_executable(pc);
            let Some(instruction) = self.code.at(pc).filter(|_| is_executable) else {
                if let Some(end) = self.fetch_elsewhere(other) {
                    return Some(end);
                }
                continue;
            };
            match self.harts[other].execute(instruction, &mut self.devices) {
                Ok(()) | Err(Event::Protection) => {}
                Err(Event::Trap(cause, value)) => self.harts[other].trap(cause, value),
                // The other harts run in M-mode only, where `ecall` is not a call to OpenSBI.
                Err(Event::Call) => return None,
                Err(Event::Wait) => {
                    let enabled = self.harts[other].enabled();
                    if !self.devices.wait(other, enabled) {
                        // The hart repeats the `wfi`, because an interrupt can already be pending when it runs
                        // again.
                        self.harts[other].pc = pc;
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Handles a fetch from an address outside the stage's code: it is a trap, or it ends the boot.
    #[cold]
    fn fetch_elsewhere(&mut self, hart: usize) -> Option<End> {
        let pc = self.harts[hart].pc;
        let is_executable = self.harts[hart].pmp().is_executable(pc);
        if hart == 0 && !self.devices.is_mapped(pc, AccessKind::Fetch) {
            self.harts[hart].trap(FETCH_PAGE_FAULT, pc);
            return None;
        }
        let found = self.devices.fetch(pc).filter(|_| is_executable);
        let Some((place, instruction)) = found else {
            self.harts[hart].trap(FETCH_FAULT, pc);
            return None;
        };
        if instruction.operation == Operation::Illegal {
            self.harts[hart].trap(ILLEGAL, 0);
            return None;
        }
        self.fetched_from = pc;
        let accepted = self.devices.storage.handover.as_ref().filter(|_| pc == map::OPENSBI.start);
        Some(match accepted {
            Some(expected) if self.handover().is_harmless(expected) => End::Stopped,
            Some(_) => End::Ran(MemoryKind::Handover),
            None => End::Ran(place),
        })
    }
}

impl FaultMachine for BoardMachine<'_> {
    fn run(&mut self, until: u64) -> End {
        step_until(self, until)
    }

    fn pc(&self) -> u64 {
        self.harts[0].pc
    }

    fn executed(&self) -> u64 {
        self.executed
    }

    fn fetched_from(&self) -> u64 {
        self.fetched_from
    }

    fn console(&self) -> String {
        String::from_utf8_lossy(&self.devices.console).into_owned()
    }

    fn skip(&mut self) -> bool {
        let pc = self.harts[0].pc;
        let found = self.instruction(pc);
        if let Some(instruction) = found {
            self.harts[0].pc = pc.wrapping_add(instruction.len.into());
        }
        found.is_some()
    }

    fn is_next_idle(&self) -> bool {
        let hart = &self.harts[0];
        self.instruction(hart.pc).is_some_and(|instruction| hart.is_idle(instruction))
    }

    fn trace(&mut self) -> Option<SharedTrace> {
        Some(self.devices.trace())
    }

    fn next_store(&self) -> Option<(u64, u64)> {
        let hart = &self.harts[0];
        let (address, len) = hart.store_of(self.instruction(hart.pc)?)?;
        let offset = address.wrapping_sub(map::RAM.start);
        (offset < map::RAM.size()).then_some((offset, len))
    }

    fn follow(&mut self, leader: &mut Self) {
        self.harts.clone_from(&leader.harts);
        self.devices.follow(&mut leader.devices);
        self.executed = leader.executed;
        self.last_wait = leader.last_wait;
        self.code = leader.code;
        self.is_code_executable = leader.is_code_executable;
    }

    /// Executes one instruction of the boot hart, and then runs the harts that it woke.
    #[inline]
    fn step(&mut self) -> Option<End> {
        let pc = self.harts[0].pc;
        self.executed += 1;
        if let Some(instruction) = self.instruction(pc) {
            match self.harts[0].execute(instruction, &mut self.devices) {
                Ok(()) if self.devices.woken == 0 && !self.devices.is_breached() => return None,
                Ok(()) => {}
                Err(event) => return self.handle(pc, event),
            }
            if self.devices.is_breached() {
                self.fetched_from = pc;
                return Some(End::Ran(MemoryKind::ChangedCode));
            }
            return self.run_woken();
        }
        self.fetch_elsewhere(0)
    }
}

#[cfg(test)]
mod tests;
