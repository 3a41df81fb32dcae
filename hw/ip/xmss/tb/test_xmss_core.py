"""Verification of XMSS signatures by `xmss_core`."""

from __future__ import annotations

import random

import cocotb
from xmss_bench import Core
from xmss_signer import sign


@cocotb.test()
async def verifies_a_signature(dut):
    core = await Core.started(dut)
    result = await core.verify(sign(random.Random(1)))
    cocotb.log.info("note: %d cycles", result.cycles)
    assert result.passes, f"{result}"
    result = await core.verify(sign(random.Random(2)), two_passes=True)
    cocotb.log.info("note: %d cycles with two passes", result.cycles)
    assert result.passes, f"{result}"
