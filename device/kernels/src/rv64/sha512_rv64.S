// void hartlock_sha512_rv64(uint64_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-384 and SHA-512 compression of `count` blocks of 128 bytes (FIPS 180-4 §6.4.2). Needs RV64I
// only. Include before it: frame_macros.S, sha2_macros.S. K: sha2.rs.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, only read
//   a2  count; with 0 neither state nor blocks is touched
//
// Clobbers t0-t6 and a0-a7; uses ra and s0-s11 too, and restores them; leaves gp and tp alone.
// Stack: 144 bytes, not wiped, since the message is public.
// Cost: 34.6 retired instructions a byte of a long message (QEMU, -icount), 4.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.
//
// There is no byte swap instruction here, and no rotation. Masks and shifts swap a word in 13
// operations. Of a sum of rotations the right shifts and the left shifts are nested apart from
// each other, and then joined.

.set .L_SHA512_WORD_BITS, 64
.set .L_SHA512_BYTE_BITS, 8
.set .L_SHA512_TWO_BYTES_BITS, 16
.set .L_SHA512_HALF_BITS, 32

// \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3:
//   ((x >> (r3 - r2) ^ x) >> (r2 - r1) ^ x) >> r1
// ^ ((x << (r2 - r1) ^ x) << (r3 - r2) ^ x) << (64 - r3)
.macro SHA512_RV64_ROTATIONS dst, src, tmp, r1, r2, r3
    // Right shifts in dst, left shifts in tmp, in turn: neither waits for the other.
    srli  \dst, \src, \r3 - \r2
    slli  \tmp, \src, \r2 - \r1
    xor   \dst, \dst, \src
    xor   \tmp, \tmp, \src
    srli  \dst, \dst, \r2 - \r1
    slli  \tmp, \tmp, \r3 - \r2
    xor   \dst, \dst, \src
    xor   \tmp, \tmp, \src
    srli  \dst, \dst, \r1
    slli  \tmp, \tmp, .L_SHA512_WORD_BITS - \r3
    xor   \dst, \dst, \tmp
.endm

// FIPS 180-4 (4.10) and (4.11). Nothing is shared between the six shifts: eleven operations is
// what any order of them takes.
.macro SHA512_RV64_BIG_SIGMA0 dst, src, tmp
    SHA512_RV64_ROTATIONS \dst, \src, \tmp, 28, 34, 39
.endm
.macro SHA512_RV64_BIG_SIGMA1 dst, src, tmp
    SHA512_RV64_ROTATIONS \dst, \src, \tmp, 14, 18, 41
.endm

// FIPS 180-4 (4.12) and (4.13): ROTR^R1 ^ ROTR^R2 ^ SHR^SHIFT.
.set .L_SHA512_SIGMA0_R1, 1
.set .L_SHA512_SIGMA0_R2, 8
.set .L_SHA512_SIGMA0_SHIFT, 7
.set .L_SHA512_SIGMA1_R1, 19
.set .L_SHA512_SIGMA1_R2, 61
.set .L_SHA512_SIGMA1_SHIFT, 6

// \acc += sigma0(\src). As R2 = R1 + SHIFT, the right shifts are (x ^ y) >> SHIFT ^ y with
// y = x >> R1: one operation less than nested.
.macro SHA512_RV64_ADD_SIGMA0 acc, src, t1, t2
    // Right shifts in t2.
    srli  \t1, \src, .L_SHA512_SIGMA0_R1
    xor   \t2, \src, \t1
    srli  \t2, \t2, .L_SHA512_SIGMA0_SHIFT
    xor   \t2, \t2, \t1
    // Left shifts in t1.
    slli  \t1, \src, .L_SHA512_SIGMA0_R2 - .L_SHA512_SIGMA0_R1
    xor   \t1, \t1, \src
    slli  \t1, \t1, .L_SHA512_WORD_BITS - .L_SHA512_SIGMA0_R2
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// \acc += sigma1(\src): right shifts in t1, nested from the longest to the shortest, left shifts
// in t2.
.macro SHA512_RV64_ADD_SIGMA1 acc, src, t1, t2
    srli  \t1, \src, .L_SHA512_SIGMA1_R2 - .L_SHA512_SIGMA1_R1
    slli  \t2, \src, .L_SHA512_SIGMA1_R2 - .L_SHA512_SIGMA1_R1
    xor   \t1, \t1, \src
    xor   \t2, \t2, \src
    srli  \t1, \t1, .L_SHA512_SIGMA1_R1 - .L_SHA512_SIGMA1_SHIFT
    slli  \t2, \t2, .L_SHA512_WORD_BITS - .L_SHA512_SIGMA1_R2
    xor   \t1, \t1, \src
    srli  \t1, \t1, .L_SHA512_SIGMA1_SHIFT
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// A new word stays as the sum left it.
.macro SHA512_RV64_FINISH_WORD w, tmp
.endm

// The byte swap of 64 bits. a5 and s0 are the masks.
.macro SHA512_RV64_REVERSE_BYTES x, tmp
    // Bytes in pairs, then pairs in halves, then the halves, where no mask is needed.
    SHA2_SWAP_FIELDS \x, .L_SHA512_BYTE_BITS, a5, \tmp
    SHA2_SWAP_FIELDS \x, .L_SHA512_TWO_BYTES_BITS, s0, \tmp
    srli  \tmp, \x, .L_SHA512_HALF_BITS
    slli  \x, \x, .L_SHA512_HALF_BITS
    or    \x, \x, \tmp
.endm

// Two message words, big-endian in memory. Both are loaded before the first is worked on.
.macro SHA512_RV64_LOAD_PAIR index, w0, w1
    ld    \w0, (\index) * .L_SHA512_WORD_BYTES(a4)
    ld    \w1, (\index + 1) * .L_SHA512_WORD_BYTES(a4)
    SHA512_RV64_REVERSE_BYTES \w0, s1
    SHA512_RV64_REVERSE_BYTES \w1, s1
.endm

// All sixteen words. The table of K gets its register back afterwards.
.macro SHA512_RV64_LOAD_BLOCK
    lla   s0, hartlock_sha2_swap_masks
    ld    a5, 0 * .L_SLOT_BYTES(s0)
    ld    s0, 1 * .L_SLOT_BYTES(s0)
    SHA2_EACH_PAIR SHA512_RV64_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64
    SHA2_KERNEL SHA512, RV64, hartlock_sha512_rv64, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64
