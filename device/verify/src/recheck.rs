//! Redundant checks (boot flow §7). They compute as values what `acceptance.rs` and the parser decide by branches.
//!
//! Each function returns a *defect*, which is 0 exactly if its requirement is met. The verdict depends on every defect,
//! so that skipping the branch after a check does not turn a refusal into a boot. The redundant checks share no code
//! with the first ones, have no early exit, and read the signed bytes at their offsets instead of the parsed fields.

use core::hint::black_box;

use hartlock_image::{
    BundleType, Closing, Family, HEADER_SIZE, KEY_RECORD_SIZE, KeyRecord, List, MAX_SIGNERS,
    Manifest, PAYLOAD_RECORD_SIZE, PayloadRecord, Policy, u32_at, u64_at,
};

use crate::acceptance::Acceptance;
use crate::board::{Board, Fixed, Place, Region};
#[cfg(test)]
use crate::faults::defect as forced;

/// Returns the defect that a test forces a check to find.
#[cfg(not(test))]
const fn forced(_: &str) -> u64 {
    0
}

/// Returns all ones if `value` is not 0, else 0.
const fn spread(value: u64) -> u64 {
    0u64.wrapping_sub((value | value.wrapping_neg()) >> 63)
}

/// Returns all ones if `left` is less than `right`, else 0. This is the borrow of the subtraction.
const fn below(left: u64, right: u64) -> u64 {
    let borrow = (!left & right) | ((!left | right) & left.wrapping_sub(right));
    0u64.wrapping_sub(borrow >> 63)
}

/// Returns a value that is 0 exactly if both slices have the same length and the same bytes.
// This function is not inlined, because every requirement calls it.
#[inline(never)]
fn unlike(left: &[u8], right: &[u8]) -> u64 {
    let bits = left.iter().zip(right).fold(0, |seen, (l, r)| seen | (l ^ r));
    u64::from(bits) | (left.len() as u64 ^ right.len() as u64)
}

/// Returns the 32-bit field at `offset`, or `u64::MAX`, which no field can have, if the bytes are too short.
fn field32(bytes: &[u8], offset: usize) -> u64 {
    u32_at(bytes, offset).map_or(u64::MAX, u64::from)
}

fn key_unlike(left: &KeyRecord, right: &KeyRecord) -> u64 {
    u64::from(left.algorithm ^ right.algorithm)
        | u64::from(left.parameters ^ right.parameters)
        | unlike(&left.key_id, &right.key_id)
}

fn key_unlike_bytes(key: &KeyRecord, record: &[u8]) -> u64 {
    (u64::from(key.algorithm) ^ field32(record, 0))
        | (u64::from(key.parameters) ^ field32(record, 4))
        | unlike(&key.key_id, record.get(8..56).unwrap_or(&[]))
}

/// Compares keys with consecutive key records. A missing record differs from every key.
fn keys_unlike<'a>(keys: impl Iterator<Item = &'a KeyRecord>, records: &[u8]) -> u64 {
    let mut records = records.chunks(KEY_RECORD_SIZE);
    keys.fold(0, |seen, key| seen | key_unlike_bytes(key, records.next().unwrap_or(&[])))
}

/// Checks that the counted keys are trusted and not revoked, that they satisfy the policy (image format §5.3), and that
/// the signature blocks are exactly the signers in the signed bytes, in order (§5.2).
#[inline(never)]
pub(crate) fn signers(
    acceptance: &Acceptance<'_>,
    counted: &List<KeyRecord, MAX_SIGNERS>,
    blocks: &List<KeyRecord, MAX_SIGNERS>,
    signed: &[u8],
) -> u64 {
    let (acceptance, counted) = (black_box(acceptance), black_box(counted));
    let (blocks, signed) = (black_box(blocks), black_box(signed));
    let trust = &acceptance.trust;
    let mut defect = forced("signers");

    for key in counted.iter() {
        let nearest =
            (0u32..).zip(trust.keys.iter()).fold(u64::MAX, |nearest, (index, trusted)| {
                let revoked = u64::from(acceptance.revoked_keys.wrapping_shr(index) & 1);
                nearest & spread(key_unlike(key, trusted) | revoked)
            });
        defect |= nearest;
    }
    let has =
        |family: Family| counted.iter().fold(0, |seen, key| seen | u64::from(key.is_of(family)));
    let no_signer = below(counted.len() as u64, 1);
    defect |= match trust.policy {
        Policy::Any => no_signer,
        Policy::All => {
            (0u32..).zip(trust.keys.iter()).fold(no_signer, |missing, (index, trusted)| {
                let nearest = counted
                    .iter()
                    .fold(u64::MAX, |nearest, key| nearest & spread(key_unlike(key, trusted)));
                let revoked = u64::from(acceptance.revoked_keys.wrapping_shr(index) & 1);
                missing | (nearest & !spread(revoked))
            })
        }
        Policy::Hybrid => (has(Family::Classical) & has(Family::PostQuantum)) ^ 1,
        Policy::EverySigner => no_signer | (counted.len() as u64 ^ blocks.len() as u64),
    };

    defect |= field32(signed, 52) ^ blocks.len() as u64;
    defect | keys_unlike(blocks.iter(), signed.get(HEADER_SIZE..).unwrap_or(&[]))
}

/// Checks that the signed bytes are meant for this device (image format §7).
#[inline(never)]
pub(crate) fn device(acceptance: &Acceptance<'_>, signed: &[u8]) -> u64 {
    let (acceptance, signed) = (black_box(acceptance), black_box(signed));
    let text = |at: usize, len: usize| signed.get(at..at.wrapping_add(len)).unwrap_or(&[]);
    let version = u64_at(signed, 32).unwrap_or(0);
    let (others, boot_version, _) = extensions(signed);
    let unlike_device = |names: &[u8]| {
        let (board, soc) = names.split_at_checked(32).unwrap_or((&[], &[]));
        acceptance.board.map_or(0, |own| unlike(own.field(), board))
            | acceptance.soc.map_or(0, |own| unlike(own.field(), soc))
    };
    let nearest = others.chunks(64).fold(spread(unlike_device(text(64, 64))), |nearest, names| {
        nearest & spread(unlike_device(names))
    });
    forced("device")
        | acceptance.bundle_type.map_or(0, |kind| unlike(kind.tag(), text(0, 16)))
        | nearest
        | acceptance.floor.map_or(0, |floor| below(version, floor))
        | acceptance.boot_version.map_or(0, |booted| below(booted, boot_version))
        | acceptance
            .lifecycle
            .map_or(0, |state| below(field32(signed, 48) & u64::from(state.bit()), 1))
}

/// Returns the bytes of all identities except that of the header, the required boot version, and the bytes of the records
/// of encrypted payloads (image format §4.6). The extension records that are present are in this order.
fn extensions(signed: &[u8]) -> (&[u8], u64, &[u8]) {
    let records = |count: u64, size: u64| count.wrapping_mul(size);
    let start = records(field32(signed, 52), KEY_RECORD_SIZE as u64)
        .wrapping_add(records(field32(signed, 56), PAYLOAD_RECORD_SIZE as u64))
        .wrapping_add(HEADER_SIZE as u64);
    let area = signed
        .get(start as usize..)
        .and_then(|rest| rest.get(..field32(signed, 60) as usize))
        .unwrap_or(&[]);
    let (others, area) = extension(area, 1);
    let (boot_version, area) = extension(area, 2);
    let (encryption, _) = extension(area, 3);
    let boot_version =
        if boot_version.is_empty() { 0 } else { u64_at(boot_version, 0).unwrap_or(u64::MAX) };
    (others, boot_version, encryption)
}

/// Returns the value of the first extension record if it is of this type, and what follows it, otherwise nothing and
/// all.
#[inline(never)]
fn extension(area: &[u8], number: u64) -> (&[u8], &[u8]) {
    if field32(area, 0) != number {
        return (&[], area);
    }
    let value = area.get(8..).unwrap_or(&[]);
    value.split_at_checked(field32(area, 4) as usize).unwrap_or((&[], &[]))
}

/// Checks that the parsed values that are used later equal the signed bytes: the version, the payload records, those of
/// encrypted payloads, and the trust list or the length of the command line.
#[inline(never)]
pub(crate) fn parsed(manifest: &Manifest<'_>, signed: &[u8]) -> u64 {
    let (manifest, signed) = (black_box(manifest), black_box(signed));
    let mut defect = forced("parsed");
    let (_, _, encryption) = extensions(signed);
    defect |= unlike(manifest.extensions.encryption.as_flattened(), encryption);
    defect |= field32(signed, 56) ^ manifest.payloads.len() as u64;
    defect |= u64_at(signed, 32).unwrap_or(0) ^ manifest.security_version;
    let signers = field32(signed, 52) as usize;
    let start = HEADER_SIZE.wrapping_add(signers.wrapping_mul(KEY_RECORD_SIZE));
    let mut rest = signed.get(start..).unwrap_or(&[]);
    for payload in manifest.payloads.iter() {
        let (record, after) = rest.split_at_checked(PAYLOAD_RECORD_SIZE).unwrap_or((&[], &[]));
        let (fields, digest) = record.split_at_checked(64).unwrap_or((&[], &[]));
        defect |= unlike(&payload.prefix(), fields) | unlike(&payload.digest, digest);
        rest = after;
    }
    let rest = rest.get(field32(signed, 60) as usize..).unwrap_or(&[]);
    defect
        | match &manifest.closing {
            Closing::Trust { list, .. } => {
                keys_unlike(list.keys.iter(), rest.get(16..).unwrap_or(&[]))
                    | (field32(rest, 0) ^ u64::from(list.policy.number()))
                    | (field32(rest, 4) ^ list.keys.len() as u64)
            }
            Closing::Bootargs(bootargs) => field32(rest, 0) ^ bootargs.len() as u64,
        }
}

/// Checks that no load range wraps around or is too small for its payload, and that no two ranges overlap (image format
/// §4.3).
#[inline(never)]
pub(crate) fn ranges(manifest: &Manifest<'_>) -> u64 {
    let manifest = black_box(manifest);
    let mut defect = forced("ranges");
    for (index, payload) in manifest.payloads.iter().enumerate() {
        let range = range_of(payload);
        defect |= below(range.end, range.start) | below(payload.memory_size, payload.size);
        for other in manifest.payloads.iter().skip(index.wrapping_add(1)) {
            defect |= shared(&range, &range_of(other));
        }
    }
    defect
}

/// Checks that every payload lies in its region of this board and does not overlap a live region (boot flow §2).
#[inline(never)]
pub(crate) fn placement(board: &Board<'_>, manifest: &Manifest<'_>) -> u64 {
    let (board, manifest) = (black_box(board), black_box(manifest));
    let live = match manifest.bundle_type {
        BundleType::Boot => board.live_in_rom,
        BundleType::System => board.live_in_loader,
    };
    let mut defect = forced("placement");
    for payload in manifest.payloads.iter() {
        let range = range_of(payload);
        defect |= live.iter().fold(0, |seen, live| seen | shared(&range, live));
        defect |= board
            .places
            .iter()
            .fold(u64::MAX, |best, place| best & spread(misplaced(payload, &range, place)));
    }
    defect
}

fn range_of(payload: &PayloadRecord) -> Region {
    let start = payload.load_address;
    Region { start, end: start.wrapping_add(payload.memory_size) }
}

/// Returns all ones if the regions overlap, else 0.
const fn shared(left: &Region, right: &Region) -> u64 {
    below(left.start, right.end)
        & below(right.start, left.end)
        & below(left.start, left.end)
        & below(right.start, right.end)
}

/// Returns 0 exactly if the payload has the type of this place and meets its constraints.
fn misplaced(payload: &PayloadRecord, range: &Region, place: &Place) -> u64 {
    let entry = match payload.payload_type.is_code() {
        true => payload.entry ^ payload.load_address,
        false => payload.entry,
    };
    (payload.payload_type as u64 ^ place.payload_type as u64)
        | below(range.start, place.region.start)
        | below(place.region.end, range.end)
        | match place.fixed {
            Fixed::No => 0,
            Fixed::AtStart => entry | (payload.load_address ^ place.region.start),
            Fixed::Aligned(alignment) => entry | (payload.load_address & alignment.wrapping_sub(1)),
        }
}

#[cfg(test)]
mod tests;
