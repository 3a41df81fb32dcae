"""`axi_switch` between a master with one transaction at a time and two paths that answer differently."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import cocotb
from axi_parts import AR, AW, B, R, Side, W, random_beats, side
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part, Sink, Source, WriteOrder, chance

WAYS = ["direct", "coherent"]
INPUTS = ["coherent_i", "axi_i", *(f"{way}_axi_i" for way in WAYS)]
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
    """Memory at the end of one path: answers its requests, in their order, with data of its own. What both get and
    answer is written down in one list each."""

    def __init__(self, dut: HierarchyObject, name: str, record: Record) -> None:
        port = side(dut, f"{name}_axi", is_manager=False)
        self.aw = Sink(port, "aw_valid", "aw_ready", AW)
        self.w = Sink(port, "w_valid", "w_ready", W)
        self.ar = Sink(port, "ar_valid", "ar_ready", AR)
        self.b = Source(port, "b_valid", "b_ready", B)
        self.r = Source(port, "r_valid", "r_ready", R)
        self.order = WriteOrder(self.aw, self.w, port.w_last)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.record = record
        self.bursts = 0
        self.served = 0

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        for channel, seen in ((self.aw, self.record.aw), (self.w, self.record.w), (self.ar, self.record.ar)):
            if channel.passes:
                seen.append(channel.taken[-1])
        if self.w.passes:
            self.bursts += self.w.taken.pop()[-1]
        if self.aw.taken and self.bursts > 0:
            self.aw.taken.popleft()
            self.bursts -= 1
            self.answer(self.b, self.record.b, (random.getrandbits(5), random.getrandbits(2)))
        if self.ar.taken:
            self.ar.taken.popleft()
            for rest in reversed(range(random.randint(1, 4))):
                beat = (random.getrandbits(5), random.getrandbits(64), random.getrandbits(2), int(rest == 0))
                self.answer(self.r, self.record.r, beat)

    def answer(self, channel: Source, all_answers: list[tuple[int, ...]], values: tuple[int, ...]) -> None:
        channel.queue.append(values)
        all_answers.append(values)
        self.served += 1

    def is_idle(self) -> bool:
        """Whether no burst arrived here in part."""
        return not any([self.aw.taken, self.bursts, self.ar.taken, self.b.queue, self.r.queue])


class Record(NamedTuple):
    """Of both paths, in the order in which they took requests and gave answers."""

    aw: list[tuple[int, ...]]
    w: list[tuple[int, ...]]
    ar: list[tuple[int, ...]]
    b: list[tuple[int, ...]]
    r: list[tuple[int, ...]]


class Limited(Source):
    """Addresses: no more bursts are open than the block counts."""

    def __init__(self, port: Side, channel: str, payload: list[str], ended: Callable[[], int]) -> None:
        super().__init__(port, f"{channel}_valid", f"{channel}_ready", payload)
        self.ended = ended

    def drive(self) -> None:
        held = self.queue
        if not self.is_offering and len(self.taken) - self.ended() >= MOST:
            self.queue = deque()
        super().drive()
        self.queue = held


def random_request() -> tuple[int, ...]:
    """Fields of an address channel. The paths give as many beats as they want, whatever the length is."""
    return tuple(random.getrandbits(bits) for bits in (5, 32, 8, 3, 2))


class Setup:
    """A bench with the master's channels."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.bench = Bench(dut, INPUTS)
        port = side(dut, "axi", is_manager=True)
        self.b = Sink(port, "b_valid", "b_ready", B)
        self.r = Sink(port, "r_valid", "r_ready", R)
        self.aw = Limited(port, "aw", AW, lambda: len(self.b.taken))
        self.w = Source(port, "w_valid", "w_ready", W)
        self.ar = Limited(port, "ar", AR, lambda: sum(beat[-1] for beat in self.r.taken))
        self.record = Record([], [], [], [], [])
        self.ways = [Way(dut, name, self.record) for name in WAYS]
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
            self.aw.queue.append(random_request())
            self.w.queue.extend(random_beats(random.randint(1, 4)))
        self.ar.queue.extend(random_request() for _ in range(reads))
        await self.answered(writes, reads)

    async def answered(self, writes: int, reads: int) -> None:
        """All responses are there: requests and responses passed unchanged and in their order."""

        def is_done() -> bool:
            ends = sum(beat[-1] for beat in self.r.taken)
            return len(self.b.taken) == writes and ends == reads

        await self.bench.run(is_done, 20000)
        channels = (self.aw, self.w, self.ar, self.b, self.r)
        for channel, seen in zip(channels, self.record):
            assert list(channel.taken) == seen
            channel.taken.clear()
            seen.clear()


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
            setup.aw.queue.append(random_request())
            setup.w.queue.extend(random_beats(1))
        else:
            setup.ar.queue.append(random_request())
        await setup.bench.cycles(1)
        setup.selector.way ^= 1
        await setup.answered(writes=number >> 1 & 1, reads=~number >> 1 & 1)
        assert setup.ways[number & 1].served > before
