//! Of the engines that can wait.

/// Whether a block takes as long as in the paper's engines.
pub const IS_SLOW: bool = !cfg!(feature = "own-speed");
