//! Tests of boards of users: a description is used to sign, verify, inspect and emulate like those in
//! `device/boards/`.

use std::fs;
use std::path::Path;

use crate::common::{Bench, Run};

const SIGN: &str = "sign --type system --kernel linux --initramfs initrd --system-fdt virt.dtb \
                    --security-version 4 --key root.pem --force -o mine.hlk";

/// A program that pretends to be QEMU. It prints its options to the standard error, after it has ended.
const QEMU: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo 'QEMU emulator version 10.0.0'; exit; fi
(exec >&-; sleep 0.1; echo "$@" >&2) &
exit 1
"#;

/// Returns a copy of the description of `qemu-virt` with another name and with 512 MiB of memory.
fn copy() -> String {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device/boards/qemu-virt/board.toml");
    let text = fs::read_to_string(file).unwrap();
    let text = text.replacen("name = \"qemu-virt\"", "name = \"mine\"", 1);
    let text = text.replacen("soc = \"virt\"", "soc = \"half\"", 1);
    text.replacen("size = \"1024 MiB\"", "size = \"512 MiB\"", 1)
}

fn bench() -> Bench {
    let bench = Bench::with_bundle();
    bench.write("mine.toml", copy().as_bytes());
    bench
}

fn run(bench: &Bench, line: &str, more: &[&str]) -> Run {
    bench.run(&line.split_whitespace().chain(more.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_copy_of_a_description_is_a_board_of_its_own() {
    let bench = bench();
    let signed = run(&bench, SIGN, &["--board", "mine.toml", "--json"]).expect(0).json();
    // SoC and load addresses are those of the description.
    let manifest = &signed["manifest"];
    assert_eq!((&manifest["board"], &manifest["soc"]), (&"mine".into(), &"half".into()));
    assert_eq!(manifest["payloads"][0]["load_address"], "0x82000000");
    assert!(manifest["devices"].as_str().unwrap().starts_with("no IOMMU"), "{manifest}");

    let verify = "verify mine.hlk --key root.pub.pem";
    let known = run(&bench, verify, &["--board", "./mine.toml"]).expect(0).stdout;
    assert!(known.contains("load addresses") && known.contains("board mine"), "{known}");
    let unknown = run(&bench, verify, &[]).expect(0).stdout;
    assert!(unknown.contains("unknown     the memory map of board mine"), "{unknown}");
    let both = run(&bench, "verify system.hlk mine.hlk --key root.pub.pem", &[]).expect(0).stdout;
    let not_compared =
        "mine.hlk (load addresses not compared: the memory map of board mine is unknown)";
    let lines: Vec<_> = both.lines().collect();
    assert_eq!(lines[0].split_once(' ').unwrap().1.trim(), "system.hlk");
    assert_eq!(lines[1].split_once(' ').unwrap().1.trim(), not_compared);
    let other =
        run(&bench, "verify system.hlk --key root.pub.pem --board mine.toml", &[]).expect(1);
    assert!(other.stderr.contains("signed for board qemu-virt, not mine"), "{other:?}");

    let memory =
        |more: &[&str]| run(&bench, "inspect mine.hlk --json", more).json()["memory"].clone();
    assert_eq!(memory(&[])["is_known_board"], false);
    let known = memory(&["--board", "mine.toml"]);
    assert_eq!(
        (&known["is_known_board"], &known["faults"]),
        (&true.into(), &serde_json::json!([]))
    );
    // The memory ends where the description states, not where that of qemu-virt ends.
    assert_eq!(known["segments"].as_array().unwrap().last().unwrap()["end"], "0xa0000000");

    let again = "--verify-key root.pub.pem --board mine.toml --key root.pem --force -o again.hlk";
    run(&bench, &format!("resign mine.hlk {again}"), &[]).expect(0);
    assert_eq!(bench.read("again.hlk"), bench.read("mine.hlk"));
    run(&bench, &format!("replace mine.hlk --kernel linux {again}"), &[]).expect(0);
    run(&bench, "extract mine.hlk --key root.pub.pem --board mine.toml -o out", &[]).expect(0);
}

#[test]
fn rules_about_memory_are_those_of_the_description() {
    let bench = bench();
    let bundle = |name: &str, board: &str, address: &str| {
        bench.write(name, format!("type = \"system\"\nsecurity_version = 1\nboard = \"{board}\"\n[[payload]]\ntype = \"kernel\"\nfile = \"linux\"\n\
            load_address = {address}\n[[payload]]\ntype = \"system-fdt\"\nfile = \"virt.dtb\"\nload_address = 0x86000000\n").as_bytes());
    };
    for (address, code, says) in [
        // The address is within 1 GiB, but past 512 MiB.
        ("0xb0000000", "E0701", "on board mine it goes into 0x81000000 to 0xa0000000"),
        ("0x80200000", "E0702", "memory that the verifying stage uses"),
        ("0x82001000", "E0703", "at a multiple of 0x200000"),
    ] {
        bundle("b.toml", "mine.toml", address);
        for dry in [&["--dry-run"][..], &[]] {
            let args =
                [&["sign", "b.toml", "-k", "root.pem", "--force", "-o", "b.hlk"], dry].concat();
            let run = bench.run(&args).expect(1);
            assert!(run.stderr.contains(code) && run.stderr.contains(says), "{run:?}");
            assert!(run.stderr.contains("`load_address = 0x82000000`"), "{run:?}");
        }
        // If the board is unknown when the bundle is signed, a verifier that knows the board finds the same
        // fault.
        bundle("b.toml", "mine", address);
        bench.run(&["sign", "b.toml", "-k", "root.pem", "--force", "-o", "b.hlk"]).expect(0);
        let verify =
            |more: &[&str]| bench.run(&[&["verify", "b.hlk", "-k", "root.pub.pem"], more].concat());
        verify(&[]).expect(0);
        let run = verify(&["--board", "mine.toml"]).expect(1);
        assert!(run.stderr.contains(code) && run.stderr.contains(says), "{run:?}");
        let memory = run_json(&bench, &["inspect", "b.hlk", "--board", "mine.toml", "--json"]);
        assert_eq!(memory["memory"]["faults"][0]["code"], code);
    }
}

fn run_json(bench: &Bench, args: &[&str]) -> serde_json::Value {
    bench.run(args).json()
}

#[test]
fn settings_and_bundles_name_a_description_relative_to_themselves() {
    let bench = bench();
    fs::create_dir(bench.path("inner")).unwrap();
    bench.run(&["init", "--board", "mine.toml"]).expect(0);
    let settings = String::from_utf8(bench.read("hartlock.toml")).unwrap();
    assert!(settings.contains("board = \"mine.toml\"\nsoc = \"half\"\n"), "{settings}");
    let inner = |args: &[&str]| {
        let mut command = bench.command();
        Run::of(command.current_dir(bench.path("inner")).args(args).output().unwrap())
    };
    let sign = "sign --type system --kernel ../linux --system-fdt ../virt.dtb --security-version 4 --key ../root.pem -o a.hlk";
    let signed = inner(&sign.split_whitespace().collect::<Vec<_>>()).expect(0);
    assert!(signed.stdout.contains("mine, SoC half"), "{signed:?}");
    let verified = inner(&["verify", "a.hlk", "--key", "../root.pub.pem"]).expect(0);
    assert!(verified.stderr.contains("using the memory map of mine"), "{verified:?}");
    assert!(verified.stdout.contains("load addresses"), "{verified:?}");
    // The option on the command line takes precedence over the settings.
    let named = inner(&["verify", "a.hlk", "--key", "../root.pub.pem", "--board", "qemu-virt"]);
    assert!(named.expect(1).stderr.contains("E0601"));

    fs::create_dir(bench.path("far")).unwrap();
    bench.run(&["init", "far", "--board", "mine.toml"]).expect(0);
    let far = String::from_utf8(bench.read("far/hartlock.toml")).unwrap();
    assert!(
        far.contains(&format!("board = \"{}/", bench.path("").canonicalize().unwrap().display())),
        "{far}"
    );

    // An output must not replace the description.
    let output = run(&bench, SIGN, &["--board", "mine.toml", "-o", "mine.toml"]);
    assert!(output.code == 2, "{output:?}");
    let output = bench
        .run(&[
            "sign",
            "--type",
            "system",
            "--kernel",
            "linux",
            "--security-version",
            "1",
            "-k",
            "root.pem",
            "--board",
            "mine.toml",
            "--force",
            "-o",
            "mine.toml",
        ])
        .expect(2);
    assert!(output.stderr.contains("E1202"), "{output:?}");
}

#[test]
fn a_board_is_emulated_if_the_emulator_can_be_it() {
    let bench = bench();
    bench.write("rom.bin", &[0x13; 64]);
    // Another process writes the file, because a program cannot be started while this process has it open for
    // writing.
    let write = ["-c", "printf %s \"$0\" >qemu && chmod +x qemu", QEMU];
    bench.tool("sh", &write).unwrap().expect(0);
    let boot = "boot --rom rom.bin --boot-bundle system.hlk --system system.hlk --root-key root.pub.pem --qemu ./qemu --json";
    let words = |more: &[&str]| run(&bench, boot, more).stdout;
    assert!(
        words(&["--board", "mine.toml"]).contains("-smp 5 -m 512M "),
        "{}",
        words(&["--board", "mine.toml"])
    );
    bench.write("two.toml", copy().replacen("harts = 5", "harts = 2", 1).as_bytes());
    assert!(words(&["--board", "two.toml"]).contains("-smp 2 -m 512M "));
    let run_two = run(&bench, boot, &["--board", "two.toml", "--harts", "3"]).expect(2);
    assert!(run_two.stderr.contains("1 to 2 harts"), "{run_two:?}");
    bench.write(
        "other.toml",
        copy().replacen("start = 0x1000_0000", "start = 0x1700_0000", 1).as_bytes(),
    );
    let refused = run(&bench, boot, &["--board", "other.toml"]).expect(2);
    assert!(
        refused.stderr.contains("E1208") && refused.stderr.contains("| start = 0x1700_0000"),
        "{refused:?}"
    );
}

#[test]
fn a_board_that_nobody_knows_is_named_with_the_nearest() {
    let bench = Bench::with_bundle();
    let places = "type = \"system\"\nboard = \"BOARD\"\nsecurity_version = 1\n[[payload]]\ntype = \"kernel\"\n\
                  file = \"linux\"\nload_address = 0x82000000\n[[payload]]\ntype = \"system-fdt\"\nfile = \"virt.dtb\"\n\
                  load_address = 0x86000000\n";
    for (board, note) in [
        (
            "qemu-vrit",
            Some(
                "a board qemu-vrit: load addresses and device trees were not compared with it; did you mean `qemu-virt`?",
            ),
        ),
        ("gateway", Some("`--board FILE.toml` names a description of it")),
        ("qemu-virt", None),
    ] {
        bench.write("bundle.toml", places.replace("BOARD", board).as_bytes());
        let line = "sign bundle.toml --key root.pem --force -o mine.hlk";
        let signed = run(&bench, line, &["--json"]).expect(0).json();
        let notes = signed["notes"].as_array().unwrap();
        assert_eq!(notes.len(), usize::from(note.is_some()), "{notes:?}");
        let has = |text: &str| notes[0].as_str().unwrap().contains(text);
        assert!(note.is_none_or(has), "{notes:?}");
    }
}

#[test]
fn harts_that_no_tree_names_are_counted() {
    let bench = Bench::with_bundle();
    bench.write("big.toml", b"name = \"big\"\nextends = \"qemu-virt\"\nharts = 8\n");
    let boot = "sign --type boot --opensbi fw.bin --loader fw.bin --boot-fdt virt.dtb --security-version 1 \
                --key root.pem --trust root.pub.pem --force -o boot.hlk --json";
    for (line, payload) in [(boot, "boot-fdt"), (&format!("{SIGN} --json"), "system-fdt")] {
        let wanted = format!(
            "The board big has up to 8 harts, and the {payload} names 5 of them: nothing starts harts 5, 6, 7."
        );
        let counted = |more: &[&str]| {
            let signed = run(&bench, line, more).expect(0).json();
            signed["notes"].as_array().unwrap().iter().filter(|note| **note == wanted).count()
        };
        assert_eq!((counted(&["--board", "big.toml"]), counted(&[])), (1, 0), "{payload}");
    }
}
