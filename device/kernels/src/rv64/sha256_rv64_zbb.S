// void hartlock_sha256_rv64_zbb(uint32_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-256 compression of `count` blocks of 64 bytes (FIPS 180-4 §6.2.2). Needs RV64I and Zbb (rev8,
// roriw). Include frame_macros.S and sha2_macros.S before this file. The table K is in
// sha2/compression.rs.
//
//   a0  state, 4-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 34.8 retired instructions per byte of a long message (QEMU, -icount), 3.2 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.

.set .L_SHA256_WORD_BITS, 32

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3, as nested rotations:
// ROTR^r1(ROTR^(r2 - r1)(ROTR^(r3 - r2)(x) ^ x) ^ x). They need no second register.
.macro SHA256_ZBB_ROTATIONS dst, src, r1, r2, r3
    roriw \dst, \src, \r3 - \r2
    xor   \dst, \dst, \src
    roriw \dst, \dst, \r2 - \r1
    xor   \dst, \dst, \src
    roriw \dst, \dst, \r1
.endm

// FIPS 180-4 (4.4) and (4.5).
.macro SHA256_ZBB_BIG_SIGMA0 dst, src, tmp
    SHA256_ZBB_ROTATIONS \dst, \src, 2, 13, 22
.endm
.macro SHA256_ZBB_BIG_SIGMA1 dst, src, tmp
    SHA256_ZBB_ROTATIONS \dst, \src, 6, 11, 25
.endm

// Computes \acc += ROTR^r1(\src) ^ ROTR^r2(\src) ^ SHR^shift(\src). The instructions that end in w
// ignore the upper half of \src.
.macro SHA256_ZBB_ADD_ROTATIONS acc, src, t1, t2, r1, r2, shift
    roriw \t1, \src, \r1
    roriw \t2, \src, \r2
    xor   \t1, \t1, \t2
    srliw \t2, \src, \shift
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// FIPS 180-4 (4.6) and (4.7).
.macro SHA256_ZBB_ADD_SIGMA0 acc, src, t1, t2
    SHA256_ZBB_ADD_ROTATIONS \acc, \src, \t1, \t2, 7, 18, 3
.endm
.macro SHA256_ZBB_ADD_SIGMA1 acc, src, t1, t2
    SHA256_ZBB_ADD_ROTATIONS \acc, \src, \t1, \t2, 17, 19, 10
.endm

// A new word needs no further change.
.macro SHA256_ZBB_FINISH_WORD w, tmp
.endm

// Loads two big-endian message words with one load. The byte swap of all 64 bits moves the first
// word to the upper half. The bits above the second word are ignored.
.macro SHA256_ZBB_LOAD_PAIR index, w0, w1
    ld    \w1, (\index) * .L_SHA256_WORD_BYTES(a4)
    rev8  \w1, \w1
    srli  \w0, \w1, .L_SHA256_WORD_BITS
.endm

.macro SHA256_ZBB_LOAD_BLOCK
    SHA2_EACH_PAIR SHA256_ZBB_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha256_rv64_zbb, +zbb
    SHA2_KERNEL SHA256, ZBB, hartlock_sha256_rv64_zbb, hartlock_sha256_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zbb
