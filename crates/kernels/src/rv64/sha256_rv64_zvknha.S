// void hartlock_sha256_rv64_zvknha(uint32_t state[8], const uint8_t *blocks, size_t count)
// void hartlock_sha256_rv64_zvknha_streams(uint32_t (*states)[8], const uint8_t *const *messages,
//                                          size_t count, size_t n)
//
// SHA-256 compression (FIPS 180-4 §6.2.2) of `count` blocks of 64 bytes, of one message or of each
// of `n`. Needs RV64I, V (of it no more than Zve64x, with VLEN >= 128), Zvkb (vrev8), which is a
// part of Zvbb, and Zvknha or Zvknhb. Include before it: frame_macros.S, sha2_zvknh_macros.S.
//
//   a0  state, or states one after the other, 4-byte aligned, updated in place
//   a1  blocks, 8-byte aligned, only read; or n pointers to such, which may be equal and may lie
//       anywhere
//   a2  count; with 0 nothing is touched   a3  n, 1 to VLEN / 32
//
// Clobbers t0-t6, a1-a7, v0-v31, vl and vtype. Stack, not wiped, since the message is public:
//
//   n up to VLEN / 128, and one message   none                      at VLEN 128 and 256
//   n up to VLEN / 64                     32 * VLENB bytes           512,  1024
//   n up to VLEN / 32                     76 * VLENB bytes          1216,  2432
//
// Constant time: no branch and no address depends on message or state, only on the arguments; the
// vector instructions on them are on the list of Zvkt.
//
// Registers: see sha2_zvknh_macros.S.

// Sizes in bytes. A pass is 16 rounds.
.set .L_SHA256_ZVKNH_WORD, 4
.set .L_SHA256_ZVKNH_WORD_SHIFT, 2
.set .L_SHA256_ZVKNH_BLOCK, 64
.set .L_SHA256_ZVKNH_BLOCK_SHIFT, 6
.set .L_SHA256_ZVKNH_STATE_SHIFT, 5
.set .L_SHA256_ZVKNH_K_PASS, 16 * .L_SHA256_ZVKNH_WORD

// A quad: its bytes, also those of a vector register that holds just one, and its double-words.
.set .L_SHA256_ZVKNH_QUAD, 16
.set .L_SHA256_ZVKNH_QUAD_SHIFT, 4
.set .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT, 1

// LMUL 2: 8 registers hold K of a pass, 32 all of it.
.set .L_SHA256_ZVKNH_M2_PASS_SHIFT, 3
.set .L_SHA256_ZVKNH_M2_K_SHIFT, 5

// FIPS 180-4 §4.2.2.
.pushsection .rodata.hartlock_sha256_rv64_zvknha, "a", @progbits
.balign 8
.L_sha256_zvknh_k:
    // t = 0 to 15
    .word 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5
    .word 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
    .word 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
    .word 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
    // t = 16 to 31
    .word 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc
    .word 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .word 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7
    .word 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
    // t = 32 to 47
    .word 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
    .word 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
    .word 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3
    .word 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    // t = 48 to 63
    .word 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5
    .word 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
    .word 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
    .word 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
// Where f, e, b and a lie in a state.
.L_sha256_zvknh_feba:
    .half 5 * .L_SHA256_ZVKNH_WORD, 4 * .L_SHA256_ZVKNH_WORD, .L_SHA256_ZVKNH_WORD, 0
.popsection

HARTLOCK_FUNCTION hartlock_sha256_rv64_zvknha, +zve64x, +zvkb, +zvknha
    beqz  a2, .L_sha256_zvknh_one_return
    csrr  t0, vlenb
    li    t1, .L_SHA256_ZVKNH_QUAD
    bne   t0, t1, .L_sha256_zvknh_one_of_many

    // A register holds one quad, so a block and K lie in memory as registers want them.
    ZVKNH_SET_MASK
    lla   t0, .L_sha256_zvknh_k
    vl8re32.v v16, (t0)
    addi  t0, t0, 2 * .L_SHA256_ZVKNH_K_PASS
    vl8re32.v v24, (t0)
    li    a4, .L_ZVKNH_QUAD_WORDS
    vsetvli zero, a4, e32, m1, ta, ma
    lla   t0, .L_sha256_zvknh_feba
    vle16.v v1, (t0)
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA256_ZVKNH_WORD, v1, v4, v5
    slli  a2, a2, .L_SHA256_ZVKNH_BLOCK_SHIFT
    add   a2, a2, a1
.L_sha256_zvknh_one_block:
    vsetvli t0, zero, e32, m4, ta, ma
    vl4re32.v v8, (a1)
    addi  a1, a1, .L_SHA256_ZVKNH_BLOCK
    ZVKNH_M1_FIRST_PASS 32
    ZVKNH_M1_NEXT_PASS 32, v20
    ZVKNH_M1_NEXT_PASS 32, v24
    ZVKNH_M1_NEXT_PASS 32, v28
    ZVKNH_M1_END_BLOCK
    bne   a1, a2, .L_sha256_zvknh_one_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA256_ZVKNH_WORD, v1, v4, v5
.L_sha256_zvknh_one_return:
    ret

    // Wider registers: one stream of those that would fit.
.L_sha256_zvknh_one_of_many:
    li    a3, 1
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    vmv.v.x v2, a1
    tail  .L_sha256_zvknh_m1
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvknha

HARTLOCK_FUNCTION hartlock_sha256_rv64_zvknha_streams, +zve64x, +zvkb, +zvknha
    beqz  a2, .L_sha256_zvknh_return
    csrr  a5, vlenb
    srli  t0, a5, .L_SHA256_ZVKNH_QUAD_SHIFT
    slli  t1, t0, 1
    bltu  t1, a3, .L_sha256_zvknh_m4
    bltu  t0, a3, .L_sha256_zvknh_m2

    // LMUL 1.
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v2, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
.L_sha256_zvknh_m1:
    ZVKNH_SPREAD_POINTERS v2, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_NEXT_POINTERS v3, v2, .L_SHA256_ZVKNH_QUAD
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v1, 1, .L_sha256_zvknh_feba, .L_SHA256_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e32, m1, ta, ma
    ZVKNH_SET_K_OFFSETS .L_SHA256_ZVKNH_WORD_SHIFT, v8, v9, v10, v11
    vsetvli t0, zero, e32, m4, ta, ma
    lla   t1, .L_sha256_zvknh_k
    .irp  k, v16, v20, v24, v28
    vluxei32.v \k, (t1), v8
    addi  t1, t1, .L_SHA256_ZVKNH_K_PASS
    .endr
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e32, m1, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA256_ZVKNH_WORD, v1, v4, v5

    // t1: offset of the block in its message. The addresses are that plus the pointers.
    slli  a2, a2, .L_SHA256_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha256_zvknh_m1_block:
    vsetvli t0, zero, e64, m2, ta, ma
    addi  t3, t1, .L_SHA256_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v2
    vluxei64.v v10, (t3), v2
    addi  t1, t1, .L_SHA256_ZVKNH_BLOCK
    vsetvli t0, zero, e32, m4, ta, ma
    ZVKNH_M1_FIRST_PASS 32
    ZVKNH_M1_NEXT_PASS 32, v20
    ZVKNH_M1_NEXT_PASS 32, v24
    ZVKNH_M1_NEXT_PASS 32, v28
    ZVKNH_M1_END_BLOCK
    bne   t1, a2, .L_sha256_zvknh_m1_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA256_ZVKNH_WORD, v1, v4, v5
.L_sha256_zvknh_return:
    ret

    // LMUL 2. The stack takes K as the registers need it, from sp, a5, a6 and a7 on a pass each.
.L_sha256_zvknh_m2:
    slli  t4, a5, .L_SHA256_ZVKNH_M2_K_SHIFT
    sub   sp, sp, t4
    slli  t0, a5, .L_SHA256_ZVKNH_M2_PASS_SHIFT
    add   a5, sp, t0
    add   a6, a5, t0
    add   a7, a6, t0
    vsetvli t0, zero, e64, m2, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v4, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_SPREAD_POINTERS v4, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_NEXT_POINTERS v6, v4, .L_SHA256_ZVKNH_QUAD
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v1, 1, .L_sha256_zvknh_feba, .L_SHA256_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e32, m2, ta, ma
    ZVKNH_SET_K_OFFSETS .L_SHA256_ZVKNH_WORD_SHIFT, v8, v10, v12, v14
    vsetvli t0, zero, e32, m8, ta, ma
    lla   t1, .L_sha256_zvknh_k
    .irp  k, sp, a5, a6, a7
    vluxei32.v v16, (t1), v8
    vs8r.v v16, (\k)
    addi  t1, t1, .L_SHA256_ZVKNH_K_PASS
    .endr
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e32, m2, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA256_ZVKNH_WORD, v1, v24, v26

    slli  a2, a2, .L_SHA256_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha256_zvknh_m2_block:
    vsetvli t0, zero, e64, m4, ta, ma
    addi  t3, t1, .L_SHA256_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v4
    vluxei64.v v12, (t3), v4
    addi  t1, t1, .L_SHA256_ZVKNH_BLOCK
    vsetvli t0, zero, e32, m8, ta, ma
    ZVKNH_M2_FIRST_PASS 32, sp
    ZVKNH_M2_NEXT_PASS 32, a5
    ZVKNH_M2_NEXT_PASS 32, a6
    ZVKNH_M2_NEXT_PASS 32, a7
    ZVKNH_M2_END_BLOCK
    bne   t1, a2, .L_sha256_zvknh_m2_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA256_ZVKNH_WORD, v1, v24, v26
    add   sp, sp, t4
    ret

    // LMUL 4. The stack takes K, the state before the block, and the pointers.
.L_sha256_zvknh_m4:
    ZVKNH_M4_TAKE_STACK
    vsetvli t0, zero, e64, m4, ta, ma
    vid.v v8
    ZVKNH_GATHER_POINTERS v12, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
    ZVKNH_SPREAD_POINTERS v12, v8, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT
    vs4r.v v12, (a6)
    ZVKNH_SET_MASK
    ZVKNH_SET_STATE_OFFSETS v2, 2, .L_sha256_zvknh_feba, .L_SHA256_ZVKNH_STATE_SHIFT
    vsetvli t0, zero, e32, m4, ta, ma
    ZVKNH_SET_WORD_OFFSETS .L_SHA256_ZVKNH_WORD_SHIFT, v8
    ZVKNH_M4_PUT_K 32, .L_sha256_zvknh_k, .L_SHA256_ZVKNH_QUAD
    slli  a4, a3, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsetvli zero, a4, e32, m4, ta, ma
    ZVKNH_MOVE_STATE vluxei16.v, .L_SHA256_ZVKNH_WORD, v2, v24, v28
    // a3: double-words in a quad of all streams.
    slli  a3, a3, .L_SHA256_ZVKNH_QUAD_DOUBLES_SHIFT

    slli  a2, a2, .L_SHA256_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.L_sha256_zvknh_m4_block:
    vsetvli zero, a3, e64, m4, ta, ma
    ZVKNH_M4_LOAD_BLOCK .L_SHA256_ZVKNH_QUAD
    vsetvli zero, a4, e32, m4, ta, ma
    ZVKNH_M4_BEGIN_BLOCK
    ZVKNH_M4_PASS 32
    ZVKNH_M4_PASS 32
    ZVKNH_M4_PASS 32
    ZVKNH_M4_LAST_PASS 32
    ZVKNH_M4_END_BLOCK 32
    bne   t1, a2, .L_sha256_zvknh_m4_block
    ZVKNH_MOVE_STATE vsuxei16.v, .L_SHA256_ZVKNH_WORD, v2, v24, v28
    mv    sp, t4
    ret
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvknha_streams
