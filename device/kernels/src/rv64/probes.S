// void hartlock_probe_<extension>(void);
// size_t hartlock_vlenb(void);
//
// Each probe executes once the instructions of an extension that the kernels use, and returns. On a
// hart without the extension it traps, and its caller detects the trap
// (device/kernels/src/rv64.rs). The results are not used, because known-answer tests follow.
//
// Each probe needs the extension in its name: Zbb, Zknh, Zvkb, Zvknha or Zvknhb. The vector probes
// also need V, and the one of lanes needs nothing else. The probes access no memory and use no stack.
// Include probe_macros.S before this file.
//
//   clobber t0, t1; the vector probes also v0-v15, vl and vtype

.pushsection .text.hartlock_probes, "ax", @progbits

// --- Zbb ---------------------------------------------------------------------------------------

.option push
.option arch, +zbb
.globl hartlock_probe_zbb
.hidden hartlock_probe_zbb
.balign 4
hartlock_probe_zbb:
    li    t0, 1
    rori  t1, t0, 1
    roriw t1, t0, 1
    rev8  t1, t1
    andn  t1, t1, t0
    ret
.option pop

// --- Zknh, with Zbb ----------------------------------------------------------------------------

.option push
.option arch, +zbb, +zknh
.globl hartlock_probe_zknh
.hidden hartlock_probe_zknh
.balign 4
hartlock_probe_zknh:
    li    t0, 1
    rev8  t1, t0
    sha256sig0 t1, t0
    sha256sig1 t1, t0
    sha256sum0 t1, t0
    sha256sum1 t1, t0
    sha512sig0 t1, t0
    sha512sig1 t1, t0
    sha512sum0 t1, t0
    sha512sum1 t1, t0
    ret
.option pop

// --- vectors -----------------------------------------------------------------------------------

.option push
.option arch, +v, +zvkb, +zvknhb

.globl hartlock_vlenb
.hidden hartlock_vlenb
.balign 4
hartlock_vlenb:
    csrr  a0, vlenb
    ret

.globl hartlock_probe_lanes
.hidden hartlock_probe_lanes
.balign 4
hartlock_probe_lanes:
    NEED_128_BITS
    vsetivli zero, 2, e64, m1, ta, ma
    vmv.v.i  v0, 1
    vsll.vi  v1, v0, 1
    vsrl.vx  v2, v0, t0
    vand.vv  v2, v1, v0
    vadd.vv  v3, v1, v0
    ret

.globl hartlock_probe_zvkb
.hidden hartlock_probe_zvkb
.balign 4
hartlock_probe_zvkb:
    NEED_128_BITS
    vsetivli zero, 2, e64, m1, ta, ma
    vmv.v.i  v0, 1
    vror.vi  v1, v0, 1
    vandn.vv v2, v1, v0
    vrev8.v  v3, v2
    vsetivli zero, 4, e32, m1, ta, ma
    vror.vi  v1, v0, 1
    vrev8.v  v3, v2
    ret

.globl hartlock_probe_zvknha
.hidden hartlock_probe_zvknha
.balign 4
hartlock_probe_zvknha:
    NEED_128_BITS
    // An element group has four words of 32 bits.
    vsetivli zero, 4, e32, m1, ta, ma
    vmv.v.i  v0, 1
    vrev8.v  v1, v0
    vmv.v.v  v2, v0
    vmv.v.v  v3, v0
    vsha2ms.vv v1, v2, v3
    vsha2cl.vv v1, v2, v3
    vsha2ch.vv v1, v2, v3
    ret

.globl hartlock_probe_zvknhb
.hidden hartlock_probe_zvknhb
.balign 4
hartlock_probe_zvknhb:
    NEED_128_BITS
    // The element group has four words of 64 bits. At VLEN 128 it occupies two registers.
    vsetivli zero, 4, e64, m2, ta, ma
    vmv.v.i  v0, 1
    vrev8.v  v4, v0
    vmv.v.v  v8, v0
    vmv.v.v  v12, v0
    vsha2ms.vv v4, v8, v12
    vsha2cl.vv v4, v8, v12
    vsha2ch.vv v4, v8, v12
    ret
.option pop
.popsection
