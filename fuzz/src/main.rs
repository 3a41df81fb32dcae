//! The fuzz targets, in one program: libFuzzer runs the one that `HARTLOCK_FUZZ_TARGET` names.
//!
//! One program, because linking and instrumenting is what costs. A target is a function of bytes
//! that returns if all is well and panics if a rule is broken; its module states the rule.
//! `cargo xtask fuzz` builds, runs and counts; README.md says how to work with what it finds.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

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
mod targets;

// The check and the redundant check are private to `hartlock-verify`, and its flow never runs one
// without the other. Their sources are compiled here too, so that `looks` can: see `looks.rs`.
use hartlock_verify::board;
#[path = "../../crates/verify/src/acceptance.rs"]
#[allow(dead_code, reason = "the workstation's constructor is not needed here")]
#[rustfmt::skip]
mod acceptance;
#[path = "../../crates/verify/src/recheck.rs"]
#[rustfmt::skip]
mod recheck;

/// The variable that chooses the target.
const TARGET: &str = "HARTLOCK_FUZZ_TARGET";

static CHOSEN: OnceLock<targets::Run> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var(TARGET).unwrap_or_default();
        let Some((_, run)) = targets::ALL.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = targets::ALL.iter().map(|(name, _)| *name).collect();
            // What `cargo xtask fuzz` compares with its own list.
            println!("{}", names.join(" "));
            std::process::exit(if name == "list" { 0 } else { 2 });
        };
        let _ = CHOSEN.set(*run);
    },
    |data: &[u8]| {
        if let Some(run) = CHOSEN.get() {
            run(data);
        }
    }
);
