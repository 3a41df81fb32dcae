"""A register with a copy: it does what a register does, and every upset of one of the two is seen in its cycle."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

WIDTH = 8
RESET = 0


async def shown(dut: HierarchyObject) -> tuple[int, int]:
    await ReadOnly()
    return int(dut.q_o.value), int(dut.differs_o.value)


@cocotb.test()
async def keeps_the_last_value_without_a_difference(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, ["write_i", "d_i"])
    assert await shown(dut) == (RESET, 0)
    await bench.tick()
    kept = RESET
    for value in [0, 0xFF, *(random.randrange(1 << WIDTH) for _ in range(200))]:
        writes = random.getrandbits(1)
        dut.write_i.value, dut.d_i.value = writes, value
        kept = value if writes else kept
        await bench.tick()
        await bench.let_assertions_fail()
        assert await shown(dut) == (kept, 0)
        await bench.tick()


@cocotb.test()
async def every_upset_of_one_of_the_two_is_a_difference(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, ["write_i", "d_i"])
    for value in (0, 0xFF, 0x3C):
        for upset in range(1, 1 << WIDTH):
            for register in (dut.u_flop.value_q, dut.u_copy.value_q):
                dut.write_i.value, dut.d_i.value = 1, value
                await bench.tick(2)
                dut.write_i.value = 0
                register.value = int(register.value) ^ upset
                # It is seen in its cycle, and until the next write.
                for _ in range(3):
                    assert (await shown(dut))[1] == 1, f"{value:#x}, {upset:#x} of {register._path}"
                    await bench.tick()
                    await bench.let_assertions_fail()
                dut.write_i.value = 1
                await bench.tick()
                assert await shown(dut) == (value, 0)
                await bench.tick()
