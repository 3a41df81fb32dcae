// void hartlock_ghash_rv64_zvbc(const uint8_t hash_key[16], uint8_t hash[16], const uint8_t *data, size_t len)
//
// Adds data, padded with zeros to whole blocks, to a hash (GHASH, SP 800-38D §6.4). Needs RV64I, the vector extension
// with elements of 64 bits (Zve64x, VLEN >= 128), Zvkb (vbrev8) and Zvbc (vclmul). Include frame_macros.S and
// aes_vector_macros.S before this file.
//
//   a0  hash_key       a1  hash, updated in place       a2  data       all with any alignment
//   a3  len, any number of bytes
//
// Clobbers t0-t6, a2-a5, v0-v31, vl and vtype. All vector registers are zero afterwards; the others hold no secret at
// any time. The stack, for powers of the hash key, has 8 * VLENB bytes, 128 at VLEN 128, and is zero afterwards.
//
// Constant time: no branch and no address depends on hash key, hash or data, only on the addresses, on len and on
// VLEN. The vector instructions on them have constant time, as aes_vector_macros.S says.
//
// With the bits of each byte reversed, bit i of a block is the coefficient of x^i. Two neighbouring elements hold the
// low half a and the high half b. A factor F = f1 x^64 + f0 is kept as two such pairs, with G = F x^64 = g1 x^64 + g0
// reduced to 128 bits:
//
//   v4-v7     f0 where a is, g0 where b is
//   v8-v11    f1 where a is, g1 where b is
//
// The product is then a F + b G. Both terms have 192 bits, so that one step reduces them, and one instruction
// computes parts of both. At the end the terms, which are in neighbouring elements, are added.
//
// With n blocks in a register group (LMUL 4, n = VLEN / 32), the loop has one sum for each place in the group, and
// multiplies all of them by H^n. The last whole group has H^(n-i) in place of H^n, so that the sum of all places is
// the hash (aes_gcm_rv64_zvkg.S). 64 bytes of data take 18 instructions at VLEN 128.
//
//   v0-v3     masks: v0 and v1 select the high halves       v12-v15   Y
//   v16-v27   scratch                                       v28-v31   data; powers at the start

.set .L_GHASH_ZVBC_HALVES, 2
// A byte of a mask that selects the second of every two elements.
.set .L_GHASH_ZVBC_HIGH_HALVES, 0xaa
// x^128 reduced: x^7 + x^2 + x + 1. The macros have it in t5.
.set .L_GHASH_ZVBC_REDUCED, 0x87

// Exchanges the halves of all blocks.
.macro GHASH_ZVBC_EXCHANGE to, from
    vslidedown.vi \to, \from, 1
    vslideup.vi \to, \from, 1, v0.t
.endm

// Makes the factor in v4 and v8 of the blocks in \blocks. G is f0 x^64 + f1 x^128.
.macro GHASH_ZVBC_FACTOR blocks
    GHASH_ZVBC_EXCHANGE v8, \blocks
    vclmul.vx v16, \blocks, t5
    vmerge.vvm v4, \blocks, v16, v0
    vclmulh.vx v16, \blocks, t5
    vxor.vv v8, v8, v16, v0.t
.endm

// Multiplies all blocks in \blocks by the factor.
.macro GHASH_ZVBC_MULTIPLY blocks
    // 192 bits of each term: v16, v20 and v24, the low bits first.
    vclmul.vv v16, \blocks, v4
    vclmulh.vv v20, \blocks, v4
    vclmulh.vv v24, \blocks, v8
    vclmul.vv \blocks, \blocks, v8
    vxor.vv v20, v20, \blocks
    // The upper 64 bits are reduced.
    vclmul.vx \blocks, v24, t5
    vxor.vv v16, v16, \blocks
    vclmulh.vx v24, v24, t5
    vxor.vv v20, v20, v24
    // The two terms are added: low half in the lower element, high half in the upper one.
    vmerge.vvm \blocks, v16, v20, v0
    vslidedown.vi v24, v16, 1
    vslideup.vi v24, v20, 1, v0.t
    vxor.vv \blocks, \blocks, v24
.endm

// Replaces v12 = v28 = H in all blocks by H^n in v12, and H^(n-i) in v28 for each block i.
//
// The exponent n - i is one more than n - 1 - i, whose bits are those that i does not have. v12 is squared from H to
// H^n, and each of its values multiplies the blocks of v28 whose exponent has the bit. Others are multiplied by 1.
.macro GHASH_ZVBC_POWERS
    li    t0, .L_GHASH_ZVBC_HALVES              // the lowest bit of i in the number of an element
.L_ghash_zvbc_power_\@:
    GHASH_ZVBC_FACTOR v12
    GHASH_ZVBC_MULTIPLY v12
    vid.v v16
    vand.vx v16, v16, t0
    vmsne.vi v2, v16, 0
    vmv1r.v v0, v2
    vmerge.vim v4, v4, 0, v0
    vmerge.vim v8, v8, 0, v0
    vmandn.mm v0, v2, v1
    vmerge.vim v4, v4, 1, v0
    vmand.mm v0, v2, v1
    vmerge.vim v8, v8, 1, v0                    // G of F = 1 is x^64
    vmv1r.v v0, v1
    GHASH_ZVBC_MULTIPLY v28
    slli  t0, t0, 1
    bltu  t0, t1, .L_ghash_zvbc_power_\@
.endm

// Adds the blocks in v28, in the order of their bytes, and multiplies.
.macro GHASH_ZVBC_ADD
    vbrev8.v v28, v28
    vxor.vv v12, v12, v28
    GHASH_ZVBC_MULTIPLY v12
.endm

HARTLOCK_FUNCTION hartlock_ghash_rv64_zvbc, +zve64x, +zvkb, +zvbc
    beqz  a3, .L_ghash_zvbc_return

    // a4 is the length of a group; sp and t6 are the addresses of the factor with the powers.
    csrr  a4, vlenb
    slli  a4, a4, 2
    slli  t0, a4, 1
    sub   sp, sp, t0
    add   t6, sp, a4

    // H is copied to all blocks of v12. t1 is the number of elements.
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vle8.v v4, (a0)
    vsetvli t0, zero, e8, m1, ta, ma
    li    t0, .L_GHASH_ZVBC_HIGH_HALVES
    vmv.v.x v1, t0
    vmv1r.v v0, v1
    li    t5, .L_GHASH_ZVBC_REDUCED
    vsetvli t1, zero, e64, m4, ta, mu
    vid.v v8
    vand.vi v8, v8, .L_GHASH_ZVBC_HALVES - 1
    vrgather.vv v12, v4, v8
    vbrev8.v v12, v12

    // A single block, such as that of the lengths, needs no powers. a5 is 0 then.
    li    a5, 0
    li    t0, .L_AES_BLOCK
    bgeu  t0, a3, .L_ghash_zvbc_start
    vmv4r.v v28, v12
    GHASH_ZVBC_POWERS
    GHASH_ZVBC_FACTOR v28
    vs4r.v v4, (sp)
    vs4r.v v8, (t6)

    // Then a5 is the end of the whole groups, and a3 the number of bytes after it.
    AES_VECTOR_WHOLE_GROUPS a5, a2, a3, a4
.L_ghash_zvbc_start:
    GHASH_ZVBC_FACTOR v12
    AES_VECTOR_LOAD_BLOCK v12, a1
    vsetvli t1, zero, e64, m4, ta, mu
    vbrev8.v v12, v12
    beqz  a5, .L_ghash_zvbc_single
    beq   a2, a5, .L_ghash_zvbc_rest
    sub   t3, a5, a4                            // the last whole group
    beq   a2, t3, .L_ghash_zvbc_last
.L_ghash_zvbc_group:
    vl4re8.v v28, (a2)
    add   a2, a2, a4
    GHASH_ZVBC_ADD
    bne   a2, t3, .L_ghash_zvbc_group
    beq   a2, a5, .L_ghash_zvbc_sum

    // The last group takes another turn of the loop with the powers.
.L_ghash_zvbc_last:
    vl4re64.v v4, (sp)
    vl4re64.v v8, (t6)
    mv    t3, a5
    j     .L_ghash_zvbc_group
.L_ghash_zvbc_sum:
    AES_VECTOR_FOLD v12, v16

    // The lowest powers belong to the blocks that are left. What is after them is zero, and stays so.
.L_ghash_zvbc_rest:
    beqz  a3, .L_ghash_zvbc_end
    addi  t3, a3, .L_AES_BLOCK - 1
    andi  t3, t3, -.L_AES_BLOCK
    sub   t0, a4, t3
    srli  t0, t0, 3
    vsetvli t1, zero, e64, m4, ta, mu
    vl4re64.v v16, (sp)
    vslidedown.vx v4, v16, t0
    vl4re64.v v16, (t6)
    vslidedown.vx v8, v16, t0
.L_ghash_zvbc_single:
    vmv.v.i v28, 0
    vsetvli zero, a3, e8, m4, tu, ma
    vle8.v v28, (a2)
    vsetvli t1, zero, e64, m4, ta, mu
    GHASH_ZVBC_ADD
    AES_VECTOR_FOLD v12, v16

.L_ghash_zvbc_end:
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vbrev8.v v12, v12
    vse8.v v12, (a1)
    AES_VECTOR_WIPE_REGISTERS
    vs4r.v v0, (sp)
    vs4r.v v0, (t6)
    add   sp, t6, a4
.L_ghash_zvbc_return:
    ret
HARTLOCK_FUNCTION_END hartlock_ghash_rv64_zvbc
