"""Words of AXI4-Lite at a block that is one page."""

from __future__ import annotations

import random

from axi_bundles import side
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Bench, Part, Sink, Source

OKAY, SLVERR, DECERR = 0, 2, 3
WHOLE = 0xF


class Page:
    """A manager of the page, with random stalls on every channel."""

    def __init__(self, dut: HierarchyObject, inputs: list[str]) -> None:
        self.bench = Bench(dut, inputs)
        port = side(dut, "axil", is_manager=True, is_lite=True)
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb"])
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_addr"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_data", "r_resp"])
        self.channels = [self.aw, self.w, self.ar, self.b, self.r]

    async def start(self, *others: Part) -> None:
        await self.bench.start(*self.channels, *others)

    def stall(self) -> None:
        for channel in self.channels:
            channel.stalls = random.choice(STALLS[:3])

    async def write(self, address: int, data: int, strobes: int = WHOLE) -> int:
        """The response."""
        before = len(self.b.taken)
        self.aw.queue.append((address,))
        self.w.queue.append((data, strobes))
        await self.bench.run(lambda: len(self.b.taken) > before)
        return self.b.taken[-1][0]

    async def read(self, address: int) -> tuple[int, int]:
        """Data and response."""
        before = len(self.r.taken)
        self.ar.queue.append((address,))
        await self.bench.run(lambda: len(self.r.taken) > before)
        return self.r.taken[-1]
