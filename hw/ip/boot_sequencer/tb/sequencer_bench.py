"""What the tests of the boot sequencer share: names out of the generated header, and its pins."""

from __future__ import annotations

from clocked import Clocked
from registers import Registers

REGS = Registers("boot_sequencer", __file__)
DECISION, REASON, STATUS = (
    REGS[f"BOOT_SEQUENCER_{name}_OFFSET"] for name in ("DECISION", "REASON", "STATUS")
)
RELEASE, REFUSE, TRAP, STOP = (
    REGS[f"BOOT_SEQUENCER_WORD_{name}"] for name in ("RELEASE", "REFUSE", "TRAP", "STOP")
)
HELD, RELEASED, REFUSED, TRAPPED, ERROR, STOPPED = (
    REGS[f"BOOT_SEQUENCER_STATE_{name}"]
    for name in ("HELD", "RELEASED", "REFUSED", "TRAPPED", "ERROR", "STOPPED")
)
STATE_BITS = 6
# Codes of the states. The first is that of a reset.
STATES = {0b001011: HELD, 0b010101: RELEASED, 0b011110: REFUSED, 0b100110: TRAPPED, 0b110011: ERROR}
STATES |= {0b101101: STOPPED}
ILLEGAL = sorted(set(range(1 << STATE_BITS)) - set(STATES))
# Each decision: reset of the host (low), trap, state.
PINS = {RELEASE: (1, 0, RELEASED), TRAP: (1, 1, TRAPPED), REFUSE: (0, 0, REFUSED)}
# Words close to those that release, and to the one that stops.
NEAR = [word ^ 1 << position for word in (RELEASE, TRAP) for position in range(32)]
NEAR_STOP = [STOP ^ 1 << position for position in range(32)]


class HostPins(Clocked):
    """What the host is connected to."""

    def pins(self) -> tuple[int, int, int]:
        """Reset of the host, its trap, the status."""
        dut = self.dut
        return int(dut.host_rst_no.value), int(dut.host_trap_o.value), int(dut.status_o.value)
