"""Upsets of one flip-flop in the comparison of `slh_dsa_core`: none makes it accept another root.

The root is written into its register, so that a run is the comparison alone: a random root, and one that differs from that
of the key in one bit. Bits of that register are left out: an upset there makes the root itself, and two passes compute it
again.
"""

from __future__ import annotations

import random

import cocotb
from clocked import part_of
from slh_dsa_bench import SlhDsa
from slh_dsa_signer import TYPE
from xmss_bench import MISMATCH, NO_ERROR, PASSED

RUN, SCHEDULE_DONE, HALVES, HASHES = 0x55, 0b100110, 982, 319
# Cycles from the forced state to the verdict: two counts, two walks of two cycles a word, the turn, the judgement.
WINDOW = 37


async def compare(core: SlhDsa, root: int, upset: tuple[str, int, int] | None = None) -> tuple[int, int] | None:
    """Error and verdict; nothing after an alert. An upset is a register of the control, a bit and a cycle."""
    dut, control = core.dut, core.dut.u_core.u_control
    await core.start(TYPE)
    await core.tick(2)
    dut.u_core.u_schedule.u_state.u_flop.value_q.value = SCHEDULE_DONE
    dut.u_core.u_ingest.filled_o.value = HALVES
    dut.u_core.u_ingest.ended_o.value = 1
    dut.u_core.u_digits.root_o.value = root
    control.u_state.u_flop.value_q.value = RUN
    control.steps_q.value = int(dut.u_core.u_digits.steps_o.value)
    control.nodes_q.value = HASHES
    for cycle in range(WINDOW + 1):
        if upset is not None and cycle == upset[2]:
            register = part_of(control, upset[0])
            register.value = int(register.value) ^ 1 << upset[1]
        await core.tick()
    # An upset may have begun a walk again.
    for _ in range(2 * WINDOW):
        if dut.done_o.value == 1 or dut.alert_o.value == 1:
            break
        await core.tick()
    result = None
    if dut.alert_o.value == 1:
        await core.reset()
    else:
        assert upset is not None or dut.done_o.value == 1
        result = int(dut.error_o.value), int(dut.verdict_o.value)
        await core.pulse(dut.abort_i)
        await core.wait_for(dut.idle_o)
    return result


@cocotb.test()
async def no_upset_of_the_comparison_is_accepted(dut):
    core = await SlhDsa.started(dut)
    root, seed = random.randbytes(16), random.randbytes(16)
    await core.write_key(root, seed)
    right = int.from_bytes(root, "big")
    assert await compare(core, right) == (NO_ERROR, PASSED)
    wrong = [random.getrandbits(128), right ^ 1 << random.randrange(128)]
    for other in wrong:
        assert await compare(core, other) == (MISMATCH, 0)
    registers = ("u_state.u_flop.value_q", "at_q", "has_half_q", "second_q", "verdict_q", "steps_q", "nodes_q", "error_q", "was_clear_q")
    control = dut.u_core.u_control
    upsets = 0
    for name in registers:
        for bit in range(len(part_of(control, name))):
            # Before the verdict: after it, who asks compares it with the constant.
            for cycle in range(WINDOW):
                upsets += 1
                result = await compare(core, wrong[upsets % 2], (name, bit, cycle))
                assert result is None or result[1] != PASSED, f"bit {bit} of {name}, cycle {cycle}"
    dut._log.info("%d upsets", upsets)
