//! Tests of key files, with other tools that read and write them.

use std::os::unix::fs::PermissionsExt;

use crate::common::Bench;

#[test]
fn keygen_writes_a_private_and_a_public_file() {
    let bench = Bench::new();
    let run = bench.run(&["keygen", "-o", "root.pem"]).expect(0);
    assert!(run.stdout.contains("key id") && run.stdout.contains("root.pub.pem"));
    assert!(bench.read("root.pem").starts_with(b"-----BEGIN PRIVATE KEY-----\n"));
    assert!(bench.read("root.pub.pem").starts_with(b"-----BEGIN PUBLIC KEY-----\n"));
    let mode = |name| bench.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("root.pem"), 0o600);
    assert_eq!(mode("root.pub.pem") & 0o600, 0o600);
}

#[test]
fn the_private_file_is_private_under_any_umask() {
    let bench = Bench::new();
    let run = std::process::Command::new("sh")
        .args(["-c", "umask 000; exec \"$0\" keygen -o root.pem"])
        .arg(env!("CARGO_BIN_EXE_hartlock"))
        .current_dir(bench.folder())
        .output()
        .unwrap();
    assert!(run.status.success());
    let mode = bench.path("root.pem").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn keygen_never_overwrites() {
    let bench = Bench::new();
    bench.run(&["keygen", "-o", "root.pem"]).expect(0);
    let (private, public) = (bench.read("root.pem"), bench.read("root.pub.pem"));
    let again = bench.run(&["keygen", "-o", "root.pem"]).expect(2);
    assert!(again.stderr.contains("`root.pem`"), "{again:?}");
    assert_eq!((bench.read("root.pem"), bench.read("root.pub.pem")), (private, public));

    // If one of the two files exists, the other one is not written either.
    std::fs::remove_file(bench.path("root.pem")).unwrap();
    bench.run(&["keygen", "-o", "root.pem"]).expect(2);
    assert!(!bench.path("root.pem").exists());
    assert_eq!(bench.file_names(), ["fw.bin", "initrd", "linux", "root.pub.pem", "virt.dtb"]);
}

#[test]
fn a_bundle_never_replaces_a_key_or_an_input() {
    let bench = Bench::with_bundle();
    let before = bench.read("root.pem");
    for target in ["root.pem", "linux", ".", "/dev/null", "missing/system.hlk"] {
        let args = ["sign", "--type", "system", "--kernel", "linux", "--system-fdt", "virt.dtb"];
        let more = ["--security-version", "1", "--key", "root.pem", "-o", target];
        bench.run(&[&args[..], &more].concat()).expect(2);
    }
    assert_eq!(bench.read("root.pem"), before);
    assert_eq!(bench.read("linux").len(), 100_000);
}

#[test]
fn openssl_reads_our_keys() {
    let bench = Bench::new();
    bench.run(&["keygen", "-o", "root.pem"]).expect(0);
    let Some(run) = bench.tool("openssl", &["pkey", "-in", "root.pem", "-pubout"]) else { return };
    assert_eq!(run.stdout.as_bytes(), bench.read("root.pub.pem"));
    let run = bench.tool("openssl", &["pkey", "-in", "root.pem"]).unwrap();
    assert_eq!(run.stdout.as_bytes(), bench.read("root.pem"));
    let run = bench.tool("openssl", &["pkey", "-pubin", "-in", "root.pub.pem", "-noout"]).unwrap();
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn openssl_verifies_our_signatures() {
    let bench = Bench::with_bundle();
    let bundle = bench.read("system.hlk");
    let signed_size = u32::from_le_bytes(bundle[16..20].try_into().unwrap()) as usize;
    let signature_at = signed_size + 16 + 32;
    bench.write("signed", &bundle[..signed_size]);
    bench.write("signature", &bundle[signature_at..signature_at + 64]);
    let args = [
        "pkeyutl",
        "-verify",
        "-rawin",
        "-pubin",
        "-inkey",
        "root.pub.pem",
        "-in",
        "signed",
        "-sigfile",
        "signature",
    ];
    let Some(run) = bench.tool("openssl", &args) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    bench.damaged("signed", "signed", |bytes| bytes[40] ^= 1);
    assert_ne!(bench.tool("openssl", &args).unwrap().code, 0);
}

#[test]
fn we_sign_and_verify_with_keys_of_openssl() {
    let bench = Bench::new();
    let args = ["genpkey", "-algorithm", "ed25519", "-out", "root.pem"];
    let Some(run) = bench.tool("openssl", &args) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    let args = ["pkey", "-in", "root.pem", "-pubout", "-out", "root.pub.pem"];
    assert_eq!(bench.tool("openssl", &args).unwrap().code, 0);
    bench.sign(&[]).expect(0);
    bench.run(&["verify", "system.hlk", "--key", "root.pub.pem"]).expect(0);
}

#[test]
fn keys_of_other_algorithms_are_named() {
    let bench = Bench::with_bundle();
    let kinds: [(&str, &[&str], &str); 3] = [
        ("rsa", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "RSA"),
        ("ec", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], "ECDSA"),
        ("ed448", &["-algorithm", "ed448"], "Ed448"),
    ];
    for (name, options, expected) in kinds {
        let (private, public) = (format!("{name}.pem"), format!("{name}.pub.pem"));
        let Some(run) = bench.tool("openssl", &[&["genpkey", "-out", &private], options].concat())
        else {
            return;
        };
        assert_eq!(run.code, 0, "{run:?}");
        let args = ["pkey", "-in", &private, "-pubout", "-out", &public];
        assert_eq!(bench.tool("openssl", &args).unwrap().code, 0);
        let run = bench.run(&["verify", "system.hlk", "--key", &public]).expect(2);
        assert!(run.stderr.contains(expected), "{run:?}");
        let run = bench.sign(&["--key", &private]).expect(2);
        assert!(run.stderr.contains(expected), "{run:?}");
    }
    let args = ["pkcs8", "-topk8", "-in", "root.pem", "-out", "locked.pem", "-passout", "pass:x"];
    assert_eq!(bench.tool("openssl", &args).unwrap().code, 0);
    let args = ["verify", "system.hlk", "--key", "locked.pem"];
    let run = bench.run(&args).expect(2);
    assert!(run.stderr.contains("has a private key"), "{run:?}");
}

#[test]
fn the_wrong_half_of_a_pair_is_named() {
    let bench = Bench::with_bundle();
    let run = bench.run(&["verify", "system.hlk", "--key", "root.pem"]).expect(2);
    assert!(run.stderr.contains("has a private key"), "{run:?}");
    let run = bench.sign(&["--key", "root.pub.pem"]).expect(2);
    assert!(run.stderr.contains("has a public key"), "{run:?}");
    let run = bench.run(&["verify", "system.hlk", "--key", "virt.dtb"]).expect(2);
    assert!(run.stderr.contains("neither PEM nor DER"), "{run:?}");
    let run = bench.run(&["verify", "system.hlk", "--key", "linux"]).expect(2);
    assert!(run.stderr.contains("far too long"), "{run:?}");
}

#[test]
fn a_key_that_cannot_be_used_looks_as_documented() {
    let bench = Bench::with_bundle();
    let run = bench.run(&["verify", "system.hlk", "--key", "virt.dtb"]).expect(2);
    assert_eq!(run.stdout, "");
    assert_eq!(
        run.stderr,
        "error: E1102 `virt.dtb` is neither PEM nor DER.\n\
         \n\
         \x20      hint: Give the key in PEM, whose first line is `-----BEGIN …`, or in DER.\n\
         \x20      spec: key files §2\n"
    );
    let run = bench.run(&["verify", "system.hlk", "--key", "virt.dtb", "--json"]).expect(2);
    let json = run.json();
    assert_eq!(json["outcome"], "undecided");
    let error = &json["error"];
    assert_eq!(error["message"], "`virt.dtb` is neither PEM nor DER");
    let reason = &error["reason"];
    assert_eq!((&reason["code"], &reason["name"]), (&"E1102".into(), &"NotPem".into()));
    assert_eq!((&reason["fault"], &reason["hint"]), (&"caller".into(), &error["hint"]));
}

#[test]
fn every_verb_says_which_key_cannot_be_used_and_why() {
    let bench = Bench::with_bundle();
    let twice = bench.read("root.pub.pem").repeat(2);
    bench.write("twice.pem", &twice);
    bench.write("secret", b"correct horse");
    bench.write("other", b"wrong horse");
    let lock = ["--encrypt", "--passphrase-file", "secret", "-o", "locked.pem"];
    bench.run(&[&["key", "convert", "root.pem"], &lock[..]].concat()).expect(0);
    bench.run(&["keygen", "-o", "lms.pem", "--algorithm", "lms-sha256-192-h5-w1"]).expect(0);
    std::fs::set_permissions(bench.path("lms.pem"), std::fs::Permissions::from_mode(0o644))
        .unwrap();
    bench.write(
        "trust.toml",
        b"type = \"boot\"\nsecurity_version = 1\n[trust]\npolicy = \"any\"\nkeys = [\"twice.pem\"]\n\
          [[payload]]\ntype = \"opensbi\"\nfile = \"fw.bin\"\n\
          [[payload]]\ntype = \"loader\"\nfile = \"fw.bin\"\n\
          [[payload]]\ntype = \"boot-fdt\"\nfile = \"virt.dtb\"\n",
    );
    let cases: [(&str, &str); 12] = [
        ("E1101", "verify system.hlk --key linux"),
        ("E1101", "key show /dev/zero"),
        ("E1102", "key show virt.dtb"),
        ("E1104", "verify system.hlk --key twice.pem"),
        ("E1104", "sign trust.toml --key root.pem -o boot.hlk"),
        ("E1106", "verify system.hlk --key root.pem"),
        ("E1107", "sign trust.toml --key root.pub.pem -o boot.hlk"),
        ("E1109", "key show locked.pem --passphrase-file other"),
        ("E1109", "key convert locked.pem --passphrase-file other -o x.pem"),
        ("E1113", "key show root.pem --algorithm ml-dsa-65"),
        ("E1118", "key convert lms.pem -o x.pem"),
        (
            "E1125",
            "sign --type system --kernel linux --system-fdt virt.dtb --security-version 1 --key lms.pem -o x.hlk",
        ),
    ];
    let before = bench.file_names();
    for (code, line) in cases {
        let args: Vec<_> = line.split(' ').collect();
        let run = bench.run(&args).expect(2);
        let first = run.stderr.lines().find(|line| !line.starts_with("warning: ")).unwrap();
        assert!(first.starts_with(&format!("error: {code} `")), "{run:?}");
        assert!(run.stderr.contains("\n       hint: ") && run.stderr.contains("\n       spec: "));
        let json = bench.run(&[&args[..], &["--json"]].concat()).expect(2).json();
        assert_eq!(json["error"]["reason"]["code"], code, "{line}");
    }
    assert_eq!(bench.file_names(), before);
    // A missing file has no reason code.
    let json = bench.run(&["key", "show", "missing", "--json"]).expect(2).json();
    assert!(json["error"]["reason"].is_null());
}

/// Algorithms of keys that are made quickly, one of each family.
const QUICK: [&str; 6] = [
    "ed25519",
    "ecdsa-p256",
    "ml-dsa-65",
    "slh-dsa-sha2-128f",
    "lms-sha256-192-h5-w1",
    "xmssmt-sha2-60-12-192",
];

#[test]
fn a_key_is_shown_as_the_node_that_u_boot_trusts() {
    let bench = Bench::new();
    let made = bench.run(&["keygen", "-o", "root.pem", "--json"]).expect(0).json();
    let show = ["key", "show", "root.pub.pem", "--fdt", "--soc", "virt", "--board"];
    let node = bench.run(&[&show[..], &["qemu-virt"]].concat()).expect(0).stdout;
    let id = made["key_id"].as_str().unwrap();
    for line in ["hartlock {", "board = \"qemu-virt\";", "soc = \"virt\";", "algorithm = <1>;"] {
        assert!(node.lines().any(|it| it.trim() == line), "no `{line}` in {node}");
    }
    assert!(node.contains(&format!("key-id = [{id}];")), "{node}");
    bench.run(&[&show[..], &["a\"; evil = \"b"]].concat()).expect(2);
    bench.run(&["key", "show", "root.pub.pem", "--fdt"]).expect(2);
}

#[test]
fn keys_of_every_family_are_made_and_shown() {
    let bench = Bench::new();
    for name in QUICK {
        let (private, public) = (format!("{name}.pem"), format!("{name}.pub.pem"));
        let made = bench.run(&["keygen", "-o", &private, "--algorithm", name, "--json"]).expect(0);
        let made = made.json();
        assert_eq!(made["algorithm"], name);
        let shown = bench.run(&["key", "show", &private, "--json"]).expect(0).json();
        assert_eq!(shown["schema"], "hartlock/key-show-v1");
        assert_eq!((&shown["algorithm"], &shown["is_private"]), (&name.into(), &true.into()));
        assert_eq!(shown["key_id"], made["key_id"]);
        assert_eq!(shown["signatures_left"], made["signatures_left"]);
        let left = match name {
            "lms-sha256-192-h5-w1" => 32.into(),
            "xmssmt-sha2-60-12-192" => (1_u64 << 60).into(),
            _ => serde_json::Value::Null,
        };
        assert_eq!(made["signatures_left"], left, "{name}");
        let shown = bench.run(&["key", "show", &public, "--json"]).expect(0).json();
        assert_eq!((&shown["algorithm"], &shown["is_private"]), (&name.into(), &false.into()));
        assert_eq!(shown["key_id"], made["key_id"]);
        let text = bench.run(&["key", "show", &private]).expect(0).stdout;
        assert!(text.contains(name) && text.contains("private"), "{text}");
    }
}

#[test]
fn the_algorithm_that_was_meant_is_suggested() {
    let bench = Bench::new();
    let run = bench.run(&["keygen", "-o", "root.pem", "--algorithm", "mldsa66"]).expect(2);
    assert!(run.stderr.contains("`ml-dsa-65`"), "{run:?}");
    assert!(!bench.path("root.pem").exists());
    let run = bench.run(&["keygen", "-o", "root.pem", "--algorithm", "lms"]).expect(2);
    assert!(run.stderr.contains("`lms-sha256-h5-w1`"), "{run:?}");
}

#[test]
fn passphrases_come_from_files_and_variables() {
    let bench = Bench::new();
    bench.write("secret", "correct horse\n".as_bytes());
    bench.write("other", b"wrong horse");
    let args = ["keygen", "-o", "root.pem", "--encrypt", "--passphrase-file", "secret"];
    bench.run(&args).expect(0);
    assert!(bench.read("root.pem").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    bench.run(&["key", "show", "root.pem", "--passphrase-file", "secret"]).expect(0);
    let run = bench.run(&["key", "show", "root.pem", "--passphrase-file", "other"]).expect(2);
    assert!(run.stderr.contains("does not open with this passphrase"), "{run:?}");
    let run = bench.run(&["key", "show", "root.pem", "--passphrase-file", "missing"]).expect(2);
    assert!(run.stderr.contains("`missing`"), "{run:?}");

    let with_variable = |args: &[&str], value: Option<&str>| {
        let mut command = bench.command();
        command.args(args).args(["--passphrase-env", "SECRET"]).env_remove("SECRET");
        if let Some(value) = value {
            command.env("SECRET", value);
        }
        crate::common::Run::of(command.output().unwrap())
    };
    with_variable(&["key", "show", "root.pem"], Some("correct horse")).expect(0);
    with_variable(&["key", "show", "root.pem"], Some("wrong horse")).expect(2);
    let run = with_variable(&["key", "show", "root.pem"], None).expect(2);
    assert!(run.stderr.contains("the variable `SECRET`"), "{run:?}");
    let run = with_variable(&["keygen", "-o", "new.pem", "--encrypt"], Some("")).expect(2);
    assert!(run.stderr.contains("empty"), "{run:?}");
    assert!(!bench.path("new.pem").exists());

    // `hartlock sign` reads the passphrase in the same way.
    bench.sign(&["--passphrase-file", "other"]).expect(2);
    bench.sign(&["--passphrase-file", "secret"]).expect(0);
    bench.run(&["verify", "system.hlk", "--key", "root.pub.pem"]).expect(0);
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let bench = Bench::new();
    bench.write("secret", b"correct horse");
    let args = ["keygen", "-o", "root.pem", "--encrypt", "--passphrase-file", "secret"];
    bench.run(&args).expect(0);
    let hartlock = env!("CARGO_BIN_EXE_hartlock");
    // A new session has no controlling terminal, even if the tests run in one.
    let args = ["-w", hartlock, "key", "show", "root.pem"];
    let Some(run) = bench.tool("setsid", &args) else { return };
    let run = run.expect(2);
    assert!(run.stderr.contains("is encrypted with a passphrase"), "{run:?}");
    let args = ["-w", hartlock, "keygen", "-o", "new.pem", "--encrypt"];
    let run = bench.tool("setsid", &args).unwrap().expect(2);
    assert!(run.stderr.contains("no terminal"), "{run:?}");
}

#[test]
fn a_terminal_is_asked_and_shows_nothing() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    let typed = |arguments: &str, keys: &str| {
        let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_hartlock"));
        let child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(bench.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                crate::common::skipped(format_args!("`script` cannot be run: {error}"));
                return None;
            }
        };
        let mut stdin = child.stdin.take().unwrap();
        // Input that is typed before the prompt is discarded.
        for key in keys.split_inclusive('\n') {
            std::thread::sleep(std::time::Duration::from_millis(900));
            stdin.write_all(key.as_bytes()).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains("correct"), "it shows what is typed: {text}");
        Some((output.status.code(), text))
    };
    let new = "keygen -o root.pem --encrypt";
    let Some((code, text)) = typed(new, "correct horse\ncorrect mule\n") else { return };
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("two passphrases") && !bench.path("root.pem").exists(), "{text}");
    let (code, text) = typed(new, "correct horse\ncorrect horse\n").unwrap();
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = typed("key show root.pem", "correct horse\n").unwrap();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("passphrase of root.pem: "), "{text}");
    // The input is interrupted with Ctrl-C.
    let (code, text) = typed("key show root.pem", "correct\x03\n").unwrap();
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn keys_are_converted_and_never_overwritten() {
    let bench = Bench::new();
    bench.write("secret", b"correct horse");
    bench.run(&["keygen", "-o", "root.pem", "--algorithm", "ecdsa-p384"]).expect(0);
    let convert = |args: &[&str]| bench.run(&[&["key", "convert"], args].concat());
    convert(&["root.pem", "--format", "der", "-o", "root.der"]).expect(0);
    convert(&["root.der", "-o", "again.pem"]).expect(0);
    assert_eq!(bench.read("again.pem"), bench.read("root.pem"));
    let locked = ["root.der", "--encrypt", "--passphrase-file", "secret", "-o", "locked.pem"];
    let json = convert(&[&locked[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["schema"], "hartlock/key-convert-v1");
    assert_eq!((&json["is_private"], &json["is_encrypted"]), (&true.into(), &true.into()));
    let secret = ["locked.pem", "--passphrase-file", "secret", "-o"];
    convert(&[&secret[..], &["still.pem"]].concat()).expect(0);
    assert!(bench.read("still.pem").starts_with(b"-----BEGIN ENCRYPTED"));
    convert(&[&secret[..], &["open.pem", "--decrypt"]].concat()).expect(0);
    assert_eq!(bench.read("open.pem"), bench.read("root.pem"));
    for name in ["root.der", "again.pem", "locked.pem"] {
        let mode = bench.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    // The verb has a second name, and writes the public key of a private one.
    bench.run(&["key", "export", "root.pem", "--public", "-o", "half.pem"]).expect(0);
    assert_eq!(bench.read("half.pem"), bench.read("root.pub.pem"));
    convert(&["root.pub.pem", "--format", "der", "-o", "half.der"]).expect(0);
    convert(&["half.der", "-o", "half2.pem"]).expect(0);
    assert_eq!(bench.read("half2.pem"), bench.read("root.pub.pem"));
    let run = convert(&["root.pub.pem", "--encrypt", "-o", "x", "--passphrase-file", "secret"]);
    assert!(run.expect(2).stderr.contains("a public key is not secret"));
    for output in ["root.pem", "root.pub.pem", "linux"] {
        let before = bench.read(output);
        convert(&["root.pem", "-o", output]).expect(2);
        convert(&["root.pub.pem", "-o", output]).expect(2);
        assert_eq!(bench.read(output), before);
    }
}

#[test]
fn a_key_that_counts_is_written_in_no_other_form() {
    let bench = Bench::new();
    bench.write("secret", b"correct horse");
    let make = |more: &[&str]| {
        let args = ["keygen", "-o", "lms.pem", "--algorithm", "lms-sha256-h5-w8"];
        bench.run(&[&args[..], more].concat())
    };
    make(&["--encrypt", "--passphrase-file", "secret"]).expect(2);
    make(&["--format", "der"]).expect(2);
    let run = make(&[]).expect(0);
    assert!(run.stdout.contains("32 left"), "{run:?}");
    let text = bench.run(&["key", "show", "lms.pem"]).expect(0).stdout;
    assert!(text.contains("32 left of 32"), "{text}");
    let ways: [&[&str]; 3] =
        [&[], &["--format", "der"], &["--encrypt", "--passphrase-file", "secret"]];
    for way in ways {
        let args = ["key", "export", "lms.pem", "-o", "copy.pem"];
        let run = bench.run(&[&args[..], way].concat()).expect(2);
        assert!(run.stderr.contains("cannot be written in another form"), "{run:?}");
        assert!(!bench.path("copy.pem").exists());
    }
    bench.run(&["key", "convert", "lms.pem", "--public", "-o", "half.pem"]).expect(0);
    assert_eq!(bench.read("half.pem"), bench.read("lms.pub.pem"));
}

#[test]
fn an_algorithm_that_no_key_can_use_is_refused() {
    let bench = Bench::with_bundle();
    let pss = "rsa-pss-3072-sha384";
    let run = bench.sign(&["--algorithm", pss]).expect(2);
    assert!(run.stderr.contains("none of the given keys"), "{run:?}");
    let args = ["verify", "system.hlk", "--key", "root.pub.pem", "--algorithm", pss];
    bench.run(&args).expect(2);
    bench.run(&["key", "show", "root.pem", "--algorithm", pss]).expect(2);
    bench.run(&["key", "show", "root.pem", "--algorithm", "ed25519"]).expect(0);
}

#[test]
fn rsa_keys_say_how_they_are_used() {
    let bench = Bench::new();
    let name = "rsa-pkcs1-2048-sha512";
    let run = bench.run(&["keygen", "-o", "rsa.pem", "--algorithm", name]).expect(0);
    assert!(!run.stdout.contains("to be used"), "{run:?}");
    let shown = |more: &[&str]| {
        let args = ["key", "show", "rsa.pub.pem", "--json"];
        bench.run(&[&args[..], more].concat()).expect(0).json()
    };
    assert_eq!(shown(&[])["algorithm"], name);
    assert_eq!(shown(&["--algorithm", name])["key_id"], shown(&[])["key_id"]);
}

/// A key that is printed in RFC 8032 §7.1.
const OF_RFC_8032: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
    -----END PRIVATE KEY-----\n";

#[test]
fn a_key_that_everybody_has_signs_for_development_only_and_is_named() {
    let bench = Bench::with_bundle();
    bench.write("rfc.pem", OF_RFC_8032.as_bytes());
    bench.tool("chmod", &["600", "rfc.pem"]).unwrap().expect(0);
    bench.run(&["key", "convert", "rfc.pem", "--public", "-o", "rfc.pub.pem"]).expect(0);
    let place = "RFC 8032 §7.1";
    let shown = bench.run(&["key", "show", "rfc.pub.pem"]).expect(0);
    assert!(shown.stdout.contains(place), "{shown:?}");

    let sign = |more: &[&str]| bench.sign(&[&["--key", "rfc.pem"], more].concat());
    for more in [&[][..], &["--lifecycle", "production"], &["--lifecycle", "development,returned"]]
    {
        let refused = sign(more).expect(2);
        assert!(
            refused.stderr.contains("E1136 `rfc.pem` is a key that everybody has"),
            "{refused:?}"
        );
        assert!(refused.stderr.contains("--lifecycle development"), "{refused:?}");
    }
    let signed = sign(&["--lifecycle", "development"]).expect(0);
    assert!(signed.stdout.contains(place), "{signed:?}");
    let keys = ["--key", "root.pub.pem", "--key", "rfc.pub.pem"];
    let verified = bench.run(&[&["verify", "system.hlk"], &keys[..]].concat()).expect(0);
    assert!(verified.stdout.contains(place), "{verified:?}");
    let inspected = bench.run(&["inspect", "system.hlk"]).expect(0);
    assert!(inspected.stdout.contains(place), "{inspected:?}");
    // A bundle for development does not become one for production.
    let again =
        ["resign", "system.hlk", "--verify-key", "root.pub.pem", "--verify-key", "rfc.pub.pem"];
    let again = bench.run(&[&again[..], &["-k", "rfc.pem", "-o", "again.hlk"]].concat());
    again.expect(0);

    // Nor may a boot bundle for production trust such a key.
    let boot = "sign --type boot --opensbi fw.bin --loader fw.bin --boot-fdt virt.dtb --security-version 1 \
                --key root.pem --trust rfc.pub.pem -o boot.hlk";
    let boot: Vec<_> = boot.split_whitespace().collect();
    let refused = bench.run(&boot).expect(2);
    assert!(refused.stderr.contains("E1136 `rfc.pub.pem`"), "{refused:?}");
    bench.run(&[&boot[..], &["--lifecycle", "development"]].concat()).expect(0);
}

#[test]
fn a_private_key_that_others_can_read_is_reported() {
    let bench = Bench::with_bundle();
    let warning = "other users can read the private key root.pem";
    let said = |args: &[&str]| bench.run(args).expect(0).stderr;
    assert!(!said(&["key", "show", "root.pem"]).contains(warning));
    for mode in ["640", "604", "644"] {
        bench.tool("chmod", &[mode, "root.pem"]).unwrap().expect(0);
        let said = said(&["key", "show", "root.pem"]);
        assert!(said.contains(warning) && said.contains(&format!("mode 0{mode}")), "{said}");
    }
    assert!(bench.sign(&[]).expect(0).stderr.contains(warning));
    assert!(
        !said(&["key", "show", "root.pub.pem"]).contains(warning),
        "a public key is for others"
    );
    bench.tool("sh", &["-c", "chmod 0600 root.pem"]).unwrap().expect(0);
    assert!(!said(&["key", "show", "root.pem"]).contains(warning));

    // Whoever reads the passphrase of a key has the key.
    bench.tool("sh", &["-c", "echo secret > pass && chmod 0604 pass"]).unwrap().expect(0);
    let made = said(&["keygen", "--passphrase-file", "pass", "-o", "locked.pem"]);
    assert!(made.contains("other users can read the passphrase pass (mode 0604)"), "{made}");
}

/// Each passphrase file opens the key for us exactly if it opens the key for openssl.
#[test]
fn passphrase_files_mean_the_same_to_openssl() {
    let bench = Bench::new();
    if bench.tool("openssl", &["version"]).is_none() {
        return;
    }
    let longest = "a".repeat(1023);
    let files: [(&str, Vec<u8>); 9] = [
        ("plain", b"secret".to_vec()),
        ("line", b"secret\n".to_vec()),
        ("lines", b"secret\nsecond\n".to_vec()),
        ("windows", b"secret\r\n".to_vec()),
        ("blank", b"secret \n".to_vec()),
        ("marked", b"\xef\xbb\xbfsecret\n".to_vec()),
        ("latin", b"s\xe9cret\n".to_vec()),
        ("longest", format!("{longest}\n{longest}{longest}").into_bytes()),
        ("other", b"Secret\n".to_vec()),
    ];
    for (name, content) in &files {
        bench.write(name, content);
        // Each writes a key with the passphrase of the file, and the other one opens it.
        let key = format!("{name}.pem");
        bench.run(&["keygen", "-o", &key, "--passphrase-file", name]).expect(0);
        let from = format!("file:{name}");
        bench
            .tool("openssl", &["pkey", "-in", &key, "-passin", &from, "-noout"])
            .unwrap()
            .expect(0);
        let theirs = format!("{name}.theirs.pem");
        let make = ["genpkey", "-algorithm", "ed25519", "-aes256", "-pass", &from, "-out", &theirs];
        bench.tool("openssl", &make).unwrap().expect(0);
        for (other, _) in &files {
            let from = format!("file:{other}");
            // PBKDF2 as openssl uses it takes less time than our scrypt.
            let opens = ["pkey", "-in", &theirs, "-passin", &from, "-noout"];
            let opens = bench.tool("openssl", &opens).unwrap().code == 0;
            let ours = bench.run(&["key", "show", &theirs, "--passphrase-file", other]);
            assert_eq!(opens, ours.code == 0, "{theirs} with {other}: {ours:?}");
        }
    }
    // Where openssl reads nothing or only a part, no key is read.
    for (name, content) in
        [("empty", Vec::new()), ("long", vec![b'a'; 1024]), ("zero", b"sec\0ret\n".to_vec())]
    {
        bench.write(name, &content);
        let refused = bench.run(&["key", "show", "plain.pem", "--passphrase-file", name]).expect(2);
        assert!(refused.stderr.contains(&format!("`{name}`")), "{refused:?}");
    }
}
