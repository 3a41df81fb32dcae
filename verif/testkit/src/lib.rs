//! Test material: bundles and first-stage images, valid ones and ones with a single fault; published keys; unusual
//! signatures; signatures by other implementations.
//!
//! Unit tests, fuzz targets, campaigns on devices and the generator of `spec/vectors` share it. None of the keys is
//! secret.

#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]
#![forbid(unsafe_code)]

use std::path::PathBuf;

pub mod attacks;
pub mod bundle;
pub mod catalogue;
pub mod ed25519;
pub mod expected;
pub mod first_stage;
pub mod generator;
pub mod keys;
pub mod leaks;
pub mod signed;
pub mod signers;
pub mod system_trees;
pub mod trees;

/// Returns the root of the checkout.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
