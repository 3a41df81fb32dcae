"""`sha2_hmac` against hashlib and hmac."""

from __future__ import annotations

import hashlib
import hmac
import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from hmac_bench import BLOCK, Engine
from stored_vectors import digests, macs
from upsets import upsets_of

STATES = {
    "idle": 0b0001011,
    "inner key": 0b0010110,
    "message": 0b0100111,
    "leave": 0b1011000,
    "inner": 0b0011101,
    "outer key": 0b1000101,
    "digest": 0b1001110,
    "outer": 0b1010011,
}
ERROR = 0b1101001

# Keys, messages and MACs of RFC 4231 §4.2 to §4.5: those whose key fits into a block.
RFC_4231 = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ),
    (
        b"\xaa" * 20,
        b"\xdd" * 50,
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
    ),
    (
        bytes(range(1, 26)),
        b"\xcd" * 50,
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ),
]
# Bytes of stored vectors that each test of them hashes.
BUDGET = 12_000


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


async def agrees(engine: Engine, key: bytes, message: bytes) -> None:
    await engine.write_key(key)
    got = await engine.compute(message, is_hmac=True)
    assert got == mac(key, message), f"key {len(key)}, message {len(message)} bytes: {got.hex()}"


def is_forgotten(dut: HierarchyObject) -> bool:
    """Whether registers of key and digest hold zeros."""
    return int(dut.key_q.value) == 0 and int(dut.digest_q.value) == 0 and not dut.key_loaded_o.value


@cocotb.test()
async def computes_the_examples_of_rfc_4231(dut):
    engine = await Engine.started(dut)
    for key, message, expected in RFC_4231:
        assert mac(key, message).hex() == expected
        await agrees(engine, key, message)


@cocotb.test()
async def takes_keys_of_every_length_up_to_a_block(dut):
    engine = await Engine.started(dut)
    for length in range(BLOCK + 1):
        await agrees(engine, random.randbytes(length), random.randbytes(random.randrange(8)))
    # A longer key is replaced by its digest (FIPS 198-1 §4); software does that.
    key, message = random.randbytes(65), random.randbytes(11)
    await engine.write_key(hashlib.sha256(key).digest())
    assert await engine.compute(message, is_hmac=True) == mac(key, message)


@cocotb.test()
async def takes_messages_of_every_length_around_blocks(dut):
    engine = await Engine.started(dut)
    key = random.randbytes(32)
    await engine.write_key(key)
    lengths = [*range(18), *range(46, 74), *range(118, 132)]
    for length in lengths:
        message = random.randbytes(length)
        is_hmac = random.random() < 0.5
        want = mac(key, message) if is_hmac else hashlib.sha256(message).digest()
        got = await engine.compute(message, is_hmac)
        assert got == want, f"{length} bytes, HMAC {is_hmac}: {got.hex()}"


@cocotb.test()
async def does_not_mind_stalls(dut):
    engine = await Engine.started(dut)
    for _ in range(10):
        engine.stalls = random.choice([0.1, 0.5, 0.8])
        await agrees(engine, random.randbytes(random.randrange(65)), random.randbytes(random.randrange(200)))


@cocotb.test()
async def agrees_with_stored_macs(dut):
    engine = await Engine.started(dut)
    for case in macs(BUDGET, dut._log.info):
        key = case.key
        if len(key) > BLOCK:
            # FIPS 198-1 §4, step 2: with this engine as well.
            key = await engine.compute(key, is_hmac=False)
        await engine.write_key(key)
        got = await engine.compute(case.message, is_hmac=True)
        # A tag may be the beginning of a MAC.
        assert got[: len(case.expected)] == case.expected, f"{case.name}: {got.hex()}"


@cocotb.test()
async def agrees_with_stored_digests(dut):
    engine = await Engine.started(dut)
    for case in digests("SHA2-256", BUDGET, dut._log.info):
        got = await engine.compute(case.message, is_hmac=False)
        assert got == case.expected, f"{case.name}: {got.hex()}"


@cocotb.test()
async def leaves_a_message_and_goes_on_with_it(dut):
    """Two messages in alternation, one or two blocks at a time."""
    engine = await Engine.started(dut)
    for is_hmac in (False, True):
        engine.stalls = random.choice([0.0, 0.4])
        key = random.randbytes(40)
        await engine.write_key(key)
        messages = [random.randbytes(BLOCK * 3 + random.randrange(70)) for _ in range(2)]
        left: list[tuple[bytes, int] | None] = [None, None]
        done = [0, 0]
        for step in (1, 2):
            for which, message in enumerate(messages):
                await back(engine, is_hmac, left[which])
                part = message[done[which] : done[which] + BLOCK * step]
                await engine.words(part, is_end=False)
                left[which] = await engine.stop()
                done[which] += len(part)
                assert left[which][1] == done[which] + (BLOCK if is_hmac else 0)
        for which, message in enumerate(messages):
            await back(engine, is_hmac, left[which])
            await engine.words(message[done[which] :])
            want = mac(key, message) if is_hmac else hashlib.sha256(message).digest()
            assert await engine.result() == want


async def back(engine: Engine, is_hmac: bool, left: tuple[bytes, int] | None) -> None:
    """Starts a message, or resumes a saved one."""
    if left is None:
        await engine.begin(is_hmac)
    else:
        await engine.write_state(left[0])
        await engine.begin(is_hmac, resume_after=left[1])


@cocotb.test()
async def is_not_left_before_the_first_block(dut):
    engine = await Engine.started(dut)
    await engine.begin(is_hmac=False)
    dut.stop_valid_i.value = 1
    for _ in range(50):
        assert await engine.sees(dut.stop_ready_o) == 0
    dut.stop_valid_i.value = 0


@cocotb.test()
async def needs_a_whole_key(dut):
    engine = await Engine.started(dut)
    dut.is_hmac_i.value = 1
    dut.start_valid_i.value = 1
    for index in range(16):
        assert await engine.sees(dut.start_ready_o) == 0, f"begins with {index} words of a key"
        dut.key_index_i.value, dut.key_valid_i.value = index, 1
        await engine.tick()
        dut.key_valid_i.value = 0
    assert await engine.sees(dut.start_ready_o) == 1
    dut.start_valid_i.value = 0
    # The key does not change during a computation.
    before = int(dut.key_q.value)
    dut.key_i.value, dut.key_valid_i.value = 0xFFFFFFFF, 1
    await engine.tick(3)
    dut.key_valid_i.value = 0
    await ReadOnly()
    assert int(dut.key_q.value) == before
    await engine.tick()


@cocotb.test()
async def forgets_on_command_and_when_the_lifecycle_changes(dut):
    """In any cycle of a HMAC: key and digest in the next one, and the core soon after."""
    engine = await Engine.started(dut)
    length = (BLOCK * 9) // engine.rounds_per_cycle
    for when in range(0, length, 7):
        await engine.write_key(b"\xff" * BLOCK)
        task = cocotb.start_soon(engine.compute(random.randbytes(70), is_hmac=True))
        await engine.tick(when)
        is_wipe = when % 2 == 0
        if is_wipe:
            await engine.pulse(dut.wipe_i)
        else:
            dut.lifecycle_i.value = int(dut.lifecycle_i.value) ^ 1 << random.randrange(4)
            await engine.tick()
        task.cancel()
        engine.silence()
        await ReadOnly()
        assert is_forgotten(dut), f"knows something {when} cycles after the start, wipe {is_wipe}"
        await engine.tick()
        waited = await engine.until_idle()
        assert waited <= 16 // engine.rounds_per_cycle + 4, waited
        await ReadOnly()
        assert int(dut.digest_o.value) == 0
        assert all(int(register.value) == 0 for register in dut.u_core.v_q)
        await engine.tick()


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    """The key stays, and the next MAC is right."""
    engine = await Engine.started(dut)
    key, message = random.randbytes(30), b"what comes after an abort"
    want = mac(key, message)
    await engine.write_key(key)
    seen = set()
    for when in range(0, 420 // engine.rounds_per_cycle, max(5 // engine.rounds_per_cycle, 1)):
        task = cocotb.start_soon(aborted(engine, is_left=when % 2 == 1))
        await engine.tick(when)
        await ReadOnly()
        seen.add(int(dut.u_state.u_flop.value_q.value))
        await engine.tick()
        task.cancel()
        engine.silence()
        await engine.pulse(dut.abort_i)
        await ReadOnly()
        assert int(dut.digest_q.value) == 0 and dut.key_loaded_o.value == 1
        await engine.tick()
        assert await engine.compute(message, is_hmac=True) == want, f"aborted at {when}"
    assert seen >= {STATES[name] for name in ("inner key", "message", "outer key", "digest")}, seen


async def aborted(engine: Engine, is_left: bool) -> None:
    await engine.begin(is_hmac=True)
    await engine.words(random.randbytes(BLOCK), is_end=not is_left)
    if is_left:
        await engine.stop()
    else:
        await engine.result()


@cocotb.test()
async def takes_the_same_cycles_for_any_key_and_message(dut):
    engine = await Engine.started(dut)
    for length in (0, 3, 55, 56, 64, 120):
        for is_hmac in (False, True):
            times = set()
            for sample in range(4):
                fixed = [b"\0", b"\xff"][sample % 2]
                key = fixed * BLOCK if sample < 2 else random.randbytes(BLOCK)
                message = fixed * length if sample < 2 else random.randbytes(length)
                await engine.write_key(key)
                state = random.getstate()
                # The same stalls and the same form of the end.
                random.seed(length)
                await engine.begin(is_hmac)
                before = engine.cycle
                await engine.words(message)
                await engine.result()
                times.add(engine.cycle - before)
                random.setstate(state)
            assert len(times) == 1, f"{length} bytes, HMAC {is_hmac}: {sorted(times)} cycles"


@cocotb.test()
async def takes_exactly_the_cycles_of_its_documentation(dut):
    """From the start of a message to its digest (doc/README.md, "Cycles")."""
    engine = await Engine.started(dut)
    await engine.write_key(random.randbytes(BLOCK))
    save = 4 // engine.rounds_per_cycle
    block = 68 // engine.rounds_per_cycle
    for blocks in (1, 2, 3, 5):
        # Blocks of both keys and of the inner digest; the inner digest is saved, too.
        for is_hmac, expected in (
            (False, blocks * block + save + 2),
            (True, (blocks + 3) * block + 2 * save + 3),
        ):
            await engine.begin(is_hmac)
            before = engine.cycle
            # With its padding the message fills the last block.
            await engine.words(random.randbytes(BLOCK * blocks - 9))
            await engine.result()
            took = engine.cycle - before
            assert took == expected, f"{blocks} blocks, HMAC {is_hmac}: {took}, not {expected}"


async def reach(engine: Engine, where: str) -> None:
    """Brings the control into a state."""
    dut = engine.dut
    if where == "idle":
        return
    is_left = where == "leave"
    task = cocotb.start_soon(aborted(engine, is_left))
    for _ in range(1000):
        await ReadOnly()
        found = int(dut.u_state.u_flop.value_q.value) == STATES[where]
        await engine.tick()
        if found:
            break
    else:
        raise AssertionError(f"{where} is not reached")
    task.cancel()
    engine.silence()


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    """Upsets of one or two bits in every state: no recovery, and the key is cleared."""
    engine = await Engine.started(dut)
    legal = {*STATES.values(), ERROR}
    for where, state in STATES.items():
        for forced in random.sample(upsets_of(state, 7, legal), 4):
            await engine.write_key(b"\xff" * BLOCK)
            await reach(engine, where)
            dut.u_state.u_flop.value_q.value = forced
            await engine.tick()
            await stays_in_error(engine, f"{where}, {forced:07b}")
            await engine.reset()
    await agrees(engine, b"after the error", b"and a reset")


@cocotb.test()
async def ends_in_an_error_when_a_part_of_it_is_upset(dut):
    engine = await Engine.started(dut)
    for register in (dut.u_core.u_control.u_state.u_flop.value_q, dut.u_padding.u_state.u_flop.value_q):
        await engine.write_key(b"\xff" * BLOCK)
        await reach(engine, "message")
        register.value = 0b111111
        await engine.tick()
        await stays_in_error(engine, register._path)
        await engine.reset()


async def stays_in_error(engine: Engine, where: str) -> None:
    dut = engine.dut
    await engine.let_assertions_fail()
    for port in (dut.start_valid_i, dut.msg_valid_i, dut.stop_valid_i):
        port.value = 1
    for cycle in range(40):
        dut.wipe_i.value = cycle % 7 == 3
        dut.abort_i.value = cycle % 5 == 2
        await ReadOnly()
        assert dut.error_o.value == 1, f"went on from {where}"
        assert dut.start_ready_o.value == 0 and dut.stop_ready_o.value == 0, where
        assert int(dut.digest_o.value) == 0, where
        # The first cycle is the one in which the error is seen.
        assert cycle == 0 or is_forgotten(dut), f"knows something in {where}"
        await engine.tick()
    dut.wipe_i.value = dut.abort_i.value = 0
    engine.silence()
