// void hartlock_sha512_rv64_zvbb(uint64_t (*states)[8], const uint8_t *const *messages,
//                                size_t count, size_t n)
//
// SHA-384 and SHA-512 compression (FIPS 180-4 §6.4.2) of `count` blocks of 128 bytes of each of
// `n` messages. Needs RV64I, V (of it no more than Zve64x, with VLEN >= 128) and Zvkb (vrev8,
// vror), which is a part of Zvbb. Include before it: frame_macros.S, sha2_zvbb_macros.S.
//
//   a0  states, one after the other, 8-byte aligned, updated in place
//   a1  messages: n pointers to count * 128 bytes, 8-byte aligned, only read; they may be equal
//       and may lie anywhere
//   a2  count; with 0 nothing is touched   a3  n, 1 to VLEN / 64
//
// Clobbers t0-t3, a2, a4-a6, v0-v31, vl and vtype. No stack.
// Constant time: no branch and no address depends on message or state, only on the arguments; the
// vector instructions on them are on the list of Zvkt.

// Sizes in bytes: a word, half a block, K.
.set .L_SHA512_ZVBB_WORD, 8
.set .L_SHA512_ZVBB_HALF, .L_SHA2_ZVBB_BLOCK_WORDS / 2 * .L_SHA512_ZVBB_WORD
.set .L_SHA512_ZVBB_BLOCK_SHIFT, 7
.set .L_SHA512_ZVBB_TABLE, 80 * .L_SHA512_ZVBB_WORD

// FIPS 180-4 §4.2.3.
.pushsection .rodata.hartlock_sha512_rv64_zvbb, "a", @progbits
.balign 8
.L_sha512_zvbb_k:
    // t = 0 to 15
    .dword 0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc
    .dword 0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118
    .dword 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2
    .dword 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694
    // t = 16 to 31
    .dword 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65
    .dword 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5
    .dword 0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4
    .dword 0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70
    // t = 32 to 47
    .dword 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df
    .dword 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b
    .dword 0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30
    .dword 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8
    // t = 48 to 63
    .dword 0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8
    .dword 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3
    .dword 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec
    .dword 0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b
    // t = 64 to 79
    .dword 0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178
    .dword 0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b
    .dword 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c
    .dword 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817
.popsection

.macro SHA512_ZVBB_LOAD_CONSTANT dst, index
    ld    \dst, (\index) * .L_SHA512_ZVBB_WORD(a5)
.endm

// FIPS 180-4 (4.10) to (4.13).
.macro SHA512_ZVBB_BIG_SIGMA0 dst, src
    SHA2_ZVBB_ROTATIONS \dst, \src, 28, 34, 39
.endm
.macro SHA512_ZVBB_BIG_SIGMA1 dst, src
    SHA2_ZVBB_ROTATIONS \dst, \src, 14, 18, 41
.endm
.macro SHA512_ZVBB_SMALL_SIGMA0 dst, src, tmp
    SHA2_ZVBB_ROTATIONS_AND_SHIFT \dst, \src, \tmp, 1, 8, 7
.endm
.macro SHA512_ZVBB_SMALL_SIGMA1 dst, src, tmp
    SHA2_ZVBB_ROTATIONS_AND_SHIFT \dst, \src, \tmp, 19, 61, 6
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64_zvbb, +zve64x, +zvkb
    SHA2_ZVBB_KERNEL 64, SHA512, sha512_zvbb, .L_sha512_zvbb_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zvbb
