//! Selects the board. No other file does this: everything else follows from the files that are generated from the
//! board's description (device/boards/README.md).

use std::path::Path;

/// The modules that have several implementations, and the names of those.
const FORMS: [(&str, &str); 4] = [
    ("clock", r#""cycles", "time""#),
    ("dma", r#""iommu", "open""#),
    ("environment", r#""bare", "supervisor""#),
    ("storage", r#""bench", "virtio", "virtio-pci""#),
];

fn main() {
    println!("cargo::rerun-if-env-changed=HARTLOCK_BOARD");
    let named = std::env::var("HARTLOCK_BOARD").ok().filter(|name| !name.is_empty());
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let board = match (has("TEE"), has("SOC")) {
        (true, _) => "hartlock-tee".into(),
        (false, true) => "hartlock-soc".into(),
        (false, false) => named.unwrap_or("qemu-virt".into()),
    };

    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("../boards").join(&board).join("generated");
    let forms = std::fs::read_to_string(folder.join("forms")).unwrap_or_else(|error| {
        panic!("no board {board}, or `hartlock-gen boards` did not run: {error}")
    });
    println!("cargo::rerun-if-changed={}", folder.display());
    for (kind, values) in FORMS {
        println!("cargo::rustc-check-cfg=cfg({kind}, values({values}))");
    }
    for (kind, form) in forms.lines().filter_map(|line| line.split_once('=')) {
        println!("cargo::rustc-cfg={kind}=\"{form}\"");
    }
    println!("cargo::rustc-env=HARTLOCK_BOARD_CONSTANTS={}", folder.join("board.rs").display());
    // The linker scripts of programs, which include memory.ld, get this folder as DEP_HARTLOCK_BOARD_FOLDER.
    println!("cargo::metadata=folder={}", folder.display());
}
