"""The counted netlist, as cells of the vendor: `sha2_core` tested through its ports alone."""

from __future__ import annotations

import hashlib
import random

import cocotb
from clocked import periods
from plan import expect_planned_cycles, parameters
from sha2_bench import FIRST, NEXT, RESUME, Core


async def started(dut: object) -> Core:
    return await Core.started(dut, word_bits=parameters()["WordBits"])


@cocotb.test()
async def digests_messages_with_stalls(dut):
    core = await started(dut)
    for number in range(20):
        core.stalls = random.choice([0.0, 0.3, 0.7])
        message = random.randbytes(random.randrange(200))
        got = await core.digest(message)
        assert got == hashlib.sha256(message).digest(), f"{len(message)} bytes: {got.hex()}"
        if number % 4 == 0:
            await core.pulse(dut.wipe_i)
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
async def takes_the_cycles_of_the_table(dut):
    core = await started(dut)
    words = cocotb.start_soon(core.words(random.randbytes(4 * core.block_bytes)))
    await core.command(FIRST)
    taken = [core.cycle]
    for _ in range(3):
        await core.command(NEXT)
        taken.append(core.cycle)
    expect_planned_cycles(dut, __file__, "netlist", periods(taken))
    await words
