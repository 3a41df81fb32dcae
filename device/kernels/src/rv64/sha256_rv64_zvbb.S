// void hartlock_sha256_rv64_zvbb(uint32_t (*states)[8], const uint8_t *const *messages,
//                                size_t count, size_t n)
//
// SHA-256 compression (FIPS 180-4 §6.2.2) of `count` blocks of 64 bytes of each of `n` messages.
// Needs RV64I, the vector extension (Zve64x is enough, with VLEN >= 128) and Zvkb (vrev8, vror),
// which is a subset of Zvbb. Include frame_macros.S and sha2_zvbb_macros.S before this file.
//
//   a0  states, consecutive, 4-byte aligned, updated in place
//   a1  messages: n pointers to count * 64 bytes, 8-byte aligned, read only. Pointers may be equal.
//   a2  count; if it is 0, nothing is accessed   a3  n, 1 to VLEN / 32
//
// Clobbers t0-t3, a2, a4-a6, v0-v31, vl and vtype. No stack.
// Constant time: no branch and no address depends on message or state, only on the arguments. The
// vector instructions on them are in the list of Zvkt.

// Sizes in bytes of a word, half a block, and K.
.set .L_SHA256_ZVBB_WORD, 4
.set .L_SHA256_ZVBB_HALF, .L_SHA2_ZVBB_BLOCK_WORDS / 2 * .L_SHA256_ZVBB_WORD
.set .L_SHA256_ZVBB_BLOCK_SHIFT, 6
.set .L_SHA256_ZVBB_TABLE, 64 * .L_SHA256_ZVBB_WORD

.macro SHA256_ZVBB_LOAD_CONSTANT dst, index
    lw    \dst, (\index) * .L_SHA256_ZVBB_WORD(a5)
.endm

// FIPS 180-4 (4.4) to (4.7).
.macro SHA256_ZVBB_BIG_SIGMA0 dst, src
    SHA2_ZVBB_ROTATIONS \dst, \src, 2, 13, 22
.endm
.macro SHA256_ZVBB_BIG_SIGMA1 dst, src
    SHA2_ZVBB_ROTATIONS \dst, \src, 6, 11, 25
.endm
.macro SHA256_ZVBB_SMALL_SIGMA0 dst, src, tmp
    SHA2_ZVBB_ROTATIONS_AND_SHIFT \dst, \src, \tmp, 7, 18, 3
.endm
.macro SHA256_ZVBB_SMALL_SIGMA1 dst, src, tmp
    SHA2_ZVBB_ROTATIONS_AND_SHIFT \dst, \src, \tmp, 17, 19, 10
.endm

HARTLOCK_FUNCTION hartlock_sha256_rv64_zvbb, +zve64x, +zvkb
    SHA2_ZVBB_KERNEL 32, SHA256, sha256_zvbb, hartlock_sha256_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvbb
