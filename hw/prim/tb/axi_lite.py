"""AXI4-Lite for tests: a `Manager` and a `Subordinate`, which stall on every channel at random.

A port is found by its name, which is that of its bundles without `_i` and `_o` (axi_bundles.py). Rules of the protocol
are checked by `../rtl/axi_lite_checks.sv`, for every driver of the port. The random numbers are those of the test's seed.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence

import cocotb
from axi_bundles import Field, side
from cocotb.handle import HierarchyObject, LogicObject
from cocotb.task import Task
from cocotb.triggers import Combine, Lock, ReadOnly, RisingEdge

OKAY, EXOKAY, SLVERR, DECERR = range(4)
# More cycles than any access takes without a stall: a longer wait is a hang.
PATIENCE = 2000


class Hang(AssertionError):
    """A handshake that does not come."""


class Channels:
    """A port and handshakes on its channels, a cycle at a time."""

    def __init__(self, dut: HierarchyObject, name: str, is_manager: bool, stalls: float) -> None:
        self.clock: LogicObject = dut.clk_i
        self.dut, self.name, self.stalls = dut, name, stalls
        self.port = side(dut, name, is_manager, is_lite=True)

    def field(self, name: str) -> Field:
        return getattr(self.port, name)

    async def pause(self) -> None:
        while random.random() < self.stalls:
            await RisingEdge(self.clock)

    async def send(self, channel: str, **values: int) -> None:
        """Drives values until they are taken. Returns after the edge."""
        await self.pause()
        for name, value in values.items():
            self.field(f"{channel}_{name}").value = value
        self.field(f"{channel}_valid").value = 1
        await self._until(self.field(f"{channel}_ready"), channel)
        self.field(f"{channel}_valid").value = 0

    async def take(self, channel: str, *names: str) -> tuple[int, ...]:
        """Accepts a transfer, with `ready` before or after `valid`."""
        await self.pause()
        self.field(f"{channel}_ready").value = 1
        values = await self._until(self.field(f"{channel}_valid"), channel, *names)
        self.field(f"{channel}_ready").value = 0
        return values

    async def _until(self, other: Field, channel: str, *names: str) -> tuple[int, ...]:
        for _ in range(PATIENCE):
            await ReadOnly()
            done = other.value == 1
            values = tuple(self.field(f"{channel}_{name}").value for name in names) if done else ()
            await RisingEdge(self.clock)
            if done:
                return values
        raise Hang(f"{self.name}: nothing happens on the channel {channel}")


class Manager(Channels):
    """Asks. Accesses of a list are under way at the same time; lists of a kind follow each other."""

    def __init__(self, dut: HierarchyObject, name: str, stalls: float = 0.0) -> None:
        super().__init__(dut, name, True, stalls)
        self.writing, self.reading = Lock(), Lock()

    async def writes(self, accesses: Sequence[tuple[int, int]], strobe: int = 0xF) -> list[int]:
        """Writes (address, data), and returns the responses. Address and data race each other."""

        async def addresses() -> None:
            for address, _ in accesses:
                await self.send("aw", addr=address)

        async def words() -> None:
            for _, data in accesses:
                await self.send("w", data=data, strb=strobe)

        async with self.writing:
            sending = [cocotb.start_soon(addresses()), cocotb.start_soon(words())]
            responses = [(await self.take("b", "resp"))[0] for _ in accesses]
            await Combine(*sending)
        return responses

    async def reads(self, addresses: Sequence[int]) -> list[tuple[int, int]]:
        """Reads, and returns (data, response) of each."""

        async def ask() -> None:
            for address in addresses:
                await self.send("ar", addr=address)

        async with self.reading:
            asking = cocotb.start_soon(ask())
            values = [await self.take("r", "data", "resp") for _ in addresses]
            await asking
        return [(data, response) for data, response in values]

    async def write(self, address: int, data: int, strobe: int = 0xF) -> None:
        """Writes a word or some of its bytes; an error is a failure of the test."""
        assert await self.writes([(address, data)], strobe) == [OKAY], f"no write at {address:#x}"

    async def get(self, address: int) -> int:
        """Reads a word; an error is a failure of the test."""
        ((data, response),) = await self.reads([address])
        assert response == OKAY, f"no read at {address:#x}: response {response}"
        return data

    async def read_cycles(self, address: int) -> int:
        """Cycles from the one in which an address is taken to the one in which data is valid."""
        await self.send("ar", addr=address)
        for cycles in range(1, PATIENCE):
            await ReadOnly()
            is_there = self.port.r_valid.value == 1
            await RisingEdge(self.clock)
            if is_there:
                await self.take("r", "data", "resp")
                return cycles
        raise Hang(f"{self.name}: no data comes")


# The contents of an address, and the response: (data, response).
Reader = Callable[[int], Awaitable[tuple[int, int]]]
Writer = Callable[[int, int, int], Awaitable[int]]


class Subordinate(Channels):
    """Answers, in order, what `reader(address)` and `writer(address, data, strobe)` say."""

    def __init__(
        self, dut: HierarchyObject, name: str, reader: Reader, writer: Writer, stalls: float = 0.0
    ) -> None:
        super().__init__(dut, name, False, stalls)
        self.reader, self.writer = reader, writer
        self.tasks: list[Task[None]] = []

    def start(self) -> None:
        self.tasks = [cocotb.start_soon(self._reads()), cocotb.start_soon(self._writes())]

    def stop(self) -> None:
        for task in self.tasks:
            task.cancel()

    async def _reads(self) -> None:
        while True:
            (address,) = await self._wait("ar", "addr")
            data, response = await self.reader(address)
            await self.send("r", data=data, resp=response)

    async def _writes(self) -> None:
        while True:
            # Either may come first.
            taking = cocotb.start_soon(self._wait("w", "data", "strb"))
            (address,) = await self._wait("aw", "addr")
            data, strobe = await taking
            await self.send("b", resp=await self.writer(address, data, strobe))

    async def _wait(self, channel: str, *names: str) -> tuple[int, ...]:
        """As `take`, but a transfer need not come."""
        while True:
            await ReadOnly()
            offered = self.field(f"{channel}_valid").value == 1
            await RisingEdge(self.clock)
            if offered:
                return await self.take(channel, *names)
