"""Shared by the tests of this folder: words of AXI4-Lite at a block that is one page, and lists of the DMA engine."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from cocotb.handle import HierarchyObject
from handshakes import Part
from lite_page import DECERR, OKAY, SLVERR, WHOLE, Page

__all__ = ["DECERR", "OKAY", "SLVERR", "WHOLE", "Lists", "Page"]


@dataclass
class Lists(Part):
    """The DMA engine at the port of its lists: one word a request."""

    dut: HierarchyObject
    queue: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    is_asking: bool = False

    def drive(self) -> None:
        self.is_asking = bool(self.queue) and random.random() < 0.5
        self.dut.list_req_i.value = int(self.is_asking)
        # What is not asked for is not read.
        self.dut.list_word_i.value = self.queue[0] if self.is_asking else random.getrandbits(9)

    def sample(self) -> None:
        if self.dut.list_rvalid_o.value == 1:
            self.words.append(int(self.dut.list_rdata_o.value))
        if self.is_asking and self.dut.list_gnt_o.value == 1:
            self.queue.pop(0)
