//! Tests that decode encodings which an assembler produced.

use super::{Instruction, Operation as O};

fn decoded(word: u32) -> (O, [u8; 3], i64, u8) {
    let it = Instruction::decode(word);
    (it.operation, [it.rd, it.rs1, it.rs2], it.immediate, it.len)
}

#[test]
fn reads_instructions_of_32_bits() {
    for (word, operation, registers, immediate) in [
        (0x0000_0297, O::Auipc, [5, 0, 0], 0),          // auipc t0, 0
        (0xfff0_0313, O::Add, [6, 0, 0], -1),           // li t1, -1
        (0x1000_0537, O::Add, [10, 0, 0], 0x1000_0000), // lui a0, 0x10000
        (0xfe62_9ee3, O::Bne, [0, 5, 6], -4),           // bne t0, t1, .-4
        (0x0062_b023, O::Sd, [0, 5, 6], 0),             // sd t1, 0(t0)
        (0xff81_3083, O::Ld, [1, 2, 0], -8),            // ld ra, -8(sp)
        (0x0083_0067, O::Jalr, [0, 6, 0], 8),           // jr 8(t1)
        (0xffdf_f06f, O::Jal, [0, 0, 0], -4),           // j .-4
        (0x4035_d59b, O::Sraw, [11, 11, 0], 3),         // sraiw a1, a1, 3
        (0x02c5_b533, O::Mulhu, [10, 11, 12], 0),       // mulhu a0, a1, a2
        (0x3052_9073, O::Csrrw, [0, 5, 0], 0x305),      // csrw mtvec, t0
        (0x3400_d073, O::Csrrwi, [0, 1, 0], 0x340),     // csrwi mscratch, 1
        (0x467e_302f, O::AmoD, [0, 28, 7], 8),          // amoor.d.aqrl zero, t2, (t3)
    ] {
        assert_eq!(decoded(word), (operation, registers, immediate, 4), "{word:#010x}");
    }
}

#[test]
fn reads_instructions_of_16_bits_and_ignores_what_follows() {
    for (half, operation, registers, immediate) in [
        (0x4501, O::Add, [10, 0, 0], 0),   // li a0, 0
        (0x8082, O::Jalr, [0, 1, 0], 0),   // ret
        (0x1101, O::Add, [2, 2, 0], -32),  // addi sp, sp, -32
        (0xec06, O::Sd, [0, 2, 1], 24),    // sd ra, 24(sp)
        (0x60e2, O::Ld, [1, 2, 0], 24),    // ld ra, 24(sp)
        (0x6588, O::Ld, [10, 11, 0], 8),   // ld a0, 8(a1)
        (0x85aa, O::Add, [11, 0, 10], 0),  // mv a1, a0
        (0x8d69, O::And, [10, 10, 10], 0), // and a0, a0, a0
        (0xbff5, O::Jal, [0, 0, 0], -4),   // j .-4
        (0xdd75, O::Beq, [0, 10, 0], -4),  // beqz a0, .-4
        (0x9502, O::Jalr, [1, 10, 0], 0),  // jalr a0
        (0x1502, O::Sll, [10, 10, 0], 32), // slli a0, a0, 32
    ] {
        assert_eq!(
            decoded(0xffff_0000 | half),
            (operation, registers, immediate, 2),
            "{half:#06x}"
        );
    }
}

#[test]
fn what_is_erased_or_zeroed_is_illegal() {
    for word in [0, 0xffff_ffff, 0x0000_007f, 0x0200_4033 | 0x7e00_0000] {
        assert_eq!(Instruction::decode(word).operation, O::Illegal, "{word:#010x}");
    }
}

#[test]
fn what_rv32_has_in_place_of_an_encoding_of_rv64() {
    let decoded = |word| {
        let it = Instruction::decode_rv32(word, 0x7fff_f000);
        (it.operation, [it.rd, it.rs1, it.rs2], it.immediate, it.len)
    };
    assert_eq!(decoded(0x3ff5), (O::Jal, [1, 0, 0], -4, 2), "jal .-4, which is addiw on RV64");
    assert_eq!(decoded(0x0085_0533), (O::Addw, [10, 10, 8], 0, 4), "add a0, a0, s0");
    assert_eq!(decoded(0x952e), (O::Addw, [10, 10, 11], 0, 2), "add a0, a0, a1");
    assert_eq!(decoded(0x01f5_1513), (O::Sllw, [10, 10, 0], 31, 4), "slli a0, a0, 31");
    assert_eq!(decoded(0x02c5_b533), (O::Mulhuw, [10, 11, 12], 0, 4), "mulhu a0, a1, a2");
    // In auipc a0, 0x1000 the sum wraps.
    assert_eq!(decoded(0x0100_0517), (O::Addw, [10, 0, 0], -0x7f00_1000, 4));
    // Instructions: slli and c.slli by 32, sraiw, ld, lwu, sd, c.ld, c.sdsp, c.subw, lr.w,
    // sfence.vma
    for word in [
        0x0205_1513,
        0x1502,
        0x4035_d59b,
        0xff81_3083,
        0x0005_e503,
        0x0062_b023,
        0x6588,
        0xec06,
        0x9d0d,
        0x1005_a52f,
        0x1200_0073,
    ] {
        assert_eq!(decoded(word).0, O::Illegal, "{word:#x}");
    }
}
