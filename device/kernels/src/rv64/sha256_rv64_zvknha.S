// void hartlock_sha256_rv64_zvknha(uint32_t state[8], const uint8_t *blocks, size_t count)
// void hartlock_sha256_rv64_zvknha_streams(uint32_t (*states)[8], const uint8_t *const *messages,
//                                          size_t count, size_t n)
//
// SHA-256 compression (FIPS 180-4 §6.2.2) of `count` blocks of 64 bytes, of one message or of each of `n` messages.
// Needs RV64I, the vector extension (Zve64x is enough, with VLEN >= 128), Zvkb (vrev8), which is a subset of Zvbb,
// and Zvknha or Zvknhb. Include frame_macros.S and sha2_zvknh_macros.S before this file.
//
//   a0  state, or consecutive states, 4-byte aligned, updated in place
//   a1  blocks, 8-byte aligned, read only; or n pointers to such blocks, which may be equal
//   a2  count; if it is 0, nothing is accessed   a3  n, 1 to VLEN / 32
//
// Clobbers t0-t6, a1-a7, v0-v31, vl and vtype. The stack is not wiped, because the message is public. With VLENB =
// VLEN / 8 its size is:
//
//   LMUL 1   n up to VLEN / 128, and one message   none
//   LMUL 2   n up to VLEN / 64                     32 * VLENB bytes,  512 at VLEN 128
//   LMUL 4   n up to VLEN / 32                     76 * VLENB bytes, 1216 at VLEN 128
//
// Constant time: no branch and no address depends on message or state, only on the arguments and on VLEN. The vector
// instructions on them are in the list of Zvkt.
//
// Registers and macros are described in sha2_zvknh_macros.S.

// Sizes of a word and of a quad of words, and number of double-words in a quad.
.set .L_SHA256_ZVKNH_WORD, 4
.set .L_SHA256_ZVKNH_WORD_SHIFT, 2
.set .L_SHA256_ZVKNH_QUAD, 16
.set .L_SHA256_ZVKNH_QUAD_SHIFT, 4
.set .L_SHA256_ZVKNH_DOUBLES_SHIFT, 1

// Sizes of a block and of a state.
.set .L_SHA256_ZVKNH_BLOCK, 64
.set .L_SHA256_ZVKNH_BLOCK_SHIFT, 6
.set .L_SHA256_ZVKNH_STATE_SHIFT, 5

// The table K of the portable implementation (sha2/compression.rs).
.set .L_SHA256_ZVKNH_K, hartlock_sha256_k

.pushsection .rodata.hartlock_sha256_rv64_zvknha, "a", @progbits
// Offsets of f, e, b and a in a state, which are read as one double-word.
.balign 8
.L_SHA256_ZVKNH_FEBA:
    .half 5 * .L_SHA256_ZVKNH_WORD, 4 * .L_SHA256_ZVKNH_WORD, .L_SHA256_ZVKNH_WORD, 0
.popsection

// The kernel for one message.
HARTLOCK_FUNCTION hartlock_sha256_rv64_zvknha, +zve64x, +zvkb, +zvknha
    beqz  a2, .L_sha256_zvknh_one_return
    csrr  t0, vlenb
    li    t1, .L_SHA256_ZVKNH_QUAD
    bne   t0, t1, .L_sha256_zvknh_one_of_many

    // At VLEN 128 a register holds one quad, so a block and K have the same layout in memory as in registers.
    SHA2_ZVKNH_SET_MASK
    lla   t0, .L_SHA256_ZVKNH_K
    vl8re32.v v16, (t0)
    addi  t0, t0, 8 * .L_SHA256_ZVKNH_QUAD
    vl8re32.v v24, (t0)

    // This loads abef and cdgh. a2 becomes the end of the blocks.
    li    a4, .L_SHA2_ZVKNH_WORDS
    SHA2_ZVKNH_M1 32
    lla   t0, .L_SHA256_ZVKNH_FEBA
    vle16.v v1, (t0)
    SHA2_ZVKNH_MOVE_STATES SHA256, vluxei16.v, v1, v4, v5
    slli  a2, a2, .L_SHA256_ZVKNH_BLOCK_SHIFT
    add   a2, a2, a1

    // K of rounds 0-15, 16-31, 32-47 and 48-63 is in v16, v20, v24 and v28.
.L_sha256_zvknh_one_block:
    SHA2_ZVKNH_M1_RING 32
    vl4re32.v v8, (a1)
    addi  a1, a1, .L_SHA256_ZVKNH_BLOCK
    SHA2_ZVKNH_M1_FIRST_PASS 32                 // rounds 0 to 15
    SHA2_ZVKNH_M1_NEXT_PASS 32, v20             // rounds 16 to 31
    SHA2_ZVKNH_M1_NEXT_PASS 32, v24             // rounds 32 to 47
    SHA2_ZVKNH_M1_NEXT_PASS 32, v28             // rounds 48 to 63
    SHA2_ZVKNH_M1_END_BLOCK                     // step 4 of FIPS 180-4 §6.2.2
    bne   a1, a2, .L_sha256_zvknh_one_block

    SHA2_ZVKNH_MOVE_STATES SHA256, vsuxei16.v, v1, v4, v5
.L_sha256_zvknh_one_return:
    ret

    // Wider registers hold several streams. All of them process the same message, whose pointer is in every element.
.L_sha256_zvknh_one_of_many:
    li    a3, 1
    vsetvli t0, zero, e64, m1, ta, ma           // one element a double-word
    vid.v v8
    vmv.v.x v2, a1
    tail  .L_sha256_zvknh_m1
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvknha

// The kernel for several messages.
HARTLOCK_FUNCTION hartlock_sha256_rv64_zvknha_streams, +zve64x, +zvkb, +zvknha
    beqz  a2, .L_sha256_zvknh_return

    // t0 and t1 are the maximum numbers of streams with LMUL 1 and LMUL 2.
    csrr  a5, vlenb
    srli  t0, a5, .L_SHA256_ZVKNH_QUAD_SHIFT
    slli  t1, t0, 1
    bltu  t1, a3, .L_sha256_zvknh_m4
    bltu  t0, a3, .L_sha256_zvknh_m2

    // With LMUL 1, K is in registers, as above.
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    SHA2_ZVKNH_GATHER_POINTERS SHA256, v2, v8
.L_sha256_zvknh_m1:
    SHA2_ZVKNH_M1_START SHA256, 32, v16, v20, v24, v28
.L_sha256_zvknh_m1_block:
    SHA2_ZVKNH_M1_LOAD SHA256
    SHA2_ZVKNH_M1_RING 32
    SHA2_ZVKNH_M1_FIRST_PASS 32                 // rounds 0 to 15
    SHA2_ZVKNH_M1_NEXT_PASS 32, v20             // rounds 16 to 31
    SHA2_ZVKNH_M1_NEXT_PASS 32, v24             // rounds 32 to 47
    SHA2_ZVKNH_M1_NEXT_PASS 32, v28             // rounds 48 to 63
    SHA2_ZVKNH_M1_END_BLOCK                     // step 4 of FIPS 180-4 §6.2.2
    bne   t1, a2, .L_sha256_zvknh_m1_block

    SHA2_ZVKNH_MOVE_STATES SHA256, vsuxei16.v, v1, v4, v5
.L_sha256_zvknh_return:
    ret

    // With LMUL 2, K is on the stack. sp, a5, a6 and a7 each point to K of one pass, and t4 is its length in bytes.
.L_sha256_zvknh_m2:
    slli  t4, a5, .L_SHA2_ZVKNH_M2_FOUR_PASSES_SHIFT
    slli  t0, a5, .L_SHA2_ZVKNH_M2_PASS_SHIFT
    sub   sp, sp, t4
    add   a5, sp, t0
    add   a6, a5, t0
    add   a7, a6, t0
    SHA2_ZVKNH_M2_START SHA256, 32, sp, a5, a6, a7
.L_sha256_zvknh_m2_block:
    SHA2_ZVKNH_M2_LOAD SHA256
    SHA2_ZVKNH_M2_RING 32
    SHA2_ZVKNH_M2_FIRST_PASS 32, sp             // rounds 0 to 15
    SHA2_ZVKNH_M2_NEXT_PASS 32, a5              // rounds 16 to 31
    SHA2_ZVKNH_M2_NEXT_PASS 32, a6              // rounds 32 to 47
    SHA2_ZVKNH_M2_NEXT_PASS 32, a7              // rounds 48 to 63
    SHA2_ZVKNH_M2_END_BLOCK                     // step 4 of FIPS 180-4 §6.2.2
    bne   t1, a2, .L_sha256_zvknh_m2_block

    SHA2_ZVKNH_MOVE_STATES SHA256, vsuxei16.v, v1, v24, v26
    add   sp, sp, t4
    ret

    // With LMUL 4, a3 is the number of double-words in a quad of all streams, for the loads.
.L_sha256_zvknh_m4:
    SHA2_ZVKNH_M4_TAKE_STACK
    SHA2_ZVKNH_M4_START SHA256, 32
    slli  a3, a3, .L_SHA256_ZVKNH_DOUBLES_SHIFT
.L_sha256_zvknh_m4_block:
    vsetvli zero, a3, e64, m4, ta, ma
    SHA2_ZVKNH_M4_LOAD SHA256
    SHA2_ZVKNH_M4 32
    SHA2_ZVKNH_M4_FIRST_PASS 32                 // rounds 0 to 15
    SHA2_ZVKNH_M4_PASS 32                       // rounds 16 to 31
    SHA2_ZVKNH_M4_PASS 32                       // rounds 32 to 47
    SHA2_ZVKNH_M4_LAST_PASS 32                  // rounds 48 to 63
    SHA2_ZVKNH_M4_END_BLOCK 32                  // step 4 of FIPS 180-4 §6.2.2
    bne   t1, a2, .L_sha256_zvknh_m4_block

    SHA2_ZVKNH_MOVE_STATES SHA256, vsuxei16.v, v2, v24, v28
    mv    sp, t4
    ret
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvknha_streams
