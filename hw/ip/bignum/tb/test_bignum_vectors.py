"""The engine against public vectors of RSA: the power is its own, and the padding is checked as software does it."""

from __future__ import annotations

import cocotb
import core_bench as bench
from core_bench import Core
from stored_vectors import Case, cases, raw_cases

# Cycles that a daily run spends, roughly.
BUDGET, RAW_BUDGET = 600_000, 240_000


async def verify(core: Core, case: Case, key: tuple[int, int]) -> bool:
    """RFC 8017 §8.1.2 and §8.2.2: lengths, the power, the padding. `key` is the one that the engine has."""
    if len(case.signature) != case.length:
        return False
    if key != (case.modulus, case.exponent):
        await core.put(bench.MODULUS, case.modulus)
        await core.put(bench.EXPONENT, case.exponent)
        assert (await core.run(bench.PREPARE, case.bits))[0] == bench.GOOD
    number = int.from_bytes(case.signature, "big")
    await core.put(bench.BASE, number)
    result, _ = await core.run(bench.POWER, case.bits, case.exponent.bit_length(), given=True)
    if number >= case.modulus:
        assert result == bench.BAD_OPERAND, case.name
        return False
    assert result == bench.GOOD, f"{case.name}: {result:#x}"
    power = await core.get((case.bits + 31) // 32)
    assert power == pow(number, case.exponent, case.modulus), case.name
    return case.accepts(power)


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_the_files(dut):
    core = await Core.started(dut)
    key = (0, 0)
    verdicts: dict[bool, int] = {True: 0, False: 0}
    for case in cases(BUDGET, dut._log.info):
        got = await verify(core, case, key)
        assert got == bool(case.is_valid), f"{case.name}: {got}"
        if len(case.signature) == case.length:
            key = (case.modulus, case.exponent)
        verdicts[got] += 1
    dut._log.info("accepted: %d, refused: %d", verdicts[True], verdicts[False])


@cocotb.test()
async def secret_powers_of_stored_vectors_are_the_same(dut):
    core = await Core.started(dut)
    times: dict[int, set[int]] = {}
    for case in raw_cases(RAW_BUDGET, dut._log.info):
        bits = case.modulus.bit_length()
        for operand, value in ((bench.MODULUS, case.modulus), (bench.BASE, case.base), (bench.EXPONENT, case.exponent)):
            await core.put(operand, value)
        # A length that tells nothing of the exponent.
        result, cycles = await core.run(bench.SECRET, bits, bits)
        if case.power is None:
            assert case.base >= case.modulus and result == bench.BAD_OPERAND, case.name
            continue
        assert result == bench.GOOD and await core.get(bits // 32) == case.power, case.name
        times.setdefault(bits, set()).add(cycles)
    dut._log.info("cycles of secret powers: %s", times)
    assert all(len(some) == 1 for some in times.values()), f"time depends on the exponent or the base: {times}"
