// E-multiplication of WalnutDSA (walnut_macros.S) with Zbc. Include frame_macros.S and walnut_macros.S before this file.
//
// A value is its element and then that of its inverse, both reduced. A carry-less product has coefficients 0 to 7 of all
// rows in its lower half and the others in its upper half. The upper half times x^8 reduced is what they add: with
// x^8 = x^3 + x^2 + 1 for values of five coefficients it has no more than eight, so that GF(2^5) takes one step. With
// x^8 = x^4 + x^3 + x + 1 and eight coefficients there are three more, and GF(2^8) takes two.
//
// Cost: 15.8 retired instructions per generator of GF(2^5), 17.7 of GF(2^8), with all that a call does (QEMU, -icount);
// 2.4 and 4.5 kB of code.

.set .L_WALNUT_REDUCED_128, 0x01010001
.set .L_WALNUT_REDUCED_256, 0x0101000101

.macro WALNUT_ZBC_PRODUCT_128 here, value, is_inverse
    ld    s10, 8 * \is_inverse(\value)
    clmulh a7, \here, s10
    clmul \here, \here, s10
    clmul a7, a7, a4
    xor   \here, \here, a7
.endm
.macro WALNUT_ZBC_PRODUCT_256 here, value, is_inverse
    ld    s10, 8 * \is_inverse(\value)
    clmulh a7, \here, s10
    clmul \here, \here, s10
    clmulh s9, a7, a4
    xor   a7, a7, s9
    clmul a7, a7, a4
    xor   \here, \here, a7
.endm

.irp level, 128, 256
.macro WALNUT_ZBC_\level\()_CONSTANT
    li    a4, .L_WALNUT_REDUCED_\level
.endm
.macro WALNUT_ZBC_\level\()_POSITIVE left, here, right, value, next
    WALNUT_SCALAR_POSITIVE WALNUT_ZBC_PRODUCT_\level, "\left", \here, \right, \value
.endm
.macro WALNUT_ZBC_\level\()_INVERSE left, here, right, value, next
    WALNUT_SCALAR_INVERSE WALNUT_ZBC_PRODUCT_\level, "\left", \here, \right, \next
.endm
.endr

HARTLOCK_FUNCTION hartlock_walnut128_rv64_zbc, +zbc
    WALNUT_SCALAR_KERNEL WALNUT_ZBC_128, 6
HARTLOCK_FUNCTION_END hartlock_walnut128_rv64_zbc

HARTLOCK_FUNCTION hartlock_walnut256_rv64_zbc, +zbc
    WALNUT_SCALAR_KERNEL WALNUT_ZBC_256, 7
HARTLOCK_FUNCTION_END hartlock_walnut256_rv64_zbc
