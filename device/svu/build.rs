//! Passes the folder of the linker scripts to programs, in DEP_HARTLOCK_VERIFICATION_UNIT_FOLDER.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::metadata=folder={folder}");
    println!("cargo::rerun-if-changed=build.rs");
}
