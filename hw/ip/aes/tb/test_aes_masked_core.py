"""`aes_masked_core` against FIPS 197 and the judge of this folder. What it leaks is judged in other files."""

from __future__ import annotations

import random

import cocotb
import rijndael
from aes_bench import INPUTS, MASKED, Core, texts
from clocked import periods
from cocotb.triggers import FallingEdge, ReadOnly

KEYS = (16, 24, 32)
# A cycle for the last word of the key, five for a word with SubWord, one for others.
EXPANSION = {16: 1 + 40 + 4 * 10, 24: 1 + 46 + 4 * 8, 32: 1 + 52 + 4 * 13}
STATES = {
    "idle": 0b001011,
    "round": 0b010101,
    "result": 0b100110,
    "first": 0b101101,
    "expand": 0b111000,
}
ERROR = 0b110011


async def randomness(dut: object) -> None:
    """Fresh bits in every cycle, stable at its end."""
    while True:
        dut.random_i.value = random.getrandbits(128)
        await FallingEdge(dut.clk_i)


async def started(dut: object, stalls: float = 0.0) -> Core:
    core = await Core.started(dut, stalls, (*INPUTS, "random_i"))
    cocotb.start_soon(randomness(dut))
    return core


@cocotb.test()
async def agrees_with_the_judge_with_stalls(dut):
    core = await started(dut)
    for size in KEYS:
        for is_decryption in (False, True):
            for stalls in (0.0, 0.4):
                core.stalls = stalls
                key, text = random.randbytes(size), random.randbytes(16 * 3)
                await core.load(key, is_decryption)
                assert await core.process(text) == rijndael.ecb(key, text, is_decryption), f"{size}, {is_decryption}"


@cocotb.test()
async def takes_the_cycles_of_its_documentation(dut):
    core = await started(dut)
    for size in KEYS:
        for is_decryption in (False, True):
            times, loads = set(), set()
            for text in texts(16 * 3):
                loads.add(await core.load(text[:size], is_decryption))
                start, gaps = core.cycle, []
                await core.process(text, gaps)
                times |= periods([start + 1, *gaps])
            assert times == {MASKED[size]}, f"{size} bytes, {is_decryption}: {sorted(times)}"
            assert loads == {EXPANSION[size]}, f"{size} bytes: {sorted(loads)}"
        dut._log.info("key of %d bytes: %d cycles a block, masked", size, MASKED[size])


@cocotb.test()
async def starts_again_after_a_stop_at_any_cycle(dut):
    core = await started(dut)
    key, text = random.randbytes(32), random.randbytes(16)
    await core.load(key)
    for at in range(75):
        task = cocotb.start_soon(core.process(random.randbytes(32)))
        await core.tick(at + 1)
        task.cancel()
        core.dut.block_valid_i.value, core.dut.result_ready_i.value = 0, 0
        await core.pulse(dut.stop_i)
        assert await core.sees(dut.idle_o) == 1, f"stopped at {at}"
        assert await core.process(text) == rijndael.encrypt(key, text), f"stopped at {at}"


@cocotb.test()
async def shows_nothing_but_results(dut):
    core = await started(dut)
    await core.load(random.randbytes(32))
    task = cocotb.start_soon(core.process(random.randbytes(16 * 3)))
    while not task.done():
        await ReadOnly()
        assert dut.result_valid_o.value == 1 or int(dut.result_o.value) == 0
        await core.tick()


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state_or_count(dut):
    core = await started(dut)
    cases = [(dut.u_state.u_flop.value_q, forced) for forced in set(range(64)) - {*STATES.values(), ERROR}]
    cases += [(dut.count_q, 0), (dut.count_q, 15), (dut.step_q, 5), (dut.step_q, 7)]
    for register, forced in cases:
        await core.load(random.randbytes(32))
        await core.send("block", block=random.getrandbits(128))
        await core.tick(7)
        register.value = forced
        await core.let_assertions_fail()
        await core.tick(2)
        for port in (dut.block_valid_i, dut.result_ready_i, dut.expand_i):
            port.value = 1
        for cycle in range(12):
            dut.stop_i.value = cycle % 5 == 3
            await ReadOnly()
            assert dut.error_o.value == 1, f"went on from {forced:06b}"
            assert not any(port.value for port in (dut.block_ready_o, dut.result_valid_o, dut.idle_o))
            await core.tick()
        core.clear_inputs()
        await core.reset()
    key, text = random.randbytes(24), random.randbytes(16)
    await core.load(key)
    assert await core.process(text) == rijndael.encrypt(key, text)
