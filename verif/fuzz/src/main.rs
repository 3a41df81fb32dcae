//! The fuzz targets of `targets/`, in one program: libFuzzer runs the one that `HARTLOCK_FUZZ_TARGET` names.
//!
//! One program, because linking and instrumenting is what costs. `cargo xtask fuzz` builds, runs and counts;
//! README.md says how to work with what it finds.

#![no_main]

use std::sync::OnceLock;

use hartlock_fuzz_targets::targets;
use libfuzzer_sys::fuzz_target;

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
