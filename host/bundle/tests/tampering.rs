//! Tests that a bundle is refused if any of its bits is flipped.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::thread;

use crate::common::{Bench, code, linux_tree, pattern, verify};
use hartlock_bundle::Error;
use hartlock_bundle::describe::{Description, Payload};
use hartlock_image::{Head, PayloadType};
use hartlock_keys::PrivateKey;

/// Flips the bits of each mask in the byte at each position, one mask at a time, and checks that the bundle
/// is refused.
fn refuses_flips(bench: &Bench, bundle: &[u8], positions: &[usize], masks: &[u8]) {
    let expectation = bench.expectation();
    let part_len = positions.len().div_ceil(thread::available_parallelism().unwrap().get()).max(1);
    thread::scope(|scope| {
        for (part, positions) in positions.chunks(part_len).enumerate() {
            let (expectation, path) = (&expectation, bench.write(&format!("part{part}"), bundle));
            scope.spawn(move || {
                let file = OpenOptions::new().write(true).open(&path).unwrap();
                for &at in positions {
                    for mask in masks {
                        file.write_all_at(&[bundle[at] ^ mask], at as u64).unwrap();
                        match verify(&path, expectation) {
                            Err(Error::Refused(_)) => {}
                            other => panic!("byte {at} ^ {mask:#x} was not refused: {other:?}"),
                        }
                    }
                    file.write_all_at(&[bundle[at]], at as u64).unwrap();
                }
                // The restored bundle is accepted, so the flipped bits were the only cause of the refusals.
                verify(&path, expectation).unwrap();
            });
        }
    });
}

const EVERY_BIT: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Builds a system bundle whose payloads nearly fill their pages, so that it has little padding to test bit
/// by bit.
fn built() -> (Bench, Vec<u8>, Description) {
    let bench = Bench::new();
    bench.write("linux", &pattern(4001));
    bench.write("virt.dtb", &linux_tree(4050));
    let mut spec = bench.system();
    spec.payloads.retain(|payload| payload.payload_type != PayloadType::Initramfs);
    let description = bench.build(&spec, "bundle.hlk").unwrap();
    let bundle = fs::read(bench.path("bundle.hlk")).unwrap();
    (bench, bundle, description)
}

/// Returns the offsets of all payload bytes. All other bytes after the metadata are padding.
fn payload_bytes(description: &Description) -> Vec<usize> {
    let range = |payload: &Payload| payload.offset..payload.offset + payload.size;
    description.payloads.iter().flat_map(range).map(|at| at as usize).collect()
}

#[test]
fn every_bit_of_a_system_manifest_and_its_signature_is_protected() {
    let (bench, bundle, _) = built();
    let end = Head::parse(&bundle).unwrap().total_size();
    refuses_flips(&bench, &bundle, &(0..end).collect::<Vec<_>>(), &EVERY_BIT);
}

#[test]
fn every_bit_of_a_boot_manifest_and_its_signatures_is_protected() {
    let mut bench = Bench::new();
    bench.keys.push(PrivateKey::generate().unwrap());
    bench.build(&bench.boot(), "boot.hlk").unwrap();
    let bundle = fs::read(bench.path("boot.hlk")).unwrap();
    let end = Head::parse(&bundle).unwrap().total_size();
    refuses_flips(&bench, &bundle, &(0..end).collect::<Vec<_>>(), &EVERY_BIT);
}

#[test]
fn every_byte_of_a_payload_is_protected() {
    let (bench, bundle, description) = built();
    refuses_flips(&bench, &bundle, &payload_bytes(&description), &[1, 0x80]);
}

#[test]
fn every_bit_of_padding_is_protected() {
    let (bench, bundle, description) = built();
    let end = Head::parse(&bundle).unwrap().total_size();
    let payload_bytes: HashSet<_> = payload_bytes(&description).into_iter().collect();
    let padding: Vec<_> = (end..bundle.len()).filter(|at| !payload_bytes.contains(at)).collect();
    assert!(padding.iter().all(|at| bundle[*at] == 0));
    refuses_flips(&bench, &bundle, &padding, &EVERY_BIT);
}

#[test]
fn every_shorter_and_longer_file_is_refused() {
    let (bench, mut bundle, _) = built();
    let expectation = bench.expectation();
    for len in (0..bundle.len()).step_by(61).chain([255, 256, 4095, 4096, bundle.len() - 1]) {
        let path = bench.write("cut", &bundle[..len]);
        assert_eq!(code(verify(&path, &expectation)), 101, "{len} bytes");
    }
    bundle.push(0);
    assert_eq!(code(verify(&bench.write("long", &bundle), &expectation)), 803);
}

#[test]
fn sizes_in_the_header_reserve_nothing() {
    let (bench, bundle, _) = built();
    for (at, len) in [(16, 4), (20, 4), (24, 8)] {
        for value in [0_u64, 8, 0xffff_fff8, u64::MAX, 1 << 40] {
            let mut bundle = bundle.clone();
            let before = bundle.clone();
            bundle[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
            if bundle != before {
                let path = bench.write("huge", &bundle);
                assert!(matches!(code(verify(&path, &bench.expectation())), 100..=399));
            }
        }
    }
}
