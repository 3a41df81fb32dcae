"""Turns operations on registers into microinstructions: a list schedule against the pipelines of `ed25519_core`.

Times are cycles in which a microinstruction is executed, from the start of its segment. A segment is straight code. What
runs before it leaves operations in the pipelines; a segment that several others lead to is scheduled for the worst of
them, and again until that no longer changes. So loops overlap with themselves, without a comparison in hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

# Cycles of the multiplier, and from its last word product to the first cycle in which a word of the result can be read.
PRODUCT, SQUARE, LOW, MULTIPLIER_LATENCY = 16, 10, 10, 7
# The adder takes a word a cycle, and corrects when it has seen the last carry.
SUM, ADDER_LATENCY = 4, 5
# Cycles after its microinstruction in which a raw product writes its eight words, and an operation its four.
RAW_WRITES = (6, 8, 11, 15, 18, 20, 21, 22)


def folded_writes(occupancy: int) -> tuple[int, ...]:
    first = occupancy + MULTIPLIER_LATENCY
    return tuple(range(first, first + 4))


ADDER_WRITES = tuple(range(ADDER_LATENCY, ADDER_LATENCY + 4))


@dataclass(frozen=True)
class Op:
    """An operation of one of the two units. `reads` and `writes` are names of registers, or of flags."""

    unit: str
    fields: dict[str, int]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    occupancy: int
    # When, after its microinstruction, each register that it writes can be an operand of the next.
    ready: tuple[int, ...]
    # Cycles of the write port, and of the first and last write of each register.
    port: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def last_read(self) -> int:
        return self.occupancy


NEVER = -(10**6)
SAMPLED = ("@digit", "@digits", "@index")


@dataclass
class State:
    """What is under way, from the start of a segment."""

    ready: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    issued: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    port: frozenset[int] = frozenset()
    free: dict[str, int] = field(default_factory=dict)

    def shifted(self, by: int) -> State:
        def move(table: dict[str, int]) -> dict[str, int]:
            return {name: time - by for name, time in table.items() if time - by > 0}

        return State(
            move(self.ready), move(self.read), move(self.issued), move(self.written),
            frozenset(time - by for time in self.port if time - by >= 0), move(self.free),
        )

    def joined(self, other: State) -> State:
        def worst(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
            return {name: max(a.get(name, 0), b.get(name, 0)) for name in sorted(a.keys() | b.keys())}

        return State(
            worst(self.ready, other.ready), worst(self.read, other.read), worst(self.issued, other.issued),
            worst(self.written, other.written), self.port | other.port, worst(self.free, other.free),
        )

    def earliest(self, op: Op) -> int:
        time = self.free.get(op.unit, 0)
        for name in op.reads:
            time = max(time, self.ready.get(name, 0))
        for name, (first, _) in zip(op.writes, op.spans, strict=True):
            # In the order of the program, and not before the old value was read and written.
            time = max(time, self.read.get(name, NEVER) - first, self.issued.get(name, 0))
            time = max(time, self.written.get(name, NEVER) + 1 - first)
        while any(time + cycle in self.port for cycle in op.port):
            time += 1
        return time

    def issue(self, op: Op, time: int) -> None:
        self.free[op.unit] = time + op.occupancy
        for name in op.reads:
            # Digits and indices are read by the instruction itself.
            last = 0 if name in SAMPLED else op.last_read
            self.read[name] = max(self.read.get(name, 0), time + last)
            self.issued[name] = max(self.issued.get(name, 0), time)
        for name, ready, (_, last) in zip(op.writes, op.ready, op.spans, strict=True):
            self.ready[name] = time + ready
            self.written[name] = max(self.written.get(name, 0), time + last)
            self.issued[name] = max(self.issued.get(name, 0), time)
        self.port |= {time + cycle for cycle in op.port}


@dataclass
class Instruction:
    wait: int = 0
    fields: dict[str, int] = field(default_factory=dict)
    # The control operation and the name of the segment that it leads to.
    control: str = "next"
    target: str | int = 0


@dataclass
class Segment:
    name: str
    ops: list[Op]
    control: str
    target: str | int
    # Segments that may follow.
    follow: tuple[str, ...]
    # Extra fields of the last instruction.
    extra: dict[str, int]
    # Wait until everything is written: what follows is not a segment, or reads flags.
    drain: bool = False
    # In which operations are issued; without one, by the longest chain (data/orders.py).
    order: tuple[int, ...] = ()
    entry: State = field(default_factory=State)
    code: list[Instruction] = field(default_factory=list)
    length: int = 0


def priorities(ops: list[Op]) -> list[int]:
    """Of each operation, the cycles from its issue to the end of the longest chain that hangs on it."""
    chain = [0] * len(ops)
    for index in range(len(ops) - 1, -1, -1):
        longest = 0
        for name, ready in zip(ops[index].writes, ops[index].ready, strict=True):
            for later in range(index + 1, len(ops)):
                if name in ops[later].reads:
                    longest = max(longest, ready + chain[later])
                if name in ops[later].writes:
                    break
        chain[index] = max(longest, ops[index].occupancy)
    return chain


def conflicts(ops: list[Op]) -> list[set[int]]:
    """Operations that have to be issued before another one."""
    before: list[set[int]] = [set() for _ in ops]
    for index, op in enumerate(ops):
        for earlier in range(index):
            other = ops[earlier]
            if set(other.writes) & (set(op.reads) | set(op.writes)) or set(other.reads) & set(op.writes):
                before[index].add(earlier)
    return before


def place(segment: Segment, weights: list[int]) -> tuple[dict[int, int], State]:
    ops = segment.ops
    before = conflicts(ops)
    state = segment.entry.joined(State())
    times: dict[int, int] = {}
    while len(times) < len(ops):
        choices = []
        for index, op in enumerate(ops):
            if index not in times and before[index] <= times.keys():
                choices.append((state.earliest(op), -weights[index], index))
        # The unit that can start first; of those that can start at that time, the longest chain.
        time, _, index = min(choices)
        state.issue(ops[index], time)
        times[index] = time
    return times, state


def place_in_order(segment: Segment) -> tuple[dict[int, int], State]:
    state = segment.entry.joined(State())
    times = {}
    for index in segment.order:
        times[index] = state.earliest(segment.ops[index])
        state.issue(segment.ops[index], times[index])
    return times, state


def emit(segment: Segment, times: dict[int, int], state: State, end: int) -> list[Instruction]:
    slots: dict[int, Instruction] = {}
    for index, time in times.items():
        slots.setdefault(time, Instruction()).fields.update(segment.ops[index].fields)
    if not slots:
        slots[0] = Instruction()
    # The first instruction is executed at time 0, and the last one leads on at `end`.
    slots.setdefault(0, Instruction())
    order = sorted(slots)
    code = []
    for at, following in zip(order, [*order[1:], end], strict=True):
        instruction, wait = slots[at], following - at - 1
        while wait > 31:
            code.append(replace(instruction, wait=31))
            instruction, wait = Instruction(), wait - 32
        code.append(replace(instruction, wait=wait))
    code[-1].control, code[-1].target = segment.control, segment.target
    code[-1].fields = {**code[-1].fields, **segment.extra}
    return code


def best_place(segment: Segment) -> tuple[dict[int, int], State, int]:
    """Of several orders the shortest: priorities by chains, and by the order of the program."""
    chain = priorities(segment.ops)
    count = len(segment.ops)
    if segment.order:
        choices = [place_in_order(segment)]
    else:
        several = chain, [count - i for i in range(count)], [c + 2 * (count - i) for i, c in enumerate(chain)]
        choices = [place(segment, weights) for weights in several]
    found = None
    for times, state in choices:
        end = max([time + 1 for time in times.values()], default=1)
        end = max(end, state.free.get("mul", 0))
        if segment.drain:
            end = max([end, *(time + 1 for time in state.written.values()), *state.ready.values()])
        # What is left for the next one counts as well.
        cost = (end, sum(max(0, time - end) for time in state.ready.values()))
        if found is None or cost < found[0]:
            found = cost, times, state, end
    assert found is not None
    return found[1:]


def schedule(segments: Iterable[Segment], rounds: int = 40) -> None:
    """Fills `code` of all segments."""
    by_name = {segment.name: segment for segment in segments}
    waiting = list(by_name)
    passes = dict.fromkeys(by_name, 0)
    while waiting:
        segment = by_name[waiting.pop(0)]
        passes[segment.name] += 1
        assert passes[segment.name] < rounds, f"{segment.name} has no schedule that meets itself"
        times, state, end = best_place(segment)
        segment.code, segment.length = emit(segment, times, state, end), end
        leaves = state.shifted(end)
        for name in segment.follow:
            joined = by_name[name].entry.joined(leaves)
            if joined != by_name[name].entry:
                by_name[name].entry = joined
                if name not in waiting:
                    waiting.append(name)


def close_up(segments: list[Segment]) -> None:
    """Segments that begin with an empty instruction lose it, where all that lead to them can wait as long instead."""
    by_name = {segment.name: segment for segment in segments}

    def idle(name: str) -> int:
        code = by_name[name].code
        return code[0].wait + 1 if len(code) > 1 and not code[0].fields and code[0].control == "next" else 0

    for segment in segments:
        if not segment.follow:
            continue
        wait = min(idle(name) for name in segment.follow)
        leads = [other for other in segments if set(other.follow) & set(segment.follow)]
        same = all(set(other.follow) <= set(segment.follow) for other in leads)
        exact = all(idle(name) == wait for name in segment.follow)
        if wait and same and exact and all(other.code[-1].wait + wait <= 31 for other in leads):
            for other in leads:
                other.code[-1] = replace(other.code[-1], wait=other.code[-1].wait + wait)
            for name in segment.follow:
                del by_name[name].code[0]
