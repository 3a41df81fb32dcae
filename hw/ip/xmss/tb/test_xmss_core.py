"""Verification of XMSS signatures by `xmss_core`."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ReadOnly
from stored_vectors import cases
from xmss_bench import INDEX, KEY_TYPE, LONG, MISMATCH, NO_ERROR, SHORT, TYPE, Core
from xmss_signer import sign, xmss

# StLength of `xmss_message`.
LENGTH_STATE = 0b101101

# Stored vectors that a daily run verifies.
STORED = 8
# Of the documentation: from the start to the verdict, of the signatures of the seeds 1 and, with two passes, 2. Lanes
# and rounds a cycle.
CYCLES = {(1, 1): (170_169, 339_990), (4, 2): (22_032, 43_895), (8, 2): (11_682, 23_121)}


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@cocotb.test()
async def verifies_a_signature(dut):
    core = await Core.started(dut)
    lanes, rounds = int(dut.Lanes.value), int(dut.RoundsPerCycle.value)
    for seed, two_passes in ((1, False), (2, True)):
        result = await core.verify(sign(random.Random(seed)), two_passes)
        assert result.passes, f"{result}"
        cocotb.log.info("%d cycles", result.cycles)
        if (lanes, rounds) in CYCLES:
            assert result.cycles == CYCLES[lanes, rounds][two_passes], f"{result}"


@cocotb.test()
async def refuses_a_flipped_bit_of_each_part(dut):
    """Index, R, a chain, the path, the message, root and seed: each with an error code, and the core works again."""
    core = await Core.started(dut)
    signed = sign(random.Random(3))
    size, path_at = len(signed.signature), 4 + 68 * 32
    for bit in (31, random.randrange(32, 288), random.randrange(288, 8 * path_at), random.randrange(8 * path_at, 8 * size)):
        result = await core.verify(signed._replace(signature=flipped(signed.signature, bit)))
        # The last bits of the index are bits of its fourth byte.
        assert result.error in (MISMATCH, INDEX), f"signature, bit {bit}: {result}"
    result = await core.verify(signed._replace(message=flipped(signed.message, random.randrange(256))))
    assert result.error == MISMATCH, f"message: {result}"
    for bit in (random.randrange(32, 288), random.randrange(288, 544)):
        result = await core.verify(signed._replace(key=flipped(signed.key, bit)))
        assert result.error == MISMATCH, f"key, bit {bit}: {result}"
    assert (await core.verify(signed)).error == NO_ERROR


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """Types, lengths and an index past the tree end with their codes, and never hang."""
    core = await Core.started(dut)
    signed = sign(random.Random(4))
    bad = [
        (signed._replace(oid=4), TYPE),
        # With hashes of 24 bytes, which are not built in.
        (signed._replace(oid=13), TYPE),
        (signed._replace(oid=2), KEY_TYPE),
        (signed._replace(signature=signed.signature[:-1]), SHORT),
        (signed._replace(signature=signed.signature[:-4]), SHORT),
        (signed._replace(signature=signed.signature[:40]), SHORT),
        (signed._replace(signature=signed.signature[:3]), SHORT),
        (signed._replace(signature=signed.signature + b"\0"), LONG),
        (signed._replace(signature=signed.signature + bytes(40)), LONG),
        (signed._replace(signature=(1 << 10).to_bytes(4, "big") + signed.signature[4:]), INDEX),
    ]
    for case, error in bad:
        result = await core.verify(case)
        assert result.error == error and result.verdict == 0, f"{error} expected: {result}"
        assert (await core.verify(signed)).passes


@cocotb.test()
async def verifies_every_height(dut):
    """Trees of 16 and 20 levels: the first leaf, the last one, and one past it."""
    core = await Core.started(dut)
    for oid, height in ((2, 16), (3, 20)):
        for index in (0, (1 << height) - 1):
            signed = sign(random.Random(oid), oid=oid, index=index)
            assert (await core.verify(signed)).passes, f"type {oid}, leaf {index}"
        for bit in (31, 8 * (4 + 68 * 32 + 32 * height) - 1):
            result = await core.verify(signed._replace(signature=flipped(signed.signature, bit)))
            assert result.error == MISMATCH, f"type {oid}, bit {bit}: {result}"
        past = (1 << height).to_bytes(4, "big") + signed.signature[4:]
        assert (await core.verify(signed._replace(signature=past))).error == INDEX


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await Core.started(dut)
    for case in cases(STORED, dut._log.info):
        signed = case.signed
        judged = xmss.verify(signed.key, signed.message, signed.signature) is None
        is_built_in = signed.oid in (1, 2, 3) and signed.oid == int.from_bytes(signed.key[:4], "big")
        assert case.is_valid == (judged and is_built_in), f"{case.name}: the judge"
        result = await core.verify(signed)
        assert result.passes == case.is_valid, f"{case.name}: {result}"


@cocotb.test()
async def works_after_an_abort_at_any_time(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(5))
    for _ in range(6):
        await core.write_key(signed.root, signed.seed)
        await core.start(signed.oid)
        tasks = [
            cocotb.start_soon(core.stream("sig", signed.signature)),
            cocotb.start_soon(core.stream("msg", signed.message)),
        ]
        await core.tick(random.randrange(20_000))
        for task in tasks:
            task.cancel()
        dut.sig_valid_i.value = dut.msg_valid_i.value = 0
        await core.pulse(dut.abort_i)
        await core.wait_for(dut.idle_o)
        assert dut.verdict_o.value == 0
    assert (await core.verify(signed)).passes


@cocotb.test()
async def takes_no_key_while_it_verifies(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(12))
    verifying = cocotb.start_soon(core.verify(signed))
    for _ in range(40):
        await core.tick(random.randrange(100, 500))
        dut.key_index_i.value = random.randrange(16)
        dut.key_i.value = random.getrandbits(32)
        await core.pulse(dut.key_valid_i)
    assert (await verifying).passes


@cocotb.test()
async def verifies_long_messages_with_stalls(dut):
    core = await Core.started(dut)
    for length in (1500, 300, 64, 56, 55, 1, 0):
        core.stalls = random.choice([0.0, 0.3])
        signed = sign(random.Random(length), message=random.randbytes(length))
        assert (await core.verify(signed)).passes, f"{length} bytes"


@cocotb.test()
async def counts_the_bytes_of_a_message_past_4_gib(dut):
    """A count that wraps would give a long message the end of a short one. The count is set, because 4 GiB take hours."""
    core = await Core.started(dut)
    message = dut.u_core.u_message
    signed = sign(random.Random(12), message=random.randbytes(600))
    verifying = cocotb.start_soon(core.verify(signed))
    while int(message.length_q.value) < 200:
        await core.tick()
    message.length_q.value = (1 << 32) - 200
    await core.let_assertions_fail()
    bits = 0
    while not verifying.done():
        await ReadOnly()
        if int(message.state_q.value) == LENGTH_STATE and message.moves.value == 1:
            bits = bits << 32 | int(message.write_data_o.value)
        await core.tick()
    assert 1 << 32 < bits // 8 < (1 << 32) + 600, f"{bits:#x} bits"
    assert verifying.result().error == MISMATCH


@cocotb.test()
async def waits_for_a_signature_that_comes_late(dut):
    """Everything else is there, and the signature stops in R, in a chain and in the path: longer than all work takes
    that could be done."""
    core = await Core.started(dut)
    signed = sign(random.Random(11))
    await core.write_key(signed.root, signed.seed)
    start = core.cycle
    await core.start(signed.oid)
    sending = cocotb.start_soon(core.stream("msg", signed.message))
    at = 0
    for stop in (8, 40, 36 + 8 * random.randrange(4 * 67) + 4, 36 + 32 * 67 + 4 + 8 * random.randrange(4 * 10)):
        await core.stream("sig", signed.signature[at:stop], is_end=False)
        await core.tick(4000)
        assert dut.done_o.value == 0
        at = stop
    await core.stream("sig", signed.signature[at:])
    assert (await core.result(start)).passes
    await sending


@cocotb.test()
async def leaves_nothing_of_one_signature_to_the_next(dut):
    """Valid ones and tampered ones in any order, with stalls: verdicts are right, and no count of a node is left."""
    core = await Core.started(dut)
    for number in range(4 + 2 * int(dut.Lanes.value)):
        core.stalls = random.choice([0.0, 0.3, 0.6])
        signed = sign(random.Random(100 + number), message=random.randbytes(random.choice([0, 1, 32, 55, 56, 64])))
        is_valid = random.random() < 0.6
        shown = signed if is_valid else signed._replace(signature=flipped(signed.signature, random.randrange(32, 20_000)))
        result = await core.verify(shown, two_passes=random.random() < 0.2)
        assert result.passes == is_valid, f"{number}: {result}"
        left = [node for node in range(512) if int(dut.u_core.u_schedule.counts[node].value)]
        assert not left, f"{number}: counts of {left} are left"
