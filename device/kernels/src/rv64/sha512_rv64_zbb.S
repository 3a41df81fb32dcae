// void hartlock_sha512_rv64_zbb(uint64_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-384 and SHA-512 compression of `count` blocks of 128 bytes (FIPS 180-4 §6.4.2). Needs RV64I
// and Zbb (rev8, rori). Include frame_macros.S and sha2_macros.S before this file. The table K is
// in sha2/compression.rs.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 22.1 retired instructions per byte of a long message (QEMU, -icount), 3.2 kB of code.
// Constant time: no branch and no address depends on message or state, only on count.

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3, as nested rotations:
// ROTR^r1(ROTR^(r2 - r1)(ROTR^(r3 - r2)(x) ^ x) ^ x). They need no second register.
.macro SHA512_ZBB_ROTATIONS dst, src, r1, r2, r3
    rori  \dst, \src, \r3 - \r2
    xor   \dst, \dst, \src
    rori  \dst, \dst, \r2 - \r1
    xor   \dst, \dst, \src
    rori  \dst, \dst, \r1
.endm

// FIPS 180-4 (4.10) and (4.11).
.macro SHA512_ZBB_BIG_SIGMA0 dst, src, tmp
    SHA512_ZBB_ROTATIONS \dst, \src, 28, 34, 39
.endm
.macro SHA512_ZBB_BIG_SIGMA1 dst, src, tmp
    SHA512_ZBB_ROTATIONS \dst, \src, 14, 18, 41
.endm

// Computes \acc += ROTR^r1(\src) ^ ROTR^r2(\src) ^ SHR^shift(\src). The shift inserts zeros, so it
// cannot be nested with the rotations.
.macro SHA512_ZBB_ADD_ROTATIONS acc, src, t1, t2, r1, r2, shift
    rori  \t1, \src, \r1
    rori  \t2, \src, \r2
    xor   \t1, \t1, \t2
    srli  \t2, \src, \shift
    xor   \t1, \t1, \t2
    add   \acc, \acc, \t1
.endm

// FIPS 180-4 (4.12) and (4.13).
.macro SHA512_ZBB_ADD_SIGMA0 acc, src, t1, t2
    SHA512_ZBB_ADD_ROTATIONS \acc, \src, \t1, \t2, 1, 8, 7
.endm
.macro SHA512_ZBB_ADD_SIGMA1 acc, src, t1, t2
    SHA512_ZBB_ADD_ROTATIONS \acc, \src, \t1, \t2, 19, 61, 6
.endm

// A new word needs no further change.
.macro SHA512_ZBB_FINISH_WORD w, tmp
.endm

// Loads two big-endian message words. Both are loaded before the first one is used.
.macro SHA512_ZBB_LOAD_PAIR index, w0, w1
    ld    \w0, (\index) * .L_SHA512_WORD_BYTES(a4)
    ld    \w1, (\index + 1) * .L_SHA512_WORD_BYTES(a4)
    rev8  \w0, \w0
    rev8  \w1, \w1
.endm

.macro SHA512_ZBB_LOAD_BLOCK
    SHA2_EACH_PAIR SHA512_ZBB_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64_zbb, +zbb
    SHA2_KERNEL SHA512, ZBB, hartlock_sha512_rv64_zbb, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zbb
