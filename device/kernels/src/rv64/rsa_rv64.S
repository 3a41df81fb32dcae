// void hartlock_rsa_rv64(uint64_t *sum, const uint64_t *a, size_t count, const uint64_t b[6], const uint64_t start[6])
//
// Adds a · b to a sum. b has six digits, and a has six · `count` digits of 57 bits. These are the multiplications of
// RSA (Handbook of Applied Cryptography §14.3.2). Needs RV64I and the multiplication of M. Include frame_macros.S
// before this file.
//
//   a0  sum, 8-byte aligned: six limbs more than a, least significant first, updated in place. The value added to a
//       limb is below 12 · 2^57. The caller must make sure that no limb overflows.
//   a1  a, 8-byte aligned, read only: each digit is below 2^57
//   a2  count, > 0
//   a3  b, read only: each digit is below 2^57
//   a4  start, read only: the carry into the lowest limb, and the five digits before a, in reverse order
//
// Clobbers t0-t6 and a0-a7. Saves and restores s0-s9. Does not use ra, gp and tp.
// Stack: 80 bytes, which are not wiped because signature and modulus are public.
// Cost: 4.92 retired instructions for a product of two digits, 0.9 kB of code.
// Constant time: no branch and no address depends on a digit, only on count.
//
// A limb receives the low parts of six products, and the next limb their high parts. The high part of a product is
// that of a product with one factor shifted left. The difference between the whole sum and its high parts fits into a
// limb, so it is computed modulo 2^64 without a carry between words.

.set .L_RSA_DIGIT, 8
.set .L_RSA_BITS, 57
.set .L_RSA_GROUP, 6 * .L_RSA_DIGIT
.set .L_RSA_FRAME, 80

// Adds a product to the low sum in t6 and the high sum \high. \shifted is \b, shifted left.
.macro RSA_RV64_ADD a, b, shifted, high
    mul   a5, \a, \b
    add   t6, t6, a5
    mulhu a5, \a, \shifted
    add   \high, \high, a5
.endm

// Computes a limb: the sum of the products of the newest digit of a and the first digit of b, to the oldest and the
// last. \before is the high sum of the previous limb, and \high is the high sum for the next limb.
.macro RSA_RV64_LIMB number, newest, second, third, fourth, fifth, oldest, high, before
    ld    \newest, \number * .L_RSA_DIGIT(a1)
    ld    t6, \number * .L_RSA_DIGIT(a0)
    mul   a5, \newest, s0
    add   t6, t6, a5
    mulhu \high, \newest, s6
    RSA_RV64_ADD \second, s1, s7, \high
    RSA_RV64_ADD \third, s2, s8, \high
    RSA_RV64_ADD \fourth, s3, s9, \high
    RSA_RV64_ADD \fifth, s4, a6, \high
    RSA_RV64_ADD \oldest, s5, a7, \high
    RSA_RV64_STORE \number, \high, \before
.endm

// Stores the limb in t6.
.macro RSA_RV64_STORE number, high, before
    add   t6, t6, \before
    slli  a5, \high, .L_RSA_BITS
    sub   t6, t6, a5
    sd    t6, \number * .L_RSA_DIGIT(a0)
.endm

// Starts a limb after the end of a with the product of the last digit of a.
.macro RSA_RV64_BEGIN number, b, shifted, high
    ld    t6, \number * .L_RSA_DIGIT(a0)
    mul   a5, t5, \b
    add   t6, t6, a5
    mulhu \high, t5, \shifted
.endm

HARTLOCK_FUNCTION hartlock_rsa_rv64, +m
    addi  sp, sp, -.L_RSA_FRAME
    sd    s0, 0 * .L_RSA_DIGIT(sp)
    sd    s1, 1 * .L_RSA_DIGIT(sp)
    sd    s2, 2 * .L_RSA_DIGIT(sp)
    sd    s3, 3 * .L_RSA_DIGIT(sp)
    sd    s4, 4 * .L_RSA_DIGIT(sp)
    sd    s5, 5 * .L_RSA_DIGIT(sp)
    sd    s6, 6 * .L_RSA_DIGIT(sp)
    sd    s7, 7 * .L_RSA_DIGIT(sp)
    sd    s8, 8 * .L_RSA_DIGIT(sp)
    sd    s9, 9 * .L_RSA_DIGIT(sp)
    // a2 becomes the end of a. A group has 48 bytes.
    slli  t0, a2, 5
    slli  a2, a2, 4
    add   a2, a2, t0
    add   a2, a2, a1
    // This loads b and shifts it left.
    ld    s0, 0 * .L_RSA_DIGIT(a3)
    ld    s1, 1 * .L_RSA_DIGIT(a3)
    ld    s2, 2 * .L_RSA_DIGIT(a3)
    ld    s3, 3 * .L_RSA_DIGIT(a3)
    ld    s4, 4 * .L_RSA_DIGIT(a3)
    ld    s5, 5 * .L_RSA_DIGIT(a3)
    slli  s6, s0, 64 - .L_RSA_BITS
    slli  s7, s1, 64 - .L_RSA_BITS
    slli  s8, s2, 64 - .L_RSA_BITS
    slli  s9, s3, 64 - .L_RSA_BITS
    slli  a6, s4, 64 - .L_RSA_BITS
    slli  a7, s5, 64 - .L_RSA_BITS
    ld    t5, 1 * .L_RSA_DIGIT(a4)
    ld    t4, 2 * .L_RSA_DIGIT(a4)
    ld    t3, 3 * .L_RSA_DIGIT(a4)
    ld    t2, 4 * .L_RSA_DIGIT(a4)
    ld    t1, 5 * .L_RSA_DIGIT(a4)
    ld    a4, 0 * .L_RSA_DIGIT(a4)
.L_rsa_rv64_group:
    RSA_RV64_LIMB 0, t0, t5, t4, t3, t2, t1, a3, a4
    RSA_RV64_LIMB 1, t1, t0, t5, t4, t3, t2, a4, a3
    RSA_RV64_LIMB 2, t2, t1, t0, t5, t4, t3, a3, a4
    RSA_RV64_LIMB 3, t3, t2, t1, t0, t5, t4, a4, a3
    RSA_RV64_LIMB 4, t4, t3, t2, t1, t0, t5, a3, a4
    RSA_RV64_LIMB 5, t5, t4, t3, t2, t1, t0, a4, a3
    addi  a0, a0, .L_RSA_GROUP
    addi  a1, a1, .L_RSA_GROUP
    bne   a1, a2, .L_rsa_rv64_group
    // After the end of a, the last digits of a are multiplied by the later digits of b.
    RSA_RV64_BEGIN 0, s1, s7, a3
    RSA_RV64_ADD t4, s2, s8, a3
    RSA_RV64_ADD t3, s3, s9, a3
    RSA_RV64_ADD t2, s4, a6, a3
    RSA_RV64_ADD t1, s5, a7, a3
    RSA_RV64_STORE 0, a3, a4
    RSA_RV64_BEGIN 1, s2, s8, a4
    RSA_RV64_ADD t4, s3, s9, a4
    RSA_RV64_ADD t3, s4, a6, a4
    RSA_RV64_ADD t2, s5, a7, a4
    RSA_RV64_STORE 1, a4, a3
    RSA_RV64_BEGIN 2, s3, s9, a3
    RSA_RV64_ADD t4, s4, a6, a3
    RSA_RV64_ADD t3, s5, a7, a3
    RSA_RV64_STORE 2, a3, a4
    RSA_RV64_BEGIN 3, s4, a6, a4
    RSA_RV64_ADD t4, s5, a7, a4
    RSA_RV64_STORE 3, a4, a3
    RSA_RV64_BEGIN 4, s5, a7, a3
    RSA_RV64_STORE 4, a3, a4
    ld    t6, 5 * .L_RSA_DIGIT(a0)
    add   t6, t6, a3
    sd    t6, 5 * .L_RSA_DIGIT(a0)
    ld    s0, 0 * .L_RSA_DIGIT(sp)
    ld    s1, 1 * .L_RSA_DIGIT(sp)
    ld    s2, 2 * .L_RSA_DIGIT(sp)
    ld    s3, 3 * .L_RSA_DIGIT(sp)
    ld    s4, 4 * .L_RSA_DIGIT(sp)
    ld    s5, 5 * .L_RSA_DIGIT(sp)
    ld    s6, 6 * .L_RSA_DIGIT(sp)
    ld    s7, 7 * .L_RSA_DIGIT(sp)
    ld    s8, 8 * .L_RSA_DIGIT(sp)
    ld    s9, 9 * .L_RSA_DIGIT(sp)
    addi  sp, sp, .L_RSA_FRAME
    ret
HARTLOCK_FUNCTION_END hartlock_rsa_rv64
