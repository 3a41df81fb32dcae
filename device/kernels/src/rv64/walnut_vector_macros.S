// WalnutDSA: the macros that the vector kernels of E-multiplication share. This file has no code.

.ifndef .L_HARTLOCK_WALNUT_VECTOR_MACROS
.set .L_HARTLOCK_WALNUT_VECTOR_MACROS, 1

// Loads or stores elements of eight vectors, 8 bytes each, from a0 on. Changes a7.
.macro WALNUT_VECTOR_EACH instruction, registers:vararg
    mv    a7, a0
    .irp reg, \registers
    \instruction \reg, (a7)
    addi  a7, a7, 8
    .endr
.endm

// A generator and its inverse, as in walnut_macros.S.
.macro WALNUT_VECTOR_POSITIVE product, left, here, right, value
    vxor.vv \right, \right, \here
    \product \here, \value, 0
    .ifnb \left
    vxor.vv \left, \left, \here
    .endif
.endm
.macro WALNUT_VECTOR_INVERSE product, left, here, right, next
    .ifnb \left
    vxor.vv \left, \left, \here
    .endif
    \product \here, \next, 1
    vxor.vv \right, \right, \here
.endm

.endif
