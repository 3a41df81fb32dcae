//! Tests of `--profile`: signed and accepted bundles conform to a named set of algorithms, hashes and modes.

use crate::common::{Bench, Run};

fn bench() -> Bench {
    let bench = Bench::new();
    for algorithm in ["ed25519", "ml-dsa-87", "lms-sha256-192-h5-w8"] {
        bench
            .run(&["keygen", "--algorithm", algorithm, "-o", &format!("{algorithm}.pem")])
            .expect(0);
    }
    bench
}

/// Signs the payloads with these keys and these further options.
fn sign(bench: &Bench, keys: &[&str], more: &[&str]) -> Run {
    let mut args =
        vec!["sign", "--type", "system", "--kernel", "linux", "--system-fdt", "virt.dtb"];
    args.extend(["--security-version", "1", "--force", "-o", "signed.hlk"]);
    let keys: Vec<_> = keys.iter().map(|key| format!("{key}.pem")).collect();
    keys.iter().for_each(|key| args.extend(["--key", key]));
    args.extend(more);
    bench.run(&args)
}

fn code(run: &Run) -> String {
    run.json()["error"]["reason"]["code"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn what_is_signed_for_a_profile_keeps_to_it() {
    let bench = bench();
    for (keys, more, outside) in [
        (&["ed25519"][..], &["--profile", "cnsa2"][..], "not in cnsa2: ed25519 of a signer"),
        (&["ml-dsa-87", "ed25519"], &["--profile", "cnsa2"], "not in cnsa2: ed25519 of a signer"),
        (
            &["ed25519"],
            &["--profile", "default", "--hash", "sha512"],
            "not in default: sha512 in mode blocks of payload kernel",
        ),
        (&["ml-dsa-87"], &["--profile", "cnsa2", "--hash", "sha3-256"], "not in cnsa2: sha3-256"),
        (
            &["ed25519"],
            &["--profile", "default", "--hash", "shake256"],
            "shake256 in mode parallelhash",
        ),
    ] {
        let run = sign(&bench, keys, more).expect(1);
        assert!(run.stderr.contains("E1002") && run.stderr.contains(outside), "{run:#?}");
        assert_eq!(code(&sign(&bench, keys, &[more, &["--json"]].concat()).expect(1)), "E1002");
        assert!(!bench.path("signed.hlk").exists(), "{more:?}");
    }
    for (keys, more) in [
        (&["ed25519", "ml-dsa-87", "lms-sha256-192-h5-w8"][..], &["--profile", "default"][..]),
        (&["ml-dsa-87"], &["--profile", "cnsa2", "--hash", "sha512"]),
        (&["ed25519"], &["--profile", "all", "--hash", "shake256"]),
    ] {
        sign(&bench, keys, more).expect(0);
    }
}

#[test]
fn a_key_with_a_state_spends_nothing_on_a_bundle_outside_of_the_profile() {
    let bench = bench();
    let key = "lms-sha256-192-h5-w8";
    let before = bench.read(&format!("{key}.pem"));
    sign(&bench, &[key], &["--profile", "cnsa2", "--hash", "sha3-384"]).expect(1);
    assert!(bench.read(&format!("{key}.pem")) == before);
    sign(&bench, &[key], &["--profile", "cnsa2"]).expect(0);
    assert!(bench.read(&format!("{key}.pem")) != before);
}

#[test]
fn a_description_can_name_its_profile_and_flags_another() {
    let bench = bench();
    let text = "type = \"system\"\nsecurity_version = 1\nprofile = \"cnsa2\"\n\
                payload = [{ type = \"kernel\", file = \"linux\" }, { type = \"system-fdt\", file = \"virt.dtb\" }]\n";
    bench.write("bundle.toml", text.as_bytes());
    let run = |more: &[&str]| {
        bench.run(
            &[&["sign", "bundle.toml", "-k", "ed25519.pem", "--force", "-o", "signed.hlk"], more]
                .concat(),
        )
    };
    assert_eq!(code(&run(&["--json"]).expect(1)), "E1002");
    run(&["--profile", "default"]).expect(0);
    bench.write("bundle.toml", text.replace("cnsa2", "cnsa3").as_bytes());
    let wrong = run(&[]).expect(2);
    assert!(wrong.stderr.contains("default, cnsa2, all"), "{wrong:#?}");
}

#[test]
fn a_bundle_is_accepted_if_it_keeps_to_the_profile_that_is_asked_for() {
    let bench = bench();
    sign(&bench, &["ed25519"], &[]).expect(0);
    let verify = |more: &[&str]| {
        bench.run(&[&["verify", "signed.hlk", "-k", "ed25519.pub.pem"], more].concat())
    };
    for profile in ["default", "all"] {
        let run = verify(&["--profile", profile]).expect(0);
        assert!(run.stdout.contains(&format!("profile {profile}")), "{run:#?}");
        let json = verify(&["--profile", profile, "--json"]).expect(0).json();
        assert_eq!(json["checked"]["profile"], profile);
        assert_eq!(json["manifest"]["profiles"], serde_json::json!(["default", "all"]));
    }
    let run = verify(&["--profile", "cnsa2"]).expect(1);
    assert!(run.stderr.contains("E1002") && run.stderr.contains("ed25519 of a signer"), "{run:#?}");
    assert!(verify(&["--json"]).expect(0).json()["checked"]["profile"].is_null());
    // The profile is checked last.
    bench.damaged("signed.hlk", "signed.hlk", |bytes| *bytes.last_mut().unwrap() ^= 1);
    assert_eq!(code(&verify(&["--profile", "cnsa2", "--json"]).expect(1)), "E0802");
    verify(&["--profile", "cnsa"]).expect(2);
}

#[test]
fn inspect_shows_the_profiles_of_a_bundle() {
    let bench = bench();
    for (keys, more, shown) in [
        (&["ed25519"][..], &[][..], "default, all"),
        (&["ml-dsa-87"], &[], "default, cnsa2, all"),
        (&["ml-dsa-87"], &["--hash", "sha512"], "cnsa2, all"),
        (&["ed25519", "ml-dsa-87"], &["--hash", "sha512"], "all"),
    ] {
        sign(&bench, keys, more).expect(0);
        let text = bench.run(&["inspect", "signed.hlk"]).expect(0).stdout;
        assert!(text.contains(&format!("profiles          {shown}\n")), "{text}");
        let json = bench.run(&["inspect", "signed.hlk", "--json"]).expect(0).json();
        let list: Vec<_> = shown.split(", ").collect();
        assert_eq!(json["manifest"]["profiles"], serde_json::json!(list));
    }
}

#[test]
fn a_boot_bundle_trusts_only_keys_of_its_profile() {
    let bench = bench();
    bench.write("boot.dtb", &bench.read("virt.dtb"));
    for name in ["opensbi", "loader"] {
        bench.write(name, &[0x13; 600]);
    }
    let run = |trusted: &str| {
        bench.run(&[
            "sign",
            "--type",
            "boot",
            "--opensbi",
            "opensbi",
            "--loader",
            "loader",
            "--boot-fdt",
            "boot.dtb",
            "--security-version",
            "1",
            "--key",
            "ml-dsa-87.pem",
            "--trust",
            trusted,
            "--profile",
            "cnsa2",
            "-o",
            "boot.hlk",
        ])
    };
    let refused = run("ed25519.pub.pem").expect(1);
    assert!(refused.stderr.contains("not in cnsa2: ed25519 of a trusted key"), "{refused:#?}");
    run("ml-dsa-87.pub.pem").expect(0);
}
