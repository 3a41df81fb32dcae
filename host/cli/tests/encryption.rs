//! Tests of encrypted payloads and class keys.

use std::os::unix::fs::PermissionsExt;

use crate::common::{Bench, Run};

/// Makes a folder with payloads, a signing key, the class key `fleet.pem` and another one, and signs `system.hlk` for the
/// first.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.run(&["keygen", "-o", "root.pem"]).expect(0);
    for name in ["fleet.pem", "other.pem"] {
        bench.run(&["keygen", "--class", "-o", name]).expect(0);
    }
    bench.sign(&["--encrypt", "fleet.pem"]).expect(0);
    bench
}

fn verify(bench: &Bench, more: &[&str]) -> Run {
    bench.run(&[&["verify", "system.hlk", "--key", "root.pub.pem"], more].concat())
}

fn extract(bench: &Bench, more: &[&str]) -> Run {
    let words = ["extract", "system.hlk", "--key", "root.pub.pem", "-o", "out", "--force"];
    bench.run(&[&words, more].concat())
}

fn class(bench: &Bench, key: &str) -> String {
    let shown = bench.run(&["key", "show", key, "--json"]).expect(0).json();
    shown["class"].as_str().unwrap().to_owned()
}

/// Returns the reason code of a refusal.
fn code(run: Run) -> String {
    let run = run.expect(1);
    run.stderr.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn an_encrypted_bundle_is_verified_by_everybody_and_read_with_the_key() {
    let bench = bench();
    let id = class(&bench, "fleet.pem");
    let shown = verify(&bench, &["--json"]).expect(0).json();
    for payload in shown["manifest"]["payloads"].as_array().unwrap() {
        assert_eq!(payload["encryption"]["cipher"], "aes-256-ctr");
        assert_eq!(payload["encryption"]["class"], id.as_str());
    }
    assert_eq!(shown["checked"]["decrypted"], false);
    assert!(verify(&bench, &[]).expect(0).stdout.contains("`--decrypt-with`"));
    let shown = verify(&bench, &["--decrypt-with", "fleet.pem", "--json"]).expect(0).json();
    assert_eq!(shown["checked"]["decrypted"], true);
    assert_eq!(code(verify(&bench, &["--decrypt-with", "other.pem"])), "E0606");
    let both = ["--decrypt-with", "other.pem", "--decrypt-with", "fleet.pem"];
    verify(&bench, &both).expect(0);
    assert!(bench.run(&["inspect", "system.hlk"]).expect(0).stdout.contains(&id));

    // No plain text is in the bundle, and every signature has keys of its own.
    let bundle = bench.read("system.hlk");
    for file in ["linux", "initrd", "virt.dtb"] {
        let plain = bench.read(file);
        assert!(
            !bundle.windows(64).any(|bytes| bytes == &plain[plain.len() / 2..][..64]),
            "{file}"
        );
    }
    bench.sign(&["--encrypt", "fleet.pem"]).expect(0);
    let digests = |run: Run| run.expect(0).json()["manifest"]["payloads"][0]["digest"].clone();
    assert_ne!(digests(verify(&bench, &["--json"])), shown["manifest"]["payloads"][0]["digest"]);

    assert_eq!(code(extract(&bench, &["kernel"])), "E0606");
    assert_eq!(code(extract(&bench, &["--decrypt-with", "other.pem"])), "E0606");
    extract(&bench, &["--decrypt-with", "fleet.pem"]).expect(0);
    for (payload, file) in
        [("kernel", "linux"), ("initramfs", "initrd"), ("system-fdt", "virt.dtb")]
    {
        assert!(bench.read(&format!("out/{payload}")) == bench.read(file), "{payload}");
    }
    let plain = verify(&bench, &["--digests", "--json"]).expect(0).json();
    assert_eq!(plain["manifest"]["payloads"][0]["plain"], serde_json::Value::Null);
}

#[test]
fn what_is_encrypted_is_judged_by_who_can_read_it() {
    let bench = bench();
    bench.write("notes.txt", b"no kernel");
    let notes = ["--kernel", "notes.txt", "--encrypt", "fleet.pem"];
    let words = "sign --type system --system-fdt virt.dtb --security-version 4 --key root.pem --force -o system.hlk";
    let words: Vec<&str> = words.split_whitespace().collect();
    let sign = |more: &[&str]| bench.run(&[&words[..], &notes, more].concat());
    assert_eq!(code(sign(&[])), "E1204");
    sign(&["--force-type"]).expect(0);
    verify(&bench, &[]).expect(0);
    assert_eq!(code(verify(&bench, &["--decrypt-with", "fleet.pem"])), "E1204");
    // What was not looked at is said.
    let forced = verify(&bench, &["--decrypt-with", "fleet.pem", "--force-type"]).expect(0).stdout;
    let (_, unchecked) = forced.split_once("not checked").unwrap();
    assert!(unchecked.contains("`--force-type`"), "{forced}");
    let plain = verify(&bench, &[]).expect(0).stdout;
    let (checked, unchecked) = plain.split_once("not checked").unwrap();
    assert!(checked.contains("payload contents") && !unchecked.contains("force-type"), "{plain}");

    // The tree is judged as plain text, too.
    let mut tree = bench.read("virt.dtb");
    let at = tree.windows(4).position(|bytes| bytes == b"okay").unwrap_or(0);
    tree[at] ^= 1;
    tree[3] ^= 0xff;
    bench.write("virt.dtb", &tree);
    let wrong = bench.sign(&["--encrypt", "fleet.pem", "--force-type"]);
    assert_eq!(code(wrong), "E0908");
}

#[test]
fn payloads_stay_encrypted() {
    let bench = bench();
    let rework = |verb: &str, more: &[&str]| {
        let words = ["system.hlk", "--verify-key", "root.pub.pem", "--key", "root.pem", "--force"];
        bench.run(&[&[verb], &words[..], &["-o", "new.hlk"], more].concat())
    };
    let encrypted = |run: Run| -> Vec<bool> {
        let run = run.expect(0).json();
        let payloads = run["manifest"]["payloads"].as_array().unwrap().clone();
        payloads.iter().map(|it| !it["encryption"].is_null()).collect()
    };
    assert!(!bench.sign(&["--encrypt", "fleet.pem"]).expect(0).stdout.contains("not looked into"));
    // Signed again, the cipher text is the same, and nobody needs the class key. That nobody looked into it is said.
    assert_eq!(encrypted(rework("resign", &["--json"])), [true; 3]);
    let note = "not looked into: kernel, initramfs, system-fdt";
    assert!(rework("resign", &[]).expect(0).stdout.contains(note));
    let read = |name: &str| bench.read(name)[8192..8256].to_vec();
    assert_eq!(read("system.hlk"), read("new.hlk"));

    // What is replaced must be encrypted again.
    let refused = rework("replace", &["--kernel", "linux"]).expect(2);
    assert!(refused.stderr.contains("the kernel is to be encrypted"), "{refused:?}");
    let key = ["--encrypt", "other.pem"];
    let more = [&["--kernel", "linux"], &key[..], &["--json"]].concat();
    assert_eq!(encrypted(rework("replace", &more)), [true; 3]);
    let words = ["extract", "new.hlk", "--key", "root.pub.pem", "-o", "out"];
    let keys = ["--decrypt-with", "other.pem", "--decrypt-with", "fleet.pem"];
    bench.run(&[&words[..], &keys].concat()).expect(0);
    assert!(bench.read("out/kernel") == bench.read("linux"));
    assert!(bench.read("out/initramfs") == bench.read("initrd"));

    // A plain bundle is encrypted when one of its payloads is replaced.
    bench.sign(&[]).expect(0);
    assert_eq!(encrypted(rework("replace", &["--kernel", "linux", "--json"])), [false; 3]);
    assert_eq!(encrypted(rework("replace", &more)), [true; 3]);
    bench.run(&[&words[..], &keys, &["--force"]].concat()).expect(0);
    assert!(bench.read("out/initramfs") == bench.read("initrd"));
}

#[test]
fn a_payload_that_an_encrypted_bundle_lacks_is_encrypted_too() {
    let bench = bench();
    bench.write("empty", b"");
    let replace = |more: &[&str]| {
        let words = ["system.hlk", "--verify-key", "root.pub.pem", "--key", "root.pem", "--force"];
        bench.run(
            &[&["replace"], &words[..], &["--initramfs", "initrd", "-o", "new.hlk"], more].concat(),
        )
    };
    let without = ["--kernel", "linux", "--system-fdt", "virt.dtb"];
    let with_empty = [&without[..], &["--initramfs", "empty", "--force-type"]].concat();
    for payloads in [&without[..], &with_empty] {
        let words = ["sign", "--type", "system", "--security-version", "1", "--key", "root.pem"];
        let more = ["--encrypt", "fleet.pem", "--force", "-o", "system.hlk"];
        bench.run(&[&words[..], payloads, &more].concat()).expect(0);
        let refused = replace(&[]).expect(2);
        assert!(refused.stderr.contains("the initramfs is to be encrypted"), "{refused:?}");
        let shown = replace(&["--encrypt", "fleet.pem", "--json"]).expect(0).json();
        let payloads = shown["manifest"]["payloads"].as_array().unwrap();
        assert!(payloads.iter().all(|it| !it["encryption"].is_null()), "{payloads:?}");
    }
}

#[test]
fn what_was_encrypted_is_for_its_owner_alone() {
    let bench = bench();
    let mode = |file: &str| {
        let metadata = std::fs::metadata(bench.path(file)).unwrap();
        metadata.permissions().mode() & 0o077
    };
    extract(&bench, &["--decrypt-with", "fleet.pem"]).expect(0);
    for file in ["out/kernel", "out/initramfs", "out/system-fdt"] {
        assert_eq!(mode(file), 0, "{file}");
    }
}

#[test]
fn a_description_says_what_is_encrypted() {
    let bench = bench();
    let describe = |more: &str, of_kernel: &str, kind: &str| {
        let text = format!(
            "type = \"{kind}\"\nsecurity_version = 1\n{more}\n\
             [[payload]]\ntype = \"kernel\"\nfile = \"linux\"\n{of_kernel}\n\
             [[payload]]\ntype = \"initramfs\"\nfile = \"empty\"\n\
             [[payload]]\ntype = \"system-fdt\"\nfile = \"virt.dtb\"\n"
        );
        bench.write("bundle.toml", text.as_bytes());
        let words = ["sign", "bundle.toml", "--key", "root.pem", "--force", "-o", "system.hlk"];
        bench.run(&[&words[..], &["--force-type", "--json"]].concat())
    };
    bench.write("empty", b"");
    let encrypted = |run: Run| -> Vec<bool> {
        let run = run.expect(0).json();
        let payloads = run["manifest"]["payloads"].as_array().unwrap().clone();
        payloads.iter().map(|it| !it["encryption"].is_null()).collect()
    };
    let key = "encrypt = \"fleet.pem\"";
    // An empty initramfs has nothing to encrypt.
    assert_eq!(encrypted(describe(key, "", "system")), [true, false, true]);
    assert_eq!(encrypted(describe(key, "encrypted = false", "system")), [false, false, true]);
    assert_eq!(encrypted(describe("", "", "system")), [false; 3]);
    assert!(describe("", "encrypted = true", "system").expect(2).stderr.contains("kernel"));
    assert!(describe(key, "", "boot").expect(2).stderr.contains("boot bundle"));
}

#[test]
fn class_keys_are_secrets() {
    let bench = bench();
    let text = String::from_utf8(bench.read("fleet.pem")).unwrap();
    let body = text.lines().nth(1).unwrap();
    for run in [
        bench.run(&["key", "show", "fleet.pem"]).expect(0),
        bench.run(&["inspect", "system.hlk", "--fields"]).expect(0),
        bench.run(&["keygen", "--class", "-o", "fleet.pem"]).expect(2),
        bench.run(&["verify", "system.hlk", "--key", "fleet.pem"]).expect(2),
        verify(&bench, &["--decrypt-with", "root.pem"]).expect(2),
        bench.sign(&["--encrypt", "root.pub.pem"]).expect(2),
    ] {
        assert!(!run.stdout.contains(body) && !run.stderr.contains(body), "{run:?}");
    }
    // Each kind of key is named where the other one is expected.
    for (run, what, hint) in [
        (bench.sign(&["--key", "fleet.pem"]), "is a class key", "`--encrypt` or `--decrypt-with`"),
        (
            verify(&bench, &["--decrypt-with", "root.pem"]),
            "no class key",
            "`hartlock keygen --class`",
        ),
    ] {
        let run = run.expect(2);
        assert!(run.stderr.contains(what) && run.stderr.contains(hint), "{run:?}");
    }
    // Neither an output nor a key replaces it.
    let words = ["resign", "system.hlk", "--verify-key", "root.pub.pem", "--key", "root.pem"];
    bench.run(&[&words[..], &["-o", "fleet.pem", "--force"]].concat()).expect(2);
    bench.run(&["keygen", "-o", "fleet.pem"]).expect(2);
    assert!(bench.read("fleet.pem") == text.as_bytes());
    let mode = |mode| {
        let path = bench.folder().join("fleet.pem");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        verify(&bench, &["--decrypt-with", "fleet.pem"]).expect(0).stderr
    };
    assert!(mode(0o644).contains("other users can read the class key"));
    assert_eq!(mode(0o600), "");
    for more in [&["--algorithm", "ed25519"][..], &["--format", "der"], &["--passphrase-env", "X"]]
    {
        bench.run(&[&["keygen", "--class", "-o", "new.pem"], more].concat()).expect(2);
    }
}
