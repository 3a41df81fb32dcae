// SHA-256 and SHA-512 compression with Zvknh: what both kernels share. Macros only.
//
// The instructions work on quads, element groups of four words, with the first word lowest. The
// state is two quads, f e b a and h g d c, here called abef and cdgh. A register, or a group of
// two, holds one quad of as many streams as fit, next to each other. \bits are the bits of a word.
//
// The more streams, the more registers a quad has (LMUL):
//
//   LMUL 1     LMUL 2     LMUL 4
//   v0         v0         v0         mask: the first word of each quad
//   v1         v1         v2-v3      offsets of the words of abef in a state, 16 bits each
//   v2-v3      v4-v7                 where the double-words of two quads of each block lie
//   v4, v5     v24, v26   v24, v28   abef, cdgh
//   v6, v7     v28, v30              the same before the block
//   v8-v11     v8-v15     v8-v23     the ring: four quads of W
//   v12-v15    v16-v23    v4-v7      their sums with K; scratch of the schedule
//   v16-v31                          16 quads of K
//
// What finds no place is on the stack. A pass is 16 rounds. With LMUL 1 and 2, its four sums come
// from one addition to a larger group of registers, so vtype changes twice a pass; streams beyond
// n then compute on the message of the last stream, and what they compute is never used.

.ifndef .L_HARTLOCK_SHA2_ZVKNH_MACROS
.set .L_HARTLOCK_SHA2_ZVKNH_MACROS, 1

// Words in a quad, and the place of a word in its quad.
.set .L_ZVKNH_QUAD_WORDS, 4
.set .L_ZVKNH_QUAD_WORDS_SHIFT, 2
.set .L_ZVKNH_WORD_IN_QUAD, .L_ZVKNH_QUAD_WORDS - 1

// A mask that takes the first of every four elements, a byte of it.
.set .L_ZVKNH_FIRST_OF_QUAD, 0x11

// LMUL 4: a register has VLENB bytes, a quad of all streams four times that, a pass four quads.
.set .L_ZVKNH_M4_SHIFT, 2
.set .L_ZVKNH_M4_PASS_SHIFT, 2
.set .L_ZVKNH_M4_FOUR_PASSES_SHIFT, 4

// Pointers and the pieces in which streams are loaded are double-words.
.set .L_ZVKNH_POINTER_SHIFT, 3

// 16 rounds, with the sums \s0..\s3: two rounds an instruction, which turns the older quad of the
// state into the newer one.
.macro ZVKNH_ROUNDS abef, cdgh, s0, s1, s2, s3
    vsha2cl.vv \cdgh, \abef, \s0
    vsha2ch.vv \abef, \cdgh, \s0
    vsha2cl.vv \cdgh, \abef, \s1
    vsha2ch.vv \abef, \cdgh, \s1
    vsha2cl.vv \cdgh, \abef, \s2
    vsha2ch.vv \abef, \cdgh, \s2
    vsha2cl.vv \cdgh, \abef, \s3
    vsha2ch.vv \abef, \cdgh, \s3
.endm

// W[t+16..t+19] in the place of W[t..t+3] = \w0. The instruction wants W[t+4] and W[t+9..t+11] in
// one quad, \tmp.
.macro ZVKNH_NEXT_QUAD w0, w1, w2, w3, tmp
    vmerge.vvm \tmp, \w2, \w1, v0
    vsha2ms.vv \w0, \tmp, \w3
.endm

// The next 16 words. Scratch: \tmp.
.macro ZVKNH_SCHEDULE w0, w1, w2, w3, tmp
    ZVKNH_NEXT_QUAD \w0, \w1, \w2, \w3, \tmp
    ZVKNH_NEXT_QUAD \w1, \w2, \w3, \w0, \tmp
    ZVKNH_NEXT_QUAD \w2, \w3, \w0, \w1, \tmp
    ZVKNH_NEXT_QUAD \w3, \w0, \w1, \w2, \tmp
.endm

// LMUL 1. a4 holds four times the number of streams.
.macro ZVKNH_M1_SCHEDULE
    ZVKNH_SCHEDULE v8, v9, v10, v11, v12
.endm

// The sums with the constants \k, while four registers are a group, and 16 rounds.
.macro ZVKNH_M1_PASS bits, k
    vadd.vv v12, v8, \k
    vsetvli zero, a4, e\bits, m1, ta, ma
    ZVKNH_ROUNDS v4, v5, v12, v13, v14, v15
.endm

// The next words, and 16 rounds with them.
.macro ZVKNH_M1_NEXT_PASS bits, k
    ZVKNH_M1_SCHEDULE
    vsetvli t0, zero, e\bits, m4, ta, ma
    ZVKNH_M1_PASS \bits, \k
.endm

// The first pass of a block in v8-v11, as it came from memory, while four registers are a group.
.macro ZVKNH_M1_FIRST_PASS bits
    vrev8.v v8, v8
    vmv2r.v v6, v4
    ZVKNH_M1_PASS \bits, v16
.endm

.macro ZVKNH_M1_END_BLOCK
    vadd.vv v4, v4, v6
    vadd.vv v5, v5, v7
.endm

// LMUL 2. a4 as above. \k points to four quads of K as the registers need them.
.macro ZVKNH_M2_PASS bits, k
    vl8re\bits\().v v16, (\k)
    vadd.vv v16, v16, v8
    vsetvli zero, a4, e\bits, m2, ta, ma
    ZVKNH_ROUNDS v24, v26, v16, v18, v20, v22
.endm

.macro ZVKNH_M2_NEXT_PASS bits, k
    ZVKNH_SCHEDULE v8, v10, v12, v14, v16
    vsetvli t0, zero, e\bits, m8, ta, ma
    ZVKNH_M2_PASS \bits, \k
.endm

.macro ZVKNH_M2_FIRST_PASS bits, k
    vrev8.v v8, v8
    vmv4r.v v28, v24
    ZVKNH_M2_PASS \bits, \k
.endm

.macro ZVKNH_M2_END_BLOCK
    vadd.vv v24, v24, v28
    vadd.vv v26, v26, v30
.endm

// LMUL 4. Four rounds with the quad \w; t5 points to its K, and t6 holds the bytes of a quad of all
// streams.
.macro ZVKNH_M4_ROUNDS bits, w
    vl4re\bits\().v v4, (t5)
    add   t5, t5, t6
    vadd.vv v4, v4, \w
    vsha2cl.vv v28, v24, v4
    vsha2ch.vv v24, v28, v4
.endm

.macro ZVKNH_M4_LAST_PASS bits
    ZVKNH_M4_ROUNDS \bits, v8
    ZVKNH_M4_ROUNDS \bits, v12
    ZVKNH_M4_ROUNDS \bits, v16
    ZVKNH_M4_ROUNDS \bits, v20
.endm

// 16 rounds and the next words.
.macro ZVKNH_M4_PASS bits
    ZVKNH_M4_ROUNDS \bits, v8
    ZVKNH_NEXT_QUAD v8, v12, v16, v20, v4
    ZVKNH_M4_ROUNDS \bits, v12
    ZVKNH_NEXT_QUAD v12, v16, v20, v8, v4
    ZVKNH_M4_ROUNDS \bits, v16
    ZVKNH_NEXT_QUAD v16, v20, v8, v12, v4
    ZVKNH_M4_ROUNDS \bits, v20
    ZVKNH_NEXT_QUAD v20, v8, v12, v16, v4
.endm

// Loads a block. t1 is its offset in its message; a6 points to where the double-words of a quad lie.
.macro ZVKNH_M4_LOAD_BLOCK quad
    vl4re64.v v4, (a6)
    addi  t3, t1, \quad
    vluxei64.v v8, (t1), v4
    vluxei64.v v12, (t3), v4
    addi  t3, t3, \quad
    addi  t1, t3, \quad
    vluxei64.v v16, (t3), v4
    vluxei64.v v20, (t1), v4
    addi  t1, t1, \quad
.endm

// Ends that and begins the rounds. K is at sp, a7 points to a place for the state.
.macro ZVKNH_M4_BEGIN_BLOCK
    vrev8.v v8, v8
    vrev8.v v12, v12
    vrev8.v v16, v16
    vrev8.v v20, v20
    vs8r.v v24, (a7)
    mv    t5, sp
.endm

// t2 points to the second quad of that state.
.macro ZVKNH_M4_END_BLOCK bits
    vl4re\bits\().v v4, (a7)
    vadd.vv v24, v24, v4
    vl4re\bits\().v v4, (t2)
    vadd.vv v28, v28, v4
.endm

// Sets a6, t2, a7 and t6 as described above, from a5 = VLENB, and takes stack for what they point to
// and for four passes of K. t4 keeps sp.
.macro ZVKNH_M4_TAKE_STACK
    mv    t4, sp
    slli  t6, a5, .L_ZVKNH_M4_SHIFT
    sub   a6, sp, t6
    sub   t2, a6, t6
    sub   a7, t2, t6
    slli  t0, t6, .L_ZVKNH_M4_FOUR_PASSES_SHIFT
    sub   sp, a7, t0
.endm

// Puts K at \table, \quad bytes a quad, where LMUL 4 needs it. Elements have \bits bits.
.macro ZVKNH_M4_PUT_K bits, table, quad
    lla   t1, \table
    mv    t5, sp
.L_zvknh_m4_put_\@:
    vluxei\bits\().v v12, (t1), v8
    vs4r.v v12, (t5)
    addi  t1, t1, \quad
    add   t5, t5, t6
    bne   t5, a7, .L_zvknh_m4_put_\@
.endm

// Sets v0.
.macro ZVKNH_SET_MASK
    vsetvli t0, zero, e8, m1, ta, ma
    li    t0, .L_ZVKNH_FIRST_OF_QUAD
    vmv.v.x v0, t0
.endm

// Sets \offsets, \lmul registers, to the offsets of f, e, b and a in every state. \quad is the label
// of those in the first one, \state_shift stands for the bytes of a state.
.macro ZVKNH_SET_STATE_OFFSETS offsets, lmul, quad, state_shift
    vsetvli t0, zero, e64, m\lmul, ta, ma
    lla   t0, \quad
    vlse64.v \offsets, (t0), zero
    vsetvli t0, zero, e16, m\lmul, ta, ma
    vid.v v8
    vsrl.vi v8, v8, .L_ZVKNH_QUAD_WORDS_SHIFT
    vsll.vi v8, v8, \state_shift
    vadd.vv \offsets, \offsets, v8
.endm

// Applies vluxei16.v or vsuxei16.v to both quads of the states. cdgh is two words behind abef.
.macro ZVKNH_MOVE_STATE load_or_store, word, offsets, abef, cdgh
    addi  t0, a0, 2 * \word
    \load_or_store \abef, (a0), \offsets
    \load_or_store \cdgh, (t0), \offsets
.endm

// \to = the message pointers for each double-word of a quad, of which there are 1 << \shift.
// \places holds the numbers of the elements. a1 points to the pointers, a3 is their number.
.macro ZVKNH_GATHER_POINTERS to, places, shift
    vsrl.vi \to, \places, \shift
    addi  t0, a3, -1
    vminu.vx \to, \to, t0
    vsll.vi \to, \to, .L_ZVKNH_POINTER_SHIFT
    vluxei64.v \to, (a1), \to
.endm

// Adds its offset in the quad to every pointer in \to. \shift as above; changes \places.
.macro ZVKNH_SPREAD_POINTERS to, places, shift
    vand.vi \places, \places, (1 << \shift) - 1
    vsll.vi \places, \places, .L_ZVKNH_POINTER_SHIFT
    vadd.vv \to, \to, \places
.endm

// \next = the same in the quad behind, which begins \quad bytes further.
.macro ZVKNH_NEXT_POINTERS next, to, quad
    li    t0, \quad
    vadd.vx \next, \to, t0
.endm

// Sets \offsets to the offsets of the words in their quads. \word_shift stands for their bytes.
.macro ZVKNH_SET_WORD_OFFSETS word_shift, offsets
    vid.v \offsets
    vand.vi \offsets, \offsets, .L_ZVKNH_WORD_IN_QUAD
    vsll.vi \offsets, \offsets, \word_shift
.endm

// Sets \i0..\i3 to the offsets in K of the words of four quads, each quad repeated in every stream.
.macro ZVKNH_SET_K_OFFSETS word_shift, i0, i1, i2, i3
    ZVKNH_SET_WORD_OFFSETS \word_shift, \i0
    li    t0, .L_ZVKNH_QUAD_WORDS << \word_shift
    vadd.vx \i1, \i0, t0
    vadd.vx \i2, \i1, t0
    vadd.vx \i3, \i2, t0
.endm

.endif
