//! Collects the memory maps of the boards. Every folder here with a generated map is a board; no other list exists.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    println!("cargo::rerun-if-changed={}", root.display());
    let mut boards = Vec::new();
    for entry in fs::read_dir(&root)? {
        let folder = entry?.path();
        if folder.join(MAP).is_file()
            && let Some(name) = folder.file_name().and_then(|name| name.to_str())
        {
            boards.push(name.replace('-', "_"));
        }
    }
    boards.sort();
    let mut modules = String::new();
    for board in &boards {
        let file = root.join(board.replace('_', "-")).join(MAP);
        let _ = writeln!(modules, "#[path = {file:?}]\n#[rustfmt::skip]\npub mod {board};");
    }
    let _ = write!(modules, "/// The maps of all boards.\npub const ALL: &[Board<'_>] = &[");
    for board in &boards {
        let _ = write!(modules, "{board}::BOARD, ");
    }
    modules.push_str("];\n");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(Path::new(&out).join("maps.rs"), modules)
}

/// The generated map of a board, in its folder.
const MAP: &str = "generated/map.rs";
