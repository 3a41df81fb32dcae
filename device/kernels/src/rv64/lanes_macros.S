// Operations of kernels for several messages in vector lanes: one instruction of Zvkb each, or several of V
// alone. The kernel that includes them sets .L_LANES_HAVE_ZVKB. This file has only macros and no code.

.ifndef .L_HARTLOCK_LANES_MACROS
.set .L_HARTLOCK_LANES_MACROS, 1

// Shifts by \amount with \op, vsll or vsrl. An immediate of more than 31 bits does not exist; changes t6.
.macro LANES_SHIFT op, dst, src, amount
    .if (\amount) < 32
    \op\().vi \dst, \src, \amount
    .else
    li    t6, \amount
    \op\().vx \dst, \src, t6
    .endif
.endm

// Computes \dst = ROTR^right(\src) of words of \bits bits. \dst may be \src. Without Zvkb it changes \tmp and t6.
.macro LANES_ROTATE_RIGHT bits, dst, src, right, tmp
    .if .L_LANES_HAVE_ZVKB
    vror.vi \dst, \src, \right
    .else
    LANES_SHIFT vsll, \tmp, \src, \bits - (\right)
    LANES_SHIFT vsrl, \dst, \src, \right
    vor.vv \dst, \dst, \tmp
    .endif
.endm

// Computes \dst = ~\src1 & \src2, where \dst is not \src2.
.macro LANES_AND_NOT dst, src2, src1
    .if .L_LANES_HAVE_ZVKB
    vandn.vv \dst, \src2, \src1
    .else
    vand.vv \dst, \src2, \src1
    vxor.vv \dst, \dst, \src2
    .endif
.endm

// Swaps neighbouring groups of bits of \reg, each of \shift bits; \mask has the lower group of each pair. Changes
// \tmp and t6.
.macro LANES_SWAP reg, tmp, shift, mask
    li    t6, \mask
    vsrl.vi \tmp, \reg, \shift
    vand.vx \tmp, \tmp, t6
    vand.vx \reg, \reg, t6
    vsll.vi \reg, \reg, \shift
    vor.vv \reg, \reg, \tmp
.endm

// Reverses the bytes of each word of \bits bits. Without Zvkb it changes \tmp and t6.
.macro LANES_REVERSE_BYTES bits, reg, tmp
    .if .L_LANES_HAVE_ZVKB
    vrev8.v \reg, \reg
    .else
    LANES_SWAP \reg, \tmp, 8, 0x00ff00ff00ff00ff
    .if \bits == 64
    LANES_SWAP \reg, \tmp, 16, 0x0000ffff0000ffff
    .endif
    LANES_ROTATE_RIGHT \bits, \reg, \reg, \bits / 2, \tmp
    .endif
.endm

.endif
