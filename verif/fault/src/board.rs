//! QEMU's `virt` machine as ROM and loader see it: flash, disk, memory, console, clock and five harts.
//!
//! What it leaves out: interrupts that are taken, flash commands, the interrupt controller and every device
//! that the stages do not use. A store to flash has no effect. OpenSBI is not interpreted: what the loader
//! asks of it is answered, and what it closes is closed.

mod devices;
mod handover;
mod place;

use hartlock_verify::board::qemu_virt as map;

use crate::code::Code;
use crate::hart::{Event, FETCH_FAULT, FETCH_PAGE_FAULT, Hart, ILLEGAL};
use crate::instruction::{Instruction, Operation};
use crate::subject::{End, Place, SharedTrace, Subject, step_until};
use devices::{Access, Devices};
pub use handover::Handover;

/// Harts of the board.
pub const HARTS: usize = map::BOARD.hart_count;
/// More than a parked hart runs from one wait to the next.
const PATIENCE: u64 = 10_000;

/// Numbers of the SBI (§8, §9, §10, and table 1 for errors).
mod sbi {
    pub const HSM: u64 = 0x48_534d;
    pub const HART_STOP: u64 = 1;
    pub const IPI: u64 = 0x73_5049;
    pub const SYSTEM_RESET: u64 = 0x5352_5354;
    pub const NOT_SUPPORTED: i64 = -2;
    pub const INVALID_PARAMETER: i64 = -3;
}

/// What cannot change: the contents of flash and disk, and with them the code of the stages.
#[derive(Debug)]
pub struct Storage {
    rom_code: Code,
    loader_code: Code,
    rom: Vec<u8>,
    bundle: Vec<u8>,
    disk: Vec<u8>,
    /// In a boot that is to be accepted: what the ROM passes on without a fault.
    handover: Option<Handover>,
}

impl Storage {
    /// The two banks, as files for QEMU have them. What the first has no bytes for is erased.
    pub fn new(mut rom: Vec<u8>, bundle: Vec<u8>) -> Self {
        let code_len = map::ROM_CODE.size() as usize;
        rom.resize((map::ROOT_OF_TRUST.end - map::ROM_FLASH.start) as usize, 0xff);
        let rom_code = Code::decode(map::ROM_FLASH.start, &rom[..code_len], decode);
        let loader_code = Code::decode(map::LOADER.start, &[], decode);
        Self { rom_code, loader_code, rom, bundle, disk: vec![], handover: None }
    }

    /// The same with a disk, and the code of the loader that the boot bundle carries.
    pub fn with_loader(rom: Vec<u8>, bundle: Vec<u8>, disk: Vec<u8>, code: &[u8]) -> Self {
        let loader_code = Code::decode(map::LOADER.start, code, decode);
        Self { loader_code, disk, ..Self::new(rom, bundle) }
    }

    /// The same, whose bundle is accepted: OpenSBI may run, with this and nothing else.
    #[must_use]
    pub fn accepted_with(self, handover: Handover) -> Self {
        Self { handover: Some(handover), ..self }
    }

    /// Whether the bundle is accepted.
    pub fn is_accepted(&self) -> bool {
        self.handover.is_some()
    }
}

/// The harts are RV64.
fn decode(word: u32, _: u64) -> Instruction {
    Instruction::decode(word)
}

/// A machine that runs.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    harts: [Hart; HARTS],
    /// Harts that are there.
    present: usize,
    devices: Devices<'a>,
    code: &'a Code,
    executed: u64,
    last_wait: Option<u64>,
    is_code_executable: bool,
    fetched_from: u64,
}

impl<'a> Machine<'a> {
    /// A machine after reset, whose memory an attacker has prepared: it is full of instructions that do
    /// nothing. The other harts wait for their call.
    pub fn new(storage: &'a Storage) -> Self {
        let mut machine = Self::alone(storage);
        machine.present = HARTS;
        for other in 1..HARTS {
            let end = machine.run_other(other);
            assert_eq!(end, None, "hart {other} does not wait");
        }
        machine
    }

    /// The same without the other harts.
    pub fn alone(storage: &'a Storage) -> Self {
        let harts = std::array::from_fn(|number| Hart::new(number as u64, map::ROM_FLASH.start));
        Self {
            harts,
            present: 1,
            devices: Devices::new(storage),
            code: &storage.rom_code,
            executed: 0,
            last_wait: None,
            is_code_executable: true,
            fetched_from: 0,
        }
    }

    /// Where the ROM ends: the boot hart is about to execute the first instruction of OpenSBI. What OpenSBI does
    /// is left out, and the loader begins; instructions are counted from here on.
    pub fn enter_loader(&mut self) {
        let storage = self.devices.storage;
        self.code = &storage.loader_code;
        self.devices.enter_supervisor(&[map::OPENSBI, self.code.region()]);
        self.harts[0].enter_supervisor(map::LOADER.start, map::BOOT_FDT.start);
        self.is_code_executable = true;
        self.last_wait = None;
        self.executed = 0;
    }

    /// The boot hart.
    pub fn hart(&self) -> &Hart {
        &self.harts[0]
    }

    /// Gives the boot hart the registers of another machine.
    pub fn set_registers(&mut self, registers: [u64; 33]) {
        let [x @ .., pc] = registers;
        self.harts[0].x = x;
        self.harts[0].pc = pc;
    }

    /// What the ROM has passed on, at the first instruction of OpenSBI.
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
                self.is_code_executable =
                    hart.pmp().is_executable(start) && self.devices.is_mapped(start, Access::Fetch);
            }
            Event::Call => return self.call(pc),
            Event::Wait => {
                let enabled = self.harts[0].enabled();
                if !self.devices.wait(0, enabled) {
                    // The instructions after the first wait run, as if it had ended for no reason.
                    if self.last_wait == Some(pc) {
                        return Some(End::Stopped);
                    }
                    self.last_wait = Some(pc);
                }
            }
        }
        None
    }

    /// A call into OpenSBI (RISC-V SBI specification v2.0): no other hart can be started, and there is none.
    #[cold]
    fn call(&mut self, pc: u64) -> Option<End> {
        let hart = &mut self.harts[0];
        let (extension, function) = (hart.x[17], hart.x[16]);
        hart.x[11] = 0;
        hart.x[10] = match (extension, function) {
            (sbi::HSM, sbi::HART_STOP) | (sbi::SYSTEM_RESET, _) => return Some(End::Stopped),
            (sbi::HSM, _) => sbi::INVALID_PARAMETER as u64,
            (sbi::IPI, _) => 0,
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
                // It is in M-mode as long as it runs.
                Err(Event::Call) => return None,
                Err(Event::Wait) => {
                    let enabled = self.harts[other].enabled();
                    if !self.devices.wait(other, enabled) {
                        // It tests again, for an interrupt that came before.
                        self.harts[other].pc = pc;
                        return None;
                    }
                }
            }
        }
        None
    }

    /// A fetch from somewhere else than the stage's code: a trap, or the end of the boot.
    #[cold]
    fn fetch_elsewhere(&mut self, hart: usize) -> Option<End> {
        let pc = self.harts[hart].pc;
        let is_executable = self.harts[hart].pmp().is_executable(pc);
        if hart == 0 && !self.devices.is_mapped(pc, Access::Fetch) {
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
            Some(_) => End::Ran(Place::Handover),
            None => End::Ran(place),
        })
    }
}

impl Subject for Machine<'_> {
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

    /// Executes one instruction of the boot hart, and lets those run on that it wakes.
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
                return Some(End::Ran(Place::ChangedCode));
            }
            return self.run_woken();
        }
        self.fetch_elsewhere(0)
    }
}

#[cfg(test)]
mod tests;
