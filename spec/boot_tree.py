"""Judges a device tree for OpenSBI, written from §5.6 of boot-flow.md alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Malformed(Exception):
    """The bytes are no device tree that is well formed."""


class NoConsole(Malformed):
    """OpenSBI has no console, and waits for ever."""


class Broken(Exception):
    """The first rule that the tree breaks, in words."""


class Closed(NamedTuple):
    """A row of the table of closed memory; `access` is "none", "read" or "opensbi"."""

    start: int
    end: int
    access: str


READ, WRITE, EXECUTE = 8, 16, 32
ANY = READ | WRITE | EXECUTE
BOOT_HART = 0


@dataclass(eq=False)
class Node:
    """A node of the tree, with the first of the properties of each name, and all of them in their order."""

    name: str
    properties: dict[str, bytes] = field(default_factory=dict)
    listed: list[tuple[str, bytes]] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        # Without recursion, of which Python has less than a tree can have depth.
        rest = [self]
        while rest:
            node = rest.pop()
            yield node
            rest.extend(reversed(node.children))

    def is_compatible(self, name: str) -> bool:
        return name.encode() in self.properties.get("compatible", b"").split(b"\0")

    @property
    def hart(self) -> int | None:
        """The number of a hart, or None for a node that is none."""
        reg = self.properties.get("reg", b"")
        is_hart = (
            self.properties.get("status", b"ok").startswith(b"ok")
            and self.properties.get("device_type", b"").startswith(b"cpu")
            and len(reg) >= 4
        )
        if not is_hart or (len(reg) > 4 and len(reg) < 8):
            return None
        return _cell(reg, 1 if len(reg) > 4 else 0)


def _cell(value: bytes | None, index: int = 0) -> int | None:
    cell = (value or b"")[4 * index : 4 * index + 4]
    return int.from_bytes(cell, "big") if len(cell) == 4 else None


def _take(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise Malformed
    return data[at : at + size]


def _text(data: bytes, at: int) -> bytes:
    end = data.find(b"\0", at)
    if at > len(data) or end < 0:
        raise Malformed
    return data[at:end]


def parse(data: bytes) -> Node:
    """The root of a flattened device tree."""
    magic, total, structure_at, strings_at, reserved_at, version, compatible, _cpu, strings_size, size = (
        int.from_bytes(_take(data, at, 4), "big") for at in range(0, 40, 4)
    )
    if magic != 0xD00DFEED or version < 17 or compatible > 17:
        raise Malformed
    tree = _take(data, 0, total)
    entries = range(reserved_at, len(tree) - 15, 16)
    if not any(tree[at : at + 16] == bytes(16) for at in entries):
        raise Malformed
    structure = _take(tree, structure_at, size)
    strings = _take(tree, strings_at, strings_size)
    top = Node("")
    path = [top]
    is_after_child = False
    at = 0
    while (token := int.from_bytes(_take(structure, at, 4), "big")) != 9:
        at += 4
        if token == 1:
            name = _text(structure, at)
            at += len(name) + 1
            path[-1].children.append(Node(name.decode("latin-1")))
            path.append(path[-1].children[-1])
            is_after_child = False
        elif token == 2 and len(path) > 1:
            path.pop()
            is_after_child = True
        elif token == 3 and len(path) > 1 and not is_after_child:
            length = int.from_bytes(_take(structure, at, 4), "big")
            name = _text(strings, int.from_bytes(_take(structure, at + 4, 4), "big"))
            value = _take(structure, at + 8, length)
            path[-1].properties.setdefault(name.decode("latin-1"), value)
            path[-1].listed.append((name.decode("latin-1"), value))
            at += 8 + length
        elif token != 4:
            raise Malformed
        at = (at + 3) // 4 * 4
    if len(path) > 1 or len(top.children) != 1:
        raise Malformed
    return top.children[0]


@dataclass(frozen=True)
class Region:
    """2^order bytes from `base`, which is a multiple of that; `kind` is everything that OpenSBI compares."""

    base: int
    order: int
    kind: tuple[int, bool]

    @classmethod
    def around(cls, base: int, order: int, permissions: int, is_mmio: bool) -> Region:
        last = base + (1 << order) - 1
        while order < 64 and base >> order != last >> order:
            order += 1
        return cls(base >> order << order, order, (permissions & 0x7F, is_mmio))

    @property
    def end(self) -> int:
        return self.base + (1 << self.order)

    def has(self, address: int) -> bool:
        return self.base <= address < self.end


def _only(found: Sequence[Node], what: str) -> Node:
    if len(found) != 1:
        raise Broken(f"{len(found)} nodes {what}")
    return found[0]


class _Tree:
    """A tree whose references can be followed."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.nodes = list(root.walk())

    def child(self, name: str) -> Node:
        return _only([it for it in self.root.children if it.name.split("@")[0] == name], name)

    def compatible(self, name: str, above: Node) -> Node:
        """The only node of this kind, which has to be below another one."""
        found = _only([it for it in self.nodes if it.is_compatible(name)], name)
        if found not in list(above.walk())[1:]:
            raise Broken(f"{name} is elsewhere")
        return found

    def reference(self, phandle: int | None) -> Node:
        def own(node: Node) -> int | None:
            values = (node.properties.get(name, b"") for name in ("phandle", "linux,phandle"))
            return next((_cell(value) for value in values if len(value) == 4), None)

        if phandle in (None, 0, 0xFFFF_FFFF):
            raise Broken("no reference")
        return _only([it for it in self.nodes if own(it) == phandle], f"phandle {phandle}")


def _check_harts(tree: _Tree, cpus: Node, domain: Node) -> None:
    harts = [node for node in cpus.children if node.hart is not None]
    cells = domain.properties.get("possible-harts", b"")
    for node in harts:
        if sum(other.hart == node.hart for other in harts) > 1:
            raise Broken(f"hart {node.hart} twice")
        isa = [node.properties.get(name, b"").lower() for name in ("riscv,isa", "riscv,isa-extensions")]
        if any(b"smepmp" in text for text in isa):
            raise Broken("smepmp")
        possible = [tree.reference(_cell(cells, index)).hart for index in range(len(cells) // 4)]
        own = node.properties.get("opensbi-domain")
        if node.hart not in possible or tree.reference(_cell(own)) is not domain:
            raise Broken(f"hart {node.hart} is outside")
    if BOOT_HART not in [node.hart for node in harts]:
        raise Broken("no boot hart")


def _regions(tree: _Tree, domain: Node) -> list[Region]:
    regions = []
    def taken(node: Node) -> int:
        counts = (count for name, (_, count) in DRIVEN.items() if node.is_compatible(name))
        return max(counts, default=0)

    room = 15 - 2 - sum(map(taken, tree.nodes))
    entries = domain.properties.get("regions", b"")
    for index in range(len(entries) // 8):
        node = tree.reference(_cell(entries, 2 * index))
        permissions = _cell(entries, 2 * index + 1) or 0
        base, order = node.properties.get("base", b""), node.properties.get("order", b"")
        is_right = (
            index < room
            and node.is_compatible("opensbi,domain,memregion")
            and (permissions & ANY or not permissions & 7)
            and (len(base), len(order)) == (8, 4)
            and 3 <= int.from_bytes(order, "big") <= 64
        )
        if not is_right:
            raise Broken(f"region {index}")
        numbers = int.from_bytes(base, "big"), int.from_bytes(order, "big")
        regions.append(Region.around(*numbers, permissions, "mmio" in node.properties))
    return regions


def _deciding(regions: Sequence[Region], largest: int, address: int) -> Region | None:
    """The region that decides about an address, with the permissions of its equals."""

    def is_dropped(one: Region) -> bool:
        return any(
            one.kind == other.kind and one.order < other.order <= largest and other.has(one.base)
            for other in regions
        )

    found = [it for it in regions if it.has(address) and not is_dropped(it)]
    least = min((it.order for it in found), default=None)
    equal = [it for it in found if it.order == least]
    if not equal:
        return None
    permissions = 0
    for it in equal:
        permissions |= it.kind[0]
    return Region(equal[0].base, equal[0].order, (permissions, any(it.kind[1] for it in equal)))


def _open(closed: Closed, region: Region | None) -> int:
    """What S-mode may do and must not at an address of a closed range."""
    if closed.access == "opensbi":
        is_part = region is not None and closed.start <= region.base and region.end <= closed.end
        return region.kind[0] & ANY if region is not None and is_part else 0
    permissions = ANY if region is None else region.kind[0] & ANY
    return permissions & ~READ if closed.access == "read" else permissions


# The bytes that a driver uses, and the regions that OpenSBI takes for the device.
DRIVEN = {
    "riscv,clint0": (0xC000, 1),
    "sifive,clint0": (0xC000, 1),
    "sifive,clint2": (0xC000, 1),
    "thead,c900-clint": (0xC000, 1),
    "riscv,aclint-mswi": (0x4000, 1),
    "thead,c900-aclint-mswi": (0x4000, 1),
    "mips,p8700-aclint-mswi": (0x4000, 1),
    "riscv,aclint-mtimer": (0x8000, 2),
    "thead,c900-aclint-mtimer": (0x8000, 2),
    "mips,p8700-aclint-mtimer": (0x8000, 2),
    "riscv,plic0": (0x400_0000, 0),
    "sifive,plic-1.0.0": (0x400_0000, 0),
    "thead,c900-plic": (0x400_0000, 0),
    "andestech,nceplic100": (0x400_0000, 0),
    "syscon": (4, 0),
}
CONSOLES = ("ns16550", "ns16550a", "snps,dw-apb-uart", "intel,xscale-uart")
OTHER_CONSOLES = (
    "cdns,uart-r1p8",
    "cdns,uart-r1p12",
    "starfive,jh8100-uart",
    "gaisler,apbuart",
    "litex,liteuart",
    "renesas,scif-r9a07g043",
    "shakti,uart0",
    "sifive,fu540-c000-uart",
    "sifive,uart0",
    "xlnx,xps-uartlite-1.00.a",
)


def _entries(node: Node, parent: Node) -> list[tuple[int, int]]:
    """The addresses and sizes of `reg`."""

    def cells(name: str, default: int) -> int:
        if name not in parent.properties:
            return default
        number = _cell(parent.properties[name])
        if number is None:
            raise Broken(name)
        return number

    first, second = cells("#address-cells", 2), cells("#size-cells", 1)
    reg = node.properties["reg"]
    length = 4 * (first + second)
    if not length or len(reg) % length:
        raise Broken("reg has no whole entries")
    if not first:
        return []
    entries = [reg[at : at + length] for at in range(0, len(reg), length)]
    numbers = [(entry[: 4 * first], entry[4 * first :]) for entry in entries]
    return [(int.from_bytes(a[-8:], "big"), int.from_bytes(b[-8:], "big")) for a, b in numbers]


def _check_devices(tree: _Tree, closed: Sequence[Closed]) -> None:
    parents = {id(child): node for node in tree.nodes for child in node.children}

    def above(node: Node) -> list[Node]:
        found = []
        while (parent := parents.get(id(node))) is not None:
            found.append(parent)
            node = parent
        return found

    def number(node: Node, name: str) -> int:
        value = _cell(node.properties.get(name, bytes(4)))
        if value is None:
            raise Broken(name)
        return value

    def must_be_outside(start: int, size: int) -> None:
        for row in closed:
            if row.access != "opensbi" and start < row.end and row.start < start + size:
                raise Broken(f"a device is at {start:#x}")

    for node in tree.nodes:
        if node.is_compatible("syscon-poweroff") or node.is_compatible("syscon-reboot"):
            target = tree.reference(_cell(node.properties.get("regmap")))
            if "reg" not in target.properties or not target.is_compatible("syscon"):
                raise Broken("regmap has no address")
            entries = _entries(target, parents.get(id(target), Node("")))
            if not entries:
                raise Broken("regmap has no address")
            must_be_outside(entries[0][0] + number(node, "offset"), 4)
            continue
        if "compatible" not in node.properties or "reg" not in node.properties:
            continue
        used = [size for name, (size, _) in DRIVEN.items() if node.is_compatible(name)]
        if any(node.is_compatible(name) for name in CONSOLES):
            shift = number(node, "reg-shift")
            used = [(8 << min(shift, 64)) + number(node, "reg-offset")]
        if number(node, "riscv,ndev") > 1023:
            raise Broken("riscv,ndev")
        is_map = node.is_compatible("hartlock,system-map")
        path = above(node)
        if len(path) > 15:
            raise Broken("a device is too deep")
        is_translated = any(it.properties.get("ranges") for it in path)
        sizes = path[0].properties.get("#size-cells") if path else None
        if not used and not is_map and (is_translated or _cell(sizes) == 0):
            continue
        if is_translated:
            raise Broken("a device is on another bus")
        for start, size in _entries(node, path[0] if path else Node("")):
            if not is_map:
                must_be_outside(start, max([size, 1, *used]))
            elif not any(
                row.access == "none" and row.start <= start and start + max(size, 1) <= row.end
                for row in closed
            ):
                raise Broken("the system map is open")


def _check_linux(
    regions: Sequence[Region], largest: int, linux: tuple[int, int], closed: Sequence[Closed]
) -> None:
    """The place of the kernel, but for what the table closes in it."""
    borders = [border for it in regions for border in (it.base, it.end)] + [it.end for it in closed]
    for at in [linux[0], *(it for it in borders if linux[0] <= it < linux[1])]:
        if not any(it.start <= at < it.end for it in closed):
            region = _deciding(regions, largest, at)
            if region is None or region.kind[0] & ANY != ANY or region.kind[1]:
                raise Broken(f"{at:#x} is closed")


def _is_console(node: Node) -> bool:
    if not node.properties.get("status", b"ok").startswith(b"ok"):
        return False
    is_known = any(node.is_compatible(name) for name in (*CONSOLES, *OTHER_CONSOLES))
    return (is_known and node.properties.get("reg", b"") != b"") or node.is_compatible("ucb,htif0")


def check(
    data: bytes,
    closed: Sequence[Closed],
    loader: int,
    harts: int,
    linux: tuple[int, int] | None = None,
) -> None:
    """Raises :class:`Malformed` or :class:`Broken` for a tree that may not be signed."""
    tree = _Tree(parse(data))
    chosen, cpus = tree.child("chosen"), tree.child("cpus")
    for node in tree.nodes:
        for name in ("compatible", "device_type", "status", "riscv,isa", "riscv,isa-extensions"):
            if node.properties.get(name, b"")[-1:] not in (b"", b"\0"):
                raise Broken(f"{name} has no end")
    if any(len(node.properties.get("reg", b"")) % 4 for node in cpus.children):
        raise Broken("reg has no whole cells")
    config = tree.compatible("opensbi,domain,config", chosen)
    settings = tree.compatible("opensbi,config", chosen)
    instances = [it for it in config.children if it.is_compatible("opensbi,domain,instance")]
    domain = _only(instances, "of a domain")
    if "heap-size" in settings.properties:
        raise Broken("heap-size")
    if sum(node.hart is not None for node in cpus.children) > harts:
        raise Broken("more harts than the board has")
    _check_harts(tree, cpus, domain)
    cold = settings.properties.get("cold-boot-harts", b"")
    if len(cold) != 4 or tree.reference(_cell(cold)).hart != BOOT_HART:
        raise Broken("cold-boot-harts")
    boot = domain.properties.get("boot-hart")
    if boot is not None and tree.reference(_cell(boot)).hart != BOOT_HART:
        raise Broken("boot-hart")
    address, mode = domain.properties.get("next-addr"), domain.properties.get("next-mode")
    if address is not None and address[:8] != loader.to_bytes(8, "big"):
        raise Broken("next-addr")
    if mode is not None and _cell(mode) != 1:
        raise Broken("next-mode")
    if "system-reset-allowed" not in domain.properties:
        raise Broken("system-reset-allowed")
    regions = _regions(tree, domain)
    for largest in (63, 64):
        for row in closed:
            borders = [border for it in regions for border in (it.base, it.end)]
            for at in [row.start, *(it for it in borders if row.start <= it < row.end)]:
                if _open(row, _deciding(regions, largest, at)):
                    raise Broken(f"{at:#x} is open")
        first = _deciding(regions, largest, loader)
        if first is None or not first.kind[0] & EXECUTE or first.kind[1]:
            raise Broken("the loader is closed")
        if linux is not None:
            _check_linux(regions, largest, linux, closed)
    _check_devices(tree, closed)
    if not any(map(_is_console, tree.nodes)):
        raise NoConsole
