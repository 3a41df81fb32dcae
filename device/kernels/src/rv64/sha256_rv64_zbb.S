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

.macro SHA256_ZBB_ROTATE dst, src, bits
    roriw \dst, \src, \bits
.endm
.macro SHA256_ZBB_SHIFT dst, src, bits
    srliw \dst, \src, \bits
.endm

// FIPS 180-4 (4.4) to (4.7): the numbers of bits. The last one of a small sigma is that of a shift.
.set .L_SHA256_BIG0_1, 2
.set .L_SHA256_BIG0_2, 13
.set .L_SHA256_BIG0_3, 22
.set .L_SHA256_BIG1_1, 6
.set .L_SHA256_BIG1_2, 11
.set .L_SHA256_BIG1_3, 25
.set .L_SHA256_SMALL0_1, 7
.set .L_SHA256_SMALL0_2, 18
.set .L_SHA256_SMALL0_3, 3
.set .L_SHA256_SMALL1_1, 17
.set .L_SHA256_SMALL1_2, 19
.set .L_SHA256_SMALL1_3, 10

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
