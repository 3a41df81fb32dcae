//! Runs the cycle-accurate machines (`hw/README.md`), the benches of the engines, and their guide.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]

pub mod guide;
pub mod ip;
pub mod machines;
mod rtl;
