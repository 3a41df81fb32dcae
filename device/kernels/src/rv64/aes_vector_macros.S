// AES and GHASH in vector registers: the macros that all kernels of this form share.
//
// The instructions are those of *RISC-V Cryptography Extensions, volume II: vector instructions*, version 1.0.0: §2.2
// Zvbc, §2.3 Zvkb, §2.4 Zvkg, §2.5 Zvkned. An element group of four words of 32 bits holds a block in the order of its
// bytes (FIPS 197 §3.4). An instruction of Zvkned with `.vs` computes a round for all blocks of a register group, with
// the round key in the first element group of another register. It reads no other part of that register, so that
// a round key takes one register for any VLEN.
//
// Zvkned and Zvkg take the same time for all operands. The other instructions on secrets do so on a hart with Zvkt
// (§2.15), which lists all of them that are used here: vector additions, logic, shifts, merges, slides, moves, vrgather
// by an index that is public, Zvkb and Zvbc.

.ifndef .L_HARTLOCK_AES_VECTOR_MACROS
.set .L_HARTLOCK_AES_VECTOR_MACROS, 1

.set .L_AES_BLOCK, 16
.set .L_AES_WORDS, 4
// A byte of a mask that selects the last of every four elements.
.set .L_AES_LAST_WORDS, 0x88

// Overwrites all vector registers.
.macro AES_VECTOR_WIPE_REGISTERS
    vsetvli t0, zero, e8, m8, ta, ma
    .irp group, v0, v8, v16, v24
    vmv.v.i \group, 0
    .endr
.endm

// Loads 16 bytes from \address to the first element group of \group, and sets its other bytes to zero.
.macro AES_VECTOR_LOAD_BLOCK group, address
    vsetvli t0, zero, e8, m4, ta, ma
    vmv.v.i \group, 0
    vsetivli zero, .L_AES_BLOCK, e8, m4, tu, ma
    vle8.v \group, (\address)
.endm

// Replaces the blocks of \sums by their sum in the first element group, and zeros. \scratch is a register group. Sets
// SEW to 32 and LMUL to 4 for all elements, and changes t0 and t2.
.macro AES_VECTOR_FOLD sums, scratch
    vsetvli t0, zero, e32, m4, ta, ma
.L_aes_vector_fold_\@:
    srli  t0, t0, 1
    vslidedown.vx \scratch, \sums, t0
    vxor.vv \sums, \sums, \scratch
    addi  t2, t0, -.L_AES_WORDS
    bnez  t2, .L_aes_vector_fold_\@
    vmv4r.v \scratch, \sums
    vmv.v.i \sums, 0
    vsetivli zero, .L_AES_WORDS, e32, m4, tu, ma
    vmv.v.v \sums, \scratch
    vsetvli t0, zero, e32, m4, ta, mu
.endm

// Sets \end to the end of the whole groups of \group bytes from \start on, and \len, the number of all bytes, to that
// of the bytes after them. Changes t0 and t2.
.macro AES_VECTOR_WHOLE_GROUPS end, start, len, group
    addi  t0, \group, -1
    not   t2, t0
    and   \end, \len, t2
    and   \len, \len, t0
    add   \end, \end, \start
.endm

// --- counter mode with Zvkned ------------------------------------------------------------------
//
// Counter blocks lie in a register group with the bytes of each word reversed: their counters are then numbers, to
// which one masked addition adds, and `vrev8.v` makes the next blocks of them. The mask in v0 selects the last word
// of each block. The other words must stay (`mu`).

// Loads a round key from (t0), and moves t0 to the next one. vl is 4, SEW 32.
.macro AES_ZVKNED_LOAD_KEY key
    vle32.v \key, (t0)
    addi  t0, t0, .L_AES_BLOCK
.endm

// Copies the block in the first element group of \block to all element groups of \group. SEW is 32.
.macro AES_ZVKNED_BROADCAST group, block
    vmv.v.i \group, 0
    vaesz.vs \group, \block
.endm

// Makes the counters \counters of a register group from the block at (a2), and the mask in v0. \block is a scratch
// register, \numbers a scratch register group. Afterwards SEW is 32 and LMUL 4 for all elements, t0 is changed.
.macro AES_ZVKNED_FIRST_COUNTERS counters, block, numbers
    vsetivli zero, .L_AES_BLOCK, e8, m1, ta, ma
    vle8.v \block, (a2)
    vsetvli t0, zero, e8, m1, ta, ma
    li    t0, .L_AES_LAST_WORDS
    vmv.v.x v0, t0
    vsetvli t0, zero, e32, m4, ta, mu
    AES_ZVKNED_BROADCAST \counters, \block
    vrev8.v \counters, \counters
    vid.v \numbers
    vsrl.vi \numbers, \numbers, 2               // the number of the block of each word
    vadd.vv \counters, \counters, \numbers, v0.t
.endm

// Writes the next counter blocks to \state, and adds \count, the number of blocks of a register group, to the
// counters: inc_32 of SP 800-38D §6.2.
.macro AES_ZVKNED_NEXT_COUNTERS state, counters, count
    vrev8.v \state, \counters
    vadd.vx \counters, \counters, \count, v0.t
.endm

// Computes the step of the cipher that belongs to round key number \index of \rounds (FIPS 197 §5.1).
.macro AES_ZVKNED_STEP index, rounds, state, key
    .if \index == 0
    vaesz.vs \state, \key
    .elseif \index < \rounds
    vaesem.vs \state, \key
    .elseif \index == \rounds
    vaesef.vs \state, \key
    .endif
.endm

.endif
