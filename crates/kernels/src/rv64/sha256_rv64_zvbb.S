// void hartlock_sha256_rv64_zvbb(uint32_t (*states)[8], const uint8_t *const *messages,
//                                size_t count, size_t n)
//
// SHA-256 compression (FIPS 180-4 §6.2.2) of `count` blocks of 64 bytes of each of `n` messages.
// Needs RV64I, V (of it no more than Zve64x, with VLEN >= 128) and Zvkb (vrev8, vror), which is a
// part of Zvbb. Include before it: frame_macros.S, sha2_zvbb_macros.S.
//
//   a0  states, one after the other, 4-byte aligned, updated in place
//   a1  messages: n pointers to count * 64 bytes, 8-byte aligned, only read; they may be equal and
//       may lie anywhere
//   a2  count; with 0 nothing is touched   a3  n, 1 to VLEN / 32
//
// Clobbers t0-t3, a2, a4-a6, v0-v31, vl and vtype. No stack.
// Constant time: no branch and no address depends on message or state, only on the arguments; the
// vector instructions on them are on the list of Zvkt.

// Sizes in bytes: a word, half a block, K.
.set .L_SHA256_ZVBB_WORD, 4
.set .L_SHA256_ZVBB_HALF, .L_SHA2_ZVBB_BLOCK_WORDS / 2 * .L_SHA256_ZVBB_WORD
.set .L_SHA256_ZVBB_BLOCK_SHIFT, 6
.set .L_SHA256_ZVBB_TABLE, 64 * .L_SHA256_ZVBB_WORD

// FIPS 180-4 §4.2.2.
.pushsection .rodata.hartlock_sha256_rv64_zvbb, "a", @progbits
.balign 4
.L_sha256_zvbb_k:
    // t = 0 to 15
    .word 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5
    .word 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
    .word 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
    .word 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
    // t = 16 to 31
    .word 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc
    .word 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .word 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7
    .word 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
    // t = 32 to 47
    .word 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
    .word 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
    .word 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3
    .word 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    // t = 48 to 63
    .word 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5
    .word 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
    .word 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
    .word 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
.popsection

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
    SHA2_ZVBB_KERNEL 32, SHA256, sha256_zvbb, .L_sha256_zvbb_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zvbb
