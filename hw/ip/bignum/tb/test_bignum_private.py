"""Private operations of RSA, against Python's integers and public vectors."""

from __future__ import annotations

import random

import cocotb
import core_bench as bench
from core_bench import Core
from rsa_key import Key
from stored_keys import cases
from vectors import wants_all

# Cycles of RSA-2048 with the exponent 65537 from the command to its result, by DSP blocks. The bound with 16 is 1,600,000.
SIGN_2048 = {16: 1_377_171, 4: 4_923_199, 1: 18_717_889}
# Cycles that a daily run spends on vectors, roughly.
BUDGET = 240_000
HALVES = (bench.PRIME_P, bench.PRIME_Q, bench.EXPONENT_P, bench.EXPONENT_Q, bench.Q_INVERSE)


def dsps(dut) -> int:
    return int(dut.Dsps.value)


def left(dut) -> list[int]:
    """Slots that are not zero."""
    words = [int(word.value) for word in dut.u_datapath.u_memory.memory]
    slot = len(words) // 256
    return [number for number in range(256) if any(words[number * slot : (number + 1) * slot])]


async def private(core: Core, key: Key, operands: dict[int, int], bits: int = 0, exponent_bits: int = 0) -> tuple[int, int]:
    """The result's code, and the cycles."""
    for operand, value in operands.items():
        await core.put(operand, value)
    return await core.run(bench.PRIVATE, bits or key.bits, exponent_bits or key.e.bit_length())


async def expect(core: Core, key: Key, base: int, blind: int | None = None) -> int:
    result, cycles = await private(core, key, key.operands(base, blind))
    assert result == bench.GOOD, f"{result:#x}"
    assert await core.get((key.bits + 31) // 32) == key.power(base), f"{key}: {base:x}"
    return cycles


@cocotb.test()
async def raises_with_2048_bits_in_its_time(dut):
    core = await Core.started(dut)
    key = Key.random(2048)
    cycles = await expect(core, key, random.randrange(key.n))
    dut._log.info("RSA-2048 with %d DSP: %d cycles", dsps(dut), cycles)
    if dsps(dut) in SIGN_2048:
        assert cycles == SIGN_2048[dsps(dut)]


@cocotb.test()
async def the_time_tells_nothing_of_key_base_and_blinding(dut):
    core = await Core.started(dut)
    times = set()
    for turn in range(6):
        key = Key.random(512)
        base = [0, 1, key.n - 1, key.p, random.randrange(key.n), random.randrange(key.n)][turn]
        blind = [1, 2, key.n - 1, None, None, None][turn]
        # The order of the primes is free.
        times.add(await expect(core, key._replace(p=key.q, q=key.p) if turn % 2 else key, base, blind))
    dut._log.info("RSA-512: %s cycles", times)
    assert len(times) == 1, f"time depends on secrets: {times}"


@cocotb.test()
async def raises_with_every_length(dut):
    core = await Core.started(dut, stalls=0.1)
    # Around limbs of the primes and of the modulus, and digits that are not whole.
    lengths = [540, 542, 768, 1024]
    if wants_all() and dsps(dut) == 16:
        lengths += [514, 538, 544, 676, 814, 1086, 1538, 2046, 3072, 4096]
    for bits in lengths:
        key = Key.random(bits, random.choice([3, 17, 65537]))
        cycles = await expect(core, key, random.randrange(key.n))
        dut._log.info("RSA-%d, e = %d: %d cycles", bits, key.e, cycles)


@cocotb.test()
async def powers_of_stored_vectors_are_the_same(dut):
    core = await Core.started(dut)
    for case in cases(BUDGET, dut._log.info):
        key = case.key
        operands = key.operands(case.base)
        assert case.parts is None or [operands[operand] for operand in HALVES] == case.parts, case.name
        result, _ = await private(core, key, operands)
        if case.power is None:
            assert case.base >= key.n and result == bench.BAD_OPERAND, case.name
            continue
        assert result == bench.GOOD and await core.get((key.bits + 31) // 32) == case.power, case.name


@cocotb.test()
async def refuses_bad_inputs_and_leaves_nothing(dut):
    core = await Core.started(dut)
    key = Key.random(512)
    base = random.randrange(key.n)
    good = key.operands(base)
    n, p, q = key.n, key.p, key.q
    uneven = Key(Key.random(500).p, Key.random(524).q, 65537)
    cases = [
        (bench.BAD_LENGTH, {}, 510, 17), (bench.BAD_LENGTH, {}, 513, 17), (bench.BAD_LENGTH, {}, 0, 17),
        (bench.BAD_LENGTH, {}, 4098, 17), (bench.BAD_LENGTH, {}, 512, 0), (bench.BAD_LENGTH, {}, 512, 4097),
        (bench.BAD_MODULUS, {bench.MODULUS: n + 1}, 512, 17), (bench.BAD_MODULUS, {bench.MODULUS: 0}, 512, 17),
        (bench.BAD_MODULUS, {bench.MODULUS: 1}, 512, 17), (bench.BAD_MODULUS, {}, 514, 17),
        (bench.BAD_OPERAND, {bench.BASE: n}, 512, 17), (bench.BAD_OPERAND, {bench.BLINDING: n}, 512, 17),
        (bench.BAD_OPERAND, {bench.UNBLINDING: 1 << 4095}, 512, 17),
        (bench.BAD_EXPONENT, {bench.EXPONENT: 0}, 512, 17), (bench.BAD_EXPONENT, {}, 512, 16),
        (bench.BAD_EXPONENT, {bench.EXPONENT_P: 0}, 512, 17), (bench.BAD_EXPONENT, {bench.EXPONENT_P: p}, 512, 17),
        (bench.BAD_EXPONENT, {bench.EXPONENT_Q: 1 << 2047}, 512, 17),
        (bench.BAD_KEY, {bench.PRIME_P: p - 2}, 512, 17), (bench.BAD_KEY, {bench.PRIME_Q: 0}, 512, 17),
        (bench.BAD_MODULUS, {bench.PRIME_P: p | 1 << 2047}, 512, 17), (bench.BAD_KEY, {bench.Q_INVERSE: p}, 512, 17),
        (bench.BAD_KEY, {bench.Q_INVERSE: 1 << 2000}, 512, 17),
        # One prime is the modulus, and primes of different lengths.
        (bench.BAD_KEY, {bench.PRIME_P: n, bench.PRIME_Q: 1}, 512, 17),
        (bench.BAD_MODULUS, uneven.operands(5), 512, 17),
        # A key and a blinding that do not fit are noticed by the check alone.
        (bench.BAD_RESULT, {bench.EXPONENT_P: good[bench.EXPONENT_P] ^ 2}, 512, 17),
        (bench.BAD_RESULT, {bench.Q_INVERSE: 0}, 512, 17), (bench.BAD_RESULT, {bench.UNBLINDING: 0}, 512, 17),
        (bench.BAD_RESULT, {bench.EXPONENT: 2}, 512, 2),
    ]
    for want, change, bits, exponent_bits in cases:
        for operand, value in (good | change).items():
            await core.put(operand, value)
        result, _ = await core.run(bench.PRIVATE, bits, exponent_bits)
        assert result == want, f"{change} {bits} {exponent_bits}: {result:#x}"
        assert dut.valid_o.value == 0
        # A length that is refused begins nothing.
        assert want == bench.BAD_LENGTH or not left(dut), f"{change} leaves {left(dut)}"
    await expect(core, key, base)


@cocotb.test()
async def keeps_nothing_but_the_result(dut):
    core = await Core.started(dut)
    key = Key.random(512)
    await expect(core, key, random.randrange(key.n))
    assert left(dut) == [24], f"slots {left(dut)} are left"
    # The second command has no key.
    assert (await core.run(bench.PRIVATE, 512, 17))[0] == bench.BAD_MODULUS
    assert not left(dut)


@cocotb.test()
async def an_abort_at_any_cycle_leaves_nothing(dut):
    core = await Core.started(dut)
    key = Key.random(512)
    operands = key.operands(random.randrange(key.n))
    for turn in range(12):
        for operand, value in operands.items():
            await core.put(operand, value)
        await core.begin(bench.PRIVATE, 512, 17)
        # The last turns are in the sweep, after the result.
        await core.tick(turn if turn < 4 else random.randrange(8000))
        if turn >= 8:
            while dut.u_control.state_q.value != 0b101101:
                await core.tick()
            await core.tick(random.randrange(500))
        await core.pulse(dut.abort_i)
        await core.tick(core.settling_cycles)
        assert dut.idle_o.value == 1 and dut.valid_o.value == 0 and int(dut.result_o.value) == 0
        assert not left(dut), f"turn {turn} leaves {left(dut)}"
    await expect(core, key, 5)
