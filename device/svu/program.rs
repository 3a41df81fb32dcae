//! The build script of each stage. It selects the linker script with the name of the stage.

fn main() {
    let name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let stage = name.trim_start_matches("hartlock-");
    let folder = std::env::var("DEP_HARTLOCK_VERIFICATION_UNIT_FOLDER").unwrap_or_default();
    println!("cargo::rustc-link-arg-bins=-L{folder}");
    println!("cargo::rustc-link-arg-bins=-T{folder}/{stage}.ld");
    for script in [stage, "link"] {
        println!("cargo::rerun-if-changed={folder}/{script}.ld");
    }
}
