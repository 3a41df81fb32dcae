//! Tests of first stages: signing, verification and inspection.

use std::path::{Path, PathBuf};

use crate::common::{Bench, Run};
use serde_json::Value;

/// Algorithms of keys that are made quickly: one of each family of the form except XMSS^MT, whose trees take
/// longer.
const ALGORITHMS: [&str; 4] =
    ["lms-sha256-192-h5-w8", "hss-l2-sha256-h5-w8", "xmss-sha2-10-192", "slh-dsa-sha2-128s"];
const LMS: &str = ALGORITHMS[0];

/// Makes a folder with code and with keys of these algorithms.
fn bench(algorithms: &[&str]) -> Bench {
    let bench = Bench::new();
    bench.write("code.bin", &[0x13; 1000]);
    for algorithm in algorithms {
        let file = format!("{algorithm}.pem");
        bench.run(&["keygen", "--algorithm", algorithm, "-o", &file]).expect(0);
    }
    bench
}

/// Signs `code.bin` with a key for a known board.
fn sign(bench: &Bench, key: &str, more: &[&str]) -> Run {
    let line = format!(
        "sign --form first-stage --code code.bin --key {key}.pem --board hartlock-soc \
         --security-version 3 -o stage.hlf"
    );
    words(bench, &line, more)
}

/// Runs a command with the words of `line` and with `more`.
fn words(bench: &Bench, line: &str, more: &[&str]) -> Run {
    bench.run(&line.split_whitespace().chain(more.iter().copied()).collect::<Vec<_>>())
}

fn verify(bench: &Bench, key: &str, more: &[&str]) -> Run {
    bench.run(&[&["verify", "stage.hlf", "--key", &format!("{key}.pub.pem")], more].concat())
}

fn code(run: &Run) -> String {
    run.json()["error"]["reason"]["code"].as_str().unwrap_or("none").to_owned()
}

fn left(bench: &Bench, key: &str) -> Value {
    let file = format!("{key}.pem");
    bench.run(&["key", "show", &file, "--json"]).expect(0).json()["signatures_left"].clone()
}

#[test]
fn every_family_signs_what_is_verified() {
    let bench = bench(&ALGORITHMS);
    for key in ALGORITHMS {
        let before = left(&bench, key);
        let run = sign(&bench, key, &["--force", "--json"]).expect(0);
        let signed = run.json();
        assert_eq!(signed["schema"], "hartlock/sign-v1");
        assert_eq!(signed["image"], "stage.hlf");
        let stage = &signed["first_stage"];
        assert_eq!(stage["signer"]["algorithm"], key);
        assert_eq!((&stage["board"], &stage["soc"]), (&"hartlock-soc".into(), &"rot".into()));
        // Zeros fill the last block.
        assert_eq!(stage["code_size"], 1024);
        let show = bench.run(&["key", "show", &format!("{key}.pub.pem"), "--json"]).expect(0);
        assert_eq!(stage["signer"]["key_digest"], show.json()["first_stage_digest"]);
        if let Some(before) = before.as_u64() {
            assert_eq!(left(&bench, key), before - 1, "{key}");
            assert_eq!(signed["signatures_left"][0]["signatures_left"], before - 1);
        }
        let image = bench.read("stage.hlf");
        assert_eq!(stage["image_size"], image.len());
        let at = stage["code_offset"].as_u64().unwrap() as usize;
        assert_eq!(image[at..at + 1000], [0x13; 1000]);
        assert_eq!(image[at + 1000..], [0; 24]);

        let json = verify(&bench, key, &["--json"]).expect(0).json();
        assert_eq!(json["first_stage"], *stage);
        assert_eq!(json["key_file"], format!("{key}.pub.pem"));
        assert_eq!(json["checked"]["board"], Value::Null);
        let device = "--board hartlock-soc --soc rot --floor 3 --lifecycle production \
                      --capacity 1024 --form first-stage";
        let device: Vec<_> = device.split_whitespace().collect();
        let run = verify(&bench, key, &device).expect(0);
        assert!(run.stdout.contains("floor 3") && !run.stdout.contains("not checked"), "{run:?}");
    }
}

#[test]
fn the_key_of_the_next_stage_is_its_digest() {
    let bench = bench(&[LMS, "xmss-sha2-10-256", "ed25519"]);
    let plain = sign(&bench, LMS, &["--json"]).expect(0).json();
    assert!(plain["first_stage"]["next_key"].is_null());
    let next = ["--next-key", "xmss-sha2-10-256.pub.pem", "--force", "--json"];
    let json = sign(&bench, LMS, &next).expect(0).json();
    let key = &json["first_stage"]["next_key"];
    assert_eq!(key["algorithm"], "xmss-sha2-10-256");
    let show = bench.run(&["key", "show", "xmss-sha2-10-256.pem", "--json"]).expect(0).json();
    assert_eq!(key["key_digest"], show["first_stage_digest"]);
    // A key of an algorithm that first stages cannot be signed with is refused, and has no digest for them.
    let other = ["--next-key", "ed25519.pub.pem", "--force", "--json"];
    assert_eq!(code(&sign(&bench, LMS, &other).expect(1)), "E0206");
    let show = bench.run(&["key", "show", "ed25519.pem", "--json"]).expect(0).json();
    assert!(show["first_stage_digest"].is_null());
}

#[test]
fn keys_of_other_algorithms_are_refused_and_nothing_is_written() {
    let bench = bench(&["ed25519", "ml-dsa-44", "xmss-shake256-10-192", "ecdsa-p256"]);
    for key in ["ed25519", "ml-dsa-44", "xmss-shake256-10-192", "ecdsa-p256"] {
        let before = left(&bench, key);
        let run = sign(&bench, key, &[]).expect(1);
        assert!(run.stderr.contains("E0206") && run.stderr.contains(key), "{run:?}");
        assert!(run.stderr.contains("keygen --algorithm xmss-sha2-10-256"), "{run:?}");
        assert!(!bench.path("stage.hlf").exists());
        assert_eq!(left(&bench, key), before);
    }
}

#[test]
fn what_cannot_be_signed_spends_nothing() {
    let bench = bench(&[LMS]);
    let long = "a-name-of-more-than-thirty-two-characters";
    bench.write("empty", b"");
    bench.write("elf", &[&b"\x7fELF"[..], &[0; 60]].concat());
    bench.write("large", &vec![0x13; (16 << 20) + 1]);
    bench.write("notes", b"mine");
    for (more, exit, expected) in [
        (&["--board", long, "--soc", "rot"][..], 1, "E0405"),
        (&["--soc", long], 1, "E0406"),
        (&["--code", "empty"], 1, "E0106"),
        (&["--code", "large"], 1, "E0106"),
        (&["--code", "elf"], 1, "E1204"),
        (&["--code", "missing"], 2, "none"),
        (&["-o", "notes"], 2, "E1201"),
        (&["-o", "code.bin", "--force"], 2, "E1202"),
        (&["-o", "lms-sha256-192-h5-w8.pem", "--force"], 2, "E1202"),
        (&["-o", "folder/stage.hlf"], 2, "none"),
    ] {
        // An option must not be given twice, so each changed option replaces the default one.
        let mut args: Vec<&str> =
            "sign --form first-stage --security-version 3 --key lms-sha256-192-h5-w8.pem --json"
                .split(' ')
                .collect();
        let defaults = [["--code", "code.bin"], ["--board", "hartlock-soc"], ["-o", "stage.hlf"]];
        for pair in defaults.iter().filter(|pair| !more.contains(&pair[0])) {
            args.extend(pair);
        }
        let run = bench.run(&[&args, more].concat()).expect(exit);
        assert_eq!(code(&run), expected, "{more:?}");
    }
    sign(&bench, LMS, &["--dry-run"]).expect(0);
    assert!(!bench.path("stage.hlf").exists());
    assert_eq!(left(&bench, LMS), 32);
    let elf = words(
        &bench,
        "sign --form first-stage --code elf --force-type --security-version 3 --board hartlock-soc \
           -o elf.hlf --key lms-sha256-192-h5-w8.pem",
        &[],
    );
    elf.expect(0);
}

#[test]
fn an_image_replaces_itself_and_no_other_file() {
    let bench = bench(&[LMS]);
    sign(&bench, LMS, &[]).expect(0);
    // The signature is another one, and everything else is the same.
    sign(&bench, LMS, &[]).expect(0);
    assert_eq!(left(&bench, LMS), 30);
    bench.write("code.bin", &[0x14; 1000]);
    assert_eq!(code(&sign(&bench, LMS, &["--json"]).expect(2)), "E1201");
    assert_eq!(left(&bench, LMS), 30);
    sign(&bench, LMS, &["--force"]).expect(0);
    // The same input and a stateless key give the same bytes.
    let slh = "slh-dsa-sha2-128s";
    bench.run(&["keygen", "--algorithm", slh, "-o", &format!("{slh}.pem")]).expect(0);
    sign(&bench, slh, &["--force"]).expect(0);
    let first = bench.read("stage.hlf");
    sign(&bench, slh, &[]).expect(0);
    assert!(bench.read("stage.hlf") == first);
}

#[test]
fn options_of_the_other_form_are_wrong_usage() {
    let bench = bench(&[LMS]);
    for option in [
        ["--type", "boot"],
        ["--label", "x"],
        ["--also-for", "a,b"],
        ["--hash", "sha256"],
        ["--block-size", "1024"],
        ["--profile", "all"],
        ["--min-boot-version", "1"],
        ["--bootargs", "x"],
        ["--trust", "lms-sha256-192-h5-w8.pub.pem"],
        ["--kernel", "linux"],
        ["--loader", "fw.bin"],
    ] {
        let run = sign(&bench, LMS, &option).expect(2);
        assert!(run.stderr.contains(option[0]), "{run:?}");
    }
    assert_eq!(left(&bench, LMS), 32);
    for option in [["--code", "code.bin"], ["--next-key", "lms-sha256-192-h5-w8.pub.pem"]] {
        let run = bench.run(&["sign", option[0], option[1], "--key", "x.pem", "-o", "x"]).expect(2);
        assert!(run.stderr.contains(option[0]), "{run:?}");
    }
    for missing in ["--code", "--board", "--security-version"] {
        let all =
            [["--code", "code.bin"], ["--board", "hartlock-soc"], ["--security-version", "3"]];
        let mut args = vec!["sign", "--form", "first-stage", "-o", "x", "--key", "x.pem"];
        args.extend(all.iter().filter(|pair| pair[0] != missing).flatten());
        let run = bench.run(&args).expect(2);
        assert!(run.stderr.contains(missing), "{run:?}");
    }
    let two = ["--key", "lms-sha256-192-h5-w8.pem"];
    assert!(sign(&bench, LMS, &two).expect(2).stderr.contains("one signer"));
    sign(&bench, LMS, &[]).expect(0);
    for option in [["--boot-version", "1"], ["--profile", "all"]] {
        let run = verify(&bench, LMS, &option).expect(2);
        assert!(run.stderr.contains(option[0]), "{run:?}");
    }
    verify(&bench, LMS, &["--digests"]).expect(2);
}

#[test]
fn one_form_is_never_taken_for_the_other() {
    let bench = bench(&[LMS]);
    sign(&bench, LMS, &[]).expect(0);
    let bundle = words(
        &bench,
        "sign --type system --kernel linux --system-fdt virt.dtb --security-version 3 \
           --key lms-sha256-192-h5-w8.pem -o system.hlk",
        &[],
    );
    bundle.expect(0);
    let key = "lms-sha256-192-h5-w8.pub.pem";
    // The same key signed both files.
    bench.run(&["verify", "stage.hlf", "system.hlk", "--key", key]).expect(0);
    for more in [["--form", "bundle"], ["--type", "boot"], ["--type", "system"]] {
        let run = verify(&bench, LMS, &more).expect(1);
        assert!(run.stderr.contains("E0102") && run.stderr.contains("first stage"), "{run:?}");
    }
    let run = bench.run(&["verify", "system.hlk", "--form", "first-stage", "--key", key]).expect(1);
    assert!(run.stderr.contains("E0102") && run.stderr.contains("system bundle"), "{run:?}");
    bench.run(&["verify", "system.hlk", "--capacity", "1", "--key", key]).expect(2);
    for verb in ["diff", "extract", "resign"] {
        let rest: &[&str] = match verb {
            "diff" => &["system.hlk"],
            "extract" => &["--unverified", "-o", "folder"],
            _ => &["--verify-key", key, "--key", "lms-sha256-192-h5-w8.pem", "-o", "x.hlk"],
        };
        let run = bench.run(&[&[verb, "stage.hlf"], rest].concat());
        assert!(run.code != 0 && run.stderr.contains("hint"), "{verb}: {run:?}");
    }
    // A file of one form is not accepted as a payload of the other.
    let run = words(
        &bench,
        "sign --form first-stage --code system.hlk --security-version 3 --board hartlock-soc \
           -o x.hlf --key lms-sha256-192-h5-w8.pem --json",
        &[],
    );
    assert_eq!(code(&run.expect(1)), "E1204");
    let json = bench.run(&["verify", "stage.hlf", "system.hlk", "--key", key, "--json"]).json();
    let both = json["bundles"].as_array().unwrap();
    assert!(both[0]["first_stage"].is_object() && both[1]["manifest"].is_object(), "{json}");
}

#[test]
fn inspect_shows_every_byte_and_trusts_none() {
    let bench = bench(&[LMS]);
    sign(&bench, LMS, &["--next-key", "lms-sha256-192-h5-w8.pub.pem"]).expect(0);
    let page = bench.run(&["inspect", "stage.hlf"]).expect(0).stdout;
    for text in ["NOT VERIFIED", "verified by hardware", "verifies over these bytes", LMS] {
        assert!(page.contains(text), "{text}: {page}");
    }
    for (option, text) in [("--fields", "next_key_digest"), ("--hexdump", "2d434f44 452d7631")] {
        let page = bench.run(&["inspect", "stage.hlf", option]).expect(0).stdout;
        assert!(page.contains(text) && page.contains("spec/first-stage.md"), "{page}");
    }
    let json = bench.run(&["inspect", "stage.hlf", "--json"]).expect(0).json();
    let mut end = 0;
    for field in json["fields"].as_array().unwrap() {
        assert_eq!(field["offset"], end, "{field}");
        end += field["size"].as_u64().unwrap();
    }
    assert_eq!(json["file_size"], end);
    assert_eq!(json["first_stage"]["check"], "verifies");
    assert!(json["header"].is_null() && json["manifest"].is_null());
    bench.damaged("stage.hlf", "stage.hlf", |bytes| *bytes.last_mut().unwrap() ^= 1);
    // The image is well formed although its signature is invalid.
    let json = bench.run(&["inspect", "stage.hlf", "--json"]).expect(0).json();
    assert_eq!(json["first_stage"]["check"], "E0301");
    bench.damaged("stage.hlf", "stage.hlf", |bytes| bytes[30] = 1);
    let run = bench.run(&["inspect", "stage.hlf", "--json"]).expect(1);
    assert_eq!(code(&run), "E0203");
    assert_eq!(run.json()["fault"]["offset"], 30);
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors")
}

#[test]
fn every_vector_is_judged_as_expected_and_can_be_shown() {
    let bench = Bench::new();
    let folder = vectors().join("first-stage");
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    for vector in &all {
        let name = vector["name"].as_str().unwrap();
        let options = &vector["options"];
        let path = folder.join(format!("{name}.hlf")).display().to_string();
        let shown = bench.run(&["inspect", &path, "--fields"]);
        assert!([0, 1].contains(&shown.code), "{name}: {shown:?}");
        assert!([0, 1].contains(&bench.run(&["inspect", &path, "--hexdump"]).code), "{name}");
        let mut args: Vec<String> =
            ["verify", &path, "--form", "first-stage", "--json"].map(str::to_owned).into();
        for key in options["keys"].as_array().unwrap() {
            let file = vectors().join("keys").join(format!("{}.pub.pem", key.as_str().unwrap()));
            args.extend(["--key".to_owned(), file.display().to_string()]);
        }
        // The command cannot verify a medium, and decides nothing without a key.
        if options["medium"] == true || options["keys"] == serde_json::json!([]) {
            continue;
        }
        for option in ["board", "soc", "floor", "lifecycle", "capacity"] {
            let value = match &options[option] {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                number => number.to_string(),
            };
            args.extend([format!("--{option}"), value]);
        }
        let run = bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (exit, reason) = match vector["reason"].as_str() {
            None => (0, "none"),
            Some(reason) => (1, reason),
        };
        assert_eq!((run.code, code(&run).as_str()), (exit, reason), "{name}: {run:?}");
    }
    assert!(all.len() > 150, "{}", all.len());
}

/// Tests that the command refuses images in which one bit was flipped, for 500 bits. The library has a test
/// of its own (`verif/testkit`).
#[test]
fn no_changed_bit_is_accepted_or_stops_the_command() {
    let bench = bench(&[LMS]);
    sign(&bench, LMS, &[]).expect(0);
    let size = bench.read("stage.hlf").len();
    const COUNT: usize = 500;
    for index in 0..COUNT {
        let bit = index * (size * 8 / COUNT) + index % 8;
        bench.damaged("stage.hlf", "changed.hlf", |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        let key = "lms-sha256-192-h5-w8.pub.pem";
        let run = bench.run(&["verify", "changed.hlf", "--form", "first-stage", "--key", key]);
        assert!(run.code == 1 && run.stderr.contains("error: E0"), "bit {bit}: {run:?}");
        let shown = bench.run(&["inspect", "changed.hlf", "--json"]);
        assert!([0, 1].contains(&shown.code), "bit {bit}: {shown:?}");
    }
}
