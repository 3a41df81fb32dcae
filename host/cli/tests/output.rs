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
