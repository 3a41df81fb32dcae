"""A block with a clock in a test: its reset, its cycles, and channels with `valid` and `ready`.

Inputs change after an edge, and ports are read when the cycle has settled: what they show then decides what the
next edge does.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Self

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import ReadOnly, RisingEdge, Timer


class Clocked:
    """A cycle at a time. Channels stall with the probability `stalls`."""

    # Names of the ports, and the value that resets. A third-party block may have others.
    clock_name, reset_name, reset_value = "clk_i", "rst_ni", 0
    # Cycles after a reset before a test goes on.
    settling_cycles = 1
    # More cycles than any handshake takes without a stall: a longer wait is a hang.
    patience = 3000

    def __init__(self, dut: HierarchyObject, inputs: Iterable[str] = (), stalls: float = 0.0) -> None:
        """`inputs` are the ports that are zero at first; `clear_inputs` clears them again."""
        self.dut, self.inputs, self.stalls = dut, list(inputs), stalls
        self.clock: LogicObject = getattr(dut, self.clock_name)
        # Edges since the clock was started.
        self.cycle = 0

    @classmethod
    async def started(cls, *arguments: Any, **options: Any) -> Self:
        """Makes one, and starts its clock."""
        block = cls(*arguments, **options)
        await block.start_clock()
        return block

    async def start_clock(self) -> None:
        """Clears the inputs, starts the clock, and resets."""
        self.clear_inputs()
        self._port(self.reset_name).value = self.reset_value
        # The first that waits for an edge: after one, all others read the same `cycle`.
        cocotb.start_soon(self._count())
        # The reset comes before the first edge: until then registers have any value, and no rule holds.
        await Timer(1, unit="ns")
        cocotb.start_soon(Clock(self.clock, 10, unit="ns").start())
        await self.reset()

    def clear_inputs(self) -> None:
        for name in self.inputs:
            self._port(name).value = 0

    async def reset(self) -> None:
        self._port(self.reset_name).value = self.reset_value
        await self.tick(2)
        self._port(self.reset_name).value = 1 - self.reset_value
        await self.tick(self.settling_cycles)

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.clock)
            self.cycle += 1

    def _port(self, name: str) -> LogicObject:
        return getattr(self.dut, name)

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.clock)

    async def sees(self, port: LogicObject) -> int:
        """The value of a port in this cycle. Returns after the edge."""
        await ReadOnly()
        value = int(port.value)
        await self.tick()
        return value

    async def wait_for(self, port: LogicObject) -> int:
        """Waits for a cycle in which a port is 1, and returns after its edge how many cycles were before it."""
        for waited in range(self.patience):
            if await self.sees(port) == 1:
                return waited
        raise AssertionError(f"{port._path} does not come")

    async def value_when(self, valid: LogicObject, port: LogicObject) -> int:
        """The value of a port in the first cycle in which another is 1. Returns after its edge."""
        for _ in range(self.patience):
            await ReadOnly()
            is_valid, value = valid.value == 1, int(port.value)
            await self.tick()
            if is_valid:
                return value
        raise AssertionError(f"{valid._path} does not come")

    async def pulse(self, port: LogicObject) -> None:
        port.value = 1
        await self.tick()
        port.value = 0

    async def pause(self) -> None:
        while random.random() < self.stalls:
            await self.tick()

    async def send(self, channel: str, **values: int) -> None:
        """Drives values, of ports by their names without `_i`, until the channel takes them. Returns after the edge."""
        await self.pause()
        for name, value in values.items():
            self._port(f"{name}_i").value = int(value)
        valid = self._port(f"{channel}_valid_i")
        valid.value = 1
        await self.wait_for(self._port(f"{channel}_ready_o"))
        valid.value = 0

    async def take(self, channel: str, port: LogicObject) -> int:
        """Takes a value from a channel, with `ready` before or after `valid`. Returns after the edge."""
        await self.pause()
        ready = self._port(f"{channel}_ready_i")
        ready.value = 1
        value = await self.value_when(self._port(f"{channel}_valid_o"), port)
        ready.value = 0
        return value

    async def let_assertions_fail(self) -> None:
        """For runs of mutants, before checks that see the same fault: an assertion has to be the first that detects
        it, and assertions are checked when the clock rises."""
        if "mutant" in cocotb.plusargs:
            await self.tick(3)


def part_of(block: HierarchyObject, path: str) -> Any:
    """A register or an instance below a block, by its path."""
    return functools.reduce(getattr, path.split("."), block)


def periods(cycles: Iterable[int]) -> set[int]:
    """The distances from each cycle to the next."""
    return {after - before for before, after in pairwise(cycles)}
