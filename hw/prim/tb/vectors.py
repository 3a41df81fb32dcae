"""Public test vectors: read from the folder that HARTLOCK_VECTORS names, and never copied into the project.

Without that variable tests say so and pass; a folder that is named has to exist. Each run takes a part, within a
budget that its simulation can afford and chosen by its seed; HARTLOCK_ALL_VECTORS=1 takes everything. Every choice
logs a note, which `cargo xtask ip` shows: what was taken, and what was skipped and why.
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


def folder(log: Log) -> Path | None:
    named = os.environ.get("HARTLOCK_VECTORS")
    if not named:
        log("stored vectors: SKIPPED: HARTLOCK_VECTORS names no folder")
        return None
    if not Path(named).is_dir():
        raise NotADirectoryError(f"HARTLOCK_VECTORS names no folder: {named}")
    return Path(named)


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
