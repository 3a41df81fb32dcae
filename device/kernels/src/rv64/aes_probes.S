// void hartlock_probe_zkne(void);
// void hartlock_probe_zkne_zbkc(void);
// void hartlock_probe_zvkned(void);
// void hartlock_probe_zvkned_zvbc(void);
// void hartlock_probe_zvkned_zvkg(void);
//
// Probes for the kernels of AES, in the way of probes.S: each executes once the instructions of the extensions in its
// name, and of the subsets of bit manipulation that all of those kernels need, Zbkb or Zvkb. The vector probes also
// trap if vector registers are longer than the known answers allow for (device/kernels/src/aes/known.rs). Include
// frame_macros.S and probe_macros.S before this file.
//
//   clobber t0, t1; the vector probes also v0-v15, vl and vtype

// Length in bytes of the longest vector register for which known answers fill every loop.
.set .L_AES_MAX_VLENB, 1024 / 8

.macro AES_PROBE_ZKNE
    li    t0, 1
    rev8  t1, t0
    aes64es t1, t0, t1
    aes64esm t1, t0, t1
    aes64ks1i t1, t0, 0
    aes64ks2 t1, t0, t1
.endm

.macro AES_PROBE_ZVKNED
    NEED_128_BITS
    li    t1, .L_AES_MAX_VLENB
    bgeu  t1, t0, .L_aes_narrow_\@
    unimp
.L_aes_narrow_\@:
    vsetivli zero, 4, e32, m1, ta, ma
    vmv.v.i  v0, 1
    vrev8.v  v1, v0
    vaesz.vs v1, v0
    vaesem.vs v1, v0
    vaesef.vs v1, v0
    vaeskf1.vi v1, v0, 1
    vaeskf2.vi v1, v0, 2
.endm

HARTLOCK_FUNCTION hartlock_probe_zkne, +zbkb, +zkne
    AES_PROBE_ZKNE
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zkne

HARTLOCK_FUNCTION hartlock_probe_zkne_zbkc, +zbkb, +zkne, +zbkc
    AES_PROBE_ZKNE
    brev8 t1, t0
    clmul t1, t1, t0
    clmulh t1, t1, t0
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zkne_zbkc

HARTLOCK_FUNCTION hartlock_probe_zvkned, +v, +zvkb, +zvkned
    AES_PROBE_ZVKNED
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zvkned

HARTLOCK_FUNCTION hartlock_probe_zvkned_zvbc, +v, +zvkb, +zvkned, +zvbc
    AES_PROBE_ZVKNED
    vsetivli zero, 2, e64, m1, ta, ma
    vbrev8.v v1, v0
    vclmul.vv v2, v1, v0
    vclmulh.vv v2, v1, v0
    vclmul.vx v2, v1, t0
    vclmulh.vx v2, v1, t0
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zvkned_zvbc

HARTLOCK_FUNCTION hartlock_probe_zvkned_zvkg, +v, +zvkb, +zvkned, +zvkg
    AES_PROBE_ZVKNED
    vmv.v.v  v2, v0
    vgmul.vv v2, v0
    vghsh.vv v2, v0, v1
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zvkned_zvkg
