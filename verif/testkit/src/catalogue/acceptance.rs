//! Groups 06 and 07: the device that a bundle is for, and its memory map.

use hartlock_image::PAGE_SIZE;
use hartlock_image::Reason::{
    LifecycleNotAllowed, OutsideMemory, OverlapsLiveRegion, RollbackBelowFloor, WrongBoard,
    WrongLoadAddress, WrongSoc,
};
use hartlock_maps::{hartlock_soc as soc, hartlock_tee as tee, qemu_virt as map};

use super::row::{Row, bad, good};
use crate::bundle::Edit::{Draft as Fields, Options};
use crate::bundle::{Draft, identity, name};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

/// Returns a boot bundle for the board with a separate root of trust; the load addresses are those of
/// `qemu-virt`.
fn for_soc() -> Draft {
    Draft { identity: identity(soc::BOARD.name, soc::BOARD.soc), ..Draft::boot() }
}

fn for_tee() -> Draft {
    let mut draft = Draft { identity: identity(tee::BOARD.name, tee::BOARD.soc), ..Draft::boot() };
    let places = [tee::FIRST, tee::LOADER, tee::BOOT_FDT];
    for (payload, place) in draft.payloads.iter_mut().zip(places) {
        payload.load_at(place.start);
    }
    draft
}

/// The edits of a vector whose payload `$index` is loaded at `$address`; the entry of code follows.
macro_rules! moved {
    ($index:literal, $address:expr) => {
        &[Fields(|draft| draft.payloads[$index].load_at($address))]
    };
}

pub const ROWS: &[Row] = &[
    bad(
        "board_of_other_device",
        WrongBoard,
        SYSTEM,
        "The bundle is for a board whose name is longer by one character.",
        &[
            Fields(|draft| draft.identity.board = name("qemu-virt2")),
            Options(|options| options.board = Some("qemu-virt".into())),
        ],
    ),
    bad(
        "soc_of_other_device",
        WrongSoc,
        SYSTEM,
        "The bundle is for another SoC.",
        &[
            Fields(|draft| draft.identity.soc = name("vir")),
            Options(|options| {
                options.board = Some("qemu-virt".into());
                options.soc = Some("virt".into());
            }),
        ],
    ),
    bad(
        "rollback_below_floor",
        RollbackBelowFloor,
        SYSTEM,
        "The security version is one below the floor.",
        &[Options(|options| options.floor = Some(8))],
    ),
    bad(
        "lifecycle_development_only",
        LifecycleNotAllowed,
        SYSTEM,
        "A development bundle on a device in production.",
        &[
            Fields(|draft| draft.lifecycle_mask = 0b001),
            Options(|options| options.lifecycle = Some("production".into())),
        ],
    ),
    bad(
        "boot_fdt_memory_beyond_place",
        OutsideMemory,
        BOOT,
        "The device tree's memory ends one page past its place.",
        &[Fields(|draft| draft.payloads[2].memory_size = (128 << 10) + 4096)],
    ),
    bad(
        "initramfs_beyond_ram",
        OutsideMemory,
        SYSTEM,
        "The second page of the initramfs would be past the end of RAM.",
        &[Fields(|draft| {
            draft.add_initramfs(900, map::RAM.end - PAGE_SIZE).memory_size = 8192;
        })],
    ),
    bad(
        "initramfs_empty_outside_place",
        OutsideMemory,
        SYSTEM,
        "An initramfs without bytes and without memory is located one page past the end of RAM.",
        &[Fields(|draft| {
            draft.add_initramfs(0, map::RAM.end + PAGE_SIZE);
        })],
    ),
    bad(
        "initramfs_empty_in_live_region",
        OutsideMemory,
        SYSTEM,
        "An empty range inside the log shares no byte with it, but is not in its place.",
        &[Fields(|draft| {
            draft.add_initramfs(0, map::LOG.start + PAGE_SIZE);
        })],
    ),
    bad(
        "system_fdt_below_place",
        OutsideMemory,
        SYSTEM,
        "The device tree would be loaded one page below its place.",
        moved!(1, map::SYSTEM.start - PAGE_SIZE),
    ),
    bad(
        "boot_over_rom_ram",
        OverlapsLiveRegion,
        BOOT,
        "A payload would overwrite the ROM's stack.",
        moved!(2, map::ROM_RAM.end - PAGE_SIZE),
    ),
    bad(
        "system_over_opensbi",
        OverlapsLiveRegion,
        SYSTEM,
        "A payload would overwrite OpenSBI, which runs.",
        moved!(1, map::OPENSBI.start),
    ),
    bad(
        "system_over_handoff",
        OverlapsLiveRegion,
        SYSTEM,
        "A payload would overwrite the hand-off block.",
        moved!(1, map::HANDOFF.start),
    ),
    bad(
        "system_over_loader",
        OverlapsLiveRegion,
        SYSTEM,
        "A payload would overwrite the last page of the loader, which runs.",
        moved!(1, map::LOADER.end - PAGE_SIZE),
    ),
    bad(
        "between_handoff_and_log",
        OutsideMemory,
        SYSTEM,
        "The memory of a payload fills the gap between two live regions, and touches both.",
        &[Fields(|draft| {
            draft.payloads[1].load_at(map::HANDOFF.end);
            draft.payloads[1].memory_size = map::LOG.start - map::HANDOFF.end;
        })],
    ),
    bad(
        "between_metadata_and_linux_fdt",
        OutsideMemory,
        SYSTEM,
        "The memory of a payload fills the gap between two live regions, and touches both.",
        &[Fields(|draft| {
            draft.payloads[1].load_at(map::METADATA.end);
            draft.payloads[1].memory_size = map::LINUX_FDT.start - map::METADATA.end;
        })],
    ),
    good(
        "boot_for_hartlock_soc",
        for_soc,
        "A boot bundle for the board that has a root of trust of its own.",
        &[],
    ),
    bad(
        "soc_loader_at_other_address",
        WrongLoadAddress,
        for_soc,
        "On that board the loader would be loaded one page after its address.",
        moved!(1, soc::LOADER.start + PAGE_SIZE),
    ),
    bad(
        "soc_payload_over_bundle",
        OverlapsLiveRegion,
        for_soc,
        "On that board the device tree would be loaded over the last page of the bundle's place.",
        moved!(2, soc::BUNDLE.end - PAGE_SIZE),
    ),
    bad(
        "soc_payload_after_bundle",
        OutsideMemory,
        for_soc,
        "On that board the device tree would be loaded right after the bundle's place.",
        moved!(2, soc::BUNDLE.end),
    ),
    good("boot_for_hartlock_tee", for_tee, "A boot bundle for the machine of a TEE.", &[]),
    bad(
        "tee_loader_at_other_address",
        WrongLoadAddress,
        for_tee,
        "On that board the loader would be loaded one page after its address.",
        moved!(1, tee::LOADER.start + PAGE_SIZE),
    ),
    bad(
        "tee_payload_over_log",
        OverlapsLiveRegion,
        for_tee,
        "On that board the device tree would be loaded over the endorsement in the log.",
        moved!(2, tee::LOG.end - PAGE_SIZE),
    ),
    bad(
        "soc_kernel_without_place",
        OutsideMemory,
        SYSTEM,
        "That board has no place for a kernel: it has no system bundle.",
        &[Fields(|draft| draft.identity = identity(soc::BOARD.name, soc::BOARD.soc))],
    ),
    bad(
        "opensbi_at_other_address",
        WrongLoadAddress,
        BOOT,
        "OpenSBI would be loaded one page after its address.",
        moved!(0, map::OPENSBI.start + PAGE_SIZE),
    ),
    bad(
        "boot_fdt_at_other_address",
        WrongLoadAddress,
        BOOT,
        "The device tree for OpenSBI would be loaded one page after its address.",
        moved!(2, map::BOOT_FDT.start + PAGE_SIZE),
    ),
    bad(
        "loader_at_other_address",
        WrongLoadAddress,
        BOOT,
        "The loader would be loaded one page after its address.",
        moved!(1, map::LOADER.start + PAGE_SIZE),
    ),
    bad(
        "kernel_not_on_2_mib",
        WrongLoadAddress,
        SYSTEM,
        "The kernel would be loaded at a multiple of 1 MiB only.",
        moved!(0, map::SYSTEM.start + 0x30_0000),
    ),
    bad(
        "kernel_entered_elsewhere",
        WrongLoadAddress,
        SYSTEM,
        "The kernel would be entered at its second instruction.",
        &[Fields(|draft| draft.payloads[0].entry += 4)],
    ),
];
