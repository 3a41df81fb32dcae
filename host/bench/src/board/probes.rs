//! One instruction of each extension, executed in a child process: without the extension it ends by SIGILL.

use core::arch::asm;

use super::system::{self, End};

/// Signal of an instruction that the processor or Linux does not let pass.
const SIGILL: i32 = 4;

/// What a probe has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// The instruction was executed.
    Works,
    /// The instruction was refused.
    Traps,
    /// The child could not be started, or ended in another way.
    Failed,
}

impl Probed {
    pub const fn name(self) -> &'static str {
        match self {
            Probed::Works => "works",
            Probed::Traps => "traps",
            Probed::Failed => "failed",
        }
    }

    /// Returns what the end of a child shows.
    pub const fn of(end: Option<End>) -> Self {
        match end {
            Some(End::Code(0)) => Self::Works,
            Some(End::Signal(SIGILL)) => Self::Traps,
            _ => Self::Failed,
        }
    }
}

/// The results of all probes, and the length of a vector register in bits, or 0.
pub struct Probes {
    pub extensions: [(&'static str, Probed); EXTENSIONS.len()],
    pub vlen: u32,
}

/// A probe. It changes at most t0, t1, vector registers and their settings.
type Run = fn();

macro_rules! probe {
    ($name:literal, $arch:literal, $($line:literal),+) => {{
        fn run() {
            // SAFETY: the instructions change the registers named here; a trap ends the child.
            unsafe {
                asm!(
                    ".option push",
                    concat!(".option arch, ", $arch),
                    $($line,)+
                    ".option pop",
                    out("t0") _, out("t1") _,
                    out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                    out("v4") _, out("v8") _, options(nostack),
                );
            }
        }
        ($name, run as Run)
    }};
}

/// The extensions that kernels need, or for which some may be written. Zkt and Zvkt cannot be seen by a trap.
const EXTENSIONS: [(&str, Run); 17] = [
    probe!("zba", "+zba", "sh1add t0, t0, t1"),
    probe!("zbb", "+zbb", "rev8 t0, t1"),
    probe!("zbc", "+zbc", "clmulr t0, t0, t1"),
    probe!("zbkb", "+zbkb", "brev8 t0, t1"),
    probe!("zbkc", "+zbkc", "clmulh t0, t0, t1"),
    probe!("zbkx", "+zbkx", "xperm8 t0, t0, t1"),
    probe!("zknd", "+zknd", "aes64dsm t0, t0, t1"),
    probe!("zkne", "+zkne", "aes64esm t0, t0, t1"),
    probe!("zknh", "+zknh", "sha512sum0 t0, t1"),
    probe!("v", "+v", "vsetivli t0, 4, e32, m1, ta, ma", "vxor.vv v1, v1, v1"),
    probe!("zvbb", "+v,+zvbb", "vsetivli t0, 4, e32, m1, ta, ma", "vclz.v v1, v1"),
    probe!("zvbc", "+v,+zvbc", "vsetivli t0, 2, e64, m1, ta, ma", "vclmul.vv v1, v1, v2"),
    probe!("zvkb", "+v,+zvkb", "vsetivli t0, 4, e32, m1, ta, ma", "vror.vi v1, v1, 3"),
    probe!("zvkg", "+v,+zvkg", "vsetivli t0, 4, e32, m1, ta, ma", "vghsh.vv v1, v2, v3"),
    probe!("zvkned", "+v,+zvkned", "vsetivli t0, 4, e32, m1, ta, ma", "vaesem.vv v1, v2"),
    probe!("zvknha", "+v,+zvknha", "vsetivli t0, 4, e32, m1, ta, ma", "vsha2ch.vv v1, v2, v3"),
    // With 64-bit words a group has 256 bits, for which two registers are enough at every length.
    probe!("zvknhb", "+v,+zvknhb", "vsetivli t0, 4, e64, m2, ta, ma", "vsha2ch.vv v4, v8, v2"),
];

/// Probes every extension.
pub fn all() -> Probes {
    let extensions =
        EXTENSIONS.map(|(name, run)| (name, Probed::of(system::in_child(|| done(run)))));
    let has_vectors = extensions.contains(&("v", Probed::Works));
    Probes { extensions, vlen: if has_vectors { vlen() } else { 0 } }
}

/// Does a probe in the child, and returns its exit code.
pub fn done(run: impl FnOnce()) -> i32 {
    run();
    0
}

/// Returns the length of a vector register in bits. The child tells its logarithm, so that no instruction of the
/// extension is executed here.
fn vlen() -> u32 {
    let end = system::in_child(|| {
        let bytes: usize;
        // SAFETY: the instruction reads the register `vlenb`.
        unsafe { asm!("csrr {}, 0xc22", out(reg) bytes, options(nomem, nostack)) };
        bytes.trailing_zeros().cast_signed()
    });
    match end {
        Some(End::Code(log @ 3..=13)) => 8 << log,
        _ => 0,
    }
}
