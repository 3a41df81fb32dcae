// void hartlock_sha512_rv64_zknh(uint64_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-384 and SHA-512 compression of `count` blocks of 128 bytes (FIPS 180-4 §6.4.2).
// Needs RV64I, Zbb (rev8) and Zknh (sha512sum*, sha512sig*). Include before it: frame_macros.S,
// sha2_macros.S. K: sha2.rs.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, only read
//   a2  count; with 0 neither state nor blocks is touched
//
// Clobbers t0-t6 and a0-a7; uses ra and s0-s11 too, and restores them; leaves gp and tp alone.
// Stack: 144 bytes, not wiped, since the message is public.
// Cost: 13.1 retired instructions a byte of a long message (QEMU, -icount), 1.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count; the Zknh
// instructions are on the list of Zkt.

// FIPS 180-4 (4.10) to (4.13), one instruction each.
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

// A new word stays as the sum left it.
.macro SHA512_ZKNH_FINISH_WORD w, tmp
.endm

// Two message words, big-endian in memory. Both are loaded before the first is worked on.
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
