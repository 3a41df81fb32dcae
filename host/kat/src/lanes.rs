//! Hashes several messages of equal length at once, as the blocks of a payload are hashed.

use hartlock_image::{HashId, TreeMode};
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use hartlock_kernels::{HashMany, MAX_LANES};
use hartlock_verify::tree::{self, Digest, padded};

use crate::Engine;

/// A function that hashes the messages `heads[i] ‖ bodies[i]`, which have equal length, and passes their
/// digests on in order. It returns false if it does not support the hash.
pub type Hook = fn(HashId, &[&[u8]], &[&[u8]], &mut dyn FnMut(&Digest)) -> bool;

/// The bytes that precede a block in its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// No prefix: ParallelHash (SP 800-185 §6.3).
    ParallelHash,
    /// A tag and the index (image format §6.2).
    Tree,
    /// The index only: the equations of the first paper.
    Paper,
}

/// Returns the number of messages to hash at once.
pub(crate) fn count(engine: &Engine, hash: HashId) -> usize {
    if engine.lanes.is_some() {
        return MAX_LANES;
    }
    tree::lanes(&engine.kernels, hash).clamp(1, MAX_LANES)
}

/// Hashes several messages and passes their digests on in order; returns false if the requested lanes are
/// not available.
pub(crate) fn digest_many(
    engine: &Engine,
    hash: HashId,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on_digest: &mut dyn FnMut(&Digest),
) -> bool {
    if let Some(hook) = engine.lanes {
        return hook(hash, heads, bodies, on_digest);
    }
    let digest_many = match hash {
        HashId::Sha256 => many::<Sha256>,
        HashId::Sha384 => many::<Sha384>,
        HashId::Sha512 => many::<Sha512>,
        HashId::Sha3_256 => many::<Sha3_256>,
        HashId::Sha3_384 => many::<Sha3_384>,
        HashId::Sha3_512 => many::<Sha3_512>,
        HashId::Kt128 => many::<Kt128>,
        HashId::Shake128 => many::<Shake128>,
        HashId::Shake256 => many::<Shake256>,
    };
    digest_many(engine, heads, bodies, on_digest);
    true
}

fn many<H: HashMany>(
    engine: &Engine,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on_digest: &mut dyn FnMut(&Digest),
) {
    H::digest_many(&engine.kernels, heads, bodies, &mut |_, digest| {
        on_digest(&padded(digest.as_ref()));
    });
}

/// Computes the leaves of all blocks and passes them on in order; returns false if the requested lanes are
/// not available.
pub(crate) fn leaves(
    engine: &Engine,
    (kind, hash): (Leaf, HashId),
    block_size: u64,
    message: &[u8],
    on_leaf: &mut dyn FnMut(&Digest),
) -> bool {
    // No message is longer than `u32::MAX`, so a larger block size has the same effect.
    let block_size = u32::try_from(block_size).unwrap_or(u32::MAX);
    let mode = match kind {
        Leaf::ParallelHash => TreeMode::ParallelHash { block_size },
        Leaf::Tree | Leaf::Paper => TreeMode::Blocks { block_size },
    };
    if kind != Leaf::Paper && engine.lanes.is_none() {
        // Boot stages and the command `hartlock` hash payloads with this function.
        tree::leaves(&engine.kernels, (mode, hash), 0, message, on_leaf);
        return true;
    }
    let lanes = count(engine, hash);
    let (mut rest, mut first) = (message, 0_u64);
    while !rest.is_empty() {
        let mut bodies: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        let mut len = 0_usize;
        for body in bodies.iter_mut().take(lanes) {
            let Some((block, after)) = rest.split_at_checked(block_size as usize) else { break };
            (*body, rest, len) = (block, after, len.wrapping_add(1));
        }
        if len == 0 {
            // The messages of a group must have equal length, so a shorter last block is hashed
            // separately.
            (bodies, rest, len) = ([rest; MAX_LANES], &[], 1);
        }
        let mut prefixes = [[0; 16]; MAX_LANES];
        for (index, prefix) in (first..).zip(&mut prefixes) {
            *prefix = tree::leaf_prefix(TreeMode::Blocks { block_size }, index).unwrap_or(*prefix);
        }
        let mut heads: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for (head, prefix) in heads.iter_mut().zip(&prefixes) {
            *head = match kind {
                Leaf::ParallelHash => &[],
                Leaf::Tree => prefix,
                // The index is the second half of the prefix.
                Leaf::Paper => prefix.last_chunk::<8>().map_or(&[], |index| index),
            };
        }
        let (heads, bodies) =
            (heads.get(..len).unwrap_or_default(), bodies.get(..len).unwrap_or_default());
        if !digest_many(engine, hash, heads, bodies, on_leaf) {
            return false;
        }
        first = first.wrapping_add(len as u64);
    }
    true
}
