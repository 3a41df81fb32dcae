//! The fuzz targets. A target is a function of bytes that returns normally if all rules hold, and panics if one is
//! violated. The module of a target states its rules.
//!
//! Two programs link this crate: the engine of `verif/fuzz/`, in which everything is instrumented, and `fuzz-replay`, which
//! runs the targets on the stored corpus in a normal build.

// This crate has no unit tests, and those in the source files that are included below belong to `hartlock-verify`.
#![cfg(not(test))]
#![allow(
    missing_docs,
    reason = "for the programs of this project alone; names and types say the rest"
)]

mod choices;
mod draft;
mod facts;
mod files;
mod hashes;
mod keys;
mod looks;
mod medium;
mod numbers;
mod options;
mod python;
mod signed;
pub mod targets;

// The check and the redundant check are private to `hartlock-verify`, and its public functions never run only one of
// them. Their sources are compiled here too, so that `looks` can call each (see `looks.rs`).
use hartlock_verify::board;
#[path = "../../../../device/verify/src/acceptance.rs"]
#[allow(dead_code, reason = "the workstation's constructor is not needed here")]
#[rustfmt::skip]
mod acceptance;
#[path = "../../../../device/verify/src/recheck.rs"]
#[rustfmt::skip]
mod recheck;
