"""Verification of LMS and HSS signatures by `lms_core`."""

from __future__ import annotations

import random

import cocotb
from lms_bench import LmsCore
from lms_signer import sign


@cocotb.test()
async def verifies_a_signature(dut):
    core = await LmsCore.started(dut)
    for seed, two_passes in ((1, False), (2, True)):
        result = await core.verify_lms(sign(random.Random(seed)), two_passes)
        cocotb.log.info("%d cycles", result.cycles)
        assert result.passes, f"{result}"
