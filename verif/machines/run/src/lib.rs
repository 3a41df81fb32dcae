//! Runs the cycle-accurate simulated machines (`hw/README.md`) and the test benches of the engines.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![deny(clippy::print_stdout, reason = "xtask::output: a closed pipe is no failure")]

#[macro_use]
extern crate xtask;

mod assertion;
pub mod ip;
pub mod machines;
mod parallel;
mod rtl;
mod units;

/// Returns the seed of random inputs and of samples, so that a failure is reproducible. `HARTLOCK_SEED` sets another one
/// than 1.
fn seed() -> String {
    std::env::var("HARTLOCK_SEED").unwrap_or_else(|_| "1".to_owned())
}
