// SHA-256 and SHA-512 compression of several messages at once: the macros that both kernels share.
//
// FIPS 180-4 §6.2.2 and §6.4.2. Lane i of every vector register belongs to message i, so that each
// step of the standard is one vector instruction for all messages. The two functions differ in the
// macros at the end, whose names begin with \hash, and in \bits, the length of a word in bits. Those
// without Zvkb rotate by shifts (lanes_macros.S).
//
// Registers:
//
//   a0      states                         v0-v7    a to h at the start of a block; each round
//   a1      pointers to the messages                renames them
//   a2      bytes of a message             v8-v23   the ring W[0..15]: W[t+16] takes the place
//   a3      number of messages                      of W[t]
//   a4, a6  table of K: start, end         v24-v27  scratch of a round
//   a5      K of the current 16 rounds     v24-v31  scratch of the schedule
//   t1      offset of the block in its message
//
// The schedule computes 16 words at once between the rounds, not one word in every round. So
// adjacent words of the ring can be processed by instructions on two, four or eight registers (LMUL
// 2, 4, 8). These instructions process whole registers. Their results past the last lane are not
// used.

.ifndef .L_HARTLOCK_SHA2_LANES_MACROS
.set .L_HARTLOCK_SHA2_LANES_MACROS, 1

.set .L_SHA2_LANES_BLOCK_WORDS, 16
.set .L_SHA2_LANES_PASS_ROUNDS, 16

// Sets vtype for single registers, lanes 0 to n - 1.
.macro SHA2_LANES_SINGLES bits
    vsetvli zero, a3, e\bits, m1, ta, ma
.endm

// Sets vtype for groups of \lmul registers, all lanes.
.macro SHA2_LANES_GROUPS bits, lmul
    vsetvli t0, zero, e\bits, m\lmul, ta, ma
.endm

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ ROTR^r3(\src), r1 < r2 < r3, as nested rotations:
// ROTR^r1(ROTR^(r2 - r1)(ROTR^(r3 - r2)(x) ^ x) ^ x). Changes \tmp.
.macro SHA2_LANES_ROTATIONS bits, dst, src, tmp, r1, r2, r3
    LANES_ROTATE_RIGHT \bits, \dst, \src, \r3 - \r2, \tmp
    vxor.vv \dst, \dst, \src
    LANES_ROTATE_RIGHT \bits, \dst, \dst, \r2 - \r1, \tmp
    vxor.vv \dst, \dst, \src
    LANES_ROTATE_RIGHT \bits, \dst, \dst, \r1, \tmp
.endm

// Computes \dst = ROTR^r1(\src) ^ ROTR^r2(\src) ^ SHR^shift(\src). Changes \tmp.
.macro SHA2_LANES_ROTATIONS_AND_SHIFT bits, dst, src, tmp, r1, r2, shift
    .if .L_LANES_HAVE_ZVKB
    vror.vi \dst, \src, \r1
    vror.vi \tmp, \src, \r2
    vxor.vv \dst, \dst, \tmp
    .else
    LANES_SHIFT vsrl, \dst, \src, \r1
    LANES_SHIFT vsll, \tmp, \src, \bits - \r1
    vxor.vv \dst, \dst, \tmp
    LANES_SHIFT vsrl, \tmp, \src, \r2
    vxor.vv \dst, \dst, \tmp
    LANES_SHIFT vsll, \tmp, \src, \bits - \r2
    vxor.vv \dst, \dst, \tmp
    .endif
    vsrl.vi \tmp, \src, \shift
    vxor.vv \dst, \dst, \tmp
.endm

// Computes one round, which is step 3 of §6.2.2, with constant number \index from a5 and the word
// \w. T1 is accumulated in \h. Then d + T1 is the new e, and h = T1 + T2 the new a.
//
// Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b. \bc contains b ^ c, which was a ^ b one round earlier,
// and \ab receives a ^ b for the next round. The scratch registers are v24, v25 and t3.
.macro SHA2_LANES_ROUND hash, index, w, ab, bc, a, b, c, d, e, f, g, h
    \hash\()_LANES_LOAD_CONSTANT t3, \index
    vadd.vv \h, \h, \w
    vadd.vx \h, \h, t3
    // Ch(e, f, g) = ((f ^ g) & e) ^ g.
    vxor.vv v24, \f, \g
    vand.vv v24, v24, \e
    vxor.vv v24, v24, \g
    vadd.vv \h, \h, v24
    \hash\()_LANES_BIG_SIGMA1 v25, \e, v24
    vadd.vv \h, \h, v25
    vadd.vv \d, \d, \h
    \hash\()_LANES_BIG_SIGMA0 v24, \a, v25
    vadd.vv \h, \h, v24
    vxor.vv \ab, \a, \b
    vand.vv \bc, \bc, \ab
    vxor.vv \bc, \bc, \b
    vadd.vv \h, \h, \bc
.endm

// Computes eight rounds, after which a to h are in v0-v7 again. In each round only the registers of
// d and h change, and all registers take the next letter.
.macro SHA2_LANES_EIGHT_ROUNDS hash, first, w0, w1, w2, w3, w4, w5, w6, w7
    SHA2_LANES_ROUND \hash, \first + 0, \w0, v26, v27, v0, v1, v2, v3, v4, v5, v6, v7
    SHA2_LANES_ROUND \hash, \first + 1, \w1, v27, v26, v7, v0, v1, v2, v3, v4, v5, v6
    SHA2_LANES_ROUND \hash, \first + 2, \w2, v26, v27, v6, v7, v0, v1, v2, v3, v4, v5
    SHA2_LANES_ROUND \hash, \first + 3, \w3, v27, v26, v5, v6, v7, v0, v1, v2, v3, v4
    SHA2_LANES_ROUND \hash, \first + 4, \w4, v26, v27, v4, v5, v6, v7, v0, v1, v2, v3
    SHA2_LANES_ROUND \hash, \first + 5, \w5, v27, v26, v3, v4, v5, v6, v7, v0, v1, v2
    SHA2_LANES_ROUND \hash, \first + 6, \w6, v26, v27, v2, v3, v4, v5, v6, v7, v0, v1
    SHA2_LANES_ROUND \hash, \first + 7, \w7, v27, v26, v1, v2, v3, v4, v5, v6, v7, v0
.endm

// Adds sigma1 of the pair at \from to the pair at \to, which is two positions later in the ring.
// Does not change v26, v27, v30 and v31.
.macro SHA2_LANES_ADD_SIGMA1 hash, to, from
    \hash\()_LANES_SMALL_SIGMA1 v24, \from, v28
    vadd.vv \to, \to, v24
.endm

// Computes the next 16 words, step 1 of §6.2.2. Each replaces the word that is no longer needed:
//
//   W[t+16] = sigma1(W[t+14]) + W[t+9] + sigma0(W[t+1]) + W[t]
//
// Below, wt is the register of W[t] and W[t+16] in the ring, v(8+t), and s0(wt) is sigma0 of W[t].
// A register changes only after sigma0 of its old word was computed for its neighbour. Before and
// after this macro, vtype is for single registers.
.macro SHA2_LANES_SCHEDULE bits, hash
    // This computes s0 of W[0..3], and adds W[t+9] for t = 0 to 3.
    SHA2_LANES_GROUPS \bits, 4
    \hash\()_LANES_SMALL_SIGMA0 v24, v8, v28
    SHA2_LANES_SINGLES \bits
    vadd.vv v8,  v8,  v25       // w0 += s0(w1)
    vadd.vv v9,  v9,  v26       // w1 += s0(w2)
    vadd.vv v10, v10, v27       // w2 += s0(w3)
    vadd.vv v8,  v8,  v17       // w0 += w9
    vadd.vv v9,  v9,  v18       // w1 += w10
    vadd.vv v10, v10, v19       // w2 += w11
    vadd.vv v11, v11, v20       // w3 += w12

    // This computes s0 of W[4..7], and adds W[t+9] for t = 4 to 6.
    SHA2_LANES_GROUPS \bits, 4
    \hash\()_LANES_SMALL_SIGMA0 v24, v12, v28
    SHA2_LANES_SINGLES \bits
    vadd.vv v11, v11, v24       // w3 += s0(w4)
    vadd.vv v12, v12, v25       // w4 += s0(w5)
    vadd.vv v13, v13, v26       // w5 += s0(w6)
    vadd.vv v14, v14, v27       // w6 += s0(w7)
    vadd.vv v12, v12, v21       // w4 += w13
    vadd.vv v13, v13, v22       // w5 += w14
    vadd.vv v14, v14, v23       // w6 += w15

    // This computes s0 of W[8..11].
    SHA2_LANES_GROUPS \bits, 4
    \hash\()_LANES_SMALL_SIGMA0 v24, v16, v28
    SHA2_LANES_SINGLES \bits
    vadd.vv v15, v15, v24       // w7 += s0(w8)
    vadd.vv v16, v16, v25       // w8 += s0(w9)
    vadd.vv v17, v17, v26       // w9 += s0(w10)
    vadd.vv v18, v18, v27       // w10 += s0(w11)

    // This computes s0 of W[12..15]. s0(w15) stays in v27, because w14 must not change before
    // sigma1 of W[14] is computed.
    SHA2_LANES_GROUPS \bits, 4
    \hash\()_LANES_SMALL_SIGMA0 v24, v20, v28
    SHA2_LANES_SINGLES \bits
    vadd.vv v19, v19, v24       // w11 += s0(w12)
    vadd.vv v20, v20, v25       // w12 += s0(w13)
    vadd.vv v21, v21, v26       // w13 += s0(w14)

    // This adds sigma1 of W[14..15] and, as soon as they are complete, of W[16..21].
    SHA2_LANES_GROUPS \bits, 2
    SHA2_LANES_ADD_SIGMA1 \hash, v8,  v22
    SHA2_LANES_ADD_SIGMA1 \hash, v10, v8
    SHA2_LANES_ADD_SIGMA1 \hash, v12, v10
    SHA2_LANES_ADD_SIGMA1 \hash, v14, v12

    // This adds W[t+9] for t = 7 to 14, and the last two sigma0. The first line completes W[23].
    SHA2_LANES_SINGLES \bits
    vadd.vv v15, v15, v8        // w7 += w0
    vadd.vv v16, v16, v9        // w8 += w1
    vadd.vv v17, v17, v10       // w9 += w2
    vadd.vv v18, v18, v11       // w10 += w3
    vadd.vv v19, v19, v12       // w11 += w4
    vadd.vv v20, v20, v13       // w12 += w5
    vadd.vv v21, v21, v14       // w13 += w6
    vadd.vv v22, v22, v15       // w14 += w7
    vadd.vv v22, v22, v27       // w14 += s0(w15)
    \hash\()_LANES_SMALL_SIGMA0 v24, v8, v28
    vadd.vv v23, v23, v24       // w15 += s0(w0)

    // This adds sigma1 of W[22..29].
    SHA2_LANES_GROUPS \bits, 2
    SHA2_LANES_ADD_SIGMA1 \hash, v16, v14
    SHA2_LANES_ADD_SIGMA1 \hash, v18, v16
    SHA2_LANES_ADD_SIGMA1 \hash, v20, v18
    SHA2_LANES_ADD_SIGMA1 \hash, v22, v20

    // This adds W[t+9] for t = 15.
    SHA2_LANES_SINGLES \bits
    vadd.vv v23, v23, v16       // w15 += w8
.endm

// The body of a function. Its labels begin with \name, and \table is the label of K.
.macro SHA2_LANES_KERNEL bits, hash, name, table
    beqz  a2, .L_\name\()_return

    // This loads the eight words of every state at once.
    SHA2_LANES_SINGLES \bits
    vlseg8e\bits\().v v0, (a0)
    slli  a2, a2, .L_\hash\()_LANES_BLOCK_SHIFT
    lla   a4, \table
    li    t0, .L_\hash\()_LANES_TABLE
    add   a6, a4, t0
    li    t1, 0

.L_\name\()_block:
    // This loads both halves of every block. The addresses are offsets plus the pointers, which
    // fill v28 and, with words of 32 bits, also v29.
    vle64.v v28, (a1)
    addi  t2, t1, .L_\hash\()_LANES_HALF
    vluxseg8ei64.v v8, (t1), v28
    vluxseg8ei64.v v16, (t2), v28
    addi  t1, t1, 2 * .L_\hash\()_LANES_HALF

    // The message is big-endian, so the bytes are swapped.
    SHA2_LANES_GROUPS \bits, 8
    LANES_REVERSE_BYTES \bits, v8, v24
    LANES_REVERSE_BYTES \bits, v16, v24
    SHA2_LANES_SINGLES \bits
    mv    a5, a4
    j     .L_\name\()_rounds

    // This computes 16 rounds, and 16 more words as long as there are constants. b ^ c is for the
    // first Maj.
.L_\name\()_schedule:
    SHA2_LANES_SCHEDULE \bits, \hash
.L_\name\()_rounds:
    vxor.vv v27, v1, v2
    SHA2_LANES_EIGHT_ROUNDS \hash, 0, v8, v9, v10, v11, v12, v13, v14, v15
    SHA2_LANES_EIGHT_ROUNDS \hash, 8, v16, v17, v18, v19, v20, v21, v22, v23
    addi  a5, a5, .L_SHA2_LANES_PASS_ROUNDS * .L_\hash\()_LANES_WORD
    bne   a5, a6, .L_\name\()_schedule

    // Step 4: the state in memory is still that from before the block.
    vlseg8e\bits\().v v8, (a0)
    SHA2_LANES_GROUPS \bits, 8
    vadd.vv v0, v0, v8
    SHA2_LANES_SINGLES \bits
    vsseg8e\bits\().v v0, (a0)
    bne   t1, a2, .L_\name\()_block
.L_\name\()_return:
    ret
.endm

// Sizes in bytes of a word, half a block, and K.
.set .L_SHA256_LANES_WORD, 4
.set .L_SHA256_LANES_HALF, .L_SHA2_LANES_BLOCK_WORDS / 2 * .L_SHA256_LANES_WORD
.set .L_SHA256_LANES_BLOCK_SHIFT, 6
.set .L_SHA256_LANES_TABLE, 64 * .L_SHA256_LANES_WORD

.macro SHA256_LANES_LOAD_CONSTANT dst, index
    lw    \dst, (\index) * .L_SHA256_LANES_WORD(a5)
.endm

// FIPS 180-4 (4.4) to (4.7).
.macro SHA256_LANES_BIG_SIGMA0 dst, src, tmp
    SHA2_LANES_ROTATIONS 32, \dst, \src, \tmp, 2, 13, 22
.endm
.macro SHA256_LANES_BIG_SIGMA1 dst, src, tmp
    SHA2_LANES_ROTATIONS 32, \dst, \src, \tmp, 6, 11, 25
.endm
.macro SHA256_LANES_SMALL_SIGMA0 dst, src, tmp
    SHA2_LANES_ROTATIONS_AND_SHIFT 32, \dst, \src, \tmp, 7, 18, 3
.endm
.macro SHA256_LANES_SMALL_SIGMA1 dst, src, tmp
    SHA2_LANES_ROTATIONS_AND_SHIFT 32, \dst, \src, \tmp, 17, 19, 10
.endm

// Sizes in bytes of a word, half a block, and K.
.set .L_SHA512_LANES_WORD, 8
.set .L_SHA512_LANES_HALF, .L_SHA2_LANES_BLOCK_WORDS / 2 * .L_SHA512_LANES_WORD
.set .L_SHA512_LANES_BLOCK_SHIFT, 7
.set .L_SHA512_LANES_TABLE, 80 * .L_SHA512_LANES_WORD

.macro SHA512_LANES_LOAD_CONSTANT dst, index
    ld    \dst, (\index) * .L_SHA512_LANES_WORD(a5)
.endm

// FIPS 180-4 (4.10) to (4.13).
.macro SHA512_LANES_BIG_SIGMA0 dst, src, tmp
    SHA2_LANES_ROTATIONS 64, \dst, \src, \tmp, 28, 34, 39
.endm
.macro SHA512_LANES_BIG_SIGMA1 dst, src, tmp
    SHA2_LANES_ROTATIONS 64, \dst, \src, \tmp, 14, 18, 41
.endm
.macro SHA512_LANES_SMALL_SIGMA0 dst, src, tmp
    SHA2_LANES_ROTATIONS_AND_SHIFT 64, \dst, \src, \tmp, 1, 8, 7
.endm
.macro SHA512_LANES_SMALL_SIGMA1 dst, src, tmp
    SHA2_LANES_ROTATIONS_AND_SHIFT 64, \dst, \src, \tmp, 19, 61, 6
.endm

.endif
