"""What the boot sequencer does while a bit of it flips: no upset releases a host for which no word of release was
written."""

from __future__ import annotations

from sequencer_bench import DECISION, HELD, REASON, REFUSE, REFUSED, STATUS, STOP, STOPPED, TRAP, TRAPPED
from upset_script import Script, write_scripts

# A number of an error, as the ROM writes it before it refuses.
NUMBER = 603
STATE_MASK = 0x7
# Cycles in which nothing happens.
IDLE_CYCLES = 12
# A host that leaves its reset for one cycle has not read its first instruction. The register that drives its reset is a
# flip-flop, so an upset of it does that much.
RELEASED_CYCLES = 2


def script(decision: int | None, state: int) -> Script:
    """The root of trust writes a reason and a decision, and looks at the state twice."""
    script = Script()
    script.forbid(RELEASED_CYCLES, host_rst_no=1, host_trap_o=0)
    script.wait(IDLE_CYCLES)
    script.require(STATUS, STATE_MASK, HELD)
    script.write(REASON, NUMBER)
    script.mark("decision")
    if decision is not None:
        script.write(DECISION, decision)
    script.wait(IDLE_CYCLES)
    script.require(STATUS, STATE_MASK, state)
    script.wait(IDLE_CYCLES)
    script.require(STATUS, STATE_MASK, state)
    return script


if __name__ == "__main__":
    write_scripts([
        ("held", script(None, HELD)),
        ("refused", script(REFUSE, REFUSED)),
        ("trapped", script(TRAP, TRAPPED)),
        ("stopped", script(STOP, STOPPED)),
    ])
