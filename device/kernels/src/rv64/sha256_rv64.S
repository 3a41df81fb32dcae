// void hartlock_sha256_rv64(uint32_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-256 compression of `count` blocks of 64 bytes (FIPS 180-4 §6.2.2). Needs RV64I only.
// Include before it: frame_macros.S, sha2_macros.S. K: sha2.rs.
//
//   a0  state, 4-byte aligned, updated in place     a1  blocks, 8-byte aligned, only read
//   a2  count; with 0 neither state nor blocks is touched
//
// Clobbers t0-t6 and a0-a7; uses ra and s0-s11 too, and restores them; leaves gp and tp alone.
// Stack: 144 bytes, not wiped, since the message is public.
// Cost: 44.8 retired instructions a byte of a long message (QEMU, -icount), 4.0 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.
//
// There is no rotate instruction here. A 32-bit word is therefore doubled, the same value in both
// halves of a register: a plain right shift by up to 32 then is a rotation in the lower half. The
// ring keeps its words doubled, so that sigma0 and sigma1 share that work.

.set .L_SHA256_HALF_BITS, 32
.set .L_SHA256_BYTE_BITS, 8
.set .L_SHA256_TWO_BYTES_BITS, 16

// \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3, as nested shifts:
// ((x >> (r3 - r2) ^ x) >> (r2 - r1) ^ x) >> r1.
.macro SHA256_RV64_ROTATIONS dst, src, tmp, r1, r2, r3
    // Doubled, and without the old upper half.
    slli  \tmp, \src, .L_SHA256_HALF_BITS
    srli  \dst, \tmp, .L_SHA256_HALF_BITS
    or    \tmp, \tmp, \dst
    // Each step leaves the lower half right; together they shift by r3, which is below 32.
    srli  \dst, \tmp, \r3 - \r2
    xor   \dst, \dst, \tmp
    srli  \dst, \dst, \r2 - \r1
    xor   \dst, \dst, \tmp
    srli  \dst, \dst, \r1
.endm

// FIPS 180-4 (4.4) and (4.5).
.macro SHA256_RV64_BIG_SIGMA0 dst, src, tmp
    SHA256_RV64_ROTATIONS \dst, \src, \tmp, 2, 13, 22
.endm
.macro SHA256_RV64_BIG_SIGMA1 dst, src, tmp
    SHA256_RV64_ROTATIONS \dst, \src, \tmp, 6, 11, 25
.endm

// \acc += ROTR^r1(\src) ^ ROTR^r2(\src) ^ SHR^shift(\src), r1 < r2, for a doubled \src. The shift
// must bring in zeros: srliw reads the lower half alone.
.macro SHA256_RV64_ADD_ROTATIONS acc, src, t1, t2, r1, r2, shift
    srli  \t1, \src, \r2 - \r1
    xor   \t1, \t1, \src
    srli  \t1, \t1, \r1
    srliw \t2, \src, \shift
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// FIPS 180-4 (4.6) and (4.7).
.macro SHA256_RV64_ADD_SIGMA0 acc, src, t1, t2
    SHA256_RV64_ADD_ROTATIONS \acc, \src, \t1, \t2, 7, 18, 3
.endm
.macro SHA256_RV64_ADD_SIGMA1 acc, src, t1, t2
    SHA256_RV64_ADD_ROTATIONS \acc, \src, \t1, \t2, 17, 19, 10
.endm

// Doubles a new word of the ring, whose upper half has no meaning.
.macro SHA256_RV64_FINISH_WORD w, tmp
    slli  \tmp, \w, .L_SHA256_HALF_BITS
    srli  \w, \tmp, .L_SHA256_HALF_BITS
    or    \w, \w, \tmp
.endm

// Two message words, big-endian in memory, with one load.
.macro SHA256_RV64_LOAD_PAIR index, w0, w1
    ld    \w1, (\index) * .L_SHA256_WORD_BYTES(a4)
.endm

// Takes them apart. a5 and s0 are the masks.
.macro SHA256_RV64_SPLIT_PAIR index, w0, w1
    SHA2_SWAP_FIELDS \w1, .L_SHA256_BYTE_BITS, a5, s1
    SHA2_SWAP_FIELDS \w1, .L_SHA256_TWO_BYTES_BITS, s0, s1
    // The first word is now below the second in \w1. They are separated and doubled.
    slli  s1, \w1, .L_SHA256_HALF_BITS
    srli  \w0, s1, .L_SHA256_HALF_BITS
    xor   \w1, \w1, \w0
    or    \w0, \w0, s1
    srli  s1, \w1, .L_SHA256_HALF_BITS
    or    \w1, \w1, s1
.endm

// All sixteen words. The table of K gets its register back afterwards.
.macro SHA256_RV64_LOAD_BLOCK
    lla   s0, hartlock_sha2_swap_masks
    ld    a5, 0 * .L_SLOT_BYTES(s0)
    ld    s0, 1 * .L_SLOT_BYTES(s0)
    // All loads first: none is waited for.
    SHA2_EACH_PAIR SHA256_RV64_LOAD_PAIR
    SHA2_EACH_PAIR SHA256_RV64_SPLIT_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha256_rv64
    SHA2_KERNEL SHA256, RV64, hartlock_sha256_rv64, hartlock_sha256_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64
