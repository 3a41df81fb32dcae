//! Passes the linker script to the linker, which is that of a program without other software on the hart, at the start
//! of RAM, and also the folder of the board's memory map.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../bench/link.ld");
    println!("cargo:rerun-if-changed=../bench/link.ld");
}
