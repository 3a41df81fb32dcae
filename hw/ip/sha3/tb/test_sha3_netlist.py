"""The counted netlist, as cells of the vendor: `sha3_core` tested through its ports alone."""

from __future__ import annotations

import random

import cocotb
from plan import expect_planned_cycles, parameters
from sha3_bench import FUNCTIONS, SHA3_384, SHAKE128, Core


async def started(dut: object) -> Core:
    return await Core.started(dut, rounds_per_cycle=parameters()["RoundsPerCycle"])


@cocotb.test()
async def digests_messages_with_stalls(dut):
    core = await started(dut)
    for number in range(20):
        core.stalls = random.choice([0.0, 0.3, 0.7])
        function = random.choice(FUNCTIONS)
        message = random.randbytes(random.randrange(300))
        got = await core.digest(function, message)
        assert got == function.digest(message), f"{function.name}, {len(message)} bytes: {got.hex()}"
        if number % 4 == 0:
            await core.wipe()
            await core.until_idle()


@cocotb.test()
async def squeezes_many_blocks(dut):
    core = await started(dut)
    assert await core.digest(SHAKE128, b"output", 500) == SHAKE128.digest(b"output", 500)


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    """From the start of an empty message to its digest: two words, a cycle to take the block, the rounds."""
    core = await started(dut)
    sending = cocotb.start_soon(core.words(b""))
    await core.start(SHA3_384)
    cycles = await core.cycles_to_output()
    await sending
    expect_planned_cycles(dut, __file__, "netlist", {cycles - 3})
