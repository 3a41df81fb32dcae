//! Decoder of RV32IMC. Instructions are mapped to operations of RV64 that have the same effect on sign-extended
//! 32-bit values.

use super::{Instruction, Operation as O, SFENCE_VMA};

impl Instruction {
    /// Decodes the RV32 instruction in the lowest bytes of a word, at address `pc`. Registers hold sign-extended
    /// 32-bit values.
    pub const fn decode_rv32(word: u32, pc: u32) -> Self {
        // `c.jal` has the encoding of RV64's `c.addiw`, and its offset is encoded like that of `c.j` (chapter 27).
        const JUMP_AND_LINK: u32 = 0x2001;
        const JUMP: u32 = 0xa001;
        if word & 0xe003 == JUMP_AND_LINK {
            return Self { rd: 1, ..Self::decode(word & 0xffff | JUMP) };
        }
        // RV32 is decoded for a core without S-mode.
        if word & 0xfe00_7fff == SFENCE_VMA {
            return Self::illegal(4);
        }
        to_rv32(Self::decode(word), pc)
    }
}

/// Maps a decoded RV64 instruction to the instruction with the same encoding in RV32.
const fn to_rv32(it: Instruction, pc: u32) -> Instruction {
    let operation = match it.operation {
        O::Add => O::Addw,
        O::Sub => O::Subw,
        // RV32 has no shift amount of 32 or more.
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
        // The sum of `pc` and immediate wraps at 32 bits, so it is computed here.
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
