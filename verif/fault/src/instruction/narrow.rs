//! RV32IMC, by the operations of RV64 that do the same to sign-extended values of 32 bits.

use super::{Instruction, Operation as O, SFENCE_VMA};

impl Instruction {
    /// Decodes the instruction of RV32 in the first bytes of a word, at this address. Registers hold sign-extended
    /// values of 32 bits.
    pub const fn decode_rv32(word: u32, pc: u32) -> Self {
        // `c.jal` has the place of `c.addiw`, and the offset of `c.j` (chapter 27).
        const JUMP_AND_LINK: u32 = 0x2001;
        const JUMP: u32 = 0xa001;
        if word & 0xe003 == JUMP_AND_LINK {
            return Self { rd: 1, ..Self::decode(word & 0xffff | JUMP) };
        }
        // There is no S-mode.
        if word & 0xfe00_7fff == SFENCE_VMA {
            return Self::illegal(4);
        }
        narrow(Self::decode(word), pc)
    }
}

/// What RV32 makes of an encoding that RV64 has.
const fn narrow(it: Instruction, pc: u32) -> Instruction {
    let operation = match it.operation {
        O::Add => O::Addw,
        O::Sub => O::Subw,
        // An immediate is a shift by less than the width.
        O::Sll | O::Srl | O::Sra if it.immediate > 31 => O::Illegal,
        O::Sll => O::Sllw,
        O::Srl => O::Srlw,
        O::Sra => O::Sraw,
        O::Mul => O::Mulw,
        O::Mulh => O::Mulhw,
        O::Mulhsu => O::Mulhsuw,
        O::Mulhu => O::Mulhuw,
        O::Div => O::Divw,
        O::Divu => O::Divuw,
        O::Rem => O::Remw,
        O::Remu => O::Remuw,
        // The sum wraps at 32 bits.
        O::Auipc => {
            let target = pc.wrapping_add(it.immediate as u32) as i32;
            return Instruction { operation: O::Addw, immediate: target as i64, ..it };
        }
        O::Ld | O::Lwu | O::Sd | O::LrW | O::LrD | O::ScW | O::ScD | O::AmoW | O::AmoD => {
            O::Illegal
        }
        O::Addw | O::Subw | O::Sllw | O::Srlw | O::Sraw => O::Illegal,
        O::Mulw | O::Divw | O::Divuw | O::Remw | O::Remuw => O::Illegal,
        same => same,
    };
    Instruction { operation, ..it }
}
