"""Shared by the tests of the guard: managers, memory that answers late and in order, and what a burst touches."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from cocotb.handle import HierarchyObject
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


class Memory(Part):
    """Takes what passes. `writes` and `reads` are what reached it."""

    def __init__(self, dut: HierarchyObject) -> None:
        names = ["id", *CHANNELS]
        self.aw = Sink(dut, "mem_aw_valid_o", "mem_aw_ready_i", [f"aw_{name}_i" for name in names])
        self.w = Sink(dut, "mem_w_valid_o", "mem_w_ready_i", ["w_last_i"])
        self.ar = Sink(dut, "mem_ar_valid_o", "mem_ar_ready_i", [f"ar_{name}_i" for name in names])
        self.b = Source(dut, "mem_b_valid_i", "mem_b_ready_o", ["mem_b_id_i", "mem_b_resp_i"])
        answer = [f"mem_r_{name}_i" for name in ("id", "data", "resp", "last")]
        self.r = Source(dut, "mem_r_valid_i", "mem_r_ready_o", answer)
        self.order = WriteOrder(self.aw, self.w, dut.w_last_i)
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
        names = ["id", *CHANNELS]
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", [f"aw_{name}_i" for name in names])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", [f"ar_{name}_i" for name in names])
        self.w = Source(dut, "w_valid_i", "w_ready_o", ["w_last_i"])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_id_o", "b_resp_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", [f"r_{name}_o" for name in ("id", "data", "resp", "last")])
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
