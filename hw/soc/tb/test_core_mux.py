"""`core_mux` between two readers and a memory that stalls at random: answers go to who asked, and the first reader goes first."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import STALLS, Bench, Part, bit, chance

INPUTS = ["reader_req_i", "reader_word_i", "gnt_i", "rvalid_i"]
FIRST, SECOND = 0, 1


class Memory(Part):
    """Grants at random, and answers in the order of its grants."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.stalls = 0.0
        self.due: deque[int] = deque()
        self.answering: int | None = None

    def drive(self) -> None:
        self.answering = self.due.popleft() if self.due and not chance(self.stalls) else None
        self.grants = not chance(self.stalls)
        self.dut.rvalid_i.value = int(self.answering is not None)
        self.dut.gnt_i.value = int(self.grants)

    def sample(self) -> None:
        if self.dut.req_o.value == 1 and self.grants:
            self.due.append(int(self.dut.word_o.value))


class Readers(Part):
    """Two readers whose requests stay until they are granted."""

    def __init__(self, dut: HierarchyObject, bench: Bench, memory: Memory) -> None:
        self.dut = dut
        self.bench = bench
        self.memory = memory
        self.bits = int(dut.AddressBits.value)
        self.stalls = [0.0, 0.0]
        self.queues: list[deque[int]] = [deque(), deque()]
        self.waiting: list[deque[int]] = [deque(), deque()]
        self.asking = [False, False]
        # Cycles of grants; how long the first reader has asked in vain, and the longest time.
        self.grants: list[list[int]] = [[], []]
        self.patience = 0
        self.longest = 0

    def drive(self) -> None:
        words = 0
        for reader, queue in enumerate(self.queues):
            if not self.asking[reader] and queue:
                self.asking[reader] = not chance(self.stalls[reader])
            # Ignored inputs may have any value.
            word = queue[0] if self.asking[reader] else random.getrandbits(self.bits)
            words |= word << self.bits * reader
        self.dut.reader_req_i.value = self.asking[FIRST] | self.asking[SECOND] << 1
        self.dut.reader_word_i.value = words

    def sample(self) -> None:
        answered = [bit(self.dut.reader_rvalid_o, reader) for reader in (FIRST, SECOND)]
        assert sum(answered) == (self.memory.answering is not None), "an answer is lost or goes to both"
        for reader in (FIRST, SECOND):
            if answered[reader]:
                assert self.waiting[reader], "an answer without a request"
                assert self.waiting[reader].popleft() == self.memory.answering
        first_asks = self.asking[FIRST]
        for reader in (FIRST, SECOND):
            if self.asking[reader] and bit(self.dut.reader_gnt_o, reader):
                assert not (reader == SECOND and first_asks), "the second reader overtakes the first one"
                self.waiting[reader].append(self.queues[reader].popleft())
                self.grants[reader].append(self.bench.cycle)
                self.asking[reader] = False
        self.patience = self.patience + 1 if self.asking[FIRST] else 0
        self.longest = max(self.longest, self.patience)

    def is_idle(self) -> bool:
        return not any(self.queues) and not any(self.waiting)

    def ask(self, reader: int, count: int) -> None:
        self.queues[reader].extend(random.getrandbits(self.bits) for _ in range(count))


async def started(dut: HierarchyObject) -> tuple[Bench, Readers, Memory]:
    bench = Bench(dut, INPUTS)
    memory = Memory(dut)
    readers = Readers(dut, bench, memory)
    await bench.start(memory, readers)
    return bench, readers, memory


@cocotb.test()
async def every_reader_gets_its_own_answers(dut: HierarchyObject) -> None:
    bench, readers, memory = await started(dut)
    for _ in range(40):
        memory.stalls = random.choice(STALLS[:3])
        readers.stalls = [random.choice(STALLS[:3]) for _ in range(2)]
        for reader in (FIRST, SECOND):
            readers.ask(reader, random.choice([0, 1, 5, 40]))
        await bench.run(readers.is_idle)


@cocotb.test()
async def the_first_reader_waits_for_what_was_granted_only(dut: HierarchyObject) -> None:
    """Beside a second one that asks all the time."""
    bench, readers, _ = await started(dut)
    readers.stalls = [0.8, 0.0]
    readers.ask(SECOND, 500)
    readers.ask(FIRST, 50)
    await bench.run(readers.is_idle)
    # A request that was granted is answered in the next cycle here.
    assert readers.longest <= 2


@cocotb.test()
async def one_reader_alone_has_a_grant_in_every_cycle(dut: HierarchyObject) -> None:
    bench, readers, _ = await started(dut)
    for reader in (FIRST, SECOND):
        readers.ask(reader, 30)
        await bench.run(readers.is_idle)
        grants = readers.grants[reader]
        assert grants[-1] - grants[0] == 29
