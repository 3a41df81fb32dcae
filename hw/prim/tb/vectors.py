"""Public test vectors: read from a folder beside the project, and never copied into it.

The folder is `../shared/vectors` beside the project, or the one that HARTLOCK_VECTORS names. Without the
first, tests say so and pass; what is named has to be there. Each run takes a part, within a budget that its
simulation can afford and chosen by its seed; HARTLOCK_ALL_VECTORS=1 takes everything. Every choice logs a
note, which `cargo xtask ip` shows: what was taken, and what was skipped and why.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Log = Callable[..., None]
Case = TypeVar("Case")


def wants_all() -> bool:
    return os.environ.get("HARTLOCK_ALL_VECTORS", "") not in ("", "0")


def find_folder(named: str | None, beside: Path) -> Path | None:
    if named:
        if not Path(named).is_dir():
            raise NotADirectoryError(f"HARTLOCK_VECTORS names no folder: {named}")
        return Path(named)
    return beside if beside.is_dir() else None


def folder(log: Log) -> Path | None:
    beside = Path(__file__).resolve().parents[4] / "shared/vectors"
    found = find_folder(os.environ.get("HARTLOCK_VECTORS"), beside)
    if found is None:
        log("stored vectors: SKIPPED: no %s, and HARTLOCK_VECTORS names no other folder", beside)
    return found


def tests_of(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group with each of its tests, which is the form of NIST's files and of Wycheproof's."""
    for group in json.loads(path.read_text())["testGroups"]:
        for test in group["tests"]:
            yield group, test


def some_of(cases: list[Case], budget: int, cost: Callable[[Case], int]) -> list[Case]:
    """All, or a random part whose costs are no more than the budget."""
    assert cases, "the folder of vectors has nothing of this kind"
    if wants_all():
        return cases
    part = []
    for case in random.sample(cases, len(cases)):
        if cost(case) <= budget:
            part.append(case)
            budget -= cost(case)
    assert part, "nothing fits"
    return part
