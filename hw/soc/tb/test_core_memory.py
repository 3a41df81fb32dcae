"""`core_memory` against a dictionary, on both ports at once."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part, chance

INPUTS = ["fetch_req_i", "fetch_word_i", "data_req_i", "data_we_i", "data_be_i", "data_word_i"]
INPUTS += ["data_wdata_i"]


def merged(old: int, new: int, strobes: int) -> int:
    mask = sum(0xFF << 8 * lane for lane in range(4) if strobes >> lane & 1)
    return (old & ~mask) | (new & mask)


class Traffic(Part):
    """Random accesses to a few words, and the expected responses, by cycle."""

    def __init__(self, dut: HierarchyObject, bench: Bench, words: list[int], is_rom: bool) -> None:
        self.dut = dut
        self.bench = bench
        self.latency = int(dut.Latency.value)
        self.is_rom = is_rom
        self.words = words
        self.contents = {word: int(dut.mem[word].value) for word in words}
        self.fetches: dict[int, int] = {}
        self.accesses: dict[int, tuple[int, int] | None] = {}
        self.answers = 0

    def drive(self) -> None:
        dut, due = self.dut, self.bench.cycle + self.latency
        fetch, data = chance(0.6), chance(0.6)
        dut.fetch_req_i.value = int(fetch)
        dut.data_req_i.value = int(data)
        word, write = random.choice(self.words), chance(0.5)
        fetched, strobes, value = random.choice(self.words), random.getrandbits(4), random.getrandbits(32)
        dut.fetch_word_i.value = fetched
        dut.data_word_i.value = word
        dut.data_we_i.value = int(write)
        dut.data_be_i.value = strobes
        dut.data_wdata_i.value = value
        # A fetch gets the word from before a write of the same cycle.
        if fetch:
            self.fetches[due] = self.contents[fetched]
        if data and write:
            self.accesses[due] = (int(self.is_rom), -1)
            if not self.is_rom:
                self.contents[word] = merged(self.contents[word], value, strobes)
        elif data:
            self.accesses[due] = (0, self.contents[word])

    def sample(self) -> None:
        dut, cycle = self.dut, self.bench.cycle
        fetched, access = self.fetches.pop(cycle, None), self.accesses.pop(cycle, None)
        assert (dut.fetch_rvalid_o.value == 1) == (fetched is not None)
        assert (dut.data_rvalid_o.value == 1) == (access is not None)
        if fetched is not None:
            assert int(dut.fetch_rdata_o.value) == fetched
        if access is not None:
            error, value = access
            assert int(dut.data_err_o.value) == error
            assert value in (-1, int(dut.data_rdata_o.value))
            self.answers += 1


async def setup(dut: HierarchyObject) -> Traffic:
    bench = Bench(dut, INPUTS)
    await bench.start()
    last = int(dut.Words.value) - 1
    words = [0, last, *random.sample(range(1, last), 6)]
    for word in words:
        dut.mem[word].value = random.getrandbits(32)
    await bench.cycles(2)
    traffic = Traffic(dut, bench, words, is_rom=not int(dut.Writable.value))
    bench.parts = [traffic]
    return traffic


@cocotb.test()
async def remembers_bytes_and_answers_in_time(dut):
    traffic = await setup(dut)
    await traffic.bench.run(lambda: traffic.answers >= 600)


@cocotb.test()
async def a_rom_refuses_writes_and_keeps_its_words(dut):
    """Only of a memory that is built as a ROM."""
    traffic = await setup(dut)
    before = dict(traffic.contents)
    traffic.is_rom = True
    await traffic.bench.run(lambda: traffic.answers >= 200)
    assert {word: int(dut.mem[word].value) for word in before} == before
