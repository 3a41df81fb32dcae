"""The masked cipher's netlist does not tell plaintexts apart, and would without random bits.

This one has few traces; `test_aes_leakage_long` has a million.
"""

from __future__ import annotations

import random

import cocotb
import rijndael
from clocked import Clocked
from gates import Netlist, cell_inputs
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


def faults_of_gate(netlist: Netlist) -> list[str]:
    """The bits of the result whose two shares meet before the gate."""
    # Shares have no reset, and all control has one.
    shares = {cell["connections"]["Q"][0] for cell in netlist.flops if cell["type"] in ("FDRE", "FDSE")}
    registers = {cell["connections"]["Q"][0] for cell in netlist.flops}
    faults = []
    for index, bit in enumerate(netlist.ports["result_o"]):
        both = netlist.leaves(bit, {}) & shares
        inputs = cell_inputs(netlist.driver[bit])
        gates = [other for other in inputs if other not in shares and netlist.leaves(other, {}) & shares]
        if len(both) != 2 or len(gates) != 1 or len(both.intersection(inputs)) != 1:
            faults.append(f"bit {index} has its shares from {inputs}")
        elif not set(cell_inputs(netlist.driver[gates[0]])) <= registers:
            faults.append(f"the gate of bit {index} can glitch by itself")
    return faults


@cocotb.test()
async def shares_meet_in_the_result_behind_a_gate(dut):
    """A cell that has both shares of a bit as inputs glitches with their sum, whatever its other inputs are. So one share passes
    a cell of its own, whose only other input is a register."""
    await Clocked.started(dut, ("random_i",))
    netlist = Netlist("aes_masked_core", {})
    assert len(netlist.ports["result_o"]) == 128
    faults = faults_of_gate(netlist)
    assert not faults, f"{len(faults)} bits: {faults[0]}"
