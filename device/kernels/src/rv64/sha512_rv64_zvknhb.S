// void hartlock_sha512_rv64_zvknhb(uint64_t state[8], const uint8_t *blocks, size_t count)
// void hartlock_sha512_rv64_zvknhb_streams(uint64_t (*states)[8], const uint8_t *const *messages,
//                                          size_t count, size_t n)
//
// SHA-384 and SHA-512 compression (FIPS 180-4 §6.4.2) of `count` blocks of 128 bytes, of one message or of each of
// `n` messages. Needs RV64I, the vector extension (Zve64x is enough, with VLEN >= 128), Zvkb (vrev8), which is a
// subset of Zvbb, and Zvknhb. Include frame_macros.S and sha2_zvknh_macros.S before this file.
//
//   a0  state, or consecutive states, 8-byte aligned, updated in place
//   a1  blocks, 8-byte aligned, read only; or n pointers to such blocks, which may be equal
//   a2  count; if it is 0, nothing is accessed   a3  n, 1 to VLEN / 64
//
// Clobbers t0-t6, a1-a7, v0-v31, vl and vtype. The stack is not wiped, because the message is public. With VLENB =
// VLEN / 8 its size is:
//
//   LMUL 1   n up to VLEN / 256, and one message    4 * VLENB bytes,  128 at VLEN 256
//   LMUL 2   n up to VLEN / 128                    40 * VLENB bytes, 1280 at VLEN 256
//            the same at VLEN 128                  none
//   LMUL 4   n up to VLEN / 64                     92 * VLENB bytes, 1472 at VLEN 128
//
// A quad of words has 256 bits. At VLEN 128 this is two registers, and one message uses LMUL 2. Constant time: no
// branch and no address depends on message or state, only on the arguments and on VLEN. The vector instructions on
// them are in the list of Zvkt.
//
// Registers and macros are described in sha2_zvknh_macros.S.

// Sizes of a word and of a quad of words, and number of double-words in a quad.
.set .L_SHA512_ZVKNH_WORD, 8
.set .L_SHA512_ZVKNH_WORD_SHIFT, 3
.set .L_SHA512_ZVKNH_QUAD, 32
.set .L_SHA512_ZVKNH_QUAD_SHIFT, 5
.set .L_SHA512_ZVKNH_DOUBLES_SHIFT, 2

// Sizes of a block and of a state.
.set .L_SHA512_ZVKNH_BLOCK, 128
.set .L_SHA512_ZVKNH_BLOCK_SHIFT, 7
.set .L_SHA512_ZVKNH_STATE_SHIFT, 6

// The table K of the portable implementation (sha2/compression.rs).
.set .L_SHA512_ZVKNH_K, hartlock_sha512_k

.pushsection .rodata.hartlock_sha512_rv64_zvknhb, "a", @progbits
// Offsets of f, e, b and a in a state, which are read as one double-word.
.balign 8
.L_SHA512_ZVKNH_FEBA:
    .half 5 * .L_SHA512_ZVKNH_WORD, 4 * .L_SHA512_ZVKNH_WORD, .L_SHA512_ZVKNH_WORD, 0
.popsection

// LMUL 2: sets a6, a7, t4 and t5 to the addresses of K of the later passes. a5 is the address for the first pass, and
// t0 is the length of each in bytes.
.macro SHA512_ZVKNH_M2_POINT_TO_K
    add   a6, a5, t0
    add   a7, a6, t0
    add   t4, a7, t0
    add   t5, t4, t0
.endm

// LMUL 2: computes all passes over a block.
.macro SHA512_ZVKNH_M2_PASSES
    SHA2_ZVKNH_M2_FIRST_PASS 64, a5             // rounds 0 to 15
    SHA2_ZVKNH_M2_NEXT_PASS 64, a6              // rounds 16 to 31
    SHA2_ZVKNH_M2_NEXT_PASS 64, a7              // rounds 32 to 47
    SHA2_ZVKNH_M2_NEXT_PASS 64, t4              // rounds 48 to 63
    SHA2_ZVKNH_M2_NEXT_PASS 64, t5              // rounds 64 to 79
    SHA2_ZVKNH_M2_END_BLOCK                     // step 4 of FIPS 180-4 §6.4.2
.endm

// The kernel for one message.
HARTLOCK_FUNCTION hartlock_sha512_rv64_zvknhb, +zve64x, +zvkb, +zvknhb
    beqz  a2, .L_sha512_zvknh_one_return
    csrr  a5, vlenb
    srli  t0, a5, .L_SHA512_ZVKNH_QUAD_SHIFT
    bnez  t0, .L_sha512_zvknh_one_of_many

    // At VLEN 128 two registers hold one quad, so a block and K have the same layout in memory as in registers.
.L_sha512_zvknh_one:
    SHA2_ZVKNH_SET_MASK
    lla   a5, .L_SHA512_ZVKNH_K
    li    t0, 4 * .L_SHA512_ZVKNH_QUAD
    SHA512_ZVKNH_M2_POINT_TO_K

    // This loads abef and cdgh. a2 becomes the end of the blocks.
    li    a4, .L_SHA2_ZVKNH_WORDS
    SHA2_ZVKNH_M2 64
    lla   t0, .L_SHA512_ZVKNH_FEBA
    vle16.v v1, (t0)
    SHA2_ZVKNH_MOVE_STATES SHA512, vluxei16.v, v1, v24, v26
    slli  a2, a2, .L_SHA512_ZVKNH_BLOCK_SHIFT
    add   a2, a2, a1
.L_sha512_zvknh_one_block:
    SHA2_ZVKNH_M2_RING 64
    vl8re64.v v8, (a1)
    addi  a1, a1, .L_SHA512_ZVKNH_BLOCK
    SHA512_ZVKNH_M2_PASSES
    bne   a1, a2, .L_sha512_zvknh_one_block

    SHA2_ZVKNH_MOVE_STATES SHA512, vsuxei16.v, v1, v24, v26
.L_sha512_zvknh_one_return:
    ret

    // Wider registers hold several streams. All of them process the same message, whose pointer is in every element.
.L_sha512_zvknh_one_of_many:
    li    a3, 1
    vsetvli t0, zero, e64, m1, ta, ma           // one element a double-word
    vid.v v8
    vmv.v.x v2, a1
    tail  .L_sha512_zvknh_m1
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvknhb

// The kernel for several messages.
HARTLOCK_FUNCTION hartlock_sha512_rv64_zvknhb_streams, +zve64x, +zvkb, +zvknhb
    beqz  a2, .L_sha512_zvknh_return

    // t0 and t1 are the maximum numbers of streams with LMUL 1 and LMUL 2. At VLEN 128 LMUL 1 has no stream, and LMUL
    // 2 has one.
    csrr  a5, vlenb
    srli  t0, a5, .L_SHA512_ZVKNH_QUAD_SHIFT
    srli  t1, a5, .L_SHA512_ZVKNH_QUAD_SHIFT - 1
    bltu  t1, a3, .L_sha512_zvknh_m4
    beqz  t0, .L_sha512_zvknh_one_after_all
    bltu  t0, a3, .L_sha512_zvknh_m2

    // With LMUL 1, K of the last pass is on the stack, because no registers are left. t4 is its length in bytes.
    vsetvli t0, zero, e64, m1, ta, ma
    vid.v v8
    SHA2_ZVKNH_GATHER_POINTERS SHA512, v2, v8
.L_sha512_zvknh_m1:
    SHA2_ZVKNH_M1_START SHA512, 64, v16, v20, v24, v28, v12
    slli  t4, a5, .L_SHA2_ZVKNH_M1_PASS_SHIFT
    sub   sp, sp, t4
    vs4r.v v12, (sp)
.L_sha512_zvknh_m1_block:
    SHA2_ZVKNH_M1_LOAD SHA512
    SHA2_ZVKNH_M1_RING 64
    SHA2_ZVKNH_M1_FIRST_PASS 64                 // rounds 0 to 15
    SHA2_ZVKNH_M1_NEXT_PASS 64, v20             // rounds 16 to 31
    SHA2_ZVKNH_M1_NEXT_PASS 64, v24             // rounds 32 to 47
    SHA2_ZVKNH_M1_NEXT_PASS 64, v28             // rounds 48 to 63
    SHA2_ZVKNH_M1_SCHEDULE 64
    vl4re64.v v12, (sp)
    SHA2_ZVKNH_M1_PASS 64, v12                  // rounds 64 to 79
    SHA2_ZVKNH_M1_END_BLOCK                     // step 4 of FIPS 180-4 §6.4.2
    bne   t1, a2, .L_sha512_zvknh_m1_block

    SHA2_ZVKNH_MOVE_STATES SHA512, vsuxei16.v, v1, v4, v5
    add   sp, sp, t4
.L_sha512_zvknh_return:
    ret

    // This is one stream at VLEN 128.
.L_sha512_zvknh_one_after_all:
    ld    a1, (a1)
    tail  .L_sha512_zvknh_one

    // With LMUL 2, K is on the stack. a5, a6, a7, t4 and t5 each point to K of one pass. t6 is the length of K in
    // bytes, four passes and one.
.L_sha512_zvknh_m2:
    slli  t6, a5, .L_SHA2_ZVKNH_M2_FOUR_PASSES_SHIFT
    slli  t0, a5, .L_SHA2_ZVKNH_M2_PASS_SHIFT
    add   t6, t6, t0
    sub   sp, sp, t6
    mv    a5, sp
    SHA512_ZVKNH_M2_POINT_TO_K
    SHA2_ZVKNH_M2_START SHA512, 64, a5, a6, a7, t4, t5
.L_sha512_zvknh_m2_block:
    SHA2_ZVKNH_M2_LOAD SHA512
    SHA2_ZVKNH_M2_RING 64
    SHA512_ZVKNH_M2_PASSES
    bne   t1, a2, .L_sha512_zvknh_m2_block

    SHA2_ZVKNH_MOVE_STATES SHA512, vsuxei16.v, v1, v24, v26
    add   sp, sp, t6
    ret

    // This is LMUL 4.
.L_sha512_zvknh_m4:
    SHA2_ZVKNH_M4_TAKE_STACK
    SHA2_ZVKNH_M4_TAKE_STACK_FOR_PASS
    SHA2_ZVKNH_M4_START SHA512, 64
.L_sha512_zvknh_m4_block:
    SHA2_ZVKNH_M4_LOAD SHA512
    SHA2_ZVKNH_M4_FIRST_PASS 64                 // rounds 0 to 15
    SHA2_ZVKNH_M4_PASS 64                       // rounds 16 to 31
    SHA2_ZVKNH_M4_PASS 64                       // rounds 32 to 47
    SHA2_ZVKNH_M4_PASS 64                       // rounds 48 to 63
    SHA2_ZVKNH_M4_LAST_PASS 64                  // rounds 64 to 79
    SHA2_ZVKNH_M4_END_BLOCK 64                  // step 4 of FIPS 180-4 §6.4.2
    bne   t1, a2, .L_sha512_zvknh_m4_block

    SHA2_ZVKNH_MOVE_STATES SHA512, vsuxei16.v, v2, v24, v28
    mv    sp, t4
    ret
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvknhb_streams
