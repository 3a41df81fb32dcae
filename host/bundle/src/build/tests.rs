//! Tests of copying payload files into a bundle.

use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hartlock_image::HashId;
use tempfile::TempDir;

use super::*;
use crate::verify::verify_file;
use hartlock_keys::PrivateKey;

const SIZE: u64 = 300_001;

fn record(mode: TreeMode, size: u64) -> PayloadRecord {
    PayloadRecord {
        payload_type: PayloadType::Kernel,
        hash: HashId::Sha384,
        mode,
        offset: PAGE_SIZE,
        size,
        load_address: 0x8200_0000,
        memory_size: 1 << 20,
        entry: 0x8200_0000,
        digest: [0; 64],
    }
}

/// Copies a file of `SIZE` bytes as if it had been `size` bytes long when it was opened.
fn copy(mode: TreeMode, size: u64) -> Result<[u8; 64], Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("payload");
    fs::write(&path, vec![7; SIZE as usize]).unwrap();
    let spec = PayloadSpec::new(PayloadType::Kernel, path.clone());
    let source = Source { spec: &spec, file: File::open(&path).unwrap(), offset: 0, size };
    let bundle = NewFile::public(&folder.path().join("bundle")).unwrap();
    copy_and_digest(&record(mode, size), &source, (&bundle, PAGE_SIZE), |_, _| (), &mut |_| ())
}

#[test]
fn a_file_that_became_shorter_or_longer_is_not_signed() {
    for mode in [TreeMode::Flat, TreeMode::Blocks { block_size: 1024 }] {
        copy(mode, SIZE).unwrap();
        for size in [SIZE - 1, SIZE + 1, 2 * SIZE] {
            let error = copy(mode, size).unwrap_err().to_string();
            assert!(error.contains("it changed while it was read"), "{size}: {error}");
        }
    }
}

/// Makes a folder with a kernel and a device tree, the description of their bundle, and a key.
fn bench(kernel_size: u64) -> (TempDir, BundleSpec, [PrivateKey; 1]) {
    let folder = tempfile::tempdir().unwrap();
    let (kernel, fdt) = (folder.path().join("kernel"), folder.path().join("fdt"));
    File::create(&kernel).unwrap().set_len(kernel_size).unwrap();
    fs::write(&fdt, "fdt").unwrap();
    let payloads = [(PayloadType::Kernel, kernel), (PayloadType::SystemFdt, fdt)];
    let spec = BundleSpec {
        bundle_type: Some(BundleType::System),
        security_version: Some(1),
        board: Some("lab".to_string()),
        payloads: payloads
            .into_iter()
            .zip([0x8000_0000, 0x1_0000_0000])
            .map(|((payload_type, file), load_address)| PayloadSpec {
                load_address: Some(load_address),
                ..PayloadSpec::new(payload_type, file)
            })
            .collect(),
        ..BundleSpec::default()
    };
    (folder, spec, [PrivateKey::generate().unwrap()])
}

fn check(bundle: &Path, [key]: &[PrivateKey; 1]) -> Result<Description, Error> {
    let expectation = Expectation { keys: vec![key.public()], ..Expectation::default() };
    verify_file(bundle, &expectation, &mut |_, _| ())
}

#[test]
fn a_large_payload_is_written_whole() {
    const LARGE: u64 = 8 << 20;
    let size = LARGE + 80 * 1024 + 5;
    let (folder, spec, keys) = bench(size);
    let kernel = File::options().write(true).open(&spec.payloads[0].file).unwrap();
    for at in [0, LARGE / 3, size - 4] {
        kernel.write_all_at(b"here", at).unwrap();
    }
    let output = folder.path().join("bundle");
    build(&spec, &keys, 0, &output, &mut |_, _| ()).unwrap();
    let description = check(&output, &keys).unwrap();
    let bundle = File::open(&output).unwrap();
    let offset = description.payloads[0].offset;
    for at in [0, LARGE / 3, size - 4] {
        let mut bytes = [0; 4];
        bundle.read_exact_at(&mut bytes, offset + at).unwrap();
        assert_eq!(&bytes, b"here", "at {at}");
    }
}

/// Tests that the bundle contains the bytes that were hashed, although the file changes: each byte is read
/// only once.
#[test]
fn a_file_that_is_rewritten_meanwhile_gives_a_bundle_that_verifies() {
    let (folder, spec, keys) = bench(8 << 20);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let kernel = File::options().write(true).open(&spec.payloads[0].file).unwrap();
            for value in (0..=255).cycle() {
                for at in (0..8 << 20).step_by(5 << 10) {
                    kernel.write_all_at(&[value; 512], at).unwrap();
                }
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        for round in 0..5 {
            let output = folder.path().join(format!("bundle{round}"));
            let built = build(&spec, &keys, 0, &output, &mut |_, _| ());
            let verified = built.and_then(|_| check(&output, &keys));
            is_done.store(round == 4 || verified.is_err(), Ordering::Relaxed);
            verified.unwrap();
        }
    });
}
