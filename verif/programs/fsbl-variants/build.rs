//! Passes the linker script of the first-stage loader on.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../../device/fsbl/link.ld");
    println!("cargo:rerun-if-changed=../../../device/fsbl/link.ld");
}
