"""What drivers of engines for hashes have in common: registers with the same names, and a stream of the message."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal

from axi_lite import Manager
from clocked import Clocked
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.triggers import ReadOnly
from messages import filled, in_words

INPUTS = ("str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "str_abort_i", "lifecycle_i")
# Of `status`, in every engine.
IDLE = 1
# Reads of a register: a longer wait is a hang.
PATIENCE = 500


class EngineDriver(Clocked):
    """The register port `axil` and the stream port `str` of an engine, with random stalls on both."""

    # A reset overwrites memories, a word a cycle.
    settling_cycles = 40

    def __init__(self, dut: HierarchyObject, at: Mapping[str, int], stalls: float = 0.0) -> None:
        """`at` has the offsets of registers by their names."""
        super().__init__(dut, INPUTS, stalls)
        self.bus = Manager(dut, "axil", stalls)
        self.at = at
        self.config = 0

    def stall(self, stalls: float) -> None:
        self.stalls = self.bus.stalls = stalls

    async def until(self, bits: int) -> int:
        """Waits for bits of `status`, and returns all of it."""
        for _ in range(PATIENCE):
            status = await self.bus.get(self.at["status"])
            if status & bits == bits:
                return status
        raise AssertionError(f"{bits:#x} do not come in STATUS, which is {status:#x}")

    async def configure(self, config: int) -> None:
        await self.until(IDLE)
        self.config = config
        await self.bus.write(self.at["control"], config)
        assert await self.bus.get(self.at["control"]) == config

    async def command(self, bits: int) -> None:
        await self.bus.write(self.at["command"], bits)

    async def expect_errors(self, bits: int) -> None:
        """Checks that there are these errors and no other, and clears them."""
        got = await self.bus.get(self.at["error"])
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.bus.write(self.at["error"], bits)
        assert await self.bus.get(self.at["error"]) == 0

    async def write_key_register(self, block: bytes) -> None:
        """The whole register, its words in any order."""
        await self.until(IDLE)
        for at in random.sample(range(0, len(block), 4), len(block) // 4):
            await self.bus.write(self.at["key"] + at, int.from_bytes(block[at : at + 4], "little"))

    @property
    def message_order(self) -> Literal["big", "little"]:
        """Of bytes in a word of the message."""
        return "little"

    async def stream(self, message: bytes, is_end: bool = True) -> None:
        size = len(self.dut.str_data_i) // 8
        for part, is_last in in_words(message, size, is_end):
            word = filled(part, size, self.message_order)
            await self.send("str", str_data=word, str_bytes=len(part), str_last=is_last)

    async def measure(self, events: Mapping[str, LogicObject]) -> dict[str, int]:
        """The cycles from the start of the next message to the first cycle in which each port is 1."""
        seen: dict[str, int] = {}
        start = None
        while start is None or len(seen) < len(events):
            await ReadOnly()
            if start is not None:
                for name, port in events.items():
                    if port.value == 1:
                        seen.setdefault(name, self.cycle - start)
            if self.dut.starts.value == 1:
                start = self.cycle
            await self.tick()
        return seen
