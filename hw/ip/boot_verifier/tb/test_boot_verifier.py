"""The verification unit: what it accepts, every rule of the form, and every way in which what surrounds it can fail."""

from __future__ import annotations

import random

import cocotb
from boot_verifier_bench import DEVELOPMENT, PRODUCTION, RETURNED, Setup, changed

# (algorithm, parameters) of next keys that are and are not in the form.
GOOD_PAIRS = [(17, 1), (17, 15), (18, 8), (18, 33), (20, 1), (16, 0x10306), (16, 0x8080E), (16, 0x20405)]
BAD_PAIRS = [(1, 0), (17, 0), (17, 4), (17, 16), (18, 9), (18, 41), (20, 2), (16, 0x306), (16, 0x90306)]
BAD_PAIRS += [(16, 0x10506), (16, 0x10004), (16, 0x1030F), (16, 0x10105 + 0x400), (0, 1), (19, 87)]


@cocotb.test()
async def releases_what_fits_and_writes_what_was_signed(dut):
    setup = Setup(dut)
    for stalls in range(8):
        image = setup.image()
        await setup.start(image)
        if stalls:
            setup.stall()
        assert await setup.run() == 0
        assert setup.ram.contents() == image.signed()
        assert len(setup.medium.addresses) * 64 == len(image.encode())
        await setup.stays(0)


@cocotb.test()
async def waits_for_no_ready_before_it_offers_a_word(dut):
    """An engine may be ready only for what it is offered: it and the digest wait for each other never."""
    setup = Setup(dut)
    for stalls in [0.0, 0.5]:
        image = setup.image()
        await setup.start(image)
        setup.engine.looks_first, setup.engine.stalls = True, stalls
        assert await setup.run() == 0
        assert tuple(setup.engine.taken) == (image.key, image.signature, image.signed())


@cocotb.test()
async def takes_the_cycles_of_its_parts(dut):
    """Of a medium that never waits: a word a cycle, and what is there beside that: the digest of the key and its comparison,
    the words of the board, latencies of both, the engine's wait, and the decision."""
    setup = Setup(dut)
    cycles = set()
    for _ in range(3):
        image = changed(setup.image(), code=random.randbytes(512))
        await setup.start(image)
        setup.medium.latency = 0
        start = setup.bench.cycle
        assert await setup.run() == 0
        cycles.add(setup.bench.cycle - start - len(image.encode()) // 8)
    assert len(cycles) == 1, f"time depends on the data: {sorted(cycles)}"
    assert cycles == {275}, cycles


@cocotb.test()
async def refuses_each_broken_rule_with_its_reason(dut):
    setup = Setup(dut)
    image = setup.image()
    padding = bytes(-len(image.signature) % 64)
    zero = bytes(64)

    def flipped(data: bytes) -> bytes:
        at = random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]

    cases = [
        (102, {"lead_tag": flipped(image.lead_tag)}),
        (206, {"algorithm": 18}),
        (206, {"parameters": 2}),
        (203, {"lead_rest": flipped(image.lead_rest)}),
        (203, {"padding": flipped(padding)}) if padding else (203, {"lead_rest": flipped(image.lead_rest)}),
        (106, {"code_size": 0}),
        (106, {"code_size": len(image.code) + 1}),
        (106, {"code_size": 32}),
        (106, {"code_size": setup.capacity + 64}),
        (106, {"code_size": 1 << 32}),
        (106, {"code_size": (1 << 32) + 64}),
        (106, {"code_size": (1 << 63) + 64}),
        (103, {"tag": flipped(image.tag)}),
        (412, {"signed_algorithm": 18}),
        (412, {"signed_parameters": 2}),
        (401, {"reserved_44": flipped(image.reserved_44)}),
        (401, {"reserved_136": flipped(image.reserved_136)}),
        (401, {"reserved_192": flipped(image.reserved_192)}),
        (408, {"mask": 0}),
        (408, {"mask": 7 | 8}),
        (408, {"mask": PRODUCTION | 1 << 31}),
        (601, {"board": flipped(image.board)}),
        (602, {"soc": flipped(image.soc)}),
        (603, {"security_version": 4}),
        (604, {"mask": DEVELOPMENT | RETURNED}),
        (425, {"next_digest": flipped(zero[:32])}),
    ]
    cases += [(425, {"next_pair": pair}) for pair in BAD_PAIRS]
    for reason, fields in cases:
        broken = changed(image, **fields)
        result = await setup.boot(broken, setup.device(broken))
        assert result == reason, f"{fields} is refused with {result}, not {reason}"


@cocotb.test()
async def accepts_what_is_at_the_edge_of_a_rule(dut):
    setup = Setup(dut)
    image = setup.image()
    cases = [{"security_version": 5}, {"security_version": 1 << 63}, {"security_version": 128}, {"mask": 7}]
    cases += [{"next_pair": pair, "next_digest": random.randbytes(32)} for pair in GOOD_PAIRS]
    cases += [{"code": random.randbytes(setup.capacity)}, {"code": random.randbytes(64)}]
    for fields in cases:
        assert await setup.boot(changed(image, **fields)) == 0, fields
    device = setup.device(image)
    for lifecycle, expected in [(DEVELOPMENT, 0), (PRODUCTION, 0), (RETURNED, 604), (0, 604)]:
        device.lifecycle = lifecycle
        assert await setup.boot(image, device) == expected
    device = setup.device(image)
    for floor, expected in [(0, 0), (7, 0), (8, 603), (127, 603)]:
        device.floor = floor
        assert await setup.boot(image, device) == expected


@cocotb.test()
async def names_the_first_of_several_faults(dut):
    """In the order of the form, whatever comes first in the image."""
    setup = Setup(dut)
    image = setup.image()
    rules = [
        (103, {"tag": bytes(16)}),
        (412, {"signed_algorithm": 20}),
        (401, {"reserved_192": b"\1" * 64}),
        (408, {"mask": 8 | PRODUCTION}),
        (425, {"next_pair": (5, 5)}),
        (601, {"board": b"other".ljust(32, b"\0")}),
        (602, {"soc": b"other".ljust(32, b"\0")}),
        (603, {"security_version": 1}),
    ]
    for first in range(len(rules) - 1):
        fields = dict(rules[first][1])
        for _, later in rules[first + 1 :]:
            fields |= later
        assert await setup.boot(changed(image, **fields)) == rules[first][0]
    # A signature that does not fit comes before all of them.
    assert await setup.boot(changed(image, tag=bytes(16)), fits=image) == 301


@cocotb.test()
async def refuses_what_the_engine_refuses(dut):
    setup = Setup(dut)
    image = setup.image()
    for other in [
        changed(image, code=bytes(len(image.code))),
        changed(image, signature=bytes(len(image.signature))),
        changed(image, security_version=8),
    ]:
        assert await setup.boot(other, fits=image) == 301
    await setup.start(image, fits=changed(image, code=b""))
    setup.engine.index = True
    assert await setup.run() == 308


@cocotb.test()
async def one_changed_bit_of_the_verdict_is_a_refusal(dut):
    setup = Setup(dut)
    image = setup.image()
    for bit in range(64):
        await setup.start(image)
        setup.engine.verdict ^= 1 << bit
        assert await setup.run() == 301
    # A verdict that goes away takes the release with it.
    await setup.start(image)
    assert await setup.run() == 0
    setup.engine.verdict = 0
    await setup.bench.cycles(2)
    assert dut.release_o.value == 0 and dut.error_o.value == 1


@cocotb.test()
async def refuses_every_other_key_before_its_signature_is_read(dut):
    setup = Setup(dut)
    image = setup.image()
    device = setup.device(image)
    for bit in random.sample(range(256), 24) + [0, 255]:
        digest = int.from_bytes(device.key_digest, "big") ^ (1 << bit)
        other = setup.device(image)
        other.key_digest = digest.to_bytes(32, "big")
        assert await setup.boot(image, other) == 304
        assert len(setup.medium.addresses) == 2, "the signature was read"
        assert setup.engine.taken[1] == b"" and not setup.ram.words
    for word in range(8):
        other = setup.device(image)
        other.bad_words = frozenset([(0, word)])
        assert await setup.boot(image, other) == 304
        other.bad_words = frozenset([(1, word)])
        assert await setup.boot(image, other) == 601


@cocotb.test()
async def waits_for_storage_and_starts_with_no_other(dut):
    setup = Setup(dut)
    image = setup.image()
    device = setup.device(image)
    device.is_ready = False
    await setup.start(image, device)
    await setup.bench.cycles(200)
    assert not setup.medium.addresses and dut.release_o.value == 0
    device.is_ready = True
    assert await setup.run() == 0
    device = setup.device(image)
    device.is_usable = False
    assert await setup.boot(image, device) == 304 and not setup.medium.addresses
    device = setup.device(image)
    device.has_failed = True
    assert await setup.boot(image, device) == 904 and not setup.medium.addresses


@cocotb.test()
async def an_error_of_any_beat_is_a_refusal(dut):
    setup = Setup(dut)
    image = setup.image()
    beats = len(image.encode()) // 8
    for beat in range(beats):
        await setup.start(image)
        setup.stall()
        setup.medium.bad_beat = beat
        assert await setup.run() == 901, beat
        await setup.stays(901)
    for beat in random.sample(range(beats), 12):
        await setup.start(image)
        setup.medium.bad_last = beat
        assert await setup.run() == 901, beat


@cocotb.test()
async def the_bus_is_quiet_after_a_refusal(dut):
    setup = Setup(dut)
    image = setup.image()
    for _ in range(10):
        broken = changed(image, lead_tag=bytes(16))
        await setup.start(broken)
        setup.stall()
        assert await setup.run() == 102
        await setup.bench.run(lambda: dut.quiet_o.value == 1)
        asked = len(setup.medium.addresses)
        await setup.bench.cycles(100)
        assert len(setup.medium.addresses) == asked and dut.quiet_o.value == 1


@cocotb.test()
async def a_fault_of_a_neighbour_releases_nothing(dut):
    setup = Setup(dut)
    image = setup.image()
    await setup.start(image)
    start = setup.bench.cycle
    assert await setup.run() == 0
    length = setup.bench.cycle - start
    for at in [*random.sample(range(length), 40), length - 1, length - 2, length - 3, length + 3]:
        await setup.start(image)
        await setup.bench.cycles(at)
        dut.fault_i.value = 1
        await setup.bench.cycles(1)
        dut.fault_i.value = 0
        await setup.bench.cycles(2)
        assert dut.release_o.value == 0 and dut.error_o.value == 1


@cocotb.test()
async def a_reset_at_any_time_begins_again(dut):
    setup = Setup(dut)
    for _ in range(25):
        image = setup.image()
        await setup.start(image)
        setup.stall()
        await setup.bench.cycles(random.randrange(1, 600))
        assert await setup.boot(image) == 0


@cocotb.test()
async def an_illegal_state_ends_in_an_error(dut):
    """Every code that is no state, in a random cycle; it stays until reset, and releases nothing."""
    setup = Setup(dut)
    image = setup.image()
    state = dut.u_core.u_state.u_flop.value_q
    legal = {0x0B, 0x15, 0x1E, 0x26, 0x2D, 0x33, 0x38, 0x47, 0x4C, 0x52, 0x59, 0x61, 0x6A}
    for code in sorted(set(range(256)) - legal):
        await setup.start(image)
        await setup.bench.cycles(random.randrange(1, 300))
        state.value = code
        await setup.bench.cycles(3)
        assert dut.release_o.value == 0 and dut.error_o.value == 1, f"{code:08b} is no error"
        await setup.bench.cycles(10)
        assert dut.error_o.value == 1


@cocotb.test()
async def a_state_that_is_forced_to_released_releases_nothing(dut):
    """The state is no evidence: at every stage of a boot that would be refused."""
    setup = Setup(dut)
    image = setup.image()
    other = changed(image, code=bytes(len(image.code)))
    await setup.start(other, fits=image)
    start = setup.bench.cycle
    assert await setup.run() == 301
    length = setup.bench.cycle - start
    for at in range(1, length - 2, 3):
        await setup.start(other, fits=image)
        await setup.bench.cycles(at)
        dut.u_core.u_state.u_flop.value_q.value = 0x61
        for _ in range(6):
            await setup.bench.cycles(1)
            assert dut.release_o.value == 0, f"released in cycle {at}"
