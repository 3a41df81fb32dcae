//! Tests of bundles that are signed with keys of every algorithm, and of stateful keys.

use std::fs;
use std::path::Path;

use crate::common::{Bench, verify};
use hartlock_bundle::build::build;
use hartlock_bundle::verify::Expectation;
use hartlock_image::Algorithm;
use hartlock_keys::{Format, PrivateKey, ReadOptions, write_pair};

/// Makes a key pair, writes it to files, and reads the private key from its file.
fn written(bench: &Bench, name: &str, file: &str) -> PrivateKey {
    let path = bench.path(file);
    let public = bench.path(&format!("{file}.pub"));
    let algorithm = Algorithm::from_name(name).unwrap();
    let key = PrivateKey::generate_for(algorithm, &mut |_, _| ()).unwrap();
    write_pair(&key, &path, &public, Format::Pem, None).unwrap();
    let algorithms = &[key.algorithm()];
    PrivateKey::read_with(
        &path,
        ReadOptions { algorithms, any_file_system: true, ..ReadOptions::default() },
    )
    .unwrap()
}

#[test]
fn a_key_that_counts_gives_a_build_nothing_that_is_refused() {
    let mut bench = Bench::new();
    let key = written(&bench, "lms-sha256-192-h5-w1", "lms.pem");
    let path = bench.path("lms.pem");
    let left = |path: &Path| PrivateKey::read(path).unwrap().signatures_left().unwrap().0;
    // A build that fails uses up no index: here the same key is given twice, or a file is missing.
    bench.keys = vec![PrivateKey::read(&path).unwrap(), key];
    assert_eq!(crate::common::code(bench.build(&bench.system(), "system.hlk")), 409);
    bench.keys.truncate(1);
    let mut spec = bench.system();
    spec.payloads[0].file = bench.path("missing");
    assert!(bench.build(&spec, "system.hlk").is_err());
    assert_eq!(left(&path), 32);
}

/// Tests a bundle with one signer for every algorithm of the format.
#[test]
fn bundles_of_every_algorithm_are_signed_and_verified() {
    let bench = Bench::new();
    for name in [
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "rsa-pss-2048-sha256",
        "rsa-pss-3072-sha384",
        "rsa-pss-4096-sha512",
        "rsa-pkcs1-2048-sha256",
        "ml-dsa-44",
        "ml-dsa-65",
        "ml-dsa-87",
        "slh-dsa-sha2-128s",
        "slh-dsa-sha2-128f",
        "slh-dsa-shake-128f",
        "slh-dsa-sha2-192f",
        "slh-dsa-shake-192f",
        "slh-dsa-sha2-256f",
        "slh-dsa-shake-256f",
        "lms-sha256-h5-w8",
        "lms-sha256-192-h10-w4",
        "hss-l2-sha256-h5-w4",
        "hss-l3-sha256-192-h5-w8",
        "xmss-sha2-10-256",
        "xmss-sha2-10-192",
        "xmss-shake256-10-256",
        "xmss-shake256-10-192",
        "xmssmt-sha2-60-12-256",
        "xmssmt-sha2-20-4-192",
        "xmssmt-shake256-20-4-256",
        "xmssmt-shake256-40-8-192",
    ] {
        let key = written(&bench, name, name);
        let before = key.signatures_left();
        let keys = [key];
        let path = bench.path("system.hlk");
        build(&bench.system(), &keys, 0, &path, &mut |_, _| ())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expectation = Expectation { keys: vec![keys[0].public()], ..Expectation::default() };
        let description = verify(&path, &expectation).unwrap();
        assert_eq!(description.signers[0].algorithm, name);
        let again = PrivateKey::read(&bench.path(name)).unwrap();
        let after = again.signatures_left();
        assert_eq!(after.map(|(left, _)| left + 1), before.map(|(left, _)| left), "{name}");
        for at in [40, 1000] {
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(verify(&path, &expectation).is_err(), "{name}");
        }
    }
}
