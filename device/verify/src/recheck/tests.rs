//! Tests that both checks agree: a defect is 0 exactly if the branches refuse nothing.

use core::num::NonZeroU64;
use std::vec::Vec;

use hartlock_image::{
    Extensions, HashId, Identity, KEY_ID_SIZE, Label, Lifecycle, Name, PayloadType, Reason,
    TreeMode, TrustList, encode_manifest,
};
use proptest::prelude::*;

use super::*;

// The map names the verifier by its package's name.
#[allow(dead_code, reason = "the tests place payloads, and no program is linked")]
#[rustfmt::skip]
#[path = "../../../boards/qemu-virt/generated/map.rs"]
mod qemu_virt;

fn key(byte: u8) -> KeyRecord {
    KeyRecord { algorithm: 1, parameters: 0, key_id: [byte; KEY_ID_SIZE] }
}

fn keys<const N: usize>(mask: u8) -> List<KeyRecord, N> {
    (0..8).filter(|index| mask >> index & 1 == 1).map(key).collect()
}

fn payload(payload_type: PayloadType, load_address: u64, size: u64) -> PayloadRecord {
    PayloadRecord {
        payload_type,
        hash: HashId::Sha384,
        mode: TreeMode::Flat,
        offset: 4096,
        size,
        load_address,
        memory_size: size.next_multiple_of(4096),
        entry: if payload_type.is_code() { load_address } else { 0 },
        digest: [0xd1; 64],
    }
}

fn identity(board: &str, soc: &str) -> Identity {
    Identity { board: Name::new(board).unwrap(), soc: Name::new(soc).unwrap() }
}

fn manifest() -> Manifest<'static> {
    Manifest {
        bundle_type: BundleType::System,
        signatures_size: 112,
        bundle_size: 0,
        security_version: 7,
        created: 0,
        lifecycle_mask: 0b010,
        identity: identity("qemu-virt", "virt"),
        label: Label::new("").unwrap(),
        signers: keys(0b10),
        payloads: [
            payload(PayloadType::Kernel, 0x8200_0000, 9000),
            payload(PayloadType::Initramfs, 0x8800_0000, 5000),
            payload(PayloadType::SystemFdt, 0x8600_0000, 3000),
        ]
        .into_iter()
        .collect(),
        extensions: Extensions::NONE,
        closing: Closing::Bootargs(b"quiet"),
    }
}

fn signed(manifest: &Manifest<'_>) -> Vec<u8> {
    let mut out = std::vec![0; 4096];
    let len = encode_manifest(manifest, &mut out).unwrap();
    out.truncate(len);
    out
}

fn acceptance() -> Acceptance<'static> {
    Acceptance::of_device(
        BundleType::System,
        (TrustList { policy: Policy::Any, keys: keys(0b11) }, 0),
        identity("qemu-virt", "virt"),
        (7, Some(3)),
        Lifecycle::Production,
        &qemu_virt::BOARD,
    )
}

#[test]
fn a_good_manifest_has_no_defect() {
    let (manifest, acceptance) = (manifest(), acceptance());
    let signed = signed(&manifest);
    assert_eq!(signers(&acceptance, &keys(0b10), &keys(0b10), &signed), 0);
    assert_eq!(parsed(&manifest, &signed), 0);
    assert_eq!(device(&acceptance, &signed), 0);
    assert_eq!(placement(&qemu_virt::BOARD, &manifest) | ranges(&manifest), 0);
}

#[test]
fn policies_are_judged_alike_for_every_set_of_keys() {
    let manifest = manifest();
    let signed = signed(&manifest);
    let mut verdicts = [0, 0];
    for policy in [Policy::Any, Policy::All, Policy::Hybrid, Policy::EverySigner] {
        for [trusted, revoked, counted] in
            (0..512u16).map(|n| [n, n >> 3, n >> 6].map(|n| n as u8 & 7))
        {
            let acceptance = Acceptance {
                trust: TrustList { policy, keys: keys(trusted) },
                revoked_keys: u32::from(revoked),
                ..acceptance()
            };
            // `authenticate` counts a key only if it is trusted; the redundant check covers that,
            // too.
            let counted = keys::<MAX_SIGNERS>(counted);
            let is_counted_rightly =
                counted.iter().all(|key| acceptance.trusted().any(|trusted| trusted == key));
            let is_met = acceptance.check_policy(&counted, counted.len()).is_ok();
            let defect = signers(&acceptance, &counted, &counted, &signed_by(&counted));
            assert_eq!(
                defect == 0,
                is_met && is_counted_rightly,
                "{policy:?} {trusted:#b} {revoked:#b} {counted:?}"
            );
            verdicts[usize::from(defect == 0)] += 1;
        }
    }
    assert!(verdicts[0] > 100 && verdicts[1] > 50, "one-sided: {verdicts:?}");
    assert_ne!(signers(&acceptance(), &keys(0b10), &keys(0b10), &signed[..200]), 0);
}

fn signed_by(signers: &List<KeyRecord, MAX_SIGNERS>) -> Vec<u8> {
    signed(&Manifest { signers: *signers, ..manifest() })
}

#[test]
fn a_block_that_is_missing_added_or_moved_is_a_defect() {
    let two = signed_by(&keys(0b11));
    let swapped = [key(1), key(0)].into_iter().collect();
    assert_eq!(signers(&acceptance(), &keys(0b11), &keys(0b11), &two), 0);
    for blocks in [keys(0b1), keys(0b111), swapped, keys(0b101), keys(0)] {
        assert_ne!(signers(&acceptance(), &keys(0b1), &blocks, &two), 0, "{blocks:?}");
    }
    // Two trusted keys could have the same key id and different algorithms; they must not be
    // confused.
    let other = [KeyRecord { parameters: 1, ..key(0) }].into_iter().collect();
    assert_ne!(signers(&acceptance(), &other, &other, &signed_by(&other)), 0);
}

#[test]
fn every_bit_that_a_device_insists_on_is_compared() {
    let good = signed(&manifest());
    for bit in (0..16 * 8).chain(64 * 8..128 * 8) {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(device(&acceptance(), &bad), 0, "bit {bit}");
    }
    for lifecycle in Lifecycle::ALL {
        let acceptance = Acceptance { lifecycle: Some(lifecycle), ..acceptance() };
        let is_accepted = acceptance.check_device(&manifest()).is_ok();
        assert_eq!(device(&acceptance, &good) == 0, is_accepted, "{lifecycle:?}");
    }
}

#[test]
fn lists_of_devices_and_dependencies_are_judged_alike() {
    let names =
        [("qemu-virt", "virt"), ("qemu-virt", "other"), ("board", "virt"), ("board", "soc")];
    let all: Vec<Identity> = names.iter().map(|(board, soc)| identity(board, soc)).collect();
    let mut verdicts = [0, 0];
    // The loop covers each pair in the header with each set of pairs in the list, for each set of
    // options of a workstation.
    for (own, mask, options) in (0..4).flat_map(|own| {
        (0..16u8).flat_map(move |mask| (0..4u8).map(move |options| (own, mask, options)))
    }) {
        for boot_version in [None, NonZeroU64::new(3), NonZeroU64::new(4)] {
            let others = (0..4).filter(|index| *index != own && mask >> index & 1 == 1);
            let fields: Vec<_> = others.map(|index| all[index].field()).collect();
            let extensions = Extensions { identities: &fields, boot_version, ..Extensions::NONE };
            let manifest = Manifest { identity: all[own], extensions, ..manifest() };
            let device = acceptance();
            let acceptance = Acceptance {
                board: device.board.filter(|_| options & 1 == 0),
                soc: device.soc.filter(|_| options & 2 == 0),
                ..device
            };
            let verdict = acceptance.check_device(&manifest);
            let defect = super::device(&acceptance, &signed(&manifest));
            assert_eq!(defect == 0, verdict == Ok(()), "{manifest:?} {acceptance:?}");
            verdicts[usize::from(defect == 0)] += 1;
        }
    }
    assert!(verdicts[0] > 100 && verdicts[1] > 100, "one-sided: {verdicts:?}");
}

#[test]
fn encryption_that_was_parsed_differs_from_what_was_signed() {
    let other = [identity("board", "soc").field()];
    let all = [[1; 64], [2; 64]];
    for identities in [&other[..], &[]] {
        for boot_version in [None, NonZeroU64::new(3)] {
            let of = |encryption| Manifest {
                extensions: Extensions { identities, boot_version, encryption },
                ..manifest()
            };
            for (signs, parses) in [(&all[..], &all[..1]), (&all[1..], &all[..1]), (&[], &all)] {
                for (one, other) in [(signs, parses), (parses, signs)] {
                    assert_eq!(parsed(&of(one), &signed(&of(one))), 0);
                    assert_ne!(parsed(&of(other), &signed(&of(one))), 0);
                }
            }
        }
    }
}

#[test]
fn what_was_parsed_differs_from_what_was_signed() {
    let list = TrustList { policy: Policy::All, keys: keys(0b110) };
    let boot = Closing::Trust { list, carried: 2 };
    for good in [manifest(), Manifest { closing: boot, ..manifest() }] {
        let bytes = signed(&good);
        assert_eq!(parsed(&good, &bytes), 0);
        let mut version = good.clone();
        version.security_version ^= 1 << 40;
        let mut fewer = good.clone();
        fewer.payloads = good.payloads.iter().take(2).copied().collect();
        let mut bad = std::vec![version, fewer];
        for change in [
            (|record| record.load_address ^= 1 << 30) as fn(&mut PayloadRecord),
            |record| record.entry ^= 4,
            |record| record.size ^= 1,
            |record| record.memory_size ^= 4096,
            |record| record.offset ^= 1 << 39,
            |record| record.hash = HashId::Sha256,
            |record| record.digest[63] ^= 0x80,
        ] {
            let mut changed = good.clone();
            changed.payloads.iter_mut().last().map(change);
            bad.push(changed);
        }
        for policy in [Policy::Any, Policy::EverySigner] {
            let keys = keys(0b110);
            bad.push(Manifest {
                closing: Closing::Trust { list: TrustList { policy, keys }, carried: 2 },
                ..manifest()
            });
        }
        for mask in [0b10, 0b1110, 0b101] {
            let list = TrustList { policy: Policy::All, keys: keys(mask) };
            bad.push(Manifest { closing: Closing::Trust { list, carried: 2 }, ..manifest() });
        }
        bad.push(Manifest { closing: Closing::Bootargs(b"quie"), ..manifest() });
        for manifest in bad {
            assert_ne!(parsed(&manifest, &bytes), 0, "{manifest:?}");
        }
    }
}

// Two defects must not cancel each other, as they would if the checks were joined by XOR.

#[test]
fn masks_are_right_at_the_ends_of_the_range() {
    const TOP: u64 = 1 << 63;
    for value in [0, 1, TOP - 1, TOP, TOP + 1, u64::MAX] {
        assert_eq!(spread(value), if value == 0 { 0 } else { u64::MAX }, "{value:#x}");
        for other in [0, 1, TOP - 1, TOP, TOP + 1, u64::MAX] {
            let wanted = if value < other { u64::MAX } else { 0 };
            assert_eq!(below(value, other), wanted, "{value:#x} {other:#x}");
        }
    }
}

#[test]
fn equal_defects_of_a_key_do_not_cancel() {
    assert_ne!(unlike(&[1, 0], &[0, 0, 0]), 0);
    let other = KeyRecord { parameters: 6, ..key(0x40) };
    let record = |key: &KeyRecord| {
        let mut bytes = std::vec![];
        bytes.extend(key.algorithm.to_le_bytes());
        bytes.extend(key.parameters.to_le_bytes());
        bytes.extend(key.key_id);
        bytes
    };
    assert_eq!((key_unlike(&other, &other), key_unlike_bytes(&other, &record(&other))), (0, 0));
    for (algorithm, parameters, id) in [(3, 3, 0), (0, 3, 3), (3, 0, 3), (3, 3, 3), (0, 1, 0)] {
        let mut changed = other;
        changed.algorithm ^= algorithm;
        changed.parameters ^= parameters;
        changed.key_id[5] ^= id;
        assert_ne!(key_unlike(&other, &changed), 0, "{changed:?}");
        assert_ne!(key_unlike_bytes(&other, &record(&changed)), 0, "{changed:?}");
    }
    let (one, two) = (KeyRecord { parameters: 1, ..other }, KeyRecord { parameters: 2, ..other });
    assert_ne!(key_unlike_bytes(&one, &record(&two)), 0);
}

#[test]
fn every_set_of_wrong_requirements_is_a_defect() {
    let manifest = Manifest {
        extensions: Extensions { boot_version: NonZeroU64::new(4), ..Extensions::NONE },
        ..manifest()
    };
    let (good, signed) = (Acceptance { boot_version: Some(4), ..acceptance() }, signed(&manifest));
    assert_eq!(device(&good, &signed), 0);
    for mask in 1..32 {
        let mut bad = good;
        let wrong = |bit: u8| mask >> bit & 1 == 1;
        if wrong(0) {
            bad.floor = Some(8);
        }
        if wrong(1) {
            bad.boot_version = Some(3);
        }
        if wrong(2) {
            bad.lifecycle = Some(Lifecycle::Returned);
        }
        if wrong(3) {
            bad.board = Some(Name::new("other").unwrap());
        }
        if wrong(4) {
            bad.bundle_type = Some(BundleType::Boot);
        }
        assert_ne!(device(&bad, &signed), 0, "{mask:#b}");
    }
    // Board and SoC differ in the same bit.
    let mut bad = good;
    bad.board = Some(Name::new("pemu-virt").unwrap());
    bad.soc = Some(Name::new("wirt").unwrap());
    assert_ne!(device(&bad, &signed), 0);
    let mut one = signed.clone();
    one[64] ^= 2;
    one[96] ^= 2;
    assert_ne!(device(&good, &one), 0);
    // A value that a defect of the type equals, beside a floor that is not met.
    let bad = Acceptance { floor: Some(8), lifecycle: Some(Lifecycle::Returned), ..good };
    assert_ne!(device(&bad, &signed), 0);
}

#[test]
fn a_hybrid_needs_both_families_and_counts_each_once() {
    let of = |family: Family, id: u8| {
        let numbers = (1..64).flat_map(|algorithm| (0..128).map(move |set| (algorithm, set)));
        let mut keys =
            numbers.map(|(algorithm, parameters)| KeyRecord { algorithm, parameters, ..key(id) });
        keys.find(|key| key.is_of(family)).unwrap()
    };
    let (classical, other) = (of(Family::Classical, 1), of(Family::Classical, 2));
    let (quantum, another) = (of(Family::PostQuantum, 3), of(Family::PostQuantum, 4));
    let all: List<KeyRecord, MAX_SIGNERS> =
        [classical, quantum, other, another].into_iter().collect();
    let acceptance = Acceptance {
        trust: TrustList { policy: Policy::Hybrid, keys: all.iter().copied().collect() },
        ..acceptance()
    };
    for mask in 1..16 {
        let counted: List<KeyRecord, MAX_SIGNERS> = (0..4)
            .filter(|index| mask >> index & 1 == 1)
            .filter_map(|index| all.get(index).copied())
            .collect();
        let is_hybrid = mask & 0b0101 != 0 && mask & 0b1010 != 0;
        let defect = signers(&acceptance, &counted, &counted, &signed_by(&counted));
        assert_eq!(defect == 0, is_hybrid, "{mask:#b}");
    }
}

#[test]
fn missing_signers_do_not_cancel_missing_records() {
    for policy in [Policy::Any, Policy::All, Policy::EverySigner] {
        let trust = TrustList { policy, keys: keys(0b11) };
        let acceptance = Acceptance { trust, ..acceptance() };
        for len in [0, 52, 200, 256] {
            let bytes = &signed(&manifest())[..len];
            assert_ne!(signers(&acceptance, &keys(0), &keys(0b11), bytes), 0, "{policy:?} {len}");
        }
    }
}

#[test]
fn equal_defects_of_parsed_values_do_not_cancel() {
    let good = manifest();
    let bytes = signed(&good);
    let mut bad = good.clone();
    if let Some(payload) = bad.payloads.iter_mut().next() {
        payload.offset ^= 0x80;
        payload.digest[63] ^= 0x80;
    }
    assert_ne!(parsed(&bad, &bytes), 0);
    let mut bad = good.clone();
    bad.security_version ^= 1;
    bad.closing = Closing::Bootargs(b"quie");
    assert_ne!(parsed(&bad, &bytes), 0);
    let boot = |policy, keys| {
        let list = TrustList { policy, keys };
        Manifest { closing: Closing::Trust { list, carried: 2 }, ..manifest() }
    };
    let bytes = signed(&boot(Policy::Any, keys(0b110)));
    let number = |policy: Policy| u64::from(policy.number());
    for policy in [Policy::All, Policy::Hybrid, Policy::EverySigner] {
        let difference = number(policy) ^ number(Policy::Any);
        // A key that differs in the same bits, and a number of keys that does.
        let mut list: List<KeyRecord, 8> = keys(0b110);
        if let Some(key) = list.iter_mut().next() {
            key.key_id[0] ^= difference as u8;
        }
        assert_ne!(parsed(&boot(policy, list), &bytes), 0, "{policy:?}");
        for mask in [0b10, 0b0, 0b1110, 0b1_1110] {
            assert_ne!(parsed(&boot(policy, keys(mask)), &bytes), 0, "{policy:?} {mask:#b}");
        }
    }
}

#[test]
fn each_defect_of_a_range_is_seen_alone_and_with_others() {
    let with = |load_address: u64, memory_size: u64, size: u64| {
        let mut manifest = manifest();
        let record =
            PayloadRecord { load_address, memory_size, size, ..payload(PayloadType::Kernel, 0, 1) };
        manifest.payloads = [record].into_iter().collect();
        ranges(&manifest)
    };
    assert_eq!(with(0x8000_0000, 0x2000, 0x2000), 0);
    assert_ne!(with(u64::MAX - 0xfff, 0x2000, 0x1000), 0, "it wraps");
    assert_ne!(with(0x8000_0000, 0x1000, 0x1001), 0, "it is too small");
    assert_ne!(with(u64::MAX - 0xfff, 0x2000, 0x3000), 0, "it wraps and is too small");
}

#[test]
fn a_payload_over_two_live_regions_is_a_defect() {
    let start = 0x8200_0000;
    let places = [Place {
        payload_type: PayloadType::Kernel,
        region: Region::new(start, 1 << 20),
        fixed: Fixed::No,
    }];
    let live = [Region::new(start, 4096), Region::new(start + 4096, 4096)];
    let mut manifest = manifest();
    manifest.payloads = [payload(PayloadType::Kernel, start, 8192)].into_iter().collect();
    for (live, is_defect) in [(&live[..], true), (&live[..1], true), (&[], false)] {
        let board = Board {
            name: "board",
            soc: "soc",
            hart_count: 1,
            max_bootargs: 1023,
            places: &places,
            live_in_rom: &[],
            live_in_loader: live,
            closed: &[],
        };
        assert_eq!(placement(&board, &manifest) != 0, is_defect, "{live:?}");
    }
}

#[test]
fn equal_defects_of_a_place_do_not_cancel() {
    const START: u64 = 0x8200_0000;
    let judge = |fixed, payload_type, load_address: u64, memory_size: u64, entry: u64| {
        let region = Region::new(START, 1 << 20);
        let record =
            PayloadRecord { memory_size, entry, ..payload(payload_type, load_address, 4096) };
        misplaced(&record, &range_of(&record), &Place { payload_type, region, fixed })
    };
    let (code, data) = (PayloadType::Kernel, PayloadType::SystemFdt);
    for fixed in [Fixed::AtStart, Fixed::Aligned(0x1000)] {
        assert_eq!(judge(fixed, code, START, 4096, START), 0);
        assert_eq!(judge(fixed, data, START, 4096, 0), 0);
        assert_ne!(judge(fixed, code, START, 4096, START ^ 4), 0, "entry");
        assert_ne!(judge(fixed, code, START + 8, 4096, START + 8), 0, "address");
        assert_ne!(judge(fixed, code, START + 8, 4096, START), 0, "both, by the same bits");
        assert_ne!(judge(fixed, data, START, 4096, u64::MAX), 0, "entry of data");
        assert_ne!(judge(fixed, data, START, 2 << 20, u64::MAX), 0, "entry of data, and the end");
        assert_ne!(judge(fixed, data, START - 4096, 4096, u64::MAX), 0, "and the start");
    }
    assert_ne!(judge(Fixed::AtStart, code, START + 4096, 4096, START), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn numbers_are_judged_alike(left: u64, right: u64, near in -2i64..3) {
        for right in [right, left.wrapping_add_signed(near)] {
            prop_assert_eq!(below(left, right) == u64::MAX, left < right);
            prop_assert_eq!(below(left, right) == 0, left >= right);
        }
        prop_assert_eq!([spread(left), spread(0)], [if left == 0 { 0 } else { u64::MAX }, 0]);
        let device_at = |floor| {
            let acceptance = Acceptance { floor: Some(floor), ..acceptance() };
            (device(&acceptance, &signed(&manifest())), acceptance.check_device(&manifest()))
        };
        for floor in [left, 7u64.wrapping_add_signed(near)] {
            let (defect, verdict) = device_at(floor);
            prop_assert_eq!(defect == 0, verdict == Ok(()));
            prop_assert!(defect == 0 || verdict == Err(Reason::RollbackBelowFloor));
        }
    }

    #[test]
    fn places_are_judged_alike(
        kind in 0..6usize,
        is_boot: bool,
        page in prop_oneof![0x8_0000..0xc_0400u64, 0..1u64 << 52],
        is_aligned: bool,
        pages in prop_oneof![0..600u64, 0..1u64 << 40],
        entry_off in prop_oneof![4 => Just(0u64), 1 => Just(4)],
    ) {
        let payload_type = PayloadType::ALL[kind];
        let alignment = if is_aligned { 512 } else { 1 };
        let mut record = payload(payload_type, (page & !(alignment - 1)) << 12, pages << 12);
        record.entry += if payload_type.is_code() { entry_off } else { 0 };
        let bundle_type = if is_boot { BundleType::Boot } else { BundleType::System };
        let payloads = [record].into_iter().collect();
        let manifest = Manifest { bundle_type, payloads, ..manifest() };
        // The parser refuses a range that wraps around, and the redundant check also covers this
        // case.
        let is_whole = record.load_address.checked_add(record.memory_size).is_some();
        let board = &qemu_virt::BOARD;
        let is_placed = board.check(bundle_type, &record).is_ok();
        let defect = placement(board, &manifest) | ranges(&manifest);
        prop_assert_eq!(defect == 0, is_whole && is_placed);
    }

    #[test]
    fn shared_bytes_are_seen(start in 0..40u64, pages in 0..40u64, other in 0..40u64) {
        let mut manifest = manifest();
        manifest.payloads = [
            payload(PayloadType::Initramfs, 0x8800_0000 + (start << 12), pages << 12),
            payload(PayloadType::SystemFdt, 0x8800_0000 + (other << 12), 4096),
        ]
        .into_iter()
        .collect();
        let is_shared = (start..start + pages).contains(&other);
        prop_assert_eq!(ranges(&manifest) != 0, is_shared);
    }
}
