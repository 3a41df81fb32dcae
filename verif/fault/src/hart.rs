//! A hart in M-mode or in S-mode: its registers, and the effect of each instruction. A hart of RV32 holds
//! sign-extended values, and its addresses are their lower halves.
//!
//! The hart takes no interrupts, and no instruction changes its mode: ROM and loader run with interrupts disabled,
//! and OpenSBI between them is not interpreted. The bus implements paging.

mod arithmetic;
mod csr;
mod pmp;

use crate::instruction::{Instruction, Operation};
use csr::Csrs;
pub use pmp::Pmp;
use pmp::PmpAccess;

/// The environment of a hart: loads, stores and counters.
pub trait Bus {
    /// Reads `N` bytes, zero-extended. `None` is an access fault.
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64>;

    /// Writes the lowest `N` bytes of `value`. `None` is an access fault.
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()>;

    /// Reads a counter: `cycle`, `time` or `instret`.
    fn counter(&mut self) -> u64;

    /// Reads the upper half of a counter, which only RV32 has as a separate register.
    fn counter_high(&mut self) -> Option<u64> {
        None
    }

    /// Returns the pending interrupts of a hart, in the format of `mip`.
    fn pending(&self, hart: u64) -> u64;
}

/// An event after which the hart does not continue with the next instruction, or that the machine must handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An exception, with `mcause` and `mtval`.
    Trap(u64, u64),
    /// The instruction `wfi`.
    Wait,
    /// The instruction `ecall` in S-mode.
    Call,
    /// A change of PMP registers or of `satp`.
    Protection,
}

/// Exception code of `mcause` (RISC-V Privileged Architecture §3.1.15): instruction access fault.
pub const FETCH_FAULT: u64 = 1;
/// Exception code: instruction page fault.
pub const FETCH_PAGE_FAULT: u64 = 12;
/// Exception code: illegal instruction.
pub const ILLEGAL: u64 = 2;
const BREAKPOINT: u64 = 3;
const LOAD_FAULT: u64 = 5;
const STORE_FAULT: u64 = 7;
const ECALL: u64 = 11;

/// Privilege mode of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// M-mode.
    Machine,
    /// S-mode.
    Supervisor,
}

/// Registers of a hart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hart {
    /// Integer registers x0 to x31.
    pub x: [u64; 32],
    /// Address of the next instruction.
    pub pc: u64,
    mode: Mode,
    number: u64,
    csrs: Csrs,
    reservation: Option<u64>,
}

impl Hart {
    /// Makes a hart after reset.
    pub fn new(number: u64, pc: u64) -> Self {
        Self {
            x: [0; 32],
            pc,
            mode: Mode::Machine,
            number,
            csrs: Csrs::default(),
            reservation: None,
        }
    }

    /// Enters S-mode as OpenSBI does, with the hart number in a0 and `a1` in a1.
    pub fn enter_supervisor(&mut self, pc: u64, a1: u64) {
        self.x = [0; 32];
        (self.x[10], self.x[11]) = (self.number, a1);
        self.pc = pc;
        self.mode = Mode::Supervisor;
        self.reservation = None;
    }

    /// Returns the interrupts that end a `wfi`, in the format of `mie`.
    pub fn enabled(&self) -> u64 {
        match self.mode {
            Mode::Machine => self.csrs.mie,
            Mode::Supervisor => self.csrs.supervisor.sie,
        }
    }

    /// Returns the PMP registers.
    pub fn pmp(&self) -> &Pmp {
        &self.csrs.pmp
    }

    /// Returns `satp`: root page table and mode.
    pub fn satp(&self) -> u64 {
        self.csrs.supervisor.satp
    }

    /// Returns true if the hart entered the trap handler of M-mode and has not left it.
    pub fn is_in_handler(&self) -> bool {
        self.csrs.is_in_handler()
    }

    /// Returns true if the only effect of an instruction is to advance the program counter by its own length, so
    /// that skipping it equals executing it. Instructions that access memory, devices or CSRs never count.
    pub fn is_idle(&self, instruction: Instruction) -> bool {
        let mut executed = self.clone();
        let is_pure = instruction.is_pure() && executed.execute(instruction, &mut Nothing).is_ok();
        executed.pc = executed.pc.wrapping_sub(instruction.len.into());
        is_pure && executed == *self
    }

    /// Returns address and length of the store if the instruction is a plain store.
    pub fn store_of(&self, it: Instruction) -> Option<(u64, u64)> {
        let len = match it.operation {
            Operation::Sb => 1,
            Operation::Sh => 2,
            Operation::Sw => 4,
            Operation::Sd => 8,
            _ => return None,
        };
        Some((self.x[usize::from(it.rs1)].wrapping_add(it.immediate as u64), len))
    }

    /// Enters the trap handler.
    pub fn trap(&mut self, cause: u64, value: u64) {
        let vector = match self.mode {
            Mode::Machine => {
                self.csrs.enter_trap(self.pc, cause, value);
                self.csrs.mtvec
            }
            // Traps that OpenSBI does not delegate are redirected to S-mode by OpenSBI.
            Mode::Supervisor => self.csrs.supervisor.enter_trap(self.pc, cause, value),
        };
        self.pc = vector & !3;
    }

    /// Executes an instruction.
    ///
    /// # Errors
    /// Returns the event that the machine must handle. After a trap the registers are unchanged.
    #[inline]
    pub fn execute(&mut self, it: Instruction, bus: &mut impl Bus) -> Result<(), Event> {
        use Operation as O;
        let next = self.pc.wrapping_add(it.len.into());
        let immediate = it.immediate as u64;
        let a = self.x[usize::from(it.rs1 & 31)];
        let b = self.x[usize::from(it.rs2 & 31)];
        let address = a.wrapping_add(immediate);
        let target = self.pc.wrapping_add(immediate);
        let branch = |is_taken: bool| if is_taken { target } else { next };
        let (value, pc) = match it.operation {
            O::Beq => (None, branch(a == b)),
            O::Bne => (None, branch(a != b)),
            O::Blt => (None, branch((a as i64) < b as i64)),
            O::Bge => (None, branch(a as i64 >= b as i64)),
            O::Bltu => (None, branch(a < b)),
            O::Bgeu => (None, branch(a >= b)),
            O::Jal => (Some(next), target),
            O::Jalr => (Some(next), address & !1),
            O::Auipc => (Some(target), next),
            O::Lb => (Some(self.load::<1>(bus, address)? as i8 as u64), next),
            O::Lh => (Some(self.load::<2>(bus, address)? as i16 as u64), next),
            O::Lw => (Some(self.load::<4>(bus, address)? as i32 as u64), next),
            O::Lbu => (Some(self.load::<1>(bus, address)?), next),
            O::Lhu => (Some(self.load::<2>(bus, address)?), next),
            O::Lwu => (Some(self.load::<4>(bus, address)?), next),
            O::Ld => (Some(self.load::<8>(bus, address)?), next),
            O::Sb => (self.store::<1>(bus, address, b)?, next),
            O::Sh => (self.store::<2>(bus, address, b)?, next),
            O::Sw => (self.store::<4>(bus, address, b)?, next),
            O::Sd => (self.store::<8>(bus, address, b)?, next),
            O::Fence => (None, next),
            O::Csrrw | O::Csrrs | O::Csrrc | O::Csrrwi | O::Csrrsi | O::Csrrci => {
                return self.access_csr(it, a, next, bus);
            }
            O::Mret if self.mode == Mode::Supervisor => return Err(Event::Trap(ILLEGAL, 0)),
            O::Mret => (None, self.csrs.leave_trap()),
            O::Wfi => {
                self.pc = next;
                return Err(Event::Wait);
            }
            O::Ecall if self.mode == Mode::Supervisor => return Err(Event::Call),
            O::Ecall => return Err(Event::Trap(ECALL, 0)),
            O::Ebreak => return Err(Event::Trap(BREAKPOINT, self.pc)),
            O::Illegal => return Err(Event::Trap(ILLEGAL, 0)),
            O::LrW | O::LrD | O::ScW | O::ScD | O::AmoW | O::AmoD => {
                (Some(self.atomic(it, a, b, bus)?), next)
            }
            operation => (Some(arithmetic::result(operation, a, b.wrapping_add(immediate))), next),
        };
        if let Some(value) = value {
            self.x[usize::from(it.rd & 31)] = value;
            self.x[0] = 0;
        }
        self.pc = pc;
        Ok(())
    }

    #[inline]
    fn load<const N: usize>(&self, bus: &mut impl Bus, address: u64) -> Result<u64, Event> {
        if self.csrs.pmp.restricts_data() && !self.csrs.pmp.allows(address, PmpAccess::Read) {
            return Err(Event::Trap(LOAD_FAULT, address));
        }
        bus.load::<N>(address).ok_or(Event::Trap(LOAD_FAULT, address))
    }

    #[inline]
    fn store<const N: usize>(
        &self,
        bus: &mut impl Bus,
        address: u64,
        value: u64,
    ) -> Result<Option<u64>, Event> {
        if self.csrs.pmp.restricts_data() && !self.csrs.pmp.allows(address, PmpAccess::Write) {
            return Err(Event::Trap(STORE_FAULT, address));
        }
        bus.store::<N>(address, value).ok_or(Event::Trap(STORE_FAULT, address))?;
        Ok(None)
    }

    /// Executes load-reserved, store-conditional and read-modify-write instructions. Harts do not run at the same
    /// time here, so only its own store-conditional clears a reservation.
    #[cold]
    fn atomic(
        &mut self,
        it: Instruction,
        address: u64,
        b: u64,
        bus: &mut impl Bus,
    ) -> Result<u64, Event> {
        use Operation as O;
        let is_word = matches!(it.operation, O::LrW | O::ScW | O::AmoW);
        let size = if is_word { 4 } else { 8 };
        if !address.is_multiple_of(size) {
            return Err(Event::Trap(STORE_FAULT, address));
        }
        let read = |bus: &mut _| {
            if is_word {
                self.load::<4>(bus, address).map(|value| value as i32 as u64)
            } else {
                self.load::<8>(bus, address)
            }
        };
        let write = |bus: &mut _, value| {
            if is_word {
                self.store::<4>(bus, address, value)
            } else {
                self.store::<8>(bus, address, value)
            }
        };
        match it.operation {
            O::LrW | O::LrD => {
                let value = read(bus)?;
                self.reservation = Some(address);
                Ok(value)
            }
            O::ScW | O::ScD => {
                if self.reservation != Some(address) {
                    return Ok(1);
                }
                write(bus, b)?;
                self.reservation = None;
                Ok(0)
            }
            _ => {
                let old = read(bus)?;
                let b = if is_word { b as i32 as u64 } else { b };
                write(bus, arithmetic::atomic(it.immediate, old, b))?;
                Ok(old)
            }
        }
    }

    #[cold]
    fn access_csr(
        &mut self,
        it: Instruction,
        a: u64,
        next: u64,
        bus: &mut impl Bus,
    ) -> Result<(), Event> {
        use Operation as O;
        let number = it.immediate as u32 & 0xfff;
        let illegal = Event::Trap(ILLEGAL, 0);
        // Bits 9 and 8 of a CSR number are the lowest mode that may access it (§2.1).
        let is_machine_only = number >> 8 & 3 == 3;
        if self.mode == Mode::Supervisor && is_machine_only {
            return Err(illegal);
        }
        let old = match number {
            csr::CYCLE..=csr::INSTRET | csr::MCYCLE | csr::MINSTRET => bus.counter(),
            csr::MCYCLEH | csr::MINSTRETH => bus.counter_high().ok_or(illegal)?,
            csr::MIP => bus.pending(self.number),
            csr::MHARTID => self.number,
            _ => self.csrs.read(number).ok_or(illegal)?,
        };
        let is_immediate = matches!(it.operation, O::Csrrwi | O::Csrrsi | O::Csrrci);
        let operand = if is_immediate { it.rs1.into() } else { a };
        let written = match it.operation {
            O::Csrrw | O::Csrrwi => Some(operand),
            // With source register x0 the CSR is not written (Unprivileged ISA §6.1).
            _ if it.rs1 == 0 => None,
            O::Csrrs | O::Csrrsi => Some(old | operand),
            _ => Some(old & !operand),
        };
        // The two highest bits of a read-only CSR's number are set.
        if written.is_some() && number >> 10 == 3 {
            return Err(illegal);
        }
        self.x[usize::from(it.rd & 31)] = old;
        self.x[0] = 0;
        self.pc = next;
        if let Some(value) = written
            && self.csrs.write(number, value)
        {
            return Err(Event::Protection);
        }
        Ok(())
    }
}

/// A bus without devices.
struct Nothing;

impl Bus for Nothing {
    fn load<const N: usize>(&mut self, _: u64) -> Option<u64> {
        None
    }

    fn store<const N: usize>(&mut self, _: u64, _: u64) -> Option<()> {
        None
    }

    fn counter(&mut self) -> u64 {
        0
    }

    fn pending(&self, _: u64) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests;
