"""`axi_window` between the host, registers and everything else."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from axi_bundles import side
from cocotb.handle import HierarchyObject
from soc_bench import ORDERS, STALLS, Bench, Part, Sink, Source, WriteOrder

INPUTS = ["aw_window_i", "ar_window_i", "axi_i", "outer_axi_i", "lite_axil_i"]
OKAY, SLVERR, DECERR = 0, 2, 3


@dataclass
class Access:
    """Of the host; `is_word` says whether registers may get it."""

    window: int
    id: int
    len: int
    size: int
    address: int

    @property
    def is_word(self) -> bool:
        return self.len == 0 and self.size <= 2

    def fields(self) -> tuple[int, ...]:
        return self.id, self.len, self.size, self.address, self.window

    def request(self) -> tuple[int, ...]:
        """What its side sees of it."""
        return (self.address,) if self.window else (self.address, self.len, self.size, self.id)


class Side(Part):
    """Registers, or everything else: answers each access, and records it."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        lite = name == "lite_axil"
        port = side(dut, name, is_manager=False, is_lite=lite)
        beat = ["w_data", "w_strb"] if lite else ["w_data", "w_strb", "w_last"]
        request = ["addr"] if lite else ["addr", "len", "size", "id"]
        confirmation = ["b_resp"] if lite else ["b_resp", "b_id"]
        answer = ["r_data", "r_resp"] if lite else ["r_data", "r_resp", "r_last", "r_id"]
        self.lite = lite
        self.aw = Sink(port, "aw_valid", "aw_ready", [f"aw_{field}" for field in request])
        self.w = Sink(port, "w_valid", "w_ready", beat)
        self.ar = Sink(port, "ar_valid", "ar_ready", [f"ar_{field}" for field in request])
        self.b = Source(port, "b_valid", "b_ready", confirmation)
        self.r = Source(port, "r_valid", "r_ready", answer)
        self.order = WriteOrder(self.aw, self.w, None if lite else port.w_last)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.beats: list[tuple[int, ...]] = []
        # Fields of the request, its beats, and what was answered. An answer has any id, which the host does not see.
        self.writes: list[tuple[tuple[int, ...], list[tuple[int, ...]], int]] = []
        self.reads: list[tuple[tuple[int, ...], list[tuple[int, int]]]] = []
        self.open: deque[tuple[int, ...]] = deque()

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        self.open.extend(self.aw.taken)
        self.aw.taken.clear()
        while self.w.taken and self.open:
            beat = self.w.taken.popleft()
            self.beats.append(beat[:2])
            if self.lite or beat[2]:
                response = random.choice([OKAY, SLVERR, DECERR])
                self.writes.append((self.open.popleft(), self.beats, response))
                self.b.queue.append((response, *self.any_id()))
                self.beats = []
        for request in self.ar.taken:
            count = 1 if self.lite else request[1] + 1
            beats = [(random.getrandbits(32 if self.lite else 64), OKAY) for _ in range(count)]
            self.reads.append((request, beats))
            for number, beat in enumerate(beats):
                last = () if self.lite else (int(number + 1 == count),)
                self.r.queue.append((*beat, *last, *self.any_id()))
        self.ar.taken.clear()

    def any_id(self) -> tuple[int, ...]:
        return () if self.lite else (random.getrandbits(5),)


class Host:
    """The five channels of the host."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = side(dut, "axi", is_manager=True)
        names = ["id", "len", "size", "addr"]
        self.aw = Source(port, "aw_valid", "aw_ready", [f"aw_{name}" for name in names])
        self.ar = Source(port, "ar_valid", "ar_ready", [f"ar_{name}" for name in names])
        self.aw.payload.append(dut.aw_window_i)
        self.ar.payload.append(dut.ar_window_i)
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb", "w_last"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_id", "b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_id", "r_data", "r_resp", "r_last"])
        self.parts: list[Part] = [self.aw, self.ar, self.w, self.b, self.r]


def random_access() -> Access:
    window = random.getrandbits(1)
    length = random.choice([0, 0, 0, 3, 7])
    size = 3 if length else random.choice([0, 1, 2, 2, 2, 3])
    return Access(window, random.getrandbits(5), length, size, 4 * random.randrange(1024))


async def setup(dut: HierarchyObject) -> tuple[Bench, Host, dict[int, Side]]:
    bench, host = Bench(dut, INPUTS), Host(dut)
    sides = {0: Side(dut, "outer_axi"), 1: Side(dut, "lite_axil")}
    await bench.start(*host.parts, *sides.values())
    return bench, host, sides


def stall(host: Host, sides: dict[int, Side]) -> None:
    for part in [*host.parts, *sides[0].parts, *sides[1].parts]:
        part.stalls = random.choice(STALLS)
    for one in sides.values():
        one.order.choose()


@cocotb.test()
async def writes_reach_their_side_and_bursts_no_register(dut):
    bench, host, sides = await setup(dut)
    for _ in range(20):
        stall(host, sides)
        accesses = [random_access() for _ in range(10)]
        data = [[(random.getrandbits(64), random.getrandbits(8)) for _ in range(a.len + 1)] for a in accesses]
        for one in sides.values():
            one.writes.clear()
        for access, beats in zip(accesses, data):
            host.aw.queue.append(access.fields())
            ends = [0] * access.len + [1]
            host.w.queue.extend((*beat, end) for beat, end in zip(beats, ends))
        await bench.run(lambda: len(host.b.taken) == len(accesses), 20000)
        seen = {number: iter(one.writes) for number, one in sides.items()}
        for access, beats in zip(accesses, data):
            number, response = host.b.taken.popleft()
            assert number == access.id
            if access.window and not access.is_word:
                assert response == SLVERR
                continue
            request, got, expected = next(seen[access.window])
            assert response == expected
            assert request == access.request()
            if access.window:
                shift = 32 if access.address & 4 else 0
                ((value, strobes),) = beats
                assert got == [(value >> shift & 0xFFFF_FFFF, strobes >> shift // 8 & 0xF)]
            else:
                assert got == beats
        assert all(next(rest, None) is None for rest in seen.values()), "a side has further accesses"


@cocotb.test()
async def reads_come_from_their_side_and_bursts_from_no_register(dut):
    bench, host, sides = await setup(dut)
    for _ in range(20):
        stall(host, sides)
        accesses = [random_access() for _ in range(10)]
        for one in sides.values():
            one.reads.clear()
        host.ar.queue.extend(access.fields() for access in accesses)
        total = sum(access.len + 1 for access in accesses)
        await bench.run(lambda: len(host.r.taken) == total, 20000)
        seen = {number: iter(one.reads) for number, one in sides.items()}
        for access in accesses:
            got = [host.r.taken.popleft() for _ in range(access.len + 1)]
            assert {beat[0] for beat in got} == {access.id}
            assert [beat[3] for beat in got] == [0] * access.len + [1]
            if access.window and not access.is_word:
                assert {beat[1:3] for beat in got} == {(0, SLVERR)}
                continue
            request, beats = next(seen[access.window])
            assert request == access.request()
            expected = [(data << 32 | data if access.window else data, resp) for data, resp in beats]
            assert [beat[1:3] for beat in got] == expected
        assert all(next(rest, None) is None for rest in seen.values()), "a side has further accesses"


@cocotb.test()
async def data_are_offered_to_a_side_that_waits_for_them(dut):
    """One write for each order and side, with nothing else under way: it hangs if data wait for their address."""
    bench, host, sides = await setup(dut)
    for order in ORDERS:
        for window in (0, 1):
            sides[window].order.order = order
            access = Access(window, 3, 0, 2, 8)
            host.aw.queue.append(access.fields())
            host.w.queue.append((5, 0xF, 1))
            await bench.run(lambda: len(host.b.taken) == 1, 20)
            assert host.b.taken.popleft()[0] == 3
            assert sides[window].writes.pop()[:2] == (access.request(), [(5, 0xF)])
