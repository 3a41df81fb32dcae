//! Tests of the standard output and the standard error.

use std::process::Stdio;

use crate::common::Bench;

#[test]
fn json_has_the_documented_fields() {
    let bench = Bench::new();
    let json =
        |args: &[&str], code: i32| bench.run(&[args, &["--json"]].concat()).expect(code).json();
    let keys = json(&["keygen", "-o", "root.pem"], 0);
    assert_eq!(keys["schema"], "hartlock/keygen-v1");
    assert_eq!(keys["key_id"].as_str().unwrap().len(), 96);
    assert_eq!(
        (&keys["private_key"], &keys["public_key"]),
        (&"root.pem".into(), &"root.pub.pem".into())
    );

    let signed = bench.sign(&["--json"]).expect(0).json();
    assert_eq!(signed["schema"], "hartlock/sign-v1");
    assert_eq!(signed["manifest"]["signers"][0]["key_id"], keys["key_id"]);

    let verified = json(&["verify", "system.hlk", "--key", "root.pub.pem", "--floor", "3"], 0);
    assert_eq!(verified["schema"], "hartlock/verify-v1");
    assert_eq!((&verified["outcome"], &verified["error"]), (&"accepted".into(), &().into()));
    assert_eq!(verified["signed_by"][0]["key_file"], "root.pub.pem");
    assert_eq!(verified["checked"]["floor"], 3);
    assert!(verified["checked"]["board"].is_null());
    assert_eq!(verified["manifest"], signed["manifest"]);
    let kernel = &verified["manifest"]["payloads"][0];
    for field in [
        "type",
        "offset",
        "size",
        "load_address",
        "memory_size",
        "entry",
        "hash",
        "mode",
        "block_size",
        "digest",
    ] {
        assert!(!kernel[field].is_null(), "{field}: {kernel}");
    }

    // The outcome is not "accepted", because nothing was verified.
    let shown = json(&["inspect", "system.hlk"], 0);
    assert_eq!(shown["schema"], "hartlock/inspect-v1");
    assert_eq!((&shown["outcome"], &shown["error"]), (&"well-formed".into(), &().into()));
    assert_eq!(shown["verified"], false);

    let refused = json(&["verify", "system.hlk", "--key", "root.pub.pem", "--floor", "6"], 1);
    assert_eq!(
        (&refused["schema"], &refused["outcome"]),
        (&"hartlock/verify-v1".into(), &"refused".into())
    );
    let reason = &refused["error"]["reason"];
    for field in ["code", "name", "title", "why", "hint", "fault", "spec"] {
        assert!(reason[field].is_string(), "{field}: {reason}");
    }
    assert_eq!(reason["code"], "E0603");
    assert_eq!(refused["error"]["context"][0], "system.hlk: security version 4, floor 6");

    let undecided = json(&["verify", "missing", "--key", "root.pub.pem"], 2);
    assert_eq!(undecided["outcome"], "undecided");
    assert!(undecided["error"]["reason"].is_null() && undecided["error"]["hint"].is_string());

    let shown = json(&["inspect", "system.hlk"], 0);
    assert_eq!(
        (&shown["schema"], &shown["verified"]),
        (&"hartlock/inspect-v1".into(), &false.into())
    );
    assert_eq!(shown["manifest"], signed["manifest"]);
    assert_eq!(shown["header"]["security_version"], 4);
    let shown = json(&["inspect", "linux"], 1);
    assert_eq!(shown["error"]["reason"]["code"], "E0102");
    assert!(shown["manifest"].is_null() && shown["header"].is_object());

    let explained = json(&["explain", "E0301"], 0);
    assert_eq!(explained["reasons"][0]["name"], "SignatureMismatch");
    assert!(json(&["explain"], 0)["reasons"].as_array().unwrap().len() > 60);
    assert_eq!(json(&["explain", "none"], 2)["schema"], "hartlock/explain-v1");
}

#[test]
fn a_closed_pipe_changes_no_answer() {
    let bench = Bench::with_bundle();
    let cases: [(&[&str], i32); 4] = [
        (&["explain"], 0),
        (&["inspect", "system.hlk", "--json"], 0),
        (&["verify", "system.hlk", "--key", "root.pub.pem"], 0),
        (&["verify", "system.hlk", "--key", "root.pub.pem", "--floor", "6", "--json"], 1),
    ];
    for (args, code) in cases {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.command();
        command.args(args).stdout(writer.try_clone().unwrap()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        // The exit code is the same if the standard error is closed too.
        let status =
            bench.command().args(args).stdout(writer.try_clone().unwrap()).stderr(writer).status();
        assert_eq!(status.unwrap().code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_full_disk_after_the_output_is_noticed() {
    let bench = Bench::with_bundle();
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        crate::common::skipped("there is no /dev/full");
        return;
    };
    let output = bench.command().args(["explain"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn output_that_is_no_terminal_has_no_colours_and_no_bars() {
    let bench = Bench::with_bundle();
    for args in [&["verify", "system.hlk", "--key", "root.pub.pem"][..], &["verify", "system.hlk"]]
    {
        let run = bench.run(args);
        assert!(!run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'), "{run:?}");
    }
}

#[test]
fn what_is_not_stated_is_null() {
    /// Fields in which an empty string or 0 is a value: offsets, sizes, and fields of the format as they are stored.
    const VALUES: [&str; 4] = ["offset", "value", "size", "signatures_size"];
    fn walk(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        use serde_json::Value;
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, it)| walk(it, &format!("{path}.{name}"), found));
            }
            Value::Array(items) => items.iter().for_each(|it| walk(it, path, found)),
            Value::String(text) if text.is_empty() => found.push(path.to_owned()),
            Value::Number(number) if number.as_f64() == Some(0.0) => found.push(path.to_owned()),
            _ => {}
        }
    }
    let bench = Bench::with_bundle();
    bench.damaged("system.hlk", "short", |bytes| bytes.truncate(100));
    // This bundle states as little as possible.
    let bare = "sign --type system --kernel linux --system-fdt virt.dtb --security-version 1 --key root.pem";
    let bare = format!("{bare} -o bare.hlk --json");
    let mut found = Vec::new();
    for words in [
        bare.as_str(),
        "verify bare.hlk --key root.pub.pem --json",
        "inspect bare.hlk --json",
        "inspect linux --json",
        "inspect short --json",
        "diff bare.hlk system.hlk --json",
        "extract bare.hlk --key root.pub.pem -o parts --json",
        "key show root.pem --json",
        "key show root.pub.pem --json",
    ] {
        let json = bench.run(&words.split(' ').collect::<Vec<_>>()).json();
        // The header of a file that is no bundle is whatever is there.
        if !words.contains("linux ") || words == bare {
            walk(&json, words, &mut found);
        } else {
            walk(&json["looks_like"], words, &mut found);
        }
    }
    found.retain(|path| !VALUES.iter().any(|it| path.ends_with(&format!(".{it}"))));
    assert!(found.is_empty(), "{}", found.join("\n"));
    let json = bench.run(&["inspect", "bare.hlk", "--json"]).json();
    for name in ["label", "created", "bootargs", "min_boot_version", "trust"] {
        assert_eq!(json["manifest"].get(name), Some(&serde_json::Value::Null), "{name}");
    }
    assert_eq!(json["manifest"]["payloads"][1]["entry"], serde_json::Value::Null);
}
