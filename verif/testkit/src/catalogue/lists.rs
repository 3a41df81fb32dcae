//! Group 04, second half: signers, trusted keys, command line.

use hartlock_image::Reason::{
    BootargsInvalid, BootargsPadding, BootargsTooLong, DuplicateSigner, DuplicateTrustedKey,
    PolicyUnknown, PolicyUnsatisfiable, SignatureBlockExtra, SignatureBlockMissing, SignerMismatch,
    TrustedKeyCountOutOfRange,
};
use hartlock_image::{KeyRecord, Policy};

use super::row::{Row, bad};
use crate::bundle::Edit::{Area, Draft as Fields, Options, Signed};
use crate::bundle::{Block, Draft, trust};
use crate::keys::{A, B, C, D, E};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

fn two_signers() -> Draft {
    Draft { blocks: [A, B].map(Block::By).into(), ..Draft::system() }
}

/// The offset of the second signature block: 16 + 32 + 64.
const SECOND: usize = 112;

pub const ROWS: &[Row] = &[
    bad(
        "signer_doubled",
        DuplicateSigner,
        SYSTEM,
        "The same signer is listed twice and signs twice.",
        &[Fields(|draft| draft.blocks = vec![Block::By(A), Block::By(A)])],
    ),
    bad(
        "signer_without_block",
        SignatureBlockMissing,
        SYSTEM,
        "The manifest lists two signers, and only the first one has a block.",
        &[Fields(|draft| draft.listed = Some(vec![A.record(), B.record()]))],
    ),
    bad(
        "block_without_signer",
        SignatureBlockExtra,
        two_signers,
        "There are two blocks, and the manifest lists only the first signer.",
        &[Fields(|draft| draft.listed = Some(vec![A.record()]))],
    ),
    bad(
        "signature_blocks_swapped",
        SignerMismatch,
        two_signers,
        "Two blocks changed places after signing; both signatures are right.",
        &[Area(|area| area.rotate_left(SECOND))],
    ),
    bad(
        "signature_block_doubled",
        SignerMismatch,
        two_signers,
        "The first block replaces the second one.",
        &[Area(|area| area.copy_within(..SECOND, SECOND))],
    ),
    bad(
        "signature_block_of_other_key",
        SignerMismatch,
        SYSTEM,
        "Another key signed the manifest than the signer it lists.",
        &[Fields(|draft| {
            draft.blocks = vec![Block::By(B)];
            draft.listed = Some(vec![A.record()]);
        })],
    ),
    bad(
        "signature_block_hidden",
        SignerMismatch,
        two_signers,
        "The second block claims an algorithm that is not carried, so that it is not checked.",
        &[Area(|area| area[SECOND] = 9), Options(|options| options.trust(Policy::Any, &[A]))],
    ),
    bad(
        "signer_algorithm_differs",
        SignerMismatch,
        SYSTEM,
        "The signer's record has the right id and another algorithm.",
        &[Signed(|signed| signed.put32(signed.signer(0), 9))],
    ),
    bad(
        "trust_policy_unknown",
        PolicyUnknown,
        BOOT,
        "The policy for the system bundle is the first number without a meaning.",
        &[Signed(|signed| signed.put32(signed.closing(), 4))],
    ),
    bad(
        "tag_of_other_type_signed",
        PolicyUnknown,
        SYSTEM,
        "A system bundle is signed under the tag of a boot bundle: its command line is no policy.",
        &[Signed(|signed| signed.put(0, b"HARTLOCK-BOOT-v1"))],
    ),
    bad(
        "trust_without_keys",
        TrustedKeyCountOutOfRange,
        BOOT,
        "No key is trusted with the system bundle.",
        &[Fields(|draft| draft.trust = trust(Policy::Any, []))],
    ),
    bad(
        "trust_with_nine_keys",
        TrustedKeyCountOutOfRange,
        BOOT,
        "Nine keys are trusted with the system bundle.",
        &[Signed(|signed| {
            for byte in 1..=7 {
                let record = [&1_u32.to_le_bytes()[..], &[0; 4], &[byte; 48], &[0; 8]].concat();
                signed.insert(signed.bytes.len(), &record);
            }
            signed.put32(signed.closing() + 4, 9);
        })],
    ),
    bad(
        "trusted_key_id_doubled_under_other_algorithm",
        DuplicateTrustedKey,
        BOOT,
        "Two trusted keys have the same id, and their algorithms differ.",
        &[Fields(|draft| {
            let other = KeyRecord { algorithm: 9, ..B.record() };
            draft.trust = trust(Policy::Any, [B.record(), other]);
        })],
    ),
    bad(
        "trust_all_of_five",
        PolicyUnsatisfiable,
        BOOT,
        "Five keys must all sign, and a bundle has at most four signers.",
        &[Fields(|draft| {
            draft.trust = trust(Policy::All, [A, B, C, D, E].map(|key| key.record()));
        })],
    ),
    bad(
        "trust_hybrid_with_unknown_family",
        PolicyUnsatisfiable,
        BOOT,
        "A hybrid is required of a classical key and one of no known family.",
        &[Fields(|draft| {
            let unknown = KeyRecord { algorithm: 9, parameters: 0, key_id: [9; 48] };
            draft.trust = trust(Policy::Hybrid, [B.record(), unknown]);
        })],
    ),
    bad(
        "bootargs_of_1024_bytes",
        BootargsTooLong,
        SYSTEM,
        "The command line is one byte too long.",
        &[Fields(|draft| draft.bootargs = "x".repeat(1024))],
    ),
    bad(
        "bootargs_length_huge",
        BootargsTooLong,
        SYSTEM,
        "The command line has 0xFFFFFFFF bytes: rounded up in 32 bits that would be 0.",
        &[Signed(|signed| signed.put32(signed.closing(), u32::MAX))],
    ),
    bad(
        "bootargs_with_zero",
        BootargsInvalid,
        SYSTEM,
        "The command line has a zero in it, where a kernel would stop reading.",
        &[Signed(|signed| signed.put(signed.closing() + 8 + 4, &[0]))],
    ),
    bad(
        "bootargs_with_delete",
        BootargsInvalid,
        SYSTEM,
        "The first character of the command line is the one above the highest.",
        &[Signed(|signed| signed.put(signed.closing() + 8, &[0x7f]))],
    ),
    bad(
        "bootargs_not_ascii",
        BootargsInvalid,
        SYSTEM,
        "The command line is UTF-8 and not ASCII.",
        &[Fields(|draft| draft.bootargs = "init=/é".into())],
    ),
    bad(
        "bootargs_padding",
        BootargsPadding,
        SYSTEM,
        "The first byte after the command line is not zero.",
        &[Signed(|signed| signed.put(signed.closing() + 8 + 13, b"x"))],
    ),
];
