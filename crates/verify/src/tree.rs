//! Payload digests (image format §6), generic over who computes the hash.

use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_kernels::Hash;
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::parallelhash::{Root128, Root256, left_encode, right_encode};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};

/// A digest of up to 64 bytes, zero padded.
pub type Digest = [u8; 64];

/// A hash whose algorithm is chosen at run time.
pub trait Hasher {
    /// Starts a hash.
    fn new(hash: HashId) -> Self;
    /// Starts the outer function of ParallelHash: cSHAKE with N = "ParallelHash", of the strength of
    /// `hash` (§6.3). No mode allows it with a hash that is not SHAKE; of those it is the hash itself.
    fn new_parallelhash(hash: HashId) -> Self;
    /// Absorbs bytes.
    fn update(&mut self, bytes: &[u8]);
    /// The digest, zero padded.
    fn finalize(self) -> Digest;
}

/// The kernels of this project.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
#[expect(clippy::large_enum_variant, reason = "a hart has two at most, and there is no heap")]
pub enum Kernel {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
    Sha3_256(Sha3_256),
    Sha3_384(Sha3_384),
    Sha3_512(Sha3_512),
    Kt128(Kt128),
    Shake128(Shake128),
    Shake256(Shake256),
    ParallelHash128(Root128),
    ParallelHash256(Root256),
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
            HashId::Kt128 => Kernel::Kt128(Kt128::new()),
            HashId::Shake128 => Kernel::Shake128(Shake128::new()),
            HashId::Shake256 => Kernel::Shake256(Shake256::new()),
        }
    }

    fn new_parallelhash(hash: HashId) -> Self {
        match hash {
            HashId::Shake128 => Kernel::ParallelHash128(Root128::new()),
            HashId::Shake256 => Kernel::ParallelHash256(Root256::new()),
            _ => Self::new(hash),
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
            Kernel::Kt128(hash) => hash.update(bytes),
            Kernel::Shake128(hash) => hash.update(bytes),
            Kernel::Shake256(hash) => hash.update(bytes),
            Kernel::ParallelHash128(hash) => hash.update(bytes),
            Kernel::ParallelHash256(hash) => hash.update(bytes),
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
            Kernel::Kt128(hash) => padded(&hash.finalize()),
            Kernel::Shake128(hash) => padded(&hash.finalize()),
            Kernel::Shake256(hash) => padded(&hash.finalize()),
            Kernel::ParallelHash128(hash) => padded(&hash.finalize()),
            Kernel::ParallelHash256(hash) => padded(&hash.finalize()),
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

/// What stands in front of a block in its leaf: nothing under ParallelHash, whose leaves have no index.
pub fn leaf_prefix(mode: TreeMode, index: u64) -> Option<[u8; 16]> {
    if matches!(mode, TreeMode::ParallelHash { .. }) {
        return None;
    }
    let mut prefix = *b"HLKleaf0\0\0\0\0\0\0\0\0";
    if let Some(place) = prefix.last_chunk_mut() {
        *place = index.to_le_bytes();
    }
    Some(prefix)
}

/// `leaf_i` of a block (§6.2, §6.3).
pub fn leaf<H: Hasher>(mode: TreeMode, hash: HashId, index: u64, block: &[u8]) -> Digest {
    let mut hasher = H::new(hash);
    if let Some(prefix) = leaf_prefix(mode, index) {
        hasher.update(&prefix);
    }
    hasher.update(block);
    hasher.finalize()
}

/// The root (§6.2, §6.3), to which leaves are added in order.
#[derive(Clone)]
pub struct Root<H> {
    hasher: H,
    leaf_len: usize,
    /// The number of leaves, where it stands behind them.
    count_behind: Option<u64>,
}

impl<H: Hasher> Root<H> {
    /// Absorbs everything in front of the leaves. In mode flat there are none, and this is the root of
    /// nothing.
    pub fn new(record: &PayloadRecord) -> Self {
        let leaf_len = record.hash.output_len();
        let block_size = u64::from(record.mode.block_size().unwrap_or(0));
        if matches!(record.mode, TreeMode::ParallelHash { .. }) {
            let mut hasher = H::new_parallelhash(record.hash);
            hasher.update(left_encode(block_size).as_ref());
            return Self { hasher, leaf_len, count_behind: Some(record.block_count()) };
        }
        let mut header = H::new(record.hash);
        header.update(b"HLKrec_0");
        header.update(&record.prefix());
        let header = header.finalize();

        let mut root = Self { hasher: H::new(record.hash), leaf_len, count_behind: None };
        root.hasher.update(b"HLKroot0");
        root.hasher.update(&record.block_count().to_le_bytes());
        root.hasher.update(&record.size.to_le_bytes());
        root.hasher.update(&block_size.to_le_bytes());
        root.push(&header);
        root
    }

    /// Absorbs the next leaf.
    pub fn push(&mut self, leaf: &Digest) {
        self.hasher.update(leaf.get(..self.leaf_len).unwrap_or(leaf));
    }

    /// The digest of the payload.
    pub fn finalize(mut self) -> Digest {
        if let Some(count) = self.count_behind {
            self.hasher.update(right_encode(count).as_ref());
            let output_bits = self.leaf_len.wrapping_mul(8) as u64;
            self.hasher.update(right_encode(output_bits).as_ref());
        }
        self.hasher.finalize()
    }
}

/// The digest of a payload that lies in memory, on one hart.
pub fn digest<H: Hasher>(record: &PayloadRecord, payload: &[u8]) -> Digest {
    let Some(block_size) = record.mode.block_size() else {
        let mut hasher = H::new(record.hash);
        hasher.update(payload);
        return hasher.finalize();
    };
    let mut root = Root::<H>::new(record);
    // A record's block size is never 0; `max` only spares the panic of `chunks`.
    for (index, block) in payload.chunks((block_size as usize).max(1)).enumerate() {
        root.push(&leaf::<H>(record.mode, record.hash, index as u64, block));
    }
    root.finalize()
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use hartlock_image::PayloadType;

    use super::*;

    fn hex_of_example(hash: HashId, mode: TreeMode, size: u64) -> String {
        let payload: Vec<u8> = (0..251).cycle().take(size as usize).collect();
        let record = PayloadRecord {
            payload_type: PayloadType::Initramfs,
            hash,
            mode,
            offset: 4096,
            size,
            load_address: 0x8200_0000,
            memory_size: 1 << 20,
            entry: 0,
            digest: [0; 64],
        };
        let digest = digest::<Kernel>(&record, &payload);
        digest[..hash.output_len()].iter().map(|byte| std::format!("{byte:02x}")).collect()
    }

    /// Every digest in the examples of image format §6.3 and §6.4.
    #[test]
    fn digests_are_those_of_the_examples_in_the_specification() {
        const SPEC: &str = include_str!("../../../spec/image-format.md");
        let parallelhash = TreeMode::ParallelHash { block_size: 1024 };
        for (row, hash, mode, size) in [
            ("digest, ParallelHash128 |", HashId::Shake128, parallelhash, 2500),
            ("digest, ParallelHash256 |", HashId::Shake256, parallelhash, 2500),
            ("empty | 1 |", HashId::Kt128, TreeMode::Flat, 0),
            ("8,191 bytes | 1 |", HashId::Kt128, TreeMode::Flat, 8191),
            ("8,192 bytes | 2 |", HashId::Kt128, TreeMode::Flat, 8192),
            ("8,193 bytes | 2 |", HashId::Kt128, TreeMode::Flat, 8193),
        ] {
            let expected = std::format!("\n| {row} `{}` |", hex_of_example(hash, mode, size));
            assert!(SPEC.contains(&expected), "{expected}");
        }
    }

    #[test]
    fn leaves_of_parallelhash_have_no_prefix() {
        let block_size = 1024;
        assert_eq!(leaf_prefix(TreeMode::ParallelHash { block_size }, 3), None);
        let blocks = TreeMode::Blocks { block_size };
        assert_eq!(leaf_prefix(blocks, 3), Some(*b"HLKleaf0\x03\0\0\0\0\0\0\0"));
    }
}
