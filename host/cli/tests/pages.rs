//! Runs the console examples of pages for users of other bootloaders, all examples of a page in one folder, and compares the
//! samples of the first page with what the command prints.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Bench, Run, archive};

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

/// Returns the commands in the console examples of the first page, each with the output that the page shows.
fn samples() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/start.md");
    let text = fs::read_to_string(path).unwrap();
    let mut samples: Vec<(String, String)> = Vec::new();
    for console in text.split("```console\n").skip(1) {
        let mut is_command = false;
        for line in console.split("```").next().unwrap().lines() {
            let begins = line.strip_prefix("$ ");
            if begins.is_some() {
                samples.push((String::new(), String::new()));
            }
            // A console without a command is a chart.
            let Some((command, output)) = samples.last_mut() else { continue };
            let is_continued = is_command && command.trim_end().ends_with(['\\', '|']);
            is_command = begins.is_some() || is_continued;
            let to = if is_command { command } else { output };
            *to += begins.unwrap_or(line);
            to.push('\n');
        }
    }
    samples
}

/// Replaces what differs between runs and kernels: key ids, and sizes of payloads.
fn masked(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n', '(', ')']);
    let mask = |word: &str| {
        let plain = word.trim_end_matches([' ', '\n', '(', ')', '…']);
        let is_id = plain.len() >= 12 && plain.chars().all(|c| c.is_ascii_hexdigit());
        let is_size = plain.parse::<f64>().is_ok() && plain.contains('.');
        let mask = if is_id { "KEY-ID" } else { "SIZE" };
        if is_id || is_size { word.replacen(plain, mask, 1) } else { word.to_owned() }
    };
    words.map(mask).collect::<String>().replace("SIZE MiB", "SIZE").replace("SIZE KiB", "SIZE")
}

#[test]
fn the_samples_of_the_first_page_are_what_the_command_prints() {
    let tool = Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let bench = bench();
    // The page changes the kernel 10,000,000 bytes after the start of the bundle.
    let mut linux = bench.read("linux");
    linux.resize(12_900_000, 0x11);
    linux[16..24].copy_from_slice(&12_900_000_u64.to_le_bytes());
    fs::create_dir_all(bench.path("target/demo")).unwrap();
    bench.write("target/demo/linux", &linux);
    bench.write("target/demo/initramfs", &archive(2_500_006));
    for (from, to) in [
        ("loader.bin", "loader.bin"),
        ("fw_dynamic.bin", "fw_dynamic.bin"),
        ("boot.dtb", "boot.dtb"),
        ("board.dtb", "system.dtb"),
    ] {
        fs::copy(bench.path(from), bench.path("target/demo").join(to)).unwrap();
    }
    let mut compared = 0;
    for (command, shown) in samples() {
        let is_run = ["hartlock keygen", "hartlock sign", "hartlock verify", "cp ", "printf "];
        if !is_run.iter().any(|it| command.starts_with(it)) {
            continue;
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&command).current_dir(bench.folder()).env("PATH", &path);
        let run = Run::of(shell.env_remove("SOURCE_DATE_EPOCH").output().unwrap());
        if shown.is_empty() {
            assert_eq!(run.code, 0, "{command}{run:#?}");
            continue;
        }
        assert_eq!(masked(&(run.stdout + &run.stderr)), masked(&shown), "{command}");
        compared += 1;
    }
    assert!(compared >= 3, "only {compared} samples were compared");
    // What a device prints is made of the same texts.
    let shown = samples().into_iter().map(|(_, output)| output).collect::<String>();
    let reason = bench.run(&["explain", "E0801", "--json"]).expect(0).json()["reasons"][0].clone();
    let [title, hint] = ["title", "hint"].map(|name| reason[name].as_str().unwrap().to_owned());
    assert!(shown.contains(&format!("hartlock: loader refused: E0801 {title}\n")), "{title}");
    assert!(shown.contains(&format!("hartlock: hint: {hint}\n")), "{hint}");
}
