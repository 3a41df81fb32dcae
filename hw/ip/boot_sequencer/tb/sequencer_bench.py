"""What the tests of the boot sequencer share: names out of the generated header, a clock, a reset."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge, Timer

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


async def start(dut: HierarchyObject) -> None:
    # Reset comes before the first edge: what registers hold until then is random.
    dut.rst_ni.value = 0
    dut.fault_i.value = 0
    await Timer(1, "ns")
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    await reset(dut)


async def reset(dut: HierarchyObject) -> None:
    dut.rst_ni.value = 0
    await tick(dut, 2)
    dut.rst_ni.value = 1
    await tick(dut, 1)


async def tick(dut: HierarchyObject, cycles: int) -> None:
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)


def pins(dut: HierarchyObject) -> tuple[int, int, int]:
    """Reset of the host, its trap, the status."""
    return int(dut.host_rst_no.value), int(dut.host_trap_o.value), int(dut.status_o.value)
