//! Extension records (image format §4.6), the devices in them (§7), and the algorithms that a loader supports
//! (§4.4).

use core::num::NonZeroU64;

use hartlock_image::Reason::{
    BoardNameInvalid, BootVersionTooOld, BootVersionZero, ExtensionLength, ExtensionOrder,
    ExtensionUnknown, ExtensionsSizeOutOfRange, IdentityRepeated, OutsideMemory,
    SignedSizeMismatch, SocNameInvalid, TrustedKeyNotCarried, WrongBoard, WrongSoc,
};
use hartlock_image::{BundleType, KeyRecord, Policy};

use super::row::{Row, bad, good};
use crate::bundle::Edit::{Draft as Fields, Options, Signed};
use crate::bundle::{Draft, Signed as Region, identity, trust};
use crate::keys::B;

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

/// Encodes a record: type, length and value.
pub(super) fn record(number: u32, value: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &(value.len() as u32).to_le_bytes(), value].concat()
}

fn names(board: &[u8], soc: &[u8]) -> Vec<u8> {
    let mut value = board.to_vec();
    value.resize(32, 0);
    value.extend(soc);
    value.resize(64, 0);
    value
}

/// Encodes a record with this number of further devices.
fn devices(count: u8) -> Vec<u8> {
    let value: Vec<u8> = (0..count).flat_map(|index| names(&[b'a' + index], b"virt")).collect();
    record(1, &value)
}

/// Returns a bundle for three devices: the one in the header and two boards with another SoC each.
fn for_three() -> Draft {
    let mut draft = Draft::system();
    for (board, soc) in [("board-b", "soc-b"), ("board-c", "soc-c")] {
        draft.others.push(identity(board, soc).field());
    }
    draft
}

/// Returns a bundle that needs a boot bundle of security version 5 or higher.
fn needs_boot() -> Draft {
    let mut draft = Draft::system();
    draft.boot_version = NonZeroU64::new(5);
    draft
}

fn size(signed: &mut Region, size: u32) {
    signed.put32(60, size);
}

pub const ROWS: &[Row] = &[
    good(
        "extension_device_of_header",
        for_three,
        "For three devices, verified on that of the header.",
        &[Options(|options| options.of_device(BundleType::System))],
    ),
    good(
        "extension_device_last",
        for_three,
        "For three devices, verified on the last one.",
        &[Options(|options| {
            options.board = Some("board-c".into());
            options.soc = Some("soc-c".into());
        })],
    ),
    good(
        "extension_devices_eight",
        SYSTEM,
        "For eight devices, as many as there may be.",
        &[
            Signed(|signed| signed.extend(&devices(7))),
            Options(|options| options.board = Some("g".into())),
        ],
    ),
    good(
        "extension_same_board_other_soc",
        SYSTEM,
        "The same board with two SoCs, verified for the second.",
        &[
            Signed(|signed| signed.extend(&record(1, &names(b"qemu-virt", b"other")))),
            Options(|options| {
                options.board = Some("qemu-virt".into());
                options.soc = Some("other".into());
            }),
        ],
    ),
    good(
        "extension_boot_version_met",
        needs_boot,
        "Needs boot version 5, and that is what runs.",
        &[Options(|options| options.boot_version = Some(5))],
    ),
    good(
        "extensions_both",
        needs_boot,
        "Both records, on a further device with a later boot bundle.",
        &[
            Fields(|draft| draft.others = for_three().others),
            Options(|options| {
                options.boot_version = Some(u64::MAX);
                options.soc = Some("soc-b".into());
            }),
        ],
    ),
    good(
        "extension_devices_of_boot_bundle",
        BOOT,
        "A boot bundle for three devices.",
        &[
            Fields(|draft| draft.others = for_three().others),
            Options(|options| options.board = Some("board-b".into())),
        ],
    ),
    good(
        "trust_carried_of_later_versions",
        BOOT,
        "The loader carries every algorithm that has a bit, also those that have no name yet.",
        &[Fields(|draft| draft.carried = u64::MAX)],
    ),
    bad(
        "extensions_size_not_of_words",
        ExtensionsSizeOutOfRange,
        needs_boot,
        "The extension area has 15 bytes.",
        &[Signed(|signed| size(signed, 15))],
    ),
    bad(
        "extensions_size_2056",
        ExtensionsSizeOutOfRange,
        SYSTEM,
        "The extension area is larger than the maximum by the smallest step.",
        &[Signed(|signed| {
            signed.extend(&record(1, &[b'x'; 2048]));
        })],
    ),
    bad(
        "extensions_size_huge",
        ExtensionsSizeOutOfRange,
        SYSTEM,
        "The extension area has 0xFFFFFFF8 bytes: in 32 bits the closing section would be in front of it.",
        &[Signed(|signed| size(signed, 0xffff_fff8))],
    ),
    bad(
        "extensions_size_beyond_region",
        SignedSizeMismatch,
        SYSTEM,
        "The extension area is longer than the signed region.",
        &[Signed(|signed| size(signed, 2048))],
    ),
    bad(
        "extension_unknown",
        ExtensionUnknown,
        SYSTEM,
        "A record of the first number that is set aside for later.",
        &[Signed(|signed| signed.extend(&record(4, &[])))],
    ),
    bad(
        "extension_zero",
        ExtensionUnknown,
        SYSTEM,
        "Sixteen zeros, which are no padding but records of type 0.",
        &[Signed(|signed| signed.extend(&[0; 16]))],
    ),
    bad(
        "extension_unknown_after_known",
        ExtensionUnknown,
        needs_boot,
        "After a record that is known, one of the highest number.",
        &[Signed(|signed| signed.extend(&record(u32::MAX, &[7; 8])))],
    ),
    bad(
        "extension_boot_version_in_boot",
        ExtensionUnknown,
        BOOT,
        "A boot bundle needs a boot version: the record belongs to system bundles.",
        &[Signed(|signed| signed.extend(&record(2, &5_u64.to_le_bytes())))],
    ),
    bad(
        "extension_doubled",
        ExtensionOrder,
        needs_boot,
        "The same record a second time.",
        &[Signed(|signed| signed.extend(&record(2, &5_u64.to_le_bytes())))],
    ),
    bad(
        "extensions_out_of_order",
        ExtensionOrder,
        needs_boot,
        "Record 1 after record 2.",
        &[Signed(|signed| signed.extend(&devices(1)))],
    ),
    bad(
        "extension_length_beyond_area",
        ExtensionLength,
        needs_boot,
        "The value is longer by one word than the extension area, and the closing section follows.",
        &[Signed(|signed| signed.put32(signed.extensions() + 4, 16))],
    ),
    bad(
        "extension_length_huge",
        ExtensionLength,
        needs_boot,
        "The value has 0xFFFFFFF8 bytes: with its header that would be 0.",
        &[Signed(|signed| signed.put32(signed.extensions() + 4, 0xffff_fff8))],
    ),
    good(
        "extension_device_of_one_character",
        SYSTEM,
        "A further device with the shortest names, of the lowest character.",
        &[Signed(|signed| signed.extend(&record(1, &names(b"!", b"!"))))],
    ),
    bad(
        "extension_zero_after_known",
        ExtensionUnknown,
        SYSTEM,
        "A record of type 0 after one of type 2: it is unknown before it is out of order.",
        &[Signed(|signed| {
            signed.extend(&record(2, &[1, 0, 0, 0, 0, 0, 0, 0]));
            signed.extend(&record(0, &[]));
        })],
    ),
    bad(
        "extension_boot_version_beyond_area",
        ExtensionLength,
        SYSTEM,
        "A boot version of 8 bytes, of which the area has none.",
        &[Signed(|signed| signed.extend(&[2, 0, 0, 0, 8, 0, 0, 0]))],
    ),
    bad(
        "boot_extensions_size_beyond_region",
        SignedSizeMismatch,
        BOOT,
        "The extension area of a boot bundle goes on past the signed region.",
        &[Signed(|signed| size(signed, 2048))],
    ),
    bad(
        "extension_header_alone",
        ExtensionLength,
        SYSTEM,
        "A boot version of no bytes.",
        &[Signed(|signed| signed.extend(&record(2, &[])))],
    ),
    bad(
        "extension_boot_version_of_16_bytes",
        ExtensionLength,
        SYSTEM,
        "A boot version of two words.",
        &[Signed(|signed| signed.extend(&record(2, &[1; 16])))],
    ),
    bad(
        "extension_devices_none",
        ExtensionLength,
        SYSTEM,
        "A record of further devices that names none.",
        &[Signed(|signed| signed.extend(&devices(0)))],
    ),
    bad(
        "extension_devices_nine",
        ExtensionLength,
        SYSTEM,
        "Nine devices: eight further ones.",
        &[Signed(|signed| signed.extend(&devices(8)))],
    ),
    bad(
        "extension_device_halved",
        ExtensionLength,
        SYSTEM,
        "The second further device has a board and no SoC.",
        &[Signed(|signed| {
            let both = [names(b"a", b"soc"), names(b"b", b"soc")].concat();
            signed.extend(&record(1, &both[..96]));
        })],
    ),
    bad(
        "extension_board_empty",
        BoardNameInvalid,
        SYSTEM,
        "A further device has a board without a name.",
        &[Signed(|signed| signed.extend(&record(1, &names(b"", b"virt"))))],
    ),
    bad(
        "extension_soc_with_blank",
        SocNameInvalid,
        SYSTEM,
        "The SoC of a further device has a blank in its name.",
        &[Signed(|signed| signed.extend(&record(1, &names(b"board", b"so c"))))],
    ),
    bad(
        "extension_device_of_header_repeated",
        IdentityRepeated,
        SYSTEM,
        "The device of the header is named again.",
        &[Signed(|signed| signed.extend(&record(1, &names(b"qemu-virt", b"virt"))))],
    ),
    bad(
        "extension_device_repeated",
        IdentityRepeated,
        for_three,
        "The third device is the second one.",
        &[Signed(|signed| {
            let at = signed.extensions() + 8;
            let second = signed.bytes[at..at + 64].to_vec();
            signed.put(at + 64, &second);
        })],
    ),
    bad(
        "extension_boot_version_zero",
        BootVersionZero,
        SYSTEM,
        "Needs boot version 0, which every boot bundle has.",
        &[Signed(|signed| signed.extend(&record(2, &[0; 8])))],
    ),
    bad(
        "board_of_no_listed_device",
        WrongBoard,
        for_three,
        "None of three devices has the board.",
        &[Options(|options| options.board = Some("board-d".into()))],
    ),
    bad(
        "soc_of_other_listed_device",
        WrongSoc,
        for_three,
        "One of three devices has the board, and another one the SoC.",
        &[Options(|options| {
            options.board = Some("board-b".into());
            options.soc = Some("soc-c".into());
        })],
    ),
    bad(
        "boot_version_too_old",
        BootVersionTooOld,
        needs_boot,
        "Needs boot version 5, and 4 runs.",
        &[Options(|options| options.boot_version = Some(4))],
    ),
    bad(
        "boot_version_with_top_bit",
        BootVersionTooOld,
        SYSTEM,
        "The needed version has its top bit set: as a signed number it would be below every version.",
        &[
            Signed(|signed| signed.extend(&record(2, &(1_u64 << 63).to_le_bytes()))),
            Options(|options| options.boot_version = Some(7)),
        ],
    ),
    bad(
        "placement_on_listed_board",
        OutsideMemory,
        SYSTEM,
        "On a board that only the list names, the kernel would be outside of its place.",
        &[Fields(|draft| {
            draft.use_unknown_board();
            draft.others.push(identity("qemu-virt", "virt").field());
            draft.payloads[0].load_at(0x7fe0_0000);
        })],
    ),
    bad(
        "trusted_key_not_carried",
        TrustedKeyNotCarried,
        BOOT,
        "The loader carries every algorithm but that of its keys.",
        &[Fields(|draft| draft.carried = !(1 << 1))],
    ),
    bad(
        "trusted_key_of_number_64",
        TrustedKeyNotCarried,
        BOOT,
        "A trusted key is of algorithm 64, which has no bit; shifted by 64 another one would be read.",
        &[Fields(|draft| {
            let other = KeyRecord { algorithm: 64, parameters: 0, key_id: [64; 48] };
            draft.trust = trust(Policy::Any, [B.record(), other]);
            draft.carried = u64::MAX;
        })],
    ),
];
