"""`bignum_datapath` against Python's integers."""

from __future__ import annotations

import random

import cocotb
import datapath_bench as bench
from datapath_bench import ANY, LIMB, NONE, PRIMES, Datapath, some

A, B, C, OUT, MODULUS = 0, 16, 32, 48, 64
# Bits of a number that leave the two bits to spare that the engine needs.
LENGTHS = {4: (256, 270), 8: (512, 542), 16: (1024,), 31: (2048,), 46: (3072,), 61: (4096,)}


def signed(magnitude: int) -> int:
    return random.choice([magnitude, -magnitude])


@cocotb.test()
async def adds_with_small_factors(dut):
    unit = await Datapath.started(dut)
    for limbs in (1, 2, 4, 7, 31):
        for _ in range(8):
            a, b = (signed(some(limbs * LIMB - 5)) for _ in range(2))
            ka, kb = random.randrange(-7, 8), random.randrange(-7, 8)
            unit.put(A, a, limbs)
            unit.put(B, b, limbs)
            await unit.run(bench.LINEAR, limbs, OUT, A, B, ka=ka, kb=kb)
            want = ka * a + kb * b
            assert unit.get(OUT, limbs) == want, f"{limbs} limbs: {ka} {a:x} + {kb} {b:x}"
            flags = dut.is_zero_o.value, dut.is_negative_o.value, dut.is_odd_o.value
            assert flags == (want == 0, want < 0, want & 1), f"{want:x}: {flags}"


@cocotb.test()
async def multiplies_without_a_modulus(dut):
    unit = await Datapath.started(dut)
    for limbs in (1, 4, 6, 16, 31):
        for kind in (bench.PRODUCT, bench.SQUARE):
            for ka in (1, -1, 2, -2):
                a, b = (signed(some(limbs * LIMB - 2)) for _ in range(2))
                unit.put(A, a, limbs)
                unit.put(B, b, limbs)
                await unit.run(kind, limbs, OUT, A, B, ka=ka)
                want = ka * a * (a if kind == bench.SQUARE else b)
                assert unit.get(OUT, 2 * limbs) == want, f"{limbs} limbs, kind {kind}"


async def check_reduced(unit: Datapath, limbs: int, modulus: int, field: int, cycles: set[int], kind: int) -> None:
    """A product with one of the factors, and a third number."""
    radix = 1 << limbs * LIMB
    a, b, c = (signed(some(modulus.bit_length())) for _ in range(3))
    has_c, ka, kb = random.choice([True, False]), random.choice([1, -1, 2]), random.choice([1, -1, 2, -3])
    if field == ANY:
        # The generic modulus may have two bits to spare only.
        has_c, ka = False, 1
    unit.put(A, a, limbs)
    unit.put(B, b, limbs)
    unit.put(C, c, limbs)
    at = (MODULUS, -pow(modulus, -1, 1 << LIMB))
    took = await unit.run(kind, limbs, OUT, A, B, C if has_c else None, ka, kb, field, at)
    got = unit.get(OUT, limbs)
    whole = ka * a * (a if kind == bench.SQUARE else b) + (kb * c * radix if has_c else 0)
    assert (got * radix - whole) % modulus == 0, f"{limbs} limbs, kind {kind}, field {field}: {got:x}"
    # q is below R: the result is at most one modulus above the quotient.
    assert 0 <= got - whole // radix <= modulus, f"{limbs} limbs: out of range"
    if not has_c:
        cycles.add(took)


@cocotb.test()
async def reduces_by_montgomerys_method(dut):
    unit = await Datapath.started(dut)
    for limbs, lengths in LENGTHS.items():
        if unit.parts == 4 and limbs > 31:
            continue
        for kind in (bench.PRODUCT, bench.SQUARE):
            cycles: set[int] = set()
            for bits in lengths:
                for _ in range(4 if limbs < 20 else 1):
                    modulus = some(bits) | 1 << bits - 1 | 1
                    unit.put(MODULUS, modulus, limbs)
                    await check_reduced(unit, limbs, modulus, ANY, cycles, kind)
            assert len(cycles) == 1, f"time depends on the data: {cycles}"
            dut._log.info("%d limbs, kind %d: %s cycles", limbs, kind, cycles)


@cocotb.test()
async def reduces_by_the_primes_of_the_curves(dut):
    unit = await Datapath.started(dut)
    for field, prime in PRIMES.items():
        for kind in (bench.PRODUCT, bench.SQUARE):
            cycles: set[int] = set()
            for _ in range(30):
                await check_reduced(unit, bench.FIELD_LIMBS[field], prime, field, cycles, kind)
            assert len(cycles) == 1, f"time depends on the data: {cycles}"
            dut._log.info("field %d, kind %d: %s cycles", field, kind, cycles)


@cocotb.test()
async def reduces_numbers_of_double_length(dut):
    unit = await Datapath.started(dut)
    for limbs in (4, 16):
        modulus = some(limbs * LIMB - 4) | 1 << limbs * LIMB - 5 | 1
        radix = 1 << limbs * LIMB
        value = random.randrange(modulus * modulus)
        unit.put(MODULUS, modulus, limbs)
        unit.put(C, value, 2 * limbs)
        at = (MODULUS, -pow(modulus, -1, 1 << LIMB))
        await unit.run(bench.REDUCE, limbs, OUT, c=C, field=ANY, modulus=at)
        got = unit.get(OUT, limbs)
        assert (got * radix - value) % modulus == 0 and 0 <= got < 2 * modulus


@cocotb.test()
async def selects_an_entry(dut):
    unit = await Datapath.started(dut)
    for limbs, entries in ((4, 16), (16, 8)):
        table = [signed(some(limbs * LIMB - 1)) for _ in range(entries)]
        stride = -(-limbs // bench.SLOT)
        for entry, value in enumerate(table):
            unit.put(entry * stride, value, limbs)
        dut.pairs_i.value = entries // 2 - 1
        dut.stride_i.value = unit.address(stride)
        cycles = set()
        for index, value in enumerate(table):
            dut.index_i.value = index
            cycles.add(await unit.run(bench.SELECT, limbs, OUT, 0))
            assert unit.get(OUT, limbs) == value, f"entry {index}"
        assert len(cycles) == 1, f"time depends on the index: {cycles}"
        dut._log.info("%d entries of %d limbs: %s cycles", entries, limbs, cycles)


@cocotb.test()
async def results_may_replace_operands(dut):
    unit = await Datapath.started(dut)
    modulus = some(1022) | 1 << 1022 | 1
    unit.put(MODULUS, modulus, 16)
    at = (MODULUS, -pow(modulus, -1, 1 << LIMB))
    value = want = random.randrange(modulus)
    unit.put(A, value, 16)
    for _ in range(3):
        await unit.run(bench.SQUARE, 16, A, A, field=ANY, modulus=at)
        await unit.run(bench.LINEAR, 16, A, A, A, ka=2, kb=-1)
        want = want * want * pow(1 << 16 * LIMB, -1, modulus) % modulus
    assert unit.get(A, 16) % modulus == want


@cocotb.test()
async def starts_again_after_a_clear_at_any_cycle(dut):
    unit = await Datapath.started(dut)
    modulus = PRIMES[bench.P256]
    at = (MODULUS, -pow(modulus, -1, 1 << LIMB))
    unit.put(MODULUS, modulus, 4)
    for kind, field in ((bench.PRODUCT, ANY), (bench.SQUARE, bench.P256), (bench.LINEAR, NONE)):
        for after in range(0, 120 if unit.parts == 1 else 40):
            run = cocotb.start_soon(unit.run(kind, 4, OUT, A, B, field=field, modulus=at))
            await unit.tick(after + 2)
            run.cancel()
            dut.start_i.value = 0
            await unit.pulse(dut.clear_i)
            await unit.tick()
            assert dut.busy_o.value == 0
            await check_reduced(unit, 4, modulus, field or ANY, set(), bench.PRODUCT)
