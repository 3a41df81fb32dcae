"""XMSS^MT by `xmss_core`: layers of trees, each of which signs the root of the one below."""

from __future__ import annotations

import random

import cocotb
from stored_vectors import of_layers
from test_xmss_core import CYCLES as XMSS_CYCLES
from test_xmss_core import flipped
from vectors import folder, some_of
from xmss_bench import INDEX, KEY_TYPE, LONG, MISMATCH, SHORT, TYPE, Core
from xmss_signer import sign, xmss

# Layers of stored vectors that a daily run verifies.
STORED = 10
# Of the documentation, with eight lanes of two rounds: from the start to the verdict, of the signatures of `sample`.
CYCLES = {1: (22_715, 33_941)}


def sample(oid: int, **options: int) -> object:
    return sign(random.Random(oid), oid=oid, is_mt=True, **options)


@cocotb.test()
async def verifies_every_set(dut):
    """The first leaf of all, the last one, and any."""
    core = await Core.started(dut)
    for oid in range(1, 9):
        last = (1 << xmss.XMSS_MT[oid].h) - 1
        index = random.choice([0, last, random.randrange(last)])
        core.stalls = random.choice([0.0, 0.0, 0.3])
        result = await core.verify(sample(oid, index=index))
        assert result.passes, f"type {oid}, leaf {index}: {result}"
        cocotb.log.info("type %d: %d cycles", oid, result.cycles)


@cocotb.test()
async def refuses_a_flipped_bit_of_each_part(dut):
    core = await Core.started(dut)
    for oid in (1, 3):
        signed = sample(oid)
        parameters = xmss.XMSS_MT[oid]
        head = 8 * (parameters.index_size + parameters.n)
        layer = 8 * parameters.n * (parameters.len + parameters.layer_height)
        bits = [random.randrange(4, 8 * parameters.index_size), random.randrange(8 * parameters.index_size, head)]
        bits += [head + at * layer + random.randrange(layer) for at in range(parameters.d)]
        for bit in [*bits, 8 * len(signed.signature) - 1]:
            result = await core.verify(signed._replace(signature=flipped(signed.signature, bit)))
            # The upper bits of an index may be those of no leaf.
            assert result.error == MISMATCH or (bit < 8 and result.error == INDEX), f"type {oid}, bit {bit}: {result}"
        result = await core.verify(signed._replace(message=flipped(signed.message, random.randrange(256))))
        assert result.error == MISMATCH, f"type {oid}, message: {result}"
        assert (await core.verify(signed, two_passes=True)).passes


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """With an index of three bytes, of five and of eight."""
    core = await Core.started(dut)
    for oid in (1, 3, 6):
        signed = sample(oid)
        size = xmss.XMSS_MT[oid].index_size
        past = (signed.signature[0] | 0x80).to_bytes(1, "big") + signed.signature[1:]
        half = size + 32 * (1 + xmss.XMSS_MT[oid].len + xmss.XMSS_MT[oid].layer_height)
        bad = [
            (signed._replace(oid=9), TYPE),
            (signed._replace(oid=0), TYPE),
            (signed._replace(oid=oid + 1), KEY_TYPE),
            (signed._replace(signature=signed.signature[:-1]), SHORT),
            (signed._replace(signature=signed.signature[:half]), SHORT),
            (signed._replace(signature=signed.signature[: size - 1]), SHORT),
            (signed._replace(signature=signed.signature + b"\0"), LONG),
            (signed._replace(signature=signed.signature + bytes(9)), LONG),
        ]
        # With five bytes every index is one of a leaf.
        bad += [(signed._replace(signature=past), INDEX)] * (size != 5)
        for number, (case, error) in enumerate(bad):
            result = await core.verify(case)
            assert result.error == error and result.verdict == 0, f"type {oid}, {number}, {error} expected: {result}"
        # The same number is another set in XMSS.
        assert (await core.verify(signed._replace(is_mt=False))).error in (TYPE, SHORT, LONG)
        assert (await core.verify(signed)).passes


@cocotb.test()
async def takes_the_cycles_of_the_documentation(dut):
    """With one pass and with two, of which the second is one over the upper layer."""
    core = await Core.started(dut)
    for oid, cycles in CYCLES.items():
        results = [await core.verify(sample(oid), two_passes=two_passes) for two_passes in (False, True)]
        cocotb.log.info("type %d: %s", oid, results)
        assert all(result.passes for result in results)
        assert tuple(result.cycles for result in results) == cycles, f"type {oid}: {results}"


@cocotb.test()
async def verifies_xmss_as_well(dut):
    """In the cycles that it takes without layers."""
    core = await Core.started(dut)
    result = await core.verify(sign(random.Random(1)))
    assert result.passes and result.cycles == XMSS_CYCLES[8, 2][0], f"{result}"
    assert (await core.verify(sign(random.Random(2), oid=2))).passes


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await Core.started(dut)
    base = folder(dut._log.info)
    cases = [] if base is None else list(of_layers(base / "xmss"))
    part = some_of(cases, STORED, lambda case: xmss.XMSS_MT[case.signed.oid].d if case.signed.oid < 9 else 1) if cases else []
    dut._log.info("stored vectors: %d of %d cases of XMSS^MT", len(part), len(cases))
    for case in part:
        signed = case.signed
        judged = signed.fault is None and signed.oid <= 8 and signed.oid == int.from_bytes(signed.key[:4], "big")
        assert judged == case.is_valid, f"{case.name}: the judge"
        result = await core.verify(signed)
        assert result.passes == case.is_valid, f"{case.name}: {result}"
