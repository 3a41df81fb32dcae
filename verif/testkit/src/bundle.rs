//! Makes bundles, right ones and ones with one fault.
//!
//! A bundle goes through four forms, and a fault can be put into each: a [`Draft`] (fields),
//! the [`Signed`] region (bytes, before they are signed), the signature area (bytes), the file
//! (bytes). What comes later follows from what was changed before, so a fault stays the only one.

use core::num::NonZeroU64;

use hartlock_image::{
    Algorithm, BundleType, Closing, Extensions, HashId, Identity, IdentityField, KeyRecord, Label,
    Lifecycle, List, MAX_SIGNED_SIZE, Manifest, Name, PAGE_SIZE, PayloadRecord, PayloadType,
    Policy, TreeMode, TrustList, align_up, encode_manifest,
};
use hartlock_verify::board::qemu_virt as map;
use hartlock_verify::tree::{self, Digest};

use super::ed25519::OddSignature;
use super::keys::{A, B, C, ED25519, FOREIGN, FakeKey};
use super::signers::Signer;

/// Makes a payload's digest out of its record and its bytes.
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
    /// Bytes by which the payload is located after its place in the file.
    pub shift: i64,
    pub make_digest: MakeDigest,
}

impl Payload {
    /// A payload of `size` bytes with the default hash; code is entered at its first byte.
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

    /// Gives it another size; memory follows.
    pub fn resize(&mut self, size: usize) {
        *self = Payload {
            hash: self.hash,
            mode: self.mode,
            ..Payload::new(self.kind, size, self.load_address)
        };
    }

    /// Moves it; the entry of code follows.
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

/// Bytes that differ from place to place and from payload to payload; no zeros, so that padding
/// and data are never mixed up.
fn noise(kind: PayloadType, size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ u64::from(kind as u32);
    let mut next = || {
        // Xorshift (Marsaglia 2003): spreads bytes, and is no more than that.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8 | 1
    };
    (0..size).map(|_| next()).collect()
}

/// Where a signature block comes from.
#[derive(Clone)]
pub enum Block {
    /// An honest signature.
    By(&'static FakeKey),
    /// An Ed25519 signature with something unusual about it.
    Odd(&'static OddSignature),
    /// A signature of another algorithm.
    Of(&'static Signer),
    /// The same with changes. Those of the key come first, so that its record follows.
    Edited(&'static Signer, Changes),
    /// An algorithm that no verifier of this version carries, with any sizes.
    Foreign { public_key: Vec<u8>, signature: Vec<u8> },
    /// Bytes without any change.
    Raw(Vec<u8>),
}

/// Changes to a signature block.
#[derive(Clone, Copy)]
pub struct Changes {
    /// Under the numbers of another algorithm.
    pub algorithm: Option<&'static str>,
    pub public_key: fn(&mut Vec<u8>),
    /// Makes the signature over the signed region.
    pub sign: fn(&Signer, &[u8]) -> Vec<u8>,
    pub signature: fn(&mut Vec<u8>),
}

impl Changes {
    pub const NONE: Self =
        Self { algorithm: None, public_key: |_| (), sign: Signer::sign, signature: |_| () };

    /// Algorithm, parameters and public key.
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
        // Sizes that need padding, which Ed25519 never does.
        Block::Foreign { public_key: b"not known".into(), signature: vec![0xa5; 17] }
    }

    /// Its record among the signers; `None` for raw bytes.
    pub fn record(&self) -> Option<KeyRecord> {
        match self {
            Block::By(key) => Some(key.record()),
            Block::Odd(odd) => Some(odd.record()),
            Block::Of(signer) => Some(signer.record()),
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
            Block::By(_) | Block::Odd(_) => 16 + 32 + 64,
            // Without signing for it.
            Block::Of(signer) => Changes::NONE.block(signer, signer.blank()).len(),
            Block::Edited(signer, changes) => changes.block(signer, signer.blank()).len(),
            Block::Foreign { .. } | Block::Raw(_) => self.encode(&[]).len(),
        }
    }

    /// Its bytes, of which a signature is over the signed region.
    pub fn encode(&self, signed: &[u8]) -> Vec<u8> {
        match self {
            Block::By(key) => encode_block(ED25519, &key.public_key(), &key.sign(signed)),
            Block::Odd(odd) => encode_block(ED25519, &odd.public_key(), &odd.sign(signed)),
            Block::Of(signer) => Changes::NONE.block(signer, signer.sign(signed)),
            Block::Edited(signer, changes) => changes.block(signer, (changes.sign)(signer, signed)),
            Block::Foreign { public_key, signature } => {
                encode_block(FOREIGN, public_key, signature)
            }
            Block::Raw(bytes) => bytes.clone(),
        }
    }
}

/// A signature block (image format §5.1), with any contents.
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

/// A bundle by its fields. Sizes, counts, offsets and digests follow from them.
#[derive(Clone)]
pub struct Draft {
    pub bundle_type: BundleType,
    pub security_version: u64,
    pub created: u64,
    pub lifecycle_mask: u32,
    pub identity: Identity,
    pub label: Label,
    /// Who signs.
    pub blocks: Vec<Block>,
    /// Signers of the manifest; `None`: those who sign.
    pub listed: Option<Vec<KeyRecord>>,
    pub payloads: Vec<Payload>,
    /// Devices besides the first.
    pub others: Vec<IdentityField>,
    /// Of a system bundle: what it needs of the boot bundle.
    pub boot_version: Option<NonZeroU64>,
    /// Of a boot bundle.
    pub trust: TrustList,
    /// Of a boot bundle: algorithms of its loader.
    pub carried: u64,
    /// Of a system bundle.
    pub bootargs: String,
    /// Pages by which `bundle_size` and the file are longer than the payloads.
    pub extra_pages: u64,
}

impl Draft {
    /// The smallest system bundle.
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

    /// The smallest boot bundle.
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
                Payload::new(PayloadType::BootFdt, 600, map::BOOT_FDT.start),
            ],
            others: Vec::new(),
            boot_version: None,
            trust: trust(Policy::Any, [B.record(), C.record()]),
            carried: 0x1f_001e,
            bootargs: "console=ttyS0".into(),
            extra_pages: 0,
        }
    }

    /// Puts an initramfs between kernel and device tree.
    pub fn add_initramfs(&mut self, size: usize, load_address: u64) -> &mut Payload {
        self.payloads.insert(1, Payload::new(PayloadType::Initramfs, size, load_address));
        &mut self.payloads[1]
    }

    /// Names a board that is not described, so that its memory map does not matter.
    pub fn leave_board(&mut self) {
        self.identity.board = name("some-other-board");
    }

    fn signers(&self) -> Vec<KeyRecord> {
        let signing = || self.blocks.iter().filter_map(Block::record).collect();
        self.listed.clone().unwrap_or_else(signing)
    }

    /// Encodes the manifest for a signature area of this size.
    pub fn encode(&self, signatures_size: usize) -> (Signed, Layout) {
        // The first pass is for the size only: offsets and digests do not change it.
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
            extensions: Extensions { identities: &self.others, boot_version: self.boot_version },
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

/// Where the payloads are in the file.
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

/// Without its digest.
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

/// The signed region as bytes, before it is signed.
pub struct Signed {
    pub bytes: Vec<u8>,
    signers: usize,
    payloads: usize,
    extensions: usize,
}

impl Signed {
    /// Offset of a signer's key record.
    pub fn signer(&self, index: usize) -> usize {
        256 + 64 * index
    }

    /// Offset of a payload record.
    pub fn payload(&self, index: usize) -> usize {
        256 + 64 * self.signers + 128 * index
    }

    /// Offset of the extension area.
    pub fn extensions(&self) -> usize {
        self.payload(self.payloads)
    }

    /// Offset of the closing section.
    pub fn closing(&self) -> usize {
        self.extensions() + self.extensions
    }

    /// Puts these bytes into the extension area, after what is there.
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

    /// Puts bytes in between; `signed_size` follows. They must fit into the padding that follows.
    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        self.bytes.splice(at..at, bytes.iter().copied());
        self.put32(16, self.bytes.len() as u32);
    }

    /// Takes the last bytes away; `signed_size` follows.
    pub fn shorten(&mut self, by: usize) {
        self.bytes.truncate(self.bytes.len() - by);
        self.put32(16, self.bytes.len() as u32);
    }
}

/// A change to a bundle on its way, or to what its verifier is told.
#[derive(Clone, Copy)]
pub enum Edit {
    Draft(fn(&mut Draft)),
    /// Before the signature: the result is signed.
    Signed(fn(&mut Signed)),
    /// The signature area, after the signature.
    Area(fn(&mut Vec<u8>)),
    /// The whole file, after the signature.
    File(fn(&mut Vec<u8>)),
    Options(fn(&mut super::expected::Options)),
}

/// Makes the file of a draft with all edits applied. Returns the draft too, as it was signed.
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

/// Writes a payload into the file; where payloads overlap on purpose, the bytes must agree.
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
