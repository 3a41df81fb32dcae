//! Collects the board descriptions in `device/boards/`. Every folder there with a description is a board; no other
//! list exists.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let folder = root.join("../../device/boards");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let file = entry?.path().join("board.toml");
        if file.is_file() {
            files.push(file.canonicalize()?);
        }
    }
    files.sort();
    let mut list = "[".to_owned();
    for file in files {
        let _ = write!(list, "include_str!({file:?}), ");
    }
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(Path::new(&out).join("descriptions.rs"), list + "].as_slice()")
}
