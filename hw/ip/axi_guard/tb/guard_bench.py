"""Shared by the tests of the guard: managers, memory that answers late and in order, and what a burst touches."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from axi_bundles import Side, side
from cocotb.handle import HierarchyObject, LogicObject
from handshakes import ORDERS, STALLS, Part, Sink, Source, WriteOrder

FIXED, INCR, WRAP, RESERVED = range(4)
OKAY, SLVERR, DECERR = 0, 2, 3
PAGE = 1 << 12
CHANNELS = ["addr", "len", "size", "burst"]
INPUTS = ["aw_valid_i", "w_valid_i", "w_last_i", "b_ready_i", "ar_valid_i", "r_ready_i"]
INPUTS += [f"{channel}_{name}_i" for channel in ("aw", "ar") for name in ["id", *CHANNELS]]
INPUTS += [f"mem_{name}_i" for name in ("aw_ready", "w_ready", "b_valid", "b_id", "b_resp", "ar_ready")]
INPUTS += [f"mem_r_{name}_i" for name in ("valid", "id", "data", "resp", "last")]


@dataclass
class Burst:
    """A request, as AMBA AXI §A3.4.1 describes it."""

    address: int
    len: int = 0
    size: int = 3
    kind: int = INCR
    id: int = 0

    def fields(self) -> tuple[int, ...]:
        return self.id, self.address, self.len, self.size, self.kind

    def beats(self) -> Iterator[int]:
        """First address of each beat."""
        width = 1 << self.size
        start = self.address - self.address % width
        whole = width * (self.len + 1)
        low = self.address - self.address % whole
        for beat in range(self.len + 1):
            if self.kind == FIXED:
                yield start
            elif self.kind == WRAP:
                yield low + (start - low + beat * width) % whole
            else:
                yield start + beat * width

    def pages(self) -> set[int]:
        return {beat // PAGE for beat in self.beats()} | {(beat + (1 << self.size) - 1) // PAGE for beat in self.beats()}

    def is_legal(self) -> bool:
        if self.size > 3 or self.kind == RESERVED:
            return False
        if self.kind == FIXED and self.len > 15:
            return False
        if self.kind == WRAP and (self.len not in (1, 3, 7, 15) or self.address % (1 << self.size)):
            return False
        return len(self.pages()) == 1

    def may_pass(self, closed: list[tuple[int, int]]) -> bool:
        touches = any(first <= page <= last for page in self.pages() for first, last in closed)
        return self.is_legal() and not touches


class CorePort:
    """A port of the core, which has a signal for each field; payloads towards memory are those of the managers."""

    def __init__(self, dut: HierarchyObject, prefix: str) -> None:
        self.dut, self.prefix = dut, prefix

    def __getattr__(self, name: str) -> LogicObject:
        for prefix in dict.fromkeys((self.prefix, "")):
            for end in ("_i", "_o"):
                if hasattr(self.dut, f"{prefix}{name}{end}"):
                    return getattr(self.dut, f"{prefix}{name}{end}")
        raise AttributeError(name)


def ports(dut: HierarchyObject) -> tuple[Side | CorePort, Side | CorePort]:
    """The port of the managers and that of memory."""
    if hasattr(dut, "axi_i"):
        return side(dut, "axi", is_manager=True), side(dut, "mem_axi", is_manager=False)
    return CorePort(dut, ""), CorePort(dut, "mem_")


class Memory(Part):
    """Takes what passes. `writes` and `reads` are what reached it."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = ports(dut)[1]
        names = ["id", *CHANNELS]
        self.aw = Sink(port, "aw_valid", "aw_ready", [f"aw_{name}" for name in names])
        self.w = Sink(port, "w_valid", "w_ready", ["w_last"])
        self.ar = Sink(port, "ar_valid", "ar_ready", [f"ar_{name}" for name in names])
        self.b = Source(port, "b_valid", "b_ready", ["b_id", "b_resp"])
        self.r = Source(port, "r_valid", "r_ready", [f"r_{name}" for name in ("id", "data", "resp", "last")])
        self.order = WriteOrder(self.aw, self.w, port.w_last)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.writes: list[tuple[tuple[int, ...], int]] = []
        self.reads: list[tuple[tuple[int, ...], list[tuple[int, ...]]]] = []
        self.beats: deque[int] = deque()

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        while self.aw.taken and any(last for (last,) in self.w.taken):
            request = self.aw.taken.popleft()
            count = 1
            while not self.w.taken.popleft()[0]:
                count += 1
            assert count == request[2] + 1, "the burst has another length"
            response = random.choice([OKAY, SLVERR])
            self.writes.append((request, response))
            self.b.queue.append((request[0], response))
        while self.ar.taken:
            request = self.ar.taken.popleft()
            count = request[2] + 1
            beats = [(request[0], random.getrandbits(64), OKAY, int(n + 1 == count)) for n in range(count)]
            self.reads.append((request, beats))
            self.r.queue.extend(beats)


class Managers:
    """The five channels of the managers."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = ports(dut)[0]
        names = ["id", *CHANNELS]
        self.aw = Source(port, "aw_valid", "aw_ready", [f"aw_{name}" for name in names])
        self.ar = Source(port, "ar_valid", "ar_ready", [f"ar_{name}" for name in names])
        self.w = Source(port, "w_valid", "w_ready", ["w_last"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_id", "b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", [f"r_{name}" for name in ("id", "data", "resp", "last")])
        self.parts: list[Part] = [self.aw, self.ar, self.w, self.b, self.r]

    def write(self, burst: Burst) -> None:
        self.aw.queue.append(burst.fields())
        self.w.queue.extend((int(beat == burst.len),) for beat in range(burst.len + 1))

    def read(self, burst: Burst) -> None:
        self.ar.queue.append(burst.fields())


def stall(managers: Managers, memory: Memory) -> None:
    for part in [*managers.parts, *memory.parts]:
        part.stalls = random.choice(STALLS[:3])
    memory.order.choose()
    assert memory.order.order in ORDERS
