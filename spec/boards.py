"""The memory maps of boards, written from §2 of boot-flow.md alone."""

from __future__ import annotations

from typing import NamedTuple

from boot_tree import Closed

INITRAMFS = 17  # number of its payload type (image-format §4.3)


class Place(NamedTuple):
    """Where a payload belongs: its place and what is fixed about it."""

    start: int
    end: int
    address: int | None = None  # the one load address, if any
    alignment: int = 1  # of the load address
    entry_at_load: bool = False  # entry must equal the load address


class Board(NamedTuple):
    """The memory map of a board; `live` holds half-open ranges by type of bundle."""

    places: dict[int, Place]
    live: dict[str, tuple[tuple[int, int], ...]]
    harts: int
    closed: tuple[Closed, ...] = ()  # nothing on a board without OpenSBI (boot-flow §5.6)

    @property
    def linux(self) -> tuple[int, int] | None:
        """The place of the kernel."""
        place = self.places.get(16)
        return (place.start, place.end) if place else None

    @property
    def edits(self) -> bool:
        """Whether a loader of ours edits the device tree for Linux (boot-flow §6)."""
        return 18 in self.places and bool(self.closed)


_LIVE_IN_ROM = (
    (0x8010_0000, 0x8011_0000),  # ROM RAM
    (0x8011_0000, 0x8011_1000),  # hand-off block
    (0x8012_0000, 0x8013_0000),  # measurement log
    (0x8013_0000, 0x8013_1000),  # payload-key page
    (0x8044_0000, 0x804C_0000),  # metadata buffer
    (0x8050_0000, 0x8054_0000),  # device tree for Linux
)
_LIVE_IN_LOADER = _LIVE_IN_ROM + (
    (0x8000_0000, 0x8010_0000),  # OpenSBI
    (0x8020_0000, 0x8040_0000),  # loader
    (0x8040_0000, 0x8042_0000),  # device tree for OpenSBI
    (0x8060_0000, 0x8080_0000),  # queue and buffer of the disk
)
_IOMMU_TABLES = ((0x8011_8000, 0x8012_0000),)
_VIRT_PLACES = {
    1: Place(0x8000_0000, 0x8010_0000, address=0x8000_0000, entry_at_load=True),
    2: Place(0x8020_0000, 0x8040_0000, address=0x8020_0000, entry_at_load=True),
    3: Place(0x8040_0000, 0x8042_0000, address=0x8040_0000),
    16: Place(0x8100_0000, 0xC000_0000, alignment=2 << 20, entry_at_load=True),
    INITRAMFS: Place(0x8100_0000, 0xC000_0000),
    18: Place(0x8100_0000, 0xC000_0000),
}


_VIRT_CLOSED = (
    Closed(0x2000_0000, 0x2400_0000, "none"),  # flash
    Closed(0x8000_0000, 0x8010_0000, "none"),  # OpenSBI
    Closed(0x8010_0000, 0x8011_0000, "none"),  # ROM RAM
    Closed(0x8011_0000, 0x8011_1000, "read"),  # hand-off block
    Closed(0x200_0000, 0x201_0000, "opensbi"),  # CLINT
    Closed(0x1010_0000, 0x1010_1000, "none"),  # fw_cfg
)
_IOMMU_CLOSED = (
    Closed(0x8011_8000, 0x8012_0000, "none"),  # tables of the IOMMU
    Closed(0x1000_1000, 0x1000_9000, "none"),  # slots of virtio-mmio
    Closed(0x301_0000, 0x301_1000, "none"),  # IOMMU
)


def _simulated(
    first: tuple[int, int], log: tuple[int, int], loader: tuple[int, int], fdt: tuple[int, int]
) -> Board:
    """A board of the cycle-accurate machine: what runs first, the log, the loader, the device tree."""
    places = {
        1: Place(*first, address=first[0], entry_at_load=True),
        2: Place(*loader, address=loader[0], entry_at_load=True),
        3: Place(*fdt, address=fdt[0]),
    }
    boot_bundle = (0x8800_0000, 0x8900_0000)
    return Board(places, live={"boot": (log, boot_bundle), "system": (first, log, loader, fdt)}, harts=4)


BOARDS: dict[str, Board] = {
    "qemu-virt": Board(
        _VIRT_PLACES,
        live={"boot": _LIVE_IN_ROM, "system": _LIVE_IN_LOADER},
        harts=5,
        closed=_VIRT_CLOSED,
    ),
    "qemu-virt-iommu": Board(
        _VIRT_PLACES,
        live={"boot": _LIVE_IN_ROM + _IOMMU_TABLES, "system": _LIVE_IN_LOADER + _IOMMU_TABLES},
        harts=5,
        closed=_VIRT_CLOSED + _IOMMU_CLOSED,
    ),
    "hartlock-soc": _simulated(
        first=(0x8000_0000, 0x8010_0000),
        log=(0x8012_0000, 0x8013_0000),
        loader=(0x8020_0000, 0x8040_0000),
        fdt=(0x8040_0000, 0x8042_0000),
    ),
    "hartlock-tee": _simulated(
        first=(0x8000_0000, 0x8400_0000),
        log=(0x8400_0000, 0x8401_0000),
        loader=(0x8420_0000, 0x8440_0000),
        fdt=(0x8440_0000, 0x8442_0000),
    ),
}
