"""`tee_stream`: lists become messages, with the words of all of them in order, and no message has a part of a word inside."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Bench, Part, Sink, Source

INPUTS = ["hold_i", "in_valid_i", "in_data_i", "in_last_i", "in_bytes_i", "in_abort_i", "out_ready_i"]
# Data, last, bytes.
Word = tuple[int, int, int]


class Aborts(Part):
    """Cycles in which the hash engine is told to forget its message."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.count = dut, 0

    def sample(self) -> None:
        self.count += int(self.dut.out_abort_o.value)


class Setup:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.bench, self.aborts = dut, Bench(dut, INPUTS), Aborts(dut)
        self.source = Source(dut, "in_valid_i", "in_ready_o", ["in_data_i", "in_last_i", "in_bytes_i"])
        self.sink = Sink(dut, "out_valid_o", "out_ready_i", ["out_data_o", "out_last_o", "out_bytes_o"])

    async def start(self) -> None:
        await self.bench.start(self.source, self.sink, self.aborts)

    async def carry_out(self, words: list[Word], holds: bool) -> list[Word]:
        """A list: what the hash engine gets of it."""
        self.dut.hold_i.value = int(holds)
        self.source.stalls, self.sink.stalls = random.choice(STALLS[:3]), random.choice(STALLS[:3])
        before = len(self.sink.taken)
        self.source.queue.extend(words)
        await self.bench.run(lambda: not self.source.queue)
        await self.bench.cycles(2)
        return list(self.sink.taken)[before:]


def of_list(count: int, last_bytes: int) -> list[Word]:
    words = [(random.getrandbits(64), 0, 8) for _ in range(count)]
    return [*words, (random.getrandbits(64), 1, last_bytes)]


@cocotb.test()
async def a_list_is_a_message(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for last_bytes in [*range(9), *range(9)]:
        words = of_list(random.randrange(6), last_bytes)
        assert await setup.carry_out(words, holds=False) == words
    assert setup.aborts.count == 0


@cocotb.test()
async def held_lists_continue_a_message(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for _ in range(20):
        message, wanted = [], []
        for _ in range(random.randrange(1, 5)):
            words = of_list(random.randrange(6), random.choice([0, 8]))
            message += await setup.carry_out(words, holds=True)
            wanted += [(data, 0, 8) for data, _, size in words if size == 8]
        words = of_list(random.randrange(6), random.randrange(9))
        message += await setup.carry_out(words, holds=False)
        assert message == wanted + words
    assert setup.aborts.count == 0


@cocotb.test()
async def a_part_of_a_word_inside_ends_the_message(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for last_bytes in range(1, 8):
        before = setup.aborts.count
        words = of_list(3, last_bytes)
        assert await setup.carry_out(words, holds=True) == words[:-1]
        assert setup.aborts.count == before + 1, "a digest would follow"


@cocotb.test()
async def an_abort_passes_in_its_cycle(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for holds in [0, 1]:
        dut.hold_i.value = holds
        before = setup.aborts.count
        dut.in_abort_i.value = 1
        await setup.bench.cycles(1)
        dut.in_abort_i.value = 0
        await setup.bench.cycles(5)
        assert setup.aborts.count == before + 1
