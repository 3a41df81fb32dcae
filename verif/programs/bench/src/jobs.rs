//! The jobs on the board, one module for each.

pub mod ciphers;
pub mod crew;
pub mod first_stage;
pub mod kat;
pub mod kernels;
mod taken;
pub mod vectors;
pub mod walnut;
