"""The third-party core in the table of netlists: that it computes SHA-256, and in how many cycles.

What is compared has to do the same work, and the cycles of the table have to be those that it takes: they
are counted here. The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import hashlib
import random

import cocotb
from clocked import Clocked, periods
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from plan import expect_planned_cycles
from sha2_bench import padded_blocks

BLOCK = 64


class Peer(Clocked):
    """Takes a block through 512 wires with a pulse of `init` or `next`, and is `ready` when it is done."""

    clock_name, reset_name = "clk", "reset_n"
    patience = 200
    # Names of the ports for the commands and the block.
    names: tuple[str, str, str] = ("init", "next", "block")

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, self.names)
        self.init, self.next, self.block = (getattr(dut, name) for name in self.names)

    async def reset(self) -> None:
        # SHA-256; zero is SHA-224.
        self.dut.mode.value = 1
        await super().reset()

    async def until_ready(self) -> None:
        """In the middle of the cycle in which it is."""
        for _ in range(self.patience):
            await ReadOnly()
            if self.dut.ready.value == 1:
                return
            await self.tick()
        raise AssertionError("the core does not become ready")

    async def digest(self, message: bytes) -> bytes:
        dut = self.dut
        for number, block in enumerate(padded_blocks(message, BLOCK)):
            self.block.value = int.from_bytes(block, "big")
            await self.pulse(self.next if number else self.init)
            # It has the block, and must not read the wires again.
            self.block.value = random.getrandbits(8 * BLOCK)
            await self.until_ready()
            assert dut.digest_valid.value == 1
            digest = int(dut.digest.value).to_bytes(32, "big")
            await self.tick()
        return digest

    async def times(self) -> set[int]:
        """Cycles of consecutive blocks, each taken in the first cycle in which that is possible."""
        await self.pulse(self.init)
        self.next.value = 1
        taken = []
        for _ in range(5):
            self.block.value = random.getrandbits(8 * BLOCK)
            await self.until_ready()
            taken.append(self.cycle)
            await self.tick()
        self.next.value = 0
        return periods(taken)


async def compare(peer) -> None:
    """Digests of messages around the ends of blocks with those of hashlib."""
    for length in (0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 300):
        message = random.randbytes(length)
        got = await peer.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def digests_as_hashlib_does(dut):
    await compare(await Peer.started(dut))


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    expect_planned_cycles(dut, __file__, "peer", await (await Peer.started(dut)).times())
