// void hartlock_rsa_rv64(uint64_t *row, const uint64_t *a, size_t count, const uint64_t b[4],
//                        const uint64_t start[7], uint64_t above[4])
//
// Adds a · b to an integer, for four limbs of b and four · `count` limbs of a: the products of RSA (Handbook of
// Applied Cryptography §14.3.2, with four rows of the sum at once). Needs RV64I and the multiplication of M.
// Include before it: frame_macros.S.
//
//   a0  row, 8-byte aligned: as many limbs as a, lowest first, updated in place
//   a1  a, 8-byte aligned, only read
//   a2  count of groups of four limbs, > 0
//   a3  b, only read
//   a4  start, only read: a carry into each row, 4 limbs; the last 3 limbs before a, last first, or zero
//   a5  above, written: the four limbs above the row, to which nothing is added
//
// Clobbers t0-t6 and a0-a7; uses s0-s3 too, and restores them; leaves ra, gp and tp alone.
// Stack: 48 bytes, not wiped, since signature and modulus are public.
// Cost: 8.94 retired instructions for a product of two limbs, 0.6 kB of code.
// Constant time: no branch and no address depends on a limb, only on count.

.set .L_RSA_LIMB, 8
.set .L_RSA_GROUP, 4 * .L_RSA_LIMB
.set .L_RSA_BEFORE, 4 * .L_RSA_LIMB
.set .L_RSA_ABOVE, 4 * .L_RSA_LIMB
.set .L_RSA_FRAME, 48

// \carry:t0 = \limb · \factor + t0 + \carry. It fits: (2^64 - 1)^2 + 2 · (2^64 - 1) is 2^128 - 1.
.macro RSA_RV64_ADD limb, factor, carry
    mul   t1, \limb, \factor
    mulhu t2, \limb, \factor
    add   t1, t1, t0
    sltu  t0, t1, t0
    add   t2, t2, t0
    add   t0, t1, \carry
    sltu  t1, t0, t1
    add   \carry, t2, t1
.endm

// A limb of the sum gets a product of each row: the newest limb of a in the first, the oldest in the last.
.macro RSA_RV64_LIMB number, newest, second, third, oldest
    ld    \newest, \number * .L_RSA_LIMB(a1)
    ld    t0, \number * .L_RSA_LIMB(a0)
    RSA_RV64_ADD \newest, a4, t3
    RSA_RV64_ADD \second, a5, t4
    RSA_RV64_ADD \third, a6, t5
    RSA_RV64_ADD \oldest, a7, t6
    sd    t0, \number * .L_RSA_LIMB(a0)
.endm

HARTLOCK_FUNCTION hartlock_rsa_rv64, +m
    addi  sp, sp, -.L_RSA_FRAME
    sd    s0, 0 * .L_RSA_LIMB(sp)
    sd    s1, 1 * .L_RSA_LIMB(sp)
    sd    s2, 2 * .L_RSA_LIMB(sp)
    sd    s3, 3 * .L_RSA_LIMB(sp)
    sd    a5, .L_RSA_ABOVE(sp)
    // a2 becomes the end of a.
    slli  a2, a2, 5
    add   a2, a2, a1
    ld    t3, 0 * .L_RSA_LIMB(a4)
    ld    t4, 1 * .L_RSA_LIMB(a4)
    ld    t5, 2 * .L_RSA_LIMB(a4)
    ld    t6, 3 * .L_RSA_LIMB(a4)
    ld    s3, .L_RSA_BEFORE + 0 * .L_RSA_LIMB(a4)
    ld    s2, .L_RSA_BEFORE + 1 * .L_RSA_LIMB(a4)
    ld    s1, .L_RSA_BEFORE + 2 * .L_RSA_LIMB(a4)
    ld    a4, 0 * .L_RSA_LIMB(a3)
    ld    a5, 1 * .L_RSA_LIMB(a3)
    ld    a6, 2 * .L_RSA_LIMB(a3)
    ld    a7, 3 * .L_RSA_LIMB(a3)
.L_rsa_rv64_group:
    RSA_RV64_LIMB 0, s0, s3, s2, s1
    RSA_RV64_LIMB 1, s1, s0, s3, s2
    RSA_RV64_LIMB 2, s2, s1, s0, s3
    RSA_RV64_LIMB 3, s3, s2, s1, s0
    addi  a0, a0, .L_RSA_GROUP
    addi  a1, a1, .L_RSA_GROUP
    bne   a1, a2, .L_rsa_rv64_group
    // Above the row: what the later rows have not had of the last limbs, and the carries.
    ld    a3, .L_RSA_ABOVE(sp)
    mv    t0, t3
    RSA_RV64_ADD s3, a5, t4
    RSA_RV64_ADD s2, a6, t5
    RSA_RV64_ADD s1, a7, t6
    sd    t0, 0 * .L_RSA_LIMB(a3)
    mv    t0, t4
    RSA_RV64_ADD s3, a6, t5
    RSA_RV64_ADD s2, a7, t6
    sd    t0, 1 * .L_RSA_LIMB(a3)
    mv    t0, t5
    RSA_RV64_ADD s3, a7, t6
    sd    t0, 2 * .L_RSA_LIMB(a3)
    sd    t6, 3 * .L_RSA_LIMB(a3)
    ld    s0, 0 * .L_RSA_LIMB(sp)
    ld    s1, 1 * .L_RSA_LIMB(sp)
    ld    s2, 2 * .L_RSA_LIMB(sp)
    ld    s3, 3 * .L_RSA_LIMB(sp)
    addi  sp, sp, .L_RSA_FRAME
    ret
HARTLOCK_FUNCTION_END hartlock_rsa_rv64
