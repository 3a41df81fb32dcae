"""A queue between two handshakes: each word leaves once, unchanged and in its turn."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from plan import parameters

WIDTH = 8
INPUTS = ["flush_i", "in_valid_i", "in_data_i", "out_ready_i"]
DEPTH = parameters()["Depth"]
WIPES = bool(parameters().get("Wipes", 0))


class Channel(Clocked):
    """The block, and the words that are in it."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)
        self.words: list[int] = []
        self.wipe_cycles = DEPTH if WIPES else 0

    async def step(self, sends: bool, takes: bool, flushes: bool = False) -> tuple[int, int]:
        """One cycle, compared with the model. Returns how many words entered and left."""
        dut, word = self.dut, random.randrange(1 << WIDTH)
        dut.in_valid_i.value, dut.in_data_i.value = int(sends), word
        dut.out_ready_i.value, dut.flush_i.value = int(takes), int(flushes)
        await ReadOnly()
        try:
            has_room = len(self.words) < DEPTH and self.wipe_cycles == 0
            assert int(dut.in_ready_o.value) == has_room
            assert int(dut.out_valid_o.value) == bool(self.words)
            if self.words:
                assert int(dut.out_data_o.value) == self.words[0]
            assert int(dut.level_o.value) == len(self.words)
            assert int(dut.busy_o.value) == (self.wipe_cycles > 0)
        except AssertionError:
            await self.let_assertions_fail()
            raise
        enters, leaves = sends and has_room, takes and bool(self.words)
        if leaves:
            self.words.pop(0)
        if enters:
            self.words.append(word)
        self.wipe_cycles = max(self.wipe_cycles - 1, 0)
        if flushes:
            self.words.clear()
            self.wipe_cycles = DEPTH if WIPES else 0
        await self.tick()
        return int(enters), int(leaves)


async def channel(dut: HierarchyObject) -> Channel:
    found = await Channel.started(dut)
    # A wipe begins with the first cycle after the reset.
    found.wipe_cycles = max(found.wipe_cycles - found.settling_cycles, 0)
    while found.wipe_cycles:
        await found.step(True, False)
    return found


@cocotb.test()
async def words_leave_in_their_order(dut: HierarchyObject) -> None:
    bench = await channel(dut)
    for send, take in [(0.9, 0.1), (0.5, 0.5), (0.1, 0.9), (1.0, 0.5), (0.5, 1.0)]:
        for _ in range(400):
            await bench.step(random.random() < send, random.random() < take, random.random() < 0.01)


@cocotb.test()
async def a_channel_without_stalls_loses_no_cycle(dut: HierarchyObject) -> None:
    bench = await channel(dut)
    await bench.step(True, True)
    moved = [await bench.step(True, True) for _ in range(50)]
    assert moved == [(1, 1)] * 50


@cocotb.test()
async def a_flush_drops_every_number_of_words(dut: HierarchyObject) -> None:
    bench = await channel(dut)
    for count in range(DEPTH + 1):
        for sends in (False, True):
            for _ in range(count):
                await bench.step(True, False)
            await bench.step(sends, False, True)
            assert not bench.words
            for _ in range(DEPTH + 2):
                await bench.step(False, True)


@cocotb.test()
async def a_wipe_overwrites_every_word(dut: HierarchyObject) -> None:
    if not WIPES:
        return
    bench = await channel(dut)
    memory = dut.u_memory.words_q
    for _ in range(2):
        for at in range(DEPTH):
            memory[at].value = 0xFF
        await bench.step(False, False, True)
        while bench.wipe_cycles:
            await bench.step(True, True)
        await bench.step(False, False)
        assert [int(memory[at].value) for at in range(DEPTH)] == [0] * DEPTH
