//! Passes the linker script to the linker, and the folder with the static libraries.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    // Memory is at the same place on both boards.
    println!("cargo:rustc-link-arg-bins=-L{folder}/../../device/boards/qemu-virt/generated");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../verif/programs/bench/link.ld");
    println!("cargo:rerun-if-env-changed=HARTLOCK_PEERS_LIBRARIES");
    let libraries = std::env::var("HARTLOCK_PEERS_LIBRARIES")
        .expect("HARTLOCK_PEERS_LIBRARIES names the folder of libcrypto.a; use `make lab`");
    println!("cargo:rustc-link-search=native={libraries}");
    for library in ["crypto", "wolfssl", "aws-lc"] {
        println!("cargo:rerun-if-changed={libraries}/lib{library}.a");
        println!("cargo:rustc-link-lib=static:-bundle={library}");
    }
    // Linux' kernels are there for harts with Zvknh, if they are installed.
    let archive = format!("{libraries}/liblinux.a");
    println!("cargo:rustc-check-cfg=cfg(linux)");
    println!("cargo:rerun-if-changed={archive}");
    if std::fs::exists(archive).is_ok_and(|it| it) {
        println!("cargo:rustc-cfg=linux");
        println!("cargo:rustc-link-lib=static:-bundle=linux");
    }
}
