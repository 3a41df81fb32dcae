"""`axi_lite_demux` between a master and register blocks that stall at random."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import ORDERS, STALLS, Bench, Part, Sink, Source, bit, chance, gates

INPUTS = ["aw_select_i", "aw_valid_i", "w_valid_i", "b_ready_i", "ar_select_i", "ar_valid_i"]
INPUTS += ["r_ready_i", "target_aw_ready_i", "target_w_ready_i", "target_b_valid_i"]
INPUTS += ["target_b_resp_i", "target_ar_ready_i", "target_r_valid_i", "target_r_data_i"]
INPUTS += ["target_r_resp_i"]
DECERR = 3


class Targets(Part):
    """Register blocks: each write is an address and a word, each gets a response of its own."""

    def __init__(self, dut: HierarchyObject, count: int) -> None:
        self.dut = dut
        self.count = count
        self.stalls = 0.0
        self.addresses = [0] * count
        self.words = [0] * count
        self.written = [0] * count
        self.responses: list[deque[int]] = [deque() for _ in range(count)]
        self.reads: list[deque[tuple[int, int]]] = [deque() for _ in range(count)]
        self.offering_b: list[int | None] = [None] * count
        self.offering_r: list[tuple[int, int] | None] = [None] * count
        # In the order of the accesses, what was answered: (target, data, response).
        self.answered: list[tuple[int, int, int]] = []
        self.ready = [0, 0, 0]
        self.order = ORDERS[0]
        # By target: address and data were both valid, and neither was taken.
        self.are_offered = [False] * count

    def drive(self) -> None:
        dut = self.dut
        for index, name in enumerate(("aw", "w", "ar")):
            self.ready[index] = sum(1 << t for t in range(self.count) if self.is_ready(name, t))
            getattr(dut, f"target_{name}_ready_i").value = self.ready[index]
        b_valid = b_resp = r_valid = r_data = r_resp = 0
        for target in range(self.count):
            if self.offering_b[target] is None and self.responses[target] and not chance(self.stalls):
                self.offering_b[target] = self.responses[target].popleft()
            if self.offering_r[target] is None and self.reads[target] and not chance(self.stalls):
                self.offering_r[target] = self.reads[target].popleft()
            b_valid |= (self.offering_b[target] is not None) << target
            b_resp |= (self.offering_b[target] or 0) << 2 * target
            data, resp = self.offering_r[target] or (random.getrandbits(32), 0)
            r_valid |= (self.offering_r[target] is not None) << target
            r_data |= data << 32 * target
            r_resp |= resp << 2 * target
        dut.target_b_valid_i.value, dut.target_b_resp_i.value = b_valid, b_resp
        dut.target_r_valid_i.value, dut.target_r_data_i.value = r_valid, r_data
        dut.target_r_resp_i.value = r_resp

    def is_ready(self, name: str, target: int) -> bool:
        ahead = self.addresses[target] - self.words[target]
        address, data = gates(self.order, ahead, self.are_offered[target])
        gate = {"aw": address, "w": data}.get(name)
        return not chance(self.stalls) if gate is None else gate

    def sample(self) -> None:
        dut = self.dut
        for target in range(self.count):
            valid = bit(dut.target_aw_valid_o, target) and bit(dut.target_w_valid_o, target)
            self.are_offered[target] = bool(valid) and not (self.ready[0] | self.ready[1]) >> target & 1
            if bit(dut.target_aw_valid_o, target) and self.ready[0] >> target & 1:
                self.addresses[target] += 1
            if bit(dut.target_w_valid_o, target) and self.ready[1] >> target & 1:
                self.words[target] += 1
            if min(self.addresses[target], self.words[target]) > self.written[target]:
                self.written[target] += 1
                self.responses[target].append(random.choice([0, 2]))
            if bit(dut.target_ar_valid_o, target) and self.ready[2] >> target & 1:
                self.reads[target].append((random.getrandbits(32), random.choice([0, 2])))
            if self.offering_b[target] is not None and bit(dut.target_b_ready_o, target):
                self.answered.append((target, 0, self.offering_b[target]))
                self.offering_b[target] = None
            if self.offering_r[target] is not None and bit(dut.target_r_ready_o, target):
                self.answered.append((target, *self.offering_r[target]))
                self.offering_r[target] = None


class Master:
    """The five channels of the master."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", ["aw_select_i"])
        self.w = Source(dut, "w_valid_i", "w_ready_o", [])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", ["ar_select_i"])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_resp_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", ["r_data_o", "r_resp_o"])
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r]


async def setup(dut: HierarchyObject) -> tuple[Bench, Master, Targets]:
    bench, master = Bench(dut, INPUTS), Master(dut)
    targets = Targets(dut, int(dut.NumTargets.value))
    await bench.start(targets, *master.parts)
    return bench, master, targets


def selections(count: int) -> list[int]:
    """One target, or none."""
    return [0, *(1 << target for target in range(count))]


@cocotb.test()
async def every_access_reaches_its_target_alone(dut):
    bench, master, targets = await setup(dut)
    for _ in range(20):
        targets.stalls = random.choice(STALLS)
        targets.order = random.choice(ORDERS)
        for part in master.parts:
            part.stalls = random.choice([0.0, 0.5, 0.9])
        writes = [random.choice(selections(targets.count)) for _ in range(12)]
        before = list(targets.words)
        targets.answered.clear()
        master.aw.queue.extend((select,) for select in writes)
        # Words may come before, with or after their addresses.
        master.w.queue.extend(() for _ in writes)
        await bench.run(lambda: len(master.b.taken) == len(writes))
        answers = iter(targets.answered)
        for select in writes:
            (response,) = master.b.taken.popleft()
            if select == 0:
                assert response == DECERR
            else:
                target, _, expected = next(answers)
                assert (1 << target, expected) == (select, response)
        for target in range(targets.count):
            assert targets.words[target] - before[target] == writes.count(1 << target)
        assert targets.words == targets.addresses


@cocotb.test()
async def reads_bring_the_data_of_their_target(dut):
    bench, master, targets = await setup(dut)
    for _ in range(20):
        targets.stalls = random.choice([0.0, 0.4, 0.8])
        for part in master.parts:
            part.stalls = random.choice([0.0, 0.5, 0.9])
        reads = [random.choice(selections(targets.count)) for _ in range(12)]
        targets.answered.clear()
        master.ar.queue.extend((select,) for select in reads)
        await bench.run(lambda: len(master.r.taken) == len(reads))
        answers = iter(targets.answered)
        for select in reads:
            data, response = master.r.taken.popleft()
            if select == 0:
                assert (data, response) == (0, DECERR)
            else:
                target, expected_data, expected = next(answers)
                assert (1 << target, expected_data, expected) == (select, data, response)


@cocotb.test()
async def reads_and_writes_do_not_wait_for_each_other(dut):
    bench, master, targets = await setup(dut)
    # The response of a write is not taken, and reads continue.
    master.b.stalls = 1.0
    master.aw.queue.append((1,))
    master.w.queue.append(())
    master.ar.queue.extend((1,) for _ in range(5))
    await bench.run(lambda: len(master.r.taken) == 5)
    master.b.stalls = 0.0
    await bench.run(lambda: len(master.b.taken) == 1)
