//! Group 04, first half: the header and the reserved bytes of the manifest.

use hartlock_image::Reason::{
    BoardNameInvalid, LabelInvalid, LifecycleMaskInvalid, PayloadCountOutOfRange, ReservedNotZero,
    SignedSizeMismatch, SignerCountOutOfRange, SocNameInvalid,
};

use super::row::{Row, bad};
use crate::bundle::Edit::{Draft as Fields, Signed};
use crate::bundle::{Draft, Signed as Region};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

/// Offsets in the header (image format §4.1).
const SIGNER_COUNT: usize = 52;
const PAYLOAD_COUNT: usize = 56;
const BOARD: usize = 64;
const SOC: usize = 96;
const LABEL: usize = 128;
const RESERVED: usize = 192;

/// Inserts the key records of four more signers, and sets the number of signers to five.
fn five_signers(signed: &mut Region) {
    for byte in 1..=4 {
        let record = [&1_u32.to_le_bytes()[..], &[0; 4], &[byte; 48], &[0; 8]].concat();
        signed.insert(signed.signer(1), &record);
    }
    signed.put32(SIGNER_COUNT, 5);
}

pub const ROWS: &[Row] = &[
    bad(
        "lifecycle_mask_empty",
        LifecycleMaskInvalid,
        SYSTEM,
        "The bundle may boot in no lifecycle state.",
        &[Fields(|draft| draft.lifecycle_mask = 0)],
    ),
    bad(
        "lifecycle_mask_unknown_bit",
        LifecycleMaskInvalid,
        SYSTEM,
        "The first bit without a state is set.",
        &[Fields(|draft| draft.lifecycle_mask |= 1 << 3)],
    ),
    bad(
        "no_signers",
        SignerCountOutOfRange,
        SYSTEM,
        "The manifest lists no signer.",
        &[Fields(|draft| draft.listed = Some(vec![]))],
    ),
    bad(
        "five_signers",
        SignerCountOutOfRange,
        SYSTEM,
        "The manifest lists five signers.",
        &[Signed(five_signers)],
    ),
    bad(
        "signer_count_huge",
        SignerCountOutOfRange,
        SYSTEM,
        "The signer count is 0xFFFFFFFF.",
        &[Signed(|signed| signed.put32(SIGNER_COUNT, u32::MAX))],
    ),
    bad(
        "no_payloads",
        PayloadCountOutOfRange,
        BOOT,
        "The manifest lists no payload.",
        &[Fields(|draft| draft.payloads.clear())],
    ),
    bad(
        "nine_payloads",
        PayloadCountOutOfRange,
        SYSTEM,
        "The manifest lists nine payloads: more than there are types.",
        &[Signed(|signed| {
            let at = signed.payload(1);
            let record = signed.bytes[at..at + 128].to_vec();
            for _ in 0..7 {
                signed.insert(at, &record);
            }
            signed.put32(PAYLOAD_COUNT, 9);
        })],
    ),
    bad(
        "board_empty",
        BoardNameInvalid,
        SYSTEM,
        "The board has no name.",
        &[Signed(|signed| signed.put(BOARD, &[0; 32]))],
    ),
    bad(
        "board_with_blank",
        BoardNameInvalid,
        SYSTEM,
        "The board's name has a blank, the character below the lowest.",
        &[Signed(|signed| signed.put(BOARD, b"qemu virt"))],
    ),
    bad(
        "board_with_text_behind_zero",
        BoardNameInvalid,
        SYSTEM,
        "The board's name continues after a zero.",
        &[Signed(|signed| signed.put(BOARD + 31, b"x"))],
    ),
    bad(
        "board_with_delete",
        BoardNameInvalid,
        SYSTEM,
        "The board's name has the character above the highest.",
        &[Signed(|signed| signed.put(BOARD, b"\x7f"))],
    ),
    bad(
        "soc_not_ascii",
        SocNameInvalid,
        SYSTEM,
        "The SoC's name has a byte above 0x7F.",
        &[Signed(|signed| signed.put(SOC + 3, b"\xe9"))],
    ),
    bad(
        "label_with_delete",
        LabelInvalid,
        SYSTEM,
        "The label has the character above the highest.",
        &[Signed(|signed| signed.put(LABEL, b"\x7f"))],
    ),
    bad(
        "label_with_text_behind_zero",
        LabelInvalid,
        SYSTEM,
        "The label continues after a zero.",
        &[Signed(|signed| signed.put(LABEL + 63, b"x"))],
    ),
    bad(
        "reserved_behind_label",
        ReservedNotZero,
        SYSTEM,
        "The first reserved byte after the label is not zero.",
        &[Signed(|signed| signed.put(RESERVED, b"\x01"))],
    ),
    bad(
        "reserved_in_header_last",
        ReservedNotZero,
        SYSTEM,
        "The last byte of the header is not zero.",
        &[Signed(|signed| signed.put(255, b"\x80"))],
    ),
    bad(
        "reserved_in_signer_first",
        ReservedNotZero,
        SYSTEM,
        "The first reserved byte of a signer's record is not zero.",
        &[Signed(|signed| signed.put(signed.signer(0) + 56, b"\x01"))],
    ),
    bad(
        "reserved_in_signer_last",
        ReservedNotZero,
        SYSTEM,
        "The last byte of a signer's record is not zero.",
        &[Signed(|signed| signed.put(signed.signer(0) + 63, b"\x80"))],
    ),
    bad(
        "reserved_in_payload_first",
        ReservedNotZero,
        SYSTEM,
        "The first reserved byte of a payload record is not zero.",
        &[Signed(|signed| signed.put(signed.payload(0) + 56, b"\x01"))],
    ),
    bad(
        "reserved_in_payload_last",
        ReservedNotZero,
        SYSTEM,
        "The last reserved byte of the last payload record is not zero.",
        &[Signed(|signed| signed.put(signed.payload(1) + 63, b"\x80"))],
    ),
    bad(
        "reserved_in_trusted_key",
        ReservedNotZero,
        BOOT,
        "The last byte of the last trusted key's record is not zero.",
        &[Signed(|signed| signed.put(signed.bytes.len() - 1, b"\x80"))],
    ),
    bad(
        "reserved_before_bootargs_last",
        ReservedNotZero,
        SYSTEM,
        "The last reserved byte before the command line is not zero.",
        &[Signed(|signed| signed.put(signed.closing() + 7, b"\x80"))],
    ),
    bad(
        "signed_region_too_long",
        SignedSizeMismatch,
        SYSTEM,
        "Eight zeros follow the command line, and the signed region holds them.",
        &[Signed(|signed| signed.insert(signed.bytes.len(), &[0; 8]))],
    ),
    bad(
        "signed_region_without_closing_section",
        SignedSizeMismatch,
        SYSTEM,
        "The signed region ends with the payload records.",
        &[Signed(|signed| signed.shorten(24))],
    ),
    bad(
        "signer_count_beyond_region",
        SignedSizeMismatch,
        SYSTEM,
        "Four signers are counted and one is there: the closing section would begin past the end.",
        &[Signed(|signed| {
            signed.shorten(24);
            signed.put32(SIGNER_COUNT, 4);
        })],
    ),
];
