"""The third-party core in the table of netlists: that it computes Keccak, and in how many cycles.

What is compared has to do the same work, and the cycles of the table have to be those that it takes: they
are counted here. The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked, periods
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadWrite
from keccak import sponge
from plan import expect_planned_cycles

# SHA3-512's rate, with the padding of Keccak before the standard: authors of systems change one constant of it.
RATE, SUFFIX, SIZE = 72, 0x01, 64


class Peer(Clocked):
    """Takes words with the first byte in the upper bits, while its buffer is not full; a reset begins a message."""

    clock_name, reset_name, reset_value = "clk", "reset", 1
    settling_cycles = 0
    patience = 200

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, ("in", "byte_num", "in_ready", "is_last"))

    async def word(self, part: bytes, is_last: bool) -> int:
        """Offers a word when the buffer takes it, as the source asks for, and returns that cycle."""
        dut = self.dut
        for _ in range(self.patience):
            await ReadWrite()
            if dut.buffer_full.value == 0:
                break
            await self.tick()
        else:
            raise AssertionError("the buffer stays full")
        getattr(dut, "in").value = int.from_bytes(part.ljust(8, b"\xa5"), "big")
        dut.byte_num.value, dut.in_ready.value, dut.is_last.value = len(part) % 8, 1, int(is_last)
        at = self.cycle
        await self.tick()
        dut.in_ready.value, dut.is_last.value = 0, 0
        return at

    async def digest(self, message: bytes) -> bytes:
        await self.reset()
        starts = range(0, len(message) + 1, 8)
        for at in starts:
            # The last word has less than eight bytes, perhaps none.
            await self.word(message[at : at + 8], is_last=at == starts[-1])
        return (await self.value_when(self.dut.out_ready, self.dut.out)).to_bytes(SIZE, "big")


@cocotb.test()
async def digests_as_keccak_does(dut):
    peer = await Peer.started(dut)
    for length in (0, 1, 7, 8, 63, 64, 70, 71, 72, 73, 143, 144, 300):
        message = random.randbytes(length)
        got = await peer.digest(message)
        assert got == sponge(RATE, SUFFIX, message, SIZE), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Consecutive blocks, each word taken in the first cycle in which that is possible."""
    peer = await Peer.started(dut)
    await peer.reset()
    taken = [await peer.word(random.randbytes(8), is_last=False) for _ in range(5 * RATE // 8)]
    firsts = taken[RATE // 8 :: RATE // 8]
    expect_planned_cycles(dut, __file__, "peer", periods(firsts))
