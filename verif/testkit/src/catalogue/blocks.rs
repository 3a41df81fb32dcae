//! Group 02: the structure of the signature area.

use hartlock_image::Policy;
use hartlock_image::Reason::{
    SignatureAlgorithmZero, SignatureBlockPadding, SignatureBlockSizes, SignatureBlockTruncated,
    TooManySignatureBlocks,
};

use super::row::{Row, bad};
use crate::bundle::Edit::{Area, Draft as Fields, Options};
use crate::bundle::{Block, Draft};
use crate::keys::{A, B, C, D, E};

const SYSTEM: fn() -> Draft = Draft::system;

fn two_signers() -> Draft {
    Draft { blocks: [A, B].map(Block::By).into(), ..Draft::system() }
}

fn with_foreign() -> Draft {
    Draft { blocks: vec![Block::By(A), Block::foreign()], ..Draft::system() }
}

/// The offset of the second block: 16 + 32 + 64.
const SECOND: usize = 112;

fn put32(area: &mut [u8], at: usize, value: u32) {
    area[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

pub const ROWS: &[Row] = &[
    bad(
        "signature_truncated",
        SignatureBlockTruncated,
        SYSTEM,
        "The signature area ends 8 bytes before the signature does, and its size says so.",
        &[
            Fields(|draft| {
                // The block would have the right size and, with the edit below, the right
                // signature, but both lack their end.
                draft.blocks = vec![Block::Raw(vec![0; 104])];
                draft.listed = Some(vec![A.record()]);
            }),
            Area(|area| {
                let head = [1, 0, 32, 64].map(u32::to_le_bytes).concat();
                area[..16].copy_from_slice(&head);
                area[16..48].copy_from_slice(&A.public_key());
            }),
        ],
    ),
    bad(
        "signature_block_header_truncated",
        SignatureBlockTruncated,
        SYSTEM,
        "8 bytes follow the last block: not even the header of another one.",
        &[Fields(|draft| draft.blocks.push(Block::Raw(vec![0; 8])))],
    ),
    bad(
        "signature_area_of_8_bytes",
        SignatureBlockTruncated,
        SYSTEM,
        "The smallest signature area: half of a block's header.",
        &[Fields(|draft| {
            draft.blocks = vec![Block::Raw(vec![0; 8])];
            draft.listed = Some(vec![A.record()]);
        })],
    ),
    bad(
        "block_of_16_bytes",
        SignatureAlgorithmZero,
        SYSTEM,
        "A second block of zeros that has a header and nothing else: the area does not end too early for it.",
        &[Fields(|draft| draft.blocks.push(Block::Raw(vec![0; 16])))],
    ),
    bad(
        "public_key_size_huge",
        SignatureBlockTruncated,
        SYSTEM,
        "The public key has 0xFFFFFFFF bytes: rounded up in 32 bits that would be 0.",
        &[Area(|area| put32(area, 8, u32::MAX))],
    ),
    bad(
        "signature_size_beyond_area",
        SignatureBlockTruncated,
        SYSTEM,
        "The signature is one byte longer than the area.",
        &[Area(|area| put32(area, 12, 65))],
    ),
    bad(
        "public_key_too_short",
        SignatureBlockSizes,
        SYSTEM,
        "An Ed25519 key of 31 bytes, padded to 32.",
        &[Area(|area| put32(area, 8, 31))],
    ),
    bad(
        "signature_too_short",
        SignatureBlockSizes,
        SYSTEM,
        "An Ed25519 signature of 63 bytes, padded to 64.",
        &[Area(|area| put32(area, 12, 63))],
    ),
    bad(
        "foreign_key_padding",
        SignatureBlockPadding,
        with_foreign,
        "The padding after a public key is not zero.",
        &[
            Area(|area| area[SECOND + 16 + 9] = 1),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    bad(
        "foreign_signature_padding",
        SignatureBlockPadding,
        with_foreign,
        "The last byte of the padding after a signature is not zero.",
        &[
            Area(|area| *area.last_mut().expect("an area") = 0x80),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    bad(
        "five_signature_blocks",
        TooManySignatureBlocks,
        SYSTEM,
        "A fifth block of a fifth signer.",
        &[Fields(|draft| {
            draft.blocks = [A, B, C, D, E].map(Block::By).into();
            draft.listed = Some([A, B, C, D].map(|key| key.record()).into());
        })],
    ),
    bad(
        "eight_bytes_behind_four_blocks",
        TooManySignatureBlocks,
        SYSTEM,
        "Something follows four blocks; that it is too short for a fifth does not matter.",
        &[Fields(|draft| {
            draft.blocks = [A, B, C, D].map(Block::By).into();
            draft.blocks.push(Block::Raw(vec![0; 8]));
        })],
    ),
    bad(
        "signature_block_erased",
        SignatureAlgorithmZero,
        two_signers,
        "The second of two blocks was overwritten with zeros: its signature is stripped.",
        &[Area(|area| area[SECOND..].fill(0))],
    ),
];
