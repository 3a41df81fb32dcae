//! What is measured at which speed of the engines, which the machine has.

/// The machine has the speed of the paper's engines, and what the paper measures is measured.
pub const IS_OF_PAPER: bool = !cfg!(feature = "own-speed");

/// DMA, with which other speeds are compared, reads the host's memory alone.
pub fn is_left_out(memory: &str) -> bool {
    !IS_OF_PAPER && memory != "ram"
}
