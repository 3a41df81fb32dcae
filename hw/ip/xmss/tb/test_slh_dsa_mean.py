"""Cycles of a verification of SLH-DSA-SHA2-128s: the mean over twenty signatures of fixed seeds, which the bound is about."""

from __future__ import annotations

import random

import cocotb
from slh_dsa_bench import SlhDsa
from slh_dsa_signer import sign

SIGNATURES = 20
BOUND = 25_000
# Of the documentation.
CYCLES = 443_488


@cocotb.test()
async def verifies_twenty_signatures_in_so_many_cycles(dut):
    """From the start to the verdict, with messages of 32 bytes, by five keys, and both streams offered from the start on."""
    core = await SlhDsa.started(dut)
    cycles = []
    for seed in range(1000, 1000 + SIGNATURES):
        result = await core.verify(sign(random.Random(seed), number=seed % 5))
        assert result.passes, f"{seed}: {result}"
        cycles.append(result.cycles)
    mean = sum(cycles) / SIGNATURES
    cocotb.log.info("mean %.1f, least %d, most %d, sum %d", mean, min(cycles), max(cycles), sum(cycles))
    assert sum(cycles) == CYCLES
    assert mean <= BOUND
