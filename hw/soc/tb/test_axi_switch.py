"""`axi_switch` between a master with one transaction at a time and two paths that answer differently."""

from __future__ import annotations

import random
from collections.abc import Callable

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part, Sink, Source, WriteOrder, chance

WAYS = ["direct", "coherent"]
INPUTS = ["coherent_i", "aw_valid_i", "w_valid_i", "b_ready_i", "ar_valid_i", "r_ready_i"]
INPUTS += [
    f"{way}_{name}"
    for way in WAYS
    for name in ("aw_ready_i", "w_ready_i", "b_valid_i", "b_resp_i", "ar_ready_i", "r_valid_i")
]
INPUTS += [f"{way}_{name}" for way in WAYS for name in ("r_data_i", "r_resp_i")]


class Selector(Part):
    """Selects the path of the next transaction; changes it at random."""

    def __init__(self, dut: HierarchyObject, flips: float) -> None:
        self.dut = dut
        self.flips = flips
        self.way = 0

    def drive(self) -> None:
        if chance(self.flips):
            self.way ^= 1
        self.dut.coherent_i.value = self.way


class Way(Part):
    """Memory at the end of one path: answers its requests, with data and responses of its own."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.aw = Sink(dut, f"{name}_aw_valid_o", f"{name}_aw_ready_i", [])
        self.w = Sink(dut, f"{name}_w_valid_o", f"{name}_w_ready_i", [])
        self.ar = Sink(dut, f"{name}_ar_valid_o", f"{name}_ar_ready_i", [])
        self.b = Source(dut, f"{name}_b_valid_i", f"{name}_b_ready_o", [f"{name}_b_resp_i"])
        answer = [f"{name}_r_data_i", f"{name}_r_resp_i"]
        self.r = Source(dut, f"{name}_r_valid_i", f"{name}_r_ready_o", answer)
        self.order = WriteOrder(self.aw, self.w)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.answers: list[tuple[int, ...]] = []

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        if self.aw.taken and self.w.taken:
            self.aw.taken.popleft()
            self.w.taken.popleft()
            self.answer(self.b, (random.choice([0, 2, 3]),))
        if self.ar.taken:
            self.ar.taken.popleft()
            self.answer(self.r, (random.getrandbits(64), random.choice([0, 2, 3])))

    def answer(self, channel: Source, values: tuple[int, ...]) -> None:
        channel.queue.append(values)
        self.answers.append(values)

    def is_idle(self) -> bool:
        """Whether no transaction arrived here in part."""
        return not any([self.aw.taken, self.w.taken, self.ar.taken, self.b.queue, self.r.queue])


class Setup:
    """A bench with the master's channels, which carry no payload through the switch."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.bench = Bench(dut, INPUTS)
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", [])
        self.w = Source(dut, "w_valid_i", "w_ready_o", [])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", [])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_resp_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", ["r_data_o", "r_resp_o"])
        self.ways = [Way(dut, name) for name in WAYS]
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

    async def transact(self, is_write: bool) -> tuple[int, ...]:
        """One transaction, until its response is there."""
        response: Sink = self.b if is_write else self.r
        for channel in [self.aw, self.w] if is_write else [self.ar]:
            channel.queue.append(())
        is_there: Callable[[], bool] = lambda: bool(response.taken)
        await self.bench.run(is_there)
        return response.taken.popleft()


@cocotb.test()
async def a_transaction_takes_one_way_whatever_happens_meanwhile(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    setup.selector.flips = 0.5
    await setup.start()
    counts = [0, 0]
    for number in range(600):
        if number % 50 == 0:
            setup.stall(0.8)
        before = [len(way.answers) for way in setup.ways]
        answer = await setup.transact(is_write=chance(0.5))
        served = [len(way.answers) - old for way, old in zip(setup.ways, before)]
        assert sorted(served) == [0, 1], "a transaction was served by both paths, or by none"
        way = setup.ways[served.index(1)]
        assert answer == way.answers[-1], "the response is from the other path"
        assert all(way.is_idle() for way in setup.ways), "a part of it took the other path"
        counts[served.index(1)] += 1
    assert min(counts) > 100


@cocotb.test()
async def what_begins_in_a_cycle_takes_the_way_of_that_cycle(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for number in range(40):
        setup.selector.way = number & 1
        setup.stall(0.5)
        # It is valid in the next cycle, and the path changes directly after it.
        setup.aw.stalls = setup.w.stalls = setup.ar.stalls = 0.0
        for channel in [setup.aw, setup.w] if number & 2 else [setup.ar]:
            channel.queue.append(())
        await setup.bench.cycles(1)
        setup.selector.way ^= 1
        response = setup.b if number & 2 else setup.r
        await setup.bench.run(lambda: bool(response.taken))
        assert response.taken.popleft() == setup.ways[number & 1].answers[-1]
