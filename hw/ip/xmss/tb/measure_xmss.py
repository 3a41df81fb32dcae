"""Cycles of single verifications, with any number of lanes and rounds, for `make lab PAPER=post-quantum-xmss`.

A line of the log for each: what decides its cycles, and the cycles from the start to the verdict.
"""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout
from xmss_bench import Core, Result
from xmss_signer import Signed, sign, xmss

# As `test_xmss_mean`.
SEEDS = range(1000, 1020)
# Of the higher trees, whose cycles say what a node takes.
FEW = range(2000, 2004)
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


async def measure(core: Core, oid: int, seeds: range) -> None:
    for seed in seeds:
        signed = sign(random.Random(seed), oid)
        result = await core.verify(signed)
        assert result.passes, f"{seed}: {result}"
        height = xmss.XMSS[oid].h
        cocotb.log.info("sample: %d %d %d %d", height, seed, steps(signed), result.cycles)


@cocotb.test()
async def measures_signatures(dut):
    core = await Patient.started(dut)
    await measure(core, 1, SEEDS)
    if int(dut.Lanes.value) == 1:
        for oid in HIGHER:
            await measure(core, oid, FEW)
