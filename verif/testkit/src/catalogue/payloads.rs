//! Group 05, first half: the type of a payload, and the computation of its digest.

use hartlock_image::HashId::{Kt128, Sha384, Shake128, Shake256};
use hartlock_image::PayloadType;
use hartlock_image::Reason::{
    BlockSizeNotAllowed, DigestPadding, HashModeNotAllowed, HashUnknown, ModeUnknown,
    PayloadMissing, PayloadOrder, PayloadTypeUnknown,
};

use super::row::{Row, bad};
use crate::bundle::Edit::{Draft as Fields, Signed};
use crate::bundle::{Draft, Payload};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

/// Offsets in a payload record (image format §4.3).
const HASH: usize = 4;
const MODE: usize = 8;
const BLOCK_SIZE: usize = 12;
const DIGEST: usize = 64;

/// Returns a bundle whose kernel has blocks of 1 KiB.
fn blocks() -> Draft {
    let mut draft = Draft::system();
    draft.payloads[0].use_blocks(1024);
    draft
}

pub const ROWS: &[Row] = &[
    bad(
        "payload_type_unknown",
        PayloadTypeUnknown,
        SYSTEM,
        "The type of the last payload is the first number past the table.",
        &[Signed(|signed| signed.put32(signed.payload(1), 19))],
    ),
    bad(
        "payload_of_boot_in_system",
        PayloadTypeUnknown,
        SYSTEM,
        "A system bundle carries a loader before its kernel.",
        &[Fields(|draft| {
            draft.payloads.insert(0, Payload::new(PayloadType::Loader, 500, 0x8140_0000));
        })],
    ),
    bad(
        "payload_doubled",
        PayloadOrder,
        SYSTEM,
        "There are two kernels, at different addresses.",
        &[Fields(|draft| {
            draft.payloads.insert(1, Payload::new(PayloadType::Kernel, 1500, 0x8140_0000));
        })],
    ),
    bad(
        "eight_payloads",
        PayloadOrder,
        SYSTEM,
        "There are as many payloads as the count allows, but only three types of them.",
        &[Signed(|signed| {
            let at = signed.payload(1);
            let record = signed.bytes[at..at + 128].to_vec();
            for _ in 0..6 {
                signed.insert(at, &record);
            }
            signed.put32(56, 8);
        })],
    ),
    bad(
        "payloads_reordered",
        PayloadOrder,
        SYSTEM,
        "The device tree precedes the kernel.",
        &[Fields(|draft| draft.payloads.swap(0, 1))],
    ),
    bad(
        "kernel_missing",
        PayloadMissing,
        SYSTEM,
        "A system bundle without a kernel.",
        &[Fields(|draft| {
            draft.payloads.remove(0);
        })],
    ),
    bad(
        "system_fdt_missing",
        PayloadMissing,
        SYSTEM,
        "A system bundle without a device tree or a command line: the smallest signed region.",
        &[Fields(|draft| {
            draft.payloads.truncate(1);
            draft.bootargs.clear();
        })],
    ),
    bad(
        "opensbi_missing",
        PayloadMissing,
        BOOT,
        "A boot bundle without OpenSBI.",
        &[Fields(|draft| {
            draft.payloads.remove(0);
        })],
    ),
    bad(
        "loader_missing",
        PayloadMissing,
        BOOT,
        "A boot bundle without a loader.",
        &[Fields(|draft| {
            draft.payloads.remove(1);
        })],
    ),
    bad(
        "boot_fdt_missing",
        PayloadMissing,
        BOOT,
        "A boot bundle without a device tree.",
        &[Fields(|draft| {
            draft.payloads.remove(2);
        })],
    ),
    bad(
        "hash_unknown",
        HashUnknown,
        SYSTEM,
        "The hash of the last payload is the first number past the table.",
        &[Signed(|signed| signed.put32(signed.payload(1) + HASH, 10))],
    ),
    bad(
        "mode_unknown",
        ModeUnknown,
        SYSTEM,
        "The mode of the last payload is the first number past the table.",
        &[Signed(|signed| signed.put32(signed.payload(1) + MODE, 4))],
    ),
    bad(
        "block_size_in_flat_mode",
        BlockSizeNotAllowed,
        SYSTEM,
        "A flat payload has a block size.",
        &[Signed(|signed| signed.put32(signed.payload(0) + BLOCK_SIZE, 1024))],
    ),
    bad(
        "block_size_zero",
        BlockSizeNotAllowed,
        blocks,
        "Blocks of 0 bytes: there would be no end of them.",
        &[Signed(|signed| signed.put32(signed.payload(0) + BLOCK_SIZE, 0))],
    ),
    bad(
        "block_size_not_multiple",
        BlockSizeNotAllowed,
        SYSTEM,
        "Blocks of 1025 bytes.",
        &[Fields(|draft| draft.payloads[0].use_blocks(1025))],
    ),
    bad(
        "block_size_too_large",
        BlockSizeNotAllowed,
        SYSTEM,
        "Blocks of 16 MiB and 1 KiB.",
        &[Fields(|draft| draft.payloads[0].use_blocks((16 << 20) + 1024))],
    ),
    bad(
        "block_size_zero_in_parallelhash",
        BlockSizeNotAllowed,
        SYSTEM,
        "ParallelHash over blocks of 0 bytes.",
        &[
            Fields(|draft| draft.payloads[0].use_parallelhash(Shake128, 1024)),
            Signed(|signed| signed.put32(signed.payload(0) + BLOCK_SIZE, 0)),
        ],
    ),
    bad(
        "block_size_not_multiple_in_parallelhash",
        BlockSizeNotAllowed,
        SYSTEM,
        "ParallelHash over blocks of 1000 bytes, which SP 800-185 would allow.",
        &[Fields(|draft| draft.payloads[0].use_parallelhash(Shake256, 1000))],
    ),
    bad(
        "hash_mode_flat_shake",
        HashModeNotAllowed,
        SYSTEM,
        "A flat SHAKE256 digest, which is right.",
        &[Fields(|draft| draft.payloads[0].hash = Shake256)],
    ),
    bad(
        "hash_mode_blocks_shake",
        HashModeNotAllowed,
        blocks,
        "Blocks under SHAKE128.",
        &[Fields(|draft| draft.payloads[0].hash = Shake128)],
    ),
    bad(
        "hash_mode_parallelhash_sha384",
        HashModeNotAllowed,
        SYSTEM,
        "ParallelHash with SHA-384, as if it were defined for any hash.",
        &[Fields(|draft| draft.payloads[0].use_parallelhash(Sha384, 1024))],
    ),
    bad(
        "hash_mode_parallelhash_kt128",
        HashModeNotAllowed,
        SYSTEM,
        "ParallelHash with KT128, which has a tree of its own.",
        &[Fields(|draft| draft.payloads[0].use_parallelhash(Kt128, 1024))],
    ),
    bad(
        "digest_padding",
        DigestPadding,
        SYSTEM,
        "The first byte after a SHA-384 digest is not zero.",
        &[Signed(|signed| signed.put(signed.payload(0) + DIGEST + 48, &[1]))],
    ),
];
