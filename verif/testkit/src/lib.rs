//! Bundles and first-stage images, right ones and ones with one fault; fake keys; odd signatures; signatures of other signers.
//!
//! Unit tests, fuzz targets, campaigns on devices and the generator of `spec/vectors` share them. None of
//! the keys is a secret.

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
pub mod signed;
pub mod signers;

/// The root of the checkout.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
