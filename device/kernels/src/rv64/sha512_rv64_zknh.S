// void hartlock_sha512_rv64_zknh(uint64_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-384 and SHA-512 compression of `count` blocks of 128 bytes (FIPS 180-4 §6.4.2). Needs RV64I,
// Zbb (rev8) and Zknh (sha512sum*, sha512sig*). Include frame_macros.S and sha2_macros.S before
// this file. The table K is in sha2/compression.rs.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 13.1 retired instructions per byte of a long message (QEMU, -icount), 1.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count. The Zknh
// instructions are in the list of Zkt.

// FIPS 180-4 (4.10) to (4.13) take one instruction each.
.macro SHA512_ZKNH_BIG_SIGMA0 dst, src, tmp
    sha512sum0 \dst, \src
.endm
.macro SHA512_ZKNH_BIG_SIGMA1 dst, src, tmp
    sha512sum1 \dst, \src
.endm
.macro SHA512_ZKNH_ADD_SIGMA0 acc, src, t1, t2
    sha512sig0 \t1, \src
    add   \acc, \acc, \t1
.endm
.macro SHA512_ZKNH_ADD_SIGMA1 acc, src, t1, t2
    sha512sig1 \t1, \src
    add   \acc, \acc, \t1
.endm

// A new word needs no further change.
.macro SHA512_ZKNH_FINISH_WORD w, tmp
.endm

// Loads two big-endian message words. Both are loaded before the first one is used.
.macro SHA512_ZKNH_LOAD_PAIR index, w0, w1
    ld    \w0, (\index) * .L_SHA512_WORD_BYTES(a4)
    ld    \w1, (\index + 1) * .L_SHA512_WORD_BYTES(a4)
    rev8  \w0, \w0
    rev8  \w1, \w1
.endm

.macro SHA512_ZKNH_LOAD_BLOCK
    SHA2_EACH_PAIR SHA512_ZKNH_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha512_rv64_zknh, +zbb, +zknh
    SHA2_KERNEL SHA512, ZKNH, hartlock_sha512_rv64_zknh, hartlock_sha512_k
HARTLOCK_FUNCTION_END hartlock_sha512_rv64_zknh
