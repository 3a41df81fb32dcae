"""`axi_switch` between a master with one transaction at a time and two paths that answer differently."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part, Sink, Source, WriteOrder, chance

WAYS = ["direct", "coherent"]
INPUTS = ["coherent_i", "aw_valid_i", "w_valid_i", "w_last_i", "b_ready_i", "ar_valid_i", "r_ready_i"]
ANSWERS = ["b_payload_i", "r_payload_i", "r_last_i"]
SIGNALS = ["aw_ready_i", "w_ready_i", "b_valid_i", "ar_ready_i", "r_valid_i", *ANSWERS]
INPUTS += [f"{way}_{name}" for way in WAYS for name in SIGNALS]
# Of the parameter `MaxOpen`.
MOST = 15


class Selector(Part):
    """Selects the path of what begins next; changes it at random."""

    def __init__(self, dut: HierarchyObject, flips: float) -> None:
        self.dut = dut
        self.flips = flips
        self.way = 0

    def drive(self) -> None:
        if chance(self.flips):
            self.way ^= 1
        self.dut.coherent_i.value = self.way


class Way(Part):
    """Memory at the end of one path: answers its requests, in their order, with data of its own. What both answer is
    written down in one list each."""

    def __init__(self, dut: HierarchyObject, name: str, answers: Answers) -> None:
        self.aw = Sink(dut, f"{name}_aw_valid_o", f"{name}_aw_ready_i", [])
        self.w = Sink(dut, f"{name}_w_valid_o", f"{name}_w_ready_i", [])
        self.ar = Sink(dut, f"{name}_ar_valid_o", f"{name}_ar_ready_i", [])
        self.b = Source(dut, f"{name}_b_valid_i", f"{name}_b_ready_o", [f"{name}_b_payload_i"])
        self.r = Source(
            dut, f"{name}_r_valid_i", f"{name}_r_ready_o", [f"{name}_r_payload_i", f"{name}_r_last_i"]
        )
        self.order = WriteOrder(self.aw, self.w, dut.w_last_i)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.last = dut.w_last_i
        self.answers = answers
        self.bursts = 0
        self.served = 0

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        if self.w.passes:
            self.w.taken.clear()
            self.bursts += int(self.last.value)
        if self.aw.taken and self.bursts > 0:
            self.aw.taken.popleft()
            self.bursts -= 1
            self.answer(self.b, self.answers.writes, (random.getrandbits(2),))
        if self.ar.taken:
            self.ar.taken.popleft()
            for rest in reversed(range(random.randint(1, 4))):
                self.answer(self.r, self.answers.reads, (random.getrandbits(66), int(rest == 0)))

    def answer(self, channel: Source, all_answers: list[tuple[int, ...]], values: tuple[int, ...]) -> None:
        channel.queue.append(values)
        all_answers.append(values)
        self.served += 1

    def is_idle(self) -> bool:
        """Whether no burst arrived here in part."""
        return not any([self.aw.taken, self.bursts, self.ar.taken, self.b.queue, self.r.queue])


class Answers(NamedTuple):
    """Of both paths, in the order in which they were given."""

    writes: list[tuple[int, ...]]
    reads: list[tuple[int, ...]]


class Limited(Source):
    """Addresses: no more bursts are open than the block counts."""

    def __init__(self, dut: HierarchyObject, name: str, ended: Callable[[], int]) -> None:
        super().__init__(dut, f"{name}_valid_i", f"{name}_ready_o", [])
        self.ended = ended

    def drive(self) -> None:
        held = self.queue
        if not self.is_offering and len(self.taken) - self.ended() >= MOST:
            self.queue = deque()
        super().drive()
        self.queue = held


class Setup:
    """A bench with the master's channels; the payload of its requests does not pass the switch."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.bench = Bench(dut, INPUTS)
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_payload_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", ["r_payload_o", "r_last_o"])
        self.aw = Limited(dut, "aw", lambda: len(self.b.taken))
        self.w = Source(dut, "w_valid_i", "w_ready_o", ["w_last_i"])
        self.ar = Limited(dut, "ar", lambda: sum(last for _, last in self.r.taken))
        self.answers = Answers([], [])
        self.ways = [Way(dut, name, self.answers) for name in WAYS]
        self.selector = Selector(dut, 0.0)

    async def start(self) -> None:
        master: list[Part] = [self.aw, self.w, self.ar, self.b, self.r]
        await self.bench.start(self.selector, *master, *self.ways)

    def stall(self, most: float) -> None:
        """Every channel stalls at random, on all sides."""
        for part in [self.aw, self.w, self.ar, self.b, self.r]:
            part.stalls = random.uniform(0, most)
        for way in self.ways:
            way.order.choose()
            for part in way.parts:
                part.stalls = random.uniform(0, most)

    async def transact(self, writes: int, reads: int) -> None:
        for _ in range(writes):
            self.aw.queue.append(())
            self.w.queue.extend((int(rest == 0),) for rest in reversed(range(random.randint(1, 4))))
        self.ar.queue.extend(() for _ in range(reads))
        await self.answered(writes, reads)

    async def answered(self, writes: int, reads: int) -> None:
        """All responses are there: those that were given, in their order."""

        def is_done() -> bool:
            ends = sum(last for _, last in self.r.taken)
            return len(self.b.taken) == writes and ends == reads

        await self.bench.run(is_done, 20000)
        assert list(self.b.taken) == self.answers.writes
        assert list(self.r.taken) == self.answers.reads
        for taken in (self.b.taken, self.r.taken, *self.answers, self.aw.taken, self.ar.taken):
            taken.clear()


@cocotb.test()
async def a_burst_takes_one_way_whatever_happens_meanwhile(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    setup.selector.flips = 0.5
    await setup.start()
    counts = [0, 0]
    for number in range(600):
        if number % 50 == 0:
            setup.stall(0.8)
        before = [way.served for way in setup.ways]
        is_write = chance(0.5)
        await setup.transact(writes=int(is_write), reads=int(not is_write))
        served = [way.served > old for way, old in zip(setup.ways, before)]
        assert sorted(served) == [False, True], "a burst was served by both paths, or by none"
        assert all(way.is_idle() for way in setup.ways), "a part of it took the other path"
        counts[served.index(True)] += 1
    assert min(counts) > 100


@cocotb.test()
async def bursts_take_one_way_whatever_happens_meanwhile(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    setup.selector.flips = 0.5
    await setup.start()
    for _ in range(60):
        setup.stall(0.8)
        await setup.transact(writes=random.randint(0, 40), reads=random.randint(0, 40))
        assert all(way.is_idle() for way in setup.ways), "a part of it took the other path"
    assert all(way.served > 400 for way in setup.ways)


@cocotb.test()
async def what_begins_in_a_cycle_takes_the_way_of_that_cycle(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for number in range(40):
        setup.selector.way = number & 1
        setup.stall(0.5)
        # It is valid in the next cycle, and the path changes directly after it.
        setup.aw.stalls = setup.w.stalls = setup.ar.stalls = 0.0
        before = setup.ways[number & 1].served
        if number & 2:
            setup.aw.queue.append(())
            setup.w.queue.append((1,))
        else:
            setup.ar.queue.append(())
        await setup.bench.cycles(1)
        setup.selector.way ^= 1
        await setup.answered(writes=number >> 1 & 1, reads=~number >> 1 & 1)
        assert setup.ways[number & 1].served > before
