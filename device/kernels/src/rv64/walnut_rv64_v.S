// E-multiplication of WalnutDSA (walnut_macros.S) with V, VLEN >= 128. Include frame_macros.S, walnut_macros.S and
// walnut_vector_macros.S before this file.
//
// A column is eight bytes, one for each row: v0, v2 to v14, two registers each. A value is two tables of 32 bytes, of its
// products and then of those of its inverse: with all elements of GF(2^5); or, for GF(2^8), with those below 16, and then
// with those whose lower four bits are zero. vl is 32, the length of a table. Rows after the eighth are zero, and so is
// the first product. v16 to v23 are scratch.
//
// Cost: 16.1 retired instructions per generator of GF(2^5), 19.5 of GF(2^8), with the tables and all that a call does (QEMU,
// -icount); 2.4 and 4.5 kB of code.

.set .L_WALNUT_V_TABLE, 32
.set .L_WALNUT_V_HALF, 16

.macro WALNUT_V_LOAD
    li    a7, .L_WALNUT_V_TABLE
    vsetvli zero, a7, e8, m2, ta, ma
    .irp reg, v0, v2, v4, v6, v8, v10, v12, v14
    vmv.v.i \reg, 0
    .endr
    vsetivli zero, 8, e8, m2, tu, ma
    WALNUT_VECTOR_EACH vle8.v, v0, v2, v4, v6, v8, v10, v12, v14
    li    a7, .L_WALNUT_V_TABLE
    vsetvli zero, a7, e8, m2, ta, ma
.endm
.macro WALNUT_V_STORE
    vsetivli zero, 8, e8, m2, ta, ma
    WALNUT_VECTOR_EACH vse8.v, v0, v2, v4, v6, v8, v10, v12, v14
.endm

// Loads the table of a value into v16.
.macro WALNUT_V_TABLE value, is_inverse
    .if \is_inverse
    addi  s10, \value, .L_WALNUT_V_TABLE
    vle8.v v16, (s10)
    .else
    vle8.v v16, (\value)
    .endif
.endm

.macro WALNUT_V_PRODUCT_128 here, value, is_inverse
    WALNUT_V_TABLE \value, \is_inverse
    vrgather.vv v18, v16, \here
    vmv2r.v \here, v18
.endm
.macro WALNUT_V_PRODUCT_256 here, value, is_inverse
    WALNUT_V_TABLE \value, \is_inverse
    vand.vi v18, \here, .L_WALNUT_LOW
    vrgather.vv v20, v16, v18
    vsrl.vi v18, \here, 4
    vor.vx v18, v18, a4
    vrgather.vv v22, v16, v18
    vxor.vv \here, v20, v22
.endm

.macro WALNUT_V_128_CONSTANT
.endm
.macro WALNUT_V_256_CONSTANT
    li    a4, .L_WALNUT_V_HALF
.endm

.irp level, 128, 256
.macro WALNUT_V_\level\()_POSITIVE left, here, right, value, next
    WALNUT_VECTOR_POSITIVE WALNUT_V_PRODUCT_\level, "\left", \here, \right, \value
.endm
.macro WALNUT_V_\level\()_INVERSE left, here, right, value, next
    WALNUT_VECTOR_INVERSE WALNUT_V_PRODUCT_\level, "\left", \here, \right, \next
.endm
.endr

HARTLOCK_FUNCTION hartlock_walnut128_rv64_v, +v
    WALNUT_KERNEL WALNUT_V_128, WALNUT_V, 6, v0, v2, v4, v6, v8, v10, v12, v14
HARTLOCK_FUNCTION_END hartlock_walnut128_rv64_v

HARTLOCK_FUNCTION hartlock_walnut256_rv64_v, +v
    WALNUT_KERNEL WALNUT_V_256, WALNUT_V, 7, v0, v2, v4, v6, v8, v10, v12, v14
HARTLOCK_FUNCTION_END hartlock_walnut256_rv64_v
