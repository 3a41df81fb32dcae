"""A copy of registers that are elsewhere: an upset of the registers or of the copy is seen in its cycle."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

WIDTH = 8


@cocotb.test()
async def shows_every_difference_as_long_as_it_exists(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, ["load_i", "next_i", "value_i"])
    value = 0
    for _ in range(500):
        loads, following = random.getrandbits(1), random.randrange(1 << WIDTH)
        dut.load_i.value, dut.next_i.value = loads, following
        upset = random.choice([0, 0, 1 << random.randrange(WIDTH), random.randrange(1 << WIDTH)])
        dut.value_i.value = value ^ upset
        await ReadOnly()
        assert int(dut.differs_o.value) == bool(upset)
        await bench.tick()
        await bench.let_assertions_fail()
        value = following if loads else value


@cocotb.test()
async def shows_an_upset_of_the_copy(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, ["load_i", "next_i", "value_i"])
    register = dut.g_copy.u_flop.value_q
    for upset in range(1, 1 << WIDTH):
        dut.load_i.value, dut.next_i.value, dut.value_i.value = 1, upset ^ 0x5A, upset ^ 0x5A
        await bench.tick(2)
        dut.load_i.value = 0
        register.value = 0x5A
        for _ in range(2):
            await ReadOnly()
            assert dut.differs_o.value == 1
            await bench.tick()
