"""`xmss_schedule` alone: it gives out what the rules of `schedule_model.py` allow, all of it, in any order of events; and no
order of them blocks a tree that has these rules."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.triggers import ReadOnly, Timer
from schedule_model import Graph, Job, Node, Rules, explore

KINDS = {1: "chain", 2: "prep", 3: "node", 4: "block"}
CODES = {kind: code for code, kind in KINDS.items()}
INPUTS = (
    *("clear_i", "start_i", "is_short_i", "height_i", "leaf_i", "is_turned_i", "filled_i", "path_valid_i", "path_index_i"),
    *("digits_valid_i", "digit_i", "block_valid_i", "block_index_i", "block_first_i", "path_complete_i"),
    *("job_ready_i", "done_valid_i", "done_kind_i", "done_node_i"),
)
NOTHING = dict(done_valid_i=0, path_valid_i=0, block_valid_i=0, job_ready_i=0)
BLOCKS = 3
# Cycles in which nothing is offered: a scan over all chains passes those of other digits.
PATIENCE = 100
# What a run takes at most. Hundreds of jobs, each with stalls of some cycles.
LONGEST = 60_000


class Bench(Clocked):
    settling_cycles = 520

    def set(self, **values: int) -> None:
        for name, value in values.items():
            self._port(name).value = int(value)


class Lanes:
    """Lanes that take jobs and end them in any order, and a signature that comes slowly."""

    def __init__(self, bench: Bench, graph: Graph, room: int, stalls: float, is_turned: bool = False) -> None:
        self.bench, self.graph, self.room, self.stalls = bench, graph, room, stalls
        self.digits = [random.randrange(16) for _ in graph.chains]
        self.height = graph.root.node.level + 1
        self.leaf = random.randrange(1 << self.height)
        self.is_turned = is_turned
        self.values, self.told, self.blocks = 0, 0, BLOCKS
        self.taken: list[Job] = []
        self.given: set[Job] = set()
        self.there: set[Job | tuple[str, int]] = set()
        self.reported: Job | None = None
        self.idle, self.forwards = 0, 0
        self.left = {node: len(needs) for node, needs in graph.needs.items() if node.kind == "node"}

    def acts(self) -> bool:
        return random.random() >= self.stalls

    async def start(self) -> None:
        self.bench.set(
            is_short_i=len(self.graph.chains) == 51, height_i=self.height, leaf_i=self.leaf, is_turned_i=self.is_turned
        )
        await self.bench.pulse(self.bench.dut.start_i)

    async def run(self, cycles: int = LONGEST) -> None:
        for _ in range(cycles):
            await Timer(1, unit="ns")
            self.drive()
            await ReadOnly()
            self.sample()
            await self.bench.tick()
            if self.graph.root in self.there:
                await self.end()
                return
        assert cycles < LONGEST, f"it does not end: {sorted(self.graph.needs.keys() - self.given)}"

    async def end(self) -> None:
        self.bench.set(**NOTHING)
        await self.bench.tick(3)
        dut = self.bench.dut
        assert dut.finished_o.value == 1
        assert self.given >= self.graph.needs.keys() and not self.taken
        assert dut.job_valid_o.value == 0

    def drive(self) -> None:
        dut = self.bench.dut
        if self.values < len(self.graph.chains) and self.acts():
            self.there.add(("value", self.values))
            self.values += 1
        at = int(dut.digit_index_o.value)
        if self.reported is None and self.taken and self.acts():
            self.reported = random.choice(self.taken)
        self.bench.set(
            filled_i=self.values,
            path_valid_i=self.values == len(self.graph.chains) and self.told < self.height,
            path_index_i=self.told,
            path_complete_i=self.told == self.height,
            digits_valid_i=self.blocks == 0,
            digit_i=self.digits[at] if at < len(self.digits) else 0,
            block_valid_i=self.blocks > len([job for job in self.taken if job.kind == "block"]),
            job_ready_i=len(self.taken) < self.room and self.acts(),
            done_valid_i=self.reported is not None,
        )
        if self.reported is not None:
            node = self.reported.node
            self.bench.set(done_kind_i=CODES[self.reported.kind], done_node_i=node.is_path << 8 | node.number)

    def sample(self) -> None:
        dut = self.bench.dut
        if dut.path_valid_i.value == 1 and dut.path_ready_o.value == 1:
            self.counts(("path", self.told))
            self.told += 1
        if self.reported is not None and dut.done_ready_o.value == 1:
            self.taken.remove(self.reported)
            if self.reported.kind == "block":
                self.blocks -= 1
            else:
                self.counts(self.reported)
            self.reported = None
        is_valid = dut.job_valid_o.value == 1
        if is_valid and dut.job_ready_i.value == 1:
            self.take(int(dut.job_o.value))
        # What is ready is offered: a node at once, a preparation and, when all values are there, a chain.
        self.idle = 0 if is_valid else self.idle + 1
        is_due = any(count == 0 for node, count in self.left.items() if node not in self.given)
        is_due |= any(prep not in self.given for prep in self.graph.preps)
        is_due |= self.values == len(self.graph.chains) and self.blocks == 0 and not self.given.issuperset(self.graph.chains)
        assert not is_due or self.idle < PATIENCE, "what is ready is not offered"

    def counts(self, event: Job | tuple[str, int]) -> None:
        self.there.add(event)
        for node in self.left:
            self.left[node] -= event in self.graph.needs[node]

    def take(self, word: int) -> None:
        """A job, by the fields of `job_t` from the last one."""
        fields = {}
        sizes = dict(is_forwarded=1, forwards=1, is_first=1, index=20, chain=7, step=4, is_right=1, number=8, is_path=1, kind=3)
        for name, size in sizes.items():
            fields[name] = word & (1 << size) - 1
            word >>= size
        kind = KINDS[fields["kind"]]
        if kind == "block":
            assert not any(job.kind == "block" for job in self.taken), "blocks follow each other"
            self.taken.append(Job("block", Node(False, 0)))
            return
        numbers = fields["is_path"], fields["number"]
        job = next((it for it in self.graph.needs if it.kind == kind and (it.node.is_path, it.node.number) == numbers), None)
        assert job is not None, f"there is no {kind} {numbers}"
        assert job not in self.given, f"{job} is given out twice"
        assert self.graph.ready(job, self.there), f"{job} is given out before its operands"
        if kind == "chain":
            assert (fields["chain"], fields["step"]) == (job.node.index, self.digits[job.node.index]), f"{job}: {fields}"
        if kind == "node":
            if job.node.is_path:
                assert fields["is_right"] == self.leaf >> job.node.level & 1, f"{job}: {fields}"
            # Its operand is in the lane of the node before, and nothing else is left for that lane.
            assert fields["is_forwarded"] == self.forwards, f"{job}: {fields}"
            self.forwards = fields["forwards"]
            if self.forwards:
                assert self.given.issuperset((*self.graph.chains, *self.graph.preps)) and self.told == self.height
        if kind == "prep":
            index = self.leaf >> job.node.level + 1 if job.node.is_path else job.node.index
            height = job.node.level if job.node.is_path else job.node.level - 1
            assert (fields["index"], fields["chain"]) == (index, height), f"{job}: {fields}"
        self.given.add(job)
        self.taken.append(job)


@cocotb.test()
async def gives_out_what_is_ready_once_and_all_of_it(dut):
    """Trees of every type, few lanes and many, events in any order; the second pass of a signature follows the first."""
    bench = await Bench.started(dut, INPUTS)
    for chains, height in ((67, 10), (67, 16), (67, 20), (51, 10)):
        for room in (1, 2, 4, 16):
            lanes = Lanes(bench, Graph(chains, height), room, random.choice([0.0, 0.2, 0.6]), random.random() < 0.5)
            await lanes.start()
            await lanes.run()
    left = [node for node in range(512) if int(dut.counts[node].value)]
    assert not left, f"counts of {left} are left"


@cocotb.test()
async def forgets_everything_at_a_clear(dut):
    bench = await Bench.started(dut, INPUTS)
    for _ in range(6):
        lanes = Lanes(bench, Graph(67, 10), 4, 0.2)
        await lanes.start()
        await lanes.run(random.randrange(600))
        bench.set(**NOTHING)
        await bench.pulse(dut.clear_i)
        await bench.tick(520)
        assert dut.job_valid_o.value == 0 and dut.finished_o.value == 0 and dut.busy_o.value == 0
    lanes = Lanes(bench, Graph(67, 10), 4, 0.2)
    await lanes.start()
    await lanes.run()


@cocotb.test()
async def no_order_of_a_small_tree_blocks(dut):
    """Every order of arrivals, jobs and reports. Rules that are known to block are found."""
    for chains, height, most in ((2, 1, 4), (3, 1, 4), (3, 2, 3), (4, 1, 3), (5, 1, 2), (5, 2, 1)):
        for jobs in range(1, most + 1):
            found = explore(Graph(chains, height), Rules(jobs))
            cocotb.log.info("%d chains, height %d, %d jobs: %d states", chains, height, jobs, found.states)
            assert found.stuck is None, f"{chains} chains, height {height}, {jobs} jobs: {found.stuck}"
    # A lane that takes a node before its last operand exists, and waits for it.
    for jobs in (1, 2, 3):
        assert explore(Graph(5, 1), Rules(jobs, needs_all=False)).stuck is not None
    # A small store for what runs ahead, whose places are allocated one by one; by whole nodes it does not block.
    assert explore(Graph(4, 1, parts=3), Rules(2, places=3)).stuck is not None
    for places in (1, 2):
        assert explore(Graph(4, 1), Rules(2, places=places)).stuck is None


@cocotb.test()
async def every_job_can_be_reached_and_each_operand_has_one_writer(dut):
    """Of the whole trees: there is no circle, the root needs every job, and what a job reads is what its child wrote."""
    for chains in (67, 51):
        for height in (10, 16, 20):
            graph = Graph(chains, height)
            before = graph.before()
            assert before[graph.root] | {graph.root} == graph.needs.keys()
            results: dict[int, list[Job]] = {}
            for job in (*graph.chains, *graph.nodes):
                results.setdefault(graph.result(job), []).append(job)
            for node in graph.nodes:
                for child in graph.children[node]:
                    if not isinstance(child, Job):
                        continue
                    for writer in results[graph.result(child)]:
                        is_earlier = writer == child or writer in before[child]
                        is_later = writer == node or node in before[writer]
                        assert is_earlier != is_later, f"{node} reads what {writer} may have written"
            # Of all nodes that are ready at a time no two need the same chain, and each needs two: the queue has 63 places.
            assert chains // 2 < 63
