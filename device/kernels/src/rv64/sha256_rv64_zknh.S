// void hartlock_sha256_rv64_zknh(uint32_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-256 compression of `count` blocks of 64 bytes (FIPS 180-4 §6.2.2).
// Needs RV64I, Zbb (rev8) and Zknh (sha256sum*, sha256sig*). Include before it: frame_macros.S,
// sha2_macros.S. K: sha2.rs.
//
//   a0  state, 4-byte aligned, updated in place     a1  blocks, 8-byte aligned, only read
//   a2  count; with 0 neither state nor blocks is touched
//
// Clobbers t0-t6 and a0-a7; uses ra and s0-s11 too, and restores them; leaves gp and tp alone.
// Stack: 144 bytes, not wiped, since the message is public.
// Cost: 20.8 retired instructions a byte of a long message (QEMU, -icount), 1.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count; the Zknh
// instructions are on the list of Zkt.

.set .L_SHA256_WORD_BITS, 32

// FIPS 180-4 (4.4) to (4.7), one instruction each. They read the lower 32 bits only.
.macro SHA256_ZKNH_BIG_SIGMA0 dst, src, tmp
    sha256sum0 \dst, \src
.endm
.macro SHA256_ZKNH_BIG_SIGMA1 dst, src, tmp
    sha256sum1 \dst, \src
.endm
.macro SHA256_ZKNH_ADD_SIGMA0 acc, src, t1, t2
    sha256sig0 \t1, \src
    add   \acc, \acc, \t1
.endm
.macro SHA256_ZKNH_ADD_SIGMA1 acc, src, t1, t2
    sha256sig1 \t1, \src
    add   \acc, \acc, \t1
.endm

// A new word stays as the sum left it.
.macro SHA256_ZKNH_FINISH_WORD w, tmp
.endm

// Two message words, big-endian in memory, from one load: the byte swap of all 64 bits puts the
// first word into the upper half. What stays above the second word has no meaning.
.macro SHA256_ZKNH_LOAD_PAIR index, w0, w1
    ld    \w1, (\index) * .L_SHA256_WORD_BYTES(a4)
    rev8  \w1, \w1
    srli  \w0, \w1, .L_SHA256_WORD_BITS
.endm

.macro SHA256_ZKNH_LOAD_BLOCK
    SHA2_EACH_PAIR SHA256_ZKNH_LOAD_PAIR
.endm

HARTLOCK_FUNCTION hartlock_sha256_rv64_zknh, +zbb, +zknh
    SHA2_KERNEL SHA256, ZKNH, hartlock_sha256_rv64_zknh, hartlock_sha256_k
HARTLOCK_FUNCTION_END hartlock_sha256_rv64_zknh
