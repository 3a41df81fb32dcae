//! The selection of measurements according to the speed of the machine's engines.

/// True if the engines have the speed of the paper's engines, so that the paper's measurements are
/// repeated.
pub const IS_OF_PAPER: bool = !cfg!(feature = "own-speed");

/// Returns true if this memory is not measured. Other speeds are compared with DMA, which reads
/// only the host's memory.
pub fn is_left_out(memory: &str) -> bool {
    !IS_OF_PAPER && memory != "ram"
}
