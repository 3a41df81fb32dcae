"""`axi_lite_demux` between a master and register blocks that stall at random."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from axi_bundles import Side, side, vector
from cocotb.handle import HierarchyObject
from handshakes import ORDERS, STALLS, Bench, Part, Sink, Source, chance, gates

INPUTS = ["aw_select_i", "ar_select_i"]
DECERR = 3


class Targets(Part):
    """Register blocks: each write is an address and a word, each gets a response of its own."""

    def __init__(self, dut: HierarchyObject, count: int) -> None:
        self.count = count
        names = vector(dut, "target_o"), vector(dut, "target_i")
        names[1].clear()
        self.ports = [Side(*names, is_lite=True, index=index) for index in range(count)]
        self.stalls = 0.0
        # What each target got: addresses and words of writes, addresses of reads.
        self.addresses: list[list[int]] = [[] for _ in range(count)]
        self.words: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self.asked: list[list[int]] = [[] for _ in range(count)]
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
        for index, name in enumerate(("aw", "w", "ar")):
            self.ready[index] = sum(1 << t for t in range(self.count) if self.is_ready(name, t))
            for target, port in enumerate(self.ports):
                getattr(port, f"{name}_ready").value = self.ready[index] >> target & 1
        for target, port in enumerate(self.ports):
            if self.offering_b[target] is None and self.responses[target] and not chance(self.stalls):
                self.offering_b[target] = self.responses[target].popleft()
            if self.offering_r[target] is None and self.reads[target] and not chance(self.stalls):
                self.offering_r[target] = self.reads[target].popleft()
            port.b_valid.value = self.offering_b[target] is not None
            port.b_resp.value = self.offering_b[target] or 0
            port.r_valid.value = self.offering_r[target] is not None
            port.r_data.value, port.r_resp.value = self.offering_r[target] or (random.getrandbits(32), 0)

    def is_ready(self, name: str, target: int) -> bool:
        ahead = len(self.addresses[target]) - len(self.words[target])
        address, data = gates(self.order, ahead, self.are_offered[target])
        gate = {"aw": address, "w": data}.get(name)
        return not chance(self.stalls) if gate is None else gate

    def sample(self) -> None:
        for target, port in enumerate(self.ports):
            valid = port.aw_valid.value and port.w_valid.value
            self.are_offered[target] = bool(valid) and not (self.ready[0] | self.ready[1]) >> target & 1
            if port.aw_valid.value and self.ready[0] >> target & 1:
                self.addresses[target].append(port.aw_addr.value)
            if port.w_valid.value and self.ready[1] >> target & 1:
                self.words[target].append((port.w_data.value, port.w_strb.value))
            if min(len(self.addresses[target]), len(self.words[target])) > self.written[target]:
                self.written[target] += 1
                self.responses[target].append(random.choice([0, 2]))
            if port.ar_valid.value and self.ready[2] >> target & 1:
                self.asked[target].append(port.ar_addr.value)
                self.reads[target].append((random.getrandbits(32), random.choice([0, 2])))
            if self.offering_b[target] is not None and port.b_ready.value:
                self.answered.append((target, 0, self.offering_b[target]))
                self.offering_b[target] = None
            if self.offering_r[target] is not None and port.r_ready.value:
                self.answered.append((target, *self.offering_r[target]))
                self.offering_r[target] = None


class Master:
    """The five channels of the master."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = side(dut, "axil", is_manager=True, is_lite=True)
        # The selection belongs to the address, and is beside the port.
        port.aw_select, port.ar_select = dut.aw_select_i, dut.ar_select_i
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_select", "aw_addr"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb"])
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_select", "ar_addr"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_data", "r_resp"])
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
        addresses = [random.getrandbits(12) for _ in writes]
        words = [(random.getrandbits(32), random.getrandbits(4)) for _ in writes]
        before = [len(some) for some in targets.words]
        targets.answered.clear()
        master.aw.queue.extend(zip(writes, addresses))
        # Words may come before, with or after their addresses.
        master.w.queue.extend(words)
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
            of_target = [number for number, select in enumerate(writes) if select == 1 << target]
            assert targets.addresses[target][before[target] :] == [addresses[number] for number in of_target]
            assert targets.words[target][before[target] :] == [words[number] for number in of_target]


@cocotb.test()
async def reads_bring_the_data_of_their_target(dut):
    bench, master, targets = await setup(dut)
    for _ in range(20):
        targets.stalls = random.choice([0.0, 0.4, 0.8])
        for part in master.parts:
            part.stalls = random.choice([0.0, 0.5, 0.9])
        reads = [random.choice(selections(targets.count)) for _ in range(12)]
        addresses = [random.getrandbits(12) for _ in reads]
        before = [len(some) for some in targets.asked]
        targets.answered.clear()
        master.ar.queue.extend(zip(reads, addresses))
        await bench.run(lambda: len(master.r.taken) == len(reads))
        answers = iter(targets.answered)
        for select in reads:
            data, response = master.r.taken.popleft()
            if select == 0:
                assert (data, response) == (0, DECERR)
            else:
                target, expected_data, expected = next(answers)
                assert (1 << target, expected_data, expected) == (select, data, response)
        for target in range(targets.count):
            of_target = [address for select, address in zip(reads, addresses) if select == 1 << target]
            assert targets.asked[target][before[target] :] == of_target


@cocotb.test()
async def reads_and_writes_do_not_wait_for_each_other(dut):
    bench, master, targets = await setup(dut)
    # The response of a write is not taken, and reads continue.
    master.b.stalls = 1.0
    master.aw.queue.append((1, 0))
    master.w.queue.append((0, 0))
    master.ar.queue.extend((1, 0) for _ in range(5))
    await bench.run(lambda: len(master.r.taken) == 5)
    master.b.stalls = 0.0
    await bench.run(lambda: len(master.b.taken) == 1)
