//! Passes the linker script to the linker, and the folder of the library that was built from
//! BearSSL's sources.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").expect("hartlock-virt says it");
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../verif/programs/bench/link.ld");
    println!("cargo:rerun-if-env-changed=HARTLOCK_BEARSSL");
    let library = std::env::var("HARTLOCK_BEARSSL")
        .expect("HARTLOCK_BEARSSL names the folder of libbearssl.a; use `make lab`");
    println!("cargo:rustc-link-search=native={library}");
    println!("cargo:rerun-if-changed={library}/libbearssl.a");
    println!("cargo:rustc-link-lib=static:-bundle=bearssl");
}
