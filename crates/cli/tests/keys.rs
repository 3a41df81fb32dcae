//! Keys: files, and other tools that read and write them.

mod common;

use std::os::unix::fs::PermissionsExt;

use common::Bench;

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

    // One file of the two is enough, and the other one is not made then.
    std::fs::remove_file(bench.path("root.pem")).unwrap();
    bench.run(&["keygen", "-o", "root.pem"]).expect(2);
    assert!(!bench.path("root.pem").exists());
    assert_eq!(bench.file_names(), ["initrd", "linux", "root.pub.pem", "virt.dtb"]);
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
        ("ec", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "ECDSA"),
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
    let run = bench.sign(&["--key", "locked.pem"]).expect(2);
    assert!(run.stderr.contains("passphrase"), "{run:?}");
}

#[test]
fn the_wrong_half_of_a_pair_is_named() {
    let bench = Bench::with_bundle();
    let run = bench.run(&["verify", "system.hlk", "--key", "root.pem"]).expect(2);
    assert!(run.stderr.contains("is a private key"), "{run:?}");
    let run = bench.sign(&["--key", "root.pub.pem"]).expect(2);
    assert!(run.stderr.contains("is a public key"), "{run:?}");
    let run = bench.run(&["verify", "system.hlk", "--key", "virt.dtb"]).expect(2);
    assert!(run.stderr.contains("not a PEM file"), "{run:?}");
    let run = bench.run(&["verify", "system.hlk", "--key", "linux"]).expect(2);
    assert!(run.stderr.contains("far too long"), "{run:?}");
}
