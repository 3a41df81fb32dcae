//! Passes the linker script to the linker, and the folder of the libraries to programs that link
//! one.

use std::env;

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let board = env::var("DEP_HARTLOCK_BOARD_FOLDER").expect("hartlock-virt says it");
    println!("cargo:rustc-link-arg-bins=-L{board}");
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../../verif/programs/footprint/link.ld");
    for (feature, library) in [("OPENSSL", "crypto"), ("WOLFSSL", "wolfssl"), ("AWS_LC", "aws-lc")]
    {
        if env::var_os(format!("CARGO_FEATURE_{feature}")).is_some() {
            println!("cargo:rerun-if-env-changed=HARTLOCK_PEERS_LIBRARIES");
            let libraries = env::var("HARTLOCK_PEERS_LIBRARIES")
                .expect("HARTLOCK_PEERS_LIBRARIES names the folder of libcrypto.a; use xtask");
            println!("cargo:rustc-link-search=native={libraries}");
            println!("cargo:rerun-if-changed={libraries}/lib{library}.a");
            println!("cargo:rustc-link-lib=static:-bundle={library}");
        }
    }
}
