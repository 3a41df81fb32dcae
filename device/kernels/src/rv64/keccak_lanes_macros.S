// Keccak-p[1600] of several sponges at once: the macros that the kernels share (lanes_macros.S).
//
// The list shows the registers of the state. For chi, instructions on pairs of registers (LMUL 2)
// process two rows at once, so rows 0 and 1 share pairs, and so do rows 2 and 3:
//
//   A[x,0], A[x,1]   v(2x), v(2x+1)        A[x,4]   v(20+x)
//   A[x,2], A[x,3]   v(10+2x), v(11+2x)    v25-v31  scratch
//
// Those instructions process whole registers. Their results past lane n - 1 are not used.

.ifndef .L_HARTLOCK_KECCAK_LANES_MACROS
.set .L_HARTLOCK_KECCAK_LANES_MACROS, 1

// Sizes in bytes of a word, a row of five words and a state of five rows.
.set .L_KECCAK_LANES_WORD, 8
.set .L_KECCAK_LANES_ROW, 5 * .L_KECCAK_LANES_WORD
.set .L_KECCAK_LANES_STATE, 5 * .L_KECCAK_LANES_ROW

// Length of a word in bits, and the logarithm of its length in bytes.
.set .L_KECCAK_LANES_WORD_BITS, 64
.set .L_KECCAK_LANES_WORD_SHIFT, 3

// Words are absorbed in groups that fit into the scratch registers v26-v31.
.set .L_KECCAK_LANES_GROUP, 6 * .L_KECCAK_LANES_WORD

.set .L_KECCAK_LANES_CACHE_LINE, 64

// Length of an entry in the code table for the words after the last full group: eight instructions.
.set .L_KECCAK_LANES_ENTRY_SHIFT, 5

// Constants of iota (FIPS 202 §3.2.5).
.pushsection .rodata.hartlock_keccak_lanes, "a", @progbits
.balign 8
.L_keccak_lanes_constants:
    .dword 0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000
    .dword 0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009
    .dword 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a
    .dword 0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003
    .dword 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a
    .dword 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008
.L_keccak_lanes_constants_end:
.popsection

// Sets vtype for single registers, lanes 0 to n - 1.
.macro KECCAK_LANES_SINGLES
    vsetvli zero, a3, e64, m1, ta, ma
.endm

// Sets vtype for pairs of registers, all lanes.
.macro KECCAK_LANES_PAIRS
    vsetvli t0, zero, e64, m2, ta, ma
.endm

// Loads row y of every state from memory to \a0..\a4. \offset is that of A[0,y] in a state.
.macro KECCAK_LANES_LOAD_ROW offset, a0, a1, a2, a3, a4
    addi  t0, a0, \offset
    vlsseg5e64.v v25, (t0), a7
    vmv1r.v \a0, v25
    vmv1r.v \a1, v26
    vmv1r.v \a2, v27
    vmv1r.v \a3, v28
    vmv1r.v \a4, v29
.endm

// Stores row y of every state to memory.
.macro KECCAK_LANES_STORE_ROW offset, a0, a1, a2, a3, a4
    vmv1r.v v25, \a0
    vmv1r.v v26, \a1
    vmv1r.v v27, \a2
    vmv1r.v v28, \a3
    vmv1r.v v29, \a4
    addi  t0, a0, \offset
    vssseg5e64.v v25, (t0), a7
.endm

// Applies \load_or_store to the rows that are not in adjacent registers.
.macro KECCAK_LANES_EACH_SPLIT_ROW load_or_store
    \load_or_store 0 * .L_KECCAK_LANES_ROW, v0,  v2,  v4,  v6,  v8
    \load_or_store 1 * .L_KECCAK_LANES_ROW, v1,  v3,  v5,  v7,  v9
    \load_or_store 2 * .L_KECCAK_LANES_ROW, v10, v12, v14, v16, v18
    \load_or_store 3 * .L_KECCAK_LANES_ROW, v11, v13, v15, v17, v19
.endm

// Computes half of the column parities of theta for x = 1, 2 and 3, in pairs: (A[x,0] ^ A[x,2],
// A[x,1] ^ A[x,3]). There are scratch registers for three columns.
.macro KECCAK_LANES_HALF_PARITIES
    vxor.vv v26, v2, v12
    vxor.vv v28, v4, v14
    vxor.vv v30, v6, v16
.endm

// Completes such a column: \c = C[x], from the halves \c and \half and from \a4 = A[x,4].
.macro KECCAK_LANES_END_PARITY c, half, a4
    vxor.vv \c, \c, \half
    vxor.vv \c, \c, \a4
.endm

// Computes \c = C[x], the parity of a whole column.
.macro KECCAK_LANES_PARITY c, a0, a1, a2, a3, a4
    vxor.vv \c, \a0, \a1
    vxor.vv \c, \c, \a2
    vxor.vv \c, \c, \a3
    vxor.vv \c, \c, \a4
.endm

// Adds D[x] = C[x-1] ^ ROTL(C[x+1], 1) to a column. \before is C[x-1], and \after is C[x+1]. Changes v31.
.macro KECCAK_LANES_ADD_PARITIES before, after, a0, a1, a2, a3, a4
    LANES_ROTATE_RIGHT .L_KECCAK_LANES_WORD_BITS, v25, \after, .L_KECCAK_LANES_WORD_BITS - 1, v31
    vxor.vv v25, v25, \before
    vxor.vv \a0, \a0, v25
    vxor.vv \a1, \a1, v25
    vxor.vv \a2, \a2, v25
    vxor.vv \a3, \a3, v25
    vxor.vv \a4, \a4, v25
.endm

// Computes \to = ROTL(\from, \left). There are only rotations to the right. Changes v31.
.macro KECCAK_LANES_ROTATE to, from, left
    LANES_ROTATE_RIGHT .L_KECCAK_LANES_WORD_BITS, \to, \from, .L_KECCAK_LANES_WORD_BITS - \left, v31
.endm

// Computes chi on a row, or on two rows in pairs: A[x] = b[x] ^ (~b[x+1] & b[x+2]). The result
// replaces the row, except for A[0], which goes to \a0. The two terms that need b[0] and b[1] are
// computed before these are overwritten.
.macro KECCAK_LANES_CHI a0, b0, b1, b2, b3, b4
    LANES_AND_NOT v26, \b1, \b0     // for A[4]: ~b[0] & b[1]
    LANES_AND_NOT v28, \b0, \b4     // for A[3]: ~b[4] & b[0]
    LANES_AND_NOT v30, \b2, \b1     // for A[0]
    vxor.vv \a0, \b0, v30
    LANES_AND_NOT v30, \b3, \b2     // for A[1]
    vxor.vv \b1, \b1, v30
    LANES_AND_NOT v30, \b4, \b3     // for A[2]
    vxor.vv \b2, \b2, v30
    vxor.vv \b3, \b3, v28
    vxor.vv \b4, \b4, v26
.endm

// Computes one round. The constant of iota is at \offset from t3. Before and after the round, vtype
// is for single registers, and the half parities are computed.
.macro KECCAK_LANES_ROUND offset
    // Theta (FIPS 202 §3.2.1): C[0..4] are in v27, v26, v28, v30, v29.
    KECCAK_LANES_END_PARITY v26, v27, v21
    KECCAK_LANES_END_PARITY v28, v29, v22
    KECCAK_LANES_END_PARITY v30, v31, v23
    KECCAK_LANES_PARITY v27, v0, v1, v10, v11, v20
    KECCAK_LANES_PARITY v29, v8, v9, v18, v19, v24
    // These lines process the columns 0 to 4.
    KECCAK_LANES_ADD_PARITIES v29, v26, v0, v1, v10, v11, v20
    KECCAK_LANES_ADD_PARITIES v27, v28, v2, v3, v12, v13, v21
    KECCAK_LANES_ADD_PARITIES v26, v30, v4, v5, v14, v15, v22
    KECCAK_LANES_ADD_PARITIES v28, v29, v6, v7, v16, v17, v23
    KECCAK_LANES_ADD_PARITIES v30, v27, v8, v9, v18, v19, v24

    // Rho and pi (§3.2.2 with the offsets of table 2, §3.2.3). Pi moves 24 words in one cycle, and
    // A[0,0] stays. The first word of the cycle would overwrite the last one, so it is kept in v25.
    KECCAK_LANES_ROTATE v25, v4,  62     // A[2,0] -> A[0,4]
    KECCAK_LANES_ROTATE v4,  v14, 43     // A[2,2] -> A[2,0]
    KECCAK_LANES_ROTATE v14, v16, 25     // A[3,2] -> A[2,2]
    KECCAK_LANES_ROTATE v16, v19, 8      // A[4,3] -> A[3,2]
    KECCAK_LANES_ROTATE v19, v23, 56     // A[3,4] -> A[4,3]
    KECCAK_LANES_ROTATE v23, v11, 41     // A[0,3] -> A[3,4]
    KECCAK_LANES_ROTATE v11, v8,  27     // A[4,0] -> A[0,3]
    KECCAK_LANES_ROTATE v8,  v24, 14     // A[4,4] -> A[4,0]
    KECCAK_LANES_ROTATE v24, v21, 2      // A[1,4] -> A[4,4]
    KECCAK_LANES_ROTATE v21, v7,  55     // A[3,1] -> A[1,4]
    KECCAK_LANES_ROTATE v7,  v13, 45     // A[1,3] -> A[3,1]
    KECCAK_LANES_ROTATE v13, v1,  36     // A[0,1] -> A[1,3]
    KECCAK_LANES_ROTATE v1,  v6,  28     // A[3,0] -> A[0,1]
    KECCAK_LANES_ROTATE v6,  v17, 21     // A[3,3] -> A[3,0]
    KECCAK_LANES_ROTATE v17, v15, 15     // A[2,3] -> A[3,3]
    KECCAK_LANES_ROTATE v15, v12, 10     // A[1,2] -> A[2,3]
    KECCAK_LANES_ROTATE v12, v5,  6      // A[2,1] -> A[1,2]
    KECCAK_LANES_ROTATE v5,  v10, 3      // A[0,2] -> A[2,1]
    KECCAK_LANES_ROTATE v10, v2,  1      // A[1,0] -> A[0,2]
    KECCAK_LANES_ROTATE v2,  v3,  44     // A[1,1] -> A[1,0]
    KECCAK_LANES_ROTATE v3,  v9,  20     // A[4,1] -> A[1,1]
    KECCAK_LANES_ROTATE v9,  v22, 61     // A[2,4] -> A[4,1]
    KECCAK_LANES_ROTATE v22, v18, 39     // A[4,2] -> A[2,4]
    KECCAK_LANES_ROTATE v18, v20, 18     // A[0,4] -> A[4,2]

    // Chi (§3.2.4): row 4, then rows 0 and 1, then rows 2 and 3. The half parities of the next
    // round are computed here, because they also use pairs of registers.
    KECCAK_LANES_CHI v20, v25, v21, v22, v23, v24
    KECCAK_LANES_PAIRS
    KECCAK_LANES_CHI v0,  v0,  v2,  v4,  v6,  v8
    KECCAK_LANES_CHI v10, v10, v12, v14, v16, v18
    KECCAK_LANES_HALF_PARITIES

    // Iota (§3.2.5). A[0,0] is not part of any half parity.
    ld    t4, \offset(t3)
    KECCAK_LANES_SINGLES
    vxor.vx v0, v0, t4
.endm

// Adds a loaded word to its position in the state, if there is one.
.macro KECCAK_LANES_ADD_WORD place, word
    .ifnb \place
    vxor.vv \place, \place, \word
    .endif
.endm

// Adds \count words of every message, starting at (t2), to the positions \w0.. of the state.
.macro KECCAK_LANES_ABSORB count, w0, w1, w2, w3, w4, w5
    .if \count == 1
    vluxei64.v v26, (t2), v25
    .else
    vluxseg\count\()ei64.v v26, (t2), v25
    .endif
    KECCAK_LANES_ADD_WORD \w0, v26
    KECCAK_LANES_ADD_WORD \w1, v27
    KECCAK_LANES_ADD_WORD \w2, v28
    KECCAK_LANES_ADD_WORD \w3, v29
    KECCAK_LANES_ADD_WORD \w4, v30
    KECCAK_LANES_ADD_WORD \w5, v31
.endm

// Defines an entry of the table of function \name. It adds the \count words after \groups full groups, whose
// positions in the state are \places, and continues with those groups.
.macro KECCAK_LANES_ENTRY name, groups, count, places:vararg
    .balign 1 << .L_KECCAK_LANES_ENTRY_SHIFT
    .if \count
    addi  t2, t1, \groups * .L_KECCAK_LANES_GROUP
    KECCAK_LANES_ABSORB \count, \places
    .endif
    j     .L_\name\()_groups_\groups
.endm

// Defines the entries for \groups full groups and zero to five words. \w0..\w4 are the positions of
// the words after them.
.macro KECCAK_LANES_ENTRIES name, groups, w0, w1, w2, w3, w4
    KECCAK_LANES_ENTRY \name, \groups, 0
    KECCAK_LANES_ENTRY \name, \groups, 1, \w0
    KECCAK_LANES_ENTRY \name, \groups, 2, \w0, \w1
    KECCAK_LANES_ENTRY \name, \groups, 3, \w0, \w1, \w2
    KECCAK_LANES_ENTRY \name, \groups, 4, \w0, \w1, \w2, \w3
    KECCAK_LANES_ENTRY \name, \groups, 5, \w0, \w1, \w2, \w3, \w4
.endm

// The body of a function. Its labels begin with \name.
.macro KECCAK_LANES_KERNEL name
    // All instructions of the table must have the same size, and the linker must not change them.
    .option norvc
    .option norelax
    beqz  a2, .L_\name\()_return
    KECCAK_LANES_SINGLES

    // This loads the states. a7 is the distance between them.
    li    a7, .L_KECCAK_LANES_STATE
    KECCAK_LANES_EACH_SPLIT_ROW KECCAK_LANES_LOAD_ROW
    addi  t0, a0, 4 * .L_KECCAK_LANES_ROW
    vlsseg5e64.v v20, (t0), a7

    // a5 is the first constant of iota, t5 the end of the constants, and a6 the length of a block
    // in bytes.
    lla   t5, .L_keccak_lanes_constants_end
    slli  a5, a5, .L_KECCAK_LANES_WORD_SHIFT
    sub   a5, t5, a5
    slli  a6, a4, .L_KECCAK_LANES_WORD_SHIFT

    // a4 is the entry for the rate. If there are no words, the pointers loaded below are not used,
    // so they may be loaded from any readable address.
    bnez  a4, .L_\name\()_has_words
    mv    a1, a0
.L_\name\()_has_words:
    slli  a4, a4, .L_KECCAK_LANES_ENTRY_SHIFT
    lla   t0, .L_\name\()_entries
    add   a4, a4, t0

    // t1 is the offset of the block in its message. It is added to the pointers in v25.
    li    t1, 0
.L_\name\()_block:
    vle64.v v25, (a1)
    jr    a4

    // Entry i absorbs i words: first the words after the last full group, then the full groups
    // below. The alignment makes the position of the rounds relative to cache lines independent of
    // the linker.
    .balign .L_KECCAK_LANES_CACHE_LINE
.L_\name\()_entries:
    KECCAK_LANES_ENTRIES \name, 0, v0,  v2,  v4,  v6,  v8
    KECCAK_LANES_ENTRIES \name, 1, v3,  v5,  v7,  v9,  v10
    KECCAK_LANES_ENTRIES \name, 2, v14, v16, v18, v11, v13
    KECCAK_LANES_ENTRY \name, 3, 0
    KECCAK_LANES_ENTRY \name, 3, 1, v17
    KECCAK_LANES_ENTRY \name, 3, 2, v17, v19
    KECCAK_LANES_ENTRY \name, 3, 3, v17, v19, v20

    // These are the words 12 to 17, 6 to 11 and 0 to 5. The lowest words always come last.
.L_\name\()_groups_3:
    addi  t2, t1, 2 * .L_KECCAK_LANES_GROUP
    KECCAK_LANES_ABSORB 6, v14, v16, v18, v11, v13, v15
.L_\name\()_groups_2:
    addi  t2, t1, .L_KECCAK_LANES_GROUP
    KECCAK_LANES_ABSORB 6, v3, v5, v7, v9, v10, v12
.L_\name\()_groups_1:
    mv    t2, t1
    KECCAK_LANES_ABSORB 6, v0, v2, v4, v6, v8, v1
.L_\name\()_groups_0:
    add   t1, t1, a6

    // Each iteration computes two rounds. t3 points to their constants.
    mv    t3, a5
    KECCAK_LANES_PAIRS
    KECCAK_LANES_HALF_PARITIES
    KECCAK_LANES_SINGLES
.L_\name\()_rounds:
    KECCAK_LANES_ROUND 0
    KECCAK_LANES_ROUND .L_KECCAK_LANES_WORD
    addi  t3, t3, 2 * .L_KECCAK_LANES_WORD
    bne   t3, t5, .L_\name\()_rounds

    addi  a2, a2, -1
    bnez  a2, .L_\name\()_block

    // This stores the states.
    KECCAK_LANES_EACH_SPLIT_ROW KECCAK_LANES_STORE_ROW
    addi  t0, a0, 4 * .L_KECCAK_LANES_ROW
    vssseg5e64.v v20, (t0), a7
.L_\name\()_return:
    ret
.endm

.endif
