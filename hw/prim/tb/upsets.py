"""Upsets of the state of a machine."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations


def upsets_of(state: int, width: int, legal: Collection[int]) -> list[int]:
    """What an upset of one or two bits makes of the code of a state. `legal` are all codes; none is among them."""
    bits = [1 << bit for bit in range(width)]
    forced = [state ^ bit for bit in bits] + [state ^ one ^ other for one, other in combinations(bits, 2)]
    assert not set(legal) & set(forced), f"an upset of two bits makes another state of {state:0{width}b}"
    return forced
