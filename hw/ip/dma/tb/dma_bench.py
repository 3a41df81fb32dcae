"""Shared by the tests of the DMA engine: memory, scratchpad and sinks around it, and what a list has to do."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from cocotb.handle import HierarchyObject
from handshakes import ORDERS, STALLS, Bench, Part, chance, gates

NONE, START, RESERVED, WRAP, SOURCE, DESTINATION, OVERLAP, ORDER, SCRATCHPAD, READ, WRITE, ABORT = range(12)
OKAY, SLVERR, DECERR = 0, 2, 3
BASE, SIZE = 0x8000_0000, 1 << 16
PAGE = 1 << 12
# Pages of the windows in most tests: the lower half of memory is read, the upper one written.
SOURCES = (BASE >> 12, (BASE + SIZE // 2 - 1) >> 12)
DESTINATIONS = ((BASE + SIZE // 2) >> 12, (BASE + SIZE - 1) >> 12)
NUM_SINKS = 3
ALL_SINKS = (1 << NUM_SINKS) - 1


@dataclass
class Descriptor:
    source: int
    length: int
    destination: int = 0
    reserved: int = 0

    def words(self) -> list[int]:
        return [self.length, self.source, self.destination, self.reserved]


class Scratchpad(Part):
    """Answers requests for words in order; counts how often each word is read."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.words: dict[int, int] = {}
        self.read: list[int] = []
        self.answers: deque[tuple[int, int]] = deque()
        self.stalls = 0.0
        self.bad: set[int] = set()
        # Called for each word that was read, after it: a rewrite by an attacker.
        self.after: Callable[[int], None] = lambda word: None
        self.is_granting = False
        self.asked: int | None = None

    def drive(self) -> None:
        self.is_granting = not chance(self.stalls)
        self.dut.scratch_gnt_i.value = int(self.is_granting)
        answers = bool(self.answers) and not chance(self.stalls)
        self.dut.scratch_rvalid_i.value = int(answers)
        data, error = self.answers.popleft() if answers else (random.getrandbits(32), 0)
        self.dut.scratch_rdata_i.value = data
        self.dut.scratch_err_i.value = error

    def sample(self) -> None:
        if self.dut.scratch_req_o.value != 1:
            assert self.asked is None, "a request to the scratchpad was taken back"
            return
        word = int(self.dut.scratch_word_o.value)
        assert self.asked in (None, word), "a request to the scratchpad changed"
        self.asked = None if self.is_granting else word
        if self.is_granting:
            self.read.append(word)
            self.answers.append((self.words.get(word, 0), int(word in self.bad)))
            self.after(word)

    def put(self, at: int, descriptors: list[Descriptor]) -> None:
        for index, descriptor in enumerate(descriptors):
            for offset, value in enumerate(descriptor.words()):
                self.words[256 * at + 4 * index + offset] = value


class Memory(Part):
    """A subordinate of AXI4 with 64 bits. It checks what reaches it, and answers late, in every order of address and
    data, and, if `is_single`, one transaction at a time."""

    def __init__(self, dut: HierarchyObject, seed: int = 1) -> None:
        self.dut = dut
        self.bytes = bytearray(random.Random(seed).randbytes(SIZE))
        self.latency = 2
        # Of responses to writes; without it, as of reads.
        self.write_latency: int | None = None
        self.stalls = 0.0
        self.order = ORDERS[0]
        self.is_single = False
        self.cycle = 0
        # Beats and bursts that are answered with an error, by their number since `forget`.
        self.bad_beats: dict[int, int] = {}
        self.bad_writes: dict[int, int] = {}
        self.forget()

    def forget(self) -> None:
        """Starts to count anew; nothing is open."""
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []
        self.due: deque[tuple[int, int, int, int]] = deque()
        self.beats = 0
        self.max_reads = 0
        self.open_reads = 0
        self.addresses: deque[tuple[int, int]] = deque()
        self.data: deque[tuple[int, int, int]] = deque()
        self.ahead = 0
        self.done: deque[tuple[int, int]] = deque()
        self.r_now: tuple[int, int, int] | None = None
        self.b_now: int | None = None
        self.ready = [False, False, False]
        self.offered: list[tuple[int, ...] | None] = [None, None, None]
        self.bytes_written: set[int] = set()

    def is_quiet(self) -> bool:
        return not any([self.due, self.addresses, self.data, self.done, self.r_now, self.b_now is not None])

    def drive(self) -> None:
        dut = self.dut
        both = self.offered[1] is not None and self.offered[2] is not None
        aw, w = gates(self.order, self.ahead, both)
        writing = bool(self.addresses or self.data or self.ahead)
        reading = self.open_reads > 0
        free = not chance(self.stalls)
        self.ready[0] = free and not (self.is_single and (writing or reading))
        self.ready[1] = not chance(self.stalls) if aw is None else aw
        self.ready[2] = not chance(self.stalls) if w is None else w
        if self.is_single and (reading or (self.offered[0] is not None and self.ready[0])):
            # A write waits until the read is over; the read never waits for the write.
            self.ready[1] = self.ready[2] = False
        dut.ar_ready_i.value, dut.aw_ready_i.value, dut.w_ready_i.value = map(int, self.ready)
        if self.r_now is None and self.due and self.due[0][0] <= self.cycle and not chance(self.stalls):
            _, *now = self.due.popleft()
            self.r_now = (now[0], now[1], now[2])
        dut.r_valid_i.value = int(self.r_now is not None)
        data, response, last = self.r_now or (random.getrandbits(64), 0, 0)
        dut.r_data_i.value, dut.r_resp_i.value, dut.r_last_i.value = data, response, last
        if self.b_now is None and self.done and self.done[0][0] <= self.cycle and not chance(self.stalls):
            self.b_now = self.done.popleft()[1]
        dut.b_valid_i.value = int(self.b_now is not None)
        dut.b_resp_i.value = self.b_now or 0

    def sample(self) -> None:
        dut = self.dut
        self.cycle += 1
        taken: list[tuple[int, ...] | None] = []
        for index, (name, payload) in enumerate(
            [("ar", ["addr", "len"]), ("aw", ["addr", "len"]), ("w", ["data", "strb", "last"])]
        ):
            if getattr(dut, f"{name}_valid_o").value != 1:
                assert self.offered[index] is None, f"{name} was taken back"
                taken.append(None)
                continue
            now = tuple(int(getattr(dut, f"{name}_{part}_o").value) for part in payload)
            assert self.offered[index] in (None, now), f"{name} changed while it waited"
            self.offered[index] = None if self.ready[index] else now
            taken.append(now if self.ready[index] else None)
        if self.r_now is not None:
            assert dut.r_ready_o.value == 1
            self.open_reads -= self.r_now[2]
            self.r_now = None
        if self.b_now is not None:
            assert dut.b_ready_o.value == 1
            self.b_now = None
        if taken[0] is not None:
            self.take_read(*taken[0])
        if taken[1] is not None:
            self.check(*taken[1])
            self.addresses.append((taken[1][0], taken[1][1]))
            self.ahead += 1
        if taken[2] is not None:
            self.data.append((taken[2][0], taken[2][1], taken[2][2]))
            self.ahead -= taken[2][2]
        self.carry_out()

    @staticmethod
    def check(address: int, length: int) -> None:
        assert address % 8 == 0 and length < 8
        assert address // PAGE == (address + 8 * length) // PAGE, "a burst crosses 4 KiB"
        assert BASE <= address and address + 8 * (length + 1) <= BASE + SIZE, f"no memory at {address:#x}"

    def take_read(self, address: int, length: int) -> None:
        self.check(address, length)
        self.reads.append((address, length))
        self.open_reads += 1
        self.max_reads = max(self.max_reads, self.open_reads)
        for beat in range(length + 1):
            at = address - BASE + 8 * beat
            data = int.from_bytes(self.bytes[at : at + 8], "little")
            response = self.bad_beats.get(self.beats, OKAY)
            self.beats += 1
            self.due.append((self.cycle + self.latency - 1, data, response, int(beat == length)))

    def carry_out(self) -> None:
        """A write whose address and data are complete."""
        if not self.addresses or len(self.data) <= self.addresses[0][1]:
            return
        address, length = self.addresses.popleft()
        for beat in range(length + 1):
            data, strobes, last = self.data.popleft()
            assert last == (beat == length), "the last beat is another one"
            for lane in range(8):
                if strobes >> lane & 1:
                    at = address - BASE + 8 * beat + lane
                    assert at not in self.bytes_written, "a byte is written twice"
                    self.bytes_written.add(at)
                    self.bytes[at] = data >> 8 * lane & 0xFF
        response = self.bad_writes.get(len(self.writes), OKAY)
        self.writes.append((address, length))
        self.done.append((self.cycle + (self.write_latency or self.latency) - 1, response))


class Sinks(Part):
    """What takes the message. `messages` are the complete ones, `None` for one that was aborted."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        # The first sink is the engine of `dma_hash`, and decides for itself when it takes a word.
        self.is_engine = hasattr(dut, "sink_ready_o")
        self.stalls = [0.0] * NUM_SINKS
        # Decides about `ready`, and is told whether a word was taken in the last cycle.
        self.gates: list[Callable[[bool], bool] | None] = [None] * NUM_SINKS
        self.took = [False] * NUM_SINKS
        self.parts: list[bytearray] = [bytearray() for _ in range(NUM_SINKS)]
        self.messages: list[list[bytes]] = [[] for _ in range(NUM_SINKS)]
        self.aborts = 0
        self.aborted_q = False
        self.ready = 0
        self.offered: list[tuple[int, ...] | None] = [None] * NUM_SINKS
        self.words = 0

    def drive(self) -> None:
        self.ready = 0
        for index, (stalls, gate) in enumerate(zip(self.stalls, self.gates)):
            is_ready = gate(self.took[index]) if gate else not chance(stalls)
            self.ready |= is_ready << index
        self.took = [False] * NUM_SINKS
        self.dut.sink_ready_i.value = self.ready

    def sample(self) -> None:
        dut = self.dut
        aborts = dut.sink_abort_o.value == 1
        if aborts:
            assert dut.sink_valid_o.value == 0, "a word comes with the abort"
            self.aborts += not self.aborted_q
            self.parts = [bytearray() for _ in range(NUM_SINKS)]
            self.offered = [None] * NUM_SINKS
        self.aborted_q = aborts
        valid = int(dut.sink_valid_o.value)
        if self.is_engine:
            self.ready = int(dut.sink_ready_o.value)
        for index in range(NUM_SINKS):
            if not valid >> index & 1:
                assert self.offered[index] is None or aborts, "a word was taken back"
                continue
            data, last, count = (int(getattr(dut, f"sink_{name}_o").value) for name in ("data", "last", "bytes"))
            now = (data & (1 << 8 * count) - 1, last, count)
            assert self.offered[index] in (None, now), "a word changed while it waited"
            assert last or count == 8, "a word in the middle is short"
            is_taken = self.ready >> index & 1
            self.offered[index] = None if is_taken else now
            if is_taken:
                self.words += 1
                self.took[index] = True
                self.parts[index] += data.to_bytes(8, "little")[:count]
                if last:
                    self.messages[index].append(bytes(self.parts[index]))
                    self.parts[index] = bytearray()


@dataclass
class Outcome:
    done: bool
    cause: int
    index: int
    cycles: int


@dataclass
class Events(Part):
    """Ends of lists."""

    dut: HierarchyObject
    ends: list[tuple[bool, int, int]] = field(default_factory=list)

    def sample(self) -> None:
        dut = self.dut
        assert not (dut.done_o.value == 1 and dut.failed_o.value == 1)
        if dut.done_o.value == 1 or dut.failed_o.value == 1:
            self.ends.append((dut.done_o.value == 1, int(dut.cause_o.value), int(dut.index_o.value)))


INPUTS = ["locked_i", "source_i", "destination_i", "start_i", "abort_i", "list_i", "count_i", "sinks_i"]
INPUTS += ["writes_i", "scratch_gnt_i", "scratch_rvalid_i", "scratch_rdata_i", "scratch_err_i"]
INPUTS += ["sink_ready_i", "ar_ready_i", "r_valid_i", "r_data_i", "r_resp_i", "r_last_i", "aw_ready_i"]
INPUTS += ["w_ready_i", "b_valid_i", "b_resp_i"]


class Setup:
    """`dma_core` with everything around it."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)
        self.memory, self.scratchpad = Memory(dut), Scratchpad(dut)
        self.sinks, self.events = Sinks(dut), Events(dut)

    async def start(self) -> None:
        await self.bench.start(self.scratchpad, self.memory, self.sinks, self.events)
        self.windows(SOURCES, DESTINATIONS)
        self.dut.locked_i.value = 1
        await self.bench.cycles(2)

    def windows(self, sources: tuple[int, int], destinations: tuple[int, int]) -> None:
        self.dut.source_i.value = sources[0] << 20 | sources[1]
        self.dut.destination_i.value = destinations[0] << 20 | destinations[1]

    def stall(self) -> None:
        """Chooses stalls of every side, and the order in which the subordinate answers."""
        self.memory.stalls, self.scratchpad.stalls = random.choice(STALLS[:3]), random.choice(STALLS[:3])
        self.memory.latency = random.choice([1, 2, 10, 40])
        self.memory.order = random.choice(ORDERS)
        self.memory.is_single = chance(0.3)
        self.sinks.stalls = [random.choice(STALLS[:3]) for _ in range(NUM_SINKS)]

    async def ring(self, descriptors: list[Descriptor], sinks: int = ALL_SINKS, writes: bool = False, at: int = 3) -> None:
        """The doorbell: starts a list."""
        dut = self.dut
        assert self.memory.is_quiet(), "something of the last list is under way"
        self.memory.forget()
        self.scratchpad.read.clear()
        self.events.ends.clear()
        self.scratchpad.put(at, descriptors)
        dut.list_i.value, dut.count_i.value = at, len(descriptors)
        dut.sinks_i.value, dut.writes_i.value = sinks, int(writes)
        dut.start_i.value = 1
        await self.bench.cycles(1)
        dut.start_i.value = 0

    async def carry_out(
        self, descriptors: list[Descriptor], sinks: int = ALL_SINKS, writes: bool = False, at: int = 3
    ) -> Outcome:
        """A list from the doorbell to its end."""
        start = self.bench.cycle
        await self.ring(descriptors, sinks, writes, at)
        return await self.end(start)

    async def end(self, start: int = 0) -> Outcome:
        await self.bench.run(lambda: bool(self.events.ends), 40_000)
        assert len(self.events.ends) == 1
        outcome = Outcome(*self.events.ends[0], self.bench.cycle - start)
        await self.bench.cycles(2)
        assert self.dut.busy_o.value == 0
        return outcome

    def message(self, descriptors: list[Descriptor]) -> bytes:
        parts = [self.memory.bytes[d.source - BASE : d.source - BASE + d.length] for d in descriptors if d.length]
        return b"".join(bytes(part) for part in parts)

    async def check(self, descriptors: list[Descriptor], sinks: int = ALL_SINKS, writes: bool = False, at: int = 3) -> int:
        """Carries a good list out, and compares messages and memory with what they have to be."""
        message, before = self.message(descriptors), bytes(self.memory.bytes)
        for messages in self.sinks.messages:
            messages.clear()
        outcome = await self.carry_out(descriptors, sinks, writes, at)
        assert (outcome.done, outcome.cause) == (True, NONE), outcome
        ends = [(d.source // 8, (d.source + d.length - 1) // 8) for d in descriptors if d.length]
        words = [word for first, last in ends for word in range(first, last + 1)]
        read = [address // 8 + beat for address, length in self.memory.reads for beat in range(length + 1)]
        assert read == words, "not each word once, in order"
        for index, messages in enumerate(self.sinks.messages):
            assert messages == ([message] if sinks >> index & 1 else []), f"sink {index}"
        after, place = bytearray(before), 0
        for descriptor in descriptors if writes else []:
            to = descriptor.destination - BASE
            if descriptor.length:
                after[to : to + descriptor.length] = message[place : place + descriptor.length]
            place += descriptor.length
        assert self.memory.bytes == after, "memory is not what it has to be"
        assert len(self.memory.bytes_written) == (len(message) if writes else 0)
        return outcome.cycles


def random_list(count: int, longest: int) -> list[Descriptor]:
    """Descriptors with sources anywhere and destinations that ascend."""
    descriptors, place = [], BASE + SIZE // 2 + random.randrange(64)
    for _ in range(count):
        length = random.choice([0, 1, 7, 8, 9, random.randrange(longest), random.randrange(longest)])
        source = BASE + random.randrange(SIZE // 2 - longest)
        if not length:
            descriptors.append(Descriptor(random.getrandbits(32), 0, random.getrandbits(32)))
            continue
        descriptors.append(Descriptor(source, length, place))
        place += length + random.choice([0, 0, 1, 5, 70])
    return descriptors
