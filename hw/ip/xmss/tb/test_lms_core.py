"""Verification of LMS and HSS signatures by `lms_core`."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import LogicArrayObject
from lms_bench import PARAMETERS, LmsCore
from lms_signer import H10_W4, Signed, hss, sign, sign_levels
from stored_lms_vectors import cases
from test_xmss_core import flipped
from xmss_bench import INDEX, KEY_TYPE, LONG, MISMATCH, NO_ERROR, SHORT, TYPE, UPSET

# Stored vectors that a daily run verifies.
STORED = 10
# Of the documentation, for lanes and rounds a cycle: from the start to the verdict, of the signatures of the seeds 1 and,
# with two passes, 2; and the sum over the twenty signatures that the bound is about.
CYCLES = {(4, 2): (6_358, 11_223, 115_998)}
BOUNDS = {(4, 2): 6_500}
SIGNATURES = 20
# Small ones, and one with 24 bytes.
H5_W4, H5_W2, H5_W1, H5_W4_SHORT = (5, 3), (5, 2), (5, 1), (10, 7)


def built(dut) -> tuple[int, int]:
    return int(dut.Lanes.value), int(dut.RoundsPerCycle.value)


def changed(signed: Signed, at: int, word: int) -> Signed:
    """With another word of the signature."""
    signature = signed.signature
    return signed._replace(signature=signature[:at] + word.to_bytes(4, "big") + signature[at + 4 :])


@cocotb.test()
async def verifies_a_signature(dut):
    core = await LmsCore.started(dut)
    for seed, two_passes in ((1, False), (2, True)):
        signed = sign(random.Random(seed))
        result = await core.verify_lms(signed, two_passes)
        assert result.passes, f"{result}"
        assert await core.shown_root() == signed.root
        cocotb.log.info("%d cycles", result.cycles)
        if built(dut) in CYCLES:
            assert result.cycles == CYCLES[built(dut)][two_passes], f"{result}"


@cocotb.test()
async def verifies_twenty_signatures_in_so_many_cycles(dut):
    """From the start to the verdict, with messages of 32 bytes, leaves of any index, and both streams offered from the
    start on."""
    core = await LmsCore.started(dut)
    cycles = []
    for seed in range(1000, 1000 + SIGNATURES):
        result = await core.verify_lms(sign(random.Random(seed)))
        assert result.passes, f"{seed}: {result}"
        cycles.append(result.cycles)
    mean = sum(cycles) / SIGNATURES
    cocotb.log.info("mean %.1f, least %d, most %d, sum %d", mean, min(cycles), max(cycles), sum(cycles))
    assert built(dut) not in BOUNDS or mean <= BOUNDS[built(dut)]
    assert built(dut) not in CYCLES or sum(cycles) == CYCLES[built(dut)][2]


@cocotb.test()
async def verifies_every_type(dut):
    """Each width of digits with each length of hash values, each height, the first leaf, the last one, and any."""
    core = await LmsCore.started(dut)
    heights = random.sample(range(5), 5) * 2
    for ots in range(1, 9):
        types = (5 + heights[ots] + 5 * (ots > 4), ots)
        last = (1 << hss.LMS_TYPES[types[0]].h) - 1
        signed = sign(random.Random(ots), types, index=random.choice([0, last, random.randrange(last)]))
        result = await core.verify_lms(signed, two_passes=ots in (2, 6))
        assert result.passes, f"{types}: {result}"
        assert await core.shown_root() == signed.root + bytes(32 - len(signed.root))
        bit = random.randrange(64, 8 * len(signed.signature))
        shown = signed._replace(signature=flipped(signed.signature, bit))
        assert (await core.verify_lms(shown)).passes == (shown.judge() is None), f"{types}, bit {bit}"


@cocotb.test()
async def verifies_levels(dut):
    """HSS with one to eight levels, each with types of its own; tampered on each level."""
    core = await LmsCore.started(dut)
    one = sign_levels(random.Random(1), [H10_W4])
    assert (await core.verify_lms(one)).passes
    # The same signature without a count of levels, and with it.
    bare = one._replace(levels=0, signature=one.signature[4:])
    assert (await core.verify_lms(bare)).passes
    assert (await core.verify_lms(one._replace(levels=0))).error == PARAMETERS
    assert (await core.verify_lms(bare._replace(levels=1))).error == PARAMETERS
    for levels in ([H5_W2, H10_W4, H5_W1], [H5_W4_SHORT, (11, 6)], [H5_W2] * 8):
        signed = sign_levels(random.Random(len(levels)), levels)
        two_passes = len(levels) == 2
        assert (await core.verify_lms(signed, two_passes)).passes, f"{levels}"
        # A value of the path of each level: the level itself does not lead to its root any more.
        at = 4
        for level, types in enumerate(levels):
            at += 8 + hss.LM_OTS_TYPES[types[1]].signature_size
            if len(levels) < 8 or level in (0, 6, 7):
                shown = signed._replace(signature=flipped(signed.signature, 8 * at + random.randrange(64)))
                result = await core.verify_lms(shown, two_passes)
                assert result.error == MISMATCH and result.verdict == 0, f"{levels}, level {level}: {result}"
            at += hss.LMS_TYPES[types[0]].h * hss.LMS_TYPES[types[0]].m + 24 + len(signed.root)
    result = await core.verify_lms(signed._replace(message=signed.message + b"!"))
    assert result.error == MISMATCH


@cocotb.test()
async def refuses_a_flipped_bit_of_each_part(dut):
    """q, C, a chain, the path, the message, I and the root: each with an error code, and the core works again."""
    core = await LmsCore.started(dut)
    signed = sign(random.Random(3))
    chains, path = 8 + 32, 12 + 68 * 32
    for first, end in ((24, 32), (64, 8 * chains), (8 * chains, 8 * path - 32), (8 * path, 8 * len(signed.signature))):
        bit = random.randrange(first, end)
        result = await core.verify_lms(signed._replace(signature=flipped(signed.signature, bit)))
        assert result.error == MISMATCH, f"signature, bit {bit}: {result}"
    result = await core.verify_lms(signed._replace(message=flipped(signed.message, random.randrange(256))))
    assert result.error == MISMATCH, f"message: {result}"
    for bit in (random.randrange(64, 192), random.randrange(192, 448)):
        result = await core.verify_lms(signed._replace(key=flipped(signed.key, bit)))
        assert result.error == MISMATCH, f"key, bit {bit}: {result}"
    # Every word of the root is compared.
    for word in range(8):
        key = flipped(signed.key, 192 + 32 * word + random.randrange(32))
        assert (await core.verify_lms(signed._replace(key=key))).error == MISMATCH, f"word {word}"
    assert (await core.verify_lms(signed)).error == NO_ERROR


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """Types, lengths and an index past the tree end with their codes, and never hang."""
    core = await LmsCore.started(dut)
    signed = sign(random.Random(4))
    tree_at = 8 + 68 * 32
    bad = [
        (changed(signed, 0, 1 << 10), INDEX),
        (changed(signed, 0, 1 << 31), INDEX),
        (changed(signed, 4, 4), PARAMETERS),
        (changed(signed, 4, 0x0300_0003), PARAMETERS),
        (changed(signed, tree_at, 5), PARAMETERS),
        *((signed._replace(signature=signed.signature[:size]), SHORT) for size in (-1, -4, tree_at + 2, tree_at, 40, 8, 4, 3, 0)),
        (signed._replace(signature=signed.signature + b"\0"), LONG),
        (signed._replace(signature=signed.signature + bytes(4)), LONG),
        (signed._replace(signature=signed.signature + bytes(40)), LONG),
    ]
    for case, error in bad:
        assert case.judge() is not None
        result = await core.verify_lms(case)
        assert result.error == error and result.verdict == 0, f"{error} expected: {result}"
        assert await core.shown_root() == bytes(32)
        assert not result.passes
    assert (await core.verify_lms(signed)).passes
    # Types: not built in, of two hash functions, too many levels, more bits than a type has, another one than expected.
    for expected in (0x3_0004, 0x3_000F, 0x9_0006, 0x0_0006, 0x7_0006, 0x3_000B, 0x9003_0006, 0xF003_0006, 0x103_0006, 0x3_0106):
        result = await core.verify_lms(signed, expected=expected, key_type=expected)
        assert result.error == TYPE, f"{expected:#x}: {result}"
    for bit in range(0, 32, 5):
        result = await core.verify_lms(signed, key_type=signed.code ^ 1 << bit)
        assert result.error == KEY_TYPE, f"{bit}: {result}"
    assert (await core.verify_lms(signed)).passes


@cocotb.test()
async def names_what_is_wrong_with_levels(dut):
    core = await LmsCore.started(dut)
    levels = [H5_W2, H5_W1]
    signed = sign_levels(random.Random(5), levels)
    # Where the key in the signature begins, and the signature of the second level.
    key_at = 4 + 12 + 32 * (134 + 5)
    second_at = key_at + 56
    bad = [
        (changed(signed, 0, 0), PARAMETERS),
        (changed(signed, 0, 2), PARAMETERS),
        (changed(signed, 0, 0x0100_0001), PARAMETERS),
        (changed(signed, key_at, 4), TYPE),
        (changed(signed, key_at, 10), PARAMETERS),
        (changed(signed, key_at + 4, 9), TYPE),
        (changed(signed, key_at + 4, 5), PARAMETERS),
        # The key is signed: another one is not, though it is known.
        (changed(signed, key_at, 6), MISMATCH),
        (changed(signed, second_at, 32), INDEX),
        (changed(signed, second_at + 4, 2), PARAMETERS),
        *((signed._replace(signature=signed.signature[:size]), SHORT) for size in (2, 4, key_at, key_at + 8, second_at - 1)),
        *((signed._replace(signature=signed.signature[:size]), SHORT) for size in (second_at, second_at + 4, -1)),
        (signed._replace(signature=signed.signature + b"\0"), LONG),
    ]
    for case, error in bad:
        assert case.judge() is not None
        result = await core.verify_lms(case)
        assert result.error == error and result.verdict == 0, f"{error} expected: {result}"
    # A signature with fewer levels is not one of this key, nor is one with more.
    for count in (1, 3, 8):
        result = await core.verify_lms(signed._replace(levels=count))
        assert result.error == PARAMETERS, f"{count}: {result}"
    assert (await core.verify_lms(signed)).passes


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await LmsCore.started(dut)
    for case in cases(STORED, dut._log.info):
        signed = case.signed
        judged = signed.judge() is None
        assert case.is_valid == judged, f"{case.name}: the judge"
        result = await core.verify_lms(signed)
        assert result.passes == case.is_valid, f"{case.name}: {result}"


@cocotb.test()
async def works_after_an_abort_at_any_time(dut):
    core = await LmsCore.started(dut)
    signed, levels = sign(random.Random(6)), sign_levels(random.Random(7), [H5_W2, H5_W4])
    for number in range(30):
        one = random.choice([signed, levels])
        await core.write_lms_key(one)
        await core.start(one.code, two_passes=bool(number % 2))
        tasks = [cocotb.start_soon(core.stream("sig", one.signature)), cocotb.start_soon(core.stream("msg", one.message))]
        await core.tick(random.choice([random.randrange(40), random.randrange(1000), random.randrange(14_000)]))
        for task in tasks:
            task.cancel()
        dut.sig_valid_i.value = dut.msg_valid_i.value = 0
        await core.pulse(dut.abort_i)
        await core.tick(5)
        assert dut.idle_o.value == 1 and dut.verdict_o.value == 0 and dut.done_o.value == 0
        if number % 5 == 4:
            assert (await core.verify_lms(one)).passes, f"after abort {number}"
    assert (await core.verify_lms(signed)).passes


@cocotb.test()
async def takes_no_key_while_it_verifies(dut):
    core = await LmsCore.started(dut)
    signed = sign(random.Random(8))
    verifying = cocotb.start_soon(core.verify_lms(signed, two_passes=True))
    await core.tick(40)
    for _ in range(30):
        await core.tick(random.randrange(20, 250))
        dut.key_index_i.value = random.randrange(16)
        dut.key_i.value = random.getrandbits(32)
        await core.pulse(dut.key_valid_i)
    assert (await verifying).passes
    # Words that no key has are dropped.
    for index in range(12, 16):
        dut.key_index_i.value = index
        await core.pulse(dut.key_valid_i)
    await core.start(signed.code)
    start = core.cycle
    tasks = [cocotb.start_soon(core.stream("sig", signed.signature)), cocotb.start_soon(core.stream("msg", signed.message))]
    assert (await core.result(start)).passes
    for task in tasks:
        await task


@cocotb.test()
async def verifies_messages_of_any_length_with_stalls(dut):
    """All positions of the end in a block, and a last word without a byte."""
    core = await LmsCore.started(dut)
    lengths = [*random.sample(range(66), 12), 1, 2, 0, 8, 9, 10, 64, 72, 128, 300, 1500]
    for number, length in enumerate(lengths):
        core.stalls = random.choice([0.0, 0.0, 0.3])
        types = H5_W4_SHORT if number % 2 else H5_W2
        signed = sign(random.Random(length), types, message=random.randbytes(length))
        assert (await core.verify_lms(signed)).passes, f"{length} bytes"


@cocotb.test()
async def verifies_a_message_that_ends_with_an_empty_word(dut):
    core = await LmsCore.started(dut)
    for length in (0, 8, 32, 48):
        signed = sign(random.Random(length), H5_W2, message=random.randbytes(length))
        await core.write_lms_key(signed)
        start = core.cycle
        await core.start(signed.code)
        sending = cocotb.start_soon(core.stream("sig", signed.signature))
        await core.stream("msg", signed.message, is_end=False)
        await core.send("msg", msg_data=random.getrandbits(64), msg_bytes=0, msg_last=1)
        assert (await core.result(start)).passes, f"{length} bytes"
        await sending


@cocotb.test()
async def waits_for_a_signature_that_comes_late(dut):
    """Everything else is there, and the signature stops in C, in a chain, in the path and in a key: longer than all work
    takes that could be done."""
    core = await LmsCore.started(dut)
    signed = sign_levels(random.Random(11), [H5_W4, H5_W2])
    await core.write_lms_key(signed)
    start = core.cycle
    await core.start(signed.code)
    sending = cocotb.start_soon(core.stream("msg", signed.message))
    size_of = (12 + 32 * (68 + 5), 12 + 32 * (134 + 5))
    second = 4 + size_of[0] + 56
    path = second + size_of[1] - 32 * 5
    stops = [8, 40, 48 + 8 * random.randrange(4 * 67), second - 32, second + 24, second + 48 + 8 * random.randrange(4 * 130)]
    stops += [path + 8 * random.randrange(1, 18)]
    at = 0
    for stop in stops:
        stop -= stop % 8
        await core.stream("sig", signed.signature[at:stop], is_end=False)
        await core.tick(6000)
        assert dut.done_o.value == 0
        at = stop
    await core.stream("sig", signed.signature[at:])
    assert (await core.result(start)).passes
    await sending


@cocotb.test()
async def waits_for_a_message_that_comes_late(dut):
    core = await LmsCore.started(dut)
    signed = sign(random.Random(12), H5_W2, message=random.randbytes(200))
    await core.write_lms_key(signed)
    start = core.cycle
    await core.start(signed.code)
    sending = cocotb.start_soon(core.stream("sig", signed.signature))
    await core.tick(3000)
    await core.stream("msg", signed.message[:80], is_end=False)
    await core.tick(1000)
    assert dut.done_o.value == 0
    await core.stream("msg", signed.message[80:])
    assert (await core.result(start)).passes
    await sending


@cocotb.test()
async def leaves_nothing_of_one_signature_to_the_next(dut):
    """Valid ones and tampered ones of any types in any order, with stalls: verdicts are right."""
    core = await LmsCore.started(dut)
    small = [H5_W4, H5_W2, H5_W1, H5_W4_SHORT, (10, 6), (10, 5)]
    for number in range(14):
        core.stalls = random.choice([0.0, 0.3, 0.6])
        choice = random.Random(100 + number)
        signed = sign(choice, random.choice(small), random.randbytes(random.choice([0, 1, 9, 32, 64])))
        if random.random() < 0.3:
            signed = sign_levels(choice, random.choices(small[:3], k=2))
        is_valid = random.random() < 0.6
        shown = signed
        while not is_valid and shown.judge() is None:
            shown = signed._replace(signature=flipped(signed.signature, random.randrange(8 * len(signed.signature))))
        result = await core.verify_lms(shown, two_passes=random.random() < 0.3)
        assert result.passes == is_valid, f"{number}: {result}"


def machines(dut) -> list[tuple[LogicArrayObject, int, set[int]]]:
    """Each state, its bits and its legal codes."""
    core = dut.u_core
    lane = random.randrange(int(dut.Lanes.value))
    control = {0x0F, 0x33, 0x3C, 0x55, 0x5A, 0x66, 0x69, 0x96, 0x99, 0xA5, 0xAA, 0xC3, 0xCC}
    idle, issue, feed = 0b001011, 0b010101, 0b011110
    return [
        (core.u_control.u_state.u_flop.value_q, 8, control),
        (core.u_ingest.u_state.u_flop.value_q, 8, control | {0x00}),
        (core.u_stream.u_state.u_flop.value_q, 6, {idle, issue, feed, 0b100110}),
        (core.u_stream.u_fetch.u_state.u_flop.value_q, 6, {idle, issue, feed, 0b100110, 0b101101, 0b111000}),
        (core.g_lane[lane].u_lane.u_state.u_flop.value_q, 6, {idle, issue, feed}),
        (dut.g_bank[lane].u_hash.u_core.u_control.u_state.u_flop.value_q, 6, {idle, issue, feed, 0b100110, 0b101101}),
    ]


@cocotb.test()
async def an_upset_is_for_good(dut):
    """Each code that is no state ends in an alert, which only a reset leaves: of the control, the parser, the long
    messages and what they fetch, a lane, and its hash core."""
    core = await LmsCore.started(dut)
    signed = sign(random.Random(13))
    for machine in range(6):
        bits, legal = machines(dut)[machine][1:]
        for number, code in enumerate(code for code in range(1 << bits) if code not in legal):
            state = machines(dut)[machine][0]
            if number % 20 == 0:
                await core.write_lms_key(signed)
                await core.start(signed.code)
                await core.stream("sig", signed.signature[: random.randrange(0, 400, 8)], is_end=False)
            state.value = code
            await core.tick(4)
            assert dut.alert_o.value == 1, f"{state._path}: {code:#x}"
            await core.pulse(dut.start_i)
            await core.pulse(dut.abort_i)
            await core.tick(2)
            assert dut.alert_o.value == 1 and dut.error_o.value == UPSET, f"{state._path}: {code:#x}"
            assert dut.verdict_o.value == 0 == dut.done_o.value and dut.idle_o.value == 0 == dut.root_o.value
            await core.reset()
            assert dut.alert_o.value == 0 and dut.idle_o.value == 1
    assert (await core.verify_lms(signed)).passes


