//! Passes the linker script of the root of trust and the folder of its memory map to the linker.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_ROOT_OF_TRUST_FOLDER").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../rot/link.ld");
    println!("cargo:rerun-if-changed=../rot/link.ld");
    println!("cargo:rerun-if-changed={board}/root-of-trust.ld");
}
