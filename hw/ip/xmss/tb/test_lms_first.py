"""`lms_first`: a value reaches its lane shifted by a byte, and a wipe leaves nothing of it to the next."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from plan import parameters

LANES = parameters()["Lanes"]
INPUTS = ["wipe_i", "index_i", "is_short_i", "want_i", "free_i", "read_ready_i", "read_data_i"]
CHAINS = [3 * lane + 1 for lane in range(LANES)]


class First(Clocked):
    """The block with a memory of random rows. A row comes in the cycle after its grant, and no row at other times."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)
        self.rows: dict[tuple[int, int], int] = {}
        self.words: list[int] = []
        self.reads = 0

    async def step(self, lane: int) -> None:
        """One cycle: the memory grants and the lane takes at random."""
        dut = self.dut
        grants, takes = random.random() < 0.7, random.random() < 0.7
        dut.read_ready_i.value, dut.free_i.value = int(grants), int(takes) << lane
        await ReadOnly()
        row = random.getrandbits(128)
        if grants and dut.read_valid_o.value == 1:
            at = int(dut.read_place_o.value), int(dut.read_row_o.value)
            row = self.rows.setdefault(at, row)
            self.reads += 1
        assert int(dut.valid_o.value) in (0, 1 << lane), "a word for another lane"
        if takes and int(dut.valid_o.value):
            self.words.append(int(dut.word_o.value))
        await self.tick()
        dut.read_data_i.value = row
        if self.reads:
            # The lane has its value, and wants no other one.
            dut.want_i.value = 0

    async def begin(self, lane: int, is_short: bool) -> int:
        """A lane wants a value. Returns q."""
        index = random.getrandbits(32)
        self.rows, self.words, self.reads = {}, [], 0
        self.dut.index_i.value, self.dut.is_short_i.value = index, int(is_short)
        # q is on the bus before a value begins.
        await self.tick()
        self.dut.want_i.value = 1 << lane
        return index

    def value(self, is_short: bool, index: int) -> list[int]:
        """The words of the value that was read: q, then the value from the fourth byte on, and the marker."""
        assert len({place & 0x1FF for place, _ in self.rows}) == 1
        by_row = {row: data for (_, row), data in self.rows.items()}
        pairs = [by_row[at & 1] >> 64 * (at >> 1) & (1 << 64) - 1 for at in range(3 if is_short else 4)]
        stream = index << 24
        for pair in pairs:
            stream = stream << 64 | pair
        stream = stream << 8 | 0x80
        count = len(pairs) + 1
        return [stream >> 64 * (count - 1 - at) & (1 << 64) - 1 for at in range(count)]


async def started(dut: HierarchyObject) -> First:
    bench = First(dut)
    for lane, chain in enumerate(CHAINS):
        dut.chain_i[lane].value = chain
    await bench.start_clock()
    return bench


async def bring(bench: First, lane: int) -> None:
    is_short = random.random() < 0.5
    index = await bench.begin(lane, is_short)
    for _ in range(200):
        await bench.step(lane)
        if len(bench.words) == (4 if is_short else 5):
            break
    assert bench.words == bench.value(is_short, index)


@cocotb.test()
async def a_value_reaches_its_lane(dut: HierarchyObject) -> None:
    bench = await started(dut)
    for _ in range(40):
        await bring(bench, random.randrange(LANES))


@cocotb.test()
async def a_wipe_drops_the_value(dut: HierarchyObject) -> None:
    bench = await started(dut)
    for cycles in range(60):
        lane = random.randrange(LANES)
        await bench.begin(lane, is_short=False)
        while not bench.reads:
            await bench.step(lane)
        for _ in range(cycles % 6):
            await bench.step(lane)
        dut.wipe_i.value = 1
        await bench.step(lane)
        dut.wipe_i.value = 0
        before = len(bench.words)
        for _ in range(3):
            await bench.step(lane)
        assert len(bench.words) == before, "a word of a value that was dropped"
        await bring(bench, random.randrange(LANES))
