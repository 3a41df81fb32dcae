"""For tests of blocks with handshakes: a clock, parts that act once a cycle, and rules of a channel.

A cycle is: every part drives its inputs, everything settles, every part samples its signals, the clock
rises. So no order of coroutines matters, and a part sees a handshake in the cycle in which it happens.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

# More cycles than any access takes with maximum stalls: a longer wait is a hang.
PATIENCE = 3000
# More cycles than any test has.
FOREVER = 1_000_000
# Probabilities that a channel stalls for a cycle; the last one makes waits of many cycles.
STALLS = [0.0, 0.3, 0.8, 0.95]
# Orders in which a subordinate may take an address and its data: it may wait for the `valid` of either or of both
# before a `ready`, so a manager must offer both (AMBA AXI §A3.3.1).
ORDERS = ["any", "address first", "data first", "together"]


class Part:
    """A driver or model at the ports of a block."""

    def drive(self) -> None:
        """Sets inputs for the next cycle."""

    def sample(self) -> None:
        """Samples the cycle when it has settled."""


class Bench(Clocked):
    """A block with parts around it, which may use the first cycle after a reset."""

    settling_cycles = 0

    def __init__(self, dut: HierarchyObject, inputs: list[str]) -> None:
        super().__init__(dut, inputs)
        self.parts: list[Part] = []

    async def start(self, *parts: Part) -> None:
        await self.start_clock()
        self.parts = list(parts)

    async def start_beside_a_bus(self, *parts: Part) -> None:
        """For tests that drive a bus themselves: the parts run until the test ends."""
        await self.start(*parts)
        await self.cycles(2)
        cocotb.start_soon(self.run(lambda: False, FOREVER))

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
                await self.let_assertions_fail()
                raise
            await self.tick()
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
        # Whether a value passes in this cycle.
        self.passes = False
        self.offered: tuple[int, ...] | None = None
        # Decides about `ready` if it returns a value.
        self.gate: Callable[[], bool | None] = lambda: None

    def drive(self) -> None:
        gate = self.gate()
        self.is_ready = not chance(self.stalls) if gate is None else gate
        self.ready.value = int(self.is_ready)

    def sample(self) -> None:
        self.passes = self.is_ready and self.valid.value == 1
        if self.valid.value != 1:
            assert self.offered is None, f"{self.name} was taken back"
            return
        now = tuple(int(handle.value) for handle in self.payload)
        assert self.offered in (None, now), f"{self.name} changed while it waited"
        self.offered = None if self.is_ready else now
        if self.is_ready:
            self.taken.append(now)


def gates(order: str, ahead: int, are_offered: bool) -> tuple[bool | None, bool | None]:
    """The `ready` of address and data in an order; without a value, the channel decides.

    `ahead` is how many addresses were taken more than bursts of data, `are_offered` whether both were valid and not
    taken in the last cycle."""
    if order == "address first":
        return None, None if ahead > 0 else False
    if order == "data first":
        return None if ahead < 0 else False, None if ahead == 0 else False
    if order == "together":
        # The other beats of a burst follow the first.
        return (False, None) if ahead > 0 else (are_offered, are_offered)
    return None, None


class WriteOrder(Part):
    """The order in which a subordinate takes addresses and data. `last` is the signal of the last beat; without it
    each beat is the last."""

    def __init__(self, aw: Sink, w: Sink, last: object = None) -> None:
        self.aw = aw
        self.w = w
        self.last = last
        self.order = ORDERS[0]
        self.ahead = 0
        aw.gate = lambda: self.gates()[0]
        w.gate = lambda: self.gates()[1]

    def gates(self) -> tuple[bool | None, bool | None]:
        are_offered = self.aw.offered is not None and self.w.offered is not None
        return gates(self.order, self.ahead, are_offered)

    def choose(self) -> None:
        self.order = random.choice(ORDERS)

    def sample(self) -> None:
        self.ahead += self.aw.passes
        self.ahead -= self.w.passes and (self.last is None or int(self.last.value))
