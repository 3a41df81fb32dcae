//! Tests of instructions on a hart with a few words of memory.

use super::{Bus, Event, Hart, ILLEGAL, LOAD_FAULT};
use crate::instruction::Instruction;

struct Words([u8; 64]);

impl Bus for Words {
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64> {
        let from = usize::try_from(address).ok()?;
        let bytes = self.0.get(from..from.checked_add(N)?)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        let from = usize::try_from(address).ok()?;
        let bytes = self.0.get_mut(from..from.checked_add(N)?)?;
        bytes.copy_from_slice(&value.to_le_bytes()[..N]);
        Some(())
    }

    fn counter(&mut self) -> u64 {
        7
    }

    fn pending(&self, _: u64) -> u64 {
        8
    }
}

/// Executes an instruction with these values in a1 and a2, and returns a0.
fn a0(word: u32, a1: u64, a2: u64) -> u64 {
    let mut hart = Hart::new(3, 0x100);
    (hart.x[11], hart.x[12]) = (a1, a2);
    hart.execute(Instruction::decode(word), &mut Words([0x80; 64])).unwrap();
    assert_eq!(hart.pc, 0x104);
    hart.x[10]
}

#[test]
fn arithmetic_follows_the_isa_at_its_edges() {
    let least = i64::MIN as u64;
    assert_eq!(a0(0x02c5_c533, least, u64::MAX), least, "div overflows");
    assert_eq!(a0(0x02c5_c533, 5, 0), u64::MAX, "div by zero");
    assert_eq!(a0(0x02c5_e533, 5, 0), 5, "rem by zero");
    assert_eq!(a0(0x02c5_c53b, 0x8000_0000, u64::MAX), 0xffff_ffff_8000_0000, "divw overflows");
    assert_eq!(a0(0x02c5_a533, u64::MAX, u64::MAX), u64::MAX, "mulhsu of -1");
    assert_eq!(a0(0x02c5_9533, u64::MAX, u64::MAX), 0, "mulh of -1 and -1");
    assert_eq!(a0(0x00c5_853b, 0x7fff_ffff, 1), 0xffff_ffff_8000_0000, "addw wraps");
    assert_eq!(a0(0x40c5_d53b, 0x8000_0000, 33), 0xffff_ffff_c000_0000, "sraw masks");
    assert_eq!(a0(0x00c5_b533, 1, u64::MAX), 1, "sltu");
    assert_eq!(a0(0x00c5_a533, 1, u64::MAX), 0, "slt");
}

#[test]
fn rv32_multiplies_to_upper_halves_and_wraps_at_32_bits() {
    let a0 = |word, a1: u32, a2: u32| {
        let mut hart = Hart::new(0, 0);
        let extended = [a1, a2].map(|value| value as i32 as u64);
        (hart.x[11], hart.x[12]) = extended.into();
        let it = Instruction::decode_rv32(word, 0);
        hart.execute(it, &mut Words([0; 64])).unwrap();
        assert_eq!(hart.x[10], hart.x[10] as i32 as u64, "sign-extended");
        hart.x[10] as u32
    };
    let least = 1 << 31;
    assert_eq!(a0(0x02c5_9533, least, least), 1 << 30, "mulh");
    assert_eq!(a0(0x02c5_a533, u32::MAX, u32::MAX), u32::MAX, "mulhsu of -1");
    assert_eq!(a0(0x02c5_a533, least, u32::MAX), least, "mulhsu of the least");
    assert_eq!(a0(0x02c5_b533, u32::MAX, u32::MAX), u32::MAX - 1, "mulhu");
    assert_eq!(a0(0x02c5_8533, 0x1_0001, 0x1_0001), 0x2_0001, "mul");
    assert_eq!(a0(0x00c5_8533, u32::MAX, 2), 1, "add");
    assert_eq!(a0(0x40c5_8533, 0, 1), u32::MAX, "sub");
    assert_eq!(a0(0x00c5_9533, 1, 63), least, "sll masks");
    assert_eq!(a0(0x00c5_d533, least, 31), 1, "srl");
    assert_eq!(a0(0x40c5_d533, least, 31), u32::MAX, "sra");
    assert_eq!(a0(0x00c5_b533, 1, least), 1, "sltu");
    assert_eq!(a0(0x02c5_d533, u32::MAX, 2), u32::MAX >> 1, "divu");
    assert_eq!(a0(0x02c5_c533, least, u32::MAX), least, "div overflows");
    assert_eq!(a0(0x02c5_f533, u32::MAX, 0), u32::MAX, "remu by zero");
}

#[test]
fn loads_extend_and_faults_leave_the_registers_alone() {
    assert_eq!(a0(0x0005_a503, 0, 0), 0xffff_ffff_8080_8080, "lw");
    assert_eq!(a0(0x0005_e503, 0, 0), 0x8080_8080, "lwu");
    let mut hart = Hart::new(0, 0x100);
    hart.x[11] = 64;
    let lw = Instruction::decode(0x0005_a503);
    assert_eq!(hart.execute(lw, &mut Words([0; 64])), Err(Event::Trap(LOAD_FAULT, 64)));
    assert_eq!((hart.pc, hart.x[10]), (0x100, 0));
}

#[test]
fn atomics_return_the_old_value_and_reservations_end() {
    let mut hart = Hart::new(0, 0);
    let mut words = Words([0; 64]);
    (hart.x[11], hart.x[12]) = (8, 0x8000_0000);
    let mut run = |word| {
        hart.execute(Instruction::decode(word), &mut words).unwrap();
        hart.x[10]
    };
    // amoor.w a0, a2, (a1) is executed twice.
    assert_eq!(run(0x40c5_a52f), 0);
    assert_eq!(run(0x40c5_a52f), 0xffff_ffff_8000_0000);
    // sc.w fails without lr.w, and succeeds once after it.
    assert_eq!(run(0x18c5_a52f), 1);
    run(0x1005_a52f);
    assert_eq!((run(0x18c5_a52f), run(0x18c5_a52f)), (0, 1));
}

#[test]
fn registers_that_do_not_exist_or_cannot_be_written_are_illegal() {
    let mut hart = Hart::new(3, 0);
    let mut words = Words([0; 64]);
    let mut run = |word| hart.execute(Instruction::decode(word), &mut words).map(|()| hart.x[10]);
    assert_eq!(run(0xf140_2573), Ok(3), "csrr a0, mhartid");
    assert_eq!(run(0x3440_2573), Ok(8), "csrr a0, mip");
    let illegal = Err(Event::Trap(ILLEGAL, 0));
    assert_eq!(run(0xf140_1573), illegal, "csrrw a0, mhartid, zero");
    assert_eq!(run(0x7c00_2573), illegal, "csrr a0, 0x7c0");
}
