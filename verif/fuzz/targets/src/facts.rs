//! Properties that every accepted bundle must have, checked on its bytes (image format, boot flow
//! §2).
//!
//! The code is independent of the verifier: it uses other hashes, another Ed25519, offsets instead
//! of parsed fields, and sums that cannot overflow. It does not check bundles that are refused; the
//! second verifier in Python does (`differential`).

use ed25519_dalek::{Signature, VerifyingKey};
use hartlock_image::{KeyRecord, Policy};
use hartlock_testkit::keys::{ED25519, record};

use crate::hashes::digest;
use crate::numbers::{u32_at, u64_at};
use crate::options::Options;

/// Panics unless the accepted bundle has all properties.
pub fn check_accepted(file: &[u8], options: &Options) {
    let is_boot = &file[..16] == b"HARTLOCK-BOOT-v1";
    assert!(is_boot || &file[..16] == b"HARTLOCK-SYST-v1");
    let signed = &file[..u32_at(file, 16) as usize];
    let area = &file[signed.len()..][..u32_at(file, 20) as usize];
    signatures_hold(signed, area, options);
    device_holds(signed, is_boot, options);

    let bundle_size = u64_at(signed, 24) as usize;
    assert!(file.len() >= bundle_size);
    assert!(options.is_medium || file.len() == bundle_size);
    let mut end = signed.len() + area.len();
    let mut loaded: Vec<(u128, u128)> = Vec::new();
    for record in payloads(signed) {
        let (offset, size) = (u64_at(record, 16) as usize, u64_at(record, 24) as usize);
        assert!(offset >= end && offset < end + 4096 && offset.is_multiple_of(4096));
        assert!(file[end..offset].iter().all(|byte| *byte == 0), "padding");
        end = offset + size;
        let expected = digest(&record[..64], &file[offset..end]);
        assert_eq!(record[64..64 + expected.len()], expected, "digest");
        let is_described = |names: &[u8]| names.starts_with(b"qemu-virt\0");
        let others = extensions(signed).0;
        let has_map = is_described(&signed[64..]) || others.chunks(64).any(is_described);
        load_range_holds(record, is_boot, has_map, &loaded);
        let start = u128::from(u64_at(record, 32));
        loaded.push((start, start + u128::from(u64_at(record, 40))));
    }
    assert!(bundle_size >= end && bundle_size < end + 4096 && bundle_size.is_multiple_of(4096));
    assert!(file[end..bundle_size].iter().all(|byte| *byte == 0), "padding at the end");
}

fn payloads(signed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let start = 256 + 64 * u32_at(signed, 52) as usize;
    signed[start..].chunks(128).take(u32_at(signed, 56) as usize)
}

/// Checks that every signature of a trusted key verifies, that the signature blocks equal the
/// listed signers, and that the policy is met.
fn signatures_hold(signed: &[u8], area: &[u8], options: &Options) {
    let is_revoked = |index: usize| options.revoked_keys >> index & 1 == 1;
    let trusted = options.keys.iter().take(8).enumerate().filter(|(index, _)| !is_revoked(*index));
    let trusted: Vec<_> = trusted.map(|(_, key)| *key).collect();
    let counts = |key: &KeyRecord| trusted.contains(key);
    let mut blocks: Vec<KeyRecord> = Vec::new();
    let mut verified: Vec<KeyRecord> = Vec::new();
    let mut rest = area;
    while !rest.is_empty() {
        let numbers = (u32_at(rest, 0), u32_at(rest, 4));
        let (key_size, signature_size) = (u32_at(rest, 8) as usize, u32_at(rest, 12) as usize);
        let key = &rest[16..16 + key_size];
        let signature_at = 16 + key_size.next_multiple_of(8);
        let signature = &rest[signature_at..signature_at + signature_size];
        let record = record(numbers.0, numbers.1, key);
        if counts(&record) {
            assert_eq!(numbers, ED25519, "a key of an algorithm that is not carried counts");
            let key = VerifyingKey::from_bytes(key.try_into().expect("32 bytes")).expect("a key");
            let signature = Signature::from_bytes(signature.try_into().expect("64 bytes"));
            key.verify_strict(signed, &signature).expect("an accepted signature verifies");
            verified.push(record);
        }
        blocks.push(record);
        rest = &rest[signature_at + signature_size.next_multiple_of(8)..];
    }
    let signers: Vec<_> = signed[256..].chunks(64).take(u32_at(signed, 52) as usize).collect();
    assert_eq!(blocks.len(), signers.len());
    for (block, signer) in blocks.iter().zip(&signers) {
        let numbers = (u32_at(signer, 0), u32_at(signer, 4));
        assert!((block.algorithm, block.parameters) == numbers && block.key_id == signer[8..56]);
    }
    assert!(!verified.is_empty(), "no signer is trusted");
    match options.policy {
        Policy::Any => {}
        Policy::All => assert!(trusted.iter().all(|key| verified.contains(key))),
        Policy::EverySigner => {
            assert!(verified.len() == blocks.len());
        }
        Policy::Hybrid => panic!("no hybrid policy can be met with one family"),
    }
}

/// Checks type, board, SoC, floor and lifecycle (image format §7).
fn device_holds(signed: &[u8], is_boot: bool, options: &Options) {
    assert!(options.bundle_type.is_none_or(|kind| (kind.name() == "boot") == is_boot));
    let (others, boot_version) = extensions(signed);
    let is_device = |names: &[u8]| {
        options.board.is_none_or(|board| board.field()[..] == names[..32])
            && options.soc.is_none_or(|soc| soc.field()[..] == names[32..])
    };
    assert!(is_device(&signed[64..128]) || others.chunks(64).any(is_device), "another device");
    assert!(options.floor.is_none_or(|floor| u64_at(signed, 32) >= floor));
    assert!(options.boot_version.is_none_or(|booted| booted >= boot_version));
    let mask = u32_at(signed, 48);
    assert!(options.lifecycle.is_none_or(|state| mask >> state as u32 & 1 == 1));
}

/// Returns the identities of further devices, and the required boot version (image format §4.6).
fn extensions(signed: &[u8]) -> (&[u8], u64) {
    let start = 256 + 64 * u32_at(signed, 52) as usize + 128 * u32_at(signed, 56) as usize;
    let mut area = &signed[start..][..u32_at(signed, 60) as usize];
    let (mut others, mut boot_version) = (&[][..], 0);
    while !area.is_empty() {
        let (value, rest) = area[8..].split_at(u32_at(area, 4) as usize);
        match u32_at(area, 0) {
            1 => others = value,
            2 => boot_version = u64_at(value, 0),
            3 => encryption_holds(signed, value),
            other => panic!("extension {other} was accepted"),
        }
        area = rest;
    }
    (others, boot_version)
}

/// Checks the records of encrypted payloads (image format §4.6).
fn encryption_holds(signed: &[u8], value: &[u8]) {
    let payloads = 256 + 64 * u32_at(signed, 52) as usize;
    let payloads = signed[payloads..].chunks(128).take(u32_at(signed, 56) as usize);
    let with_bytes = payloads.filter(|record| u64_at(record, 24) > 0);
    let with_bytes: Vec<_> = with_bytes.map(|record| u32_at(record, 0)).collect();
    assert!(value.len().is_multiple_of(64) && (64..=512).contains(&value.len()), "length");
    let types: Vec<_> = value.chunks(64).map(|record| u32_at(record, 0)).collect();
    assert!(types.is_sorted_by(|one, next| one < next), "order of encrypted payloads");
    assert!(types.iter().all(|it| with_bytes.contains(it)), "a payload that is not there");
    assert!(value.chunks(64).all(|record| u32_at(record, 4) == 1), "another cipher");
    assert_eq!(signed[..16], *b"HARTLOCK-SYST-v1", "a boot bundle with encrypted payloads");
}

/// Permitted memory range of each payload type: type, start, end, and alignment of the load
/// address.
const PLACES: [(u32, u128, u128, u128); 6] = [
    (1, 0x8000_0000, 0x8010_0000, 1 << 20),
    (2, 0x8020_0000, 0x8040_0000, 2 << 20),
    (3, 0x8040_0000, 0x8042_0000, 128 << 10),
    (16, 0x8100_0000, 0xc000_0000, 2 << 20),
    (17, 0x8100_0000, 0xc000_0000, 1),
    (18, 0x8100_0000, 0xc000_0000, 1),
];

/// Checks the load range (boot flow §2). The ranges of system payloads contain no live region, and
/// neither do the others while the ROM runs, so it is enough that a payload stays inside.
fn load_range_holds(record: &[u8], is_boot: bool, has_map: bool, loaded: &[(u128, u128)]) {
    let (size, start) = (u64_at(record, 24), u128::from(u64_at(record, 32)));
    let (memory_size, entry) = (u64_at(record, 40), u64_at(record, 48));
    let end = start + u128::from(memory_size);
    assert!(size <= memory_size && end <= u128::from(u64::MAX), "the payload leaves its memory");
    for (other_start, other_end) in loaded {
        let shared = start.max(*other_start) < end.min(*other_end);
        assert!(!shared, "two payloads share memory");
    }
    let kind = u32_at(record, 0);
    assert_eq!(kind < 16, is_boot);
    let is_code = matches!(kind, 1 | 2 | 16);
    if is_code {
        assert!(u128::from(entry) >= start && u128::from(entry) < start + u128::from(size));
    }
    if !has_map {
        return;
    }
    let place = PLACES.iter().find(|place| place.0 == kind).expect("a known payload");
    assert!(place.1 <= start && end <= place.2, "the payload leaves its place");
    assert!(start.is_multiple_of(place.3) && (!is_code || u128::from(entry) == start));
}
