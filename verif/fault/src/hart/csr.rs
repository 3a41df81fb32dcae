//! The control and status registers of M-mode and S-mode that ROM and loader use (RISC-V Privileged Architecture
//! chapters 3 and 10). An access to any other register is an illegal instruction.

use super::Pmp;

/// Number of the first unprivileged counter.
pub const CYCLE: u32 = 0xc00;
/// Number of the last counter that is implemented.
pub const INSTRET: u32 = 0xc02;
/// Number of `mcycle`.
pub const MCYCLE: u32 = 0xb00;
/// Number of `minstret`.
pub const MINSTRET: u32 = 0xb02;
/// Number of the upper half of `mcycle` (RV32).
pub const MCYCLEH: u32 = 0xb80;
/// Number of the upper half of `minstret` (RV32).
pub const MINSTRETH: u32 = 0xb82;
/// Number of `mip`, the pending interrupts.
pub const MIP: u32 = 0x344;
/// Number of `mhartid`.
pub const MHARTID: u32 = 0xf14;

const SSTATUS: u32 = 0x100;
const SIE: u32 = 0x104;
const STVEC: u32 = 0x105;
const SSCRATCH: u32 = 0x140;
const SEPC: u32 = 0x141;
const SCAUSE: u32 = 0x142;
const STVAL: u32 = 0x143;
const SIP: u32 = 0x144;
const SATP: u32 = 0x180;
const MSTATUS: u32 = 0x300;
const MIE: u32 = 0x304;
const MTVEC: u32 = 0x305;
const MSCRATCH: u32 = 0x340;
const MEPC: u32 = 0x341;
const MCAUSE: u32 = 0x342;
const MTVAL: u32 = 0x343;
const PMPCFG: u32 = 0x3a0;
const PMPADDR: u32 = 0x3b0;

/// Fields of `mstatus` that exist on a hart without other modes, floating point and vectors: MIE, MPIE, MPP.
const MSTATUS_FIELDS: u64 = 1 << 3 | 1 << 7 | 3 << 11;
/// Same for `sstatus`: SIE, SPIE, SPP.
const SSTATUS_FIELDS: u64 = 1 << 1 | 1 << 5 | 1 << 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csrs {
    mstatus: u64,
    pub mie: u64,
    pub mtvec: u64,
    mscratch: u64,
    mepc: u64,
    mcause: u64,
    mtval: u64,
    pub pmp: Pmp,
    pub supervisor: Supervisor,
}

/// Registers of S-mode. No interrupt of S-mode is ever pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supervisor {
    sstatus: u64,
    pub sie: u64,
    stvec: u64,
    sscratch: u64,
    sepc: u64,
    scause: u64,
    stval: u64,
    pub satp: u64,
}

impl Supervisor {
    fn read(&self, number: u32) -> Option<u64> {
        Some(match number {
            SSTATUS => self.sstatus,
            SIE => self.sie,
            STVEC => self.stvec,
            SSCRATCH => self.sscratch,
            SEPC => self.sepc,
            SCAUSE => self.scause,
            STVAL => self.stval,
            SATP => self.satp,
            SIP => 0,
            _ => return None,
        })
    }

    fn write(&mut self, number: u32, value: u64) {
        match number {
            SSTATUS => self.sstatus = value & SSTATUS_FIELDS,
            SIE => self.sie = value & 0x222,
            STVEC => self.stvec = value,
            SSCRATCH => self.sscratch = value,
            SEPC => self.sepc = value & !1,
            SCAUSE => self.scause = value,
            STVAL => self.stval = value,
            // A write with an unsupported mode has no effect (§10.1.11).
            SATP if matches!(value >> 60, 0 | 8) => self.satp = value,
            _ => {}
        }
    }

    /// Enters a trap to S-mode (§10.1.1): SPIE takes SIE, SIE is cleared, SPP is the previous mode. Returns the
    /// address of the handler.
    pub fn enter_trap(&mut self, pc: u64, cause: u64, value: u64) -> u64 {
        let was_enabled = self.sstatus >> 1 & 1;
        self.sstatus = 1 << 8 | was_enabled << 5;
        self.sepc = pc;
        self.scause = cause;
        self.stval = value;
        self.stvec
    }
}

impl Csrs {
    /// Returns the value of a register; `None` if the number is not implemented.
    pub fn read(&self, number: u32) -> Option<u64> {
        Some(match number {
            MSTATUS => self.mstatus,
            MIE => self.mie,
            MTVEC => self.mtvec,
            MSCRATCH => self.mscratch,
            MEPC => self.mepc,
            MCAUSE => self.mcause,
            MTVAL => self.mtval,
            // RV64 has only the even-numbered pmpcfg registers.
            0x3a0 | 0x3a2 => self.pmp.configuration((number - PMPCFG) as usize / 2),
            PMPADDR..=0x3bf => self.pmp.address((number - PMPADDR) as usize),
            _ => return self.supervisor.read(number),
        })
    }

    /// Writes a register that can be read. Returns true if it is a PMP register or `satp`.
    pub fn write(&mut self, number: u32, value: u64) -> bool {
        match number {
            MSTATUS => self.mstatus = value & MSTATUS_FIELDS,
            MIE => self.mie = value & 0xaaa,
            MTVEC => self.mtvec = value,
            MSCRATCH => self.mscratch = value,
            MEPC => self.mepc = value & !1,
            MCAUSE => self.mcause = value,
            MTVAL => self.mtval = value,
            0x3a0 | 0x3a2 => self.pmp.configure((number - PMPCFG) as usize / 2, value),
            PMPADDR..=0x3bf => self.pmp.set_address((number - PMPADDR) as usize, value),
            // Counters, and pending interrupts that only devices set, are not writable here.
            _ => self.supervisor.write(number, value),
        }
        (PMPCFG..=0x3bf).contains(&number) || number == SATP
    }

    /// Enters a trap to M-mode (§3.1.6.1): MPIE takes MIE, MIE is cleared, MPP is the previous mode.
    pub fn enter_trap(&mut self, pc: u64, cause: u64, value: u64) {
        let was_enabled = self.mstatus >> 3 & 1;
        self.mstatus = 3 << 11 | was_enabled << 7;
        self.mepc = pc;
        self.mcause = cause;
        self.mtval = value;
    }

    /// Returns true if the hart has not left its last trap: `mret` and reset set MPP to another mode than M-mode.
    pub fn is_in_handler(&self) -> bool {
        self.mstatus >> 11 & 3 == 3
    }

    /// Leaves a trap, as `mret` does. Returns the address at which execution continues.
    pub fn leave_trap(&mut self) -> u64 {
        let was_enabled = self.mstatus >> 7 & 1;
        self.mstatus = was_enabled << 3 | 1 << 7;
        self.mepc
    }
}
