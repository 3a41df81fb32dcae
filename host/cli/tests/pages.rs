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
