// void hartlock_keccak_rv64(uint64_t state[25], const uint8_t *blocks, size_t count,
//                           size_t rate_words, size_t rounds)
//
// For each of `count` blocks of `rate_words` 64-bit words, adds the block to the state and applies
// the last `rounds` rounds of Keccak-f[1600] (FIPS 202 §3.3 and §4 step 6). Needs only RV64I.
// Include frame_macros.S and keccak_macros.S before this file, and link keccak_constants.S.
//
//   a0  state, 8-byte aligned, updated in place     a1  blocks, 8-byte aligned, read only
//   a2  count; if it is 0, neither state nor blocks are accessed
//   a3  rate_words, 0 to 21; if it is larger, nothing is accessed either
//   a4  rounds, 12 or 24 (any of 4, 8, ... 24)
//
// Clobbers t0-t6 and a0-a7. Saves and restores ra and s0-s11. Does not use gp and tp.
// Stack: 192 bytes, which are not wiped because the message is public.
// Cost: 35.6 retired instructions per byte of a long message at rate 17 with 24 rounds (SHA3-256),
// 14.6 at rate 21 with 12 rounds (KT128) (QEMU, -icount); 3.4 kB of code.
// Constant time: no branch and no address depends on message or state, only on count, rate_words
// and rounds.
//
// Without `andn`, chi would need 25 complements in a round. Therefore six lanes are kept
// complemented ("lane complementing" in the Keccak implementation overview), which leaves five
// complements, one for each plane.

.set .L_KECCAK_LANE_BITS, 64

.macro KECCAK_RV64_ROTL dst, src, n, tmp
    srli  \tmp, \src, .L_KECCAK_LANE_BITS - \n
    slli  \dst, \src, \n
    or    \dst, \dst, \tmp
.endm

// The two parts of the rotation are added one after the other, so \src does not change.
.macro KECCAK_RV64_ADD_ROTL acc, src, n, tmp
    srli  \tmp, \src, .L_KECCAK_LANE_BITS - \n
    xor   \acc, \acc, \tmp
    slli  \tmp, \src, \n
    xor   \acc, \acc, \tmp
.endm

// Converts between lanes in memory, none of which is complemented, and lanes in registers, where
// six are complemented: A[1,0], A[2,0], A[3,1], A[2,2], A[2,3] and A[0,4].
.macro KECCAK_RV64_COMPLEMENT
    .irp lane, a7, t0, t6, a3, s4, s7
    not   \lane, \lane
    .endr
.endm

// Computes chi on plane \y, except for the last two operations: b[x] ^= ~b[x+1] & b[x+2], for lanes
// that are not complemented.
//
// Let p and q be lanes and P, Q their complements. Then ~p & q = P & q = ~(p | Q). The outer
// complement is not necessary if the result must be complemented, or is added to a complemented
// lane. So `and` and `or` are enough where exactly one of two neighbours is complemented. Five
// lanes around a plane cannot alternate, so each plane has one pair of equal neighbours and needs
// one `not`. Theta, rho and pi move the six complements to the positions named below.
.macro KECCAK_RV64_CHI y, b0, b1, b2, b3, b4, t0, t1, t2
    .if \y == 0
    // Complemented before: b0, b2 and b3. Complemented after: b1 and b2.
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
    // Complemented before: b0 and b2. Complemented after: b3.
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
    // Complemented before: b0 and b2. Complemented after: b2.
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
    // Complemented before: b1, b3 and b4. Complemented after: b2.
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
    // Complemented before: b0 and b3. Complemented after: b0.
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
    // A stage that samples from a hash assembles this as well.
    .ifdef .L_HARTLOCK_KECCAK_SQUEEZES
    .globl  hartlock_keccak_squeeze_rv64
    .hidden hartlock_keccak_squeeze_rv64
    .type   hartlock_keccak_squeeze_rv64, @function
hartlock_keccak_squeeze_rv64:
    KECCAK_SQUEEZE_KERNEL RV64, hartlock_keccak_rv64
    .size   hartlock_keccak_squeeze_rv64, . - hartlock_keccak_squeeze_rv64
    .endif
HARTLOCK_FUNCTION_END hartlock_keccak_rv64
