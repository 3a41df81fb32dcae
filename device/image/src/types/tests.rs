use std::format;
use std::vec::Vec;

use hartlock_algorithm::Profile;

use super::*;
use crate::{Closing, Extensions, List, Manifest, PayloadRecord, TrustList};

fn key(name: &str) -> KeyRecord {
    let (algorithm, parameters) = Algorithm::from_name(name).unwrap().numbers();
    KeyRecord { algorithm, parameters, key_id: [7; KEY_ID_SIZE] }
}

fn payload(hash: HashId, mode: TreeMode) -> PayloadRecord {
    PayloadRecord {
        payload_type: PayloadType::Kernel,
        hash,
        mode,
        offset: 0,
        size: 1,
        load_address: 0,
        memory_size: 1,
        entry: 0,
        digest: [0; 64],
    }
}

#[test]
fn numbers_and_names_are_those_of_the_tables() {
    let types = PayloadType::ALL.map(|it| (it as u32, it.name(), it.is_code(), it.is_required()));
    assert_eq!(
        types,
        [
            (1, "opensbi", true, true),
            (2, "loader", true, true),
            (3, "boot-fdt", false, true),
            (16, "kernel", true, true),
            (17, "initramfs", false, false),
            (18, "system-fdt", false, true),
        ]
    );
    for kind in PayloadType::ALL {
        assert_eq!(PayloadType::from_number(kind as u32), Some(kind));
        assert_eq!(PayloadType::from_name(kind.name()), Some(kind));
    }
    assert_eq!((PayloadType::from_number(4), PayloadType::from_name("")), (None, None));

    for (kind, name) in [(BundleType::Boot, "boot"), (BundleType::System, "system")] {
        assert_eq!((kind.name(), BundleType::from_tag(kind.tag())), (name, Some(kind)));
        let is_of_kind = |it: &PayloadType| (*it as u32 >= 16) == (kind == BundleType::System);
        let types: Vec<PayloadType> = PayloadType::ALL.into_iter().filter(is_of_kind).collect();
        assert_eq!(kind.payload_types(), types);
    }
    assert_eq!(BundleType::from_tag(&[0; 16]), None);

    for (number, policy, name) in [
        (1, Policy::Any, "any"),
        (2, Policy::All, "all"),
        (3, Policy::Hybrid, "hybrid"),
        (0, Policy::EverySigner, "every-signer"),
    ] {
        assert_eq!((policy.number(), policy.name()), (number, name));
        assert_eq!(Policy::from_number(number), (number != 0).then_some(policy));
    }
    assert_eq!(Policy::from_number(4), None);

    let states = Lifecycle::ALL.map(|it| (it as u32, it.bit(), it.name()));
    assert_eq!(states, [(0, 1, "development"), (1, 2, "production"), (2, 4, "returned")]);
    assert_eq!((0..4).filter_map(Lifecycle::from_number).collect::<Vec<_>>(), Lifecycle::ALL);
    assert_eq!(Lifecycle::ALL.iter().fold(0, |mask, it| mask | it.bit()), Lifecycle::MASK);
}

#[test]
fn a_mode_has_block_sizes_in_its_range_and_the_hashes_of_the_table() {
    let (blocks, parallel) = (
        |block_size| Ok(TreeMode::Blocks { block_size }),
        |block_size| Ok(TreeMode::ParallelHash { block_size }),
    );
    let wrong = Err(Reason::BlockSizeNotAllowed);
    assert_eq!(TreeMode::from_fields(1, 0), Ok(TreeMode::Flat));
    assert_eq!(TreeMode::from_fields(1, 1024), wrong);
    for size in [1024, 3 << 10, 16 << 20] {
        assert_eq!(TreeMode::from_fields(2, size), blocks(size));
        assert_eq!(TreeMode::from_fields(3, size), parallel(size));
    }
    for size in [0, 512, 1023, 1025, 1024 + 512, (16 << 20) + 1024, u32::MAX] {
        assert_eq!(TreeMode::from_fields(2, size), wrong, "{size}");
        assert_eq!(TreeMode::from_fields(3, size), wrong, "{size}");
    }
    for mode in [0, 4, u32::MAX] {
        assert_eq!(TreeMode::from_fields(mode, 0), Err(Reason::ModeUnknown));
    }
    for (mode, fields, block_size, name) in [
        (TreeMode::Flat, (1, 0), None, "flat"),
        (TreeMode::Blocks { block_size: 2048 }, (2, 2048), Some(2048), "blocks"),
        (TreeMode::ParallelHash { block_size: 4096 }, (3, 4096), Some(4096), "parallelhash"),
    ] {
        assert_eq!((mode.fields(), mode.block_size(), mode.name()), (fields, block_size, name));
        for hash in HashId::ALL {
            let is_shake = matches!(hash, HashId::Shake128 | HashId::Shake256);
            assert_eq!(mode.allows(hash), is_shake == (name == "parallelhash"), "{name} {hash:?}");
        }
    }
}

#[test]
fn names_and_labels_are_text_that_is_padded_with_zeros() {
    let name = Name::new("qemu-virt").unwrap();
    assert_eq!(name.as_str(), "qemu-virt");
    assert!(name.is("qemu-virt"));
    assert!(!name.is("qemu-vir") && !name.is("qemu-virt-iommu") && !name.is(""));
    assert_eq!(name.field()[..10], *b"qemu-virt\0");
    assert_eq!(format!("{name:?}"), "\"qemu-virt\"");
    let longest = ['~'; 32].iter().collect::<std::string::String>();
    assert_eq!(Name::new(&longest).unwrap().as_str(), longest);
    for text in ["", " ", "a b", "\u{7f}", "\u{20ac}", "a\0b", &format!("{longest}~")] {
        assert_eq!(Name::new(text), None, "{text:?}");
    }
    let mut field = [0; 32];
    field[1] = b'a';
    assert_eq!(Name::from_field(&field), None);

    let label = Label::new("a label ~").unwrap();
    assert_eq!((label.as_str(), &label.field()[..10]), ("a label ~", &b"a label ~\0"[..]));
    assert_eq!(Label::new("").unwrap().field(), &[0; 64]);
    assert!(Label::new("\n").is_none() && Label::new("a\0b").is_none());
    assert!(Label::new(&[' '; 65].iter().collect::<std::string::String>()).is_none());
}

#[test]
fn a_key_record_has_zeros_at_its_end_and_a_family_if_it_is_known() {
    let record = key("ml-dsa-65");
    assert!(record.is_of(Family::PostQuantum) && !record.is_of(Family::Classical));
    assert!(key("ed25519").is_of(Family::Classical));
    let unknown = KeyRecord { algorithm: 999, ..record };
    assert!(!unknown.is_of(Family::Classical) && !unknown.is_of(Family::PostQuantum));
    assert_eq!((unknown.known_algorithm(), unknown.is_in(Profile::Cnsa2)), (None, false));
    let mut bytes = [0; KEY_RECORD_SIZE];
    bytes[0] = 1;
    bytes[4] = 2;
    bytes[8..56].fill(3);
    let parsed = KeyRecord { algorithm: 1, parameters: 2, key_id: [3; KEY_ID_SIZE] };
    assert_eq!(KeyRecord::parse(&bytes), Some(parsed));
    assert_eq!(KeyRecord::parse(&bytes[..63]), None);
    for at in 56..64 {
        let mut other = bytes;
        other[at] = 1;
        assert_eq!(KeyRecord::parse(&other), None, "byte {at}");
    }
}

#[test]
fn a_list_keeps_what_fits_in_order() {
    let mut list = List::<u8, 2>::new();
    assert_eq!((list.is_empty(), list.len()), (true, 0));
    assert_eq!(list, List::default());
    assert!(list.push(4));
    assert_eq!((list.is_empty(), list.len()), (false, 1));
    assert!(list.push(5) && !list.push(6));
    assert_eq!((list.len(), list.get(0), list.get(1), list.get(2)), (2, Some(&4), Some(&5), None));
    list.iter_mut().for_each(|item| *item += 1);
    assert!(list.iter().eq(&[5, 6]) && list.iter().rev().eq(&[6, 5]));
    assert_eq!(list, [5, 6, 7].into_iter().collect());
    assert_ne!(list, [5, 7].into_iter().collect());
    assert_eq!(format!("{list:?}"), "[5, 6]");
}

#[test]
fn a_profile_has_algorithms_hashes_and_modes() {
    assert!(key("ml-dsa-87").is_in(Profile::Cnsa2) && !key("ed25519").is_in(Profile::Cnsa2));
    assert!(payload(HashId::Sha384, TreeMode::Flat).is_in(Profile::Cnsa2));
    assert!(!payload(HashId::Sha256, TreeMode::Flat).is_in(Profile::Cnsa2));
    let parallel = TreeMode::ParallelHash { block_size: 1024 };
    assert!(!payload(HashId::Sha384, parallel).is_in(Profile::Cnsa2));
}

#[test]
fn a_bundle_keeps_to_a_profile_with_all_its_keys_and_payloads() {
    let (good, bad) = (key("ml-dsa-87"), key("ed25519"));
    let keeps = |signers: &[KeyRecord], trusted: Option<&[KeyRecord]>, hashes: &[HashId]| {
        let closing = trusted.map_or(Closing::Bootargs(b""), |keys| Closing::Trust {
            list: TrustList { policy: Policy::Any, keys: keys.iter().copied().collect() },
            carried: 0,
        });
        let name = Name::new("name").unwrap();
        let manifest = Manifest {
            bundle_type: BundleType::System,
            signatures_size: 0,
            bundle_size: 0,
            security_version: 0,
            created: 0,
            lifecycle_mask: 1,
            identity: Identity { board: name, soc: name },
            label: Label::new("").unwrap(),
            signers: signers.iter().copied().collect(),
            payloads: hashes.iter().map(|hash| payload(*hash, TreeMode::Flat)).collect(),
            extensions: Extensions::NONE,
            closing,
        };
        manifest.keeps_to(Profile::Cnsa2)
    };
    let (sha384, sha256) = (HashId::Sha384, HashId::Sha256);
    assert!(keeps(&[good], None, &[sha384]) && keeps(&[good], Some(&[good]), &[sha384]));
    assert!(!keeps(&[good, bad], None, &[sha384]));
    assert!(!keeps(&[good], Some(&[good, bad]), &[sha384]));
    assert!(!keeps(&[good], None, &[sha384, sha256]));
}
