//! Group 01: the container.

use hartlock_image::Reason::{
    SignaturesSizeOutOfRange, SignedSizeOutOfRange, Truncated, UnknownTag, WrongBundleType,
};

use super::row::{Row, bad};
use crate::bundle::Draft;
use crate::bundle::Edit::{File, Options, Signed};

const SYSTEM: fn() -> Draft = Draft::system;

/// The end of the signature area of the smallest system bundle: 256 + 64 + 2 · 128 + 24 + 112.
const AREA_END: usize = 712;

pub const ROWS: &[Row] = &[
    bad(
        "truncated_to_nothing",
        Truncated,
        SYSTEM,
        "The file has no bytes at all.",
        &[File(Vec::clear)],
    ),
    bad(
        "truncated_in_header",
        Truncated,
        SYSTEM,
        "The file ends one byte before the end of the header.",
        &[File(|file| file.truncate(255))],
    ),
    bad(
        "truncated_behind_header",
        Truncated,
        SYSTEM,
        "The file ends with the header.",
        &[File(|file| file.truncate(256))],
    ),
    bad(
        "truncated_in_signature_area",
        Truncated,
        SYSTEM,
        "The file ends one byte before the end of the signature area.",
        &[File(|file| file.truncate(AREA_END - 1))],
    ),
    bad(
        "truncated_behind_signature_area",
        Truncated,
        SYSTEM,
        "The file ends with the signature area.",
        &[File(|file| file.truncate(AREA_END))],
    ),
    bad(
        "truncated_by_one_byte",
        Truncated,
        SYSTEM,
        "The last byte, which is padding, is missing.",
        &[File(|file| {
            file.pop();
        })],
    ),
    bad(
        "truncated_by_one_page",
        Truncated,
        SYSTEM,
        "The last page is missing.",
        &[File(|file| file.truncate(file.len() - 4096))],
    ),
    bad(
        "signed_size_beyond_file",
        Truncated,
        SYSTEM,
        "The signed region has the maximum size and would end past the end of the file.",
        &[Signed(|signed| signed.put32(16, 16_384))],
    ),
    bad(
        "signatures_size_beyond_file",
        Truncated,
        SYSTEM,
        "The signature area has the maximum size and would end past the end of the file.",
        &[Signed(|signed| signed.put32(20, 262_144))],
    ),
    bad(
        "tag_of_delegation",
        UnknownTag,
        SYSTEM,
        "The tag is set aside for delegation certificates.",
        &[Signed(|signed| signed.put(0, b"HARTLOCK-DELG-v1"))],
    ),
    bad(
        "first_stage",
        UnknownTag,
        SYSTEM,
        "A first stage, which hardware verifies, is located where a bundle is expected.",
        &[File(|file| *file = crate::first_stage::sample())],
    ),
    bad(
        "system_where_boot_is_expected",
        WrongBundleType,
        SYSTEM,
        "A system bundle is located where the ROM expects a boot bundle.",
        &[Options(|options| options.bundle_type = Some("boot".into()))],
    ),
    bad(
        "signed_size_too_small",
        SignedSizeOutOfRange,
        SYSTEM,
        "The size of the signed region is 8 below the smallest.",
        &[Signed(|signed| signed.put32(16, 448))],
    ),
    bad(
        "signed_size_too_large",
        SignedSizeOutOfRange,
        SYSTEM,
        "The size of the signed region is 8 above the largest.",
        &[Signed(|signed| signed.put32(16, 16_392))],
    ),
    bad(
        "signed_size_not_multiple_of_8",
        SignedSizeOutOfRange,
        SYSTEM,
        "The size of the signed region is 4 too large.",
        &[Signed(|signed| signed.put32(16, signed.bytes.len() as u32 + 4))],
    ),
    bad(
        "signatures_size_too_large",
        SignaturesSizeOutOfRange,
        SYSTEM,
        "The size of the signature area is 8 above the largest.",
        &[Signed(|signed| signed.put32(20, 262_152))],
    ),
    bad(
        "signatures_size_not_multiple_of_8",
        SignaturesSizeOutOfRange,
        SYSTEM,
        "The size of the signature area is 4 too large.",
        &[Signed(|signed| signed.put32(20, 116))],
    ),
    bad(
        "signatures_size_huge",
        SignaturesSizeOutOfRange,
        SYSTEM,
        "The size of the signature area is 0xFFFFFFFF.",
        &[Signed(|signed| signed.put32(20, u32::MAX))],
    ),
];
