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

.macro SHA512_ZBB_ROTATE dst, src, bits
    rori \dst, \src, \bits
.endm
.macro SHA512_ZBB_SHIFT dst, src, bits
    srli \dst, \src, \bits
.endm

// FIPS 180-4 (4.10) to (4.13): the numbers of bits. The last one of a small sigma is that of a shift.
.set .L_SHA512_BIG0_1, 28
.set .L_SHA512_BIG0_2, 34
.set .L_SHA512_BIG0_3, 39
.set .L_SHA512_BIG1_1, 14
.set .L_SHA512_BIG1_2, 18
.set .L_SHA512_BIG1_3, 41
.set .L_SHA512_SMALL0_1, 1
.set .L_SHA512_SMALL0_2, 8
.set .L_SHA512_SMALL0_3, 7
.set .L_SHA512_SMALL1_1, 19
.set .L_SHA512_SMALL1_2, 61
.set .L_SHA512_SMALL1_3, 6

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
