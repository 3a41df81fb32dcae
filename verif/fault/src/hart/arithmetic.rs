//! Results of arithmetic instructions (RISC-V Unprivileged ISA §2.4, §4.2, chapter 12) and of atomic
//! operations (chapter 13).

use crate::instruction::Operation;

/// Sign-extends a 32-bit result.
const fn word(value: i32) -> u64 {
    value as i64 as u64
}

/// Returns the result of an operation on two 64-bit values.
#[inline]
pub fn result(operation: Operation, a: u64, b: u64) -> u64 {
    use Operation as O;
    let (a_signed, b_signed) = (a as i64, b as i64);
    let (a_word, b_word) = (a as i32, b as i32);
    match operation {
        O::Add => a.wrapping_add(b),
        O::Sub => a.wrapping_sub(b),
        O::Sll => a << (b & 63),
        O::Slt => (a_signed < b_signed).into(),
        O::Sltu => (a < b).into(),
        O::Xor => a ^ b,
        O::Srl => a >> (b & 63),
        O::Sra => (a_signed >> (b & 63)) as u64,
        O::Or => a | b,
        O::And => a & b,
        O::Addw => word(a_word.wrapping_add(b_word)),
        O::Subw => word(a_word.wrapping_sub(b_word)),
        O::Sllw => word(a_word << (b & 31)),
        O::Srlw => word((a as u32 >> (b & 31)) as i32),
        O::Sraw => word(a_word >> (b & 31)),
        O::Mul => a.wrapping_mul(b),
        O::Mulh => ((i128::from(a_signed) * i128::from(b_signed)) >> 64) as u64,
        O::Mulhsu => ((i128::from(a_signed) * i128::from(b)) >> 64) as u64,
        O::Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        O::Mulw => word(a_word.wrapping_mul(b_word)),
        // The operands are sign-extended 32-bit values, so their products fit into 64 bits.
        O::Mulhw => word((a_signed.wrapping_mul(b_signed) >> 32) as i32),
        O::Mulhsuw => word((a_signed.wrapping_mul((b as u32).into()) >> 32) as i32),
        O::Mulhuw => word(((u64::from(a as u32) * u64::from(b as u32)) >> 32) as i32),
        operation => quotient(operation, a, b),
    }
}

/// Returns the result of a division or remainder. Division never traps: on division by zero all bits of
/// the quotient are set and the remainder is the dividend; on overflow the quotient is the dividend.
#[cold]
fn quotient(operation: Operation, a: u64, b: u64) -> u64 {
    use Operation as O;
    let (a_signed, b_signed) = (a as i64, b as i64);
    let (a_word, b_word) = (a as i32, b as i32);
    match operation {
        O::Div | O::Divu if b == 0 => u64::MAX,
        O::Rem | O::Remu if b == 0 => a,
        O::Div => a_signed.wrapping_div(b_signed) as u64,
        O::Divu => a / b,
        O::Rem => a_signed.wrapping_rem(b_signed) as u64,
        O::Remu => a % b,
        O::Divw | O::Divuw if b_word == 0 => u64::MAX,
        O::Remw | O::Remuw if b_word == 0 => word(a_word),
        O::Divw => word(a_word.wrapping_div(b_word)),
        O::Divuw => word((a as u32 / b as u32) as i32),
        O::Remw => word(a_word.wrapping_rem(b_word)),
        O::Remuw => word((a as u32 % b as u32) as i32),
        other => unreachable!("{other:?} is not arithmetic"),
    }
}

/// Returns the value that a read-modify-write instruction stores; `funct5` is its encoding. 32-bit
/// operands are sign-extended, so they compare like 64-bit values.
pub fn atomic(funct5: i64, old: u64, b: u64) -> u64 {
    let (old_signed, b_signed) = (old as i64, b as i64);
    match funct5 {
        0 => old.wrapping_add(b),
        1 => b,
        4 => old ^ b,
        8 => old | b,
        12 => old & b,
        16 => old_signed.min(b_signed) as u64,
        20 => old_signed.max(b_signed) as u64,
        24 => old.min(b),
        _ => old.max(b),
    }
}
