//! Bundles out of choices: right ones, and ones with a few changes on their way.
//!
//! A bundle goes through three forms, and a change can be made to each: the fields, the signed
//! region, and the file behind the signature. What follows from a field follows from the changed
//! field, so that most faults stay alone and reach the check that is for them.

use hartlock_image::{
    BundleType, Closing, HashId, KeyRecord, Label, Lifecycle, List, MAX_SIGNED_SIZE, Manifest,
    Name, PAGE_SIZE, PayloadRecord, PayloadType, Policy, TreeMode, TrustList, align_up,
    encode_manifest,
};

use crate::choices::Choices;
use crate::facts;
use crate::keys::{ED25519, FOREIGN, KEYS, record};

/// A payload before it has an offset and a digest.
#[derive(Clone, Copy)]
pub struct Payload {
    pub kind: PayloadType,
    pub size: u64,
    pub hash: HashId,
    pub mode: TreeMode,
    pub load_address: u64,
    pub memory_size: u64,
    pub entry: u64,
}

/// A bundle by its fields.
pub struct Draft {
    pub bundle_type: BundleType,
    pub security_version: u64,
    pub created: u64,
    pub lifecycle_mask: u32,
    pub board: Name,
    pub soc: Name,
    pub label: Label,
    /// Numbers of fake keys; one that is not there is a signer whose algorithm nobody carries.
    pub signers: Vec<usize>,
    /// Signers that the manifest lists, if they are others.
    listed: Option<Vec<usize>>,
    pub payloads: Vec<Payload>,
    pub trust: TrustList,
    pub bootargs: String,
    /// Whether a field is wrong on purpose.
    pub is_odd: bool,
}

const FOREIGN_KEY: &[u8] = b"not known";

impl Draft {
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let bundle_type = choices.of(&[BundleType::System, BundleType::Boot]);
        let mut is_odd = false;
        let mut odd = |choices: &mut Choices<'_>| {
            let chosen = choices.rarely(24);
            is_odd |= chosen;
            chosen
        };
        let lifecycle_mask = if odd(choices) {
            choices.number() as u32
        } else {
            choices.of(&[0b011, 0b001, 0b010, 0b100, 0b111])
        };
        let board = if odd(choices) { "some-other-board" } else { "qemu-virt" };
        let soc = if odd(choices) { "other" } else { "virt" };
        let label = choices.of(&["fuzz", "", "a label with blanks ~", LONGEST_LABEL]);
        let mut signers = vec![choices.below(KEYS.len())];
        for _ in 0..choices.of(&[0, 0, 1, 2, 3]) {
            let next = choices.below(KEYS.len() + 1);
            // The same signer twice is a fault of its own.
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
                payloads.push(Payload::new(*kind, choices, &mut odd));
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
            len => "x ~".repeat(usize::from(len) * 3)[..usize::from(len - 200) * 37].to_owned(),
        };
        Self {
            bundle_type,
            security_version: choices.number(),
            created: choices.number(),
            lifecycle_mask,
            board: Name::new(board).expect("a name"),
            soc: Name::new(soc).expect("a name"),
            label: Label::new(label).expect("a label"),
            signers,
            listed,
            payloads,
            trust: TrustList { policy, keys },
            bootargs,
            is_odd,
        }
    }

    /// Who signs, as the signature blocks show it.
    pub fn signer_records(&self) -> List<KeyRecord, 4> {
        self.signers.iter().map(|signer| signer_record(*signer)).collect()
    }

    /// The signers of the manifest.
    pub fn listed_records(&self) -> List<KeyRecord, 4> {
        let listed = self.listed.as_ref().unwrap_or(&self.signers);
        listed.iter().map(|signer| signer_record(*signer)).collect()
    }

    /// Bytes of the signature area.
    pub fn signatures_size(&self) -> usize {
        self.signers.iter().map(|signer| block(*signer, &[]).len()).sum()
    }

    /// The signed region, and where each payload stands.
    pub fn encode(&self) -> (Vec<u8>, Vec<u64>) {
        // The first pass is for the size only: offsets do not change it.
        let size = self.encode_with(&[], 0).len() + self.signatures_size();
        let mut end = size as u64;
        let mut offsets = Vec::new();
        for payload in &self.payloads {
            offsets.push(page_up(end));
            end = page_up(end) + payload.size;
        }
        (self.encode_with(&offsets, page_up(end)), offsets)
    }

    fn encode_with(&self, offsets: &[u64], bundle_size: u64) -> Vec<u8> {
        let record = |(index, payload): (usize, &Payload)| match offsets.get(index) {
            Some(offset) => payload.record(*offset),
            None => payload.record_without_digest(0),
        };
        let manifest = Manifest {
            bundle_type: self.bundle_type,
            signatures_size: self.signatures_size() as u32,
            bundle_size,
            security_version: self.security_version,
            created: self.created,
            lifecycle_mask: self.lifecycle_mask,
            board: self.board,
            soc: self.soc,
            label: self.label,
            signers: self.listed_records(),
            payloads: self.payloads.iter().enumerate().map(record).collect(),
            closing: match self.bundle_type {
                BundleType::Boot => Closing::Trust(self.trust),
                BundleType::System => Closing::Bootargs(&self.bootargs),
            },
        };
        let mut bytes = vec![0; MAX_SIGNED_SIZE];
        let size = encode_manifest(&manifest, &mut bytes).expect("drafts are small");
        bytes.truncate(size);
        bytes
    }

    /// Signatures over a region, by those who sign.
    pub fn sign(&self, region: &[u8]) -> Vec<Vec<u8>> {
        self.signers.iter().map(|signer| block(*signer, region)).collect()
    }

    /// Region, signatures, padding, payloads.
    pub fn assemble(&self, region: &[u8], area: &[u8], offsets: &[u64]) -> Vec<u8> {
        let mut file = [region, area].concat();
        for (payload, offset) in self.payloads.iter().zip(offsets) {
            file.resize((*offset as usize).max(file.len()), 0);
            // A signature area that grew stands where the payload should.
            file.truncate(*offset as usize);
            file.extend(noise(payload.kind, payload.size));
        }
        file.resize(file.len().next_multiple_of(PAGE_SIZE as usize), 0);
        file
    }

    /// A state in which the bundle may boot, if there is one.
    pub fn lifecycle(&self) -> Option<Lifecycle> {
        Lifecycle::ALL.into_iter().find(|state| self.lifecycle_mask & state.bit() != 0)
    }
}

const LONGEST_LABEL: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

impl Payload {
    fn new(
        kind: PayloadType,
        choices: &mut Choices<'_>,
        odd: &mut impl FnMut(&mut Choices<'_>) -> bool,
    ) -> Self {
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
        let mut payload = Self {
            kind,
            size,
            hash,
            mode,
            load_address,
            memory_size: page_up(size),
            entry: if kind.is_code() { load_address } else { 0 },
        };
        if odd(choices) {
            // A pair that is not allowed.
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
            let behind = size.next_multiple_of(4);
            let place = choices.of(&[behind, behind.wrapping_sub(4), 0, 2]);
            let place = if choices.rarely(2) { choices.number() & !3 } else { place };
            payload.entry = payload.load_address.wrapping_add(place);
        }
        payload
    }

    /// The record of the payload at this offset, with its digest.
    fn record(&self, offset: u64) -> PayloadRecord {
        let mut record = self.record_without_digest(offset);
        let digest = facts::digest(&record.prefix(), &noise(self.kind, self.size));
        record.digest[..digest.len()].copy_from_slice(&digest);
        record
    }

    fn record_without_digest(&self, offset: u64) -> PayloadRecord {
        PayloadRecord {
            payload_type: self.kind,
            hash: self.hash,
            mode: self.mode,
            offset,
            size: self.size,
            load_address: self.load_address,
            memory_size: self.memory_size,
            entry: self.entry,
            digest: [0; 64],
        }
    }
}

/// Addresses at the edges of the board's regions (boot flow §2) and of the address space.
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

/// Bytes without zeros, so that padding and data are never mixed up.
fn noise(kind: PayloadType, size: u64) -> Vec<u8> {
    (0..size).map(|at| ((at ^ (at >> 8)).wrapping_mul(0x9d) as u8 ^ kind as u8) | 1).collect()
}

fn page_up(value: u64) -> u64 {
    align_up(value, PAGE_SIZE).unwrap_or(u64::MAX)
}

fn signer_record(signer: usize) -> KeyRecord {
    KEYS.get(signer).map_or_else(|| record(FOREIGN, FOREIGN_KEY), |key| key.record)
}

/// A signature block (image format §5.1) by this signer.
pub fn block(signer: usize, region: &[u8]) -> Vec<u8> {
    match KEYS.get(signer) {
        Some(key) => encode_block(ED25519, &key.public, &key.sign(region)),
        // Sizes that need padding, which Ed25519 never does.
        None => encode_block(FOREIGN, FOREIGN_KEY, &[0xa5; 17]),
    }
}

/// The encoding of a block with any contents.
pub fn encode_block(
    (algorithm, parameters): (u32, u32),
    public_key: &[u8],
    signature: &[u8],
) -> Vec<u8> {
    let mut block = Vec::new();
    for field in [algorithm, parameters, public_key.len() as u32, signature.len() as u32] {
        block.extend(field.to_le_bytes());
    }
    for part in [public_key, signature] {
        block.extend(part);
        block.resize(block.len().next_multiple_of(8), 0);
    }
    block
}
