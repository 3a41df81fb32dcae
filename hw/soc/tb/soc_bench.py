"""Shared by the tests of this folder: a clock, parts that act once a cycle, and rules of handshakes.

A cycle is: every part drives its inputs, everything settles, every part samples its signals, the clock
rises. So no order of coroutines matters, and a part sees a handshake in the cycle in which it happens.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge

# More cycles than any access takes with maximum stalls: a longer wait is a hang.
PATIENCE = 3000


class Part:
    """A driver or model at the ports of a block."""

    def drive(self) -> None:
        """Sets inputs for the next cycle."""

    def sample(self) -> None:
        """Samples the cycle when it has settled."""


class Bench:
    """A block with parts around it."""

    def __init__(self, dut: HierarchyObject, inputs: list[str]) -> None:
        self.dut = dut
        self.inputs = inputs
        self.parts: list[Part] = []
        self.cycle = 0

    async def start(self, *parts: Part) -> None:
        for name in self.inputs:
            getattr(self.dut, name).value = 0
        self.dut.rst_ni.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        for _ in range(3):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        self.parts = list(parts)

    async def run(self, is_done: Callable[[], bool], patience: int = PATIENCE) -> None:
        """Cycles until something is so."""
        for _ in range(patience):
            for part in self.parts:
                part.drive()
            await ReadOnly()
            try:
                for part in self.parts:
                    part.sample()
            except AssertionError:
                # Assertions of the RTL are checked when the clock rises: they have to detect a mutant.
                if "mutant" in cocotb.plusargs:
                    await ClockCycles(self.dut.clk_i, 2)
                raise
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1
            if is_done():
                return
        raise AssertionError(f"nothing happens any more after {self.cycle} cycles")

    async def cycles(self, count: int) -> None:
        end = self.cycle + count
        await self.run(lambda: self.cycle >= end, count + 1)


def chance(probability: float) -> bool:
    return random.random() < probability


def bit(handle: object, index: int) -> int:
    """One bit of a vector."""
    return int(handle.value) >> index & 1


class Source(Part):
    """Drives values on a channel: valid stays until ready (AMBA AXI §A3.2.1)."""

    def __init__(self, dut: HierarchyObject, valid: str, ready: str, payload: list[str]) -> None:
        self.valid = getattr(dut, valid)
        self.ready = getattr(dut, ready)
        self.payload = [getattr(dut, name) for name in payload]
        self.queue: deque[tuple[int, ...]] = deque()
        self.taken: list[tuple[int, ...]] = []
        self.stalls = 0.0
        self.is_offering = False

    def drive(self) -> None:
        if not self.is_offering and self.queue and not chance(self.stalls):
            self.is_offering = True
            for handle, value in zip(self.payload, self.queue[0]):
                handle.value = value
        self.valid.value = int(self.is_offering)

    def sample(self) -> None:
        if self.is_offering and self.ready.value == 1:
            self.taken.append(self.queue.popleft())
            self.is_offering = False


class Sink(Part):
    """Takes values from a channel, and checks that they stay as they are until then."""

    def __init__(self, dut: HierarchyObject, valid: str, ready: str, payload: list[str]) -> None:
        self.name = valid
        self.valid = getattr(dut, valid)
        self.ready = getattr(dut, ready)
        self.payload = [getattr(dut, name) for name in payload]
        self.taken: deque[tuple[int, ...]] = deque()
        self.stalls = 0.0
        self.is_ready = False
        self.offered: tuple[int, ...] | None = None

    def drive(self) -> None:
        self.is_ready = not chance(self.stalls)
        self.ready.value = int(self.is_ready)

    def sample(self) -> None:
        if self.valid.value != 1:
            assert self.offered is None, f"{self.name} was taken back"
            return
        now = tuple(int(handle.value) for handle in self.payload)
        assert self.offered in (None, now), f"{self.name} changed while it waited"
        self.offered = None if self.is_ready else now
        if self.is_ready:
            self.taken.append(now)


@dataclass
class Request:
    """A request of the core; `answer` is (cycle, data, error)."""

    address: int
    write: bool = False
    data: int = 0
    strobes: int = 0xF
    granted: int | None = None
    answer: tuple[int, int, int] | None = None


@dataclass
class Core(Part):
    """The core's side of a port: a request stays until it is granted, answers come in order."""

    dut: HierarchyObject
    bench: Bench
    # Sets the payload of `req_i`: address, data, selection.
    present: Callable[[Request], None]
    outstanding: int = 2
    stalls: float = 0.0
    queue: deque[Request] = field(default_factory=deque)
    waiting: deque[Request] = field(default_factory=deque)
    is_asking: bool = False

    def drive(self) -> None:
        if not self.is_asking and self.queue and len(self.waiting) <= self.outstanding:
            # One more than the maximum outstanding waits for its grant, as in Ibex.
            self.is_asking = not chance(self.stalls)
            if self.is_asking:
                self.present(self.queue[0])
        self.dut.req_i.value = int(self.is_asking)

    def sample(self) -> None:
        if self.dut.rvalid_o.value == 1:
            assert self.waiting, "a response without a request"
            request = self.waiting.popleft()
            request.answer = (self.bench.cycle, int(self.dut.rdata_o.value), int(self.dut.err_o.value))
        if self.is_asking and self.dut.gnt_o.value == 1:
            request = self.queue.popleft()
            request.granted = self.bench.cycle
            self.waiting.append(request)
            self.is_asking = False

    def is_idle(self) -> bool:
        return not self.queue and not self.waiting

    async def do(self, *requests: Request) -> list[Request]:
        self.queue.extend(requests)
        await self.bench.run(self.is_idle)
        return list(requests)
