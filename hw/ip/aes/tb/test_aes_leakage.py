"""The masked cipher's netlist does not tell plaintexts apart, and would without random bits.

This one has few traces; `test_aes_leakage_long` has a million.
"""

from __future__ import annotations

import random

import cocotb
import rijndael
from clocked import Clocked
from leakage import THRESHOLD, Cipher

TRACES = 6400
# Without masks or with a weak stage far fewer traces are enough.
STUCK_TRACES = 1280


def judge(dut: object, cipher: Cipher, traces: int, is_stuck: bool = False) -> float:
    """The largest |t|. The first trace has to be AES, or the program is not the cipher."""
    first, t = cipher.run(traces, random.getrandbits(63), is_stuck)
    key, text, out = (int(bits, 2).to_bytes(len(bits) // 8, "little") for bits in first)
    assert out == rijndael.encrypt(key, text), "the program does not compute AES"
    worst = max(t, key=abs)
    dut._log.info("%d traces, random bits %s: largest |t| is %.2f in cycle %d of %d",
                  traces, "stuck" if is_stuck else "fresh", abs(worst), t.index(worst) + 1, len(t))
    return abs(worst)


@cocotb.test()
async def toggles_tell_nothing_unless_the_random_bits_are_stuck(dut):
    await Clocked.started(dut, ("random_i",))
    with Cipher({}) as cipher:
        assert judge(dut, cipher, STUCK_TRACES, is_stuck=True) > THRESHOLD, "the test notices no stuck random bits"
        assert judge(dut, cipher, TRACES) < THRESHOLD
