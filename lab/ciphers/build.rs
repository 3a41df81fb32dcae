//! Passes the linker script to the linker, and the folders of the static libraries.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let board = std::env::var("DEP_HARTLOCK_BOARD_FOLDER").expect("hartlock-virt says it");
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../verif/programs/bench/link.ld");
    for (variable, library) in [("HARTLOCK_BEARSSL", "bearssl"), ("HARTLOCK_OPENSSL", "crypto")] {
        println!("cargo:rerun-if-env-changed={variable}");
        let folder = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names the folder of lib{library}.a; use `make lab`")
        });
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rerun-if-changed={folder}/lib{library}.a");
        println!("cargo:rustc-link-lib=static:-bundle={library}");
        // Linux' kernels are beside OpenSSL's if they are installed.
        if library == "crypto" {
            let archive = format!("{folder}/liblinux.a");
            println!("cargo:rustc-check-cfg=cfg(linux)");
            println!("cargo:rerun-if-changed={archive}");
            if std::fs::exists(archive).is_ok_and(|it| it) {
                println!("cargo:rustc-cfg=linux");
                println!("cargo:rustc-link-lib=static:-bundle=linux");
            }
        }
    }
}
