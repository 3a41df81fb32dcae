//! Passes the linker script of the bench and the folder of the board's memory map to the linker, for the program that
//! runs on a hart.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").unwrap_or_default();
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|target| target == "riscv64") {
        println!("cargo:rustc-link-arg-bin=timing=-L{board}");
        println!("cargo:rustc-link-arg-bin=timing=-T{folder}/../bench/link.ld");
    }
    println!("cargo:rerun-if-changed=../bench/link.ld");
    println!("cargo:rerun-if-changed={board}/memory.ld");
}
