//! The jobs on the board, one module for each.

pub mod kat;
pub mod kernels;
pub mod vectors;
