"""Verification of SLH-DSA-SHA2-128s signatures by `slh_dsa_core`, on hash cores of its own."""

from __future__ import annotations

import random

import cocotb
from slh_dsa_bench import SlhDsa
from slh_dsa_signer import sign


@cocotb.test()
async def verifies_a_signature(dut):
    core = await SlhDsa.started(dut)
    for seed, two_passes in ((1, False), (2, True)):
        signed = sign(random.Random(seed))
        result = await core.verify(signed, two_passes)
        cocotb.log.info("%s", result)
        assert result.passes, f"{result}"
        assert await core.root() == signed.root
