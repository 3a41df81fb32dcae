// SHA-256 and SHA-512 compression with Zvknh: the macros that both kernels share.
//
// FIPS 180-4 §6.2.2 and §6.4.2. The instructions process quads, which are element groups of four words, first word
// lowest. The state has two quads, f e b a and h g d c, which are called abef and cdgh here. A stream is the hash of
// one message. One register, or a group of registers, holds one quad of as many streams as fit, next to each other.
// More streams need larger groups (LMUL):
//
//   LMUL 1     LMUL 2     LMUL 4
//   v0         v0         v0         mask: the first word of each quad
//   v1         v1         v2-v3      offsets of the words of abef in a state, 16 bits each
//   v2-v3      v4-v7                 addresses of the double-words of two quads of a block
//   v4, v5     v24, v26   v24, v28   abef, cdgh
//   v6, v7     v28, v30              the same before the block
//   v8-v11     v8-v15     v8-v23     the ring: four quads of W
//   v12-v15    v16-v23    v4-v7      their sums with K; scratch of the schedule
//   v16-v31                          16 quads of K
//
// Data that do not fit into registers are on the stack. A pass has 16 rounds. With LMUL 1 and 2, one addition on a
// larger group of registers computes the four sums of a pass, so vtype changes twice in a pass. Unused streams beyond
// n process the message of the last stream, and their results are not used.
//
//   a0  states                                  t1  offset of the block in its message
//   a1  pointers to the messages                t3  scratch for addresses
//   a2  count, then bytes of a message          a5  VLENB at the start
//   a3  number of streams
//   a4  elements in a quad of all streams
//
// \bits is the length of a word in bits. \hash (SHA256 or SHA512) selects constants of the kernel file:
//
//   .L_\hash\()_ZVKNH_K, _FEBA                  labels of K, and of the offsets of f, e, b, a in a state
//   .L_\hash\()_ZVKNH_WORD, _QUAD, _BLOCK       length of each in bytes; _SHIFT are the logarithms
//   .L_\hash\()_ZVKNH_STATE_SHIFT               logarithm of the length of a state in bytes
//   .L_\hash\()_ZVKNH_DOUBLES_SHIFT             logarithm of the number of double-words in a quad
//
// Timing: a block executes the same instructions in the same order for any contents. Addresses depend only on
// pointers, n and VLEN.

.ifndef .L_HARTLOCK_SHA2_ZVKNH_MACROS
.set .L_HARTLOCK_SHA2_ZVKNH_MACROS, 1

// Number of words in a quad, and number of bits of their index.
.set .L_SHA2_ZVKNH_WORDS, 4
.set .L_SHA2_ZVKNH_WORDS_SHIFT, 2
.set .L_SHA2_ZVKNH_WORDS_MASK, .L_SHA2_ZVKNH_WORDS - 1

// A byte of a mask that selects the first of every four elements.
.set .L_SHA2_ZVKNH_FIRST_WORDS, 0x11

// Size of pointers and of the units in which streams are loaded: double-words.
.set .L_SHA2_ZVKNH_POINTER_SHIFT, 3

// Number of vector registers for a quad of all streams, for four quads (one pass), and for four passes. The values
// are logarithms, used as shifts of VLENB.
.set .L_SHA2_ZVKNH_M1_PASS_SHIFT, 2
.set .L_SHA2_ZVKNH_M2_PASS_SHIFT, 3
.set .L_SHA2_ZVKNH_M2_FOUR_PASSES_SHIFT, 5
.set .L_SHA2_ZVKNH_M4_QUAD_SHIFT, 2

// The same numbers as shifts of the length in bytes of a quad of all streams.
.set .L_SHA2_ZVKNH_PASS_OF_QUADS_SHIFT, 2
.set .L_SHA2_ZVKNH_FOUR_PASSES_OF_QUADS_SHIFT, 4

// --- rounds and schedule -----------------------------------------------------------------------

// Computes four rounds with the sum \s of four words and constants (step 3 of §6.2.2). An instruction computes two
// rounds and replaces the older quad of the state by the newer one.
.macro SHA2_ZVKNH_FOUR_ROUNDS abef, cdgh, s
    vsha2cl.vv \cdgh, \abef, \s
    vsha2ch.vv \abef, \cdgh, \s
.endm

// Computes 16 rounds with the sums \s0..\s3.
.macro SHA2_ZVKNH_ROUNDS abef, cdgh, s0, s1, s2, s3
    SHA2_ZVKNH_FOUR_ROUNDS \abef, \cdgh, \s0
    SHA2_ZVKNH_FOUR_ROUNDS \abef, \cdgh, \s1
    SHA2_ZVKNH_FOUR_ROUNDS \abef, \cdgh, \s2
    SHA2_ZVKNH_FOUR_ROUNDS \abef, \cdgh, \s3
.endm

// Replaces W[t..t+3] = \w0 by W[t+16..t+19] (step 1). The instruction needs W[t+4], the first word of \w1, and
// W[t+9..t+11], the last three words of \w2, in one quad: \tmp.
.macro SHA2_ZVKNH_NEXT_QUAD w0, w1, w2, w3, tmp
    vmerge.vvm \tmp, \w2, \w1, v0
    vsha2ms.vv \w0, \tmp, \w3
.endm

// Computes the next 16 words. Changes \tmp.
.macro SHA2_ZVKNH_SCHEDULE w0, w1, w2, w3, tmp
    SHA2_ZVKNH_NEXT_QUAD \w0, \w1, \w2, \w3, \tmp    // W[t+16..t+19]
    SHA2_ZVKNH_NEXT_QUAD \w1, \w2, \w3, \w0, \tmp    // W[t+20..t+23]
    SHA2_ZVKNH_NEXT_QUAD \w2, \w3, \w0, \w1, \tmp    // W[t+24..t+27]
    SHA2_ZVKNH_NEXT_QUAD \w3, \w0, \w1, \w2, \tmp    // W[t+28..t+31]
.endm

// --- LMUL 1 ------------------------------------------------------------------------------------

// Sets vtype for the quads of n streams, one register each.
.macro SHA2_ZVKNH_M1 bits
    vsetvli zero, a4, e\bits, m1, ta, ma
.endm

// Sets vtype for the whole ring, four registers.
.macro SHA2_ZVKNH_M1_RING bits
    vsetvli t0, zero, e\bits, m4, ta, ma
.endm

// Computes the sums with the four quads of K at \k, and 16 rounds. At the start vtype is for the ring, at the end for
// quads.
.macro SHA2_ZVKNH_M1_PASS bits, k
    vadd.vv v12, v8, \k
    SHA2_ZVKNH_M1 \bits
    SHA2_ZVKNH_ROUNDS v4, v5, v12, v13, v14, v15
.endm

// Computes the first pass over a block, which is in v8-v11 in the big-endian order of memory.
.macro SHA2_ZVKNH_M1_FIRST_PASS bits
    vrev8.v v8, v8
    vmv2r.v v6, v4              // the state before the block
    SHA2_ZVKNH_M1_PASS \bits, v16
.endm

// Computes the next words. At the start vtype is for quads, at the end for the ring.
.macro SHA2_ZVKNH_M1_SCHEDULE bits
    SHA2_ZVKNH_SCHEDULE v8, v9, v10, v11, v12 // v12: the sums are used up
    SHA2_ZVKNH_M1_RING \bits
.endm

// Computes one more pass. At the start and the end vtype is for quads.
.macro SHA2_ZVKNH_M1_NEXT_PASS bits, k
    SHA2_ZVKNH_M1_SCHEDULE \bits
    SHA2_ZVKNH_M1_PASS \bits, \k
.endm

// Step 4: adds the state from before the block.
.macro SHA2_ZVKNH_M1_END_BLOCK
    vadd.vv v4, v4, v6
    vadd.vv v5, v5, v7
.endm

// Loads a block: two quads of each stream, and then the next two.
.macro SHA2_ZVKNH_M1_LOAD hash
    vsetvli t0, zero, e64, m2, ta, ma
    addi  t3, t1, .L_\hash\()_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v2
    vluxei64.v v10, (t3), v2
    addi  t1, t1, .L_\hash\()_ZVKNH_BLOCK
.endm

// --- LMUL 2 ------------------------------------------------------------------------------------

// Sets vtype for the quads of n streams, two registers each.
.macro SHA2_ZVKNH_M2 bits
    vsetvli zero, a4, e\bits, m2, ta, ma
.endm

// Sets vtype for the whole ring, eight registers.
.macro SHA2_ZVKNH_M2_RING bits
    vsetvli t0, zero, e\bits, m8, ta, ma
.endm

// Computes the sums and 16 rounds, as for LMUL 1. The four quads of K are loaded from (\k) in the layout of
// registers.
.macro SHA2_ZVKNH_M2_PASS bits, k
    vl8re\bits\().v v16, (\k)
    vadd.vv v16, v16, v8
    SHA2_ZVKNH_M2 \bits
    SHA2_ZVKNH_ROUNDS v24, v26, v16, v18, v20, v22
.endm

// Computes the first pass over a block, as for LMUL 1. The block is in v8-v15.
.macro SHA2_ZVKNH_M2_FIRST_PASS bits, k
    vrev8.v v8, v8
    vmv4r.v v28, v24            // the state before the block
    SHA2_ZVKNH_M2_PASS \bits, \k
.endm

// Computes one more pass.
.macro SHA2_ZVKNH_M2_NEXT_PASS bits, k
    SHA2_ZVKNH_SCHEDULE v8, v10, v12, v14, v16
    SHA2_ZVKNH_M2_RING \bits
    SHA2_ZVKNH_M2_PASS \bits, \k
.endm

// Step 4: adds the state from before the block.
.macro SHA2_ZVKNH_M2_END_BLOCK
    vadd.vv v24, v24, v28
    vadd.vv v26, v26, v30
.endm

// Loads a block, as for LMUL 1.
.macro SHA2_ZVKNH_M2_LOAD hash
    vsetvli t0, zero, e64, m4, ta, ma
    addi  t3, t1, .L_\hash\()_ZVKNH_BLOCK / 2
    vluxei64.v v8, (t1), v4
    vluxei64.v v12, (t3), v4
    addi  t1, t1, .L_\hash\()_ZVKNH_BLOCK
.endm

// --- LMUL 4 ------------------------------------------------------------------------------------
//
// No registers are left for larger groups of sums, and vtype does not change. On the stack:
//
//   sp      K, each quad in the layout of registers       t5  address of the next quad of K
//   a7, t2  abef and cdgh from before the block           t6  bytes of a quad of all streams
//   a6      addresses of the double-words of a quad
//   t4      the end of these data, which is sp of the caller

// Sets vtype for the quads of n streams, four registers each.
.macro SHA2_ZVKNH_M4 bits
    vsetvli zero, a4, e\bits, m4, ta, ma
.endm

// Computes four rounds with the quad \w.
.macro SHA2_ZVKNH_M4_FOUR_ROUNDS bits, w
    vl4re\bits\().v v4, (t5)
    add   t5, t5, t6
    vadd.vv v4, v4, \w
    SHA2_ZVKNH_FOUR_ROUNDS v24, v28, v4
.endm

// Computes the first pass. The block is in v8-v23, big-endian. Another pass follows.
.macro SHA2_ZVKNH_M4_FIRST_PASS bits
    vrev8.v v8, v8
    vrev8.v v12, v12
    vrev8.v v16, v16
    vrev8.v v20, v20
    // This saves the state from before the block, and restarts K.
    vs8r.v v24, (a7)
    mv    t5, sp
    SHA2_ZVKNH_M4_PASS \bits
.endm

// Computes 16 rounds and the next words. Each quad is replaced after its rounds.
.macro SHA2_ZVKNH_M4_PASS bits
    SHA2_ZVKNH_M4_FOUR_ROUNDS \bits, v8
    SHA2_ZVKNH_NEXT_QUAD v8, v12, v16, v20, v4          // W[t+16..t+19]
    SHA2_ZVKNH_M4_FOUR_ROUNDS \bits, v12
    SHA2_ZVKNH_NEXT_QUAD v12, v16, v20, v8, v4          // W[t+20..t+23]
    SHA2_ZVKNH_M4_FOUR_ROUNDS \bits, v16
    SHA2_ZVKNH_NEXT_QUAD v16, v20, v8, v12, v4          // W[t+24..t+27]
    SHA2_ZVKNH_M4_FOUR_ROUNDS \bits, v20
    SHA2_ZVKNH_NEXT_QUAD v20, v8, v12, v16, v4          // W[t+28..t+31]
.endm

// Computes the last 16 rounds.
.macro SHA2_ZVKNH_M4_LAST_PASS bits
    .irp  w, v8, v12, v16, v20
    SHA2_ZVKNH_M4_FOUR_ROUNDS \bits, \w
    .endr
.endm

// Step 4: adds the state from before the block.
.macro SHA2_ZVKNH_M4_END_BLOCK bits
    vl4re\bits\().v v4, (a7)
    vadd.vv v24, v24, v4
    vl4re\bits\().v v4, (t2)
    vadd.vv v28, v28, v4
.endm

// Loads a block, quad by quad, with elements of 64 bits.
.macro SHA2_ZVKNH_M4_LOAD hash
    vl4re64.v v4, (a6)
    // These are the first and the second quad.
    addi  t3, t1, .L_\hash\()_ZVKNH_QUAD
    vluxei64.v v8, (t1), v4
    vluxei64.v v12, (t3), v4
    // These are the third and the fourth quad.
    addi  t3, t3, .L_\hash\()_ZVKNH_QUAD
    addi  t1, t3, .L_\hash\()_ZVKNH_QUAD
    vluxei64.v v16, (t3), v4
    vluxei64.v v20, (t1), v4
    addi  t1, t1, .L_\hash\()_ZVKNH_QUAD
.endm

// --- before the first block --------------------------------------------------------------------

// Sets the mask v0. Changes t0.
.macro SHA2_ZVKNH_SET_MASK
    vsetvli t0, zero, e8, m1, ta, ma
    li    t0, .L_SHA2_ZVKNH_FIRST_WORDS
    vmv.v.x v0, t0
.endm

// Sets \offsets, which has \lmul registers, to the offsets of f, e, b and a in the states. They are the offsets in
// the first state, repeated for every stream, plus the stream number times the length of a state in bytes. Changes t0
// and v8-v9.
.macro SHA2_ZVKNH_SET_STATE_OFFSETS hash, offsets, lmul
    // The four offsets are one double-word, which is repeated for every stream.
    vsetvli t0, zero, e64, m\lmul, ta, ma
    lla   t0, .L_\hash\()_ZVKNH_FEBA
    vlse64.v \offsets, (t0), zero
    // This adds the offset of the state.
    vsetvli t0, zero, e16, m\lmul, ta, ma
    vid.v v8
    vsrl.vi v8, v8, .L_SHA2_ZVKNH_WORDS_SHIFT
    vsll.vi v8, v8, .L_\hash\()_ZVKNH_STATE_SHIFT
    vadd.vv \offsets, \offsets, v8
.endm

// Applies vluxei16.v or vsuxei16.v to abef and cdgh of all states. c, d, g and h are two words after a, b, e and f.
// Changes t0.
.macro SHA2_ZVKNH_MOVE_STATES hash, load_or_store, offsets, abef, cdgh
    addi  t0, a0, 2 * .L_\hash\()_ZVKNH_WORD
    \load_or_store \abef, (a0), \offsets
    \load_or_store \cdgh, (t0), \offsets
.endm

// Sets \to to the message pointer for each double-word of a quad of all streams. Beyond n streams it is the last
// pointer. \places has the element numbers. Changes t0.
.macro SHA2_ZVKNH_GATHER_POINTERS hash, to, places
    // These are the numbers of the streams.
    vsrl.vi \to, \places, .L_\hash\()_ZVKNH_DOUBLES_SHIFT
    addi  t0, a3, -1
    vminu.vx \to, \to, t0
    // These are the offsets of their pointers, and the pointers.
    vsll.vi \to, \to, .L_SHA2_ZVKNH_POINTER_SHIFT
    vluxei64.v \to, (a1), \to
.endm

// Converts the pointers to the addresses of the double-words. Changes \places.
.macro SHA2_ZVKNH_SPREAD_POINTERS hash, to, places
    vand.vi \places, \places, (1 << .L_\hash\()_ZVKNH_DOUBLES_SHIFT) - 1
    vsll.vi \places, \places, .L_SHA2_ZVKNH_POINTER_SHIFT
    vadd.vv \to, \to, \places
.endm

// Sets \next to the addresses of the double-words in the next quad. Changes t0.
.macro SHA2_ZVKNH_NEXT_POINTERS hash, next, to
    li    t0, .L_\hash\()_ZVKNH_QUAD
    vadd.vx \next, \to, t0
.endm

// Sets \offsets to the offset of each word in its quad.
.macro SHA2_ZVKNH_SET_WORD_OFFSETS hash, offsets
    vid.v \offsets
    vand.vi \offsets, \offsets, .L_SHA2_ZVKNH_WORDS_MASK
    vsll.vi \offsets, \offsets, .L_\hash\()_ZVKNH_WORD_SHIFT
.endm

// Sets \i0..\i3 to the offsets in K of the words of four quads. Each quad is repeated for every stream. Changes t0.
.macro SHA2_ZVKNH_SET_K_OFFSETS hash, i0, i1, i2, i3
    SHA2_ZVKNH_SET_WORD_OFFSETS \hash, \i0
    li    t0, .L_\hash\()_ZVKNH_QUAD
    vadd.vx \i1, \i0, t0
    vadd.vx \i2, \i1, t0
    vadd.vx \i3, \i2, t0
.endm

// LMUL 1: prepares everything except for the message pointers, which are in v2, and their element numbers, which are
// in v8. Each of \k_groups is a group of registers for K of one pass.
.macro SHA2_ZVKNH_M1_START hash, bits, k_groups:vararg
    // This computes addresses, mask and offsets.
    SHA2_ZVKNH_SPREAD_POINTERS \hash, v2, v8
    SHA2_ZVKNH_NEXT_POINTERS \hash, v3, v2
    SHA2_ZVKNH_SET_MASK
    SHA2_ZVKNH_SET_STATE_OFFSETS \hash, v1, 1

    // This loads K with the offsets of four quads.
    vsetvli t0, zero, e\bits, m1, ta, ma
    SHA2_ZVKNH_SET_K_OFFSETS \hash, v8, v9, v10, v11
    SHA2_ZVKNH_M1_RING \bits
    lla   t1, .L_\hash\()_ZVKNH_K
    .irp  k, \k_groups
    vluxei\bits\().v \k, (t1), v8
    addi  t1, t1, 4 * .L_\hash\()_ZVKNH_QUAD
    .endr

    // This loads the states and the first block.
    slli  a4, a3, .L_SHA2_ZVKNH_WORDS_SHIFT
    SHA2_ZVKNH_M1 \bits
    SHA2_ZVKNH_MOVE_STATES \hash, vluxei16.v, v1, v4, v5
    slli  a2, a2, .L_\hash\()_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.endm

// LMUL 2: prepares everything. Each of \k_pointers is a register with an address for K of one pass.
.macro SHA2_ZVKNH_M2_START hash, bits, k_pointers:vararg
    // This computes addresses, mask and offsets.
    vsetvli t0, zero, e64, m2, ta, ma
    vid.v v8
    SHA2_ZVKNH_GATHER_POINTERS \hash, v4, v8
    SHA2_ZVKNH_SPREAD_POINTERS \hash, v4, v8
    SHA2_ZVKNH_NEXT_POINTERS \hash, v6, v4
    SHA2_ZVKNH_SET_MASK
    SHA2_ZVKNH_SET_STATE_OFFSETS \hash, v1, 1

    // This loads K with the offsets of four quads.
    vsetvli t0, zero, e\bits, m2, ta, ma
    SHA2_ZVKNH_SET_K_OFFSETS \hash, v8, v10, v12, v14
    SHA2_ZVKNH_M2_RING \bits
    lla   t1, .L_\hash\()_ZVKNH_K
    .irp  k, \k_pointers
    vluxei\bits\().v v16, (t1), v8
    vs8r.v v16, (\k)
    addi  t1, t1, 4 * .L_\hash\()_ZVKNH_QUAD
    .endr

    // This loads the states and the first block.
    slli  a4, a3, .L_SHA2_ZVKNH_WORDS_SHIFT
    SHA2_ZVKNH_M2 \bits
    SHA2_ZVKNH_MOVE_STATES \hash, vluxei16.v, v1, v24, v26
    slli  a2, a2, .L_\hash\()_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.endm

// LMUL 4: allocates the stack for four passes of K.
.macro SHA2_ZVKNH_M4_TAKE_STACK
    mv    t4, sp
    slli  t6, a5, .L_SHA2_ZVKNH_M4_QUAD_SHIFT
    // This is the space for addresses, cdgh and abef.
    sub   a6, t4, t6
    sub   t2, a6, t6
    sub   a7, t2, t6
    // This is the space for K.
    slli  t0, t6, .L_SHA2_ZVKNH_FOUR_PASSES_OF_QUADS_SHIFT
    sub   sp, a7, t0
.endm

// LMUL 4: allocates the stack for one more pass of K.
.macro SHA2_ZVKNH_M4_TAKE_STACK_FOR_PASS
    slli  t0, t6, .L_SHA2_ZVKNH_PASS_OF_QUADS_SHIFT
    sub   sp, sp, t0
.endm

// LMUL 4: prepares everything else.
.macro SHA2_ZVKNH_M4_START hash, bits
    // This computes addresses, mask and offsets.
    vsetvli t0, zero, e64, m4, ta, ma
    vid.v v8
    SHA2_ZVKNH_GATHER_POINTERS \hash, v12, v8
    SHA2_ZVKNH_SPREAD_POINTERS \hash, v12, v8
    vs4r.v v12, (a6)
    SHA2_ZVKNH_SET_MASK
    SHA2_ZVKNH_SET_STATE_OFFSETS \hash, v2, 2

    // This loads K, quad by quad.
    vsetvli t0, zero, e\bits, m4, ta, ma
    SHA2_ZVKNH_SET_WORD_OFFSETS \hash, v8
    lla   t1, .L_\hash\()_ZVKNH_K
    mv    t5, sp
.L_\hash\()_zvknh_m4_k:
    vluxei\bits\().v v12, (t1), v8
    vs4r.v v12, (t5)
    addi  t1, t1, .L_\hash\()_ZVKNH_QUAD
    add   t5, t5, t6
    bne   t5, a7, .L_\hash\()_zvknh_m4_k

    // This loads the states and the first block.
    slli  a4, a3, .L_SHA2_ZVKNH_WORDS_SHIFT
    SHA2_ZVKNH_M4 \bits
    SHA2_ZVKNH_MOVE_STATES \hash, vluxei16.v, v2, v24, v28
    slli  a2, a2, .L_\hash\()_ZVKNH_BLOCK_SHIFT
    li    t1, 0
.endm

.endif
