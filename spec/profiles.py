"""The profiles of image-format.md §2.2: named sets of algorithms, hashes and modes."""

from __future__ import annotations

from typing import NamedTuple

from algorithms import ALGORITHMS
from hashes import ALLOWED, BLOCKS, FLAT, HASHES


class Profile(NamedTuple):
    """A row of the table."""

    algorithms: frozenset[tuple[int, int]]  # with their parameters
    hashes: frozenset[int]  # §2.3
    modes: frozenset[int]


def _algorithms(*numbers: int) -> frozenset[tuple[int, int]]:
    return frozenset(known for known in ALGORITHMS if known[0] in numbers)


_WITHOUT_PARALLELHASH = frozenset({FLAT, BLOCKS})

PROFILES: dict[str, Profile] = {
    "default": Profile(_algorithms(1, 4, 16, 19), frozenset({2, 4}), _WITHOUT_PARALLELHASH),
    "cnsa2": Profile(_algorithms(16, 17) | {(19, 87)}, frozenset({2, 3}), _WITHOUT_PARALLELHASH),
    "all": Profile(frozenset(ALGORITHMS), frozenset(HASHES), frozenset(ALLOWED)),
}
