"""Cycles of a verification: the mean over twenty signatures of fixed seeds, which the bounds are about."""

from __future__ import annotations

import random

import cocotb
from xmss_bench import Core
from xmss_signer import sign

SIGNATURES = 20
# Of the documentation, for lanes and rounds a cycle: sums over all signatures, and the bounds of the mean that are kept.
CYCLES = {(1, 1): 3_484_904, (4, 2): 450_069, (8, 2): 237_206}
BOUNDS = {(1, 1): 175_000, (4, 2): 23_000, (8, 2): 12_000}


@cocotb.test()
async def verifies_twenty_signatures_in_so_many_cycles(dut):
    """From the start to the verdict, with messages of 32 bytes, leaves of any index, and both streams offered from the
    start on."""
    core = await Core.started(dut)
    cycles = []
    for seed in range(1000, 1000 + SIGNATURES):
        result = await core.verify(sign(random.Random(seed)))
        assert result.passes, f"{seed}: {result}"
        cycles.append(result.cycles)
    kind = int(dut.Lanes.value), int(dut.RoundsPerCycle.value)
    mean = sum(cycles) / SIGNATURES
    cocotb.log.info("mean %.1f, least %d, most %d, sum %d", mean, min(cycles), max(cycles), sum(cycles))
    assert sum(cycles) == CYCLES[kind]
    assert kind not in BOUNDS or mean <= BOUNDS[kind]
