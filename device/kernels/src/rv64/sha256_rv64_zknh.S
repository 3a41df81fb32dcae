// void hartlock_sha256_rv64_zknh(uint32_t state[8], const uint8_t *blocks, size_t count)
//
// SHA-256 compression of `count` blocks of 64 bytes (FIPS 180-4 §6.2.2). Needs RV64I, Zbb (rev8)
// and Zknh (sha256sum*, sha256sig*). Include frame_macros.S and sha2_macros.S before this file. The
// table K is in sha2/compression.rs.
//
//   a0  state, 4-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 144 bytes, which are not wiped because the message is public.
// Cost: 20.8 retired instructions per byte of a long message (QEMU, -icount), 1.9 kB of code.
// Constant time: no branch and no address depends on message or state, only on count. The Zknh
// instructions are in the list of Zkt.

.set .L_SHA256_WORD_BITS, 32

// FIPS 180-4 (4.4) to (4.7) take one instruction each. The instructions read only the lower 32
// bits.
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

// A new word needs no further change.
.macro SHA256_ZKNH_FINISH_WORD w, tmp
.endm

// Loads two big-endian message words with one load. The byte swap of all 64 bits moves the first
// word to the upper half. The bits above the second word are ignored.
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
