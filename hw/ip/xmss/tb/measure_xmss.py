"""Cycles of single verifications, with any number of lanes and rounds, for `make lab PAPER=post-quantum-xmss`.

A line of the log for each: height of the tree, passes, seed, steps of its chains, and cycles from the start to the verdict.
"""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout
from xmss_bench import Core, Result
from xmss_signer import Signed, sign, xmss

# As `test_xmss_mean`.
SEEDS = range(1000, 1020)
# Signatures with two passes, and of the higher trees, whose cycles say what a node takes: with one lane nothing overlaps.
FEW = 4
HIGHER = (2, 3)
PERIOD_NS = 10


class Patient(Core):
    """Waits for the verdict itself, not for every cycle before it."""

    async def result(self, start: int) -> Result:
        await with_timeout(RisingEdge(self.dut.done_o), self.patience * PERIOD_NS, "ns")
        return await super().result(start)


def steps(signed: Signed) -> int:
    """How many steps the chains of the signature have left."""
    parameters = xmss.XMSS[signed.oid]
    randomizer, index = signed.signature[4 : 4 + parameters.n], int.from_bytes(signed.signature[:4], "big")
    hasher = xmss.Hasher(parameters, signed.seed)
    digest = hasher.keyed(2, randomizer + signed.root + index.to_bytes(parameters.n, "big"), signed.message)
    return sum(15 - digit for digit in xmss.wots_digits(parameters, digest))


async def measure(core: Core, oid: int, seeds: range, passes: int = 1) -> None:
    for seed in seeds:
        signed = sign(random.Random(seed), oid)
        result = await core.verify(signed, two_passes=passes == 2)
        assert result.passes, f"{seed}: {result}"
        numbers = xmss.XMSS[oid].h, passes, seed, steps(signed), result.cycles
        cocotb.log.info("sample: %d %d %d %d %d", *numbers)


@cocotb.test()
async def measures_signatures(dut):
    core = await Patient.started(dut)
    lanes, rounds = int(dut.Lanes.value), int(dut.RoundsPerCycle.value)
    await measure(core, 1, SEEDS)
    if lanes > 2:
        await measure(core, 1, SEEDS[:FEW], passes=2)
    if (lanes, rounds) == (1, 2):
        for oid in HIGHER:
            await measure(core, oid, SEEDS[:FEW])
