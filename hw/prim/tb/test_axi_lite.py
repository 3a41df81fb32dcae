"""The two ends of a wire: what one writes the other keeps and the first reads again, with any stalls."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import Combine

from axi_lite import DECERR, OKAY, SLVERR, Manager, Subordinate
from clocked import Clocked

WORDS = 64
# Answered with errors, so that responses cannot be mixed up unnoticed.
FORBIDDEN, NOWHERE = 4 * WORDS, 4 * WORDS + 4


class Memory:
    def __init__(self) -> None:
        self.words = [0] * WORDS

    async def read(self, address: int) -> tuple[int, int]:
        if address >= 4 * WORDS:
            return 0, SLVERR if address == FORBIDDEN else DECERR
        return self.words[address // 4], OKAY

    async def write(self, address: int, data: int, strobe: int) -> int:
        if address >= 4 * WORDS:
            return SLVERR if address == FORBIDDEN else DECERR
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)
        old = self.words[address // 4]
        self.words[address // 4] = old & ~mask | data & mask
        return OKAY


async def start(dut: HierarchyObject, stalls: tuple[float, float]) -> tuple[Manager, Memory]:
    manager, memory = Manager(dut, "up", stalls[0]), Memory()
    subordinate = Subordinate(dut, "down", memory.read, memory.write, stalls[1])
    await Clocked.started(dut)
    subordinate.start()
    return manager, memory


@cocotb.test()
@cocotb.parametrize(stalls=[(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.5, 0.5)])
async def everything_arrives_in_order(dut: HierarchyObject, stalls: tuple[float, float]) -> None:
    manager, memory = await start(dut, stalls)
    expected = [0] * WORDS
    for _ in range(12):
        addresses = random.sample(range(0, 4 * WORDS, 4), 10)
        accesses = [(address, random.getrandbits(32)) for address in addresses]
        assert await manager.writes(accesses) == [OKAY] * 10
        for address, data in accesses:
            expected[address // 4] = data
        wanted = [(expected[address // 4], OKAY) for address in addresses]
        assert await manager.reads(addresses) == wanted
    assert memory.words == expected


@cocotb.test()
async def errors_come_back_to_what_caused_them(dut: HierarchyObject) -> None:
    manager, _ = await start(dut, (0.3, 0.3))
    accesses = [(0, 1), (FORBIDDEN, 2), (4, 3), (NOWHERE, 4), (8, 5)]
    assert await manager.writes(accesses) == [OKAY, SLVERR, OKAY, DECERR, OKAY]
    addresses = [address for address, _ in accesses]
    assert await manager.reads(addresses) == [(1, OKAY), (0, SLVERR), (3, OKAY), (0, DECERR), (5, OKAY)]


@cocotb.test()
async def bytes_are_written_alone(dut: HierarchyObject) -> None:
    manager, memory = await start(dut, (0.0, 0.0))
    await manager.write(0, 0x11223344)
    assert await manager.writes([(0, 0xAABBCCDD)], strobe=0b0101) == [OKAY]
    assert memory.words[0] == 0x11BB33DD


@cocotb.test()
async def reads_and_writes_do_not_wait_for_each_other(dut: HierarchyObject) -> None:
    manager, memory = await start(dut, (0.3, 0.3))
    memory.words[32:] = range(100, 132)
    writes = cocotb.start_soon(manager.writes([(4 * index, index) for index in range(32)]))
    reads = cocotb.start_soon(manager.reads([128 + 4 * index for index in range(32)]))
    await Combine(writes, reads)
    assert reads.result() == [(100 + index, OKAY) for index in range(32)]
    assert memory.words[:32] == list(range(32))
