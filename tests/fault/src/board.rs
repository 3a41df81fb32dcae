//! QEMU's `virt` machine as the ROM sees it: flash, memory, console, clock and five harts.
//!
//! What it leaves out: interrupts that are taken, modes other than M, flash commands, the
//! interrupt controller and every device that the ROM does not use. A store to flash has no effect.

mod devices;
mod place;

use hartlock_verify::board::qemu_virt as map;

use crate::hart::{Event, FETCH_FAULT, Hart, ILLEGAL};
use crate::instruction::{Instruction, Operation};
use crate::memory::read;
use devices::Devices;
pub use place::Place;

/// Harts of the board.
pub const HARTS: usize = map::BOARD.hart_count;
/// More than a parked hart runs from one wait to the next.
const PATIENCE: u64 = 10_000;

/// What cannot change: the contents of flash.
#[derive(Debug)]
pub struct Flash {
    code: Vec<Instruction>,
    rom: Vec<u8>,
    bundle: Vec<u8>,
}

impl Flash {
    /// The two banks, as files for QEMU have them. What the first has no bytes for is erased.
    pub fn new(mut rom: Vec<u8>, bundle: Vec<u8>) -> Self {
        let code_len = map::ROM_CODE.size() as usize;
        rom.resize((map::ROOT_OF_TRUST.end - map::ROM_FLASH.start) as usize, 0xff);
        let halves = (0..code_len as u64).step_by(2);
        let word = |offset| read::<4>(&rom, offset).unwrap_or(0) as u32;
        let code = halves.map(|offset| Instruction::decode(word(offset))).collect();
        Self { code, rom, bundle }
    }
}

/// How a boot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The boot hart waits for something that never comes.
    Stopped,
    /// An instruction was fetched from a place of this kind.
    Ran(Place),
    /// It had not ended after as many instructions as it was given.
    Astray,
}

/// A machine that runs.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    harts: [Hart; HARTS],
    devices: Devices<'a>,
    executed: u64,
    last_wait: Option<u64>,
    is_rom_executable: bool,
    fetched_from: u64,
}

impl<'a> Machine<'a> {
    /// A machine after reset, whose memory an attacker has prepared: it is full of instructions that do
    /// nothing. The other harts wait for their call.
    pub fn new(flash: &'a Flash) -> Self {
        let harts = std::array::from_fn(|number| Hart::new(number as u64, map::ROM_FLASH.start));
        let devices = Devices::new(flash);
        let mut machine = Self {
            harts,
            devices,
            executed: 0,
            last_wait: None,
            is_rom_executable: true,
            fetched_from: 0,
        };
        for other in 1..HARTS {
            let end = machine.run_other(other);
            assert_eq!(end, None, "hart {other} does not wait");
        }
        machine
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

    /// Instructions that the boot hart has executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Where the last instruction that is not the ROM's was fetched from.
    pub fn fetched_from(&self) -> u64 {
        self.fetched_from
    }

    /// What was printed.
    pub fn console(&self) -> String {
        String::from_utf8_lossy(&self.devices.console).into_owned()
    }

    /// Leaves out the next instruction; `false` if there is none to leave out.
    pub fn skip(&mut self) -> bool {
        let pc = self.harts[0].pc;
        let found = self.rom_instruction(pc);
        if let Some(instruction) = found {
            self.harts[0].pc = pc.wrapping_add(instruction.len.into());
        }
        found.is_some()
    }

    /// Makes this machine equal to another one. Memory is copied where either changed since the last call.
    pub fn follow(&mut self, leader: &mut Self) {
        self.harts.clone_from(&leader.harts);
        self.devices.follow(&mut leader.devices);
        self.executed = leader.executed;
        self.last_wait = leader.last_wait;
        self.is_rom_executable = leader.is_rom_executable;
    }

    /// Runs until the boot ends, or until so many instructions were executed since reset.
    pub fn run(&mut self, until: u64) -> End {
        while self.executed < until {
            if let Some(end) = self.step() {
                return end;
            }
        }
        End::Astray
    }

    /// Executes one instruction of the boot hart, and lets those run on that it wakes.
    #[inline]
    pub fn step(&mut self) -> Option<End> {
        let pc = self.harts[0].pc;
        self.executed += 1;
        if let Some(instruction) = self.rom_instruction(pc) {
            match self.harts[0].execute(instruction, &mut self.devices) {
                Ok(()) if self.devices.woken == 0 => return None,
                Ok(()) => {}
                Err(event) => return self.handle(pc, event),
            }
            return self.run_woken();
        }
        self.fetch_elsewhere(0)
    }

    #[inline]
    fn rom_instruction(&self, pc: u64) -> Option<Instruction> {
        let half = pc.wrapping_sub(map::ROM_FLASH.start) / 2;
        let found = self.devices.flash.code.get(usize::try_from(half).ok()?).copied();
        found.filter(|_| self.is_rom_executable)
    }

    #[cold]
    fn handle(&mut self, pc: u64, event: Event) -> Option<End> {
        match event {
            Event::Trap(cause, value) => self.harts[0].trap(cause, value),
            Event::Protection => {
                self.is_rom_executable = self.harts[0].pmp().is_executable(map::ROM_FLASH.start);
            }
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

    #[cold]
    fn run_woken(&mut self) -> Option<End> {
        let woken = std::mem::take(&mut self.devices.woken);
        (1..HARTS).filter(|other| woken & (1 << other) != 0).find_map(|other| self.run_other(other))
    }

    /// Lets another hart run until it waits.
    fn run_other(&mut self, other: usize) -> Option<End> {
        for _ in 0..PATIENCE {
            let pc = self.harts[other].pc;
            let half = (pc.wrapping_sub(map::ROM_FLASH.start) / 2) as usize;
            let is_executable = self.harts[other].pmp().is_executable(pc);
            let Some(instruction) =
                self.devices.flash.code.get(half).copied().filter(|_| is_executable)
            else {
                if let Some(end) = self.fetch_elsewhere(other) {
                    return Some(end);
                }
                continue;
            };
            match self.harts[other].execute(instruction, &mut self.devices) {
                Ok(()) | Err(Event::Protection) => {}
                Err(Event::Trap(cause, value)) => self.harts[other].trap(cause, value),
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

    /// A fetch from somewhere else than the ROM's code: a trap, or the end of the boot.
    #[cold]
    fn fetch_elsewhere(&mut self, hart: usize) -> Option<End> {
        let pc = self.harts[hart].pc;
        let is_executable = self.harts[hart].pmp().is_executable(pc);
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
        Some(End::Ran(place))
    }
}

#[cfg(test)]
mod tests;
