//! Makes bundles, valid ones and ones with a single fault.
//!
//! A bundle is made in four steps, and a fault can be inserted at each of them: a [`Draft`]
//! (fields), the [`Signed`] region (bytes, before it is signed), the signature area (bytes), and
//! the file (bytes). Later steps use the results of earlier changes, so that a fault stays the only
//! one.

use core::num::NonZeroU64;

use aes::Aes256;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use hartlock_image::{
    Algorithm, BundleType, Closing, Encryption, EncryptionField, Extensions, HashId, Identity,
    IdentityField, KeyRecord, Label, Lifecycle, List, MAX_SIGNED_SIZE, Manifest, Name, PAGE_SIZE,
    PayloadRecord, PayloadType, Policy, TreeMode, TrustList, align_up, encode_manifest,
};
use hartlock_keys::ClassKey;
use hartlock_maps::qemu_virt as map;
use hartlock_verify::tree::{self, Digest};

use super::ed25519::UnusualSignature;
use super::keys::{A, B, C, ED25519, FOREIGN, FakeKey};
use super::signers::Signer;
use super::trees;

/// A function that computes the digest of a payload from its record and its bytes.
pub type MakeDigest = fn(&PayloadRecord, &[u8]) -> Digest;

/// A payload and its record.
#[derive(Clone)]
pub struct Payload {
    pub kind: PayloadType,
    pub data: Vec<u8>,
    pub hash: HashId,
    pub mode: TreeMode,
    pub load_address: u64,
    pub memory_size: u64,
    pub entry: u64,
    /// The number of bytes by which the payload is moved from its regular offset in the file.
    pub shift: i64,
    pub make_digest: MakeDigest,
}

impl Payload {
    /// Makes a payload of `size` bytes with the default hash. The entry of code is its first byte.
    pub fn new(kind: PayloadType, size: usize, load_address: u64) -> Self {
        Payload {
            kind,
            data: noise(kind, size),
            hash: HashId::Sha384,
            mode: TreeMode::Flat,
            load_address,
            memory_size: (size as u64).next_multiple_of(PAGE_SIZE),
            entry: if kind.is_code() { load_address } else { 0 },
            shift: 0,
            make_digest: tree::digest,
        }
    }

    /// Changes the size of the payload; the size in memory follows.
    pub fn resize(&mut self, size: usize) {
        *self = Payload {
            hash: self.hash,
            mode: self.mode,
            ..Payload::new(self.kind, size, self.load_address)
        };
    }

    /// Changes the load address of the payload; the entry of code follows.
    pub fn load_at(&mut self, address: u64) {
        self.load_address = address;
        self.entry = if self.kind.is_code() { address } else { 0 };
    }

    pub fn use_blocks(&mut self, block_size: u32) {
        self.mode = TreeMode::Blocks { block_size };
    }

    pub fn use_parallelhash(&mut self, hash: HashId, block_size: u32) {
        self.hash = hash;
        self.mode = TreeMode::ParallelHash { block_size };
    }
}

/// Returns the device tree for OpenSBI of a boot bundle. It is right, because a workstation looks into it (boot flow
/// §5.6).
fn boot_fdt() -> Payload {
    let data = trees::right().flatten();
    Payload { data, ..Payload::new(PayloadType::BootFdt, 4096, map::BOOT_FDT.start) }
}

/// Returns pseudo-random bytes that depend on the kind of payload. No byte is zero, so that data
/// cannot be mistaken for padding.
fn noise(kind: PayloadType, size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ u64::from(kind as u32);
    let mut next = || {
        // Xorshift (Marsaglia 2003), which is not a cryptographic generator.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8 | 1
    };
    (0..size).map(|_| next()).collect()
}

/// The source of a signature block.
#[derive(Clone)]
pub enum Block {
    /// A valid Ed25519 signature by a key.
    By(&'static FakeKey),
    /// An unusual Ed25519 signature.
    Unusual(&'static UnusualSignature),
    /// A signature of another algorithm.
    BySigner(&'static Signer),
    /// A signature of another algorithm with changes. Changes of the key are made first, so that
    /// the key record contains them.
    Edited(&'static Signer, Changes),
    /// A block of an algorithm that no verifier of this version supports, with any sizes.
    Foreign { public_key: Vec<u8>, signature: Vec<u8> },
    /// Bytes that are used without any change.
    Raw(Vec<u8>),
}

/// Changes to a signature block.
#[derive(Clone, Copy)]
pub struct Changes {
    /// The name of another algorithm, whose numbers the block states.
    pub algorithm: Option<&'static str>,
    pub public_key: fn(&mut Vec<u8>),
    /// The function that makes the signature over the signed region.
    pub sign: fn(&Signer, &[u8]) -> Vec<u8>,
    pub signature: fn(&mut Vec<u8>),
}

impl Changes {
    pub const NONE: Self =
        Self { algorithm: None, public_key: |_| (), sign: Signer::sign, signature: |_| () };

    /// Returns the numbers of algorithm and parameters, and the public key.
    fn key(&self, signer: &Signer) -> ((u32, u32), Vec<u8>) {
        let mut public_key = signer.public_key();
        (self.public_key)(&mut public_key);
        let named = |name| Algorithm::from_name(name).expect("an algorithm of the format");
        let algorithm = self.algorithm.map_or(signer.algorithm(), named);
        (algorithm.numbers(), public_key)
    }

    fn block(&self, signer: &Signer, mut signature: Vec<u8>) -> Vec<u8> {
        let (numbers, public_key) = self.key(signer);
        (self.signature)(&mut signature);
        encode_block(numbers, &public_key, &signature)
    }
}

impl Block {
    pub fn foreign() -> Block {
        // These sizes need padding, which Ed25519 never does.
        Block::Foreign { public_key: b"not known".into(), signature: vec![0xa5; 17] }
    }

    /// Returns the record of the key in the list of signers; `None` for raw bytes.
    pub fn record(&self) -> Option<KeyRecord> {
        match self {
            Block::By(key) => Some(key.record()),
            Block::Unusual(odd) => Some(odd.record()),
            Block::BySigner(signer) => Some(signer.record()),
            Block::Edited(signer, changes) => {
                let ((algorithm, parameters), public_key) = changes.key(signer);
                Some(super::keys::record(algorithm, parameters, &public_key))
            }
            Block::Foreign { public_key, .. } => {
                Some(super::keys::record(FOREIGN.0, FOREIGN.1, public_key))
            }
            Block::Raw(_) => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Block::By(_) | Block::Unusual(_) => 16 + 32 + 64,
            // The size is computed without making a signature.
            Block::BySigner(signer) => Changes::NONE.block(signer, signer.blank()).len(),
            Block::Edited(signer, changes) => changes.block(signer, signer.blank()).len(),
            Block::Foreign { .. } | Block::Raw(_) => self.encode(&[]).len(),
        }
    }

    /// Returns the bytes of the block with a signature over the signed region.
    pub fn encode(&self, signed: &[u8]) -> Vec<u8> {
        match self {
            Block::By(key) => encode_block(ED25519, &key.public_key(), &key.sign(signed)),
            Block::Unusual(odd) => encode_block(ED25519, &odd.public_key(), &odd.sign(signed)),
            Block::BySigner(signer) => Changes::NONE.block(signer, signer.sign(signed)),
            Block::Edited(signer, changes) => changes.block(signer, (changes.sign)(signer, signed)),
            Block::Foreign { public_key, signature } => {
                encode_block(FOREIGN, public_key, signature)
            }
            Block::Raw(bytes) => bytes.clone(),
        }
    }
}

/// Encodes a signature block (image format §5.1) with any contents.
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

/// Returns the class key of tests with this number.
pub fn fake_class_key(number: u8) -> ClassKey {
    ClassKey::from_bytes(&std::array::from_fn(|at| (at as u8).wrapping_mul(29) ^ number))
}

/// Returns the content key of tests for a payload.
pub fn fake_content_key(payload_type: PayloadType) -> ClassKey {
    fake_class_key(0x80 | payload_type as u8)
}

/// A bundle by its fields. Sizes, counts, offsets and digests are computed from them.
#[derive(Clone)]
pub struct Draft {
    pub bundle_type: BundleType,
    pub security_version: u64,
    pub created: u64,
    pub lifecycle_mask: u32,
    pub identity: Identity,
    pub label: Label,
    /// The signature blocks.
    pub blocks: Vec<Block>,
    /// The signers in the manifest, or `None` for those of the signature blocks.
    pub listed: Option<Vec<KeyRecord>>,
    pub payloads: Vec<Payload>,
    /// The devices in addition to the one in the header.
    pub others: Vec<IdentityField>,
    /// The lowest version of the boot bundle that a system bundle needs. Boot bundles do not use
    /// it.
    pub boot_version: Option<NonZeroU64>,
    /// The encoded records of encrypted payloads. The bytes of the payloads stay what they are.
    pub encryption: Vec<EncryptionField>,
    /// The trusted keys in a boot bundle. System bundles do not use it.
    pub trust: TrustList,
    /// The algorithms that the loader in a boot bundle supports. System bundles do not use it.
    pub carried: u64,
    /// The kernel command line in a system bundle. Boot bundles do not use it.
    pub bootargs: String,
    /// The number of pages by which `bundle_size` and the file are longer than the payloads.
    pub extra_pages: u64,
}

impl Draft {
    /// Returns the smallest system bundle.
    pub fn system() -> Draft {
        Draft {
            bundle_type: BundleType::System,
            payloads: vec![
                Payload::new(PayloadType::Kernel, 1500, map::SYSTEM.start + 0x20_0000),
                Payload::new(PayloadType::SystemFdt, 700, map::SYSTEM.start + 0x200_0000),
            ],
            ..Draft::boot()
        }
    }

    /// Returns the smallest boot bundle.
    pub fn boot() -> Draft {
        Draft {
            bundle_type: BundleType::Boot,
            security_version: 7,
            created: 1_767_225_600,
            lifecycle_mask: Lifecycle::Development.bit() | Lifecycle::Production.bit(),
            identity: identity("qemu-virt", "virt"),
            label: label("test vector"),
            blocks: vec![Block::By(A)],
            listed: None,
            payloads: vec![
                Payload::new(PayloadType::Opensbi, 1300, map::OPENSBI.start),
                Payload::new(PayloadType::Loader, 1100, map::LOADER.start),
                boot_fdt(),
            ],
            others: Vec::new(),
            boot_version: None,
            encryption: Vec::new(),
            trust: trust(Policy::Any, [B.record(), C.record()]),
            carried: 0x1f_001e,
            bootargs: "console=ttyS0".into(),
            extra_pages: 0,
        }
    }

    /// Encrypts all payloads with content keys that follow from their types, for the fake class with this number.
    pub fn encrypt(&mut self, class: u8) {
        let class_key = fake_class_key(class);
        for payload in self.payloads.iter_mut().filter(|payload| !payload.data.is_empty()) {
            let key = fake_content_key(payload.kind);
            let wrapped = class_key.wrap(&key);
            let class_id = class_key.id();
            Ctr128BE::<Aes256>::new(key.bytes().into(), &[0; 16].into())
                .apply_keystream(&mut payload.data);
            let encryption = Encryption { payload_type: payload.kind, class_id, wrapped };
            self.encryption.push(encryption.encode());
        }
    }

    /// Inserts an initramfs between kernel and device tree.
    pub fn add_initramfs(&mut self, size: usize, load_address: u64) -> &mut Payload {
        self.payloads.insert(1, Payload::new(PayloadType::Initramfs, size, load_address));
        &mut self.payloads[1]
    }

    /// Sets a board that has no description, so that no memory map is checked.
    pub fn use_unknown_board(&mut self) {
        self.identity.board = name("some-other-board");
    }

    fn signers(&self) -> Vec<KeyRecord> {
        let signing = || self.blocks.iter().filter_map(Block::record).collect();
        self.listed.clone().unwrap_or_else(signing)
    }

    /// Encodes the manifest for a signature area of this size in bytes.
    pub fn encode(&self, signatures_size: usize) -> (Signed, Layout) {
        // The first pass only determines the size, which offsets and digests do not change.
        let blank = self.payloads.iter().map(|payload| record_of(payload, 0)).collect();
        let size = self.encode_with(signatures_size, blank, 0).bytes.len();
        let layout = Layout::new(self, size + signatures_size);
        let record = |(payload, offset): (&Payload, &u64)| {
            let mut record = record_of(payload, *offset);
            record.digest = (payload.make_digest)(&record, &payload.data);
            record
        };
        let records = self.payloads.iter().zip(&layout.offsets).map(record).collect();
        (self.encode_with(signatures_size, records, layout.bundle_size), layout)
    }

    fn encode_with(
        &self,
        signatures_size: usize,
        payloads: Vec<PayloadRecord>,
        bundle_size: u64,
    ) -> Signed {
        let manifest = Manifest {
            bundle_type: self.bundle_type,
            signatures_size: signatures_size as u32,
            bundle_size,
            security_version: self.security_version,
            created: self.created,
            lifecycle_mask: self.lifecycle_mask,
            identity: self.identity,
            label: self.label,
            signers: list(self.signers()),
            payloads: list(payloads),
            extensions: Extensions {
                identities: &self.others,
                boot_version: self.boot_version,
                encryption: &self.encryption,
            },
            closing: match self.bundle_type {
                BundleType::Boot => Closing::Trust { list: self.trust, carried: self.carried },
                BundleType::System => Closing::Bootargs(self.bootargs.as_bytes()),
            },
        };
        let mut bytes = vec![0; MAX_SIGNED_SIZE];
        let size = encode_manifest(&manifest, &mut bytes).expect("vectors are small");
        bytes.truncate(size);
        let extensions = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]) as usize;
        Signed {
            bytes,
            signers: manifest.signers.len(),
            payloads: manifest.payloads.len(),
            extensions,
        }
    }
}

/// The offsets of the payloads in the file.
pub struct Layout {
    pub offsets: Vec<u64>,
    bundle_size: u64,
}

impl Layout {
    fn new(draft: &Draft, metadata_size: usize) -> Layout {
        let mut end = metadata_size as u64;
        let mut offsets = Vec::new();
        for payload in &draft.payloads {
            let offset = page_up(end).wrapping_add_signed(payload.shift);
            offsets.push(offset);
            end = offset + payload.data.len() as u64;
        }
        Layout { offsets, bundle_size: page_up(end) + draft.extra_pages * PAGE_SIZE }
    }
}

/// Returns the record of a payload, without its digest.
fn record_of(payload: &Payload, offset: u64) -> PayloadRecord {
    PayloadRecord {
        payload_type: payload.kind,
        hash: payload.hash,
        mode: payload.mode,
        offset,
        size: payload.data.len() as u64,
        load_address: payload.load_address,
        memory_size: payload.memory_size,
        entry: payload.entry,
        digest: [0; 64],
    }
}

/// The bytes of the signed region, before it is signed.
pub struct Signed {
    pub bytes: Vec<u8>,
    signers: usize,
    payloads: usize,
    extensions: usize,
}

impl Signed {
    /// Returns the offset of a signer's key record.
    pub fn signer(&self, index: usize) -> usize {
        256 + 64 * index
    }

    /// Returns the offset of a payload record.
    pub fn payload(&self, index: usize) -> usize {
        256 + 64 * self.signers + 128 * index
    }

    /// Returns the offset of the extension area.
    pub fn extensions(&self) -> usize {
        self.payload(self.payloads)
    }

    /// Returns the offset of the closing section.
    pub fn closing(&self) -> usize {
        self.extensions() + self.extensions
    }

    /// Appends these bytes to the extension area.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.insert(self.closing(), bytes);
        self.extensions += bytes.len();
        self.put32(60, self.extensions as u32);
    }

    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    pub fn put32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    pub fn put64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// Inserts bytes and updates `signed_size`. The padding after the signed region must have room
    /// for them.
    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        self.bytes.splice(at..at, bytes.iter().copied());
        self.put32(16, self.bytes.len() as u32);
    }

    /// Removes the last bytes and updates `signed_size`.
    pub fn shorten(&mut self, by: usize) {
        self.bytes.truncate(self.bytes.len() - by);
        self.put32(16, self.bytes.len() as u32);
    }
}

/// A change to a bundle at one of the steps of making it, or to the options of its verifier.
#[derive(Clone, Copy)]
pub enum Edit {
    Draft(fn(&mut Draft)),
    /// A change to the signed region before it is signed.
    Signed(fn(&mut Signed)),
    /// A change to the signature area.
    Area(fn(&mut Vec<u8>)),
    /// A change to the whole file, after it is signed.
    File(fn(&mut Vec<u8>)),
    Options(fn(&mut super::expected::Options)),
}

/// Makes the file of a draft with all edits applied. Also returns the draft as it was signed.
pub fn build(mut draft: Draft, edits: &[Edit]) -> (Vec<u8>, Draft) {
    for edit in edits {
        if let Edit::Draft(change) = edit {
            change(&mut draft);
        }
    }
    let signatures_size = draft.blocks.iter().map(Block::size).sum();
    let (mut signed, layout) = draft.encode(signatures_size);
    for edit in edits {
        if let Edit::Signed(change) = edit {
            change(&mut signed);
        }
    }
    let mut area: Vec<u8> =
        draft.blocks.iter().flat_map(|block| block.encode(&signed.bytes)).collect();
    for edit in edits {
        if let Edit::Area(change) = edit {
            change(&mut area);
        }
    }
    let mut file = [signed.bytes, area].concat();
    for (payload, offset) in draft.payloads.iter().zip(&layout.offsets) {
        place(&mut file, *offset as usize, &payload.data);
    }
    file.resize(file.len().max(layout.bundle_size as usize), 0);
    for edit in edits {
        if let Edit::File(change) = edit {
            change(&mut file);
        }
    }
    (file, draft)
}

/// Writes a payload into the file. If payloads overlap on purpose, the bytes must be equal.
fn place(file: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    let old_end = file.len();
    file.resize(old_end.max(end), 0);
    for (index, byte) in data.iter().enumerate() {
        let at = offset + index;
        assert!(at >= old_end || file[at] == *byte, "payloads disagree at {at}");
        file[at] = *byte;
    }
}

pub fn identity(board: &str, soc: &str) -> Identity {
    Identity { board: name(board), soc: name(soc) }
}

pub fn name(text: &str) -> Name {
    Name::new(text).expect("a valid name")
}

pub fn label(text: &str) -> Label {
    Label::new(text).expect("a valid label")
}

pub fn trust(policy: Policy, keys: impl IntoIterator<Item = KeyRecord>) -> TrustList {
    TrustList { policy, keys: list(keys) }
}

fn list<T: Copy, const N: usize>(items: impl IntoIterator<Item = T>) -> List<T, N> {
    let mut list = List::new();
    for item in items {
        assert!(list.push(item), "the format has room for {N}");
    }
    list
}

fn page_up(value: u64) -> u64 {
    align_up(value, PAGE_SIZE).expect("vectors are small")
}
