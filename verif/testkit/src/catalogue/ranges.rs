//! Group 05, second half: the location of a payload in the file and in memory.

use hartlock_image::Reason::{
    BundleSizeMismatch, EntryOutsidePayload, LoadRangeForm, LoadRangeWraps, LoadRangesOverlap,
    PayloadOffset, PayloadSizeOutOfRange,
};

use super::row::{Row, bad};
use crate::bundle::Draft;
use crate::bundle::Edit::{Draft as Fields, File, Signed};

const SYSTEM: fn() -> Draft = Draft::system;

/// Offsets in a payload record (image format §4.3).
const SIZE: usize = 24;
const MEMORY_SIZE: usize = 40;
/// Offset in the header (image format §4.1).
const BUNDLE_SIZE: usize = 24;

/// Returns a bundle for a board without a memory map, for load ranges that `qemu-virt` would also
/// refuse for another reason.
fn elsewhere() -> Draft {
    let mut draft = Draft::system();
    draft.use_unknown_board();
    draft
}

pub const ROWS: &[Row] = &[
    bad(
        "offset_with_gap",
        PayloadOffset,
        SYSTEM,
        "A page of zeros is between the first and the second payload.",
        &[Fields(|draft| draft.payloads[1].shift = 4096)],
    ),
    bad(
        "offset_with_overlap",
        PayloadOffset,
        SYSTEM,
        "The second payload is the first one's last page, once more.",
        &[Fields(|draft| {
            draft.payloads[0].resize(4096 + 700);
            draft.payloads[1].shift = -4096;
            draft.payloads[1].data = draft.payloads[0].data[4096..].to_vec();
        })],
    ),
    bad(
        "size_zero_of_kernel",
        PayloadSizeOutOfRange,
        SYSTEM,
        "The kernel is empty.",
        &[Fields(|draft| draft.payloads[0].resize(0))],
    ),
    bad(
        "size_above_limit",
        PayloadSizeOutOfRange,
        elsewhere,
        "A payload of 2^40 + 1 bytes.",
        &[Signed(|signed| {
            signed.put64(signed.payload(1) + SIZE, (1 << 40) + 1);
            signed.put64(signed.payload(1) + MEMORY_SIZE, (1 << 40) + 4096);
            signed.put64(BUNDLE_SIZE, 0x2000 + (1 << 40) + 4096);
        })],
    ),
    bad(
        "size_huge",
        PayloadSizeOutOfRange,
        SYSTEM,
        "A payload of 2^64 − 1 bytes: rounded up that would be 0.",
        &[Signed(|signed| signed.put64(signed.payload(0) + SIZE, u64::MAX))],
    ),
    bad(
        "load_address_not_aligned",
        LoadRangeForm,
        SYSTEM,
        "The device tree would be loaded one byte after the beginning of a page.",
        &[Fields(|draft| draft.payloads[1].load_at(0x8300_0001))],
    ),
    bad(
        "memory_size_not_aligned",
        LoadRangeForm,
        SYSTEM,
        "The memory of the device tree is a page and a half.",
        &[Fields(|draft| draft.payloads[1].memory_size = 0x1800)],
    ),
    bad(
        "memory_size_below_payload",
        LoadRangeForm,
        SYSTEM,
        "The kernel gets no memory.",
        &[Fields(|draft| draft.payloads[0].memory_size = 0)],
    ),
    bad(
        "load_range_ends_at_2_to_64",
        LoadRangeWraps,
        elsewhere,
        "The sum of load address and memory size is exactly 2^64.",
        &[Fields(|draft| draft.payloads[1].load_at(0xffff_ffff_ffff_f000))],
    ),
    bad(
        "load_ranges_overlap_from_below",
        LoadRangesOverlap,
        SYSTEM,
        "The memory of the device tree reaches one page into the kernel.",
        &[Fields(|draft| {
            draft.payloads[1].load_at(0x811f_f000);
            draft.payloads[1].memory_size = 0x2000;
        })],
    ),
    bad(
        "load_ranges_overlap_from_above",
        LoadRangesOverlap,
        SYSTEM,
        "The device tree begins in the last page of the kernel's memory.",
        &[Fields(|draft| {
            draft.payloads[0].memory_size = 0x10_0000;
            draft.payloads[1].load_at(0x812f_f000);
        })],
    ),
    bad(
        "load_ranges_of_first_and_last_overlap",
        LoadRangesOverlap,
        SYSTEM,
        "The third payload overlaps the first one, the second one is between them.",
        &[Fields(|draft| {
            draft.payloads[0].memory_size = 0x2000;
            draft.add_initramfs(900, 0x8200_0000);
            draft.payloads[2].load_at(0x8120_1000);
        })],
    ),
    bad(
        "entry_before_payload",
        EntryOutsidePayload,
        elsewhere,
        "The kernel is entered 4 bytes before its beginning.",
        &[Fields(|draft| draft.payloads[0].entry -= 4)],
    ),
    bad(
        "entry_behind_payload",
        EntryOutsidePayload,
        elsewhere,
        "The kernel is entered at the first byte past its end, which is padding.",
        &[Fields(|draft| draft.payloads[0].entry += 1500)],
    ),
    bad(
        "entry_not_aligned",
        EntryOutsidePayload,
        elsewhere,
        "The kernel is entered at an odd multiple of 2.",
        &[Fields(|draft| draft.payloads[0].entry += 2)],
    ),
    bad(
        "entry_of_data",
        EntryOutsidePayload,
        SYSTEM,
        "The device tree has an entry.",
        &[Fields(|draft| draft.payloads[1].entry = draft.payloads[1].load_address)],
    ),
    bad(
        "bundle_size_one_page_more",
        BundleSizeMismatch,
        SYSTEM,
        "The bundle ends one page of zeros after its payloads.",
        &[Fields(|draft| draft.extra_pages = 1)],
    ),
    bad(
        "bundle_size_one_page_less",
        BundleSizeMismatch,
        SYSTEM,
        "The bundle ends, and the file with it, before its last payload.",
        &[Signed(|signed| signed.put64(BUNDLE_SIZE, 0x2000)), File(|file| file.truncate(0x2000))],
    ),
    bad(
        "size_at_limit_without_memory",
        LoadRangeForm,
        SYSTEM,
        "A payload of 2^40 bytes is not too large, but its memory is too small.",
        &[Signed(|signed| {
            signed.put64(signed.payload(1) + SIZE, 1 << 40);
            signed.put64(BUNDLE_SIZE, 0x2000 + (1 << 40));
        })],
    ),
];
