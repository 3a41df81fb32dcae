//! Makes bundles from the choices of the fuzzer: correct ones, and ones with a few changes.
//!
//! A bundle goes through three forms, and each can be changed: the fields, the signed region, and the
//! file after signing. Values that depend on a field are computed from the changed field, so that
//! most faults occur one at a time and reach the check for them.

use std::num::NonZeroU64;

use hartlock_image::{
    BundleType, Encryption, EncryptionField, HashId, KeyRecord, Lifecycle, List, MAX_SIGNERS,
    PAGE_SIZE, PayloadRecord, PayloadType, Policy, TreeMode, TrustList, align_up,
};
use hartlock_testkit::bundle::{self, Block, Payload, encode_block, label};
use hartlock_testkit::keys::ED25519;

use crate::choices::Choices;
use crate::hashes;
use crate::keys::KEYS;

/// The fields of a bundle, and its signers.
pub struct Draft {
    /// The fields without signature blocks, which the test keys of the fuzz targets make.
    pub fields: bundle::Draft,
    /// Indices of test keys. An index without a key is a signer with an algorithm that no verifier
    /// supports.
    pub signers: Vec<usize>,
    /// True if a field is wrong on purpose.
    pub has_fault: bool,
}

impl Draft {
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let bundle_type = choices.of(&[BundleType::System, BundleType::Boot]);
        let mut has_fault = false;
        let mut odd = |choices: &mut Choices<'_>| {
            let chosen = choices.rarely(24);
            has_fault |= chosen;
            chosen
        };
        let lifecycle_mask = if odd(choices) {
            choices.number() as u32
        } else {
            choices.of(&[0b011, 0b001, 0b010, 0b100, 0b111])
        };
        let board = if odd(choices) { "some-other-board" } else { "qemu-virt" };
        let soc = if odd(choices) { "other" } else { "virt" };
        let text = choices.of(&["fuzz", "", "a label with blanks ~", LONGEST_LABEL]);
        let mut signers = vec![choices.below(KEYS.len())];
        for _ in 0..choices.of(&[0, 0, 1, 2, 3]) {
            let next = choices.below(KEYS.len() + 1);
            // Two signatures by the same signer are a fault.
            if !signers.contains(&next) || odd(choices) {
                signers.push(next);
            }
        }
        let listed = odd(choices).then(|| match choices.below(3) {
            0 => signers[1..].to_vec(),
            1 => [&signers[..], &[choices.below(KEYS.len())]].concat(),
            _ => signers.iter().rev().copied().collect(),
        });
        let mut payloads = Vec::new();
        for kind in bundle_type.payload_types() {
            let is_there = kind.is_required() || choices.rarely(2);
            if is_there != odd(choices) {
                payloads.push(payload(*kind, choices, &mut odd));
            }
        }
        if odd(choices) && payloads.len() > 1 {
            payloads.swap(0, 1);
        }
        let policy = match odd(choices) {
            true => choices.of(&[Policy::Hybrid, Policy::All]),
            false => Policy::Any,
        };
        let key_count = if policy == Policy::All { 5 } else { 1 + choices.below(4) };
        let mut keys = List::new();
        for key in KEYS.iter().take(key_count) {
            let _ = keys.push(key.record);
        }
        if odd(choices) {
            let _ = keys.push(KEYS[0].record);
        }
        let bootargs = match choices.byte() {
            0..200 => "console=ttyS0".to_owned(),
            len => "x ~".repeat(usize::from(len) * 3)[..usize::from(len - 200) * 18].to_owned(),
        };
        let others = match choices.below(4) {
            0 => vec![bundle::identity("some-other-board", "other").field()],
            1 if odd(choices) => vec![bundle::identity(board, soc).field(); 2],
            _ => Vec::new(),
        };
        let is_needed = choices.rarely(4) && (bundle_type == BundleType::System || odd(choices));
        let boot_version = NonZeroU64::new(choices.number()).filter(|_| is_needed);
        // The manifest has room for [`MAX_SIGNERS`] signers.
        let listed = listed.as_ref().unwrap_or(&signers).iter().take(MAX_SIGNERS);
        let mut fields = bundle::Draft {
            bundle_type,
            security_version: choices.number(),
            created: choices.number(),
            lifecycle_mask,
            identity: bundle::identity(board, soc),
            label: label(text),
            blocks: Vec::new(),
            listed: Some(listed.map(|signer| signer_record(*signer)).collect()),
            payloads,
            others,
            boot_version,
            trust: TrustList { policy, keys },
            carried: if odd(choices) { choices.number() } else { u64::MAX },
            bootargs,
            extra_pages: 0,
            encryption: Vec::new(),
        };
        if bundle_type == BundleType::System && choices.rarely(8) {
            let with_bytes = fields.payloads.iter().filter(|payload| !payload.data.is_empty());
            let types = with_bytes.map(|payload| payload.kind);
            fields.encryption = types.filter(|_| choices.rarely(2)).map(encryption).collect();
            if choices.rarely(4)
                && let Some(field) = fields.encryption.last_mut()
            {
                field[choices.below(8)] ^= choices.byte();
                has_fault = true;
            }
        }
        Self { fields, signers, has_fault }
    }

    /// Returns the key records of the signature blocks.
    pub fn signer_records(&self) -> List<KeyRecord, 4> {
        self.signers.iter().map(|signer| signer_record(*signer)).collect()
    }

    /// Returns the signers that the manifest lists.
    pub fn listed_records(&self) -> List<KeyRecord, 4> {
        self.fields.listed.iter().flatten().copied().collect()
    }

    /// Returns the size of the signature area in bytes.
    pub fn signatures_size(&self) -> usize {
        self.signers.iter().map(|signer| block(*signer, &[]).len()).sum()
    }

    /// Returns the signed region, and the offset of each payload in the file.
    pub fn encode(&self) -> (Vec<u8>, Vec<u64>) {
        let (region, layout) = self.fields.encode(self.signatures_size());
        (region.bytes, layout.offsets)
    }

    /// Returns a signature block of each signer over a region.
    pub fn sign(&self, region: &[u8]) -> Vec<Vec<u8>> {
        self.signers.iter().map(|signer| block(*signer, region)).collect()
    }

    /// Returns the file: region, signatures, padding and payloads.
    pub fn assemble(&self, region: &[u8], area: &[u8], offsets: &[u64]) -> Vec<u8> {
        let mut file = [region, area].concat();
        for (payload, offset) in self.fields.payloads.iter().zip(offsets) {
            file.resize((*offset as usize).max(file.len()), 0);
            // A signature area that grew is cut off where the payload begins.
            file.truncate(*offset as usize);
            file.extend(&payload.data);
        }
        file.resize(file.len().next_multiple_of(PAGE_SIZE as usize), 0);
        file
    }

    /// Returns a lifecycle state in which the bundle may boot, if there is one.
    pub fn lifecycle(&self) -> Option<Lifecycle> {
        Lifecycle::ALL.into_iter().find(|state| self.fields.lifecycle_mask & state.bit() != 0)
    }
}

const LONGEST_LABEL: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn payload(
    kind: PayloadType,
    choices: &mut Choices<'_>,
    odd: &mut impl FnMut(&mut Choices<'_>) -> bool,
) -> Payload {
    let size = match choices.byte() {
        0 => 1,
        1 => 4095,
        2 => 4096,
        3 => 4097,
        size => u64::from(size) * 9,
    };
    let size = if kind == PayloadType::Initramfs && choices.rarely(4) { 0 } else { size };
    let hash = choices.of(&HashId::ALL);
    let mode = match choices.below(6) {
        0..3 => TreeMode::Flat,
        choice => TreeMode::Blocks { block_size: [1024, 2048, 16 << 20][choice - 3] },
    };
    let parallelhash = TreeMode::ParallelHash { block_size: mode.block_size().unwrap_or(1024) };
    let mode = match mode.allows(hash) {
        true => mode,
        false => parallelhash,
    };
    let step = choices.below(4) as u64;
    let load_address = match kind {
        PayloadType::Opensbi => 0x8000_0000,
        PayloadType::Loader => 0x8020_0000,
        PayloadType::BootFdt => 0x8040_0000,
        PayloadType::Kernel => 0x8100_0000 + step * (2 << 20),
        PayloadType::Initramfs => 0x8800_0000 + step * PAGE_SIZE,
        PayloadType::SystemFdt => 0x8600_0000 + step * PAGE_SIZE,
    };
    let mut payload = Payload {
        kind,
        data: noise(kind, size),
        hash,
        mode,
        load_address,
        memory_size: page_up(size),
        entry: if kind.is_code() { load_address } else { 0 },
        shift: 0,
        make_digest: digest,
    };
    if odd(choices) {
        // This combination of hash and mode is not allowed.
        payload.mode = if mode == parallelhash { TreeMode::Flat } else { parallelhash };
    }
    if odd(choices) {
        payload.load_address = choices.of(&ODD_ADDRESSES);
        payload.entry = if kind.is_code() { payload.load_address } else { 0 };
    }
    if odd(choices) {
        payload.memory_size = choices.number() & !0xfff;
    }
    if odd(choices) {
        let end = size.next_multiple_of(4);
        let place = choices.of(&[end, end.wrapping_sub(4), 0, 2]);
        let place = if choices.rarely(2) { choices.number() & !3 } else { place };
        payload.entry = payload.load_address.wrapping_add(place);
    }
    payload
}

/// Computes a payload digest with hash implementations other than those of the verifier.
fn digest(record: &PayloadRecord, data: &[u8]) -> [u8; 64] {
    let mut padded = [0; 64];
    let digest = hashes::digest(&record.prefix(), data);
    padded[..digest.len()].copy_from_slice(&digest);
    padded
}

/// Addresses at the limits of the board's regions (boot flow §2) and of the address space.
const ODD_ADDRESSES: [u64; 18] = [
    0,
    0x2000_0000,
    0x8000_0000,
    0x8000_1000,
    0x8010_0000,
    0x8010_f000,
    0x8011_0000,
    0x8011_1000,
    0x8013_0000,
    0x8020_0000,
    0x803f_f000,
    0x8044_0000,
    0x8053_f000,
    0x80ff_f000,
    0x8100_0000,
    0xbfff_f000,
    0xc000_0000,
    u64::MAX - 0xfff,
];

/// Returns data without zero bytes, so that it always differs from padding.
fn noise(kind: PayloadType, size: u64) -> Vec<u8> {
    (0..size).map(|at| ((at ^ (at >> 8)).wrapping_mul(0x9d) as u8 ^ kind as u8) | 1).collect()
}

fn page_up(value: u64) -> u64 {
    align_up(value, PAGE_SIZE).unwrap_or(u64::MAX)
}

fn signer_record(signer: usize) -> KeyRecord {
    let foreign = || Block::foreign().record().expect("a block of a signer");
    KEYS.get(signer).map_or_else(foreign, |key| key.record)
}

/// Makes a signature block (image format §5.1) of this signer.
pub fn block(signer: usize, region: &[u8]) -> Vec<u8> {
    match KEYS.get(signer) {
        Some(key) => encode_block(ED25519, &key.public, &key.sign(region)),
        None => Block::foreign().encode(region),
    }
}

/// Returns the record of an encrypted payload.
fn encryption(payload_type: PayloadType) -> EncryptionField {
    let class_id = [payload_type as u8; 16];
    Encryption { payload_type, class_id, wrapped: [0xa6; 40] }.encode()
}
