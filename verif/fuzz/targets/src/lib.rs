//! The fuzz targets. A target is a function of bytes that returns if all is well and panics if a rule is broken; its
//! module states the rule.
//!
//! Two programs link them: the engine of `verif/fuzz/`, where everything is instrumented, and `fuzz-replay`, which runs them
//! over the stored corpus as any other program is built.

// This crate has no unit tests, and those of the sources that it borrows below belong to `hartlock-verify`.
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

// The check and the redundant check are private to `hartlock-verify`, and its flow never runs one
// without the other. Their sources are compiled here too, so that `looks` can: see `looks.rs`.
use hartlock_verify::board;
#[path = "../../../../device/verify/src/acceptance.rs"]
#[allow(dead_code, reason = "the workstation's constructor is not needed here")]
#[rustfmt::skip]
mod acceptance;
#[path = "../../../../device/verify/src/recheck.rs"]
#[rustfmt::skip]
mod recheck;
