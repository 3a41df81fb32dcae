//! Tests of `hartlock boot` and its timelines without an emulator: charts, files and comparisons.

use crate::common::{Bench, Run};
use serde_json::{Value, json};

/// A program that pretends to be QEMU, and ends.
const QEMU: &str = "#!/bin/sh
if [ \"$1\" = --version ]; then echo \"QEMU emulator version 10.0.0\"; exit; fi
exit 1
";

fn bench() -> Bench {
    let bench = Bench::with_bundle();
    bench.write("rom.bin", &[0x13; 64]);
    // Another process writes the file, because a program cannot be started while this process has it open for
    // writing.
    let write = ["-c", "printf %s \"$0\" >qemu && chmod +x qemu", QEMU];
    bench.tool("sh", &write).unwrap().expect(0);
    bench.write("old.json", stored(1).to_string().as_bytes());
    bench
}

/// Returns the stored timeline of an earlier boot.
fn stored(schema: u32) -> Value {
    let step = |stage, step, start, end| {
        json!({
            "stage": stage, "step": step, "payload": null, "bytes": 0, "harts": 1, "kernel": null,
            "start": start, "end": end, "unit": "us"
        })
    };
    json!({
        "schema": schema, "booted": true, "outcome": "booted", "refusal": null,
        "machine": { "emulator": "QEMU 9", "cpu": "old", "harts": 5, "icount": false },
        "time_base": { "unit": "us", "note": "n", "ticks_per_second": 10, "joined": "j" },
        "stages": [step("rom", "start", 0, 1000), step("loader", "handover", 2000, 4000)]
    })
}

/// Runs a boot. The emulator ends at once, so that there is no verdict: the exit code is 2, and all files are
/// written.
fn boot(bench: &Bench, more: &[&str]) -> Run {
    let mut command = bench.command();
    command.env("TMPDIR", bench.folder());
    command.args(["boot", "--qemu", "./qemu", "--rom", "rom.bin", "--boot-bundle", "system.hlk"]);
    command.args(["--system", "system.hlk", "--root-key", "root.pub.pem"]).args(more);
    Run::of(command.output().unwrap()).expect(2)
}

#[test]
fn the_timeline_is_drawn_written_and_put_beside_others() {
    let bench = bench();
    let run = boot(
        &bench,
        &["--timeline", "--timeline-json", "new.json", "--report", "page.html", "--label", "a<b"]
            .into_iter()
            .chain(["--compare", "yesterday's=old.json"])
            .collect::<Vec<_>>(),
    );
    assert!(run.stdout.contains("no measurement log"), "{run:?}");
    let timeline: Value = serde_json::from_slice(&bench.read("new.json")).unwrap();
    assert_eq!((&timeline["schema"], &timeline["booted"]), (&1.into(), &false.into()));
    let page = String::from_utf8(bench.read("page.html")).unwrap();
    assert!(page.contains("yesterday&#39;s") && page.contains("a&#60;b"), "labels");
    assert!(page.contains("4.00 ms"), "the earlier boot");
}

#[test]
fn a_timeline_that_is_compared_is_not_replaced() {
    let bench = bench();
    let before = bench.read("old.json");
    let more = ["--compare", "before=old.json", "--report", "page.html", "--force"];
    let run = boot(&bench, &[&more[..], &["--timeline-json", "old.json"]].concat());
    assert!(run.stderr.contains("E1202"), "{run:?}");
    assert!(bench.read("old.json") == before && !bench.path("page.html").exists());
}

#[test]
fn what_cannot_be_compared_is_named_before_the_boot() {
    let bench = bench();
    bench.write("bad.json", b"{}");
    bench.write("later.json", stored(2).to_string().as_bytes());
    bench.write("huge.json", &vec![b' '; (1 << 20) + 1]);
    bench.write("binary.json", &[0xff; 9]);
    for (compare, expected) in [
        ("a=bad.json", "not a timeline"),
        ("a=later.json", "schema 2"),
        ("a=missing.json", "missing.json"),
        ("a=huge.json", "huge.json"),
        ("a=binary.json", "utf-8"),
        ("this boot=old.json", "the label `this boot`"),
    ] {
        let run = boot(&bench, &["--compare", compare, "--report", "page.html"]);
        assert!(run.stderr.contains(expected), "{compare}: {}", run.stderr);
        assert!(!run.stderr.contains("QEMU"), "{compare}: it was booted");
    }
    for arguments in [
        &["--compare", "old.json", "--report", "page.html"][..],
        &["--compare", "a=", "--report", "page.html"],
        &["--compare", "=old.json", "--report", "page.html"],
        &["--compare", "a=old.json"],
        &["--label", "a"],
        &["--label", "", "--report", "page.html"],
        // `--timeline` takes no value, so the file name after it is an unexpected argument.
        &["--timeline", "new.json"],
    ] {
        boot(&bench, arguments);
    }
    assert!(!bench.path("page.html").exists() && !bench.path("new.json").exists());
}
