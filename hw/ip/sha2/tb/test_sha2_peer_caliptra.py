"""The SHA-256 core of Caliptra in the table of netlists: that it computes SHA-256, and in how many cycles.

It is the core of `test_sha2_peer.py` with other names of ports, and one more that clears it.
"""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ReadOnly
from plan import expect_planned_cycles
from test_sha2_peer import BLOCK, Peer, compare


class Core(Peer):
    names = ("init_cmd", "next_cmd", "block_msg")

    async def reset(self) -> None:
        self.dut.zeroize.value = 0
        await super().reset()


@cocotb.test()
async def digests_as_hashlib_does(dut):
    await compare(await Core.started(dut))


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    expect_planned_cycles(dut, __file__, "peer", await (await Core.started(dut)).times())


@cocotb.test()
async def is_cleared_in_a_cycle(dut):
    """What it has beside the core that it was made from, at the end of a message and within a block."""
    peer = await Core.started(dut)
    for cycles in (0, 30):
        await peer.digest(random.randbytes(BLOCK))
        peer.init.value = 1
        await peer.tick(min(cycles, 1))
        peer.init.value = 0
        await peer.tick(max(cycles - 1, 0))
        await peer.pulse(dut.zeroize)
        await ReadOnly()
        assert (dut.digest.value, dut.digest_valid.value, dut.ready.value) == (0, 0, 1)
        await peer.tick()
    await compare(peer)
