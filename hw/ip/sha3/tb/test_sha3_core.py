"""`sha3_core` against hashlib, and against a model for what hashlib does not have."""

from __future__ import annotations

import random

import cocotb
import keccak
from clocked import periods
from cocotb.triggers import ReadOnly, ReadWrite
from sha3_bench import (
    CSHAKE128,
    CSHAKE256,
    FUNCTIONS,
    LEAF128,
    SHA3_224,
    SHA3_256,
    SHA3_384,
    SHA3_512,
    SHAKE128,
    SHAKE256,
    TURBO128,
    Core,
    Function,
)
from stored_vectors import cases, chains
from upsets import upsets_of
from vectors import wants_all

# Blocks of stored vectors.
BUDGET = 400
# A chain of a Monte Carlo test.
CHAIN = 1000

CONTROL_STATES = {
    "idle": 0b001011,
    "absorb": 0b010101,
    "rounds": 0b011110,
    "squeeze": 0b100110,
    "turn": 0b101101,
    "wipe": 0b111000,
}
BLOCK_STATES = {"message": 0b001011, "suffix": 0b010101, "end": 0b011110, "done": 0b100110}
ERROR = 0b110011


async def agrees(core: Core, function: Function, message: bytes, size: int = 0) -> None:
    got = await core.digest(function, message, size)
    want = function.digest(message, size)
    assert got == want, f"{function.name}, {len(message)} bytes: {got.hex()}, not {want.hex()}"


@cocotb.test()
async def computes_published_examples(dut):
    """Known answers check core and judges alike."""
    core = await Core.started(dut)
    # FIPS 202, examples of NIST: "abc".
    known = "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
    assert (await core.digest(SHA3_256, b"abc")).hex() == known == keccak.sponge(136, 6, b"abc", 32).hex()
    # RFC 9861 §5: the empty message.
    known = "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c"
    assert (await core.digest(TURBO128, b"")).hex() == known == TURBO128.digest(b"").hex()
    # SP 800-185, KMAC sample 1.
    known = "e5780b0d3ea6f7d3a429c5706aa43a00fadbd7d49628839e3187243f456ee14e"
    key, message = bytes(range(0x40, 0x60)), bytes(range(4))
    assert keccak.kmac(168, key, message, 32).hex() == known
    whole = keccak.kmac_header(168) + keccak.bytepad(keccak.encode_string(key), 168)
    whole += message + keccak.right_encode(256)
    assert (await core.digest(CSHAKE128, whole)).hex() == known


@cocotb.test()
async def digests_every_length_around_a_block(dut):
    core = await Core.started(dut)
    for function in FUNCTIONS:
        rate = function.rate
        lengths = {0, 1, 7, 8, 9, rate - 17, rate - 9, rate - 8, rate - 7, rate - 1, rate, rate + 1}
        lengths |= {2 * rate - 8, 2 * rate - 1, 2 * rate}
        for length in sorted(lengths):
            await agrees(core, function, random.randbytes(length))


@cocotb.test()
async def digests_random_messages_with_stalls_on_all_ports(dut):
    core = await Core.started(dut)
    for _ in range(12):
        core.stalls = random.choice([0.1, 0.5, 0.8])
        function = random.choice(FUNCTIONS)
        await agrees(core, function, random.randbytes(random.randrange(3 * function.rate)))


@cocotb.test()
async def squeezes_many_blocks(dut):
    core = await Core.started(dut)
    for function in (SHAKE128, SHAKE256, CSHAKE256, TURBO128, SHA3_512):
        for stalls in (0.0, 0.3):
            core.stalls = stalls
            message = random.randbytes(random.randrange(200))
            size = 3 * function.rate + 11
            want = keccak.sponge(function.rate, function.suffix, message, size, function.rounds)
            assert await core.digest(function, message, size) == want, function.name


@cocotb.test()
async def agrees_with_stored_vectors(dut):
    core = await Core.started(dut)
    for case in cases(BUDGET, dut._log.info):
        got = await core.digest(case.function, case.whole, len(case.expected))
        assert got == case.expected, f"{case.name}: {got.hex()}"


@cocotb.test()
async def follows_a_chain_of_digests(dut):
    """A Monte Carlo test: each digest is the next message. Part of it, by the judge, unless all vectors are wanted."""
    core = await Core.started(dut)
    for name, function, seed, expected in chains(dut._log.info):
        message = seed
        for number in range(CHAIN):
            # The engine computes the last ones.
            by_engine = wants_all() or number >= CHAIN - 5
            message = await core.digest(function, message) if by_engine else function.digest(message)
        assert message == expected[0], f"{name}: {message.hex()}"


@cocotb.test()
async def blocks_follow_each_other_without_a_cycle_between(dut):
    """A block takes its rounds, or its words if those take longer; a squeezed one both."""
    core = await Core.started(dut)
    for function in (SHA3_512, SHA3_384, SHA3_256, SHA3_224, SHAKE128, TURBO128, LEAF128):
        rounds, words = core.permutation(function), function.rate // 8
        times = set()
        for fill in (bytes, lambda size: b"\xff" * size, random.randbytes):
            sending = cocotb.start_soon(core.words(fill(6 * function.rate), is_end=False))
            await core.start(function)
            taken = []
            while not sending.done() or len(taken) < 6:
                await ReadOnly()
                if dut.take_block.value == 1:
                    taken.append(core.cycle)
                await core.tick()
            times |= periods(taken)
            await core.wipe()
            await core.until_idle()
        assert times == {max(rounds, words)}, f"{function.name}: {sorted(times)}"
        dut._log.info("%s: %d cycles a block of %d bytes", function.name, max(rounds, words), function.rate)


@cocotb.test()
async def takes_the_cycles_of_its_documentation(dut):
    """From the start to the first word of output, for any data, and from one squeezed block to the next."""
    core = await Core.started(dut)
    for function in (SHA3_256, SHA3_512, SHAKE128, LEAF128):
        rounds, words = core.permutation(function), function.rate // 8
        for length in (0, 3, function.rate - 12, function.rate - 3, function.rate):
            # The words, with one for the end of the padding; a cycle to take the block.
            blocks = length // function.rate + 1
            want = min(length // 8 + 2, words) + 1 + blocks * rounds
            for fill in (bytes, lambda size: b"\xff" * size, random.randbytes):
                sending = cocotb.start_soon(core.words(fill(length)))
                await core.start(function)
                got = await core.cycles_to_output()
                await sending
                assert got == want, f"{function.name}, {length} bytes: {got} cycles, not {want}"
        dut.word_ready_i.value = 1
        seen = []
        for _ in range(4 * (rounds + 21)):
            await ReadOnly()
            seen.append(int(dut.word_valid_o.value))
            await core.tick()
        dut.word_ready_i.value = 0
        rises = [at for at in range(1, len(seen)) if seen[at] and not seen[at - 1]]
        times = periods(rises)
        assert times == {21 + rounds}, f"{function.name}: {times}"


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    """A wipe in every cycle of a message and of its output leaves nothing, and the next digest is right."""
    core = await Core.started(dut)
    message = b"what comes after an abort"
    for function in (SHA3_512, SHAKE256):
        for abort_at in range(2 * core.permutation(function) + 42):
            task = cocotb.start_soon(core.digest(function, b"\xff" * (function.rate + 3), 3 * function.rate))
            await core.tick(abort_at + 1)
            task.cancel()
            core.clear_inputs()
            await core.wipe()
            await core.until_idle()
            assert core.is_clear(), f"aborted at {abort_at}"
            await agrees(core, function, message)
            await core.wipe()
            await core.tick(2)


@cocotb.test()
async def a_message_may_start_instead_of_output(dut):
    """The last message leaves nothing in the next one."""
    core = await Core.started(dut)
    for read in (0, 1, 5, 9, 30):
        await core.digest(SHAKE128, random.randbytes(30), 8 * read or 8)
        await agrees(core, random.choice(FUNCTIONS), random.randbytes(50))


async def ends_in_error(core: Core, where: str) -> None:
    """Checks that nothing leaves the error state, that no output is valid, and that nothing is kept."""
    dut = core.dut
    await core.let_assertions_fail()
    await core.tick()
    for port in (dut.start_valid_i, dut.msg_valid_i, dut.word_ready_i):
        port.value = 1
    for cycle in range(20):
        # Neither a wipe nor a start leaves the state.
        dut.wipe_i.value = cycle % 7 == 3
        await ReadOnly()
        assert dut.error_o.value == 1, f"went on from an illegal state in {where}"
        offers = (dut.start_ready_o, dut.msg_ready_o, dut.word_valid_o, dut.idle_o)
        assert all(port.value == 0 for port in offers) or cycle < 2, f"offers something in {where}"
        await core.tick()
    assert core.is_clear(), f"keeps what it worked on in {where}"
    core.clear_inputs()


async def reach(core: Core, where: str) -> None:
    """Brings the control into a state, and stays in it as long as it may."""
    dut = core.dut
    if where in ("absorb", "rounds"):
        await core.start(SHA3_256)
        await core.words(random.randbytes(136 if where == "rounds" else 32), is_end=False)
        await core.tick(3)
    elif where in ("squeeze", "turn"):
        await core.digest(SHA3_512, b"", 64)
        if where == "turn":
            await core.squeeze(8)
    elif where == "wipe":
        await core.wipe()
    await ReadWrite()
    state = int(dut.u_control.u_state.u_flop.value_q.value)
    assert state == CONTROL_STATES[where], f"not in {where} but {state:06b}"


async def reach_block(core: Core, where: str) -> None:
    """The same for the block."""
    if where != "done":
        await core.start(SHA3_256)
    if where == "message":
        await core.words(random.randbytes(32), is_end=False)
    elif where in ("suffix", "end"):
        await core.words(random.randbytes(136), is_end=False)
        await core.words(random.randbytes(16 if where == "suffix" else 12))
    await ReadWrite()
    state = int(core.dut.u_block.u_state.u_flop.value_q.value)
    assert state == BLOCK_STATES[where], f"not in {where} but {state:06b}"


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    """Upsets of one or two bits in every state of both machines, and words that are far from all of them."""
    core = await Core.started(dut)
    for register, states, reaches in (
        (dut.u_control.u_state.u_flop.value_q, CONTROL_STATES, reach),
        (dut.u_block.u_state.u_flop.value_q, BLOCK_STATES, reach_block),
    ):
        legal = {*states.values(), ERROR}
        for where, state in states.items():
            for forced in random.sample(upsets_of(state, 6, legal), 4):
                await reaches(core, where)
                register.value = forced
                await core.tick()
                await ends_in_error(core, f"{where}, {forced:06b}")
                await core.reset()
        for forced in set(range(64)) - legal:
            register.value = forced
            await core.tick()
            await ends_in_error(core, f"{forced:06b}")
            await core.reset()
    await agrees(core, SHA3_384, b"after the error and a reset")


@cocotb.test()
async def ends_in_an_error_from_an_illegal_count(dut):
    """Rounds or lanes that do not exist: the core does not count on to a digest of fewer rounds."""
    core = await Core.started(dut)
    for where, last in (("rounds", 24 // core.rounds_per_cycle - 1), ("squeeze", 20)):
        for count in range(last + 1, 32):
            await reach(core, where)
            if where == "squeeze":
                dut.word_ready_i.value = 1
            # The register also has the mark of a complete message, in its lowest bit.
            register = dut.u_control.u_count.u_flop.value_q
            register.value = count << 1 | int(register.value) & 1
            await core.tick(2)
            await ends_in_error(core, f"{where}, count {count}")
            await core.reset()


@cocotb.test()
async def ends_in_an_error_from_any_upset_of_the_count(dut):
    """Each bit of the round and of the mark of a complete message, in every state: no output is of fewer rounds or of a part."""
    core = await Core.started(dut)
    for where in CONTROL_STATES:
        for register in (dut.u_control.u_count.u_flop.value_q, dut.u_control.u_count.u_copy.value_q):
            for bit in range(len(register)):
                await reach(core, where)
                register.value = int(register.value) ^ 1 << bit
                await core.tick(2)
                await ends_in_error(core, f"{where}, bit {bit} of {register._path}")
                await core.reset()
    await agrees(core, SHA3_384, b"after the error and a reset")
