//! What there is at which speed of the engines.

/// Whether a block takes as long as in the paper's engines.
pub const IS_SLOW: bool = !cfg!(feature = "own-speed");

/// DMA, with which other speeds are compared, reads the host's memory alone.
pub fn is_left_out(memory: &str) -> bool {
    !IS_SLOW && memory != "ram"
}
