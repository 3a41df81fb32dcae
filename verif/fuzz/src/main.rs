//! All fuzz targets of `targets/` in one program. libFuzzer runs the target that `HARTLOCK_FUZZ_TARGET`
//! names.
//!
//! There is one program because linking and instrumentation take most of the build time. `cargo xtask fuzz`
//! builds and runs it; `README.md` describes how to work with its findings.

#![no_main]

use std::sync::OnceLock;

use hartlock_fuzz_targets::targets;
use libfuzzer_sys::fuzz_target;

/// Environment variable that selects the target.
const TARGET: &str = "HARTLOCK_FUZZ_TARGET";

static CHOSEN: OnceLock<targets::Run> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var(TARGET).unwrap_or_default();
        let Some((_, run)) = targets::ALL.iter().find(|(known, _)| *known == name) else {
            let names: Vec<_> = targets::ALL.iter().map(|(name, _)| *name).collect();
            // `cargo xtask fuzz` compares this list with its own.
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
