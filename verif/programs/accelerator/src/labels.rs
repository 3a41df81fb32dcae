//! Labels for tools that read the trace of a run (`lab/papers/opentitan-accelerator/labels.rs`).
//!
//! A label is not an instruction. It is a pair of words in a section that is not loaded: an address and a number. The
//! label applies to all instructions that retire from this address on until the next label.

/// Numbers of the labels; 0 ends the previous label.
pub const NONE: u32 = 0;
pub const CONFIG: u32 = 1;
#[cfg(not(feature = "ciphers"))]
pub const DIGEST: u32 = 2;
pub const WAIT: u32 = 3;
#[cfg(not(feature = "ciphers"))]
pub const FINAL: u32 = 4;
#[cfg(feature = "ciphers")]
pub const CIPHER: u32 = 5;

/// Sets a label that applies from this place on.
macro_rules! label {
    ($number:expr) => {
        // SAFETY: the statement adds no instruction and no loaded data. The compiler moves no memory access across it.
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
