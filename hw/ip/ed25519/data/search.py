#!/usr/bin/env python3
"""Looks for shorter orders of the loops and writes them into `orders.py`: minutes, and by chance. Not a part of the build.

An order is changed by moving one operation, and kept if all segments of its loop together take no more cycles.
"""

from __future__ import annotations

import pathlib
import random
import sys
import time

import microcode
from orders import ORDERS
from schedule import Segment, State, best_place, conflicts

# Segments that lead to each other, with how often each runs in a command.
LOOPS = (
    {"at_double": 175.7, "at_sum": 77.3, "add_both": 7.0, "add_a": 35.1, "add_b": 42.2},
    {"multiples_next": 7.0},
    {"base_row": 26.0},
    {"challenge": 1.0},
    {"respond": 1.0},
    {"keep_r": 1.0},
)


def cycles(members: dict[str, Segment], weights: dict[str, float]) -> float:
    """Of a loop that is under way."""
    for segment in members.values():
        segment.entry = State()
    lengths: dict[str, int] = {}
    waiting, passes = list(members), 0
    while waiting:
        passes += 1
        if passes > 100:
            return float("inf")
        segment = members[waiting.pop(0)]
        _, state, end = best_place(segment)
        lengths[segment.name] = end
        leaves = state.shifted(end)
        for name in segment.follow:
            if name in members:
                joined = members[name].entry.joined(leaves)
                if joined != members[name].entry:
                    members[name].entry = joined
                    if name not in waiting:
                        waiting.append(name)
    return sum(weights[name] * length for name, length in lengths.items())


def moved(order: list[int], before: list[set[int]]) -> list[int]:
    """One operation elsewhere, where the dependences allow it."""
    result = order[:]
    op = result.pop(random.randrange(len(result)))
    low = max((result.index(other) + 1 for other in before[op]), default=0)
    high = min((result.index(other) for other in result if op in before[other]), default=len(result))
    result.insert(random.randint(low, high), op)
    return result


def main() -> None:
    seconds = float(sys.argv[1])
    programs = microcode.Programs()
    programs.all(26)
    found = dict(ORDERS)
    for weights in LOOPS:
        members = {segment.name: segment for segment in programs.segments if segment.name in weights}
        before = {name: conflicts(segment.ops) for name, segment in members.items()}
        for name, segment in members.items():
            segment.order = tuple(found.get(name, range(len(segment.ops))))
        best = cycles(members, weights)
        end = time.monotonic() + seconds * len(members)
        while time.monotonic() < end:
            kept = {name: segment.order for name, segment in members.items()}
            for _ in range(random.choice((1, 1, 2, 3))):
                segment = random.choice(list(members.values()))
                segment.order = tuple(moved(list(segment.order), before[segment.name]))
            now = cycles(members, weights)
            if now <= best:
                best = now
            else:
                for name, order in kept.items():
                    members[name].order = order
        print(f"{best:.0f}", {name: best_place(segment)[2] for name, segment in members.items()})
        found |= {name: segment.order for name, segment in members.items()}
    lines = ['"""Orders of operations that `search.py` has found."""', "", "ORDERS: dict[str, tuple[int, ...]] = {"]
    lines += [f'    "{name}": {order},' for name, order in sorted(found.items())]
    path = pathlib.Path(__file__).with_name("orders.py")
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
