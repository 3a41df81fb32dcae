"""Public vectors of private operations of RSA (`hw/prim/tb/vectors.py`), within cycles of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rsa_key import Key
from vectors import Log, folder, some_of, tests_of


class Case(NamedTuple):
    name: str
    key: Key
    base: int
    # None if the base is not below the modulus.
    power: int | None
    # p, q, d modulo p - 1 and q - 1, 1 / q, if the file has them.
    parts: list[int] | None


def cost(case: Case) -> int:
    """Cycles, roughly, with 16 DSP blocks."""
    return case.key.bits**3 // 6200 + 30_000


def generated(path: Path) -> Iterator[Case]:
    for group, test in tests_of(path):
        p, q, e = (int(group[name], 16) for name in ("p", "q", "e"))
        parts = [int(group[name], 16) for name in ("p", "q", "dp", "dq", "qinv")]
        power = int(test["sig"], 16) if test["result"] == "valid" else None
        yield Case(f"{path.stem} {test['tcId']}", Key(p, q, e), int(test["msg"], 16), power, parts)


def nist(path: Path) -> Iterator[Case]:
    for _, test in tests_of(path):
        p, q, e = (int(test[name], 16) for name in ("p", "q", "e"))
        names = ("p", "q", "dmp1", "dmq1", "iqmp")
        parts = [int(test[name], 16) for name in names] if test["dmp1"] else None
        power = int(test["signature"], 16) if test["testPassed"] else None
        yield Case(f"{path.stem} {test['tcId']}", Key(p, q, e), int(test["message"], 16), power, parts)


def cases(budget: int, log: Log) -> Iterator[Case]:
    base = folder(log)
    if base is None:
        return
    sources = [*generated(base / "rsa/rsa_raw_512_1024.json"), *nist(base / "rsa/RSA-SignaturePrimitive-2.0.json")]
    part = some_of(sources, budget, cost)
    log("stored vectors: %d of %d private operations", len(part), len(sources))
    yield from part
