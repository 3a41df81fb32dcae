"""The public vectors of LMS and HSS (`hw/prim/tb/vectors.py`) as cases of the engine: keys of whole length.

They are read by `spec/reference/public_vectors.py`, whose answers are those of the judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from lms_signer import Signed, hss, word_at
from reference import public_vectors
from vectors import Log, folder, some_of


class Case(NamedTuple):
    name: str
    signed: Signed
    is_valid: bool  # says the file


def engine_case(case: public_vectors.Case) -> Case | None:
    """Only keys that a caller can name to the engine: two types and, with HSS, a count of levels."""
    assert isinstance(case.answer, partial)
    key, message, signature = case.answer.args
    levels = 0
    if case.answer.func is hss.verify:
        levels, key = word_at(key, 0), key[4:]
    if levels > 15 or len(key) not in (48, 56):
        return None
    signed = Signed(levels, (word_at(key, 0), word_at(key, 4)), key, message, signature)
    return Case(f"{case.file} {case.number}", signed, None in case.right)


def cases(budget: int, log: Log) -> Iterator[Case]:
    """Some of each kind of file, as many of each."""
    base = folder(log)
    if base is None:
        return
    groups: dict[str, list[Case]] = {}
    for case in public_vectors.cases(base, "lms"):
        one = engine_case(case)
        if one is not None:
            groups.setdefault(case.file.partition("_")[0], []).append(one)
    for name, group in groups.items():
        part = some_of(group, max(1, budget // len(groups)), lambda _: 1)
        log("stored vectors: %d of %d cases of %s", len(part), len(group), name)
        yield from part
