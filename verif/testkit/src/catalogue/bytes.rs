//! Group 08: the bytes after the manifest.

use hartlock_image::Reason::{PaddingNotZero, PayloadDigestMismatch, TrailingBytes};
use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_verify::tree::{self, Digest, Hasher, SoftwareHasher};

use super::row::{Row, bad};
use crate::bundle::Draft;
use crate::bundle::Edit::{Draft as Fields, File};

const SYSTEM: fn() -> Draft = Draft::system;

const BLOCK: usize = 1024;

/// The offset of the first payload in the file, and its size in bytes.
const FIRST: usize = 4096;
const FIRST_SIZE: usize = 1500;

/// Returns a bundle whose kernel has three blocks, of which the last is shorter.
fn three_blocks() -> Draft {
    let mut draft = Draft::system();
    draft.payloads[0].resize(2500);
    draft.payloads[0].use_blocks(BLOCK as u32);
    draft
}

/// Hashes the concatenation of several byte strings.
fn hash(id: HashId, parts: &[&[u8]]) -> Digest {
    let mut hasher = SoftwareHasher::new(id);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// Computes the root (image format §6.2) over any leaves, whose indexes and boundaries may be
/// wrong.
fn root(record: &PayloadRecord, data: &[u8], leaves: &[(u64, &[u8])]) -> Digest {
    let len = record.hash.output_len();
    let sizes = [data.len().div_ceil(BLOCK) as u64, data.len() as u64, BLOCK as u64];
    let mut bytes = sizes.map(u64::to_le_bytes).concat();
    bytes.extend(&hash(record.hash, &[b"HLKrec_0", &record.prefix()])[..len]);
    for (index, block) in leaves {
        bytes.extend(&hash(record.hash, &[b"HLKleaf0", &index.to_le_bytes(), block])[..len]);
    }
    hash(record.hash, &[b"HLKroot0", &bytes])
}

/// Returns a bundle whose kernel has three blocks with ParallelHash256.
fn parallelhash() -> Draft {
    let mut draft = three_blocks();
    draft.payloads[0].use_parallelhash(HashId::Shake256, BLOCK as u32);
    draft
}

/// Computes the digest in another mode than that of the record.
fn in_mode(record: &PayloadRecord, mode: TreeMode, data: &[u8]) -> Digest {
    tree::digest(&PayloadRecord { mode, ..*record }, data)
}

fn blocks_of_shake(record: &PayloadRecord, data: &[u8]) -> Digest {
    in_mode(record, TreeMode::Blocks { block_size: BLOCK as u32 }, data)
}

fn other_block_size(record: &PayloadRecord, data: &[u8]) -> Digest {
    in_mode(record, TreeMode::ParallelHash { block_size: 2 * BLOCK as u32 }, data)
}

/// Computes ParallelHashXOF256 (SP 800-185 §6.3.1) of three blocks: the output length is encoded as
/// 0.
fn extendable_output(record: &PayloadRecord, data: &[u8]) -> Digest {
    let mut root = SoftwareHasher::new_parallelhash(record.hash);
    root.update(&[2, 4, 0]);
    for block in data.chunks(BLOCK) {
        root.update(&hash(record.hash, &[block]));
    }
    root.update(&[3, 1]);
    root.update(&[0, 1]);
    root.finalize()
}

/// Returns a bundle whose kernel is hashed in mode *flat* with KT128 and has one byte in its second
/// chunk.
fn two_chunks() -> Draft {
    let mut draft = Draft::system();
    draft.payloads[0].resize(8193);
    draft.payloads[0].hash = HashId::Kt128;
    draft
}

fn flat_over_blocks(record: &PayloadRecord, data: &[u8]) -> Digest {
    tree::digest(&PayloadRecord { mode: TreeMode::Flat, ..*record }, data)
}

fn last_block_short(record: &PayloadRecord, data: &[u8]) -> Digest {
    let mut leaves: Vec<(u64, &[u8])> = (0..).zip(data.chunks(BLOCK)).collect();
    let (_, last) = leaves.last_mut().expect("three blocks");
    *last = &last[..last.len() - 1];
    root(record, data, &leaves)
}

fn of_other_address(record: &PayloadRecord, data: &[u8]) -> Digest {
    let other = PayloadRecord { load_address: record.load_address + 0x20_0000, ..*record };
    tree::digest(&other, data)
}

/// The edits of a vector whose first payload has a digest that is computed by this wrong function.
macro_rules! digest {
    ($make:ident) => {
        &[Fields(|draft| draft.payloads[0].make_digest = $make)]
    };
}

pub const ROWS: &[Row] = &[
    bad(
        "payload_first_bit_flipped",
        PayloadDigestMismatch,
        SYSTEM,
        "The first bit of the first payload is flipped.",
        &[File(|file| file[FIRST] ^= 1)],
    ),
    bad(
        "payload_last_bit_flipped",
        PayloadDigestMismatch,
        SYSTEM,
        "The last bit of the last payload is flipped.",
        &[File(|file| file[8192 + 699] ^= 0x80)],
    ),
    bad(
        "blocks_swapped",
        PayloadDigestMismatch,
        three_blocks,
        "The first two blocks changed places; each is whole.",
        &[File(|file| file[FIRST..FIRST + 2 * BLOCK].rotate_left(BLOCK))],
    ),
    bad(
        "digest_flat_where_blocks_are_declared",
        PayloadDigestMismatch,
        three_blocks,
        "The record says blocks, and the digest is the flat one.",
        digest!(flat_over_blocks),
    ),
    bad(
        "tree_last_block_shortened",
        PayloadDigestMismatch,
        three_blocks,
        "The leaf of the last block lacks the last byte.",
        digest!(last_block_short),
    ),
    bad(
        "tree_of_other_record",
        PayloadDigestMismatch,
        three_blocks,
        "The root was made for another load address.",
        digest!(of_other_address),
    ),
    bad(
        "parallelhash_blocks_swapped",
        PayloadDigestMismatch,
        parallelhash,
        "The first two blocks changed places: leaves have no index, and their order counts.",
        &[File(|file| file[FIRST..FIRST + 2 * BLOCK].rotate_left(BLOCK))],
    ),
    bad(
        "parallelhash_digest_of_blocks",
        PayloadDigestMismatch,
        parallelhash,
        "The digest is that of mode blocks with the same hash.",
        digest!(blocks_of_shake),
    ),
    bad(
        "parallelhash_other_block_size",
        PayloadDigestMismatch,
        parallelhash,
        "The digest was made with blocks of twice the size.",
        digest!(other_block_size),
    ),
    bad(
        "parallelhash_extendable_output",
        PayloadDigestMismatch,
        parallelhash,
        "The digest is that of ParallelHashXOF256, which does not hash the length of its output.",
        digest!(extendable_output),
    ),
    bad(
        "kt128_last_bit_flipped",
        PayloadDigestMismatch,
        two_chunks,
        "The last bit of the only byte in the second chunk of KT128 is flipped.",
        &[File(|file| file[FIRST + 8192] ^= 0x80)],
    ),
    bad(
        "padding_behind_signature_area",
        PaddingNotZero,
        SYSTEM,
        "The first byte after the signature area is not zero.",
        &[File(|file| file[712] = 1)],
    ),
    bad(
        "padding_before_first_payload",
        PaddingNotZero,
        SYSTEM,
        "The last byte before the first payload is not zero.",
        &[File(|file| file[FIRST - 1] = 0x80)],
    ),
    bad(
        "padding_behind_payload",
        PaddingNotZero,
        SYSTEM,
        "The first byte after the first payload is not zero.",
        &[File(|file| file[FIRST + FIRST_SIZE] = 1)],
    ),
    bad(
        "padding_at_end_of_bundle",
        PaddingNotZero,
        SYSTEM,
        "The last byte of the bundle is not zero.",
        &[File(|file| *file.last_mut().expect("a bundle") = 0x80)],
    ),
    bad(
        "trailing_byte",
        TrailingBytes,
        SYSTEM,
        "A zero follows the bundle in its file.",
        &[File(|file| file.push(0))],
    ),
];
