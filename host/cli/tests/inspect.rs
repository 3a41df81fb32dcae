//! Tests of `hartlock inspect`: summary, dump and JSON, for bundles of the tests and for the test vectors of
//! the specification.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Bench, Run};
use serde_json::Value;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/image")
}

/// Returns the names of all vectors, without `.hlk`.
fn names() -> Vec<String> {
    let expected = fs::read(vectors().join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    expected.iter().map(|vector| vector["name"].as_str().unwrap().to_owned()).collect()
}

fn inspect(bench: &Bench, name: &str, more: &[&str]) -> Run {
    let path = vectors().join(format!("{name}.hlk"));
    bench.run(&[&["inspect", path.to_str().unwrap()], more].concat())
}

#[test]
fn the_page_says_what_boots_who_signed_and_for_whom() {
    let bench = Bench::with_bundle();
    let page = bench.run(&["inspect", "system.hlk"]).expect(0).stdout;
    for expected in [
        "type              system, verified by the loader\n",
        "board             qemu-virt, SoC virt\n",
        "security version  4\n",
        "lifecycle         development, production\n",
        "bootargs          console=ttyS0\n",
        "kernel       97.7 KiB  0x82000000 to 0x82019000, entered at 0x82000000\n",
        "sha384 over 2 blocks of 80 KiB: ",
        "system-fdt    3.1 KiB  0x86000000 to 0x86001000, data\n",
        "0x80000000  ::::  in use while the loader works",
        "0x82000000  ####  kernel",
        "0xc0000000        end of memory\n",
        "verifies over these bytes\n",
        "no key was given.\n",
        "any     enough if the device trusts key 1\n",
        "all     enough if the device trusts no key but 1\n",
        "hybrid  never enough: there is no post-quantum signature (E0306)\n",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let key = bench.run(&["verify", "system.hlk", "--key", "root.pub.pem", "--json"]).json();
    let key_id = key["manifest"]["signers"][0]["key_id"].as_str().unwrap().to_owned();
    assert!(page.contains(&key_id[..16]) && !page.contains(&key_id), "{page}");
    let verbose = bench.run(&["inspect", "system.hlk", "-v"]).expect(0).stdout;
    assert!(verbose.contains(&key_id), "{verbose}");

    for (name, expected) in [
        ("parallelhash", "parallelhash with shake128 over 3 blocks of 1 KiB:"),
        ("flat_kt128", "kt128 (not NIST-approved) of the whole payload:"),
        ("blocks_kt128", "kt128 (not NIST-approved) over 3 blocks of 1 KiB:"),
    ] {
        let page = inspect(&bench, name, &[]).expect(0).stdout;
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let run = inspect(&bench, "hash_mode_flat_shake", &[]).expect(1);
    assert!(run.stdout.contains("MALFORMED: E0515"), "{run:?}");

    let page = inspect(&bench, "minimal_boot", &[]).expect(0).stdout;
    for expected in [
        "Payloads: the ROM enters opensbi, which enters loader\n",
        "in use while the ROM works",
        "Next stage: a system bundle must be signed by one of these keys\n",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn a_signature_that_fails_is_said_and_is_no_verdict() {
    let bench = Bench::new();
    let run = inspect(&bench, "signed_security_version_changed", &[]).expect(0);
    assert!(run.stdout.contains("E0301 A signature does not verify."), "{run:?}");
    assert_eq!(
        run.stdout.matches("never enough: no signature verifies (E0301)").count(),
        3,
        "{run:?}"
    );
    assert_eq!(run.stderr, "");
    let run = inspect(&bench, "foreign_signer_without_key", &[]).expect(0);
    assert!(run.stdout.contains("not checked: of an unknown algorithm"), "{run:?}");
    assert!(run.stdout.contains("any     enough if the device trusts key 1\n"), "{run:?}");
    // The bundle is well formed, but every board would refuse it.
    let run = inspect(&bench, "boot_over_rom_ram", &[]).expect(0);
    assert!(run.stdout.contains("!!!!  boot-fdt") && run.stdout.contains("E0702"), "{run:?}");
    assert!(run.stdout.contains("any     never enough: the bundle is refused"), "{run:?}");
}

#[test]
fn a_malformed_bundle_is_shown_up_to_its_fault() {
    let bench = Bench::new();
    let run = inspect(&bench, "payload_type_unknown", &[]).expect(1);
    assert!(run.stdout.contains("MALFORMED: E0501"), "{run:?}");
    assert!(run.stdout.contains("0x1c0 to 0x240            128 B  payload record 2  <- the fault"));
    assert!(run.stderr.contains("at 0x1c0 in payload record 2, type: 19 (unknown)"), "{run:?}");
    let dump = inspect(&bench, "payload_type_unknown", &["--hexdump"]).expect(1).stdout;
    assert!(dump.contains("000001c0  13000000"), "{dump}");
    assert!(dump.contains("^ at 0x1c0: E0501"), "{dump}");
    let fields = inspect(&bench, "payload_type_unknown", &["--fields"]).expect(1).stdout;
    assert!(fields.contains("^ at 0x1c0: E0501"), "{fields}");
    let run = inspect(&bench, "truncated_in_signature_area", &[]).expect(1);
    assert!(run.stdout.contains("the file ends at 0x2c7 in signature block 1"), "{run:?}");
    let dump = inspect(&bench, "truncated_in_signature_area", &["--hexdump"]).expect(1).stdout;
    assert!(dump.ends_with("000002c7  ^ E0101 The bundle is shorter than its header says.\n"));
}

#[test]
fn every_vector_is_explained_in_every_view() {
    let bench = Bench::new();
    for name in names() {
        let object = inspect(&bench, &name, &["--json"]);
        let is_malformed = object.code == 1;
        let json = object.expect(i32::from(is_malformed)).json();
        assert_eq!(json["fault"].is_object(), is_malformed, "{name}");
        for view in [&[][..], &["--fields"], &["--hexdump"], &["-v"]] {
            let run = inspect(&bench, &name, view).expect(i32::from(is_malformed));
            assert!(run.stdout.contains("NOT VERIFIED"), "{name} {view:?}: {run:?}");
            if is_malformed {
                let code = json["error"]["reason"]["code"].as_str().unwrap();
                assert!(run.stdout.contains(code) && run.stderr.contains(code), "{name} {view:?}");
            }
            let is_plain = |c: char| c == '\n' || !c.is_control();
            assert!(run.stdout.chars().all(is_plain), "{name} {view:?}: {run:?}");
        }
    }
}

/// Returns offsets and bytes of a dump, including the zeros that it hides. Lines without bytes are skipped.
fn bytes_of(dump: &str) -> Vec<(usize, Vec<u8>)> {
    let mut lines: Vec<(usize, Vec<u8>)> = Vec::new();
    for line in dump.lines() {
        if let Some(hidden) = line.strip_prefix('*') {
            let count = hidden.trim().split(' ').next().unwrap().replace(',', "");
            let (offset, last) = lines.last().unwrap();
            lines.push((offset + last.len(), vec![0; count.parse().unwrap()]));
            continue;
        }
        let Some((offset, rest)) = line.split_once("  ") else { continue };
        let Ok(offset) = usize::from_str_radix(offset, 16) else { continue };
        // The bytes end where the column of notes begins.
        let column: String = rest.chars().take(36).filter(|c| *c != ' ').collect();
        if column.is_empty() || !column.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        let byte = |at: usize| u8::from_str_radix(&column[at..at + 2], 16).unwrap();
        lines.push((offset, (0..column.len()).step_by(2).map(byte).collect()));
    }
    lines
}

#[test]
fn the_dump_has_every_byte_in_front_of_the_payloads_once() {
    let bench = Bench::new();
    let mut complete = 0;
    // This vector is not a bundle. The tests of first stages compare its bytes.
    for name in names().into_iter().filter(|name| name != "first_stage") {
        let bundle = fs::read(vectors().join(format!("{name}.hlk"))).unwrap();
        let run = inspect(&bench, &name, &["--hexdump"]);
        let mut at = 0;
        for (offset, bytes) in bytes_of(&run.stdout) {
            assert_eq!(offset, at, "{name}: a gap or an overlap\n{}", run.stdout);
            assert_eq!(bytes, bundle[at..at + bytes.len()], "{name} at {at:#x}\n{}", run.stdout);
            at += bytes.len();
            if run.code == 1 && at >= 256 {
                // The bytes after a fault may not be shown, because they cannot be parsed.
                break;
            }
        }
        if run.code == 0 {
            let size = |at: usize| u32::from_le_bytes(bundle[at..at + 4].try_into().unwrap());
            assert_eq!(at, (size(16) + size(20)) as usize, "{name}\n{}", run.stdout);
            complete += 1;
        }
    }
    assert!(complete > 60, "{complete}");
}

#[test]
fn the_object_has_every_byte_of_the_file_once() {
    let bench = Bench::with_bundle();
    let json = bench.run(&["inspect", "system.hlk", "--json"]).expect(0).json();
    let mut at = 0;
    for field in json["fields"].as_array().unwrap() {
        assert_eq!(field["offset"], at, "{field}");
        at += field["size"].as_u64().unwrap();
        for text in ["part", "name", "value", "section", "meaning"] {
            assert!(field[text].is_string(), "{text}: {field}");
        }
    }
    assert_eq!(json["file_size"], at);
    assert_eq!(json["signatures"][0]["check"], "verifies");
    assert_eq!(json["signatures"][0]["key_id"], json["manifest"]["signers"][0]["key_id"]);
    let policy = |policy: &str, lacks: Option<&str>| {
        let code = lacks.map(|_| "E0306");
        serde_json::json!({
            "policy": policy, "possible": lacks.is_none(), "code": code, "lacks": lacks
        })
    };
    let expected =
        [policy("any", None), policy("all", None), policy("hybrid", Some("post-quantum"))];
    assert_eq!(json["policies"], Value::from(expected.to_vec()));
    assert_eq!(json["manifest"]["payloads"][0]["block_count"], 2);
    let memory = &json["memory"];
    assert_eq!(memory["is_known_board"], true);
    assert_eq!(memory["segments"][0]["use"], "live");
    let kernel = memory["segments"].as_array().unwrap().iter().find(|it| it["payload"] == "kernel");
    assert_eq!(kernel.unwrap()["start"], "0x82000000");

    let json = inspect(&bench, "payload_type_unknown", &["--json"]).expect(1).json();
    let fault = &json["fault"];
    assert_eq!((&fault["offset"], &fault["size"]), (&0x1c0.into(), &4.into()));
    assert_eq!((&fault["part"], &fault["field"]), (&"payload record 2".into(), &"type".into()));
    assert_eq!(json["policies"][0]["code"], "E0501");
    assert!(json["memory"].is_null() && json["manifest"].is_null());
}

#[test]
fn lines_fit_the_width_that_is_asked_for() {
    let bench = Bench::new();
    let path = vectors().join("minimal_boot.hlk");
    // The name is short, because paths are not broken.
    bench.write("boot.hlk", &fs::read(path).unwrap());
    let longest = |width: &str, view: &[&str]| {
        let mut command = bench.command();
        command.env("COLUMNS", width).args(["inspect", "boot.hlk"]).args(view);
        let run = Run::of(command.output().unwrap()).expect(0);
        run.stdout.lines().map(|line| line.chars().count()).max().unwrap()
    };
    for view in [&[][..], &["--fields"], &["--hexdump"]] {
        let (narrow, wide) = (longest("80", view), longest("120", view));
        assert!(narrow <= 80 && wide <= 120, "{view:?}: {narrow}, {wide}");
        // Values that are not a valid width are ignored.
        for odd in ["", "0", "-5", "wide", "99999999999999999999"] {
            assert!(longest(odd, view) <= 80, "{view:?} {odd}");
        }
    }
    assert!(longest("120", &[]) > 80);
}

#[test]
fn colours_are_for_terminals_and_no_color_wins() {
    let bench = Bench::with_bundle();
    let colours = |environment: &[(&str, &str)]| {
        let mut command = bench.command();
        command.env_remove("NO_COLOR").envs(environment.iter().copied());
        let run = Run::of(command.args(["inspect", "system.hlk"]).output().unwrap()).expect(0);
        run.stdout.matches('\x1b').count()
    };
    assert_eq!(colours(&[]), 0);
    assert!(colours(&[("CLICOLOR_FORCE", "1")]) > 10);
    assert_eq!(colours(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), 0);
}
