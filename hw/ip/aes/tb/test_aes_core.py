"""`aes_core` against FIPS 197 and the judge of this folder."""

from __future__ import annotations

import random

import cocotb
import rijndael
from aes_bench import EXPANSION, ROUNDS, Core, parameter, texts
from clocked import periods
from cocotb.triggers import ReadOnly

KEYS = (16, 24, 32)
CONTROL_STATES = {"idle": 0b00110, "round": 0b10101}
KEY_STATES = {"idle": 0b00110, "first": 0b01001, "expand": 0b10101}
ERROR = 0b11010


def directions(dut: object) -> tuple[bool, ...]:
    return (False, True) if parameter(dut, "Decrypts") else (False,)


@cocotb.test()
async def computes_the_examples_of_the_standard(dut):
    """FIPS 197, appendix C; known answers check engine and judge alike."""
    core = await Core.started(dut)
    text = bytes.fromhex("00112233445566778899aabbccddeeff")
    known = {
        16: "69c4e0d86a7b0430d8cdb78070b4c55a",
        24: "dda97ca4864cdfe06eaf70a0ec0d7191",
        32: "8ea2b7ca516745bfeafc49904b496089",
    }
    for size, want in known.items():
        key = bytes(range(size))
        await core.load(key)
        assert (await core.process(text)).hex() == want == rijndael.encrypt(key, text).hex()
        if True in directions(dut):
            await core.turn(True)
            assert await core.process(bytes.fromhex(want)) == text == rijndael.decrypt(key, bytes.fromhex(want))


@cocotb.test()
async def agrees_with_the_judge_with_stalls(dut):
    core = await Core.started(dut)
    for size in KEYS:
        for is_decryption in directions(dut):
            # The last ones are often longer than a block.
            for stalls in (0.0, 0.5, 0.95):
                core.stalls = stalls
                key, text = random.randbytes(size), random.randbytes(16 * 3)
                await core.load(key, is_decryption)
                assert await core.process(text) == rijndael.ecb(key, text, is_decryption)


@cocotb.test()
async def a_block_waits_for_its_keys(dut):
    """A block that is offered during the expansion."""
    core = await Core.started(dut)
    for size in KEYS:
        key, text = random.randbytes(size), random.randbytes(16)
        await core.write_key(key)
        await core.pulse(dut.expand_i)
        assert await core.process(text) == rijndael.encrypt(key, text), f"{size} bytes"


@cocotb.test()
async def takes_the_cycles_of_its_documentation(dut):
    """Blocks follow each other in the cycles of their rounds, keys in those of their words."""
    core = await Core.started(dut)
    for size in KEYS:
        for is_decryption in directions(dut):
            times, loads = set(), set()
            for text in texts(16 * 4):
                key = text[:size]
                loads.add(await core.load(key, is_decryption))
                start, gaps = core.cycle, []
                await core.process(text, gaps)
                times |= periods([start + 1, *gaps])
            assert times == {ROUNDS[size]}, f"{size} bytes, {is_decryption}: {sorted(times)}"
            assert loads == {EXPANSION[size]}, f"{size} bytes: {sorted(loads)}"
        dut._log.info("key of %d bytes: %d cycles a block", size, ROUNDS[size])


@cocotb.test()
async def starts_again_after_a_stop_at_any_cycle(dut):
    core = await Core.started(dut)
    key, text = random.randbytes(32), random.randbytes(16)
    for is_decryption in directions(dut):
        for at in range(16):
            await core.load(key, is_decryption)
            task = cocotb.start_soon(core.process(random.randbytes(32)))
            await core.tick(at + 1)
            task.cancel()
            core.dut.block_valid_i.value, core.dut.result_ready_i.value = 0, 0
            await core.pulse(dut.stop_i)
            assert await core.sees(dut.idle_o) == 1, f"stopped at {at}"
            await core.tick(1)
            assert await core.process(text) == rijndael.ecb(key, text, is_decryption), f"stopped at {at}"
    for at in range(54):
        await core.until_idle()
        await core.pulse(dut.expand_i)
        await core.tick(at)
        await core.pulse(dut.stop_i)
        assert await core.sees(dut.idle_o) == 1, f"expansion stopped at {at}"
    await core.load(key)
    assert await core.process(text) == rijndael.encrypt(key, text)


@cocotb.test()
async def a_wrong_key_length_is_the_shortest(dut):
    """The code without a name neither hangs nor fails; the wrapper refuses it."""
    core = await Core.started(dut)
    key, text = random.randbytes(16), random.randbytes(16)
    await core.load(key)
    dut.len_i.value = 3
    await core.tick(2)
    assert await core.process(text) == rijndael.encrypt(key, text)


async def ends_in_error(core: Core, where: str) -> None:
    """Checks that nothing leaves the error state, and that nothing is offered."""
    dut = core.dut
    await core.let_assertions_fail()
    await core.tick()
    for port in (dut.block_valid_i, dut.result_ready_i, dut.expand_i):
        port.value = 1
    for cycle in range(20):
        dut.stop_i.value = cycle % 7 == 3
        await ReadOnly()
        assert dut.error_o.value == 1, f"went on from an illegal state in {where}"
        offers = (dut.block_ready_o, dut.result_valid_o, dut.idle_o)
        assert all(port.value == 0 for port in offers) or cycle < 2, f"offers something in {where}"
        await core.tick()
    core.clear_inputs()


async def reach(core: Core, where: str) -> None:
    """Brings the machines into a state."""
    dut = core.dut
    if where in ("first", "expand"):
        dut.len_i.value = 2
        await core.pulse(dut.expand_i)
        await core.tick(0 if where == "first" else 3)
        return
    await core.load(random.randbytes(32))
    if where != "idle":
        await core.send("block", block=random.getrandbits(128))
        await core.tick(3)


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    """Every word that is no state, in every state of both machines."""
    core = await Core.started(dut)
    for register, states in ((dut.u_control.u_state.u_flop.value_q, CONTROL_STATES), (dut.u_keys.u_state.u_flop.value_q, KEY_STATES)):
        legal = {*states.values(), ERROR}
        for where, state in states.items():
            near = [state ^ 1 << bit for bit in range(5)] + [
                state ^ 1 << one ^ 1 << other for one in range(5) for other in range(one)
            ]
            assert not legal & set(near), "an upset of two bits makes another state"
            for forced in set(range(32)) - legal:
                await reach(core, where)
                register.value = forced
                await core.tick()
                await ends_in_error(core, f"{where}, {forced:05b}")
                await core.reset()
    key, text = random.randbytes(24), random.randbytes(16)
    await core.load(key)
    assert await core.process(text) == rijndael.encrypt(key, text)


@cocotb.test()
async def ends_in_an_error_from_an_illegal_count(dut):
    """Rounds and words that do not exist: the core does not give a result of fewer rounds."""
    core = await Core.started(dut)
    cases = [("round", dut.u_control.count_q, count) for count in (0, 15)]
    cases += [("expand", dut.u_keys.index_q, index) for index in (60, 61, 63)]
    for where, register, value in cases:
        await reach(core, where)
        register.value = value
        await core.tick(2)
        await ends_in_error(core, f"{where}, count {value}")
        await core.reset()
