// SHA-256 and SHA-512 compression for RV64: the macros that all six scalar kernels share.
//
// FIPS 180-4 §6.2.2 and §6.4.2. The two functions differ in word size, table and rotations. The tiers differ in the
// instructions for rotations. The file of a kernel SHA2_KERNEL \word, \tier must define these macros, except for the
// first line, which is in this file:
//
//   \word_LOAD, \word_STORE, \word_ADD         one word of the state or of K
//   \word_\tier_BIG_SIGMA0, _BIG_SIGMA1        \dst = Sigma(\src), changing \tmp (kernel file)
//   \word_\tier_ADD_SIGMA0, _ADD_SIGMA1        \acc += sigma(\src), changing \t1, \t2 (kernel file)
//   \word_\tier_FINISH_WORD                    converts a new word to the form of the ring
//   \word_\tier_LOAD_BLOCK                     loads 16 message words into the ring, from a4;
//                                              may change a5, s0 and s1
//
// A file of the tier ZBB defines these in place of the four sums, because its rounds are in another order:
//
//   \word_ZBB_ROTATE, \word_ZBB_SHIFT          \dst = ROTR or SHR of \src by \bits
//   .L_\word\()_BIG0_n, _BIG1_n, _SMALL0_n, _SMALL1_n
//                                              the constants of Sigma and sigma, n = 1 to 3
//
// The registers are all 28 that the ABI allows:
//
//   a0-a3, t0-t3        a, b, c, d, e, f, g, h at the start of a block; each round renames them
//   t4-t6, a6-a7,
//   s2-s11, ra          the ring W[0..15]: W[t+16] replaces W[t]
//   s0                  K of the current 16 rounds
//   s1, a4              alternately a^b of this round, and b^c, which was a^b one round earlier
//   a5                  scratch
//
// x8-x15 (s0, s1, a0-a5) hold the values that are used most, because the 16-bit forms of lw, and, xor, or and srli
// can access only these registers.
//
// With 32-bit words, the bits above bit 31 of all registers are ignored, because sums, masks and left shifts never
// move them downwards. The state in memory has no such bits.
//
// Timing: a block executes the same instructions in the same order for any contents. Branches depend on `count` and
// the round number, addresses on pointers, block and round number.

.ifndef .L_HARTLOCK_SHA2_MACROS
.set .L_HARTLOCK_SHA2_MACROS, 1

// Sizes for 64 rounds with 32-bit words, and for 80 rounds with 64-bit words.
.set .L_SHA256_WORD_BYTES, 4
.set .L_SHA256_BLOCK_SHIFT, 6
.set .L_SHA256_ROUNDS, 64
.set .L_SHA512_WORD_BYTES, 8
.set .L_SHA512_BLOCK_SHIFT, 7
.set .L_SHA512_ROUNDS, 80

.set .L_SHA2_BLOCK_WORDS, 16
.set .L_SHA2_PASS_ROUNDS, 16

// Offsets in the stack frame. It has the values that a block needs only once, because no registers are left for them.
.set .L_SHA2_STATE, 0
.set .L_SHA2_BLOCKS, 8
.set .L_SHA2_BLOCKS_END, 16
.set .L_SHA2_K_FIRST, 24
.set .L_SHA2_K_LAST_PASS, 32
.set .L_SHA2_SAVED, 40
.set .L_SHA2_FRAME, .L_SHA2_SAVED + .L_SAVED_BYTES

// Access to a word by its index, and the sum of two words. Within the rounds all sums have 64 bits. Only values that
// are stored to memory are truncated to a word.
.macro SHA256_LOAD dst, index, base
    lw    \dst, (\index) * .L_SHA256_WORD_BYTES(\base)
.endm
.macro SHA256_STORE src, index, base
    sw    \src, (\index) * .L_SHA256_WORD_BYTES(\base)
.endm
.macro SHA256_ADD acc, x
    addw  \acc, \acc, \x
.endm
.macro SHA512_LOAD dst, index, base
    ld    \dst, (\index) * .L_SHA512_WORD_BYTES(\base)
.endm
.macro SHA512_STORE src, index, base
    sd    \src, (\index) * .L_SHA512_WORD_BYTES(\base)
.endm
.macro SHA512_ADD acc, x
    add   \acc, \acc, \x
.endm

// Computes round t (step 3 of the section) and, if \schedule, replaces W[t] by W[t+16] (step 1). Afterwards \h is the
// new a and \d the new e. The caller rotates all names by one position.
.macro SHA2_ROUND word, tier, schedule, t, a, b, c, d, e, f, g, h, ab, bc, w0, w1, w9, w14
    .ifc \tier, ZBB
    SHA2_ROUND_IN_PAIRS \word, \schedule, \t, \a, \b, \c, \d, \e, \f, \g, \h, \ab, \bc, \w0, \w1, \w9, \w14
    .else
    // T1 = h + Sigma1(e) + Ch(e,f,g) + K[t] + W[t] is accumulated in h.
    // Ch = ((f ^ g) & e) ^ g has one operation less than the form of the standard.
    \word\()_LOAD \ab, \t, s0
    xor   a5, \f, \g
    add   \h, \h, \w0                   // + W[t]
    and   a5, a5, \e
    add   \h, \h, \ab                   // + K[t]
    xor   a5, a5, \g
    add   \h, \h, a5                    // + Ch
    \word\()_\tier\()_BIG_SIGMA1 \ab, \e, a5
    add   \h, \h, \ab                   // = T1
    add   \d, \d, \h                    // = new e
    // T2 = Sigma0(a) + Maj(a,b,c). Maj = ((a ^ b) & (b ^ c)) ^ b, because the majority differs from b only where b
    // differs from both a and c. The a ^ b of this round is the b ^ c of the next round.
    \word\()_\tier\()_BIG_SIGMA0 \ab, \a, a5
    add   \h, \h, \ab
    xor   \ab, \a, \b
    and   \bc, \bc, \ab
    xor   \bc, \bc, \b
    add   \h, \h, \bc                   // = T1 + T2 = new a
    .if \schedule
    // W[t+16] = sigma1(W[t+14]) + W[t+9] + sigma0(W[t+1]) + W[t].
    \word\()_\tier\()_ADD_SIGMA0 \w0, \w1, \bc, a5
    \word\()_\tier\()_ADD_SIGMA1 \w0, \w14, \bc, a5
    add   \w0, \w0, \w9
    \word\()_\tier\()_FINISH_WORD \w0, \bc
    .endif
    .endif
.endm

// The same as SHA2_ROUND with Zbb, in an order for harts that issue two instructions at a time in program order. Two
// instructions on one line do not wait for each other, and Sigma1(e) is computed beside Sigma0(a). Sigma(x) is nested:
// ROTR^n1(ROTR^(n2 - n1)(ROTR^(n3 - n2)(x) ^ x) ^ x) needs no second register. A constant is loaded a round early, at the
// end of the round before, into the register that is \ab afterwards.
.macro SHA2_ROUND_IN_PAIRS word, schedule, t, a, b, c, d, e, f, g, h, ab, bc, w0, w1, w9, w14
    .if (\t) == 0
    \word\()_LOAD \ab, 0, s0
    .endif
    xor   a5, \f, \g;                    add   \h, \h, \w0        // + W[t]
    and   a5, a5, \e
    .if \schedule
    add   \w0, \w0, \w9
    .endif
    xor   a5, a5, \g;                    add   \h, \h, \ab        // + K[t]
    \word\()_ZBB_ROTATE \ab, \e, .L_\word\()_BIG1_3 - .L_\word\()_BIG1_2
    add   \h, \h, a5                                               // + Ch
    xor   \ab, \ab, \e
    \word\()_ZBB_ROTATE a5, \a, .L_\word\()_BIG0_3 - .L_\word\()_BIG0_2
    \word\()_ZBB_ROTATE \ab, \ab, .L_\word\()_BIG1_2 - .L_\word\()_BIG1_1
    xor   a5, a5, \a
    xor   \ab, \ab, \e
    \word\()_ZBB_ROTATE a5, a5, .L_\word\()_BIG0_2 - .L_\word\()_BIG0_1
    \word\()_ZBB_ROTATE \ab, \ab, .L_\word\()_BIG1_1
    xor   a5, a5, \a
    add   \h, \h, \ab                                               // = T1
    \word\()_ZBB_ROTATE a5, a5, .L_\word\()_BIG0_1
    xor   \ab, \a, \b;                   add   \d, \d, \h         // = new e
    and   \bc, \bc, \ab;                 add   \h, \h, a5         // + Sigma0
    xor   \bc, \bc, \b
    .if \schedule
    \word\()_ZBB_ROTATE a5, \w1, .L_\word\()_SMALL0_2
    add   \h, \h, \bc                                               // = new a
    \word\()_ZBB_ROTATE \bc, \w1, .L_\word\()_SMALL0_1
    xor   a5, a5, \bc
    \word\()_ZBB_SHIFT \bc, \w1, .L_\word\()_SMALL0_3
    xor   a5, a5, \bc
    \word\()_ZBB_ROTATE \bc, \w14, .L_\word\()_SMALL1_1
    add   \w0, \w0, a5                                               // + sigma0
    \word\()_ZBB_ROTATE a5, \w14, .L_\word\()_SMALL1_2
    xor   \bc, \bc, a5
    \word\()_ZBB_SHIFT a5, \w14, .L_\word\()_SMALL1_3
    xor   a5, a5, \bc
    .else
    add   \h, \h, \bc                                               // = new a
    .endif
    .if (\t) + 1 < .L_SHA2_PASS_ROUNDS
    \word\()_LOAD \bc, \t + 1, s0
    .endif
    .if \schedule
    add   \w0, \w0, a5                                               // + sigma1
    .endif
.endm

// Computes eight rounds, after which a..h are in their original registers. The caller passes the ring rotated by t
// mod 16.
.macro SHA2_8_ROUNDS word, tier, sched, t, w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15
    //                                       a   b   c   d   e   f   g   h   ab  bc  W[t]  t+1   t+9   t+14
    SHA2_ROUND \word, \tier, \sched, \t + 0, a0, a1, a2, a3, t0, t1, t2, t3, a4, s1, \w0,  \w1,  \w9,  \w14
    SHA2_ROUND \word, \tier, \sched, \t + 1, t3, a0, a1, a2, a3, t0, t1, t2, s1, a4, \w1,  \w2,  \w10, \w15
    SHA2_ROUND \word, \tier, \sched, \t + 2, t2, t3, a0, a1, a2, a3, t0, t1, a4, s1, \w2,  \w3,  \w11, \w0
    SHA2_ROUND \word, \tier, \sched, \t + 3, t1, t2, t3, a0, a1, a2, a3, t0, s1, a4, \w3,  \w4,  \w12, \w1
    SHA2_ROUND \word, \tier, \sched, \t + 4, t0, t1, t2, t3, a0, a1, a2, a3, a4, s1, \w4,  \w5,  \w13, \w2
    SHA2_ROUND \word, \tier, \sched, \t + 5, a3, t0, t1, t2, t3, a0, a1, a2, s1, a4, \w5,  \w6,  \w14, \w3
    SHA2_ROUND \word, \tier, \sched, \t + 6, a2, a3, t0, t1, t2, t3, a0, a1, a4, s1, \w6,  \w7,  \w15, \w4
    SHA2_ROUND \word, \tier, \sched, \t + 7, a1, a2, a3, t0, t1, t2, t3, a0, s1, a4, \w7,  \w8,  \w0,  \w5
.endm

// Computes one pass over the ring, which is sixteen rounds, with or without the words of the next pass. The second
// half gets the ring rotated by eight.
.macro SHA2_16_ROUNDS word, tier, sched
    SHA2_8_ROUNDS \word, \tier, \sched, 0, t4, t5, t6, a6, a7, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, ra
    SHA2_8_ROUNDS \word, \tier, \sched, 8, s5, s6, s7, s8, s9, s10, s11, ra, t4, t5, t6, a6, a7, s2, s3, s4
.endm

// Applies \macro to two adjacent words of the ring at a time: \macro index, W[index], W[index+1].
.macro SHA2_EACH_PAIR macro
    \macro 0,  t4,  t5
    \macro 2,  t6,  a6
    \macro 4,  a7,  s2
    \macro 6,  s3,  s4
    \macro 8,  s5,  s6
    \macro 10, s7,  s8
    \macro 12, s9,  s10
    \macro 14, s11, ra
.endm

// Swaps adjacent fields of \bits bits in \x. \mask selects the lower field of each pair.
.macro SHA2_SWAP_FIELDS x, bits, mask, tmp
    srli  \tmp, \x, \bits
    and   \tmp, \tmp, \mask
    and   \x, \x, \mask
    slli  \x, \x, \bits
    or    \x, \x, \tmp
.endm

// Loads a..h from the state at a5.
.macro SHA2_LOAD_STATE word
    .set .L_index, 0
    .irp x, a0, a1, a2, a3, t0, t1, t2, t3
    \word\()_LOAD \x, .L_index, a5
    .set .L_index, .L_index + 1
    .endr
.endm

// Step 4: adds the state at a4 to a..h, and stores the sum. It stays in the registers for the next block.
.macro SHA2_FEED_FORWARD word
    SHA2_FEED_FORWARD_PAIR \word, 0, a0, a1
    SHA2_FEED_FORWARD_PAIR \word, 2, a2, a3
    SHA2_FEED_FORWARD_PAIR \word, 4, t0, t1
    SHA2_FEED_FORWARD_PAIR \word, 6, t2, t3
.endm

// Processes two words of the state at a time, so that no sum waits for a load. Changes a5 and s0.
.macro SHA2_FEED_FORWARD_PAIR word, index, x0, x1
    \word\()_LOAD a5, (\index), a4
    \word\()_LOAD s0, (\index + 1), a4
    \word\()_ADD \x0, a5
    \word\()_ADD \x1, s0
    \word\()_STORE \x0, (\index), a4
    \word\()_STORE \x1, (\index + 1), a4
.endm

// The body of a function with this prototype:
//   void name(wordN_t state[8], const uint8_t *blocks, size_t count)
.macro SHA2_KERNEL word, tier, name, k_table
    beqz  a2, .L_\name\()_nothing
    // Values that a block needs only once are on the stack.
    HARTLOCK_ENTER .L_SHA2_FRAME, .L_SHA2_SAVED
    sd    a0, .L_SHA2_STATE(sp)
    // The end of the blocks is stored, because no register is left to count them.
    slli  a2, a2, .L_\word\()_BLOCK_SHIFT
    add   a2, a2, a1
    sd    a2, .L_SHA2_BLOCKS_END(sp)
    // The addresses of the table, and of the part of it for the pass without a message schedule, are stored.
    lla   a5, \k_table
    sd    a5, .L_SHA2_K_FIRST(sp)
    addi  a5, a5, (.L_\word\()_ROUNDS - .L_SHA2_PASS_ROUNDS) * .L_\word\()_WORD_BYTES
    sd    a5, .L_SHA2_K_LAST_PASS(sp)

    // From here on a4 is the address of the block. The state replaces the arguments in their registers.
    mv    a4, a1
    mv    a5, a0
    SHA2_LOAD_STATE \word

.L_\name\()_next_block:
    \word\()_\tier\()_LOAD_BLOCK
    // This stores the end of the current block, and loads the first constants.
    addi  a4, a4, .L_SHA2_BLOCK_WORDS * .L_\word\()_WORD_BYTES
    sd    a4, .L_SHA2_BLOCKS(sp)
    ld    s0, .L_SHA2_K_FIRST(sp)
    // The first round needs the a ^ b of a preceding round.
    xor   s1, a1, a2

    // All passes except for the last also compute the words of the next pass.
.L_\name\()_next_pass:
    SHA2_16_ROUNDS \word, \tier, 1
    ld    a5, .L_SHA2_K_LAST_PASS(sp)
    addi  s0, s0, .L_SHA2_PASS_ROUNDS * .L_\word\()_WORD_BYTES
    bne   s0, a5, .L_\name\()_next_pass
    SHA2_16_ROUNDS \word, \tier, 0

    // Step 4. Only memory still has the state from before the block.
    ld    a4, .L_SHA2_STATE(sp)
    SHA2_FEED_FORWARD \word

    // If the loop is too long, the assembler converts this branch to a short branch over a jump.
    ld    a4, .L_SHA2_BLOCKS(sp)
    ld    a5, .L_SHA2_BLOCKS_END(sp)
    bne   a4, a5, .L_\name\()_next_block
    HARTLOCK_LEAVE .L_SHA2_FRAME, .L_SHA2_SAVED

.L_\name\()_nothing:
    ret
.endm

.endif
