//! Decoded instructions of RV64IMAC and RV32IMC with Zicsr and Zifencei (RISC-V Unprivileged ISA, chapters 2 to
//! 8; encodings in chapter 34). All other words are decoded as [`Operation::Illegal`].

mod compressed;
mod rv32;

/// The operation of an instruction. The second operand of arithmetic is `x[rs2] + immediate`. One of the two is
/// always zero, so that `addi` and `add` are the same operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of the ISA")]
pub enum Operation {
    Illegal,
    Auipc,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Ld,
    Lbu,
    Lhu,
    Lwu,
    Sb,
    Sh,
    Sw,
    Sd,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Addw,
    Subw,
    Sllw,
    Srlw,
    Sraw,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Mulw,
    /// Upper half of a 32-bit product, as in RV32's `mulh`.
    Mulhw,
    Mulhsuw,
    Mulhuw,
    Divw,
    Divuw,
    Remw,
    Remuw,
    Fence,
    Ecall,
    Ebreak,
    Mret,
    Wfi,
    /// In CSR operations, `immediate` is the number of the CSR.
    Csrrw,
    Csrrs,
    Csrrc,
    /// In this operation and the two after it, `rs1` is the value itself.
    Csrrwi,
    Csrrsi,
    Csrrci,
    LrW,
    LrD,
    ScW,
    ScD,
    /// In atomic operations, `immediate` is funct5.
    AmoW,
    AmoD,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub operation: Operation,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Length in bytes: 2 or 4.
    pub len: u8,
    /// Immediate operand, sign-extended.
    pub immediate: i64,
}

impl Instruction {
    /// Decodes the RV64 instruction in the lowest bytes of a word.
    pub const fn decode(word: u32) -> Self {
        if word & 3 == 3 { decode_32_bit(word) } else { compressed::decode(word & 0xffff) }
    }

    const fn new(operation: Operation, registers: [u32; 3], immediate: i64) -> Self {
        let [rd, rs1, rs2] = registers;
        Self { operation, rd: rd as u8, rs1: rs1 as u8, rs2: rs2 as u8, len: 4, immediate }
    }

    const fn illegal(len: u8) -> Self {
        Self { operation: Operation::Illegal, rd: 0, rs1: 0, rs2: 0, len, immediate: 0 }
    }

    /// Returns true if the instruction only reads and writes integer registers.
    pub fn is_pure(&self) -> bool {
        (Operation::Add as u8..=Operation::Remuw as u8).contains(&(self.operation as u8))
            || matches!(self.operation, Operation::Auipc)
            || self.is_jump()
    }

    /// Returns true if the instruction is a jump or a branch.
    pub const fn is_jump(&self) -> bool {
        use Operation::{Beq, Bge, Bgeu, Blt, Bltu, Bne, Jal, Jalr};
        matches!(self.operation, Jal | Jalr | Beq | Bne | Blt | Bge | Bltu | Bgeu)
    }
}

/// Sign-extends the lowest `bits` bits.
const fn sign_extend(value: u32, bits: u32) -> i64 {
    ((value as i64) << (64 - bits)) >> (64 - bits)
}

const fn field(word: u32, low: u32, bits: u32) -> u32 {
    (word >> low) & ((1 << bits) - 1)
}

/// Decodes a 32-bit instruction.
const fn decode_32_bit(word: u32) -> Instruction {
    use Operation as O;
    let (rd, rs1, rs2) = (field(word, 7, 5), field(word, 15, 5), field(word, 20, 5));
    let (funct3, funct7) = (field(word, 12, 3), field(word, 25, 7));
    let i_type = (word as i32 >> 20) as i64;
    let s_type = sign_extend(funct7 << 5 | rd, 12);
    let u_type = (word & 0xffff_f000) as i32 as i64;
    let illegal = Instruction::illegal(4);
    match word & 0x7f {
        0x37 => Instruction::new(O::Add, [rd, 0, 0], u_type),
        0x17 => Instruction::new(O::Auipc, [rd, 0, 0], u_type),
        0x6f => Instruction::new(O::Jal, [rd, 0, 0], j_type(word)),
        0x67 if funct3 == 0 => Instruction::new(O::Jalr, [rd, rs1, 0], i_type),
        0x63 => {
            let operation = match funct3 {
                0 => O::Beq,
                1 => O::Bne,
                4 => O::Blt,
                5 => O::Bge,
                6 => O::Bltu,
                7 => O::Bgeu,
                _ => return illegal,
            };
            Instruction::new(operation, [0, rs1, rs2], b_type(word))
        }
        0x03 => {
            let operation = match funct3 {
                0 => O::Lb,
                1 => O::Lh,
                2 => O::Lw,
                3 => O::Ld,
                4 => O::Lbu,
                5 => O::Lhu,
                6 => O::Lwu,
                _ => return illegal,
            };
            Instruction::new(operation, [rd, rs1, 0], i_type)
        }
        0x23 => {
            let operation = match funct3 {
                0 => O::Sb,
                1 => O::Sh,
                2 => O::Sw,
                3 => O::Sd,
                _ => return illegal,
            };
            Instruction::new(operation, [0, rs1, rs2], s_type)
        }
        0x13 => {
            let shift = field(word, 20, 6) as i64;
            let (operation, immediate) = match (funct3, field(word, 26, 6)) {
                (0, _) => (O::Add, i_type),
                (2, _) => (O::Slt, i_type),
                (3, _) => (O::Sltu, i_type),
                (4, _) => (O::Xor, i_type),
                (6, _) => (O::Or, i_type),
                (7, _) => (O::And, i_type),
                (1, 0) => (O::Sll, shift),
                (5, 0) => (O::Srl, shift),
                (5, 0x10) => (O::Sra, shift),
                _ => return illegal,
            };
            Instruction::new(operation, [rd, rs1, 0], immediate)
        }
        0x1b => {
            let (operation, immediate) = match (funct3, funct7) {
                (0, _) => (O::Addw, i_type),
                (1, 0) => (O::Sllw, rs2 as i64),
                (5, 0) => (O::Srlw, rs2 as i64),
                (5, 0x20) => (O::Sraw, rs2 as i64),
                _ => return illegal,
            };
            Instruction::new(operation, [rd, rs1, 0], immediate)
        }
        0x33 => Instruction::new(register_operation(funct7, funct3), [rd, rs1, rs2], 0),
        0x3b => Instruction::new(word_operation(funct7, funct3), [rd, rs1, rs2], 0),
        0x0f if funct3 < 2 => Instruction::new(O::Fence, [0, 0, 0], 0),
        0x73 => system(word, funct3, [rd, rs1]),
        0x2f => atomic(funct7 >> 2, funct3, [rd, rs1, rs2]),
        _ => illegal,
    }
}

const fn b_type(word: u32) -> i64 {
    let value = field(word, 31, 1) << 12
        | field(word, 7, 1) << 11
        | field(word, 25, 6) << 5
        | field(word, 8, 4) << 1;
    sign_extend(value, 13)
}

const fn j_type(word: u32) -> i64 {
    let value = field(word, 31, 1) << 20
        | field(word, 12, 8) << 12
        | field(word, 20, 1) << 11
        | field(word, 21, 10) << 1;
    sign_extend(value, 21)
}

const fn register_operation(funct7: u32, funct3: u32) -> Operation {
    use Operation as O;
    match (funct7, funct3) {
        (0, 0) => O::Add,
        (0x20, 0) => O::Sub,
        (0, 1) => O::Sll,
        (0, 2) => O::Slt,
        (0, 3) => O::Sltu,
        (0, 4) => O::Xor,
        (0, 5) => O::Srl,
        (0x20, 5) => O::Sra,
        (0, 6) => O::Or,
        (0, 7) => O::And,
        (1, 0) => O::Mul,
        (1, 1) => O::Mulh,
        (1, 2) => O::Mulhsu,
        (1, 3) => O::Mulhu,
        (1, 4) => O::Div,
        (1, 5) => O::Divu,
        (1, 6) => O::Rem,
        (1, 7) => O::Remu,
        _ => O::Illegal,
    }
}

const fn word_operation(funct7: u32, funct3: u32) -> Operation {
    use Operation as O;
    match (funct7, funct3) {
        (0, 0) => O::Addw,
        (0x20, 0) => O::Subw,
        (0, 1) => O::Sllw,
        (0, 5) => O::Srlw,
        (0x20, 5) => O::Sraw,
        (1, 0) => O::Mulw,
        (1, 4) => O::Divw,
        (1, 5) => O::Divuw,
        (1, 6) => O::Remw,
        (1, 7) => O::Remuw,
        _ => O::Illegal,
    }
}

const SFENCE_VMA: u32 = 0x1200_0073;

const fn system(word: u32, funct3: u32, [rd, rs1]: [u32; 2]) -> Instruction {
    use Operation as O;
    let operation = match funct3 {
        0 => match word {
            0x0000_0073 => O::Ecall,
            0x0010_0073 => O::Ebreak,
            0x3020_0073 => O::Mret,
            0x1050_0073 => O::Wfi,
            // The model has no address translation cache, so `sfence.vma` is a fence.
            _ if word & 0xfe00_7fff == SFENCE_VMA => O::Fence,
            _ => O::Illegal,
        },
        1 => O::Csrrw,
        2 => O::Csrrs,
        3 => O::Csrrc,
        5 => O::Csrrwi,
        6 => O::Csrrsi,
        7 => O::Csrrci,
        _ => O::Illegal,
    };
    Instruction::new(operation, [rd, rs1, 0], field(word, 20, 12) as i64)
}

const fn atomic(funct5: u32, funct3: u32, registers: [u32; 3]) -> Instruction {
    use Operation as O;
    let operation = match (funct5, funct3) {
        (2, 2) if registers[2] == 0 => O::LrW,
        (2, 3) if registers[2] == 0 => O::LrD,
        (3, 2) => O::ScW,
        (3, 3) => O::ScD,
        (0 | 1 | 4 | 8 | 12 | 16 | 20 | 24 | 28, 2) => O::AmoW,
        (0 | 1 | 4 | 8 | 12 | 16 | 20 | 24 | 28, 3) => O::AmoD,
        _ => O::Illegal,
    };
    Instruction::new(operation, registers, funct5 as i64)
}

#[cfg(test)]
mod tests;
