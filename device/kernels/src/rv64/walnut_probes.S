// void hartlock_probe_zbc(void);
// void hartlock_probe_v(void);
// void hartlock_probe_zvbc(void);
//
// Probes for the kernels of WalnutDSA, in the way of probes.S: each executes once the instructions of the extension in
// its name that the kernels use. That of Zvbc needs V too. Include frame_macros.S and probe_macros.S before this file.
//
//   clobber t0, t1; the vector probes also v0-v4, vl and vtype

HARTLOCK_FUNCTION hartlock_probe_zbc, +zbc
    li    t0, 1
    clmul t1, t0, t0
    clmulh t1, t0, t0
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zbc

HARTLOCK_FUNCTION hartlock_probe_v, +v
    NEED_128_BITS
    vsetivli zero, 16, e8, m2, ta, ma
    vmv.v.i v0, 1
    vrgather.vv v2, v0, v0
    ret
HARTLOCK_FUNCTION_END hartlock_probe_v

HARTLOCK_FUNCTION hartlock_probe_zvbc, +v, +zvbc
    vsetivli zero, 1, e64, m1, ta, ma
    vmv.v.i v0, 1
    li    t0, 1
    vclmul.vx v1, v0, t0
    vclmulh.vx v1, v0, t0
    ret
HARTLOCK_FUNCTION_END hartlock_probe_zvbc
