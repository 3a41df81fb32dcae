//! Chooses the board whose root of trust programs are built for: the only place that does.

use std::path::Path;

/// Only one board has a root of trust.
const BOARD: &str = "hartlock-soc";

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("../boards").join(BOARD).join("generated");
    let constants = folder.join("root-of-trust.rs");
    println!("cargo::rerun-if-changed={}", constants.display());
    println!("cargo::rustc-env=HARTLOCK_ROOT_OF_TRUST_CONSTANTS={}", constants.display());
    // For the linker script, which includes root-of-trust.ld: DEP_HARTLOCK_ROOT_OF_TRUST_FOLDER.
    println!("cargo::metadata=folder={}", folder.display());
}
