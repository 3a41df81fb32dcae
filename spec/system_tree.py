"""Judges and edits a device tree for Linux, written from §6 of boot-flow.md alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import boot_tree
import payloads
from boot_tree import Node

BOOT_HART = 0
OF_THE_BOARD = ("linux,stdout-path", "linux,pci-probe-only")
TWO = (2).to_bytes(4, "big")


class Broken(Exception):
    """The number of a rule that the tree breaks."""

    def __init__(self, rule: int) -> None:
        super().__init__(f"rule {rule}")
        self.rule = rule


class Reservation(NamedTuple):
    """A node that is added to `/reserved-memory`."""

    name: str
    address: int
    size: int
    compatible: str | None = None


RESERVATIONS = (
    Reservation("hartlock-opensbi", 0x8000_0000, 0x10_0000),
    Reservation("hartlock-rom", 0x8010_0000, 0x1_0000),
    Reservation("hartlock-handoff", 0x8011_0000, 0x1000, "hartlock,handoff-v1"),
    Reservation("hartlock-log", 0x8012_0000, 0x1_0000, "hartlock,measurement-log-v1"),
)


@dataclass(frozen=True)
class Edits:
    """What is edited. `initrd` is a half-open range, `harts` has the numbers of those that reported."""

    bootargs: str
    initrd: tuple[int, int] | None
    harts: frozenset[int]


def _require(holds: bool, rule: int) -> None:
    if not holds:
        raise Broken(rule)


def _named(node: Node, name: str) -> list[bytes]:
    return [value for own, value in node.listed if own == name]


def _has_two_cells(node: Node) -> bool:
    return all(_named(node, name) == [TWO] for name in ("#address-cells", "#size-cells"))


def _edit_chosen(node: Node, edits: Edits) -> None:
    for name, _value in node.listed:
        is_left = name in ("bootargs", "kaslr-seed", "rng-seed")
        _require(not is_left and (not name.startswith("linux,") or name in OF_THE_BOARD), 3)
    added = [("bootargs", edits.bootargs.encode() + b"\0")]
    if edits.initrd is not None:
        for name, address in zip(("start", "end"), edits.initrd, strict=True):
            added.append((f"linux,initrd-{name}", address.to_bytes(8, "big")))
    node.listed = added + node.listed


def _edit_reserved(node: Node) -> None:
    _require(_has_two_cells(node) and len(_named(node, "ranges")) == 1, 4)
    _require(not any(child.name.startswith("hartlock-") for child in node.children), 5)
    for it in RESERVATIONS:
        reg = it.address.to_bytes(8, "big") + it.size.to_bytes(8, "big")
        added = Node(f"{it.name}@{it.address:x}", listed=[("reg", reg), ("no-map", b"")])
        if it.compatible is not None:
            added.listed.append(("compatible", it.compatible.encode() + b"\0"))
        node.children.append(added)


def _cpu_number(node: Node) -> int | None:
    """The number of a child of `/cpus`, or None for one that is no CPU to Linux."""
    if node.name.startswith("cpu@"):
        unit = node.name.removeprefix("cpu@")
        _require(re.fullmatch("[0-9a-fA-F]+", unit) is not None and int(unit, 16) < 1 << 64, 6)
        return int(unit, 16)
    is_cpu = node.name == "cpu" or node.properties.get("device_type", b"").split(b"\0")[0] == b"cpu"
    if not is_cpu or "reg" not in node.properties:
        return None
    return int.from_bytes(node.properties["reg"], "big")


def _edit_harts(cpus: Sequence[Node], edits: Edits) -> None:
    boot_harts = 0
    for node in cpus:
        hart = _cpu_number(node)
        if hart is None:
            continue
        for reg in _named(node, "reg"):
            _require(len(reg) in (4, 8) and int.from_bytes(reg, "big") == hart, 6)
        if hart == BOOT_HART:
            boot_harts += len(_named(node, "reg"))
            _require(all(_is_okay(status) for status in _named(node, "status")), 7)
        if hart not in edits.harts:
            rest = [it for it in node.listed if it[0] != "status"]
            node.listed = [("status", b"disabled\0"), *rest]
    _require(boot_harts == 1, 7)


def edit(data: bytes, edits: Edits) -> Node:
    """The root of the edited tree; raises :class:`Broken`. The last rule, about room, is that of a writer."""
    try:
        root = boot_tree.parse(data)
    except boot_tree.Malformed:
        raise Broken(1) from None
    _require(root.name == "", 1)
    for name in ("chosen", "reserved-memory"):
        found = [it.name for it in root.children if it.name.split("@")[0] == name]
        _require(found in ([], [name]), 2)
    _require(_has_two_cells(root), 4)
    cpus = [node for it in root.children if it.name == "cpus" for node in it.children]
    _edit_harts(cpus, edits)
    nodes = {it.name: it for it in root.children}
    if "chosen" not in nodes:
        nodes["chosen"] = Node("chosen")
        root.children.append(nodes["chosen"])
    if "reserved-memory" not in nodes:
        listed = [("#address-cells", TWO), ("#size-cells", TWO), ("ranges", b"")]
        nodes["reserved-memory"] = Node("reserved-memory", listed=listed)
        root.children.append(nodes["reserved-memory"])
    _edit_chosen(nodes["chosen"], edits)
    _edit_reserved(nodes["reserved-memory"])
    return root


def as_lists(node: Node) -> tuple[object, ...]:
    """A node that can be compared with another one."""
    return node.name, node.listed, [as_lists(child) for child in node.children]


def _is_okay(status: bytes) -> bool:
    return status.split(b"\0")[0] in (b"ok", b"okay")


def _ranges(node: Node, *names: str) -> list[tuple[int, int]]:
    """Half-open ranges of a node that is enabled, in the first of the properties that it has."""
    if not _is_okay(node.properties.get("status", b"ok")):
        return []
    reg = next((node.properties[name] for name in names if name in node.properties), b"")
    numbers = [int.from_bytes(reg[at : at + 8], "big") for at in range(0, len(reg) // 16 * 16, 8)]
    return [(start, start + size) for start, size in zip(numbers[::2], numbers[1::2], strict=True)]


def _entries(data: bytes) -> list[tuple[int, int]]:
    """Half-open ranges of the memory reservation block."""
    ranges, at = [], int.from_bytes(data[16:20], "big")
    while data[at : at + 16] != bytes(16):
        start, size = (int.from_bytes(data[it : it + 8], "big") for it in (at, at + 8))
        ranges.append((start, start + size))
        at += 16
    return ranges


def memory_limit(bootargs: str) -> int | None:
    """The bytes of memory that Linux keeps by the smallest `mem=` of a command line (§6, rule 12)."""
    limits = []
    for name, value in payloads.options(bootargs):
        if name == "mem" and value is not None:
            digits, unit = re.match(r"(0x[0-9a-f]*|0[0-7]*|\d*)([kmgtpe]?)", value, re.IGNORECASE).groups()
            radix = 16 if digits[1:2] in ("x", "X") else 8 if digits[:1] == "0" else 10
            number = int(digits[2 if radix == 16 else 0 :] or "0", radix)
            size = number << 10 * " kmgtpe".index(unit.lower() or " ")
            limits.append(size % 2**64 // 4096 * 4096)
    return min(limits, default=0) or None


def check_memory(
    data: bytes, filled: Sequence[tuple[int, int]], limit: int | None = None
) -> None:
    """Raises :class:`Broken` if a half-open range that is filled is no memory, or reserved, or behind the limit."""
    root = boot_tree.parse(data)
    is_memory = [it for it in root.children if it.properties.get("device_type") == b"memory\0"]
    names = ("linux,usable-memory", "reg")
    memory = sorted(part for node in is_memory for part in _ranges(node, *names))
    reserved = _entries(data)
    for node in root.children:
        if node.name == "reserved-memory":
            reserved += [part for child in node.children for part in _ranges(child, "reg")]
    for start, end in filled:
        at = start
        for first, last in memory:
            if first <= at < last:
                at = last
        _require(at >= end, 9)
        below = sum(max(min(last, end) - first, 0) for first, last in memory)
        _require(limit is None or start >= end or below <= limit, 12)
        _require(not any(max(start, it[0]) < min(end, it[1]) for it in reserved), 10)


def _texts(node: Node, name: str) -> list[bytes]:
    return node.properties.get(name, b"").split(b"\0")


def _number_if_any(node: Node) -> int | None:
    try:
        return _cpu_number(node)
    except Broken:
        return None


def check_boot_hart(data: bytes) -> None:
    """Raises :class:`Broken` if the tree does not say of the boot hart what OpenSBI and Linux need."""
    for cpus in boot_tree.parse(data).children:
        if cpus.name.split("@")[0] == "cpus":
            _require(len(cpus.properties.get("timebase-frequency", b"")) == 4, 11)
            for hart in cpus.children:
                if BOOT_HART in (_number_if_any(hart), hart.hart):
                    _check_boot_hart(hart)


def _check_boot_hart(hart: Node) -> None:
    _require(b"riscv" in _texts(hart, "compatible"), 11)
    if "riscv,isa-base" in hart.properties:
        has_base = hart.properties["riscv,isa-base"].lower().startswith(b"rv64i")
        _require(has_base and {b"i", b"m", b"a"} <= set(_texts(hart, "riscv,isa-extensions")), 11)
    else:
        _require(hart.properties.get("riscv,isa", b"").lower().startswith(b"rv64ima"), 11)
    _require(any(b"riscv,cpu-intc" in _texts(it, "compatible") for it in hart.children), 11)
