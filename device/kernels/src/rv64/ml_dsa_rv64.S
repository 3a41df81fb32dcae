// void hartlock_ml_dsa_forward_rv64(uint64_t w[256], const uint64_t zetas[17][15], uint32_t to[256])
// void hartlock_ml_dsa_multiply_rv64(uint64_t w[256], const uint64_t zetas[17][15], const uint32_t factor[256])
// void hartlock_ml_dsa_inverse_rv64(uint64_t w[256], const uint64_t zetas[17][15], const uint64_t constants[3])
//
// The number-theoretic transform of ML-DSA and its inverse (FIPS 204 §7.5, algorithms 41 and 42). The first function
// writes NTT(w) to `to`. The second replaces w by NTT(w) ∘ factor without reduction. The third replaces w by its inverse
// NTT, as fractions r · 2^64 / q. Needs RV64I and the multiplication of M. Include frame_macros.S before this file.
//
//   a0  w, 8-byte aligned. Forward: any values below 2^40; the results before the multiplication are at most 16 q
//       larger. Scratch space afterwards if the results are in `to`. Inverse: any values.
//   a1  zetas, read only: the constants of ml_dsa/ntt.rs, block by block
//   a2  to, factor or constants, aligned to its elements
//
// Clobbers t0-t6 and a0-a7. Saves and restores s0-s11. Does not use ra, gp and tp.
// Stack: 96 bytes, which are not wiped because keys and signatures are public.
// Cost: 5.9, 6.4 and 7.2 thousand retired instructions, 3.0 kB of code (QEMU, -icount).
// Not for secrets, although no branch and no address depends on a value.
//
// Four layers are computed on 16 values in registers, so that a value is loaded and stored twice in eight layers. In
// the layers with the distances 128 to 16 the 16 values are 16 apart, and all 16 groups use the constants of block 0. In
// the layers with the distances 8 to 1 they are neighbours, and each group has a block of its own. A block has one
// constant for the first layer of the forward transform, then two, four and eight.
//
// A product is reduced with two multiplications, as ml_dsa/ntt.rs explains.

.set .L_MLDSA_WORD, 8
.set .L_MLDSA_NARROW, 4
.set .L_MLDSA_GROUP, 16
.set .L_MLDSA_BLOCK, 15 * .L_MLDSA_WORD
.set .L_MLDSA_POLY, 256 * .L_MLDSA_WORD
.set .L_MLDSA_FRAME, 96
.set .L_MLDSA_Q, 8380417

// The 16 values are in t0-t5, a3-a7 and s0-s4. t6 is the current zeta, s5 is q, s6 the end of a loop, s7 a bias and s8 a
// scratch register.

.macro MLDSA_SAVED store_or_load
    \store_or_load s0, 0 * .L_MLDSA_WORD(sp)
    \store_or_load s1, 1 * .L_MLDSA_WORD(sp)
    \store_or_load s2, 2 * .L_MLDSA_WORD(sp)
    \store_or_load s3, 3 * .L_MLDSA_WORD(sp)
    \store_or_load s4, 4 * .L_MLDSA_WORD(sp)
    \store_or_load s5, 5 * .L_MLDSA_WORD(sp)
    \store_or_load s6, 6 * .L_MLDSA_WORD(sp)
    \store_or_load s7, 7 * .L_MLDSA_WORD(sp)
    \store_or_load s8, 8 * .L_MLDSA_WORD(sp)
    \store_or_load s9, 9 * .L_MLDSA_WORD(sp)
    \store_or_load s10, 10 * .L_MLDSA_WORD(sp)
    \store_or_load s11, 11 * .L_MLDSA_WORD(sp)
.endm

.macro MLDSA_ENTER
    addi  sp, sp, -.L_MLDSA_FRAME
    MLDSA_SAVED sd
    li    s5, .L_MLDSA_Q
.endm

.macro MLDSA_LEAVE
    MLDSA_SAVED ld
    addi  sp, sp, .L_MLDSA_FRAME
    ret
.endm

// Applies \load_or_store to the 16 values, which are \stride bytes apart.
.macro MLDSA_EACH load_or_store, base, stride
    .set .L_offset, 0
    .irp value, t0, t1, t2, t3, t4, t5, a3, a4, a5, a6, a7, s0, s1, s2, s3, s4
    \load_or_store \value, .L_offset(\base)
    .set .L_offset, .L_offset + \stride
    .endr
.endm

.macro MLDSA_ZETA number
    ld    t6, \number * .L_MLDSA_WORD(a1)
.endm

// A step of algorithm 41 for each pair: b becomes a − ζ·b, and a becomes a + ζ·b. The product is below q.
.macro MLDSA_FORWARD a, b, more:vararg
    mul   s8, \b, t6
    mulhu s8, s8, s5
    sub   \b, \a, s8
    add   \a, \a, s8
    .ifnb \more
    MLDSA_FORWARD \more
    .endif
.endm

// Four layers of the forward transform on the 16 values, with the block of constants at a1. This is a subroutine of the
// two functions below, with its return address in s11. One copy instead of four saves 1.5 kB and costs 64 instructions a
// transform.
HARTLOCK_FUNCTION hartlock_ml_dsa_forward_layers_rv64, +m
    MLDSA_ZETA 0
    MLDSA_FORWARD t0, a5, t1, a6, t2, a7, t3, s0, t4, s1, t5, s2, a3, s3, a4, s4
    MLDSA_ZETA 1
    MLDSA_FORWARD t0, t4, t1, t5, t2, a3, t3, a4
    MLDSA_ZETA 2
    MLDSA_FORWARD a5, s1, a6, s2, a7, s3, s0, s4
    MLDSA_ZETA 3
    MLDSA_FORWARD t0, t2, t1, t3
    MLDSA_ZETA 4
    MLDSA_FORWARD t4, a3, t5, a4
    MLDSA_ZETA 5
    MLDSA_FORWARD a5, a7, a6, s0
    MLDSA_ZETA 6
    MLDSA_FORWARD s1, s3, s2, s4
    MLDSA_ZETA 7
    MLDSA_FORWARD t0, t1
    MLDSA_ZETA 8
    MLDSA_FORWARD t2, t3
    MLDSA_ZETA 9
    MLDSA_FORWARD t4, t5
    MLDSA_ZETA 10
    MLDSA_FORWARD a3, a4
    MLDSA_ZETA 11
    MLDSA_FORWARD a5, a6
    MLDSA_ZETA 12
    MLDSA_FORWARD a7, s0
    MLDSA_ZETA 13
    MLDSA_FORWARD s1, s2
    MLDSA_ZETA 14
    MLDSA_FORWARD s3, s4
    jr    s11
HARTLOCK_FUNCTION_END hartlock_ml_dsa_forward_layers_rv64

// The layers with the distances 128 to 16. Changes a0 by the length of a group.
.macro MLDSA_FORWARD_FAR name
    slli  s7, s5, 3
    addi  s6, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
.L_\name\()_far:
    MLDSA_EACH ld, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    // Each of eight layers subtracts less than q, so no value becomes negative.
    .irp value, t0, t1, t2, t3, t4, t5, a3, a4
    add   \value, \value, s7
    .endr
    jal   s11, hartlock_ml_dsa_forward_layers_rv64
    MLDSA_EACH sd, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  a0, a0, .L_MLDSA_WORD
    bne   a0, s6, .L_\name\()_far
.endm

HARTLOCK_FUNCTION hartlock_ml_dsa_forward_rv64, +m
    MLDSA_ENTER
    MLDSA_FORWARD_FAR ml_dsa_forward
    addi  a0, a0, -.L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  s6, a2, 256 * .L_MLDSA_NARROW
.L_ml_dsa_forward_near:
    addi  a1, a1, .L_MLDSA_BLOCK
    MLDSA_EACH ld, a0, .L_MLDSA_WORD
    jal   s11, hartlock_ml_dsa_forward_layers_rv64
    MLDSA_EACH sw, a2, .L_MLDSA_NARROW
    addi  a0, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  a2, a2, .L_MLDSA_GROUP * .L_MLDSA_NARROW
    bne   a2, s6, .L_ml_dsa_forward_near
    MLDSA_LEAVE
HARTLOCK_FUNCTION_END hartlock_ml_dsa_forward_rv64

// Multiplies one of the 16 values by a factor at a2.
.macro MLDSA_MULTIPLY value, offset
    lwu   t6, \offset
    mul   \value, \value, t6
.endm

HARTLOCK_FUNCTION hartlock_ml_dsa_multiply_rv64, +m
    MLDSA_ENTER
    MLDSA_FORWARD_FAR ml_dsa_multiply
    addi  a0, a0, -.L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  s6, a2, 256 * .L_MLDSA_NARROW
.L_ml_dsa_multiply_near:
    addi  a1, a1, .L_MLDSA_BLOCK
    MLDSA_EACH ld, a0, .L_MLDSA_WORD
    jal   s11, hartlock_ml_dsa_forward_layers_rv64
    MLDSA_EACH MLDSA_MULTIPLY, a2, .L_MLDSA_NARROW
    MLDSA_EACH sd, a0, .L_MLDSA_WORD
    addi  a0, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  a2, a2, .L_MLDSA_GROUP * .L_MLDSA_NARROW
    bne   a2, s6, .L_ml_dsa_multiply_near
    MLDSA_LEAVE
HARTLOCK_FUNCTION_END hartlock_ml_dsa_multiply_rv64

// A step of algorithm 42 for each pair: b becomes ζ·(b − a), and a becomes a + b. The bias in s7 is a multiple of q that
// is not less than any value, so the difference is not negative.
.macro MLDSA_INVERSE a, b, more:vararg
    sub   s8, \b, \a
    add   s8, s8, s7
    add   \a, \a, \b
    mul   \b, s8, t6
    mulhu \b, \b, s5
    .ifnb \more
    MLDSA_INVERSE \more
    .endif
.endm

// Three layers of the inverse transform on the 16 values. The constants are those of the forward transform, backwards.
.macro MLDSA_INVERSE_14
    MLDSA_ZETA 14
    MLDSA_INVERSE t0, t1
    MLDSA_ZETA 13
    MLDSA_INVERSE t2, t3
    MLDSA_ZETA 12
    MLDSA_INVERSE t4, t5
    MLDSA_ZETA 11
    MLDSA_INVERSE a3, a4
    MLDSA_ZETA 10
    MLDSA_INVERSE a5, a6
    MLDSA_ZETA 9
    MLDSA_INVERSE a7, s0
    MLDSA_ZETA 8
    MLDSA_INVERSE s1, s2
    MLDSA_ZETA 7
    MLDSA_INVERSE s3, s4
    MLDSA_ZETA 6
    MLDSA_INVERSE t0, t2, t1, t3
    MLDSA_ZETA 5
    MLDSA_INVERSE t4, a3, t5, a4
    MLDSA_ZETA 4
    MLDSA_INVERSE a5, a7, a6, s0
    MLDSA_ZETA 3
    MLDSA_INVERSE s1, s3, s2, s4
    MLDSA_ZETA 2
    MLDSA_INVERSE t0, t4, t1, t5, t2, a3, t3, a4
    MLDSA_ZETA 1
    MLDSA_INVERSE a5, s1, a6, s2, a7, s3, s0, s4
.endm

// The last layer for each pair. The constants s9 and s10 are fractions, and so are their products modulo 2^64.
.macro MLDSA_UNSCALE a, b, more:vararg
    sub   s8, \b, \a
    add   s8, s8, s7
    add   \a, \a, \b
    mul   \b, s8, s10
    mul   \a, \a, s9
    .ifnb \more
    MLDSA_UNSCALE \more
    .endif
.endm

HARTLOCK_FUNCTION hartlock_ml_dsa_inverse_rv64, +m
    MLDSA_ENTER
    // The bias is 256 q: the values are reduced first, and each layer at most doubles the largest.
    slli  s7, s5, 8
    ld    s9, 0 * .L_MLDSA_WORD(a2)
    // The blocks are read backwards, from block 16 to block 1.
    mv    s6, a1
    addi  a1, a1, 16 * .L_MLDSA_BLOCK
.L_ml_dsa_inverse_near:
    MLDSA_EACH ld, a0, .L_MLDSA_WORD
    // A value x becomes -x * 2^-64 modulo q, which is below q. s9 is the inverse of q modulo 2^64.
    .irp value, t0, t1, t2, t3, t4, t5, a3, a4, a5, a6, a7, s0, s1, s2, s3, s4
    mul   \value, \value, s9
    mulhu \value, \value, s5
    .endr
    MLDSA_INVERSE_14
    MLDSA_ZETA 0
    MLDSA_INVERSE t0, a5, t1, a6, t2, a7, t3, s0, t4, s1, t5, s2, a3, s3, a4, s4
    MLDSA_EACH sd, a0, .L_MLDSA_WORD
    addi  a0, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  a1, a1, -.L_MLDSA_BLOCK
    bne   a1, s6, .L_ml_dsa_inverse_near
    // Now a1 is the address of block 0.
    ld    s9, 1 * .L_MLDSA_WORD(a2)
    ld    s10, 2 * .L_MLDSA_WORD(a2)
    addi  a0, a0, -.L_MLDSA_POLY
    addi  s6, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
.L_ml_dsa_inverse_far:
    MLDSA_EACH ld, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    MLDSA_INVERSE_14
    MLDSA_UNSCALE t0, a5, t1, a6, t2, a7, t3, s0, t4, s1, t5, s2, a3, s3, a4, s4
    MLDSA_EACH sd, a0, .L_MLDSA_GROUP * .L_MLDSA_WORD
    addi  a0, a0, .L_MLDSA_WORD
    bne   a0, s6, .L_ml_dsa_inverse_far
    MLDSA_LEAVE
HARTLOCK_FUNCTION_END hartlock_ml_dsa_inverse_rv64
