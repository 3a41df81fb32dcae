//! Passes the linker script of the root of trust on.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo:rustc-link-arg-bins=-T{folder}/../../rot/link.ld");
    println!("cargo:rerun-if-changed=../../rot/link.ld");
}
