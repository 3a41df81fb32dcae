// void hartlock_sha512_rv64(uint64_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-384 and SHA-512 compression of `count` blocks of 128 bytes (FIPS 180-4 §6.4.2). Needs only
// RV64I. Include frame_macros.S and sha2_macros.S before this file. The table K is in
// sha2/compression.rs.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 34.6 retired instructions per byte of a long message (QEMU, -icount), 4.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.
//
// RV64I has no byte swap and no rotate instruction. Masks and shifts swap the bytes of a word in 13
// operations. In a sum of rotations, the right shifts and the left shifts are nested separately,
// and then combined.

.set .L_SHA512_WORD_BITS, 64
.set .L_SHA512_BYTE_BITS, 8
.set .L_SHA512_TWO_BYTES_BITS, 16
.set .L_SHA512_HALF_BITS, 32

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3:
//   ((x >> (r3 - r2) ^ x) >> (r2 - r1) ^ x) >> r1
// ^ ((x << (r2 - r1) ^ x) << (r3 - r2) ^ x) << (64 - r3)
.macro SHA512_RV64_ROTATIONS dst, src, tmp, r1, r2, r3
    // Right shifts in dst and left shifts in tmp alternate, so that neither waits for the other.
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

// FIPS 180-4 (4.10) and (4.11). The six shifts have no common part, so any order of them takes
// eleven operations.
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

// Computes \acc += sigma0(\src). Because R2 = R1 + SHIFT, the right shifts are (x ^ y) >> SHIFT ^ y
// with y = x >> R1, which is one operation less than nested shifts.
.macro SHA512_RV64_ADD_SIGMA0 acc, src, t1, t2
    // The right shifts are computed in t2.
    srli  \t1, \src, .L_SHA512_SIGMA0_R1
    xor   \t2, \src, \t1
    srli  \t2, \t2, .L_SHA512_SIGMA0_SHIFT
    xor   \t2, \t2, \t1
    // The left shifts are computed in t1.
    slli  \t1, \src, .L_SHA512_SIGMA0_R2 - .L_SHA512_SIGMA0_R1
    xor   \t1, \t1, \src
    slli  \t1, \t1, .L_SHA512_WORD_BITS - .L_SHA512_SIGMA0_R2
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// Computes \acc += sigma1(\src). The right shifts are in t1, nested from the longest to the
// shortest, and the left shifts in t2.
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

// A new word needs no further change.
.macro SHA512_RV64_FINISH_WORD w, tmp
.endm

// Swaps the eight bytes of a word. a5 and s0 are the masks.
.macro SHA512_RV64_REVERSE_BYTES x, tmp
    // Bytes are swapped in pairs, then pairs in halves, then the halves, which need no mask.
    SHA2_SWAP_FIELDS \x, .L_SHA512_BYTE_BITS, a5, \tmp
    SHA2_SWAP_FIELDS \x, .L_SHA512_TWO_BYTES_BITS, s0, \tmp
    srli  \tmp, \x, .L_SHA512_HALF_BITS
    slli  \x, \x, .L_SHA512_HALF_BITS
    or    \x, \x, \tmp
.endm

// Loads two big-endian message words. Both are loaded before the first one is used.
.macro SHA512_RV64_LOAD_PAIR index, w0, w1
    ld    \w0, (\index) * .L_SHA512_WORD_BYTES(a4)
    ld    \w1, (\index + 1) * .L_SHA512_WORD_BYTES(a4)
    SHA512_RV64_REVERSE_BYTES \w0, s1
    SHA512_RV64_REVERSE_BYTES \w1, s1
.endm

// Loads all sixteen words. Afterwards the caller restores the register of the table K.
.macro SHA512_RV64_LOAD_BLOCK
    lla   s0, hartlock_sha2_swap_masks
    ld    a5, 0 * .L_SLOT_BYTES(s0)
    ld    s0, 1 * .L_SLOT_BYTES(s0)
    SHA2_EACH_PAIR SHA512_RV64_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64
    SHA2_KERNEL SHA512, RV64, hartlock_sha512_rv64, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64
