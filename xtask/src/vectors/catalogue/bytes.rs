//! Group 08: the bytes behind the manifest.

use hartlock_image::Reason::{PaddingNotZero, PayloadDigestMismatch, TrailingBytes};
use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_verify::tree::{self, Digest, Hasher, Kernel};

use super::{Row, bad};
use crate::vectors::bundle::Draft;
use crate::vectors::bundle::Edit::{Draft as Fields, File};

const SYSTEM: fn() -> Draft = Draft::system;

const BLOCK: usize = 1024;

/// Where the first payload stands in the file, and how long it is there.
const FIRST: usize = 4096;
const FIRST_SIZE: usize = 1500;

/// The kernel in three blocks, the last one shorter.
fn three_blocks() -> Draft {
    let mut draft = Draft::system();
    draft.payloads[0].resize(2500);
    draft.payloads[0].use_blocks(BLOCK as u32);
    draft
}

/// A hash over several byte strings.
fn hash(id: HashId, parts: &[&[u8]]) -> Digest {
    let mut hasher = Kernel::new(id);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

/// The root of §6.2 over blocks that need not be numbered or cut as they should.
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

fn flat_over_blocks(record: &PayloadRecord, data: &[u8]) -> Digest {
    tree::digest::<Kernel>(&PayloadRecord { mode: TreeMode::Flat, ..*record }, data)
}

fn last_block_short(record: &PayloadRecord, data: &[u8]) -> Digest {
    let mut leaves: Vec<(u64, &[u8])> = (0..).zip(data.chunks(BLOCK)).collect();
    let (_, last) = leaves.last_mut().expect("three blocks");
    *last = &last[..last.len() - 1];
    root(record, data, &leaves)
}

fn of_other_address(record: &PayloadRecord, data: &[u8]) -> Digest {
    let other = PayloadRecord { load_address: record.load_address + 0x20_0000, ..*record };
    tree::digest::<Kernel>(&other, data)
}

/// A vector whose first payload has a digest that is formed in this wrong way.
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
        "padding_behind_signature_area",
        PaddingNotZero,
        SYSTEM,
        "The first byte behind the signature area is not zero.",
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
        "The first byte behind the first payload is not zero.",
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
