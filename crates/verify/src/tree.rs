//! Payload digests (image format §6), generic over who computes the hash.

use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};

/// A digest of up to 64 bytes, zero padded.
pub type Digest = [u8; 64];

/// A hash whose algorithm is chosen at run time.
pub trait Hasher {
    /// Starts a hash.
    fn new(hash: HashId) -> Self;
    /// Absorbs bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The digest, zero padded.
    fn finalize(self) -> Digest;
}

/// The kernels of this project.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum Kernel {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Sha3_256(Sha3_256),
    Sha3_384(Sha3_384),
    Sha3_512(Sha3_512),
}

impl Hasher for Kernel {
    fn new(hash: HashId) -> Self {
        match hash {
            HashId::Sha256 => Kernel::Sha256(Sha256::new()),
            HashId::Sha384 => Kernel::Sha384(Sha384::new()),
            HashId::Sha512 => Kernel::Sha512(Sha512::new()),
            HashId::Sha3_256 => Kernel::Sha3_256(Sha3_256::new()),
            HashId::Sha3_384 => Kernel::Sha3_384(Sha3_384::new()),
            HashId::Sha3_512 => Kernel::Sha3_512(Sha3_512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Kernel::Sha256(hash) => hash.update(bytes),
            Kernel::Sha384(hash) => hash.update(bytes),
            Kernel::Sha512(hash) => hash.update(bytes),
            Kernel::Sha3_256(hash) => hash.update(bytes),
            Kernel::Sha3_384(hash) => hash.update(bytes),
            Kernel::Sha3_512(hash) => hash.update(bytes),
        }
    }

    fn finalize(self) -> Digest {
        match self {
            Kernel::Sha256(hash) => padded(&hash.finalize()),
            Kernel::Sha384(hash) => padded(&hash.finalize()),
            Kernel::Sha512(hash) => padded(&hash.finalize()),
            Kernel::Sha3_256(hash) => padded(&hash.finalize()),
            Kernel::Sha3_384(hash) => padded(&hash.finalize()),
            Kernel::Sha3_512(hash) => padded(&hash.finalize()),
        }
    }
}

/// Copies a digest to the front of a zeroed field.
pub fn padded(digest: &[u8]) -> Digest {
    let mut field = [0; 64];
    for (to, from) in field.iter_mut().zip(digest) {
        *to = *from;
    }
    field
}

/// The part of a digest that the measurement log has room for (boot flow §3.5).
pub fn first_48(digest: &Digest) -> [u8; 48] {
    let mut first = [0; 48];
    for (to, from) in first.iter_mut().zip(digest) {
        *to = *from;
    }
    first
}

/// `leaf_i` of a block (§6.2).
pub fn leaf<H: Hasher>(hash: HashId, index: u64, block: &[u8]) -> Digest {
    let mut hasher = H::new(hash);
    hasher.update(b"HLKleaf0");
    hasher.update(&index.to_le_bytes());
    hasher.update(block);
    hasher.finalize()
}

/// The root (§6.2), to which leaves are added in order.
#[derive(Clone)]
pub struct Root<H> {
    hasher: H,
    leaf_len: usize,
}

impl<H: Hasher> Root<H> {
    /// Absorbs everything in front of the leaves. `block_size` is that of the record's mode.
    pub fn new(record: &PayloadRecord, block_size: u32) -> Self {
        let mut header = H::new(record.hash);
        header.update(b"HLKrec_0");
        header.update(&record.prefix());
        let header = header.finalize();

        let leaf_len = record.hash.output_len();
        let mut root = Self { hasher: H::new(record.hash), leaf_len };
        root.hasher.update(b"HLKroot0");
        root.hasher.update(&record.block_count().to_le_bytes());
        root.hasher.update(&record.size.to_le_bytes());
        root.hasher.update(&u64::from(block_size).to_le_bytes());
        root.push(&header);
        root
    }

    /// Absorbs the next leaf.
    pub fn push(&mut self, leaf: &Digest) {
        self.hasher.update(leaf.get(..self.leaf_len).unwrap_or(leaf));
    }

    /// The digest of the payload.
    pub fn finalize(self) -> Digest {
        self.hasher.finalize()
    }
}

/// The digest of a payload that lies in memory, on one hart.
pub fn digest<H: Hasher>(record: &PayloadRecord, payload: &[u8]) -> Digest {
    match record.mode {
        TreeMode::Flat => {
            let mut hasher = H::new(record.hash);
            hasher.update(payload);
            hasher.finalize()
        }
        TreeMode::Blocks { block_size } => {
            let mut root = Root::<H>::new(record, block_size);
            // A record's block size is never 0; `max` only spares the panic of `chunks`.
            for (index, block) in payload.chunks((block_size as usize).max(1)).enumerate() {
                root.push(&leaf::<H>(record.hash, index as u64, block));
            }
            root.finalize()
        }
    }
}
