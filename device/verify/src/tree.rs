//! Payload digests (image format §6), generic over the implementation of the hash.

use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::parallelhash::{Root128, Root256, left_encode, right_encode};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use hartlock_kernels::{Hash, HashFamily, HashMany, Kernels, MAX_LANES, Tier, fills_lanes};

/// A digest of up to 64 bytes, zero padded.
pub type Digest = [u8; 64];

/// A hash whose algorithm is chosen at run time.
pub trait Hasher: Sized {
    /// Starts a hash that uses the given kernels.
    fn with(hash: HashId, kernels: &Kernels) -> Self;
    /// Starts a hash that uses the portable form.
    fn new(hash: HashId) -> Self {
        Self::with(hash, &Kernels::PORTABLE)
    }
    /// Starts the outer function of ParallelHash: cSHAKE with N = "ParallelHash" and the strength of `hash` (§6.3). A
    /// manifest allows ParallelHash only with SHAKE; for any other hash the function returns that hash.
    fn parallelhash_with(hash: HashId, kernels: &Kernels) -> Self;
    /// Starts the outer function of ParallelHash in the portable form.
    fn new_parallelhash(hash: HashId) -> Self {
        Self::parallelhash_with(hash, &Kernels::PORTABLE)
    }
    /// Absorbs bytes of the message.
    fn update(&mut self, bytes: &[u8]);
    /// Returns the digest; unused bytes at the end are zero.
    fn finalize(self) -> Digest;
}

/// A hash in software, of the algorithm that a payload record names, computed by the kernels of the hart.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
#[expect(clippy::large_enum_variant, reason = "a hart has two at most, and there is no heap")]
pub enum SoftwareHasher {
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

impl Hasher for SoftwareHasher {
    fn with(hash: HashId, kernels: &Kernels) -> Self {
        match hash {
            HashId::Sha256 => SoftwareHasher::Sha256(Sha256::with(kernels)),
            HashId::Sha384 => SoftwareHasher::Sha384(Sha384::with(kernels)),
            HashId::Sha512 => SoftwareHasher::Sha512(Sha512::with(kernels)),
            HashId::Sha3_256 => SoftwareHasher::Sha3_256(Sha3_256::with(kernels)),
            HashId::Sha3_384 => SoftwareHasher::Sha3_384(Sha3_384::with(kernels)),
            HashId::Sha3_512 => SoftwareHasher::Sha3_512(Sha3_512::with(kernels)),
            HashId::Kt128 => SoftwareHasher::Kt128(Kt128::with(kernels)),
            HashId::Shake128 => SoftwareHasher::Shake128(Shake128::with(kernels)),
            HashId::Shake256 => SoftwareHasher::Shake256(Shake256::with(kernels)),
        }
    }

    fn parallelhash_with(hash: HashId, kernels: &Kernels) -> Self {
        match hash {
            HashId::Shake128 => SoftwareHasher::ParallelHash128(Root128::with(kernels)),
            HashId::Shake256 => SoftwareHasher::ParallelHash256(Root256::with(kernels)),
            _ => Self::with(hash, kernels),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            SoftwareHasher::Sha256(hash) => hash.update(bytes),
            SoftwareHasher::Sha384(hash) => hash.update(bytes),
            SoftwareHasher::Sha512(hash) => hash.update(bytes),
            SoftwareHasher::Sha3_256(hash) => hash.update(bytes),
            SoftwareHasher::Sha3_384(hash) => hash.update(bytes),
            SoftwareHasher::Sha3_512(hash) => hash.update(bytes),
            SoftwareHasher::Kt128(hash) => hash.update(bytes),
            SoftwareHasher::Shake128(hash) => hash.update(bytes),
            SoftwareHasher::Shake256(hash) => hash.update(bytes),
            SoftwareHasher::ParallelHash128(hash) => hash.update(bytes),
            SoftwareHasher::ParallelHash256(hash) => hash.update(bytes),
        }
    }

    fn finalize(self) -> Digest {
        match self {
            SoftwareHasher::Sha256(hash) => padded(&hash.finalize()),
            SoftwareHasher::Sha384(hash) => padded(&hash.finalize()),
            SoftwareHasher::Sha512(hash) => padded(&hash.finalize()),
            SoftwareHasher::Sha3_256(hash) => padded(&hash.finalize()),
            SoftwareHasher::Sha3_384(hash) => padded(&hash.finalize()),
            SoftwareHasher::Sha3_512(hash) => padded(&hash.finalize()),
            SoftwareHasher::Kt128(hash) => padded(&hash.finalize()),
            SoftwareHasher::Shake128(hash) => padded(&hash.finalize()),
            SoftwareHasher::Shake256(hash) => padded(&hash.finalize()),
            SoftwareHasher::ParallelHash128(hash) => padded(&hash.finalize()),
            SoftwareHasher::ParallelHash256(hash) => padded(&hash.finalize()),
        }
    }
}

/// Copies a digest to the front of a zeroed 64-byte field.
pub fn padded(digest: &[u8]) -> Digest {
    let mut field = [0; 64];
    for (to, from) in field.iter_mut().zip(digest) {
        *to = *from;
    }
    field
}

/// Returns the first 48 bytes of a digest, which the measurement log stores (boot flow §3.5).
pub fn first_48(digest: &Digest) -> [u8; 48] {
    let mut first = [0; 48];
    for (to, from) in first.iter_mut().zip(digest) {
        *to = *from;
    }
    first
}

/// Returns the prefix that is hashed before a block in its leaf. Mode ParallelHash has none (`None`), because its
/// leaves have no index.
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

/// Computes `leaf_i` of a block (§6.2, §6.3) with the given kernels.
pub fn leaf(
    kernels: &Kernels,
    (mode, hash): (TreeMode, HashId),
    index: u64,
    block: &[u8],
) -> Digest {
    let mut hasher = SoftwareHasher::with(hash, kernels);
    if let Some(prefix) = leaf_prefix(mode, index) {
        hasher.update(&prefix);
    }
    hasher.update(block);
    hasher.finalize()
}

/// Returns the number of blocks of this hash that a hart with these kernels hashes at once with benefit.
pub fn lanes(kernels: &Kernels, hash: HashId) -> usize {
    match hash {
        HashId::Sha256 => Sha256::lanes(kernels),
        HashId::Sha384 => Sha384::lanes(kernels),
        HashId::Sha512 => Sha512::lanes(kernels),
        // A single block fills the lanes if it has enough chunks.
        HashId::Kt128 => Kt128::lanes(kernels),
        HashId::Sha3_256 | HashId::Sha3_384 | HashId::Sha3_512 => Sha3_256::lanes(kernels),
        HashId::Shake128 | HashId::Shake256 => Shake128::lanes(kernels),
    }
}

/// Returns the tier of the kernel that hashes a payload, for the log (boot flow §3.5).
pub fn tier(kernels: &Kernels, (mode, hash): (TreeMode, HashId)) -> Tier {
    let family = match hash {
        HashId::Sha256 => HashFamily::Sha256,
        HashId::Sha384 | HashId::Sha512 => HashFamily::Sha512,
        _ => HashFamily::Keccak,
    };
    let has_many = mode.block_size().is_some() || hash == HashId::Kt128;
    if has_many && kernels.lanes(family) > 1 {
        kernels.tier_of_many(family)
    } else {
        kernels.tier(family)
    }
}

/// Computes the leaves of blocks that are adjacent in memory and calls `on_leaf` with each in order. `first` is the
/// index of the first block. Only the last block may be shorter than the block size.
///
/// Blocks that do not fill the lanes are hashed one at a time ([`fills_lanes`]).
pub fn leaves(
    kernels: &Kernels,
    (mode, hash): (TreeMode, HashId),
    first: u64,
    blocks: &[u8],
    mut on_leaf: impl FnMut(&Digest),
) {
    let block_size = mode.block_size().map_or(1, |size| size as usize).max(1);
    let lanes = lanes(kernels, hash).clamp(1, MAX_LANES);
    let (mut rest, mut index) = (blocks, first);
    while !rest.is_empty() {
        let whole = rest.len().checked_div(block_size).unwrap_or(0).min(lanes);
        let is_worth_it = cfg!(feature = "lanes") && fills_lanes(whole, lanes);
        let count = if is_worth_it { whole } else { 1 };
        let len = block_size.saturating_mul(count).min(rest.len());
        let (now, later) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        if is_worth_it {
            digest_many(kernels, (mode, hash), index, (now, block_size), &mut on_leaf);
        } else {
            on_leaf(&leaf(kernels, (mode, hash), index, now));
        }
        index = index.wrapping_add(count as u64);
        rest = later;
    }
}

/// Computes the leaves of up to [`MAX_LANES`] blocks of equal length at once.
fn digest_many(
    kernels: &Kernels,
    (mode, hash): (TreeMode, HashId),
    first: u64,
    (blocks, block_size): (&[u8], usize),
    on_leaf: &mut impl FnMut(&Digest),
) {
    let mut prefixes = [None; MAX_LANES];
    let mut bodies: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    let (mut count, mut rest) = (0_usize, blocks);
    for (body, prefix) in bodies.iter_mut().zip(&mut prefixes) {
        let Some((block, later)) = rest.split_at_checked(block_size) else { break };
        *body = block;
        *prefix = leaf_prefix(mode, first.wrapping_add(count as u64));
        count = count.wrapping_add(1);
        rest = later;
    }
    let mut heads: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    for (head, prefix) in heads.iter_mut().zip(&prefixes) {
        *head = prefix.as_ref().map_or(&[], |prefix| prefix);
    }
    let (heads, bodies) =
        (heads.get(..count).unwrap_or_default(), bodies.get(..count).unwrap_or_default());
    match hash {
        HashId::Sha256 => many::<Sha256>(kernels, heads, bodies, on_leaf),
        HashId::Sha384 => many::<Sha384>(kernels, heads, bodies, on_leaf),
        HashId::Sha512 => many::<Sha512>(kernels, heads, bodies, on_leaf),
        HashId::Sha3_256 => many::<Sha3_256>(kernels, heads, bodies, on_leaf),
        HashId::Sha3_384 => many::<Sha3_384>(kernels, heads, bodies, on_leaf),
        HashId::Sha3_512 => many::<Sha3_512>(kernels, heads, bodies, on_leaf),
        HashId::Kt128 => many::<Kt128>(kernels, heads, bodies, on_leaf),
        HashId::Shake128 => many::<Shake128>(kernels, heads, bodies, on_leaf),
        HashId::Shake256 => many::<Shake256>(kernels, heads, bodies, on_leaf),
    }
}

fn many<H: HashMany>(
    kernels: &Kernels,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on_leaf: &mut impl FnMut(&Digest),
) {
    H::digest_many(kernels, heads, bodies, &mut |_, digest| on_leaf(&padded(digest.as_ref())));
}

/// The hash of the root (§6.2, §6.3), which absorbs the leaves in order.
#[derive(Clone)]
pub struct TreeRootHasher<H> {
    hasher: H,
    leaf_len: usize,
    /// Number of leaves, in the modes that absorb this number after the leaves.
    count_after: Option<u64>,
}

impl<H: Hasher> TreeRootHasher<H> {
    /// Absorbs everything that comes before the leaves, in the portable form. Mode flat has no leaves and does not use
    /// this type.
    pub fn new(record: &PayloadRecord) -> Self {
        Self::with(record, &Kernels::PORTABLE)
    }

    /// Same as [`TreeRootHasher::new`], computed by the given kernels.
    pub fn with(record: &PayloadRecord, kernels: &Kernels) -> Self {
        let leaf_len = record.hash.output_len();
        let block_size = u64::from(record.mode.block_size().unwrap_or(0));
        if matches!(record.mode, TreeMode::ParallelHash { .. }) {
            let mut hasher = H::parallelhash_with(record.hash, kernels);
            hasher.update(left_encode(block_size).as_ref());
            return Self { hasher, leaf_len, count_after: Some(record.block_count()) };
        }
        let mut header = H::with(record.hash, kernels);
        header.update(b"HLKrec_0");
        header.update(&record.prefix());
        let header = header.finalize();

        let mut root = Self { hasher: H::with(record.hash, kernels), leaf_len, count_after: None };
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

    /// Returns the digest of the payload.
    pub fn finalize(mut self) -> Digest {
        if let Some(count) = self.count_after {
            self.hasher.update(right_encode(count).as_ref());
            let output_bits = self.leaf_len.wrapping_mul(8) as u64;
            self.hasher.update(right_encode(output_bits).as_ref());
        }
        self.hasher.finalize()
    }
}

/// Computes the digest of a payload in memory in the portable form, which is the reference for all other
/// implementations.
pub fn digest(record: &PayloadRecord, payload: &[u8]) -> Digest {
    digest_with(&Kernels::PORTABLE, record, payload)
}

/// Computes the digest of a payload in memory on one hart with the given kernels.
pub fn digest_with(kernels: &Kernels, record: &PayloadRecord, payload: &[u8]) -> Digest {
    if record.mode.block_size().is_none() {
        let mut hasher = SoftwareHasher::with(record.hash, kernels);
        hasher.update(payload);
        return hasher.finalize();
    }
    let mut root = TreeRootHasher::<SoftwareHasher>::with(record, kernels);
    leaves(kernels, (record.mode, record.hash), 0, payload, |leaf| root.push(leaf));
    root.finalize()
}

/// Computes the digest of a payload that is not in the memory of this program. `read` copies the bytes at an offset
/// into a buffer. Each byte is read once, in order.
///
/// # Errors
/// The errors of `read`.
pub fn digest_in_pieces<E, const N: usize>(
    kernels: &Kernels,
    record: &PayloadRecord,
    piece: &mut [u8; N],
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<Digest, E> {
    const { assert!(N > 0, "a piece has at least a byte") };
    let mut absorb = |hasher: &mut SoftwareHasher, mut at: u64, end: u64| {
        while at < end {
            let len = end.wrapping_sub(at).min(N as u64);
            let now = piece.get_mut(..len as usize).unwrap_or_default();
            read(at, now)?;
            hasher.update(now);
            at = at.wrapping_add(len);
        }
        Ok(())
    };
    let Some(block_size) = record.mode.block_size() else {
        let mut hasher = SoftwareHasher::with(record.hash, kernels);
        absorb(&mut hasher, 0, record.size)?;
        return Ok(hasher.finalize());
    };
    let mut root = TreeRootHasher::<SoftwareHasher>::with(record, kernels);
    let (mut at, mut index) = (0_u64, 0_u64);
    while at < record.size {
        let end = at.saturating_add(u64::from(block_size.max(1))).min(record.size);
        let mut hasher = SoftwareHasher::with(record.hash, kernels);
        if let Some(prefix) = leaf_prefix(record.mode, index) {
            hasher.update(&prefix);
        }
        absorb(&mut hasher, at, end)?;
        root.push(&hasher.finalize());
        (at, index) = (end, index.wrapping_add(1));
    }
    Ok(root.finalize())
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use hartlock_image::PayloadType;

    use super::*;

    #[test]
    fn the_log_has_the_first_48_bytes_of_a_digest() {
        let digest: Digest = core::array::from_fn(|at| at as u8 + 1);
        assert_eq!(first_48(&digest), *digest.first_chunk().unwrap());
    }

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
        let digest = digest(&record, &payload);
        digest[..hash.output_len()].iter().map(|byte| std::format!("{byte:02x}")).collect()
    }

    /// Compares the digests with all examples of image format §6.3 and §6.4.
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
    fn pieces_give_the_digest_of_the_whole() {
        let block_size = 1024;
        for (hash, mode) in [
            (HashId::Sha256, TreeMode::Flat),
            (HashId::Kt128, TreeMode::Flat),
            (HashId::Sha3_384, TreeMode::Blocks { block_size }),
            (HashId::Shake128, TreeMode::ParallelHash { block_size }),
        ] {
            for size in [0, 1, 63, 64, 1023, 1024, 1025, 3000, 9000] {
                let payload: Vec<u8> = (0..251).cycle().take(size).collect();
                let record = PayloadRecord {
                    payload_type: PayloadType::Initramfs,
                    hash,
                    mode,
                    offset: 4096,
                    size: size as u64,
                    load_address: 0x8200_0000,
                    memory_size: 1 << 20,
                    entry: 0,
                    digest: [0; 64],
                };
                let mut expected_at = 0;
                let of_memory = |at: u64, into: &mut [u8]| {
                    // Each byte is read once, in order.
                    assert_eq!(at, expected_at);
                    expected_at += into.len() as u64;
                    let at = usize::try_from(at).unwrap();
                    into.copy_from_slice(&payload[at..][..into.len()]);
                    Ok::<(), ()>(())
                };
                let kernels = Kernels::PORTABLE;
                let pieces = digest_in_pieces(&kernels, &record, &mut [0; 100], of_memory);
                assert_eq!(pieces, Ok(digest(&record, &payload)), "{hash:?} {mode:?} {size}");
                assert_eq!(expected_at, record.size);
            }
            let record = PayloadRecord {
                payload_type: PayloadType::Initramfs,
                hash,
                mode,
                offset: 4096,
                size: 3000,
                load_address: 0x8200_0000,
                memory_size: 1 << 20,
                entry: 0,
                digest: [0; 64],
            };
            let fails = |at: u64, _: &mut [u8]| if at < 2000 { Ok(()) } else { Err(at) };
            let failed = digest_in_pieces(&Kernels::PORTABLE, &record, &mut [0; 100], fails);
            assert!(failed.is_err(), "{hash:?} {mode:?}");
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
