"""What `data/ip.toml` says of the bench that runs, for tests of netlists and of third-party cores.

The runner (`verif/machines/run/src/ip/bench.rs`) passes the top module and the parameters: a netlist has none to read.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from cocotb.handle import HierarchyObject


def parameters() -> dict[str, int]:
    """Of the bench, by their names."""
    pairs = (pair.split("=") for pair in os.environ["HARTLOCK_PARAMETERS"].split())
    return {name: int(value) for name, value in pairs}


def planned_cycles(test: str, table: str) -> int:
    """The cycles of a block with which the table of netlists multiplies. `test` is the `__file__` of a test, `table`
    is `netlist` or `peer`. Top modules of third parties may share a name."""
    file = Path(test).resolve()
    plan = tomllib.loads((file.parents[1] / "data/ip.toml").read_text(encoding="utf-8"))
    wanted = os.environ["COCOTB_TOPLEVEL"], parameters(), file.stem
    rows = (row for row in plan[table] if (row["top"], row["parameters"], row.get("tests", file.stem)) == wanted)
    (cycles,) = {row["cycles"] for row in rows}
    return cycles


def expect_planned_cycles(dut: HierarchyObject, test: str, table: str, times: set[int]) -> None:
    """`times` are the cycles that blocks took."""
    wanted = planned_cycles(test, table)
    assert times == {wanted}, f"a block takes {sorted(times)} cycles, and the table says {wanted}"
    dut._log.info("a block takes %d cycles", wanted)
