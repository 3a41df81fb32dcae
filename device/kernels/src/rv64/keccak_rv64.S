// void hartlock_keccak_rv64(uint64_t state[25], const uint8_t *blocks, size_t count,
//                           size_t rate_words, size_t rounds)
//
// For each of `count` blocks of `rate_words` 64-bit words: adds the block to the state and applies
// the last `rounds` rounds of Keccak-f[1600] (FIPS 202 §3.3 and §4 step 6). Needs RV64I only.
// Include before it: frame_macros.S, keccak_macros.S; link keccak_constants.S.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, only read
//   a2  count; with 0 neither state nor blocks is touched
//   a3  rate_words, 0 to 21; with more nothing is touched either
//   a4  rounds, 12 or 24 (any of 4, 8, ... 24)
//
// Clobbers t0-t6 and a0-a7; uses ra and s0-s11 too, and restores them; leaves gp and tp alone.
// Stack: 192 bytes, not wiped, since the message is public.
// Cost: 35.6 retired instructions a byte at rate 17 with 24 rounds (SHA3-256), 14.6 at rate 21 with
// 12 (KT128), of a long message (QEMU, -icount); 3.4 kB of code.
// Constant time: no branch and no address depends on message or state, only on count, rate_words
// and rounds.
//
// Without `andn` chi would need 25 complements a round. Six lanes are kept complemented instead
// ("lane complementing" in the Keccak implementation overview): five are left, one a plane.

.set .L_KECCAK_LANE_BITS, 64

.macro KECCAK_RV64_ROTL dst, src, n, tmp
    srli  \tmp, \src, .L_KECCAK_LANE_BITS - \n
    slli  \dst, \src, \n
    or    \dst, \dst, \tmp
.endm

// Its two parts are added one after the other: \src is not changed.
.macro KECCAK_RV64_ADD_ROTL acc, src, n, tmp
    srli  \tmp, \src, .L_KECCAK_LANE_BITS - \n
    xor   \acc, \acc, \tmp
    slli  \tmp, \src, \n
    xor   \acc, \acc, \tmp
.endm

// Between true lanes in memory and the six complemented ones in registers:
// A[1,0], A[2,0], A[3,1], A[2,2], A[2,3] and A[0,4].
.macro KECCAK_RV64_COMPLEMENT
    .irp lane, a7, t0, t6, a3, s4, s7
    not   \lane, \lane
    .endr
.endm

// Chi on plane \y, all but the last two operations: b[x] ^= ~b[x+1] & b[x+2], in true lanes.
//
// Let p and q be true lanes and P, Q their complements. Then ~p & q = P & q = ~(p | Q), and the
// complement in front falls away where the result is wanted complemented, or added to a
// complemented lane. So `and` and `or` do where just one of two neighbours is complemented. Five
// lanes around a plane cannot alternate: each plane has one pair of equals and one `not`.
// Theta, rho and pi carry the six complements to the places named below.
.macro KECCAK_RV64_CHI y, b0, b1, b2, b3, b4, t0, t1, t2
    .if \y == 0
    // Complemented before: b0, b2 and b3; after: b1 and b2.
    or    \t0, \b1, \b2
    and   \t1, \b0, \b1       // for b4: ~b0 & b1
    or    \t2, \b4, \b0       // for b3: ~b4 & b0
    xor   \b0, \b0, \t0       // b0 ^= ~b1 & b2
    not   \t0, \b2
    or    \t0, \t0, \b3
    xor   \b1, \b1, \t0       // b1 ^= ~b2 & b3
    and   \t0, \b3, \b4
    xor   \b2, \b2, \t0       // b2 ^= ~b3 & b4
    .elseif \y == 1
    // Complemented before: b0 and b2; after: b3.
    or    \t0, \b1, \b2
    and   \t1, \b0, \b1       // for b4: ~b0 & b1
    or    \t2, \b4, \b0       // for b3: ~b4 & b0
    xor   \b0, \b0, \t0       // b0 ^= ~b1 & b2
    and   \t0, \b2, \b3
    xor   \b1, \b1, \t0       // b1 ^= ~b2 & b3
    not   \t0, \b4
    or    \t0, \t0, \b3
    xor   \b2, \b2, \t0       // b2 ^= ~b3 & b4
    .elseif \y == 2
    // Complemented before: b0 and b2; after: b2.
    or    \t0, \b1, \b2
    and   \t1, \b0, \b1       // for b4: ~b0 & b1
    or    \t2, \b4, \b0       // for b3: ~b4 & b0
    xor   \b0, \b0, \t0       // b0 ^= ~b1 & b2
    and   \t0, \b2, \b3
    xor   \b1, \b1, \t0       // b1 ^= ~b2 & b3
    not   \b3, \b3
    and   \t0, \b3, \b4
    xor   \b2, \b2, \t0       // b2 ^= ~b3 & b4
    .elseif \y == 3
    // Complemented before: b1, b3 and b4; after: b2.
    and   \t0, \b1, \b2
    or    \t1, \b0, \b1       // for b4: ~b0 & b1
    and   \t2, \b4, \b0       // for b3: ~b4 & b0
    xor   \b0, \b0, \t0       // b0 ^= ~b1 & b2
    or    \t0, \b2, \b3
    xor   \b1, \b1, \t0       // b1 ^= ~b2 & b3
    not   \b3, \b3
    or    \t0, \b3, \b4
    xor   \b2, \b2, \t0       // b2 ^= ~b3 & b4
    .else
    // Complemented before: b0 and b3; after: b0.
    and   \t1, \b0, \b1       // for b4: ~b0 & b1
    not   \b1, \b1
    or    \t2, \b4, \b0       // for b3: ~b4 & b0
    and   \t0, \b1, \b2
    xor   \b0, \b0, \t0       // b0 ^= ~b1 & b2
    or    \t0, \b2, \b3
    xor   \b1, \b1, \t0       // b1 ^= ~b2 & b3
    and   \t0, \b3, \b4
    xor   \b2, \b2, \t0       // b2 ^= ~b3 & b4
    .endif
.endm

HARTLOCK_FUNCTION hartlock_keccak_rv64
    KECCAK_KERNEL RV64, hartlock_keccak_rv64
HARTLOCK_FUNCTION_END hartlock_keccak_rv64
