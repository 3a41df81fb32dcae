// void hartlock_keccak_rv64_zbb(uint64_t state[25], const uint8_t *blocks, size_t count,
//                               size_t rate_words, size_t rounds)
//
// For each of `count` blocks of `rate_words` 64-bit words, adds the block to the state and applies
// the last `rounds` rounds of Keccak-f[1600] (FIPS 202 §3.3 and §4 step 6). Needs RV64I and Zbb
// (andn, rori). Include frame_macros.S and keccak_macros.S before this file, and link
// keccak_constants.S.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//   a3  rate_words, 0 to 21; if it is larger, nothing is accessed either
//   a4  rounds, 12 or 24 (any of 4, 8, ... 24)
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 192 bytes, which are not wiped because the message is public.
// Cost: 24.5 retired instructions per byte of a long message at rate 17 with 24 rounds (SHA3-256),
// 10.1 at rate 21 with 12 rounds (KT128) (QEMU, -icount); 2.5 kB of code.
// Constant time: no branch and no address depends on message or state, only on count, rate_words
// and rounds.

.set .L_KECCAK_LANE_BITS, 64

// Zbb has an immediate form only of the right rotation.
.macro KECCAK_ZBB_ROTL dst, src, n, tmp
    rori  \dst, \src, .L_KECCAK_LANE_BITS - \n
.endm

.macro KECCAK_ZBB_ADD_ROTL acc, src, n, tmp
    rori  \tmp, \src, .L_KECCAK_LANE_BITS - \n
    xor   \acc, \acc, \tmp
.endm

// Lanes have the same form in memory and in registers.
.macro KECCAK_ZBB_COMPLEMENT
.endm

// Computes chi on any plane, b[x] ^= ~b[x+1] & b[x+2], except for the last two operations. b3 and
// b4 need the old values of b0 and b1, so their terms are computed first.
.macro KECCAK_ZBB_CHI y, b0, b1, b2, b3, b4, t0, t1, t2
    andn  \t0, \b2, \b1
    andn  \t1, \b1, \b0
    andn  \t2, \b0, \b4
    xor   \b0, \b0, \t0
    andn  \t0, \b3, \b2
    xor   \b1, \b1, \t0
    andn  \t0, \b4, \b3
    xor   \b2, \b2, \t0
.endm

HARTLOCK_FUNCTION hartlock_keccak_rv64_zbb, +zbb
    KECCAK_KERNEL ZBB, hartlock_keccak_rv64_zbb
    // A stage that samples from a hash assembles this as well.
    .ifdef .L_HARTLOCK_KECCAK_SQUEEZES
    .globl  hartlock_keccak_squeeze_rv64_zbb
    .hidden hartlock_keccak_squeeze_rv64_zbb
    .type   hartlock_keccak_squeeze_rv64_zbb, @function
hartlock_keccak_squeeze_rv64_zbb:
    KECCAK_SQUEEZE_KERNEL ZBB, hartlock_keccak_rv64_zbb
    .size   hartlock_keccak_squeeze_rv64_zbb, . - hartlock_keccak_squeeze_rv64_zbb
    .endif
HARTLOCK_FUNCTION_END hartlock_keccak_rv64_zbb
