// Macros of probes. This file has no code.

.ifndef .L_HARTLOCK_PROBE_MACROS
.set .L_HARTLOCK_PROBE_MACROS, 1

// This traps if vector registers have fewer than 128 bits, which the kernels require.
.macro NEED_128_BITS
    csrr  t0, vlenb
    li    t1, 16
    bgeu  t0, t1, .L_wide_\@
    unimp
.L_wide_\@:
.endm

.endif
