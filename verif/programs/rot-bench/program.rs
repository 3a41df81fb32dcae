//! The build script of each test program of the root of trust. It passes the linker script and the folder of the
//! board's memory map to the linker.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_ROOT_OF_TRUST_FOLDER").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../../device/rot/link.ld");
    println!("cargo:rerun-if-changed=../../../device/rot/link.ld");
    println!("cargo:rerun-if-changed={board}/root-of-trust.ld");
}
