//! Labels for tools that read the trace of a run (`lab/papers/opentitan-accelerator/labels.rs`).
//!
//! A label is no instruction. It is a pair of words in a section that is not loaded: the address at which
//! it begins to hold, and its number. It holds for everything that retires from there on until the next.

/// Numbers of the labels; 0 ends the last one.
pub const NONE: u32 = 0;
pub const CONFIG: u32 = 1;
#[cfg(not(feature = "ciphers"))]
pub const DIGEST: u32 = 2;
pub const WAIT: u32 = 3;
#[cfg(not(feature = "ciphers"))]
pub const FINAL: u32 = 4;
#[cfg(feature = "ciphers")]
pub const CIPHER: u32 = 5;

/// From here on.
macro_rules! label {
    ($number:expr) => {
        // SAFETY: no instruction, and nothing that is loaded. The compiler moves no access to memory
        // across it.
        unsafe {
            core::arch::asm!(
                "77:",
                ".pushsection .hartlock.labels, \"\", @progbits",
                ".4byte 77b, {number}",
                ".popsection",
                number = const $number,
                options(nostack, preserves_flags),
            );
        }
    };
}

pub(crate) use label;
