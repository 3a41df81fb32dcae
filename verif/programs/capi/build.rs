//! Passes the linker script of the bench and the folder of the board's memory map to the linker.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../bench/link.ld");
    println!("cargo:rerun-if-changed=../bench/link.ld");
    println!("cargo:rerun-if-changed={board}/memory.ld");
}
