//! Decoder of 16-bit instructions (RISC-V Unprivileged ISA, chapter 27: RV64C without floating
//! point).

use super::{Instruction, Operation as O, field, sign_extend};

pub const fn decode(half: u32) -> Instruction {
    let decoded = match half & 3 {
        0 => quadrant_0(half),
        1 => quadrant_1(half),
        _ => quadrant_2(half),
    };
    match decoded {
        Some((operation, registers, immediate)) => {
            Instruction { len: 2, ..Instruction::new(operation, registers, immediate) }
        }
        None => Instruction::illegal(2),
    }
}

type Parts = Option<(O, [u32; 3], i64)>;

/// Returns the number of a register that is encoded in three bits: x8 to x15.
const fn short(half: u32, low: u32) -> u32 {
    field(half, low, 3) + 8
}

/// Returns the sign-extended immediate of the CI format: bit 12 and bits 6 to 2.
const fn immediate_6(half: u32) -> i64 {
    sign_extend(field(half, 12, 1) << 5 | field(half, 2, 5), 6)
}

/// Returns the same bits as a shift amount.
const fn shift(half: u32) -> i64 {
    (field(half, 12, 1) << 5 | field(half, 2, 5)) as i64
}

/// Decodes loads and stores, and `c.addi4spn`.
const fn quadrant_0(half: u32) -> Parts {
    let (rs1, rs2) = (short(half, 7), short(half, 2));
    let word = (field(half, 10, 3) << 3 | field(half, 6, 1) << 2 | field(half, 5, 1) << 6) as i64;
    let double = (field(half, 10, 3) << 3 | field(half, 5, 2) << 6) as i64;
    Some(match field(half, 13, 3) {
        0 => {
            let immediate = field(half, 11, 2) << 4
                | field(half, 7, 4) << 6
                | field(half, 6, 1) << 2
                | field(half, 5, 1) << 3;
            if immediate == 0 {
                // The all-zero halfword is defined as illegal.
                return None;
            }
            (O::Add, [rs2, 2, 0], immediate as i64)
        }
        2 => (O::Lw, [rs2, rs1, 0], word),
        3 => (O::Ld, [rs2, rs1, 0], double),
        6 => (O::Sw, [0, rs1, rs2], word),
        7 => (O::Sd, [0, rs1, rs2], double),
        _ => return None,
    })
}

/// Decodes arithmetic instructions, jumps and branches.
const fn quadrant_1(half: u32) -> Parts {
    let rd = field(half, 7, 5);
    let rs1 = short(half, 7);
    Some(match field(half, 13, 3) {
        0 => (O::Add, [rd, rd, 0], immediate_6(half)),
        1 if rd != 0 => (O::Addw, [rd, rd, 0], immediate_6(half)),
        2 => (O::Add, [rd, 0, 0], immediate_6(half)),
        3 if rd == 2 => {
            let immediate = field(half, 12, 1) << 9
                | field(half, 3, 2) << 7
                | field(half, 5, 1) << 6
                | field(half, 2, 1) << 5
                | field(half, 6, 1) << 4;
            if immediate == 0 {
                return None;
            }
            (O::Add, [2, 2, 0], sign_extend(immediate, 10))
        }
        3 if immediate_6(half) != 0 => (O::Add, [rd, 0, 0], immediate_6(half) << 12),
        4 => return register_arithmetic(half),
        5 => (O::Jal, [0, 0, 0], jump_offset(half)),
        6 => (O::Beq, [0, rs1, 0], branch_offset(half)),
        7 => (O::Bne, [0, rs1, 0], branch_offset(half)),
        _ => return None,
    })
}

const fn register_arithmetic(half: u32) -> Parts {
    let (rd, rs2) = (short(half, 7), short(half, 2));
    Some(match field(half, 10, 2) {
        0 => (O::Srl, [rd, rd, 0], shift(half)),
        1 => (O::Sra, [rd, rd, 0], shift(half)),
        2 => (O::And, [rd, rd, 0], immediate_6(half)),
        _ => {
            let operation = match (field(half, 12, 1), field(half, 5, 2)) {
                (0, 0) => O::Sub,
                (0, 1) => O::Xor,
                (0, 2) => O::Or,
                (0, _) => O::And,
                (_, 0) => O::Subw,
                (_, 1) => O::Addw,
                _ => return None,
            };
            (operation, [rd, rd, rs2], 0)
        }
    })
}

const fn jump_offset(half: u32) -> i64 {
    let value = field(half, 12, 1) << 11
        | field(half, 8, 1) << 10
        | field(half, 9, 2) << 8
        | field(half, 6, 1) << 7
        | field(half, 7, 1) << 6
        | field(half, 2, 1) << 5
        | field(half, 11, 1) << 4
        | field(half, 3, 3) << 1;
    sign_extend(value, 12)
}

const fn branch_offset(half: u32) -> i64 {
    let value = field(half, 12, 1) << 8
        | field(half, 5, 2) << 6
        | field(half, 2, 1) << 5
        | field(half, 10, 2) << 3
        | field(half, 3, 2) << 1;
    sign_extend(value, 9)
}

/// Decodes register moves, jumps to registers, and loads and stores relative to the stack pointer.
const fn quadrant_2(half: u32) -> Parts {
    let (rd, rs2) = (field(half, 7, 5), field(half, 2, 5));
    Some(match field(half, 13, 3) {
        0 => (O::Sll, [rd, rd, 0], shift(half)),
        2 if rd != 0 => {
            let offset = field(half, 12, 1) << 5 | field(half, 4, 3) << 2 | field(half, 2, 2) << 6;
            (O::Lw, [rd, 2, 0], offset as i64)
        }
        3 if rd != 0 => {
            let offset = field(half, 12, 1) << 5 | field(half, 5, 2) << 3 | field(half, 2, 3) << 6;
            (O::Ld, [rd, 2, 0], offset as i64)
        }
        4 => match (field(half, 12, 1), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => (O::Jalr, [0, rd, 0], 0),
            (0, _, _) => (O::Add, [rd, 0, rs2], 0),
            (_, 0, 0) => (O::Ebreak, [0, 0, 0], 0),
            (_, _, 0) => (O::Jalr, [1, rd, 0], 0),
            (_, _, _) => (O::Add, [rd, rd, rs2], 0),
        },
        6 => {
            let offset = field(half, 9, 4) << 2 | field(half, 7, 2) << 6;
            (O::Sw, [0, 2, rs2], offset as i64)
        }
        7 => {
            let offset = field(half, 10, 3) << 3 | field(half, 7, 3) << 6;
            (O::Sd, [0, 2, rs2], offset as i64)
        }
        _ => return None,
    })
}
