"""The engine without a bus, against Python's integers."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import cocotb
import core_bench as bench
from core_bench import Core
from rsa_key import Key
from upsets import upsets_of

STATES = (0b001011, 0b010101, 0b011110, 0b100110)
SEQUENCER_STATES = (0b001011, 0b010101, 0b011110, 0b100110, 0b101101)
# Cycles of RSA-3072 with the exponent 65537 from the command to its result, by DSP blocks: all of it, with R² given, and R²
# alone. The bounds with 16 are 100,000 and 72,000.
VERIFY_3072 = {16: (94_644, 63_712, 32_388), 4: (343_816, 245_071, 101_344), 1: (1_312_012, 963_377, 353_620)}
E65537 = 65537


def some_modulus(bits: int) -> int:
    return random.getrandbits(bits) | 1 << bits - 1 | 1


def dsps(dut) -> int:
    return int(dut.Dsps.value)


@cocotb.test()
async def the_rom_is_what_the_assembler_writes(dut):
    await Core.started(dut)
    script = Path(__file__).resolve().parents[1] / "data/generate.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cocotb.test()
async def verifies_rsa_3072_in_its_time(dut):
    core = await Core.started(dut)
    times = set()
    for _ in range(2 if dsps(dut) == 16 else 1):
        modulus = some_modulus(3072)
        base = random.randrange(modulus)
        got, cycles = await core.power(base, E65537, modulus)
        assert got == pow(base, E65537, modulus)
        result, rest = await core.run(bench.PREPARE, 3072)
        assert result == bench.GOOD and await core.get(96) == bench.r_squared(modulus)
        result, given = await core.run(bench.POWER, 3072, 17, given=True)
        assert result == bench.GOOD and await core.get(96) == pow(base, E65537, modulus)
        # R² from software: once more, where it costs a second.
        if dsps(dut) == 16:
            await core.put(bench.R_SQUARED, bench.r_squared(modulus))
            assert await core.run(bench.POWER, 3072, 17, given=True) == (bench.GOOD, given)
            assert await core.get(96) == pow(base, E65537, modulus)
        times.add((cycles, given, rest))
    dut._log.info("RSA-3072 with %d DSP: %s cycles", dsps(dut), times)
    assert len(times) == 1, f"time depends on the data: {times}"
    if dsps(dut) in VERIFY_3072:
        assert times == {VERIFY_3072[dsps(dut)]}


@cocotb.test()
async def powers_of_every_length(dut):
    core = await Core.started(dut)
    # Around limbs and words; two bits above 68 n - 2 make another limb.
    lengths = [256, 257, 270, 271, 272, 338, 339, 512, 521] + ([1024, 2047, 2048, 4096] if dsps(dut) == 16 else [])
    for bits in lengths:
        for modulus in (some_modulus(bits), 2**bits - 1, 2 ** (bits - 1) + 1):
            if bits > 521 and modulus != 2**bits - 1:
                continue
            base = random.choice([random.randrange(modulus), modulus - 1, 0, 1])
            exponent = random.choice([1, 2, 3, 6, 17, random.getrandbits(12) | 1 << 11])
            got, _ = await core.power(base, exponent, modulus, exponent_bits=random.choice([0, 13]))
            assert got == pow(base, exponent, modulus), f"{base:x}^{exponent} mod {modulus:x}"


@cocotb.test()
async def multiplies(dut):
    core = await Core.started(dut, stalls=0.3)
    for bits in (256, 384, 521):
        modulus = some_modulus(bits)
        base, factor = random.randrange(modulus), random.choice([random.randrange(modulus), modulus - 1, 0])
        await core.put(bench.MODULUS, modulus, random.choice([None, 20]))
        await core.put(bench.BASE, base)
        await core.put(bench.FACTOR, factor)
        result, _ = await core.run(bench.MULTIPLY, bits)
        assert result == bench.GOOD and await core.get(17) == base * factor % modulus


@cocotb.test()
async def a_secret_exponent_does_not_change_the_time(dut):
    core = await Core.started(dut)
    times = set()
    length = 33
    for exponent in (1, 2, 2**length - 1, 2 ** (length - 1), random.getrandbits(length) | 1, 3 << 7):
        modulus = some_modulus(256)
        base = random.choice([random.randrange(modulus), 0, 1, modulus - 1])
        got, cycles = await core.power(base, exponent, modulus, bench.SECRET, length)
        assert got == pow(base, exponent, modulus), f"{exponent:x}"
        times.add(cycles)
    dut._log.info("secret exponent of %d bits: %s", length, times)
    assert len(times) == 1, f"time depends on the exponent: {times}"
    exponent = random.getrandbits(256)
    got, cycles = await core.power(base, exponent | 1, modulus, bench.SECRET, 256)
    assert got == pow(base, exponent | 1, modulus)


@cocotb.test()
async def raises_with_a_private_key(dut):
    """More of it is in `test_bignum_private.py`."""
    core = await Core.started(dut)
    key = Key.random(512)
    base = random.randrange(key.n)
    for operand, value in key.operands(base).items():
        await core.put(operand, value)
    result, _ = await core.run(bench.PRIVATE, 512, 17)
    assert result == bench.GOOD and await core.get(16) == key.power(base)


@cocotb.test()
async def refuses_bad_inputs(dut):
    core = await Core.started(dut)
    modulus = some_modulus(300)
    good = {"modulus": modulus, "base": 5, "exponent": 3, "bits": 300, "exponent_bits": 2}
    cases = [
        (bench.BAD_LENGTH, {"bits": 255}), (bench.BAD_LENGTH, {"bits": 0}), (bench.BAD_LENGTH, {"bits": 4097}),
        (bench.BAD_LENGTH, {"exponent_bits": 0}), (bench.BAD_LENGTH, {"exponent_bits": 4097}),
        (bench.BAD_MODULUS, {"modulus": 0}), (bench.BAD_MODULUS, {"modulus": 1}), (bench.BAD_MODULUS, {"modulus": modulus ^ 1}),
        (bench.BAD_MODULUS, {"bits": 299}), (bench.BAD_MODULUS, {"bits": 301}), (bench.BAD_MODULUS, {"modulus": modulus | 1 << 4095}),
        (bench.BAD_OPERAND, {"base": modulus}), (bench.BAD_OPERAND, {"base": 2**300}), (bench.BAD_OPERAND, {"base": 1 << 4095}),
        (bench.BAD_EXPONENT, {"exponent": 0}), (bench.BAD_EXPONENT, {"exponent": 4}), (bench.BAD_EXPONENT, {"exponent": 1 << 4000 | 3}),
    ]
    for command in (bench.POWER, bench.SECRET):
        for want, change in cases:
            case = good | change
            for operand, name in ((bench.MODULUS, "modulus"), (bench.BASE, "base"), (bench.EXPONENT, "exponent")):
                await core.put(operand, case[name])
            result, _ = await core.run(command, case["bits"], case["exponent_bits"])
            assert result == want, f"{change}: {result:#x}"
            assert dut.valid_o.value == 0
    await core.put(bench.MODULUS, modulus)
    await core.put(bench.R_SQUARED, modulus)
    await core.put(bench.EXPONENT, 3)
    assert (await core.run(bench.POWER, 300, 2, given=True))[0] == bench.BAD_OPERAND
    await core.put(bench.FACTOR, modulus + 1)
    assert (await core.run(bench.MULTIPLY, 300))[0] == bench.BAD_OPERAND
    got, _ = await core.power(7, 3, modulus)
    assert got == 343


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    core = await Core.started(dut)
    modulus = some_modulus(256)
    base = random.randrange(modulus)
    for turn in range(40):
        await core.begin(random.choice([bench.POWER, bench.SECRET, bench.PREPARE, bench.MULTIPLY]), 256, 4)
        await core.tick(turn if turn < 20 else random.randrange(3000))
        await core.pulse(dut.abort_i)
        await core.tick()
        assert dut.idle_o.value == 1 and dut.valid_o.value == 0
        if turn % 10 == 0:
            assert (await core.power(base, 11, modulus))[0] == pow(base, 11, modulus)


@cocotb.test()
async def a_wipe_leaves_nothing(dut):
    core = await Core.started(dut)
    modulus = some_modulus(256)
    await core.power(5, 11, modulus)
    await core.begin(bench.SECRET, 256, 4)
    await core.tick(random.randrange(2000))
    await core.pulse(dut.wipe_i)
    await core.tick(core.settling_cycles)
    assert dut.idle_o.value == 1 and dut.valid_o.value == 0
    memory = dut.u_datapath.u_memory.memory
    assert not any(int(word.value) for word in memory), "a wipe leaves something"
    assert (await core.run(bench.PREPARE, 256))[0] == bench.BAD_MODULUS


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    core = await Core.started(dut)
    for unit, states in ((dut.u_control, STATES), (dut.u_sequencer, SEQUENCER_STATES)):
        for code in sorted({code for state in states for code in upsets_of(state, 6, states)}):
            unit.u_state.u_flop.value_q.value = code
            await core.tick(3)
            assert dut.error_o.value == 1, f"{unit._name} {code:06b}"
            await core.pulse(dut.wipe_i)
            await core.tick(3)
            assert dut.error_o.value == 1 and dut.valid_o.value == 0 and dut.command_ready_o.value == 0
            await core.reset()
            assert dut.error_o.value == 0
