//! Tests of `lab/recompute.py`, which computes headlines of stored runs from their samples.

use std::fs;
use std::process::Command;

use xtask::project;

/// The script that computes headlines from samples, on a copy of the stored runs.
#[test]
fn a_changed_sample_or_number_is_found_by_the_script() {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(project::root().join("lab/runs/latest")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let says = || {
        let mut script = Command::new("python3");
        script.arg(project::root().join("lab/recompute.py")).arg(copy.path());
        let output = script.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    assert!(says().0, "{}", says().1);
    let file = copy.path().join("vector-crypto.csv");
    let text = fs::read_to_string(&file).unwrap();
    let line =
        text.lines().find(|line| line.starts_with("hartlock,rv64,sha384,rv64,one,")).unwrap();
    fs::write(&file, text.replace(line, &format!("{line}0"))).unwrap();
    let (is_right, text) = says();
    assert!(!is_right && text.contains("vector-crypto: hash, SHA-384, rv64: "), "{text}");
    // Of a second file of samples, too.
    let file = copy.path().join("quick-boot-tee-area.csv");
    let text = fs::read_to_string(&file).unwrap();
    let core = "hartlock,\"Keccak, 2 rounds a cycle\",12";
    let line = text.lines().find(|line| line.starts_with(core)).unwrap();
    fs::write(&file, text.replace(line, &line.replacen(core, &format!("{core}0"), 1))).unwrap();
    let (_, text) = says();
    assert!(text.contains("quick-boot-tee: "), "{text}");
    // And a verdict that does not follow from its row.
    let file = copy.path().join("vector-crypto.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"status\": \"hit\"", "\"status\": \"miss\"", 1)).unwrap();
    let (_, text) = says();
    assert!(text.contains("it is a hit, not a miss"), "{text}");
}
