"""The SHA-256 engine of OpenTitan's hmac in the table of netlists: that it computes SHA-256, and in how many cycles.

As `test_sha2_peer.py`, for the ports of this one: words come from a FIFO, and it pads by itself.
"""

from __future__ import annotations

import hashlib
import random

import cocotb
from clocked import Clocked, periods
from cocotb.handle import HierarchyObject
from plan import expect_planned_cycles

BLOCK = 64
WORD = 4
INPUTS = ("wipe_secret", "wipe_v", "fifo_rvalid", "fifo_rdata", "hash_start", "hash_process", "message_length")


class Engine(Clocked):
    """Takes a word and the mask of its bytes a cycle while it is ready, and ends a message after `hash_process`."""

    patience = 200

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)

    async def reset(self) -> None:
        self.dut.sha_en.value = 0
        await super().reset()
        self.dut.sha_en.value = 1
        await self.tick()

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
            await self.wait_for(dut.fifo_rready)
            taken.append(self.cycle)
        dut.fifo_rvalid.value = 0
        return taken

    async def digest(self, message: bytes) -> bytes:
        dut = self.dut
        dut.message_length.value = 8 * len(message)
        await self.pulse(dut.hash_start)
        await self.give(message)
        await self.pulse(dut.hash_process)
        # The last block is added to the digest in the cycle that is waited for.
        await self.wait_for(dut.hash_done)
        dut.fifo_rvalid.value = 0
        words = (await self.sees(dut.digest)).to_bytes(32, "big")
        # The first word is the lowest of the port.
        return b"".join(words[at : at + WORD] for at in range(28, -1, -WORD))


@cocotb.test()
async def digests_as_hashlib_does(dut):
    engine = await Engine.started(dut)
    for length in (0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 300):
        message = random.randbytes(length)
        got = await engine.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{length} bytes: {got.hex()}"


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """Between the first words of consecutive blocks, each offered as early as possible."""
    engine = await Engine.started(dut)
    await engine.pulse(dut.hash_start)
    taken = await engine.give(random.randbytes(6 * BLOCK))
    firsts = taken[:: BLOCK // WORD]
    expect_planned_cycles(dut, __file__, "peer", periods(firsts))
