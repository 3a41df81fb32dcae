//! The extensions that the hart executes, each tried in a child process.

use core::arch::global_asm;

use super::linux::{End, in_child};

/// A function without arguments that executes some instructions.
pub type Instructions = unsafe extern "C" fn();

/// Seconds for which a probe may run, which takes a moment.
const PATIENCE: u64 = 5;

/// Returns true if the instructions run to their end in a child.
pub fn runs(instructions: Instructions) -> bool {
    // SAFETY: the function uses no memory, and if an instruction does not exist, only the child is ended.
    in_child(PATIENCE, || unsafe { instructions() }) == End::Code(0)
}

macro_rules! probes {
    ($(($function:ident, $name:literal, $arch:literal, $($line:literal),+))+) => {
        global_asm!(
            ".pushsection .text.bench_probes, \"ax\", @progbits",
            $(
                ".option push",
                concat!(".option arch, ", $arch),
                ".balign 4",
                concat!(stringify!($function), ":"),
                $($line,)+
                "ret",
                ".option pop",
            )+
            ".popsection",
        );
        unsafe extern "C" {
            $(fn $function();)+
        }
        /// The probes, by the names of their extensions.
        pub const PROBES: &[(&str, Instructions)] = &[$(($name, $function)),+];
    };
}

probes! {
    (bench_probe_zba, "zba", "+zba", "sh1add t0, t1, t2")
    (bench_probe_zbb, "zbb", "+zbb", "rori t0, t1, 1", "rev8 t0, t1", "andn t0, t1, t2")
    (bench_probe_zbc, "zbc", "+zbc", "clmul t0, t1, t2", "clmulr t0, t1, t2")
    (bench_probe_zbkb, "zbkb", "+zbkb", "brev8 t0, t1", "pack t0, t1, t2")
    (bench_probe_zbkc, "zbkc", "+zbkc", "clmul t0, t1, t2", "clmulh t0, t1, t2")
    (bench_probe_zkne, "zkne", "+zkne", "aes64esm t0, t1, t2", "aes64ks2 t0, t1, t2")
    (bench_probe_zknd, "zknd", "+zknd", "aes64dsm t0, t1, t2", "aes64im t0, t1")
    (bench_probe_zknh, "zknh", "+zknh", "sha256sig0 t0, t1", "sha512sum1 t0, t1")
    (bench_probe_v, "v", "+v", "vsetivli zero, 2, e64, m1, ta, ma", "vadd.vv v1, v1, v1")
    (bench_probe_zvkb, "zvkb", "+v, +zvkb", "vsetivli zero, 2, e64, m1, ta, ma", "vror.vi v1, v1, 1")
    (bench_probe_zvbb, "zvbb", "+v, +zvbb", "vsetivli zero, 2, e64, m1, ta, ma", "vclz.v v1, v1")
    (bench_probe_zvbc, "zvbc", "+v, +zvbc", "vsetivli zero, 2, e64, m1, ta, ma", "vclmul.vv v1, v1, v1")
    (bench_probe_zvkned, "zvkned", "+v, +zvkned", "vsetivli zero, 4, e32, m1, ta, ma", "vaesem.vv v1, v2")
    (bench_probe_zvkg, "zvkg", "+v, +zvkg", "vsetivli zero, 4, e32, m1, ta, ma", "vgmul.vv v1, v2")
    (bench_probe_zvknha, "zvknha", "+v, +zvknha", "vsetivli zero, 4, e32, m1, ta, ma", "vsha2ms.vv v1, v2, v3")
    (bench_probe_zvknhb, "zvknhb", "+v, +zvknhb", "vsetivli zero, 4, e64, m2, ta, ma", "vsha2ms.vv v4, v6, v8")
}

global_asm!(
    ".pushsection .text.bench_vlenb, \"ax\", @progbits",
    ".option push",
    ".option arch, +v",
    ".balign 4",
    "bench_vlenb:",
    "csrr a0, vlenb",
    "ret",
    ".option pop",
    ".popsection",
);

unsafe extern "C" {
    /// Returns the number of bytes of a vector register; traps on a hart without vectors.
    fn bench_vlenb() -> usize;
}

/// Returns the number of bits of a vector register, or 0.
pub fn vlen(has_vectors: bool) -> usize {
    if !has_vectors {
        return 0;
    }
    // SAFETY: the caller has probed the vector extension.
    unsafe { bench_vlenb() }.saturating_mul(8)
}
