//! The statement of a boot stage in its image, about its signature algorithms (boot flow §5.5).

use hartlock_kernels::signature::CARRIED;

/// The signature algorithms that a stage carries. Tools on a workstation read this from the image; no stage does.
#[derive(Debug)]
#[repr(C)]
pub struct Statement {
    tag: [u8; 16],
    /// Bit i stands for algorithm number i of image format §2.2.
    algorithms: u64,
}

impl Statement {
    /// Tag of the statement of a loader.
    pub const LOADER: &[u8; 16] = b"HARTLOCK-CARRIES";
    /// Tag of the statement of a ROM.
    pub const ROM: &[u8; 16] = b"HARTLOCK-ROM-HAS";

    /// Makes the statement of the stage that is compiled.
    pub const fn of(tag: &[u8; 16]) -> Self {
        Self { tag: *tag, algorithms: CARRIED }
    }
}
