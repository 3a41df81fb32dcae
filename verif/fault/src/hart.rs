//! A hart in M-mode or in S-mode: registers, and what each instruction does to them. One of RV32 holds sign-extended
//! values, and its addresses are the lower halves.
//!
//! It takes no interrupt and changes its mode by no instruction: the ROM and the loader run with interrupts
//! off, and OpenSBI between them is not interpreted. Pages are the bus's business.

mod arithmetic;
mod csr;
mod pmp;

use crate::instruction::{Instruction, Operation};
use csr::Csrs;
use pmp::Access;
pub use pmp::Pmp;

/// What a hart reaches through loads and stores, and what tells it the time.
pub trait Bus {
    /// Reads `N` bytes, zero-extended; `None` is an access fault.
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64>;

    /// Writes the lowest `N` bytes.
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()>;

    /// Reads a counter: `cycle`, `time` or `instret`.
    fn counter(&mut self) -> u64;

    /// Reads the upper half of one, which RV32 alone has a register for.
    fn counter_high(&mut self) -> Option<u64> {
        None
    }

    /// Interrupts that are pending for a hart, as in `mip`.
    fn pending(&self, hart: u64) -> u64;
}

/// Why the hart does not simply go on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An exception, with `mcause` and `mtval`.
    Trap(u64, u64),
    /// `wfi`.
    Wait,
    /// `ecall` in S-mode.
    Call,
    /// Physical memory protection or paging was changed.
    Protection,
}

/// Codes of `mcause` (RISC-V Privileged Architecture §3.1.15).
pub const FETCH_FAULT: u64 = 1;
/// A page that is not executable.
pub const FETCH_PAGE_FAULT: u64 = 12;
/// Illegal instruction.
pub const ILLEGAL: u64 = 2;
const BREAKPOINT: u64 = 3;
const LOAD_FAULT: u64 = 5;
const STORE_FAULT: u64 = 7;
const ECALL: u64 = 11;

/// The privilege of a hart.
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
    /// x0 to x31.
    pub x: [u64; 32],
    /// Address of the next instruction.
    pub pc: u64,
    mode: Mode,
    number: u64,
    csrs: Csrs,
    reservation: Option<u64>,
}

impl Hart {
    /// A hart after reset.
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

    /// Enters S-mode as OpenSBI does: the number of the hart is in a0, an address in a1.
    pub fn enter_supervisor(&mut self, pc: u64, a1: u64) {
        self.x = [0; 32];
        (self.x[10], self.x[11]) = (self.number, a1);
        self.pc = pc;
        self.mode = Mode::Supervisor;
        self.reservation = None;
    }

    /// Interrupts that end its `wfi`.
    pub fn enabled(&self) -> u64 {
        match self.mode {
            Mode::Machine => self.csrs.mie,
            Mode::Supervisor => self.csrs.supervisor.sie,
        }
    }

    /// Physical memory protection.
    pub fn pmp(&self) -> &Pmp {
        &self.csrs.pmp
    }

    /// Root and mode of paging.
    pub fn satp(&self) -> u64 {
        self.csrs.supervisor.satp
    }

    /// Whether it entered the trap handler of M-mode, and has not left it.
    pub fn is_in_handler(&self) -> bool {
        self.csrs.is_in_handler()
    }

    /// Whether an instruction changes nothing but the place of the next one, and that by its own length: to skip it
    /// is to execute it. Instructions that reach memory, devices or CSRs are not among them.
    pub fn is_idle(&self, instruction: Instruction) -> bool {
        let mut executed = self.clone();
        let is_pure = instruction.is_pure() && executed.execute(instruction, &mut Nothing).is_ok();
        executed.pc = executed.pc.wrapping_sub(instruction.len.into());
        is_pure && executed == *self
    }

    /// Address and length of what an instruction stores, if it does nothing else.
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
            // Those that OpenSBI does not delegate, it hands on.
            Mode::Supervisor => self.csrs.supervisor.enter_trap(self.pc, cause, value),
        };
        self.pc = vector & !3;
    }

    /// Executes an instruction.
    ///
    /// # Errors
    /// What the hart does not do alone. After a trap the registers are as before it.
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
        if self.csrs.pmp.restricts_data() && !self.csrs.pmp.allows(address, Access::Read) {
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
        if self.csrs.pmp.restricts_data() && !self.csrs.pmp.allows(address, Access::Write) {
            return Err(Event::Trap(STORE_FAULT, address));
        }
        bus.store::<N>(address, value).ok_or(Event::Trap(STORE_FAULT, address))?;
        Ok(None)
    }

    /// Load-reserved, store-conditional and read-modify-write. Harts do not run at the same time here, so
    /// a reservation is lost by its own use alone.
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
        // Bits 9 and 8 of the number are the lowest mode that reaches a register (§2.1).
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
            // Without a source register, nothing is written (Unprivileged ISA §6.1).
            _ if it.rs1 == 0 => None,
            O::Csrrs | O::Csrrsi => Some(old | operand),
            _ => Some(old & !operand),
        };
        // The two highest bits of a read-only register's number are set.
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

/// A bus without anything on it.
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
