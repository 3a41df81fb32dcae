"""The register of a state machine: an upset of one or two bits is an error in the same cycle, and for good."""

from __future__ import annotations

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, Timer
from upsets import upsets_of

IDLE, RUN, DONE, ERROR = 0b00111, 0b11100, 0b11011, 0b00000


async def machine(dut: HierarchyObject) -> Clocked:
    return await Clocked.started(dut, ["start_i", "end_i"])


async def shown(dut: HierarchyObject) -> tuple[int, int, int]:
    await ReadOnly()
    return int(dut.idle_o.value), int(dut.done_o.value), int(dut.error_o.value)


@cocotb.test()
async def starts_and_goes_from_state_to_state(dut: HierarchyObject) -> None:
    bench = await machine(dut)
    register = dut.u_state.u_flop.value_q
    for start, end, wanted in [(0, 1, IDLE), (1, 0, RUN), (1, 0, RUN), (0, 1, DONE), (0, 1, DONE), (0, 0, IDLE)]:
        dut.start_i.value, dut.end_i.value = start, end
        await bench.tick()
        await ReadOnly()
        assert int(register.value) == wanted
        await Timer(1, unit="ns")
    await bench.reset()
    assert await shown(dut) == (1, 0, 0)


@cocotb.test()
async def an_upset_is_an_error_until_reset(dut: HierarchyObject) -> None:
    bench = await machine(dut)
    for state in (IDLE, RUN, DONE):
        for code in upsets_of(state, 5, [IDLE, RUN, DONE]):
            await bench.reset()
            dut.u_state.u_flop.value_q.value = code
            for _ in range(3):
                assert await shown(dut) == (0, 0, 1), f"{code:05b}"
                await bench.tick()
                await bench.let_assertions_fail()
    await bench.reset()
    assert await shown(dut) == (1, 0, 0)
