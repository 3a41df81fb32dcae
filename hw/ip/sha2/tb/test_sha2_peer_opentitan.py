"""The SHA-256 engine of OpenTitan's hmac in the table of netlists: that it computes SHA-256, and in how many cycles.

As `test_sha2_peer.py`, for the ports of this one: words come from a FIFO, and it pads by itself.
"""

from __future__ import annotations

import hashlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge
from test_sha2_peer import planned_cycles

BLOCK = 64
WORD = 4
# More cycles than a block takes: a longer wait is a hang.
PATIENCE = 200


class Engine:
    """Takes a word and the mask of its bytes a cycle while it is ready, and ends a message after `hash_process`."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.cycle = 0

    async def start(self) -> None:
        dut = self.dut
        for port in (dut.wipe_secret, dut.wipe_v, dut.fifo_rvalid, dut.fifo_rdata, dut.sha_en):
            port.value = 0
        for port in (dut.hash_start, dut.hash_process, dut.message_length, dut.rst_ni):
            port.value = 0
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        await self.tick(2)
        dut.rst_ni.value = 1
        dut.sha_en.value = 1
        await self.tick()

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1

    async def pulse(self, port: HierarchyObject) -> None:
        port.value = 1
        await self.tick()
        port.value = 0

    async def give(self, message: bytes) -> list[int]:
        """Offers every word as early as possible, and returns the cycles in which they were taken."""
        dut = self.dut
        taken = []
        for at in range(0, len(message), WORD):
            part = message[at : at + WORD]
            mask = (0b1111 << (WORD - len(part))) & 0b1111
            dut.fifo_rdata.value = int.from_bytes(part.ljust(WORD, b"\0"), "big") << WORD | mask
            dut.fifo_rvalid.value = 1
            if len(part) < WORD:
                # It takes these bytes when it pads, after it knows that they are the last.
                return taken
            for _ in range(PATIENCE):
                await ReadOnly()
                is_ready = dut.fifo_rready.value == 1
                await self.tick()
                if is_ready:
                    break
            else:
                raise AssertionError("the engine does not take a word")
            taken.append(self.cycle)
        dut.fifo_rvalid.value = 0
        return taken

    async def digest(self, message: bytes) -> bytes:
        dut = self.dut
        dut.message_length.value = 8 * len(message)
        await self.pulse(dut.hash_start)
        await self.give(message)
        await self.pulse(dut.hash_process)
        for _ in range(PATIENCE):
            await ReadOnly()
            if dut.hash_done.value == 1:
                # The last block is added to the digest in this cycle.
                await self.tick()
                dut.fifo_rvalid.value = 0
                await ReadOnly()
                words = int(dut.digest.value).to_bytes(32, "big")
                await self.tick()
                # The first word is the lowest of the port.
                return b"".join(words[at : at + WORD] for at in range(28, -1, -WORD))
            await self.tick()
        raise AssertionError("the engine does not end")


async def started(dut: HierarchyObject) -> Engine:
    engine = Engine(dut)
    await engine.start()
    return engine


@cocotb.test()
async def digests_as_hashlib_does(dut):
    engine = await started(dut)
    for length in (0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 300):
        message = random.randbytes(length)
        got = await engine.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Between the first words of consecutive blocks, each offered as early as possible."""
    engine = await started(dut)
    await engine.pulse(dut.hash_start)
    taken = await engine.give(random.randbytes(6 * BLOCK))
    firsts = taken[:: BLOCK // WORD]
    times = {after - before for before, after in zip(firsts, firsts[1:])}
    wanted = planned_cycles("sha2")
    assert times == {wanted}, f"a block takes {sorted(times)} cycles, and the table says {wanted}"
    dut._log.info("a block takes %d cycles", wanted)
