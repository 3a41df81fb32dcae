//! Runs the console examples of pages for users of other bootloaders, all examples of a page in one folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Bench, Run};

const PAGES: [&str; 3] = ["fit", "mcuboot", "wolfboot"];

/// Returns the commands in the console examples of a page.
fn commands(page: &str) -> Vec<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/src/compare/{page}.md"));
    let text = fs::read_to_string(path).unwrap();
    let consoles = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = consoles.flat_map(|console| console.split("\n$ "));
    lines.map(|line| line.trim_start_matches("$ ").trim().to_owned()).collect()
}

/// Makes payloads with the names that the pages use. The loader states that it supports every algorithm.
fn bench() -> Bench {
    let bench = Bench::new();
    for (from, to) in [
        ("linux", "Image"),
        ("initrd", "initramfs.cpio"),
        ("virt.dtb", "board.dtb"),
        ("virt.dtb", "boot.dtb"),
    ] {
        fs::copy(bench.path(from), bench.path(to)).unwrap();
    }
    let carries_all = [&b"HARTLOCK-CARRIES"[..], &u64::MAX.to_le_bytes()].concat();
    bench.write("loader.bin", &[&[0x44; 64][..], &carries_all].concat());
    bench.write("fw_dynamic.bin", &[0x55; 5000]);
    bench
}

#[test]
fn every_console_of_the_comparisons_works() {
    let tool = Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    for page in PAGES {
        let bench = bench();
        let commands = commands(page);
        assert!(commands.len() >= 4, "{page}: {commands:?}");
        if !has_openssl && commands.iter().any(|command| command.starts_with("openssl")) {
            crate::common::skipped(format_args!("`openssl` cannot be run: {page}"));
            continue;
        }
        for command in commands {
            let mut shell = Command::new("sh");
            shell.arg("-ec").arg(&command).current_dir(bench.folder()).env("PATH", &path);
            let run = Run::of(shell.env_remove("SOURCE_DATE_EPOCH").output().unwrap());
            assert_eq!(run.code, 0, "{page}: {command}: {run:#?}");
        }
        let bundle = bench.path("system.hlk");
        assert!(fs::metadata(bundle).unwrap().len() > 100_000, "{page}");
    }
}

/// Returns the names of all test functions in the Rust files of a folder.
fn tests_in(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_in(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let tests = text.split("#[test]\n").skip(1).filter_map(|rest| rest.split_once("fn "));
            names.extend(tests.filter_map(|it| Some(it.1.split_once('(')?.0.to_owned())));
        }
    }
}

#[test]
fn tests_that_the_page_about_payloads_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/src/concepts/payloads.md")).unwrap();
    let mut tests = Vec::new();
    for folder in ["host/bundle", "host/cli/tests", "device/handoff/src"] {
        tests_in(&root.join(folder), &mut tests);
    }
    let is_vector = |name: &str| {
        let exists = |file: &str| root.join("spec/vectors").join(file).is_file();
        let trees = ["trees", "system-trees"].iter();
        trees.map(|folder| format!("{folder}/{name}.dtb")).any(|file| exists(&file))
            || exists(&format!("image/{name}.hlk"))
    };
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what"));
    let mut count = 0;
    for row in rows {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let names = last.split('`').skip(1).step_by(2);
        let is_word = |name: &&str| name.contains(' ') || ["sign", "boot", "trees"].contains(name);
        for name in names.filter(|name| !is_word(name)) {
            let is_test = tests.iter().any(|test| test == name);
            let is_walk = root.join("host/cli/tests/wrong").join(name).is_file();
            assert!(is_test || is_walk || is_vector(name), "{name}: {row}");
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}
