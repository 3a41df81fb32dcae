//! Passes the linker script to the linker.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").expect("hartlock-virt says it");
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../verif/programs/bench/link.ld");
}
