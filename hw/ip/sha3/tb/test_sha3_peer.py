"""The third-party cores in the table of netlists: that they compute Keccak, and in how many cycles.

What is compared has to do the same work, and the cycles of the table have to be those that it takes: they
are counted here. The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import cocotb
from clocked import Clocked, periods
from cocotb.handle import HierarchyObject, LogicArrayObject
from cocotb.triggers import ReadWrite
from keccak import sponge
from plan import expect_planned_cycles

# SHA3-512's rate alone.
RATE, SIZE = 72, 64


class Shape(NamedTuple):
    """How a core is used: its ports, and the suffix that its padding begins with."""

    clock: str
    reset: str
    data: str
    size: str
    valid: str
    last: str
    full: str
    done: str
    digest: str
    suffix: int


# OpenCores' has the padding of Keccak before the standard.
OPENCORES = Shape(
    "clk", "reset", "in", "byte_num", "in_ready", "is_last", "buffer_full", "out_ready", "out", 0x01
)
# As the authors of the paper on quick boot changed it.
AUTHORS = Shape(
    "iClk", "iRst", "iData", "iByte_num", "iReady", "iLast", "oBuffer_full", "oReady", "oData", 0x06
)


class Peer(Clocked):
    """Takes words while its buffer is not full; a reset begins a message."""

    reset_value = 1
    settling_cycles = 0
    patience = 200

    def __init__(self, dut: HierarchyObject) -> None:
        self.shape = AUTHORS if hasattr(dut, AUTHORS.data) else OPENCORES
        self.clock_name, self.reset_name = self.shape.clock, self.shape.reset
        super().__init__(dut, (self.shape.data, self.shape.size, self.shape.valid, self.shape.last))

    def port(self, name: str) -> LogicArrayObject:
        return getattr(self.dut, getattr(self.shape, name))

    async def word(self, part: bytes, is_last: bool) -> int:
        """Offers a word when the buffer takes it, as the source asks for, and returns that cycle."""
        for _ in range(self.patience):
            await ReadWrite()
            if self.port("full").value == 0:
                break
            await self.tick()
        else:
            raise AssertionError("the buffer stays full")
        self.port("data").value = int.from_bytes(part.ljust(8, b"\xa5"), "big")
        self.port("size").value, self.port("valid").value, self.port("last").value = len(part) % 8, 1, int(is_last)
        at = self.cycle
        await self.tick()
        self.port("valid").value, self.port("last").value = 0, 0
        return at

    async def digest(self, message: bytes) -> bytes:
        await self.reset()
        starts = range(0, len(message) + 1, 8)
        for at in starts:
            # The last word has less than eight bytes, perhaps none.
            await self.word(message[at : at + 8], is_last=at == starts[-1])
        digest = await self.value_when(self.port("done"), self.port("digest"))
        return digest.to_bytes(SIZE, "big")


@cocotb.test()
async def digests_as_keccak_does(dut):
    peer = await Peer.started(dut)
    for length in (0, 1, 7, 8, 63, 64, 70, 71, 72, 73, 143, 144, 300):
        message = random.randbytes(length)
        got = await peer.digest(message)
        assert got == sponge(RATE, peer.shape.suffix, message, SIZE), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Consecutive blocks, each word taken in the first cycle in which that is possible."""
    peer = await Peer.started(dut)
    await peer.reset()
    taken = [await peer.word(random.randbytes(8), is_last=False) for _ in range(5 * RATE // 8)]
    firsts = taken[RATE // 8 :: RATE // 8]
    expect_planned_cycles(dut, __file__, "peer", periods(firsts))
