// E-multiplication of WalnutDSA (walnut_macros.S) with V and Zvbc. Include frame_macros.S, walnut_macros.S and
// walnut_vector_macros.S before this file.
//
// The same as with Zbc (walnut_rv64_zbc.S, which says what values are and how products are reduced), but that a column is
// an element of 64 bits in a vector register: v0 to v7. v8 and v9 are scratch.
//
// Cost: 15.9 retired instructions per generator of GF(2^5), 17.7 of GF(2^8), with all that a call does (QEMU, -icount);
// 2.4 and 4.5 kB of code.

.set .L_WALNUT_ZVBC_REDUCED_128, 0x01010001
.set .L_WALNUT_ZVBC_REDUCED_256, 0x0101000101

.macro WALNUT_ZVBC_LOAD
    vsetivli zero, 1, e64, m1, ta, ma
    WALNUT_VECTOR_EACH vle64.v, v0, v1, v2, v3, v4, v5, v6, v7
.endm
.macro WALNUT_ZVBC_STORE
    WALNUT_VECTOR_EACH vse64.v, v0, v1, v2, v3, v4, v5, v6, v7
.endm

.macro WALNUT_ZVBC_PRODUCT_128 here, value, is_inverse
    ld    s10, 8 * \is_inverse(\value)
    vclmulh.vx v8, \here, s10
    vclmul.vx \here, \here, s10
    vclmul.vx v8, v8, a4
    vxor.vv \here, \here, v8
.endm
.macro WALNUT_ZVBC_PRODUCT_256 here, value, is_inverse
    ld    s10, 8 * \is_inverse(\value)
    vclmulh.vx v8, \here, s10
    vclmul.vx \here, \here, s10
    vclmulh.vx v9, v8, a4
    vxor.vv v8, v8, v9
    vclmul.vx v8, v8, a4
    vxor.vv \here, \here, v8
.endm

.irp level, 128, 256
.macro WALNUT_ZVBC_\level\()_CONSTANT
    li    a4, .L_WALNUT_ZVBC_REDUCED_\level
.endm
.macro WALNUT_ZVBC_\level\()_POSITIVE left, here, right, value, next
    WALNUT_VECTOR_POSITIVE WALNUT_ZVBC_PRODUCT_\level, "\left", \here, \right, \value
.endm
.macro WALNUT_ZVBC_\level\()_INVERSE left, here, right, value, next
    WALNUT_VECTOR_INVERSE WALNUT_ZVBC_PRODUCT_\level, "\left", \here, \right, \next
.endm
.endr

HARTLOCK_FUNCTION hartlock_walnut128_rv64_zvbc, +v, +zvbc
    WALNUT_KERNEL WALNUT_ZVBC_128, WALNUT_ZVBC, 6, v0, v1, v2, v3, v4, v5, v6, v7
HARTLOCK_FUNCTION_END hartlock_walnut128_rv64_zvbc

HARTLOCK_FUNCTION hartlock_walnut256_rv64_zvbc, +v, +zvbc
    WALNUT_KERNEL WALNUT_ZVBC_256, WALNUT_ZVBC, 7, v0, v1, v2, v3, v4, v5, v6, v7
HARTLOCK_FUNCTION_END hartlock_walnut256_rv64_zvbc
