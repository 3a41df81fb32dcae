//! Tests of optional contents of a bundle: further devices, the minimum version of the boot bundle, and the
//! algorithms that the loader supports.

use crate::common::{Bench, Run};

fn verify(bench: &Bench, more: &[&str]) -> Run {
    bench.run(&[&["verify", "system.hlk", "--key", "root.pub.pem"], more].concat())
}

/// Signs a boot bundle with this loader, which trusts `root.pub.pem`.
fn sign_boot(bench: &Bench, loader: &str, more: &[&str]) -> Run {
    let words = "sign --type boot --opensbi fw.bin --boot-fdt virt.dtb --security-version 1 --key root.pem \
                 --trust root.pub.pem --trust-policy any --force -o boot.hlk";
    let words: Vec<&str> = words.split_whitespace().collect();
    bench.run(&[&words[..], &["--loader", loader], more].concat())
}

/// Writes a loader that states that it supports the algorithms with these bits.
fn write_loader(bench: &Bench, carried: u64) {
    let statement = [&b"HARTLOCK-CARRIES"[..], &carried.to_le_bytes()].concat();
    bench.write("loader", &[&[0x11; 4096][..], &statement, &[0x11; 4096]].concat());
}

#[test]
fn one_bundle_is_for_several_devices() {
    let bench = Bench::with_bundle();
    let sign = ["--also-for", "board-b,soc-b", "--also-for", "board-b,soc-c"];
    bench.sign(&sign).expect(0);
    let shown = bench.run(&["inspect", "system.hlk", "--json"]).expect(0).json().to_string();
    assert!(shown.contains("board-b") && shown.contains("soc-c"), "{shown}");
    for (board, soc) in [("qemu-virt", "virt"), ("board-b", "soc-b"), ("board-b", "soc-c")] {
        verify(&bench, &["--board", board, "--soc", soc]).expect(0);
    }
    for (board, soc, code) in [
        ("board-c", "soc-b", "E0601"),
        ("board-b", "virt", "E0602"),
        ("qemu-virt", "soc-b", "E0602"),
    ] {
        let run = verify(&bench, &["--board", board, "--soc", soc]).expect(1);
        assert!(run.stderr.contains(code), "{run:?}");
    }
    let run = bench.sign(&["--also-for", "qemu-virt,virt"]).expect(1);
    assert!(run.stderr.contains("E0443"), "{run:?}");
    bench.sign(&["--also-for", "board-b"]).expect(2);
}

#[test]
fn a_system_bundle_names_the_boot_bundle_that_it_needs() {
    let bench = Bench::with_bundle();
    bench.sign(&["--min-boot-version", "5"]).expect(0);
    let json = verify(&bench, &["--boot-version", "5", "--json"]).expect(0).json();
    assert_eq!(json["manifest"]["min_boot_version"], 5);
    assert_eq!(json["checked"]["boot_version"], 5);
    let run = verify(&bench, &["--boot-version", "4"]).expect(1);
    assert!(run.stderr.contains("E0605"), "{run:?}");
    // Without the option the boot version is not checked, and the output says so.
    let run = verify(&bench, &[]).expect(0);
    assert!(run.stdout.contains("boot version"), "{run:?}");
}

#[test]
fn a_loader_says_what_it_carries_or_a_note_says_that_it_does_not() {
    let bench = Bench::with_bundle();
    let notes = |run: Run| run.expect(0).json()["notes"].clone();
    let note = notes(sign_boot(&bench, "fw.bin", &["--json"]));
    assert!(note[0].as_str().unwrap().contains("E0307"), "{note}");
    // Ed25519 has number 1, ML-DSA number 19.
    write_loader(&bench, 1 << 1);
    assert_eq!(notes(sign_boot(&bench, "loader", &["--json"])), serde_json::json!([]));
    write_loader(&bench, 1 << 19);
    let before = bench.file_names();
    let run = sign_boot(&bench, "loader", &[]).expect(1);
    assert!(run.stderr.contains("E0424"), "{run:?}");
    assert_eq!(bench.file_names(), before);
}

#[test]
fn a_note_says_that_a_small_verifier_has_no_room() {
    let bench = Bench::with_bundle();
    for name in ["one.pem", "two.pem"] {
        bench.run(&["keygen", "-o", name, "--algorithm", "slh-dsa-sha2-128f"]).expect(0);
    }
    let json = bench.sign(&["--key", "one.pem", "--json"]).expect(0).json();
    assert_eq!(json["notes"], serde_json::json!([]));
    let run = bench.sign(&["--key", "one.pem", "--key", "two.pem"]).expect(0);
    assert!(run.stdout.contains("some verifiers have room for only"), "{run:?}");
}
