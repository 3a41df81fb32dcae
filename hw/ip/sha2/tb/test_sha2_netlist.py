"""The counted netlist, as cells of the vendor: `sha2_core` tested through its ports alone."""

from __future__ import annotations

import hashlib
import random

import cocotb
from sha2_bench import FIRST, NEXT, RESUME, Core


async def started(dut: object) -> Core:
    core = Core(dut, word_bits=32)
    await core.start()
    return core


@cocotb.test()
async def digests_messages_with_stalls(dut):
    core = await started(dut)
    for number in range(20):
        core.stalls = random.choice([0.0, 0.3, 0.7])
        message = random.randbytes(random.randrange(200))
        got = await core.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{len(message)} bytes: {got.hex()}"
        if number % 4 == 0:
            dut.wipe_i.value = 1
            await core.tick()
            dut.wipe_i.value = 0
            await core.until_idle()


@cocotb.test()
async def goes_on_from_a_saved_state(dut):
    core = await started(dut)
    message = random.randbytes(200)
    state = None
    for block in core.blocks(message):
        await core.block(FIRST if state is None else RESUME, block, state)
        state = await core.save()
    assert state == hashlib.sha256(message).digest()


@cocotb.test()
async def takes_the_cycles_of_the_source(dut):
    core = await started(dut)
    words = cocotb.start_soon(core.words(random.randbytes(4 * core.block_bytes)))
    await core.command(FIRST)
    before = core.cycle
    for _ in range(3):
        await core.command(NEXT)
    assert core.cycle - before == 3 * (core.round_cycles + core.state_cycles)
    await words
