// E-multiplication of WalnutDSA (walnut_macros.S) with RV64IM. Include frame_macros.S and walnut_macros.S before this
// file.
//
// Coefficient k of a column is a byte, which is multiplied by x^k times the value. A value has its products with 1 to x^7,
// 64 bytes, and then those of its inverse. The elements of the matrix are reduced. No sum has a carry: a byte is
// multiplied by bits that are bytes apart.
//
// Cost: 34.2 retired instructions per generator of GF(2^5), 48.6 of GF(2^8), with the products of all values and all that a
// call does (QEMU, -icount); 8.7 kB of code each.

.set .L_WALNUT_PRODUCTS, 64

.macro WALNUT_RV64_PRODUCT here, value, is_inverse, coefficients
    .set .L_walnut_at, 0
    .rept \coefficients
    .if .L_walnut_at == 0
    andi  s10, \here, 255
    .else
    srli  s10, \here, 8 * .L_walnut_at
    .if .L_walnut_at < \coefficients - 1
    andi  s10, s10, 255
    .endif
    .endif
    ld    s9, 8 * .L_walnut_at + .L_WALNUT_PRODUCTS * \is_inverse(\value)
    .if .L_walnut_at == 0
    mul   a7, s10, s9
    .else
    mul   s10, s10, s9
    .if .L_walnut_at < \coefficients - 1
    xor   a7, a7, s10
    .else
    xor   \here, a7, s10
    .endif
    .endif
    .set .L_walnut_at, .L_walnut_at + 1
    .endr
.endm

.macro WALNUT_RV64_PRODUCT_128 here, value, is_inverse
    WALNUT_RV64_PRODUCT \here, \value, \is_inverse, 5
.endm
.macro WALNUT_RV64_PRODUCT_256 here, value, is_inverse
    WALNUT_RV64_PRODUCT \here, \value, \is_inverse, 8
.endm

.irp level, 128, 256
.macro WALNUT_RV64_\level\()_CONSTANT
.endm
.macro WALNUT_RV64_\level\()_POSITIVE left, here, right, value, next
    WALNUT_SCALAR_POSITIVE WALNUT_RV64_PRODUCT_\level, "\left", \here, \right, \value
.endm
.macro WALNUT_RV64_\level\()_INVERSE left, here, right, value, next
    WALNUT_SCALAR_INVERSE WALNUT_RV64_PRODUCT_\level, "\left", \here, \right, \next
.endm
.endr

HARTLOCK_FUNCTION hartlock_walnut128_rv64, +m
    WALNUT_SCALAR_KERNEL WALNUT_RV64_128, 8
HARTLOCK_FUNCTION_END hartlock_walnut128_rv64

HARTLOCK_FUNCTION hartlock_walnut256_rv64, +m
    WALNUT_SCALAR_KERNEL WALNUT_RV64_256, 8
HARTLOCK_FUNCTION_END hartlock_walnut256_rv64
