"""Words of AXI4-Lite at a block that is one page."""

from __future__ import annotations

import random

from cocotb.handle import HierarchyObject
from handshakes import STALLS, Bench, Part, Sink, Source

LITE = ["aw_valid_i", "aw_addr_i", "w_valid_i", "w_data_i", "w_strb_i", "b_ready_i", "ar_valid_i", "ar_addr_i", "r_ready_i"]
OKAY, SLVERR, DECERR = 0, 2, 3
WHOLE = 0xF


class Page:
    """A manager of the page, with random stalls on every channel."""

    def __init__(self, dut: HierarchyObject, inputs: list[str]) -> None:
        self.bench = Bench(dut, LITE + inputs)
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", ["aw_addr_i"])
        self.w = Source(dut, "w_valid_i", "w_ready_o", ["w_data_i", "w_strb_i"])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", ["ar_addr_i"])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_resp_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", ["r_data_o", "r_resp_o"])
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
