// WalnutDSA: the macros that the kernels of E-multiplication share. This file has no code.
//
// void hartlock_walnut<level>_rv64<_extension>(uint64_t matrix[8], const void *const values[8], const uint8_t *word,
//                                              size_t count)
//
// Multiplies a matrix by the coloured Burau matrices of `count` generators (submission to NIST of 2017, section
// E-multiplication). A nibble of `word` is a generator (device/kernels/src/walnut.rs).
//
//   a0  matrix, 8 columns, updated in place      a1  values, in the order of the strands, 8-byte aligned
//   a2  word, any alignment                      a3  count
//
// A generator jumps to a piece of code of its own, so that columns and addresses of values stay in registers. It
// multiplies a column by a value, adds two columns, exchanges two addresses, and jumps on. There are two pieces for each
// generator: one goes on with the lower half of the byte, the other with the next byte. A nibble that is no generator
// ends the kernel.
//
// Clobbers t0-t6, a0-a7, and v0-v23, vl and vtype if it is a vector kernel. Saves and restores s0-s11 and ra. The stack
// of 112 bytes has registers of the caller alone. All data is public, so that time depends on it.
//
//   s1-s8  addresses of values      a2  next byte     a4   constant of the form             a6   byte
//   a1     1: the last byte has     a3  end of the    a5   code for the lower halves        a7   scratch, like
//          one generator               whole bytes    s11  code for the upper halves             s9 and s10

.ifndef .L_HARTLOCK_WALNUT_MACROS
.set .L_HARTLOCK_WALNUT_MACROS, 1

.set .L_WALNUT_FRAME, 112
.set .L_WALNUT_LOW, 15
.set .L_WALNUT_HIGH, 0xf0

// Jumps to the code for the upper half of the byte in a6.
.macro WALNUT_HIGH slot_bits
    andi  a7, a6, .L_WALNUT_HIGH
    slli  a7, a7, \slot_bits - 4
    add   a7, a7, s11
    jr    a7
.endm

// Goes to the next generator, after one in the given half of a byte.
.macro WALNUT_NEXT half, slot_bits, end
    .ifc \half, HIGH
    andi  a7, a6, .L_WALNUT_LOW
    slli  a7, a7, \slot_bits
    add   a7, a7, a5
    jr    a7
    .else
    beq   a2, a3, \end
    lbu   a6, (a2)
    addi  a2, a2, 1
    WALNUT_HIGH \slot_bits
    .endif
.endm

// The code for a generator.
.macro WALNUT_SLOT step, half, slot_bits, end, left, here, right, value, next
.L_walnut_slot_\@:
    \step "\left", \here, \right, \value, \next
    mv    s9, \value
    mv    \value, \next
    mv    \next, s9
    WALNUT_NEXT \half, \slot_bits, \end
    // An error if the code is longer.
    .org  .L_walnut_slot_\@ + (1 << \slot_bits)
.endm

// The code for all generators in one half of a byte, by the numbers of their nibbles.
.macro WALNUT_SLOTS form, half, slot_bits, end, c0, c1, c2, c3, c4, c5, c6, c7
    .irp direction, POSITIVE, INVERSE
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, "", \c0, \c1, s1, s2
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c0, \c1, \c2, s2, s3
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c1, \c2, \c3, s3, s4
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c2, \c3, \c4, s4, s5
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c3, \c4, \c5, s5, s6
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c4, \c5, \c6, s6, s7
    WALNUT_SLOT \form\()_\direction, \half, \slot_bits, \end, \c5, \c6, \c7, s7, s8
    j     \end
    .balign 1 << \slot_bits
    .endr
.endm

// A kernel. \columns are macros that load and store all columns, \form has those of a generator.
.macro WALNUT_KERNEL form, columns, slot_bits, c0, c1, c2, c3, c4, c5, c6, c7
    HARTLOCK_ENTER .L_WALNUT_FRAME, 0
    .set .L_slot, 0
    .irp reg, s1, s2, s3, s4, s5, s6, s7, s8
    ld    \reg, .L_slot(a1)
    .set .L_slot, .L_slot + .L_SLOT_BYTES
    .endr
    \form\()_CONSTANT
    \columns\()_LOAD
    andi  a1, a3, 1
    srli  a3, a3, 1
    add   a3, a3, a2
    lla   a5, .L_walnut_low_\@
    lla   s11, .L_walnut_high_\@
    WALNUT_NEXT LOW, \slot_bits, .L_walnut_end_\@
    .balign 1 << \slot_bits
.L_walnut_high_\@:
    WALNUT_SLOTS \form, HIGH, \slot_bits, .L_walnut_end_\@, \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7

    // A lower half that is no generator brings the last byte back here.
.L_walnut_end_\@:
    beqz  a1, .L_walnut_store_\@
    li    a1, 0
    lbu   a6, (a2)
    ori   a6, a6, .L_WALNUT_LOW
    WALNUT_HIGH \slot_bits
.L_walnut_store_\@:
    \columns\()_STORE
    HARTLOCK_LEAVE .L_WALNUT_FRAME, 0

    .balign 1 << \slot_bits
.L_walnut_low_\@:
    WALNUT_SLOTS \form, LOW, \slot_bits, .L_walnut_end_\@, \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7
.endm

// --- columns in registers ----------------------------------------------------------------------

.macro WALNUT_SCALAR_EACH store_or_load
    .set .L_slot, 0
    .irp reg, t0, t1, t2, t3, t4, t5, t6, s0
    \store_or_load \reg, .L_slot(a0)
    .set .L_slot, .L_slot + .L_SLOT_BYTES
    .endr
.endm
.macro WALNUT_SCALAR_LOAD
    WALNUT_SCALAR_EACH ld
.endm
.macro WALNUT_SCALAR_STORE
    WALNUT_SCALAR_EACH sd
.endm

.macro WALNUT_SCALAR_KERNEL form, slot_bits
    WALNUT_KERNEL \form, WALNUT_SCALAR, \slot_bits, t0, t1, t2, t3, t4, t5, t6, s0
.endm

// A generator: the next column gets what was here, and the one before it what is here. There is none before the first.
.macro WALNUT_SCALAR_POSITIVE product, left, here, right, value
    xor   \right, \right, \here
    \product \here, \value, 0
    .ifnb \left
    xor   \left, \left, \here
    .endif
.endm

// Its inverse: the other way round, with the value of the next strand.
.macro WALNUT_SCALAR_INVERSE product, left, here, right, next
    .ifnb \left
    xor   \left, \left, \here
    .endif
    \product \here, \next, 1
    xor   \right, \right, \here
.endm

.endif
