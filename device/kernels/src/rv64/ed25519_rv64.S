// Multiplication modulo p = 2^255 - 19 (RFC 8032 §5.1). A number has five limbs of 51 bits, least significant limb
// first.
//
// void hartlock_ed25519_multiply_rv64(uint64_t product[5], const uint64_t a[5], const uint64_t b[5])
// void hartlock_ed25519_square_rv64(uint64_t square[5], const uint64_t a[5], size_t times)
//
// The second function squares `times` times, where `times` > 0. Needs RV64I and the multiplication of M. Include
// frame_macros.S before this file.
//
//   a0  address of the result, 8-byte aligned. Its limbs are below 2^51 + 2^18. It may be one of the factors.
//   a1  address of a, 8-byte aligned, read only. Its limbs are below 2^54.
//   a2  address of b, with the properties of a, or `times`
//
// These functions do not use the C calling convention. They clobber t0-t6, a0-a7 and s2-s11, so that a caller with
// several multiplications saves registers only once. Callers use inline assembly. The functions do not change ra, s0,
// s1, gp and tp, and use no stack.
// Cost: 156 retired instructions for a multiplication, 13 and 104 for each square, 0.9 kB of code.
// Constant time: no branch and no address depends on a limb, only on `times`.
//
// A limb of the result is a sum of products, low + high · 2^54. The value high is the sum of their upper parts, for
// which one factor is shifted left by 10 bits. The difference between the whole sum and high · 2^54 fits into a word,
// so it is computed modulo 2^64 without a carry between words. A product with weight 2^255 or more is multiplied by
// 19 and added at the bottom.

.set .L_ED25519_LIMB, 8
.set .L_ED25519_UPPER, 54
.set .L_ED25519_SHIFT, 64 - .L_ED25519_UPPER
.set .L_ED25519_BITS, 51
.set .L_ED25519_WRAP, 19
// 2^54 is 8 times the weight of the next limb.
.set .L_ED25519_NEXT, .L_ED25519_UPPER - .L_ED25519_BITS

// Loads five limbs from \from, which may be the same register as \l4.
.macro ED25519_RV64_LOAD from, l0, l1, l2, l3, l4
    ld    \l0, 0 * .L_ED25519_LIMB(\from)
    ld    \l1, 1 * .L_ED25519_LIMB(\from)
    ld    \l2, 2 * .L_ED25519_LIMB(\from)
    ld    \l3, 3 * .L_ED25519_LIMB(\from)
    ld    \l4, 4 * .L_ED25519_LIMB(\from)
.endm

// Writes the limbs of a (a3-a7), shifted left, to t0-t4.
.macro ED25519_RV64_SHIFT
    slli  t0, a3, .L_ED25519_SHIFT
    slli  t1, a4, .L_ED25519_SHIFT
    slli  t2, a5, .L_ED25519_SHIFT
    slli  t3, a6, .L_ED25519_SHIFT
    slli  t4, a7, .L_ED25519_SHIFT
.endm

// Starts a sum with its first product. \shifted is \a, shifted left.
.macro ED25519_RV64_BEGIN low, high, a, shifted, b
    mul   \low, \a, \b
    mulhu \high, \shifted, \b
.endm

// Adds another product to a sum.
.macro ED25519_RV64_ADD low, high, a, shifted, b
    mul   t5, \a, \b
    add   \low, \low, t5
    mulhu t5, \shifted, \b
    add   \high, \high, t5
.endm

// Subtracts the upper part from the sum, and adds the upper part of the previous limb.
.macro ED25519_RV64_END low, high, before
    slli  t5, \high, .L_ED25519_UPPER
    sub   \low, \low, t5
    .ifnb \before
    slli  \before, \before, .L_ED25519_NEXT
    add   \low, \low, \before
    .endif
.endm

// Adds the upper part \high of the top limb, multiplied by 19, to the lowest limb. Changes t5.
.macro ED25519_RV64_WRAP lowest, high
    li    t5, .L_ED25519_WRAP << .L_ED25519_NEXT
    mul   t5, t5, \high
    add   \lowest, \lowest, t5
.endm

// Moves the bits above 51 of each limb into the next limb, in one pass. t6 is the mask of a limb. Changes t5 and
// \free.
.macro ED25519_RV64_CARRY free, l0, l1, l2, l3, l4, r0, r1, r2, r3, r4
    srli  t5, \l4, .L_ED25519_BITS
    srli  \free, \l3, .L_ED25519_BITS
    and   \r4, \l4, t6
    add   \r4, \r4, \free
    srli  \free, \l2, .L_ED25519_BITS
    and   \r3, \l3, t6
    add   \r3, \r3, \free
    srli  \free, \l1, .L_ED25519_BITS
    and   \r2, \l2, t6
    add   \r2, \r2, \free
    srli  \free, \l0, .L_ED25519_BITS
    and   \r1, \l1, t6
    add   \r1, \r1, \free
    li    \free, .L_ED25519_WRAP
    mul   t5, t5, \free
    and   \r0, \l0, t6
    add   \r0, \r0, t5
.endm

.macro ED25519_RV64_STORE l0, l1, l2, l3, l4
    sd    \l0, 0 * .L_ED25519_LIMB(a0)
    sd    \l1, 1 * .L_ED25519_LIMB(a0)
    sd    \l2, 2 * .L_ED25519_LIMB(a0)
    sd    \l3, 3 * .L_ED25519_LIMB(a0)
    sd    \l4, 4 * .L_ED25519_LIMB(a0)
.endm

HARTLOCK_FUNCTION hartlock_ed25519_multiply_rv64, +m
    ED25519_RV64_LOAD a1, a3, a4, a5, a6, a7
    ED25519_RV64_LOAD a2, s2, s3, s4, s5, s6
    ED25519_RV64_SHIFT
    // s7-s10 are 19 times the upper limbs of b. Each is free for a sum after the limbs that need it are done.
    li    t5, .L_ED25519_WRAP
    mul   s7, s3, t5
    mul   s8, s4, t5
    mul   s9, s5, t5
    mul   s10, s6, t5
    li    t6, -1
    srli  t6, t6, 64 - .L_ED25519_BITS
    ED25519_RV64_BEGIN a1, a2, a3, t0, s2
    ED25519_RV64_ADD   a1, a2, a4, t1, s10
    ED25519_RV64_ADD   a1, a2, a5, t2, s9
    ED25519_RV64_ADD   a1, a2, a6, t3, s8
    ED25519_RV64_ADD   a1, a2, a7, t4, s7
    ED25519_RV64_END   a1, a2
    ED25519_RV64_BEGIN s7, s11, a3, t0, s3
    ED25519_RV64_ADD   s7, s11, a4, t1, s2
    ED25519_RV64_ADD   s7, s11, a5, t2, s10
    ED25519_RV64_ADD   s7, s11, a6, t3, s9
    ED25519_RV64_ADD   s7, s11, a7, t4, s8
    ED25519_RV64_END   s7, s11, a2
    ED25519_RV64_BEGIN s8, a2, a3, t0, s4
    ED25519_RV64_ADD   s8, a2, a4, t1, s3
    ED25519_RV64_ADD   s8, a2, a5, t2, s2
    ED25519_RV64_ADD   s8, a2, a6, t3, s10
    ED25519_RV64_ADD   s8, a2, a7, t4, s9
    ED25519_RV64_END   s8, a2, s11
    ED25519_RV64_BEGIN s9, s11, a3, t0, s5
    ED25519_RV64_ADD   s9, s11, a4, t1, s4
    ED25519_RV64_ADD   s9, s11, a5, t2, s3
    ED25519_RV64_ADD   s9, s11, a6, t3, s2
    ED25519_RV64_ADD   s9, s11, a7, t4, s10
    ED25519_RV64_END   s9, s11, a2
    ED25519_RV64_BEGIN s10, a2, a3, t0, s6
    ED25519_RV64_ADD   s10, a2, a4, t1, s5
    ED25519_RV64_ADD   s10, a2, a5, t2, s4
    ED25519_RV64_ADD   s10, a2, a6, t3, s3
    ED25519_RV64_ADD   s10, a2, a7, t4, s2
    ED25519_RV64_END   s10, a2, s11
    ED25519_RV64_WRAP  a1, a2
    ED25519_RV64_CARRY s11, a1, s7, s8, s9, s10, a3, a4, a5, a6, a7
    ED25519_RV64_STORE a3, a4, a5, a6, a7
    ret
HARTLOCK_FUNCTION_END hartlock_ed25519_multiply_rv64

HARTLOCK_FUNCTION hartlock_ed25519_square_rv64, +m
    ED25519_RV64_LOAD a1, a3, a4, a5, a6, a7
    li    t6, -1
    srli  t6, t6, 64 - .L_ED25519_BITS
.L_ed25519_rv64_square:
    ED25519_RV64_SHIFT
    // s2-s5 are twice the upper limbs, s6 and s7 are 19 times the top two limbs, and s8 and s9 are twice s6 and s7.
    slli  s2, a4, 1
    slli  s3, a5, 1
    slli  s4, a6, 1
    slli  s5, a7, 1
    li    t5, .L_ED25519_WRAP
    mul   s6, a6, t5
    mul   s7, a7, t5
    slli  s8, s6, 1
    slli  s9, s7, 1
    ED25519_RV64_BEGIN a1, s10, a3, t0, a3
    ED25519_RV64_ADD   a1, s10, a4, t1, s9
    ED25519_RV64_ADD   a1, s10, a5, t2, s8
    ED25519_RV64_END   a1, s10
    ED25519_RV64_BEGIN s8, s11, a3, t0, s2
    ED25519_RV64_ADD   s8, s11, a5, t2, s9
    ED25519_RV64_ADD   s8, s11, a6, t3, s6
    ED25519_RV64_END   s8, s11, s10
    ED25519_RV64_BEGIN s6, s10, a3, t0, s3
    ED25519_RV64_ADD   s6, s10, a4, t1, a4
    ED25519_RV64_ADD   s6, s10, a6, t3, s9
    ED25519_RV64_END   s6, s10, s11
    ED25519_RV64_BEGIN s9, s11, a3, t0, s4
    ED25519_RV64_ADD   s9, s11, a4, t1, s3
    ED25519_RV64_ADD   s9, s11, a7, t4, s7
    ED25519_RV64_END   s9, s11, s10
    ED25519_RV64_BEGIN s7, s10, a3, t0, s5
    ED25519_RV64_ADD   s7, s10, a4, t1, s4
    ED25519_RV64_ADD   s7, s10, a5, t2, a5
    ED25519_RV64_END   s7, s10, s11
    ED25519_RV64_WRAP  a1, s10
    ED25519_RV64_CARRY s11, a1, s8, s6, s9, s7, a3, a4, a5, a6, a7
    addi  a2, a2, -1
    bnez  a2, .L_ed25519_rv64_square
    ED25519_RV64_STORE a3, a4, a5, a6, a7
    ret
HARTLOCK_FUNCTION_END hartlock_ed25519_square_rv64
