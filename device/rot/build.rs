//! Selects the board for programs of the root of trust. No other file does this.

use std::path::Path;

/// Name of the only board that has a root of trust.
const BOARD: &str = "hartlock-soc";

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("../boards").join(BOARD).join("generated");
    let constants = folder.join("root-of-trust.rs");
    println!("cargo::rerun-if-changed={}", constants.display());
    println!("cargo::rustc-env=HARTLOCK_ROOT_OF_TRUST_CONSTANTS={}", constants.display());
    // The linker script, which includes root-of-trust.ld, gets this folder as
    // DEP_HARTLOCK_ROOT_OF_TRUST_FOLDER.
    println!("cargo::metadata=folder={}", folder.display());
}
