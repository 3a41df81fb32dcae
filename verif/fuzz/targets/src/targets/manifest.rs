//! The signed region. Rule: each manifest has exactly one encoding.

use hartlock_image::{
    Closing, HEADER_SIZE, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNED_SIZE, MAX_SIGNERS, Manifest,
    PayloadRecord, PayloadType, TreeMode, encode_manifest, u32_at,
};

use crate::choices::Choices;
use crate::draft::Draft;

/// Parses arbitrary bytes, with the signature blocks of exactly the signers that the bytes list.
pub fn bytes(data: &[u8]) {
    let signer_count = u32_at(data, 52).unwrap_or(0) as usize;
    let records = data.get(HEADER_SIZE..).unwrap_or(&[]).chunks_exact(KEY_RECORD_SIZE);
    let keys = records.take(signer_count).filter_map(KeyRecord::parse).collect();
    check(data, &keys);
}

/// Encodes a manifest from fields, with up to three changes, and parses it.
pub fn built(data: &[u8]) {
    let mut choices = Choices::new(data);
    let draft = Draft::new(&mut choices);
    let (right, _) = draft.encode();
    let mut region = right.clone();
    for _ in 0..choices.of(&[0, 1, 1, 2, 3]) {
        change(&mut choices, &mut region);
    }
    let keys = draft.signer_records();
    let parsed = check(&region, &keys);
    if region == right && !draft.has_fault {
        parsed.expect("a right manifest is accepted");
    } else if let (Some(parsed), Some(original)) = (parsed, check(&right, &keys)) {
        assert_eq!(parsed == original, region == right, "two manifests for one byte string");
    }
}

/// Changes a field or a few bytes, or shifts the bytes after them.
pub fn change(choices: &mut Choices<'_>, region: &mut Vec<u8>) {
    let at = match choices.below(4) {
        // Offsets of the fields of the header (§4.1).
        0 => choices.of(&[16, 20, 24, 32, 40, 48, 52, 56, 60, 64, 95, 96, 128, 191, 192, 255]),
        _ => choices.below(region.len().max(1)),
    };
    match choices.below(6) {
        0 => put(region, at & !3, &(choices.number() as u32).to_le_bytes()),
        1 => put(region, at & !7, &choices.number().to_le_bytes()),
        2 => put(region, at, &[choices.byte()]),
        3 => {
            if let Some(byte) = region.get_mut(at) {
                *byte ^= 1 << choices.below(8);
            }
        }
        4 => {
            // Eight bytes are inserted and the size field is adjusted, so that only the contents
            // are wrong.
            let at = (at & !7).min(region.len());
            region.splice(at..at, choices.long().to_le_bytes());
            let len = region.len() as u32;
            put(region, 16, &len.to_le_bytes());
        }
        _ => {
            let end = (at & !7).saturating_add(8).min(region.len());
            region.drain(at & !7..end);
            let len = region.len() as u32;
            put(region, 16, &len.to_le_bytes());
        }
    }
}

fn put(region: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = region.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Checks that an accepted manifest encodes to the bytes from which it was parsed.
fn check<'a>(region: &'a [u8], keys: &List<KeyRecord, MAX_SIGNERS>) -> Option<Manifest<'a>> {
    let manifest = Manifest::parse(region, keys).ok()?;
    let mut encoded = [0xa5; MAX_SIGNED_SIZE];
    let len = encode_manifest(&manifest, &mut encoded).expect("what was read can be written");
    assert!(encoded[..len] == *region, "one encoding of a manifest");

    // Properties on which the stages rely (§4.3), checked with numbers that cannot wrap.
    let mut end = u128::from(manifest.signatures_size) + region.len() as u128;
    let mut ranges: Vec<(u128, u128)> = Vec::new();
    for payload in manifest.payloads.iter() {
        assert_eq!(u128::from(payload.offset), end.next_multiple_of(4096));
        end = u128::from(payload.offset) + u128::from(payload.size);
        let start = u128::from(payload.load_address);
        let range = (start, start + u128::from(payload.memory_size));
        assert!(range.1 <= u128::from(u64::MAX) && payload.size <= payload.memory_size);
        assert!(ranges.iter().all(|other| range.0.max(other.0) >= range.1.min(other.1)));
        ranges.push(range);
        payload_holds(payload);
    }
    assert_eq!(u128::from(manifest.bundle_size), end.next_multiple_of(4096));
    assert!((1..8).contains(&manifest.lifecycle_mask));
    let kinds: Vec<_> = manifest.payloads.iter().map(|payload| payload.payload_type).collect();
    assert!(kinds.is_sorted_by(|one, next| one < next), "payloads in order, each once");
    let is_boot = manifest.bundle_type == hartlock_image::BundleType::Boot;
    assert!(kinds.iter().all(|kind| is_boot == ((*kind as u32) < 16)));
    assert_eq!(kinds.iter().filter(|kind| kind.is_required()).count(), if is_boot { 3 } else { 2 });
    assert!(is_set(manifest.signers.iter()), "the same signer twice");
    match &manifest.closing {
        Closing::Trust { list: trust, carried } => {
            assert!(trust.keys.iter().all(|key| u128::from(*carried) >> key.algorithm & 1 == 1));
            assert!(!trust.keys.is_empty() && is_set(trust.keys.iter()), "the same key twice");
        }
        Closing::Bootargs(text) => {
            assert!(text.len() <= 2048 && text.iter().all(|byte| (b' '..=b'~').contains(byte)));
        }
    }
    Some(manifest)
}

/// Checks rules of a payload record (§4.3, §6.1) that do not follow from the encoding.
fn payload_holds(payload: &PayloadRecord) {
    let is_empty = payload.size == 0;
    assert!(payload.size <= 1 << 40);
    assert!(!is_empty || payload.payload_type == PayloadType::Initramfs);
    assert_eq!((payload.load_address | payload.memory_size) % 4096, 0);
    let inside = payload.entry.wrapping_sub(payload.load_address) < payload.size;
    match payload.payload_type.is_code() {
        true => assert!(inside && payload.entry.is_multiple_of(4), "entered elsewhere"),
        false => assert_eq!(payload.entry, 0),
    }
    if let TreeMode::Blocks { block_size } = payload.mode {
        assert!(block_size.is_multiple_of(1024) && (1..=16 << 10).contains(&(block_size >> 10)));
    }
    assert!(payload.digest[payload.hash.output_len()..].iter().all(|byte| *byte == 0));
}

fn is_set<'a>(mut keys: impl Iterator<Item = &'a KeyRecord>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    keys.all(|key| seen.insert(key.key_id))
}
