//! Passes the linker script on: that of a program that is alone on a hart, at the start of memory. It finds
//! the memory of the board through this, too.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../bench/link.ld");
    println!("cargo:rerun-if-changed=../bench/link.ld");
}
