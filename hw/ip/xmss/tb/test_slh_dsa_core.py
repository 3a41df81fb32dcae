"""Verification of SLH-DSA-SHA2-128s signatures by `slh_dsa_core`, on hash cores of its own."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import LogicObject
from cocotb.triggers import ReadOnly
from slh_dsa_bench import SlhDsa
from slh_dsa_signer import SET, sign, slh_dsa
from slh_dsa_vectors import cases
from test_xmss_core import flipped
from xmss_bench import KEY_TYPE, LONG, MISMATCH, NO_ERROR, SHORT, TYPE, UPSET

# Stored vectors that a daily run verifies.
STORED = 8
# Of the documentation: from the start to the verdict, of the signatures of the seeds 1 and, with two passes, 2. Lanes
# and rounds a cycle. Two lanes are built without an overlap of states.
CYCLES = {
    (1, 1): (147_345, 307_411),
    (2, 2): (39_393, 81_705),
    (4, 2): (20_280, 41_971),
    (4, 4): (13_613, 28_137),
    (8, 2): (12_575, 25_361),
}
# Place of the last scan over the second half of the chains: those whose digits have both upper bits.
LAST_SCAN = 64
# Bytes of the parts of a signature (FIPS 205 §9.2).
FORS_AT, LAYERS_AT, LAYER, PATH_AT = 16, 16 * 183, 16 * 44, 16 * 35


@cocotb.test()
async def verifies_a_signature(dut):
    core = await SlhDsa.started(dut)
    lanes, rounds = int(dut.Lanes.value), int(dut.RoundsPerCycle.value)
    for seed, two_passes in ((1, False), (2, True)):
        signed = sign(random.Random(seed))
        result = await core.verify(signed, two_passes)
        assert result.passes, f"{result}"
        assert await core.root() == signed.root
        cocotb.log.info("%d cycles", result.cycles)
        assert result.cycles == CYCLES[lanes, rounds][two_passes], f"{result}"


@cocotb.test()
async def refuses_a_flipped_bit_of_each_part(dut):
    """R, FORS, chains and paths of some layers, the message, root and seed: each time the root is another one."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(3))
    within = random.randrange
    places = [
        within(FORS_AT),
        within(FORS_AT, LAYERS_AT),
        LAYERS_AT + within(PATH_AT),
        LAYERS_AT + within(7) * LAYER + PATH_AT + within(16 * 9),
        LAYERS_AT + 6 * LAYER + within(PATH_AT),
        len(signed.signature) - 1,
    ]
    for at in places:
        bit = 8 * at + within(8)
        result = await core.verify(signed._replace(signature=flipped(signed.signature, bit)))
        assert result.error == MISMATCH, f"signature, bit {bit}: {result}"
        assert await core.root() not in (signed.root, bytes(16))
    for name, size in (("message", 256), ("root", 128), ("seed", 128)):
        changed = signed._replace(**{name: flipped(getattr(signed, name), within(size))})
        assert (await core.verify(changed)).error == MISMATCH, name
    assert (await core.verify(signed)).error == NO_ERROR


@cocotb.test()
async def counts_the_bytes_of_a_message_past_4_gib(dut):
    """A count that wraps would give a long message the end of a short one. The count is set, because 4 GiB take hours."""
    core = await SlhDsa.started(dut)
    message = dut.u_core.u_message
    signed = sign(random.Random(5))._replace(message=random.randbytes(600))
    verifying = cocotb.start_soon(core.verify(signed))
    while int(message.bytes_q.value) < 200:
        await core.tick()
    message.bytes_q.value = (1 << 32) - 200
    await core.let_assertions_fail()
    # The lane that follows the zeros has the length in bits.
    for is_length in (0, 1):
        while int(message.in_length.value) == is_length:
            await core.tick()
    bits = int(message.lane_q.value)
    verifying.cancel()
    assert 1 << 32 < bits // 8 < (1 << 32) + 600, f"{bits:#x} bits"


@cocotb.test()
async def refuses_a_root_that_differs_in_one_bit(dut):
    """In each of its words. The message digest has the root of the key in it, so only an upset makes such a root."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(4))
    for word in range(4):
        await core.begin(signed)
        sending = cocotb.start_soon(core.stream("sig", signed.signature))
        await core.stream("msg", signed.message)
        await core.wait_for(dut.u_core.finished)
        root = dut.u_core.u_digits.root_o
        root.value = int(root.value) ^ 1 << random.randrange(32 * word, 32 * (word + 1))
        result = await core.result(core.cycle)
        assert (result.error, result.verdict) == (MISMATCH, 0), f"word {word}: {result}"
        await sending


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """Types and lengths end with their codes, a root of zeros, and an engine that works; nothing hangs."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(5))
    bad = [(signed._replace(signature=signed.signature[:size]), SHORT) for size in (7855, 7848, 7840, 40, 16, 3, 0)]
    bad += [(signed._replace(signature=signed.signature + bytes(more)), LONG) for more in (1, 8, 40)]
    bad += [(signed._replace(oid=oid), TYPE) for oid in (0, 2, 1 << 31 | 1)]
    for case, error in bad:
        result = await core.verify(case)
        assert (result.error, result.verdict) == (error, 0), f"{error} expected: {result}"
        assert await core.root() == bytes(16)
    assert (await core.verify(signed, key_type=2)).error == KEY_TYPE
    assert (await core.verify(signed)).passes


@cocotb.test()
async def takes_an_end_without_a_byte(dut):
    """The last word of a stream may be empty."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(6))
    start = await core.begin(signed)
    for channel, data in (("sig", signed.signature), ("msg", signed.message)):
        await core.stream(channel, data, is_end=False)
        await core.send(channel, **{f"{channel}_data": 0, f"{channel}_bytes": 0, f"{channel}_last": 1})
    assert (await core.result(start)).passes


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await SlhDsa.started(dut)
    for case in cases(STORED, dut._log.info):
        signed = case.signed
        judged = slh_dsa.verify_internal(SET, signed.public_key, signed.message, signed.signature) is None
        assert case.is_valid == judged, f"{case.name}: the judge"
        result = await core.verify(signed)
        assert result.passes == case.is_valid, f"{case.name}: {result}"
        length = len(signed.signature)
        expected = SHORT if length < 7856 else LONG if length > 7856 else MISMATCH
        assert result.error == (NO_ERROR if case.is_valid else expected), f"{case.name}: {result}"


@cocotb.test()
async def works_after_an_abort_at_any_time(dut):
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(7))
    longest = CYCLES[int(dut.Lanes.value), int(dut.RoundsPerCycle.value)][0]
    for number in range(14):
        await core.begin(signed, two_passes=number % 2 == 1)
        tasks = [
            cocotb.start_soon(core.stream("sig", signed.signature)),
            cocotb.start_soon(core.stream("msg", signed.message)),
        ]
        # In the message, in the trees, in the layers, and in a second pass.
        await core.tick(random.randrange((260, 2500, longest, 2 * longest)[number % 4]))
        for task in tasks:
            task.cancel()
        dut.sig_valid_i.value = dut.msg_valid_i.value = 0
        await core.pulse(dut.abort_i)
        await core.wait_for(dut.idle_o)
        assert dut.verdict_o.value == 0 == dut.root_o.value
        if number % 3 == 0:
            assert (await core.verify(signed)).passes
    assert (await core.verify(signed)).passes


@cocotb.test()
async def takes_no_key_and_no_start_while_it_verifies(dut):
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(8))
    verifying = cocotb.start_soon(core.verify(signed))
    # After the key, which the task writes first.
    await core.tick(10)
    for _ in range(40):
        await core.tick(random.randrange(1, 400))
        dut.key_index_i.value = random.randrange(16)
        dut.key_i.value = random.getrandbits(32)
        await core.pulse(random.choice([dut.key_valid_i, dut.start_i]))
    assert (await verifying).passes


@cocotb.test()
async def ignores_words_that_a_key_does_not_have(dut):
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(12))
    await core.begin(signed)
    await core.pulse(dut.abort_i)
    await core.wait_for(dut.idle_o)
    for index in (4, 5, 6, 7, 12, 13, 14, 15):
        dut.key_index_i.value = index
        dut.key_i.value = random.getrandbits(32)
        await core.pulse(dut.key_valid_i)
    # The key of before the abort.
    start = core.cycle
    await core.start(signed.oid)
    sending = cocotb.start_soon(core.stream("sig", signed.signature))
    await core.stream("msg", signed.message)
    assert (await core.result(start)).passes
    await sending


@cocotb.test()
async def verifies_long_messages_with_stalls(dut):
    """Each place of the padding: M' of a pure signature has two bytes at least, one of the internal interface none."""
    core = await SlhDsa.started(dut)
    # 48 bytes come before a message: the padding has room up to 7, and again up to 71.
    for length in (0, 7, 8, 9, 16, 71, 72, 79, 80, 1500):
        core.stalls = random.choice([0.0, 0.3])
        signed = sign(random.Random(length), message=random.randbytes(length))
        assert (await core.verify(signed)).passes, f"{length} bytes"


@cocotb.test()
async def waits_for_a_signature_that_comes_late(dut):
    """The signature stops in R, in FORS, in a chain and in a path: longer than all work takes that could be done."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(9))
    start = await core.begin(signed)
    sending = cocotb.start_soon(core.stream("msg", signed.message))
    at = 0
    layer = LAYERS_AT + random.randrange(7) * LAYER
    for stop in (8, 8 * random.randrange(3, 300), layer + 8 * random.randrange(70), layer + PATH_AT + 8 * random.randrange(18)):
        await core.stream("sig", signed.signature[at:stop], is_end=False)
        await core.tick(6000)
        assert dut.done_o.value == 0
        at = stop
    await core.stream("sig", signed.signature[at:])
    assert (await core.result(start)).passes
    await sending


@cocotb.test()
async def waits_for_a_message_that_comes_late(dut):
    """As on a port that both share: the signature first."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(10), message=random.randbytes(100))
    start = await core.begin(signed)
    await core.stream("sig", signed.signature)
    await core.tick(500)
    await core.stream("msg", signed.message[:64], is_end=False)
    await core.tick(500)
    await core.stream("msg", signed.message[64:])
    assert (await core.result(start)).passes


@cocotb.test()
async def leaves_nothing_of_one_signature_to_the_next(dut):
    """Valid ones and tampered ones of two keys in any order, with stalls."""
    core = await SlhDsa.started(dut)
    for number in range(8):
        core.stalls = random.choice([0.0, 0.3, 0.6])
        signed = sign(random.Random(100 + number), random.randbytes(random.randrange(80)), number=number % 2)
        is_valid = random.random() < 0.6
        shown = signed if is_valid else signed._replace(signature=flipped(signed.signature, random.randrange(8 * 7856)))
        result = await core.verify(shown, two_passes=random.random() < 0.2)
        assert result.passes == is_valid, f"{number}: {result}"


def machines(dut) -> list[tuple[LogicObject, set[int], int]]:
    """All states, their legal codes, and how many bits they have."""
    core, sparse = dut.u_core, {0b001011, 0b010101, 0b011110, 0b100110, 0b101101}
    control = {0x0F, 0x33, 0x3C, 0x55, 0x5A, 0x66, 0x69, 0x96, 0x99, 0xA5}
    message = control | {0xAA}
    found = [
        (core.u_control.u_state.u_flop.value_q, control, 8),
        (core.u_message.u_state.u_flop.value_q, message, 8),
        (core.u_ingest.u_state.u_flop.value_q, {0b001011, 0b010101}, 6),
        (core.u_schedule.u_state.u_flop.value_q, sparse - {0b101101}, 6),
    ]
    for lane in range(int(dut.Lanes.value)):
        found.append((core.g_lane[lane].u_lane.u_state.u_flop.value_q, {0b001011, 0b010101, 0b011110}, 6))
        found.append((dut.g_hash[lane].u_hash.u_core.u_control.u_state.u_flop.value_q, sparse, 6))
    return found


@cocotb.test()
async def an_upset_is_for_good(dut):
    """Each code that is no state, of all state machines, ends in an alert, which only a reset leaves."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(11))
    number = 0
    for state, legal, bits in machines(dut):
        for code in range(1 << bits):
            if code in legal:
                continue
            number += 1
            if number % 25 == 0:
                await core.begin(signed)
                await core.stream("sig", signed.signature[: 8 * random.randrange(60)], is_end=False)
            state.value = code
            await core.tick(3)
            assert dut.alert_o.value == 1, f"{state._path}: {code:#b}"
            await core.pulse(random.choice([dut.start_i, dut.abort_i]))
            await core.tick(2)
            seen = tuple(int(port.value) for port in (dut.alert_o, dut.idle_o, dut.done_o, dut.error_o, dut.verdict_o))
            assert seen == (1, 0, 0, UPSET, 0), f"{state._path}: {code:#b}: {seen}"
            await core.reset()
            assert dut.alert_o.value == 0
    assert (await core.verify(signed)).passes


@cocotb.test()
async def an_upset_of_a_digit_leaves_no_chain_out(dut):
    """A digit of the last scan that becomes one of an earlier scan: no scan would take its chain, and nothing would end."""
    core = await SlhDsa.started(dut)
    signed = sign(random.Random(12))
    schedule, digits = dut.u_core.u_schedule, dut.u_core.u_digits
    upsets = 0
    for layer in range(SET.d):
        await core.begin(signed)
        sending = [
            cocotb.start_soon(core.stream("sig", signed.signature)),
            cocotb.start_soon(core.stream("msg", signed.message)),
        ]
        while (int(schedule.phase_q.value), int(schedule.item_q.value)) != (layer, LAST_SCAN):
            await core.tick()
        root = int(digits.root_o.value)
        upper_bit = [4 * i + 3 for i in range(16) if root >> 4 * i & 0xC == 0xC]
        if upper_bit:
            upsets += 1
            digits.root_o.value = root ^ 1 << random.choice(upper_bit)
            for _ in range(2000):
                if dut.alert_o.value == 1:
                    break
                await core.tick()
            assert (dut.alert_o.value, dut.done_o.value) == (1, 0), f"layer {layer}"
        for task in sending:
            task.cancel()
        dut.sig_valid_i.value = dut.msg_valid_i.value = 0
        await core.reset()
    assert upsets > 0
