"""The third-party core in the table of netlists: that it computes SHA-256, and in how many cycles.

What is compared has to do the same work, and the cycles of the table have to be those that it takes: they
are counted here. The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import hashlib
import random
import tomllib
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge
from sha2_bench import padded_blocks

BLOCK = 64
# More cycles than a block takes: a longer wait is a hang.
PATIENCE = 200
PLAN = Path(__file__).parents[1] / "data/ip.toml"


def planned_cycles(top: str) -> int:
    """The cycles of a block that the table multiplies with."""
    peers = tomllib.loads(PLAN.read_text())["peer"]
    return next(peer["cycles"] for peer in peers if peer["top"] == top)


class Peer:
    """Takes a block through 512 wires with a pulse of `init` or `next`, and is `ready` when it is done."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.cycle = 0

    async def start(self) -> None:
        dut = self.dut
        for port in (dut.init, dut.next, dut.block, dut.reset_n):
            port.value = 0
        # SHA-256; zero is SHA-224.
        dut.mode.value = 1
        cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
        await self.tick(2)
        dut.reset_n.value = 1
        await self.tick()

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk)
            self.cycle += 1

    async def until_ready(self) -> None:
        for _ in range(PATIENCE):
            await ReadOnly()
            if self.dut.ready.value == 1:
                return
            await self.tick()
        raise AssertionError("the core does not become ready")

    async def digest(self, message: bytes) -> bytes:
        dut = self.dut
        for number, block in enumerate(padded_blocks(message, BLOCK)):
            command = dut.next if number else dut.init
            dut.block.value = int.from_bytes(block, "big")
            command.value = 1
            await self.tick()
            command.value = 0
            # It has the block, and must not read the wires again.
            dut.block.value = random.getrandbits(8 * BLOCK)
            await self.until_ready()
            assert dut.digest_valid.value == 1
            digest = int(dut.digest.value).to_bytes(32, "big")
            await self.tick()
        return digest


async def started(dut: HierarchyObject) -> Peer:
    peer = Peer(dut)
    await peer.start()
    return peer


@cocotb.test()
async def digests_as_hashlib_does(dut):
    peer = await started(dut)
    for length in (0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 300):
        message = random.randbytes(length)
        got = await peer.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Consecutive blocks, each taken in the first cycle in which that is possible."""
    peer = await started(dut)
    dut.init.value = 1
    await peer.tick()
    dut.init.value, dut.next.value = 0, 1
    taken = []
    for _ in range(5):
        dut.block.value = random.getrandbits(8 * BLOCK)
        await peer.until_ready()
        taken.append(peer.cycle)
        await peer.tick()
    dut.next.value = 0
    times = {after - before for before, after in zip(taken, taken[1:])}
    wanted = planned_cycles("sha256_core")
    assert times == {wanted}, f"a block takes {sorted(times)} cycles, and the table says {wanted}"
    dut._log.info("a block takes %d cycles", wanted)
