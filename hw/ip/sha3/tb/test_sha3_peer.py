"""The third-party core in the table of netlists: that it computes Keccak, and in how many cycles.

What is compared has to do the same work, and the cycles of the table have to be those that it takes: they
are counted here. The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, ReadWrite, RisingEdge
from keccak import sponge

# SHA3-512's rate, with the padding of Keccak before the standard: authors of systems change one constant of it.
RATE, SUFFIX, SIZE = 72, 0x01, 64
# More cycles than a block takes: a longer wait is a hang.
PATIENCE = 200
PLAN = Path(__file__).parents[1] / "data/ip.toml"


def planned_cycles(top: str) -> int:
    """The cycles of a block that the table multiplies with."""
    peers = tomllib.loads(PLAN.read_text())["peer"]
    return next(peer["cycles"] for peer in peers if peer["top"] == top)


class Peer:
    """Takes words with the first byte in the upper bits, while its buffer is not full; a reset begins a message."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.cycle = 0

    async def start(self) -> None:
        dut = self.dut
        for port in (dut.byte_num, dut.in_ready, dut.is_last):
            port.value = 0
        getattr(dut, "in").value = 0
        dut.reset.value = 1
        cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
        await self.tick()

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)
            self.cycle += 1

    async def reset(self) -> None:
        self.dut.reset.value = 1
        await self.tick(2)
        self.dut.reset.value = 0

    async def word(self, part: bytes, is_last: bool) -> int:
        """Offers a word when the buffer takes it, as the source asks for, and returns that cycle."""
        dut = self.dut
        for _ in range(PATIENCE):
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
        for _ in range(PATIENCE):
            await ReadOnly()
            if self.dut.out_ready.value == 1:
                digest = int(self.dut.out.value).to_bytes(SIZE, "big")
                await self.tick()
                return digest
            await self.tick()
        raise AssertionError("no digest comes")


async def started(dut: HierarchyObject) -> Peer:
    peer = Peer(dut)
    await peer.start()
    return peer


@cocotb.test()
async def digests_as_keccak_does(dut):
    peer = await started(dut)
    for length in (0, 1, 7, 8, 63, 64, 70, 71, 72, 73, 143, 144, 300):
        message = random.randbytes(length)
        got = await peer.digest(message)
        assert got == sponge(RATE, SUFFIX, message, SIZE), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Consecutive blocks, each word taken in the first cycle in which that is possible."""
    peer = await started(dut)
    await peer.reset()
    taken = [await peer.word(random.randbytes(8), is_last=False) for _ in range(5 * RATE // 8)]
    firsts = taken[RATE // 8 :: RATE // 8]
    times = {after - before for before, after in zip(firsts, firsts[1:])}
    wanted = planned_cycles("keccak")
    assert times == {wanted}, f"a block takes {sorted(times)} cycles, and the table says {wanted}"
    dut._log.info("a block takes %d cycles", wanted)
