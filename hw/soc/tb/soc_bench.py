"""Shared by the tests of this folder: parts of `handshakes`, and a core that requests words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from cocotb.handle import HierarchyObject
from handshakes import (
    ORDERS,
    PATIENCE,
    STALLS,
    Bench,
    Part,
    Sink,
    Source,
    WriteOrder,
    bit,
    chance,
    gates,
)

__all__ = [
    "ORDERS",
    "PATIENCE",
    "STALLS",
    "Bench",
    "Core",
    "Part",
    "Request",
    "Sink",
    "Source",
    "WriteOrder",
    "bit",
    "chance",
    "gates",
]


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
