//! Bundles are built, signed, verified and inspected through the public interface.
//!
//! One program, because linking each file by itself costs more than running it.

mod build;
mod common;
mod fields;
mod inspect;
mod keys;
mod tampering;
