"""`sha2_core` against hashlib, in every configuration that is built."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from sha2_bench import FIRST, NEXT, RESUME, SAVE, Core
from stored_vectors import CHAIN, Chain, digests, next_of_chain, whole_chain
from upsets import upsets_of

# Bytes of stored vectors that each algorithm hashes.
BUDGET = 12_000

CONTROL_STATES = {
    "idle": 0b001011,
    "turn": 0b010101,
    "rounds": 0b011110,
    "save": 0b100110,
    "wipe": 0b101101,
}


def variants(core: Core) -> list[tuple[bool, Callable[[bytes], bytes]]]:
    """The algorithms of a core: whether it starts as SHA-384, and the reference."""
    if core.word_bits == 32:
        return [(False, lambda message: hashlib.sha256(message).digest())]
    return [
        (False, lambda message: hashlib.sha512(message).digest()),
        (True, lambda message: hashlib.sha384(message).digest()),
    ]


async def agrees(core: Core, message: bytes) -> None:
    for is_384, expected in variants(core):
        want = expected(message)
        got = await core.digest(message, is_384)
        assert got[: len(want)] == want, f"{len(message)} bytes, is_384 {is_384}: {got.hex()}"


@cocotb.test()
async def digests_the_examples_of_the_standard(dut):
    """The messages of the examples that NIST gives for FIPS 180-4."""
    core = await Core.started(dut)
    letters = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
    letters += b"ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
    for message in (b"abc", b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", letters):
        await agrees(core, message)
    # A known answer checks the reference itself.
    if core.word_bits == 32:
        known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        assert (await core.digest(b"abc")).hex() == known


@cocotb.test()
async def digests_every_length_around_a_block(dut):
    core = await Core.started(dut)
    size = core.block_bytes
    edges = {0, 1, size - size // 8 - 1, size - size // 8, size - 1, size, size + 1, 2 * size}
    for length in sorted(edges):
        await agrees(core, random.randbytes(length))


@cocotb.test()
async def digests_random_messages_with_stalls_on_all_ports(dut):
    core = await Core.started(dut)
    for _ in range(6):
        core.stalls = random.choice([0.1, 0.5, 0.8])
        await agrees(core, random.randbytes(random.randrange(3 * core.block_bytes)))


def names(core: Core) -> list[tuple[str, bool]]:
    """The algorithms of a core as vectors call them, and whether it starts as SHA-384."""
    return [("SHA2-256", False)] if core.word_bits == 32 else [("SHA2-512", False), ("SHA2-384", True)]


@cocotb.test()
async def agrees_with_stored_digests(dut):
    core = await Core.started(dut)
    for algorithm, is_384 in names(core):
        for case in digests(algorithm, BUDGET, dut._log.info):
            got = await core.digest(case.message, is_384)
            assert got[: len(case.expected)] == case.expected, f"{case.name}: {got.hex()}"
        chain = whole_chain(algorithm, dut._log.info)
        if chain is not None:
            await follow(core, chain, is_384)


async def follow(core: Core, chain: Chain, is_384: bool) -> None:
    """Each digest of the engine is a part of the next messages."""
    last = [chain.seed] * 3
    for _ in range(CHAIN):
        got = await core.digest(next_of_chain(last, chain.length), is_384)
        last = [*last[1:], got[: len(chain.expected)]]
    assert last[-1] == chain.expected, f"a chain ends with {last[-1].hex()}"


@cocotb.test()
async def goes_on_from_a_saved_state(dut):
    """Two messages in alternation, each resumed from its saved state."""
    core = await Core.started(dut)
    for stalls in (0.0, 0.4):
        core.stalls = stalls
        messages = [random.randbytes(2 * core.block_bytes + 7) for _ in range(2)]
        states: list[bytes | None] = [None, None]
        parts = [core.blocks(message) for message in messages]
        for step in range(len(parts[0])):
            for which in range(2):
                cmd = FIRST if states[which] is None else RESUME
                await core.block(cmd, parts[which][step], states[which])
                states[which] = await core.save()
        for message, state in zip(messages, states):
            assert state == variants(core)[0][1](message)


@cocotb.test()
async def keeps_its_state_when_it_is_saved(dut):
    core = await Core.started(dut)
    message = random.randbytes(core.block_bytes + 9)
    blocks = core.blocks(message)
    await core.block(FIRST, blocks[0])
    once = await core.save()
    assert await core.save() == once
    await core.block(NEXT, blocks[1])
    assert await core.save() == variants(core)[0][1](message)


@cocotb.test()
async def takes_the_same_cycles_for_any_data(dut):
    """Exactly RoundCycles + StateCycles a block, also from one block to the next."""
    core = await Core.started(dut)
    bound = core.round_cycles + core.state_cycles
    size = core.block_bytes
    blocks = [bytes(size), b"\xff" * size] + [random.randbytes(size) for _ in range(4)]
    for resumed in (False, True):
        times = set()
        state = random.randbytes(core.word_bits) if resumed else None
        cmd = RESUME if resumed else FIRST
        await core.block(cmd, blocks[0], state)
        await core.until_idle()
        for block in blocks:
            words = cocotb.start_soon(core.words(block))
            loading = cocotb.start_soon(core.load(state)) if resumed else None
            await core.command(cmd)
            before = core.cycle
            # The next block's command is taken in the last cycle of this one.
            await core.command(NEXT)
            times.add(core.cycle - before)
            await words
            if loading is not None:
                await loading
            await core.words(bytes(size))
            await core.until_idle()
            if not resumed:
                continue
            state = random.choice([bytes(core.word_bits), b"\xff" * core.word_bits, state])
        assert times == {bound}, f"cycles of a block: {sorted(times)}, not {bound}"
        dut._log.info("a block takes %d cycles, resumed %s", bound, resumed)


@cocotb.test()
async def saves_and_wipes_in_the_same_cycles_always(dut):
    core = await Core.started(dut)
    saves, wipes = set(), set()
    for _ in range(4):
        await core.block(FIRST, random.randbytes(core.block_bytes))
        await core.until_idle()
        dut.state_ready_i.value = 1
        await core.command(SAVE)
        before = core.cycle
        await core.until_idle()
        saves.add(core.cycle - before - 1)
        dut.state_ready_i.value = 0
        await core.pulse(core.dut.wipe_i)
        before = core.cycle
        await core.until_idle()
        wipes.add(core.cycle - before - 1)
    assert saves == {core.state_cycles}, saves
    assert wipes == {core.state_cycles - 1 + core.word_cycles}, wipes


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    """A wipe in every cycle of a block and of a save leaves nothing, and the next digest is right."""
    core = await Core.started(dut)
    message = b"what comes after an abort"
    want = variants(core)[0][1](message)
    for abort_at in range(core.round_cycles + 2 * core.state_cycles + 3):
        block = random.randbytes(core.block_bytes)
        tasks = [
            cocotb.start_soon(core.load(random.randbytes(core.word_bits))),
            cocotb.start_soon(core.words(block)),
            cocotb.start_soon(resumed_and_saved(core)),
        ]
        await core.tick(abort_at + 1)
        for task in tasks:
            task.cancel()
        core.clear_inputs()
        await core.pulse(core.dut.wipe_i)
        await core.until_idle()
        await ReadOnly()
        # The assertions of the core check every register; this one is readable from outside.
        assert all(int(register.value) == 0 for register in dut.v_q), f"aborted at {abort_at}"
        await core.tick()
        assert await core.digest(message) == want, f"aborted at {abort_at}"


async def resumed_and_saved(core: Core) -> None:
    await core.command(RESUME)
    core.dut.state_ready_i.value = 1
    await core.command(SAVE)
    await core.tick(core.state_cycles)


async def ends_in_error(core: Core, where: str) -> None:
    """Checks that nothing leaves the error state, and that no output is valid."""
    dut = core.dut
    await core.let_assertions_fail()
    for port in (dut.cmd_valid_i, dut.msg_valid_i, dut.state_valid_i, dut.state_ready_i):
        port.value = 1
    for cycle in range(60):
        # Neither a wipe nor a command leaves the state.
        dut.wipe_i.value = cycle % 7 == 3
        dut.cmd_i.value = cycle % 4
        await ReadOnly()
        assert dut.error_o.value == 1, f"went on from an illegal state in {where}"
        offers = (dut.cmd_ready_o, dut.msg_ready_o, dut.state_ready_o, dut.state_valid_o)
        assert all(port.value == 0 for port in offers), f"offers something in {where}"
        await core.tick()
    await ReadOnly()
    assert all(int(register.value) == 0 for register in dut.v_q), "keeps what it worked on"
    await core.tick()
    core.clear_inputs()


async def reach(core: Core, where: str) -> None:
    """Brings the control into a state, and returns in the middle of a cycle of it, when its registers have settled."""
    dut = core.dut
    dut.state_ready_i.value = 0
    if where in ("rounds", "turn", "save"):
        block = random.randbytes(core.block_bytes)
        words = cocotb.start_soon(core.words(block))
        await core.command(FIRST)
        if where == "save":
            await words
            await core.command(SAVE)
        elif where == "turn":
            # Without a word it waits at the end of the turn.
            words.cancel()
            dut.msg_valid_i.value = 0
        else:
            await core.tick(core.state_cycles + 1)
            words.cancel()
            dut.msg_valid_i.value = 0
    elif where == "wipe":
        await core.pulse(core.dut.wipe_i)
    await ReadOnly()
    state = int(dut.u_control.u_state.u_flop.value_q.value)
    await FallingEdge(core.clock)
    assert state == CONTROL_STATES[where], f"not in {where} but {state:06b}"


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    """Every upset of one or two bits in every state, and words that are far from all of them."""
    core = await Core.started(dut)
    legal = {*CONTROL_STATES.values(), 0b110011}
    message = b"after the error and a reset"
    register = dut.u_control.u_state.u_flop.value_q
    for where, state in CONTROL_STATES.items():
        for forced in random.sample(upsets_of(state, 6, legal), 5):
            await reach(core, where)
            register.value = forced
            await core.tick()
            await ends_in_error(core, f"{where}, {forced:06b}")
            await core.reset()
    for forced in (0b000000, 0b111111, 0b111000):
        register.value = forced
        await core.tick()
        await ends_in_error(core, f"{forced:06b}")
        await core.reset()
    assert await core.digest(message) == variants(core)[0][1](message)


@cocotb.test()
async def ends_in_an_error_from_any_upset_of_the_count(dut):
    """Each bit of the round and of the command, in every state: no digest is of fewer rounds or of another state."""
    core = await Core.started(dut)
    message = b"after the error and a reset"
    for where in CONTROL_STATES:
        for register in (dut.u_control.u_count.u_flop.value_q, dut.u_control.u_count.u_copy.value_q):
            for bit in range(len(register)):
                await reach(core, where)
                register.value = int(register.value) ^ 1 << bit
                await core.tick()
                await ends_in_error(core, f"{where}, bit {bit} of {register._path}")
                await core.reset()
    assert await core.digest(message) == variants(core)[0][1](message)
