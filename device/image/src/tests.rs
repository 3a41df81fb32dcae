//! Tests for properties of parser and encoder. The vectors in `spec/vectors/image` test single
//! faults.

use core::num::NonZeroU64;
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use crate::*;

fn identity(number: usize) -> Identity {
    let soc = [b'v', b'i', b'r', b't', b'0' + number as u8];
    Identity {
        board: Name::new("qemu-virt").unwrap(),
        soc: Name::new(std::str::from_utf8(&soc).unwrap()).unwrap(),
    }
}

fn encryption(payload_type: PayloadType) -> Encryption {
    let wrapped = core::array::from_fn(|index| index as u8);
    Encryption { payload_type, class_id: *b"0123456789abcdef", wrapped }
}

/// Returns a manifest of the given type that uses every field of the format.
fn manifest(bundle_type: BundleType, signer_count: usize, bootargs: &str) -> Manifest<'_> {
    let key =
        |byte: usize| KeyRecord { algorithm: 1, parameters: 0, key_id: [byte as u8; KEY_ID_SIZE] };
    let mut manifest = Manifest {
        bundle_type,
        signatures_size: 112 * signer_count as u32,
        bundle_size: 0,
        security_version: 7,
        created: 1_700_000_000,
        lifecycle_mask: 0b011,
        identity: identity(0),
        label: Label::new("a label").unwrap(),
        signers: (1..=signer_count).map(key).collect(),
        payloads: List::new(),
        extensions: Extensions {
            identities: std::boxed::Box::leak(
                (1..signer_count).map(|number| identity(number).field()).collect(),
            ),
            boot_version: match bundle_type {
                BundleType::System => NonZeroU64::new(3),
                BundleType::Boot => None,
            },
            encryption: match bundle_type {
                BundleType::System => std::boxed::Box::leak(
                    [PayloadType::Kernel, PayloadType::SystemFdt]
                        .map(|payload_type| encryption(payload_type).encode())
                        .into(),
                ),
                BundleType::Boot => &[],
            },
        },
        closing: match bundle_type {
            BundleType::System => Closing::Bootargs(bootargs.as_bytes()),
            BundleType::Boot => {
                let list = TrustList { policy: Policy::Any, keys: (9..12).map(key).collect() };
                Closing::Trust { list, carried: 2 }
            }
        },
    };
    let closing_size = match bundle_type {
        BundleType::System => 8 + bootargs.len().next_multiple_of(8),
        BundleType::Boot => 16 + 3 * KEY_RECORD_SIZE,
    };
    let signed_size = HEADER_SIZE
        + 64 * signer_count
        + 3 * PAYLOAD_RECORD_SIZE
        + manifest.extensions.encoded_len()
        + closing_size;
    let mut end = (signed_size + 112 * signer_count) as u64;
    for (index, payload_type) in bundle_type.payload_types().iter().enumerate() {
        let load_address = 0x8200_0000 + 0x10_0000 * index as u64;
        let payload = PayloadRecord {
            payload_type: *payload_type,
            hash: HashId::ALL[2 * index],
            mode: [TreeMode::Flat, TreeMode::Blocks { block_size: 80 << 10 }][index % 2],
            offset: align_up(end, PAGE_SIZE).unwrap(),
            size: 5000,
            load_address,
            memory_size: 8192,
            entry: if payload_type.is_code() { load_address } else { 0 },
            digest: {
                let mut digest = [0; 64];
                digest[..HashId::ALL[2 * index].output_len()].fill(0xd1);
                digest
            },
        };
        end = payload.offset + payload.size;
        assert!(manifest.payloads.push(payload));
    }
    manifest.bundle_size = align_up(end, PAGE_SIZE).unwrap();
    manifest
}

fn encoded(manifest: &Manifest<'_>) -> Vec<u8> {
    let mut out = vec![0xee; MAX_SIGNED_SIZE];
    let len = encode_manifest(manifest, &mut out).unwrap();
    out.truncate(len);
    out
}

fn examples() -> Vec<(Vec<u8>, List<KeyRecord, MAX_SIGNERS>)> {
    let mut examples = Vec::new();
    for bundle_type in [BundleType::Boot, BundleType::System] {
        for (signers, bootargs) in [(1, ""), (2, "quiet"), (4, "console=ttyS0 rdinit=/init")] {
            let manifest = manifest(bundle_type, signers, bootargs);
            examples.push((encoded(&manifest), manifest.signers));
        }
    }
    examples
}

#[test]
fn what_is_encoded_is_parsed() {
    for bundle_type in [BundleType::Boot, BundleType::System] {
        for signers in 1..=MAX_SIGNERS {
            let manifest = manifest(bundle_type, signers, "console=ttyS0");
            let bytes = encoded(&manifest);
            assert_eq!(Manifest::parse(&bytes, &manifest.signers), Ok(manifest));
        }
    }
}

#[test]
fn a_manifest_gives_the_encryption_of_its_payloads() {
    let manifest = manifest(BundleType::System, 1, "");
    let types = [PayloadType::Kernel, PayloadType::SystemFdt];
    assert!(manifest.extensions.encrypted().eq(types.map(encryption)));
    let of = |payload_type| manifest.extensions.encryption_of(payload_type);
    assert_eq!(of(PayloadType::Kernel), Some(encryption(PayloadType::Kernel)));
    assert_eq!(of(PayloadType::Initramfs), None);
    let field = encryption(PayloadType::Kernel).encode();
    assert_eq!(field[..8], [16, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!((&field[8..24], &field[24..28]), (&b"0123456789abcdef"[..], &[0, 1, 2, 3][..]));
}

#[test]
fn a_manifest_gives_its_payloads_trust_and_command_line() {
    let (boot, system) =
        (manifest(BundleType::Boot, 2, ""), manifest(BundleType::System, 2, "a b"));
    for (manifest, other) in [(&boot, &system), (&system, &boot)] {
        for payload in manifest.payloads.iter() {
            assert_eq!(manifest.payload(payload.payload_type), Some(payload));
            assert_eq!(other.payload(payload.payload_type), None);
        }
    }
    assert_eq!(boot.trust().map(|list| list.keys.len()), Some(3));
    assert_eq!((boot.bootargs(), system.bootargs()), (None, Some("a b")));
    assert_eq!(system.trust(), None);
}

#[test]
fn a_place_in_memory_consists_of_pages() {
    // Offsets that are equal must not cancel each other.
    for (start, size) in [(8, 0), (0, 8), (8, 8), (4, 12)] {
        let mut manifest = manifest(BundleType::System, 1, "");
        let last = manifest.payloads.iter_mut().last().unwrap();
        last.load_address += start;
        last.memory_size += size;
        let region = encoded(&manifest);
        let parsed = Manifest::parse(&region, &manifest.signers);
        assert_eq!(parsed.err(), Some(Reason::LoadRangeForm), "{start} {size}");
    }
}

#[test]
fn a_payload_has_a_block_for_each_part_of_it() {
    let manifest = manifest(BundleType::System, 1, "");
    let first = *manifest.payloads.get(0).unwrap();
    let count = |mode, size| PayloadRecord { mode, size, ..first }.block_count();
    assert_eq!([0, 1, 5000].map(|size| count(TreeMode::Flat, size)), [0, 1, 1]);
    let blocks = TreeMode::Blocks { block_size: 1024 };
    assert_eq!([0, 1, 1024, 1025, 4096].map(|size| count(blocks, size)), [0, 1, 1, 2, 4]);
    // Such a mode is never parsed.
    assert_eq!(count(TreeMode::Blocks { block_size: 0 }, 5000), 1);
}

#[test]
fn a_refusal_has_code_title_and_hint() {
    let line = refusal_line(["hartlock: ", "rom", " refused: "], "0801", "What happened.").concat();
    assert_eq!(line, "hartlock: rom refused: E0801 What happened.");
    assert_eq!(hint_line("  ", "Do this.").concat(), "  hint: Do this.");
}

#[test]
fn a_manifest_has_one_encoding() {
    // Every change of a single byte is either refused, or gives a different manifest that encodes
    // to exactly the changed bytes. This shows that no byte is ignored.
    for (bytes, signers) in examples() {
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                if let Ok(manifest) = Manifest::parse(&changed, &signers) {
                    assert_eq!(encoded(&manifest), changed, "byte {at} is ignored");
                }
            }
        }
    }
}

#[test]
fn every_cut_is_refused() {
    for (bytes, signers) in examples() {
        for len in 0..bytes.len() {
            assert!(Manifest::parse(&bytes[..len], &signers).is_err(), "cut to {len} bytes");
        }
        let mut longer = bytes.clone();
        longer.extend([0; 8]);
        assert_eq!(Manifest::parse(&longer, &signers), Err(Reason::SignedSizeMismatch));
    }
}

#[test]
fn an_encoder_without_room_says_so() {
    let manifest = manifest(BundleType::System, 1, "quiet");
    let size = encoded(&manifest).len();
    for len in 0..size {
        assert_eq!(encode_manifest(&manifest, &mut vec![0; len]), None);
    }
}

/// A vector of `spec/vectors`.
pub(crate) struct Vector {
    /// Its entry in `expected.json`.
    entry: serde_json::Value,
    pub bytes: Vec<u8>,
}

impl Vector {
    /// Returns all vectors in a folder.
    pub fn all(folder: &str, ending: &str) -> Vec<Self> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors");
        let expected = std::fs::read(format!("{root}/{folder}/expected.json")).unwrap();
        let entries: Vec<serde_json::Value> = serde_json::from_slice(&expected).unwrap();
        let vector = |entry: serde_json::Value| {
            let file = format!("{root}/{folder}/{}.{ending}", entry["name"].as_str().unwrap());
            Vector { bytes: std::fs::read(file).unwrap(), entry }
        };
        entries.into_iter().map(vector).collect()
    }

    pub fn name(&self) -> &str {
        self.entry["name"].as_str().unwrap()
    }

    /// Returns the code of the reason, or an empty text if the file is accepted.
    pub fn code(&self) -> &str {
        self.entry["reason"].as_str().map_or("", |reason| &reason[..5])
    }

    /// Returns an option of the verifier, or null.
    pub fn option(&self, name: &str) -> &serde_json::Value {
        &self.entry["options"][name]
    }
}

/// Returns the code of a result, or an empty text.
pub(crate) fn code<T>(result: &Result<T, Reason>) -> String {
    result.as_ref().err().map_or_else(String::new, |it| format!("E{:04}", *it as u16))
}

/// Parses a bundle as far as that takes no signature. The key ids of blocks are hashes, so they are taken from the
/// signed list.
fn parsed(bundle: &[u8], expected: Option<BundleType>) -> Result<(), Reason> {
    let head = Head::parse_as(bundle, expected)?;
    let signed = bundle.get(..head.signed_size()).ok_or(Reason::Truncated)?;
    let area = bundle.get(head.signed_size()..).ok_or(Reason::Truncated)?;
    let area = area.get(..head.signatures_size()).ok_or(Reason::Truncated)?;
    assert_eq!(head.total_size(), signed.len() + area.len());
    let blocks = SignatureBlocks::parse(area)?;
    let mut signers = List::new();
    let records = signed[HEADER_SIZE..].chunks(KEY_RECORD_SIZE);
    for (block, record) in blocks.iter().zip(records) {
        let key_id = bytes_at(record, 8).unwrap_or([0; KEY_ID_SIZE]);
        let (algorithm, parameters) = (block.algorithm, block.parameters);
        let record = KeyRecord { algorithm, parameters, key_id };
        assert_eq!(block.known_algorithm(), record.known_algorithm());
        assert!(signers.push(record));
    }
    Manifest::parse(signed, &signers).map(|_| ())
}

#[test]
fn each_vector_with_a_fault_of_form_is_refused_for_it_and_the_others_are_parsed() {
    let mut refused = BTreeSet::new();
    for vector in Vector::all("image", "hlk") {
        let expected = match vector.option("type").as_str() {
            Some("boot") => Some(BundleType::Boot),
            Some("system") => Some(BundleType::System),
            _ => None,
        };
        let found = code(&parsed(&vector.bytes, expected));
        let (name, code) = (vector.name(), vector.code());
        // The rest is found by signatures, which come before the manifest, by the algorithm or the hash of a key, by
        // requirements, by the memory map, or by the digests of payloads.
        match code.get(..3).unwrap_or("") {
            "E03" => continue,
            _ if code == "E0412" || name.starts_with("hss_one_byte") => continue,
            _ if code == "E0101" && found.is_empty() => continue,
            "E01" | "E02" | "E04" | "E05" => assert_eq!(found, code, "{name}"),
            _ => assert_eq!(found, "", "{name}"),
        }
        refused.insert(found);
    }
    assert!(refused.len() >= 50, "{refused:?}");
}

#[test]
fn reason_codes_are_unique_and_ascending() {
    for pair in Reason::ALL.windows(2) {
        assert!((pair[0] as u16) < pair[1] as u16);
    }
}

#[test]
fn align_up_does_not_wrap() {
    assert_eq!(align_up(0, 4096), Some(0));
    assert_eq!(align_up(1, 4096), Some(4096));
    assert_eq!(align_up(u64::MAX - 4095, 4096), Some(u64::MAX - 4095));
    assert_eq!(align_up(u64::MAX - 4094, 4096), None);
}

proptest! {
    #[test]
    fn no_input_panics(bytes in proptest::collection::vec(any::<u8>(), 0..2048)) {
        let _ = Head::parse(&bytes);
        let _ = SignatureBlocks::parse(&bytes);
        let _ = Manifest::parse(&bytes, &List::new());
    }

    #[test]
    fn no_changed_field_panics_or_is_ignored(
        which in 0usize..6, at in 0usize..4096, value in any::<u64>(), len in 1usize..9,
    ) {
        let (mut bytes, signers) = examples().swap_remove(which);
        let at = at % bytes.len();
        let end = (at + len).min(bytes.len());
        bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        if let Ok(manifest) = Manifest::parse(&bytes, &signers) {
            prop_assert_eq!(encoded(&manifest), bytes);
        }
    }

    #[test]
    fn signature_blocks_fill_their_area(
        sizes in proptest::collection::vec((0u32..200, 0u32..200), 1..6),
    ) {
        let mut area = Vec::new();
        for (public_key, signature) in &sizes {
            for field in [77, 0, *public_key, *signature] {
                area.extend(field.to_le_bytes());
            }
            area.extend(vec![1; *public_key as usize]);
            area.resize(area.len().next_multiple_of(8), 0);
            area.extend(vec![2; *signature as usize]);
            area.resize(area.len().next_multiple_of(8), 0);
        }
        let parsed = SignatureBlocks::parse(&area);
        if sizes.len() > MAX_SIGNERS {
            prop_assert_eq!(parsed, Err(Reason::TooManySignatureBlocks));
        } else {
            prop_assert_eq!(parsed.unwrap().len(), sizes.len());
        }
    }
}
