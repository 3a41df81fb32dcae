// void hartlock_ghash_rv64_zbkc(const uint8_t hash_key[16], uint8_t hash[16], const uint8_t *data, size_t len)
//
// Adds blocks to a hash (GHASH, SP 800-38D §6.4). Needs RV64I, Zbkb (brev8) and Zbkc or Zbc (clmul). Include
// frame_macros.S before this file.
//
//   a0  hash_key       a1  hash, updated in place       a2  data      all 8-byte aligned
//   a3  len, a multiple of 16; if it is 0, only the hash key is read
//
// Clobbers t0-t6, a0 and a2-a7, which hold nothing secret afterwards. The stack of 16 bytes has registers of the
// caller.
//
// Constant time: no branch and no address depends on hash key, hash or data, only on the arguments. The instructions
// on them are in the list of Zkt.
//
// With the bits of each byte reversed, bit i of a block is the coefficient of x^i. For the low half a and the high
// half b of a block, and the hash key F, the product is a F + b G with G = F x^64 reduced to 128 bits. Both terms
// have 192 bits, and one step reduces their sum. A block takes 25 instructions.
//
//   a4, a5    F                    t0, t1    the hash                  t4-t6     the product, low bits first
//   a6, a7    G                    t2, t3    a and b; scratch          s0, s1    scratch
//   a0        x^128 reduced

// x^128 reduced: x^7 + x^2 + x + 1.
.set .L_GHASH_ZBKC_REDUCED, 0x87
.set .L_GHASH_ZBKC_BLOCK, 16
.set .L_GHASH_ZBKC_FRAME, 16

// XORs \instruction of two factors to \sum.
.macro GHASH_ZBKC_ADD_PRODUCT sum, instruction, one, other
    \instruction s0, \one, \other
    xor   \sum, \sum, s0
.endm

HARTLOCK_FUNCTION hartlock_ghash_rv64_zbkc, +zbkb, +zbkc
    addi  sp, sp, -.L_GHASH_ZBKC_FRAME
    sd    s0, (sp)
    sd    s1, 8(sp)
    ld    a4, (a0)
    ld    a5, 8(a0)
    brev8 a4, a4
    brev8 a5, a5

    // G is f0 x^64 + f1 x^128.
    li    a0, .L_GHASH_ZBKC_REDUCED
    clmul a6, a5, a0
    clmulh a7, a5, a0
    xor   a7, a7, a4

    add   a3, a3, a2
    beq   a2, a3, .L_ghash_zbkc_end
    ld    t0, (a1)
    ld    t1, 8(a1)
    brev8 t0, t0
    brev8 t1, t1
.L_ghash_zbkc_block:
    ld    t2, (a2)
    ld    t3, 8(a2)
    brev8 t2, t2
    brev8 t3, t3
    xor   t2, t2, t0
    xor   t3, t3, t1
    clmul t4, t2, a4
    clmulh t5, t2, a4
    clmulh t6, t2, a5
    clmul s1, t2, a5
    GHASH_ZBKC_ADD_PRODUCT t4, clmul, t3, a6
    GHASH_ZBKC_ADD_PRODUCT t5, clmulh, t3, a6
    GHASH_ZBKC_ADD_PRODUCT t6, clmulh, t3, a7
    GHASH_ZBKC_ADD_PRODUCT s1, clmul, t3, a7
    xor   t5, t5, s1
    clmul t0, t6, a0
    clmulh t1, t6, a0
    xor   t0, t0, t4
    xor   t1, t1, t5
    addi  a2, a2, .L_GHASH_ZBKC_BLOCK
    bne   a2, a3, .L_ghash_zbkc_block

    brev8 t0, t0
    brev8 t1, t1
    sd    t0, (a1)
    sd    t1, 8(a1)
.L_ghash_zbkc_end:
    ld    s0, (sp)
    ld    s1, 8(sp)
    .irp reg, a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    li    \reg, 0
    .endr
    addi  sp, sp, .L_GHASH_ZBKC_FRAME
    ret
HARTLOCK_FUNCTION_END hartlock_ghash_rv64_zbkc
