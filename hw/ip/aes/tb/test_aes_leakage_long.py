"""The t-test of `test_aes_leakage` with a million traces.

It does not see everything: a cipher whose S-boxes lack the masks of their first stage (`Remasks = 0`) passes it with as
many traces (|t| 2.87 was measured), because all signals of both shares are summed. The enumeration of probes catches that
one (`test_aes_dom_sbox`).
"""

from __future__ import annotations

import cocotb
from clocked import Clocked
from leakage import THRESHOLD, Cipher
from test_aes_leakage import judge

TRACES = 1_024_000
STUCK_TRACES = 102_400


@cocotb.test()
async def toggles_of_many_traces_tell_nothing(dut):
    await Clocked.started(dut, ("random_i",))
    with Cipher({}) as cipher:
        assert judge(dut, cipher, STUCK_TRACES, is_stuck=True) > THRESHOLD, "the test notices no stuck random bits"
        assert judge(dut, cipher, TRACES) < THRESHOLD
