// void hartlock_aes_ctr_rv64_zvkned(const uint32_t (*keys)[4], size_t rounds, const uint8_t counter[16],
//                                   uint8_t *data, size_t len)
//
// AES in counter mode (SP 800-38A §6.5) in place, with the incrementing function inc_32 (SP 800-38D §6.2), which
// wraps in the last four bytes of the counter block. Needs RV64I, the vector extension (Zve64x is enough, with VLEN
// >= 128), Zvkb (vrev8) and Zvkned. Include frame_macros.S and aes_vector_macros.S before this file.
//
//   a0  expanded key: rounds + 1 round keys, 4-byte aligned, each in the order of its bytes
//   a1  rounds: 10, 12 or 14               a2  first counter block
//   a3  data, any alignment                a4  len, any number of bytes
//
// Clobbers t0-t4, a3-a6, v0-v31, vl and vtype. No stack. All vector registers are zero afterwards; the others hold no
// secret at any time.
//
// Constant time: no branch and no address depends on key or data, only on the arguments a0-a4 and on VLEN. The vector
// instructions on them have constant time, as aes_vector_macros.S says.
//
// With LMUL 4 all registers are in use:
//
//   v0              mask of the counters
//   v4-v7           counters of the next group
//   v8-v11, v28-v31 states of two groups
//   v12-v15         data of one group
//   v1-v3, v16-v27  the round keys
//
// A loop turn encrypts two groups, whose rounds alternate: no round waits for the one before it, and pointer and
// branch are paid once. All round keys of AES-256 stay in registers, so that a group takes 20 instructions: two for
// the counters, 15 for the cipher, three for the data. The data is loaded and stored as whole registers of bytes,
// which need no alignment and no change of vtype (vector extension 1.0 §7.9).

// Applies \step to the index of each round key, \arguments and the register of the round key.
.macro AES_CTR_ZVKNED_EACH_KEY step, arguments:vararg
    .set .L_index, 0
    .irp key, v1, v2, v3, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27
    \step .L_index, \arguments, \key
    .set .L_index, .L_index + 1
    .endr
.endm

// Loads a round key if the cipher has it.
.macro AES_CTR_ZVKNED_LOAD_KEY index, rounds, key
    .if \index <= \rounds
    AES_ZVKNED_LOAD_KEY \key
    .endif
.endm

// Computes a step for two groups.
.macro AES_CTR_ZVKNED_STEP_OF_TWO index, rounds, one, other, key
    AES_ZVKNED_STEP \index, \rounds, \one, \key
    AES_ZVKNED_STEP \index, \rounds, \other, \key
.endm

// XORs a state to the group at a3, and moves a3 to the next one.
.macro AES_CTR_ZVKNED_XOR state
    vl4re8.v v12, (a3)
    vxor.vv v12, v12, \state
    vs4r.v v12, (a3)
    add   a3, a3, a5
.endm

// The whole work after the key schedule for a number of rounds, and a jump to the end.
.macro AES_CTR_ZVKNED rounds
    mv    t0, a0
    vsetivli zero, .L_AES_WORDS, e32, m1, ta, ma
    AES_CTR_ZVKNED_EACH_KEY AES_CTR_ZVKNED_LOAD_KEY, \rounds
    AES_ZVKNED_FIRST_COUNTERS v4, v8, v12

    // a6 is the end of the whole pairs of groups, and a4 the number of bytes after it.
    slli  t3, a5, 1
    AES_VECTOR_WHOLE_GROUPS a6, a3, a4, t3
    beq   a3, a6, .L_aes_ctr_zvkned_rest_\@
.L_aes_ctr_zvkned_pair_\@:
    AES_ZVKNED_NEXT_COUNTERS v8, v4, t1
    AES_ZVKNED_NEXT_COUNTERS v28, v4, t1
    AES_CTR_ZVKNED_EACH_KEY AES_CTR_ZVKNED_STEP_OF_TWO, \rounds, v8, v28
    AES_CTR_ZVKNED_XOR v8
    AES_CTR_ZVKNED_XOR v28
    bne   a3, a6, .L_aes_ctr_zvkned_pair_\@

    // Less than two groups are left. t3 is the number of bytes of the next one, and t4 that of the words of its
    // blocks. The minimum is taken here, because vsetvli may choose less for more than one group (vector extension
    // 1.0 §6.3).
.L_aes_ctr_zvkned_rest_\@:
    beqz  a4, .L_aes_ctr_zvkned_end
    mv    t3, a4
    bgeu  a5, t3, .L_aes_ctr_zvkned_last_\@
    mv    t3, a5
.L_aes_ctr_zvkned_last_\@:
    addi  t4, t3, .L_AES_BLOCK - 1
    andi  t4, t4, -.L_AES_BLOCK
    srli  t4, t4, 2
    vsetvli zero, t4, e32, m4, ta, mu
    AES_ZVKNED_NEXT_COUNTERS v8, v4, t1
    AES_CTR_ZVKNED_EACH_KEY AES_ZVKNED_STEP, \rounds, v8
    vsetvli zero, t3, e8, m4, ta, ma
    vle8.v v12, (a3)
    vxor.vv v12, v12, v8
    vse8.v v12, (a3)
    add   a3, a3, t3
    sub   a4, a4, t3
    j     .L_aes_ctr_zvkned_rest_\@
.endm

HARTLOCK_FUNCTION hartlock_aes_ctr_rv64_zvkned, +zve64x, +zvkb, +zvkned
    // t1 is the number of blocks of a group, and a5 that of its bytes.
    csrr  t1, vlenb
    slli  a5, t1, 2
    srli  t1, t1, 2
    li    t0, 12
    bltu  a1, t0, .L_aes_ctr_zvkned_128
    beq   a1, t0, .L_aes_ctr_zvkned_192
    AES_CTR_ZVKNED 14
.L_aes_ctr_zvkned_192:
    AES_CTR_ZVKNED 12
.L_aes_ctr_zvkned_128:
    AES_CTR_ZVKNED 10
.L_aes_ctr_zvkned_end:
    AES_VECTOR_WIPE_REGISTERS
    ret
HARTLOCK_FUNCTION_END hartlock_aes_ctr_rv64_zvkned
