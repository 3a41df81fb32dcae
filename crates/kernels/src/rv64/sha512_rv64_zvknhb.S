// void hartlock_sha512_rv64_zvknhb(uint64_t state[8], const uint8_t *blocks, size_t count)
// void hartlock_sha512_rv64_zvknhb_streams(uint64_t (*states)[8], const uint8_t *const *messages,
//                                          size_t count, size_t n)
//
// SHA-384 and SHA-512 compression (FIPS 180-4 §6.4.2) of `count` blocks of 128 bytes, of one
// message or of each of `n`. Needs RV64I, V (of it no more than Zve64x, with VLEN >= 128), Zvkb
// (vrev8), which is a part of Zvbb, and Zvknhb. Include before it: frame_macros.S,
// sha2_zvknh_macros.S.
//
//   a0  state, or states one after the other, 8-byte aligned, updated in place
//   a1  blocks, 8-byte aligned, only read; or n pointers to such, which may be equal and may lie
//       anywhere
//   a2  count; with 0 nothing is touched   a3  n, 1 to VLEN / 64
//
// Clobbers t0-t6, a1-a7, v0-v31, vl and vtype. Stack, not wiped, since the message is public:
//
//   one message at VLEN 128               none
//   n up to VLEN / 256, and one message    4 * VLENB bytes          at VLEN 256: 128
//   n up to VLEN / 128                    40 * VLENB bytes                      1280
//   n up to VLEN / 64                     92 * VLENB bytes          at VLEN 128: 1472
//
// Constant time: no branch and no address depends on message or state, only on the arguments; the
// vector instructions on them are on the list of Zvkt.
//
// Registers: see sha2_zvknh_macros.S. A quad has 256 bits, which is two registers at VLEN 128.

// Sizes in bytes. A pass is 16 rounds.
.set .L_SHA512_ZVKNH_WORD, 8
.set .L_SHA512_ZVKNH_WORD_SHIFT, 3
.set .L_SHA512_ZVKNH_BLOCK, 128
.set .L_SHA512_ZVKNH_BLOCK_SHIFT, 7
.set .L_SHA512_ZVKNH_STATE_SHIFT, 6
.set .L_SHA512_ZVKNH_K_PASS, 16 * .L_SHA512_ZVKNH_WORD

// A quad: its bytes and its double-words. Half of it fills the narrowest vector register.
.set .L_SHA512_ZVKNH_QUAD, 32
.set .L_SHA512_ZVKNH_QUAD_SHIFT, 5
.set .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT, 2

// LMUL 1: 4 registers hold K of a pass. LMUL 2: 8 registers hold K of a pass, 32 of four, 40 all of it.
.set .L_SHA512_ZVKNH_M1_PASS_SHIFT, 2
.set .L_SHA512_ZVKNH_M2_PASS_SHIFT, 3
.set .L_SHA512_ZVKNH_M2_FOUR_PASSES_SHIFT, 5

// FIPS 180-4 §4.2.3.
.pushsection .rodata.hartlock_sha512_rv64_zvknhb, "a", @progbits
.balign 8
.L_sha512_zvknh_k:
    // t = 0 to 15
    .dword 0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc
    .dword 0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118
    .dword 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2
    .dword 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694
    // t = 16 to 31
    .dword 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65
    .dword 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5
    .dword 0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4
    .dword 0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70
    // t = 32 to 47
    .dword 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df
    .dword 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b
    .dword 0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30
    .dword 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8
    // t = 48 to 63
    .dword 0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8
    .dword 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3
    .dword 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec
    .dword 0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b
    // t = 64 to 79
    .dword 0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178
    .dword 0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b
    .dword 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c
    .dword 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817
// Where f, e, b and a lie in a state.
.L_sha512_zvknh_feba:
    .half 5 * .L_SHA512_ZVKNH_WORD, 4 * .L_SHA512_ZVKNH_WORD, .L_SHA512_ZVKNH_WORD, 0
.popsection

// LMUL 2: the passes over a block, from a5, a6, a7, t4 and t5 on K for one each.
.macro SHA512_ZVKNH_M2_PASSES
    ZVKNH_M2_FIRST_PASS 64, a5
    ZVKNH_M2_NEXT_PASS 64, a6
    ZVKNH_M2_NEXT_PASS 64, a7
    ZVKNH_M2_NEXT_PASS 64, t4
    ZVKNH_M2_NEXT_PASS 64, t5
    ZVKNH_M2_END_BLOCK
.endm

// LMUL 2: sets those pointers, from a5, to pieces of t0 bytes.
.macro SHA512_ZVKNH_M2_POINT_TO_K
    add   a6, a5, t0
    add   a7, a6, t0
    add   t4, a7, t0
    add   t5, t4, t0
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64_zvknhb, +zve64x, +zvkb, +zvknhb
    beqz  a2, .L_sha512_zvknh_one_return
    csrr  t0, vlenb
    srli  t0, t0, .L_SHA512_ZVKNH_QUAD_SHIFT
    bnez  t0, .L_sha512_zvknh_one_of_many

    // Two registers hold one quad, so a block and K lie in memory as registers want them.
.L_sha512_zvknh_one:
    ZVKNH_SET_MASK
    lla   a5, .L_sha512_zvknh_k
    li    t0, .L_SHA512_ZVKNH_K_PASS
    SHA512_ZVKNH_M2_POINT_TO_K
    li    a4, .L_ZVKNH_QUAD_WORDS
    vsetvli zero, a4, e64, m2, ta, ma
    lla   t0, .L_sha512_zvknh_feba
    vle16.v v1, (t0)
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA512_ZVKNH_WORD, v1, v24, v26
    slli  a2, a2, .L_SHA512_ZVKNH_BLOCK_SHIFT
    add   a2, a2, a1
.L_sha512_zvknh_one_block:
    vsetvli t0, zero, e64, m8, ta, ma
    vl8re64.v v8, (a1)
    addi  a1, a1, .L_SHA512_ZVKNH_BLOCK
    SHA512_ZVKNH_M2_PASSES
    bne   a1, a2, .L_sha512_zvknh_one_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA512_ZVKNH_WORD, v1, v24, v26
.L_sha512_zvknh_one_return:
    ret

    // Wider registers: one stream of those that would fit.
.L_sha512_zvknh_one_of_many:
    li    a3, 1
    csrr  a5, vlenb
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    vmv.v.x v2, a1
    tail  .L_sha512_zvknh_m1
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvknhb

HARTLOCK_FUNCTION hartlock_sha512_rv64_zvknhb_streams, +zve64x, +zvkb, +zvknhb
    beqz  a2, .L_sha512_zvknh_return
    csrr  a5, vlenb
    srli  t0, a5, .L_SHA512_ZVKNH_QUAD_SHIFT
    bgeu  t0, a3, .L_sha512_zvknh_streams_m1
    beqz  t0, .L_sha512_zvknh_narrow
    slli  t1, t0, 1
    bgeu  t1, a3, .L_sha512_zvknh_m2
    j     .L_sha512_zvknh_m4

    // A quad fills two registers: one stream with LMUL 2, two with LMUL 4.
.L_sha512_zvknh_narrow:
    li    t1, 1
    bltu  t1, a3, .L_sha512_zvknh_m4
    ld    a1, (a1)
    tail  .L_sha512_zvknh_one

    // LMUL 1. The stack takes K of the last pass as the registers need it.
.L_sha512_zvknh_streams_m1:
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v2, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
.L_sha512_zvknh_m1:
    ZVKNH_SPREAD_POINTERS v2, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_NEXT_POINTERS v3, v2, .L_SHA512_ZVKNH_QUAD
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v1, 1, .L_sha512_zvknh_feba, .L_SHA512_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e64, m1, ta, ma
    ZVKNH_SET_K_OFFSETS .L_SHA512_ZVKNH_WORD_SHIFT, v8, v9, v10, v11
    vsetvli t0, zero, e64, m4, ta, ma
    lla   t1, .L_sha512_zvknh_k
    .irp  k, v16, v20, v24, v28, v12
    vluxei64.v \k, (t1), v8
    addi  t1, t1, .L_SHA512_ZVKNH_K_PASS
    .endr
    slli  t4, a5, .L_SHA512_ZVKNH_M1_PASS_SHIFT
    sub   sp, sp, t4
    vs4r.v v12, (sp)
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e64, m1, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA512_ZVKNH_WORD, v1, v4, v5

    // t1: offset of the block in its message. The addresses are that plus the pointers.
    slli  a2, a2, .L_SHA512_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha512_zvknh_m1_block:
    vsetvli t0, zero, e64, m2, ta, ma
    addi  t3, t1, .L_SHA512_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v2
    vluxei64.v v10, (t3), v2
    addi  t1, t1, .L_SHA512_ZVKNH_BLOCK
    vsetvli t0, zero, e64, m4, ta, ma
    ZVKNH_M1_FIRST_PASS 64
    ZVKNH_M1_NEXT_PASS 64, v20
    ZVKNH_M1_NEXT_PASS 64, v24
    ZVKNH_M1_NEXT_PASS 64, v28
    ZVKNH_M1_SCHEDULE
    vl4re64.v v12, (sp)
    vsetvli t0, zero, e64, m4, ta, ma
    ZVKNH_M1_PASS 64, v12
    ZVKNH_M1_END_BLOCK
    bne   t1, a2, .L_sha512_zvknh_m1_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA512_ZVKNH_WORD, v1, v4, v5
    add   sp, sp, t4
.L_sha512_zvknh_return:
    ret

    // LMUL 2. The stack takes all of K as the registers need it.
.L_sha512_zvknh_m2:
    slli  t0, a5, .L_SHA512_ZVKNH_M2_PASS_SHIFT
    slli  t6, a5, .L_SHA512_ZVKNH_M2_FOUR_PASSES_SHIFT
    add   t6, t6, t0
    sub   sp, sp, t6
    mv    a5, sp
    SHA512_ZVKNH_M2_POINT_TO_K
    vsetvli t0, zero, e64, m2, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v4, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_SPREAD_POINTERS v4, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_NEXT_POINTERS v6, v4, .L_SHA512_ZVKNH_QUAD
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v1, 1, .L_sha512_zvknh_feba, .L_SHA512_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e64, m2, ta, ma
    ZVKNH_SET_K_OFFSETS .L_SHA512_ZVKNH_WORD_SHIFT, v8, v10, v12, v14
    vsetvli t0, zero, e64, m8, ta, ma
    lla   t1, .L_sha512_zvknh_k
    .irp  k, a5, a6, a7, t4, t5
    vluxei64.v v16, (t1), v8
    vs8r.v v16, (\k)
    addi  t1, t1, .L_SHA512_ZVKNH_K_PASS
    .endr
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e64, m2, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA512_ZVKNH_WORD, v1, v24, v26

    slli  a2, a2, .L_SHA512_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha512_zvknh_m2_block:
    vsetvli t0, zero, e64, m4, ta, ma
    addi  t3, t1, .L_SHA512_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v4
    vluxei64.v v12, (t3), v4
    addi  t1, t1, .L_SHA512_ZVKNH_BLOCK
    vsetvli t0, zero, e64, m8, ta, ma
    SHA512_ZVKNH_M2_PASSES
    bne   t1, a2, .L_sha512_zvknh_m2_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA512_ZVKNH_WORD, v1, v24, v26
    add   sp, sp, t6
    ret

    // LMUL 4. The stack takes K, the state before the block, and the pointers.
.L_sha512_zvknh_m4:
    ZVKNH_M4_TAKE_STACK
    slli  t0, t6, .L_ZVKNH_M4_PASS_SHIFT
    sub   sp, sp, t0
    vsetvli t0, zero, e64, m4, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v12, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_SPREAD_POINTERS v12, v8, .L_SHA512_ZVKNH_QUAD_DOUBLES_SHIFT
    vs4r.v v12, (a6)
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v2, 2, .L_sha512_zvknh_feba, .L_SHA512_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e64, m4, ta, ma
    ZVKNH_SET_WORD_OFFSETS .L_SHA512_ZVKNH_WORD_SHIFT, v8
    ZVKNH_M4_PUT_K 64, .L_sha512_zvknh_k, .L_SHA512_ZVKNH_QUAD
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e64, m4, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA512_ZVKNH_WORD, v2, v24, v28

    slli  a2, a2, .L_SHA512_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha512_zvknh_m4_block:
    ZVKNH_M4_LOAD_BLOCK .L_SHA512_ZVKNH_QUAD
    ZVKNH_M4_BEGIN_BLOCK
    ZVKNH_M4_PASS 64
    ZVKNH_M4_PASS 64
    ZVKNH_M4_PASS 64
    ZVKNH_M4_PASS 64
    ZVKNH_M4_LAST_PASS 64
    ZVKNH_M4_END_BLOCK 64
    bne   t1, a2, .L_sha512_zvknh_m4_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA512_ZVKNH_WORD, v2, v24, v28
    mv    sp, t4
    ret
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvknhb_streams
