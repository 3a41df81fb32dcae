"""What `xmss_schedule` may do, and a search through all orders in which it can happen.

The graph of jobs is made from RFC 8391 (§4.1.5, §4.1.10), not from the RTL. `Graph.ready` is the rule: a job may be given out
once, when all that it needs exists. `test_xmss_schedule.py` holds the RTL to it, in both directions. `explore` takes every
order of arrivals, of jobs and of reports of a small tree, with the priorities of the RTL, and looks for a state that
nothing leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Node(NamedTuple):
    """Of the L-tree: level and index, chains are level 0. Of the path: its level."""

    is_path: bool
    level: int
    index: int = 0

    @property
    def number(self) -> int:
        """As the RTL has it: as many ones as the level, a zero, the index."""
        return self.level if self.is_path else (0xFF00 >> self.level & 0xFF) | self.index


class Job(NamedTuple):
    kind: str  # chain, prep, node
    node: Node
    part: int = 0  # of a preparation


class Graph:
    """Jobs of a signature, in the order in which the RTL has them, and what each needs: jobs, or values of the signature."""

    def __init__(self, chains: int, height: int, parts: int = 1) -> None:
        self.chains = [Job("chain", Node(False, 0, i)) for i in range(chains)]
        self.nodes: list[Job] = []
        self.children: dict[Job, tuple[Job, Job | tuple[str, int]]] = {}
        row = list(self.chains)
        level = 0
        while len(row) > 1:
            level += 1
            parents = [Job("node", Node(False, level, i)) for i in range(len(row) // 2)]
            for i, parent in enumerate(parents):
                self.children[parent] = (row[2 * i], row[2 * i + 1])
            self.nodes += parents
            row = parents + row[2 * len(parents) :]
        for k in range(height):
            node = Job("node", Node(True, k))
            self.children[node] = (row[0], ("path", k))
            self.nodes.append(node)
            row = [node]
        self.root = row[0]
        self.preps = [Job("prep", node.node, part) for part in range(parts) for node in self.nodes]
        self.needs: dict[Job, frozenset[Job | tuple[str, int]]] = {
            **{chain: frozenset({("value", chain.node.index)}) for chain in self.chains},
            **{prep: frozenset() for prep in self.preps},
            **{node: frozenset({*self.children[node], *self.of(node)}) for node in self.nodes},
        }

    def of(self, node: Job) -> list[Job]:
        """Its preparations."""
        return [prep for prep in self.preps if prep.node == node.node]

    def ready(self, job: Job, there: set[Job | tuple[str, int]]) -> bool:
        return self.needs[job] <= there

    def result(self, job: Job) -> int:
        """The place of a result (`result_row` of `xmss_pkg.sv`). A node takes that of its left child."""
        return 0 if job.node.is_path else job.node.index << job.node.level

    def before(self) -> dict[Job, frozenset[Job]]:
        """For each job all that have to be done before it, in an order that exists only if the graph has no circle."""
        closure: dict[Job, frozenset[Job]] = {}
        for job in (*self.chains, *self.preps, *self.nodes):
            needed = [need for need in self.needs[job] if isinstance(need, Job)]
            closure[job] = frozenset(needed).union(*(closure[need] for need in needed))
        return closure


class State(NamedTuple):
    """Counts of what came and what was given out; nodes that wait in the queue; jobs with a lane; jobs that are done."""

    values: int
    path: int
    chains: int
    preps: int
    queue: tuple[Job, ...]
    taken: frozenset[Job]
    done: frozenset[Job]


class Rules(NamedTuple):
    """How jobs are given out. Those of the RTL are the defaults."""

    jobs: int  # that the lanes hold
    needs_all: bool = True  # a job is given out when all its operands exist, not before the last one
    places: int | None = None  # of preparations: a store that is smaller than all of them


class Found(NamedTuple):
    states: int
    stuck: State | None
    longest_queue: int


def there(graph: Graph, state: State) -> set[Job | tuple[str, int]]:
    inputs = [("value", i) for i in range(state.values)] + [("path", k) for k in range(state.path)]
    return {*state.done, *inputs}


def offer(graph: Graph, rules: Rules, state: State) -> Job | None:
    """The priorities of the RTL: a node, a chain, a preparation."""
    if len(state.taken) >= rules.jobs:
        return None
    if state.queue:
        return state.queue[0]
    if state.chains < min(state.values, len(graph.chains)):
        return graph.chains[state.chains]
    if state.preps == len(graph.preps):
        return None
    # A place is free again when its node is done.
    held = sum(Job("node", prep.node) not in state.done for prep in graph.preps[: state.preps])
    return graph.preps[state.preps] if rules.places is None or held < rules.places else None


def queued(graph: Graph, rules: Rules, before: State, after: State) -> State:
    """Nodes that have become ready come into the queue."""
    had, has = there(graph, before), there(graph, after)
    lacking = 0 if rules.needs_all else 1
    new = [
        node
        for node in graph.nodes
        if len(graph.needs[node] - has) <= lacking < len(graph.needs[node] - had)
    ]
    return after._replace(queue=after.queue + tuple(new))


def successors(graph: Graph, rules: Rules, state: State) -> Iterator[State]:
    if state.values < len(graph.chains):
        yield queued(graph, rules, state, state._replace(values=state.values + 1))
    elif state.path < graph.root.node.level + 1 and graph.root.node.is_path:
        yield queued(graph, rules, state, state._replace(path=state.path + 1))
    has = there(graph, state)
    for job in state.taken:
        # A lane that has a job before its operands waits for them.
        if graph.ready(job, has):
            after = state._replace(taken=state.taken - {job}, done=state.done | {job})
            yield queued(graph, rules, state, after)
    job = offer(graph, rules, state)
    if job is not None:
        yield state._replace(
            taken=state.taken | {job},
            queue=state.queue[1:] if state.queue else (),
            chains=state.chains + (not state.queue and job.kind == "chain"),
            preps=state.preps + (job.kind == "prep"),
        )


def explore(graph: Graph, rules: Rules) -> Found:
    """Every reachable state. One is stuck if nothing leaves it before the root is done."""
    start = State(0, 0, 0, 0, (), frozenset(), frozenset())
    seen, waiting, longest = {start}, [start], 0
    while waiting:
        state = waiting.pop()
        longest = max(longest, len(state.queue))
        following = list(successors(graph, rules, state))
        if not following and graph.root not in state.done:
            return Found(len(seen), state, longest)
        for after in following:
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return Found(len(seen), None, longest)
