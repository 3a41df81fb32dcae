"""`axi_window` between the host, registers and everything else."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import ORDERS, STALLS, Bench, Part, Sink, Source, WriteOrder

HOST = ["aw_valid_i", "aw_window_i", "aw_id_i", "aw_len_i", "aw_size_i", "aw_addr_i", "w_valid_i"]
HOST += ["w_data_i", "w_strb_i", "w_last_i", "b_ready_i", "ar_valid_i", "ar_window_i", "ar_id_i"]
HOST += ["ar_len_i", "ar_size_i", "ar_addr_i", "r_ready_i"]
SIDES = ["aw_ready_i", "w_ready_i", "b_valid_i", "b_resp_i", "ar_ready_i", "r_valid_i", "r_data_i"]
SIDES += ["r_resp_i"]
INPUTS = HOST + [f"{side}_{name}" for side in ("outer", "lite") for name in SIDES]
INPUTS += ["outer_r_last_i"]
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
        return self.window, self.id, self.len, self.size, self.address


class Side(Part):
    """Registers, or everything else: answers each access, and records it."""

    def __init__(self, dut: HierarchyObject, side: str) -> None:
        lite = side == "lite"
        beat = ["lite_w_data_o", "lite_w_strb_o"] if lite else ["w_data_i", "w_strb_i", "w_last_i"]
        write = ["lite_aw_addr_o"] if lite else ["aw_addr_i", "aw_len_i"]
        read = ["lite_ar_addr_o"] if lite else ["ar_addr_i", "ar_len_i"]
        answer = [f"{side}_r_data_i", f"{side}_r_resp_i"] + ([] if lite else ["outer_r_last_i"])
        self.lite = lite
        self.aw = Sink(dut, f"{side}_aw_valid_o", f"{side}_aw_ready_i", write)
        self.w = Sink(dut, f"{side}_w_valid_o", f"{side}_w_ready_i", beat)
        self.ar = Sink(dut, f"{side}_ar_valid_o", f"{side}_ar_ready_i", read)
        self.b = Source(dut, f"{side}_b_valid_i", f"{side}_b_ready_o", [f"{side}_b_resp_i"])
        self.r = Source(dut, f"{side}_r_valid_i", f"{side}_r_ready_o", answer)
        # Outside of the window the host's own signal reaches the side.
        self.order = WriteOrder(self.aw, self.w, None if lite else dut.w_last_i)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.beats: list[tuple[int, ...]] = []
        self.writes: list[tuple[int, list[tuple[int, ...]], int]] = []
        self.reads: list[tuple[int, list[tuple[int, int]]]] = []
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
                self.writes.append((self.open.popleft()[0], self.beats, response))
                self.b.queue.append((response,))
                self.beats = []
        for address, *rest in self.ar.taken:
            count = 1 if self.lite else rest[0] + 1
            beats = [(random.getrandbits(32 if self.lite else 64), OKAY) for _ in range(count)]
            self.reads.append((address, beats))
            for number, beat in enumerate(beats):
                last = () if self.lite else (int(number + 1 == count),)
                self.r.queue.append((*beat, *last))
        self.ar.taken.clear()


class Host:
    """The five channels of the host."""

    def __init__(self, dut: HierarchyObject) -> None:
        names = ["window", "id", "len", "size", "addr"]
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", [f"aw_{name}_i" for name in names])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", [f"ar_{name}_i" for name in names])
        self.w = Source(dut, "w_valid_i", "w_ready_o", ["w_data_i", "w_strb_i", "w_last_i"])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_id_o", "b_resp_o"])
        payload = ["r_id_o", "r_data_o", "r_resp_o", "r_last_o"]
        self.r = Sink(dut, "r_valid_o", "r_ready_i", payload)
        self.parts: list[Part] = [self.aw, self.ar, self.w, self.b, self.r]


def random_access() -> Access:
    window = random.getrandbits(1)
    length = random.choice([0, 0, 0, 3, 7])
    size = 3 if length else random.choice([0, 1, 2, 2, 2, 3])
    return Access(window, random.getrandbits(4), length, size, 4 * random.randrange(1024))


async def setup(dut: HierarchyObject) -> tuple[Bench, Host, dict[int, Side]]:
    bench, host = Bench(dut, INPUTS), Host(dut)
    sides = {0: Side(dut, "outer"), 1: Side(dut, "lite")}
    await bench.start(*host.parts, *sides.values())
    return bench, host, sides


def stall(host: Host, sides: dict[int, Side]) -> None:
    for part in [*host.parts, *sides[0].parts, *sides[1].parts]:
        part.stalls = random.choice(STALLS)
    for side in sides.values():
        side.order.choose()


@cocotb.test()
async def writes_reach_their_side_and_bursts_no_register(dut):
    bench, host, sides = await setup(dut)
    for _ in range(20):
        stall(host, sides)
        accesses = [random_access() for _ in range(10)]
        data = [[(random.getrandbits(64), random.getrandbits(8)) for _ in range(a.len + 1)] for a in accesses]
        for side in sides.values():
            side.writes.clear()
        for access, beats in zip(accesses, data):
            host.aw.queue.append(access.fields())
            ends = [0] * access.len + [1]
            host.w.queue.extend((*beat, end) for beat, end in zip(beats, ends))
        await bench.run(lambda: len(host.b.taken) == len(accesses), 20000)
        seen = {number: iter(side.writes) for number, side in sides.items()}
        for access, beats in zip(accesses, data):
            number, response = host.b.taken.popleft()
            assert number == access.id
            if access.window and not access.is_word:
                assert response == SLVERR
                continue
            address, got, expected = next(seen[access.window])
            assert response == expected
            if access.window:
                shift = 32 if access.address & 4 else 0
                ((value, strobes),) = beats
                assert got == [(value >> shift & 0xFFFF_FFFF, strobes >> shift // 8 & 0xF)]
                assert address == access.address
            else:
                assert got == beats
        assert all(next(rest, None) is None for rest in seen.values()), "a side has further accesses"


@cocotb.test()
async def reads_come_from_their_side_and_bursts_from_no_register(dut):
    bench, host, sides = await setup(dut)
    for _ in range(20):
        stall(host, sides)
        accesses = [random_access() for _ in range(10)]
        for side in sides.values():
            side.reads.clear()
        host.ar.queue.extend(access.fields() for access in accesses)
        total = sum(access.len + 1 for access in accesses)
        await bench.run(lambda: len(host.r.taken) == total, 20000)
        seen = {number: iter(side.reads) for number, side in sides.items()}
        for access in accesses:
            got = [host.r.taken.popleft() for _ in range(access.len + 1)]
            assert {beat[0] for beat in got} == {access.id}
            assert [beat[3] for beat in got] == [0] * access.len + [1]
            if access.window and not access.is_word:
                assert {beat[1:3] for beat in got} == {(0, SLVERR)}
                continue
            _, beats = next(seen[access.window])
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
            host.aw.queue.append(Access(window, 3, 0, 2, 8).fields())
            host.w.queue.append((5, 0xF, 1))
            await bench.run(lambda: len(host.b.taken) == 1, 20)
            assert host.b.taken.popleft()[0] == 3
            assert sides[window].writes.pop()[:2] == (8, [(5, 0xF)])
