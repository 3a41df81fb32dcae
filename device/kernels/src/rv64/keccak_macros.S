// Keccak-p[1600] sponge absorption for RV64: the macros that both scalar kernels share.
//
// FIPS 202 §3.2, §3.3 and §4. The tiers differ in the instructions for rotations and chi. The file of a kernel
// KECCAK_KERNEL \tier must define these macros:
//
//   KECCAK_\tier_ROTL dst, src, n, tmp         \dst = \src rotated left by \n; changes \tmp
//   KECCAK_\tier_ADD_ROTL acc, src, n, tmp     \acc ^= \src rotated left by \n; changes \tmp
//   KECCAK_\tier_CHI y, b0..b4, t0, t1, t2     chi on plane \y, except for its last two operations:
//                                              \b3 ^= \t2 and \b4 ^= \t1
//   KECCAK_\tier_COMPLEMENT                    converts between the forms in memory and in registers
//
// The 25 lanes A[x,y] stay in registers from the first block to the last. Together with three scratch registers they
// occupy all 28 registers that the ABI allows:
//
//   y\x   0    1    2    3    4
//    0   a6   a7   t0   t1   t2
//    1   t3   t4   t5   t6   ra         s0, s1, a0   scratch (\t0, \t1, \t2)
//    2   a1   a2   a3   a4   a5
//    3   s2   s3   s4   s5   s6         A[0,2] changes places with s0 in every second round
//    4   s7   s8   s9   s10  s11
//
// Timing: every round executes the same instructions in the same order for any lane values. Branches and addresses
// depend only on pointers, count, rate and rounds.

.ifndef .L_HARTLOCK_KECCAK_MACROS
.set .L_HARTLOCK_KECCAK_MACROS, 1

// Sizes of words and of the table of round constants.
.set .L_KECCAK_WORD_BYTES, 8
.set .L_KECCAK_WORD_SHIFT, 3
.set .L_KECCAK_RC_BYTES, 24 * .L_KECCAK_WORD_BYTES

// The largest rate, which is that of SHAKE128, TurboSHAKE128 and KT128.
.set .L_KECCAK_MAX_RATE_WORDS, 21

// Number of rounds in an iteration of the loop. With Zbb, four rounds take 0.7 % fewer instructions than two, for 1.0
// kB more code. Twelve rounds would save another 0.4 % for another 3.9 kB.
.set .L_KECCAK_PASS_ROUNDS, 4

// Offsets in the stack frame, for values that a block or a round needs only once.
.set .L_KECCAK_STATE, 0
.set .L_KECCAK_BLOCKS, 8
.set .L_KECCAK_COUNT, 16
.set .L_KECCAK_RATE_BYTES, 24
.set .L_KECCAK_ABSORB_ENTRY, 32
.set .L_KECCAK_RC_FIRST, 40
.set .L_KECCAK_RC_NEXT, 48
.set .L_KECCAK_RC_END, 56
.set .L_KECCAK_C0, 64
.set .L_KECCAK_C4, 72
.set .L_KECCAK_SAVED, 80
// The saved registers end eight bytes below a multiple of 16.
.set .L_KECCAK_FRAME, .L_KECCAK_SAVED + .L_SAVED_BYTES + .L_SLOT_BYTES

// Computes \c, the parity C[x] of a column (theta).
.macro KECCAK_PARITY c, l0, l1, l2, l3, l4
    xor   \c, \l0, \l1
    xor   \c, \c, \l2
    xor   \c, \c, \l3
    xor   \c, \c, \l4
.endm

// Adds \d, which is D[x] of theta, to the lanes of a column.
.macro KECCAK_ADD_TO_COLUMN d, lanes:vararg
    .irp lane, \lanes
    xor   \lane, \lane, \d
    .endr
.endm

// Computes chi on a plane completely.
.macro KECCAK_PLANE tier, y, b0, b1, b2, b3, b4, t0, t1, t2
    KECCAK_\tier\()_CHI \y, \b0, \b1, \b2, \b3, \b4, \t0, \t1, \t2
    xor   \b3, \b3, \t2
    xor   \b4, \b4, \t1
.endm

// Computes one round (FIPS 202 §3.3). \rc is the offset of its constant from RC_NEXT, in words. Afterwards A[0,2] is
// in \t0 and \a02 is free. The next round exchanges the two registers, which saves a move at the end of the cycle of
// pi.
.macro KECCAK_ROUND tier, rc, a00, a10, a20, a30, a40, a01, a11, a21, a31, a41, a02, a12, a22, a32, a42, a03, a13, a23, a33, a43, a04, a14, a24, a34, a44, t0, t1, t2
    // Theta (§3.2.1): D[x] = C[x-1] ^ ROTL(C[x+1], 1). The parity of each column is computed before its D is added.
    // In this order at most three values are live. While C[4] and C[0] are loaded from the stack for their second
    // use, five additions hide the latency of the load.
    KECCAK_PARITY \t1, \a40, \a41, \a42, \a43, \a44
    sd    \t1, .L_KECCAK_C4(sp)
    KECCAK_PARITY \t0, \a10, \a11, \a12, \a13, \a14
    // t1 becomes D[0] = C[4] ^ ROTL(C[1], 1). C[1] is kept for D[2].
    KECCAK_\tier\()_ADD_ROTL \t1, \t0, 1, \t2
    KECCAK_PARITY \t2, \a00, \a01, \a02, \a03, \a04
    sd    \t2, .L_KECCAK_C0(sp)
    KECCAK_ADD_TO_COLUMN \t1, \a00, \a01, \a02, \a03, \a04
    // t2 becomes D[4] = C[3] ^ ROTL(C[0], 1).
    KECCAK_\tier\()_ROTL \t2, \t2, 1, \t1
    KECCAK_PARITY \t1, \a30, \a31, \a32, \a33, \a34
    xor   \t2, \t2, \t1
    KECCAK_ADD_TO_COLUMN \t2, \a40, \a41, \a42, \a43, \a44
    // t0 becomes D[2] = C[1] ^ ROTL(C[3], 1).
    KECCAK_\tier\()_ROTL \t1, \t1, 1, \t2
    xor   \t0, \t0, \t1
    KECCAK_PARITY \t1, \a20, \a21, \a22, \a23, \a24
    ld    \t2, .L_KECCAK_C4(sp)
    KECCAK_ADD_TO_COLUMN \t0, \a20, \a21, \a22, \a23, \a24
    // t2 becomes D[3] = C[2] ^ ROTL(C[4], 1).
    KECCAK_\tier\()_ROTL \t2, \t2, 1, \t0
    xor   \t2, \t2, \t1
    ld    \t0, .L_KECCAK_C0(sp)
    KECCAK_ADD_TO_COLUMN \t2, \a30, \a31, \a32, \a33, \a34
    // t0 becomes D[1] = C[0] ^ ROTL(C[2], 1).
    KECCAK_\tier\()_ROTL \t1, \t1, 1, \t2
    xor   \t0, \t0, \t1
    KECCAK_ADD_TO_COLUMN \t0, \a10, \a11, \a12, \a13, \a14

    // Rho (§3.2.2) and pi (§3.2.3): B[y,2x+3y] = ROTL(A[x,y], r[x,y]). Pi is a single cycle through the 24 lanes
    // other than A[0,0]. The code follows the cycle backwards from A[1,0], so that each lane moves to a register that
    // was read just before. The comment at each rotation is its offset as printed in Table 2.
    KECCAK_\tier\()_ROTL \t0,  \a10, 1, \t1     // 1
    KECCAK_\tier\()_ROTL \a10, \a11, 44, \t1    // 300
    KECCAK_\tier\()_ROTL \a11, \a41, 20, \t1    // 276
    KECCAK_\tier\()_ROTL \a41, \a24, 61, \t1    // 253
    KECCAK_\tier\()_ROTL \a24, \a42, 39, \t1    // 231
    KECCAK_\tier\()_ROTL \a42, \a04, 18, \t1    // 210
    KECCAK_\tier\()_ROTL \a04, \a20, 62, \t1    // 190
    KECCAK_\tier\()_ROTL \a20, \a22, 43, \t1    // 171
    KECCAK_\tier\()_ROTL \a22, \a32, 25, \t1    // 153
    KECCAK_\tier\()_ROTL \a32, \a43, 8, \t1     // 136
    KECCAK_\tier\()_ROTL \a43, \a34, 56, \t1    // 120
    KECCAK_\tier\()_ROTL \a34, \a03, 41, \t1    // 105
    KECCAK_\tier\()_ROTL \a03, \a40, 27, \t1    // 91
    KECCAK_\tier\()_ROTL \a40, \a44, 14, \t1    // 78
    KECCAK_\tier\()_ROTL \a44, \a14, 2, \t1     // 66
    KECCAK_\tier\()_ROTL \a14, \a31, 55, \t1    // 55
    KECCAK_\tier\()_ROTL \a31, \a13, 45, \t1    // 45
    KECCAK_\tier\()_ROTL \a13, \a01, 36, \t1    // 36
    KECCAK_\tier\()_ROTL \a01, \a30, 28, \t1    // 28
    KECCAK_\tier\()_ROTL \a30, \a33, 21, \t1    // 21
    KECCAK_\tier\()_ROTL \a33, \a23, 15, \t1    // 15
    KECCAK_\tier\()_ROTL \a23, \a12, 10, \t1    // 10
    KECCAK_\tier\()_ROTL \a12, \a21, 6, \t1     // 6
    KECCAK_\tier\()_ROTL \a21, \a02, 3, \t1     // 3

    // Chi (§3.2.4) is computed plane by plane. B[0,2] is \t0, and \a02 is a scratch register instead.
    KECCAK_PLANE \tier, 0, \a00, \a10, \a20, \a30, \a40, \a02, \t1, \t2
    KECCAK_PLANE \tier, 1, \a01, \a11, \a21, \a31, \a41, \a02, \t1, \t2
    KECCAK_PLANE \tier, 2, \t0,  \a12, \a22, \a32, \a42, \a02, \t1, \t2
    KECCAK_PLANE \tier, 3, \a03, \a13, \a23, \a33, \a43, \a02, \t1, \t2
    KECCAK_\tier\()_CHI 4, \a04, \a14, \a24, \a34, \a44, \a02, \t1, \t2
    // Iota (§3.2.5). The last two operations of chi hide the latency of its loads.
    ld    \a02, .L_KECCAK_RC_NEXT(sp)
    xor   \a34, \a34, \t2
    ld    \t2, (\rc) * .L_KECCAK_WORD_BYTES(\a02)
    xor   \a44, \a44, \t1
    xor   \a00, \a00, \t2
.endm

// Computes two rounds, after which every lane is in its original register. Only A[0,2] and s0 differ between the two
// lists: a1 and s0, then s0 and a1.
.macro KECCAK_2_ROUNDS tier, rc
    KECCAK_ROUND \tier, \rc,     a6, a7, t0, t1, t2, t3, t4, t5, t6, ra, a1, a2, a3, a4, a5, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s0, s1, a0
    KECCAK_ROUND \tier, \rc + 1, a6, a7, t0, t1, t2, t3, t4, t5, t6, ra, s0, a2, a3, a4, a5, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, a1, s1, a0
.endm

// Applies \load_or_store to the state at \base in the order of FIPS 202 §3.1.2, in which lane A[x,y] is word x + 5y.
.macro KECCAK_EACH_LANE load_or_store, base
    .set .L_offset, 0
    .irp lane, a6, a7, t0, t1, t2, t3, t4, t5, t6, ra, a1, a2, a3, a4, a5, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    \load_or_store \lane, .L_offset(\base)
    .set .L_offset, .L_offset + .L_KECCAK_WORD_BYTES
    .endr
.endm

// Stores the first 21 lanes at s0.
.macro KECCAK_STORE_BLOCK
    .set .L_offset, 0
    .irp lane, a6, a7, t0, t1, t2, t3, t4, t5, t6, ra, a1, a2, a3, a4, a5, s2, s3, s4, s5, s6, s7
    sd    \lane, .L_offset(s0)
    .set .L_offset, .L_offset + .L_KECCAK_WORD_BYTES
    .endr
.endm

// Adds the block at s0 to the state, from word 20 down to word 0. If the code is entered k words before its end, it
// adds only the first k words. The code of each word has eight bytes. Compressed instructions would make the lengths
// unequal.
.set .L_KECCAK_ABSORB_SHIFT, 3
.macro KECCAK_ABSORB
    .option push
    .option norvc
    .set .L_offset, .L_KECCAK_MAX_RATE_WORDS * .L_KECCAK_WORD_BYTES
    .irp lane, s7, s6, s5, s4, s3, s2, a5, a4, a3, a2, a1, ra, t6, t5, t4, t3, t2, t1, t0, a7, a6
    .set .L_offset, .L_offset - .L_KECCAK_WORD_BYTES
    ld    s1, .L_offset(s0)
    xor   \lane, \lane, s1
    .endr
    .option pop
.endm

// The body of a function with this prototype:
//   void name(uint64_t state[25], const uint8_t *blocks, size_t count, size_t rate_words,
//             size_t rounds)
.macro KECCAK_KERNEL tier, name
    beqz  a2, .L_\name\()_nothing
    // With a larger rate the computed jump would leave this function. Such a call is an error of the caller, and the
    // state does not change.
    li    t0, .L_KECCAK_MAX_RATE_WORDS
    bltu  t0, a3, .L_\name\()_nothing
    // Values that blocks and rounds rarely need are on the stack, because no registers are left for them.
    HARTLOCK_ENTER .L_KECCAK_FRAME, .L_KECCAK_SAVED
    sd    a0, .L_KECCAK_STATE(sp)
    sd    a1, .L_KECCAK_BLOCKS(sp)
    sd    a2, .L_KECCAK_COUNT(sp)
    slli  s0, a3, .L_KECCAK_WORD_SHIFT
    sd    s0, .L_KECCAK_RATE_BYTES(sp)
    // This computes the entry into KECCAK_ABSORB for the rate.
    slli  s0, a3, .L_KECCAK_ABSORB_SHIFT
    lla   s1, .L_\name\()_absorbed
    sub   s1, s1, s0
    sd    s1, .L_KECCAK_ABSORB_ENTRY(sp)
    // This computes the address of the constants of the last \rounds rounds.
    lla   s0, hartlock_keccak_rc
    addi  s0, s0, .L_KECCAK_RC_BYTES
    sd    s0, .L_KECCAK_RC_END(sp)
    slli  s1, a4, .L_KECCAK_WORD_SHIFT
    sub   s0, s0, s1
    sd    s0, .L_KECCAK_RC_FIRST(sp)

    // The base a0 is not a lane register.
    KECCAK_EACH_LANE ld, a0
    KECCAK_\tier\()_COMPLEMENT

.L_\name\()_next_block:
    ld    s0, .L_KECCAK_BLOCKS(sp)
    ld    s1, .L_KECCAK_ABSORB_ENTRY(sp)
    ld    a0, .L_KECCAK_RC_FIRST(sp)
    sd    a0, .L_KECCAK_RC_NEXT(sp)
    // This is the only computed jump. Its target depends on rate_words, which is public.
    jr    s1
    KECCAK_ABSORB
.L_\name\()_absorbed:
    // The address of the next block is stored before s0 is overwritten.
    ld    s1, .L_KECCAK_RATE_BYTES(sp)
    add   s0, s0, s1
    sd    s0, .L_KECCAK_BLOCKS(sp)

    // Each iteration computes four rounds (FIPS 202 §3.3).
.L_\name\()_next_pass:
    KECCAK_2_ROUNDS \tier, 0
    KECCAK_2_ROUNDS \tier, 2
    // The last round left RC_NEXT in s0. The comparison is "less than" instead of "not equal", so that the loop also
    // ends if the number of rounds is not a multiple of four.
    ld    s1, .L_KECCAK_RC_END(sp)
    addi  s0, s0, .L_KECCAK_PASS_ROUNDS * .L_KECCAK_WORD_BYTES
    sd    s0, .L_KECCAK_RC_NEXT(sp)
    bltu  s0, s1, .L_\name\()_next_pass

    // The blocks are counted, because with rate 0 the address does not change.
    ld    s0, .L_KECCAK_COUNT(sp)
    addi  s0, s0, -1
    sd    s0, .L_KECCAK_COUNT(sp)
    bnez  s0, .L_\name\()_next_block

    KECCAK_\tier\()_COMPLEMENT
    ld    s0, .L_KECCAK_STATE(sp)
    KECCAK_EACH_LANE sd, s0
    HARTLOCK_LEAVE .L_KECCAK_FRAME, .L_KECCAK_SAVED

.L_\name\()_nothing:
    ret
.endm

// The body of a second function of the same section, which must follow KECCAK_KERNEL \tier, \name, with this prototype:
//   void name(uint64_t state[25], uint64_t (*blocks)[21], size_t count)
//
// Permutes the state `count` times with all rounds. After each time except for the last, the first 21 lanes are stored
// as the next of `count` - 1 blocks (FIPS 202 §4, steps 7 to 10). The loop is that of KECCAK_KERNEL; instead of adding a
// block, its computed jump leads to the code that stores one.
.macro KECCAK_SQUEEZE_KERNEL tier, name
    beqz  a2, .L_\name\()_nothing
    HARTLOCK_ENTER .L_KECCAK_FRAME, .L_KECCAK_SAVED
    sd    a0, .L_KECCAK_STATE(sp)
    sd    a2, .L_KECCAK_COUNT(sp)
    li    s0, .L_KECCAK_MAX_RATE_WORDS * .L_KECCAK_WORD_BYTES
    sd    s0, .L_KECCAK_RATE_BYTES(sp)
    lla   s1, .L_\name\()_squeeze
    sd    s1, .L_KECCAK_ABSORB_ENTRY(sp)
    lla   s1, hartlock_keccak_rc
    sd    s1, .L_KECCAK_RC_FIRST(sp)
    sd    s1, .L_KECCAK_RC_NEXT(sp)
    addi  s1, s1, .L_KECCAK_RC_BYTES
    sd    s1, .L_KECCAK_RC_END(sp)
    // Nothing is stored before the first permutation, but the address advances.
    sub   s0, a1, s0
    KECCAK_EACH_LANE ld, a0
    KECCAK_\tier\()_COMPLEMENT
    j     .L_\name\()_absorbed
.L_\name\()_squeeze:
    KECCAK_\tier\()_COMPLEMENT
    KECCAK_STORE_BLOCK
    KECCAK_\tier\()_COMPLEMENT
    j     .L_\name\()_absorbed
.endm

.endif
