// void hartlock_sha256_rv64(uint32_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-256 compression of `count` blocks of 64 bytes (FIPS 180-4 §6.2.2). Needs only RV64I. Include
// frame_macros.S and sha2_macros.S before this file. The table K is in sha2/compression.rs.
//
//   a0  state, 4-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 44.8 retired instructions per byte of a long message (QEMU, -icount), 4.0 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.
//
// RV64I has no rotate instruction. Therefore a 32-bit word is doubled, which means that both halves
// of a register have its value. Then a plain right shift by up to 32 bits is a rotation in the
// lower half. The ring holds doubled words, so that sigma0 and sigma1 share the doubling.

.set .L_SHA256_HALF_BITS, 32
.set .L_SHA256_BYTE_BITS, 8
.set .L_SHA256_TWO_BYTES_BITS, 16

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3, as nested shifts:
// ((x >> (r3 - r2) ^ x) >> (r2 - r1) ^ x) >> r1.
.macro SHA256_RV64_ROTATIONS dst, src, tmp, r1, r2, r3
    // The word is doubled, and the old upper half is removed.
    slli  \tmp, \src, .L_SHA256_HALF_BITS
    srli  \dst, \tmp, .L_SHA256_HALF_BITS
    or    \tmp, \tmp, \dst
    // Each step leaves the lower half correct. Together the steps shift by r3, which is below 32.
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

// Computes \acc += ROTR^r1(\src) ^ ROTR^r2(\src) ^ SHR^shift(\src), r1 < r2, for a doubled \src.
// The shift must insert zeros, so srliw is used, which reads only the lower half.
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

// Doubles a new word of the ring. Its upper half is ignored.
.macro SHA256_RV64_FINISH_WORD w, tmp
    slli  \tmp, \w, .L_SHA256_HALF_BITS
    srli  \w, \tmp, .L_SHA256_HALF_BITS
    or    \w, \w, \tmp
.endm

// Loads two big-endian message words with one load.
.macro SHA256_RV64_LOAD_PAIR index, w0, w1
    ld    \w1, (\index) * .L_SHA256_WORD_BYTES(a4)
.endm

// Swaps the bytes of these words and separates them. a5 and s0 are the masks.
.macro SHA256_RV64_SPLIT_PAIR index, w0, w1
    SHA2_SWAP_FIELDS \w1, .L_SHA256_BYTE_BITS, a5, s1
    SHA2_SWAP_FIELDS \w1, .L_SHA256_TWO_BYTES_BITS, s0, s1
    // In \w1 the first word is now in the lower half and the second in the upper. They are
    // separated and doubled.
    slli  s1, \w1, .L_SHA256_HALF_BITS
    srli  \w0, s1, .L_SHA256_HALF_BITS
    xor   \w1, \w1, \w0
    or    \w0, \w0, s1
    srli  s1, \w1, .L_SHA256_HALF_BITS
    or    \w1, \w1, s1
.endm

// Loads all sixteen words. Afterwards the caller restores the register of the table K.
.macro SHA256_RV64_LOAD_BLOCK
    lla   s0, hartlock_sha2_swap_masks
    ld    a5, 0 * .L_SLOT_BYTES(s0)
    ld    s0, 1 * .L_SLOT_BYTES(s0)
    // All loads come first, so that no instruction waits for a load.
    SHA2_EACH_PAIR SHA256_RV64_LOAD_PAIR
    SHA2_EACH_PAIR SHA256_RV64_SPLIT_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha256_rv64
    SHA2_KERNEL SHA256, RV64, hartlock_sha256_rv64, hartlock_sha256_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64
