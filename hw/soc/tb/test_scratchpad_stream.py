"""`scratchpad_stream`: a message is the bytes of its range and nothing else, whatever waits, and an abort ends it at any time."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Part, Sink, chance
from lite_page import OKAY, SLVERR, Page

SOURCE, COUNT, STATUS = 0x0, 0x4, 0x8
BUSY = 1
WORD = 8
HALF = 4  # what a source is a multiple of
INPUTS = ["scratch_gnt_i", "scratch_rvalid_i", "scratch_rdata_i", "str_ready_i"]


class Scratchpad(Part):
    """Random bytes, in words of 32 bits that come in order and at least `latency` cycles after their grants."""

    def __init__(self, dut: HierarchyObject, page: Page) -> None:
        self.dut = dut
        self.page = page
        self.size = 1 << int(dut.ScratchBits.value)
        self.bytes = random.randbytes(self.size)
        self.stalls = 0.0
        self.latency = 1
        self.due: deque[tuple[int, int]] = deque()
        self.read: list[int] = []

    def drive(self) -> None:
        cycle = self.page.bench.cycle
        is_answer = bool(self.due) and self.due[0][0] <= cycle and not chance(self.stalls)
        data = self.due.popleft()[1] if is_answer else random.getrandbits(32)
        self.grants = not chance(self.stalls)
        self.dut.scratch_rvalid_i.value = int(is_answer)
        self.dut.scratch_rdata_i.value = data
        self.dut.scratch_gnt_i.value = int(self.grants)

    def sample(self) -> None:
        if self.dut.scratch_req_o.value == 1 and self.grants:
            at = 4 * int(self.dut.scratch_word_o.value)
            self.read.append(at)
            word = int.from_bytes(self.bytes[at : at + 4], "little")
            self.due.append((self.page.bench.cycle + self.latency, word))


class Engine(Sink):
    """Takes words of a message. What is offered may be withdrawn after an abort alone."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, "str_valid_o", "str_ready_i", ["str_data_o", "str_last_o", "str_bytes_o"])
        self.abort = dut.str_abort_o
        self.aborts = 0

    def sample(self) -> None:
        super().sample()
        if self.abort.value == 1:
            self.aborts += 1
            self.offered = None


def words_of(message: bytes) -> list[tuple[int, int, int]]:
    """What the engine has to get: data, whether it is the last one, bytes."""
    cuts = [message[at : at + WORD] for at in range(0, max(len(message), 1), WORD)]
    last = len(cuts) - 1
    return [(int.from_bytes(cut, "little"), int(index == last), len(cut)) for index, cut in enumerate(cuts)]


class Stream:
    """The block with everything around it."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.page = Page(dut, INPUTS)
        self.scratchpad = Scratchpad(dut, self.page)
        self.engine = Engine(dut)
        self.size = self.scratchpad.size

    async def start(self) -> Stream:
        await self.page.start(self.scratchpad, self.engine)
        return self

    def stall(self) -> None:
        self.page.stall()
        self.scratchpad.stalls = random.choice(STALLS[:3])
        self.scratchpad.latency = random.choice([1, 2, 5, 9])
        self.engine.stalls = random.choice(STALLS[:3])

    async def begin(self, source: int, count: int) -> None:
        assert await self.page.write(SOURCE, source) == OKAY
        assert await self.page.write(COUNT, count) == OKAY

    async def until_idle(self) -> None:
        while await self.page.read(STATUS) != (0, OKAY):
            await self.page.bench.cycles(random.randrange(1, 8))

    async def send(self, source: int, count: int) -> None:
        """A message, which has to arrive."""
        self.engine.taken.clear()
        self.scratchpad.read.clear()
        await self.begin(source, count)
        await self.until_idle()
        expected = words_of(self.scratchpad.bytes[source : source + count])
        assert list(self.engine.taken) == expected
        # Each word once, in order, and none beside those of the message; the first one after the last one of the scratchpad.
        places = range(source, source + WORD * len(expected), HALF)
        assert self.scratchpad.read == [place % self.size for place in places]

    def place(self) -> tuple[int, int]:
        """A message somewhere: often at either end of the scratchpad."""
        count = random.choice([0, 1, 7, 8, 9, 15, 16, 17, random.randrange(self.size // 2)])
        last = (self.size - max(count, 1)) // HALF
        return HALF * random.choice([0, last, random.randrange(last)]), count


@cocotb.test()
async def a_message_is_the_bytes_of_its_range(dut: HierarchyObject) -> None:
    stream = await Stream(dut).start()
    for _ in range(60):
        stream.stall()
        await stream.send(*stream.place())


@cocotb.test()
async def words_follow_each_other_every_second_cycle(dut: HierarchyObject) -> None:
    """The scratchpad has one word of 32 bits a cycle."""
    stream = await Stream(dut).start()
    stream.scratchpad.latency = 5
    count = stream.size // 2
    await stream.begin(0, count)
    start = stream.page.bench.cycle
    await stream.page.bench.run(lambda: len(stream.engine.taken) == count // WORD)
    assert stream.page.bench.cycle - start <= 2 * (count // WORD) + 10


@cocotb.test()
async def what_is_not_in_the_scratchpad_is_refused(dut: HierarchyObject) -> None:
    stream = await Stream(dut).start()
    page, size = stream.page, stream.size
    for source in [1, 2, 7, size, size + WORD, 1 << 31, HALF * random.randrange(size // HALF) + random.randrange(1, HALF)]:
        assert await page.write(SOURCE, source) == SLVERR, hex(source)
    for source in [0, HALF, WORD, size - WORD, size - HALF]:
        assert await page.write(SOURCE, source) == OKAY
        # Without a bound the length would wrap.
        for count in [size - source + 1, size, 1 << 31, (1 << 32) - 1]:
            assert await page.write(COUNT, count) == SLVERR, (source, count)
        assert await page.read(STATUS) == (0, OKAY)
    assert not stream.scratchpad.read
    # All but one of its bytes, and its last ones.
    await stream.send(0, size - 1)
    await stream.send(size - WORD, WORD)
    await stream.send(size - HALF, HALF)


@cocotb.test()
async def a_message_is_not_changed_while_it_is_streamed(dut: HierarchyObject) -> None:
    stream = await Stream(dut).start()
    page = stream.page
    stream.engine.gate = lambda: False
    await stream.begin(16, 100)
    assert await page.write(SOURCE, 0) == SLVERR
    assert await page.write(COUNT, 1) == SLVERR
    assert await page.read(STATUS) == (BUSY, OKAY)
    stream.engine.gate = lambda: None
    await stream.until_idle()
    assert list(stream.engine.taken) == words_of(stream.scratchpad.bytes[16:116])
    # The source stays as well.
    stream.engine.taken.clear()
    assert await page.write(COUNT, 3) == OKAY
    await stream.until_idle()
    assert list(stream.engine.taken) == words_of(stream.scratchpad.bytes[16:19])


@cocotb.test()
async def other_accesses_are_errors(dut: HierarchyObject) -> None:
    stream = await Stream(dut).start()
    page = stream.page
    for address in [SOURCE, COUNT, 0xC, 0xFFC, 1]:
        assert await page.read(address) == (0, SLVERR)
    for address in [0xC, 0x10, 0xFFC, 1, 5]:
        assert await page.write(address, 8) == SLVERR
    for strobes in range(15):
        assert await page.write(COUNT, 8, strobes) == SLVERR
    assert await page.read(STATUS) == (0, OKAY)


@cocotb.test()
async def an_abort_at_any_time_leaves_nothing_for_the_next_message(dut: HierarchyObject) -> None:
    stream = await Stream(dut).start()
    cut = 0
    for wait in [*range(40), *(random.randrange(400) for _ in range(20))]:
        stream.stall()
        source, count = stream.place()
        message = words_of(stream.scratchpad.bytes[source : source + count])
        await stream.begin(source, count)
        await stream.page.bench.cycles(wait + 1)
        aborts, is_over = stream.engine.aborts, len(stream.engine.taken) == len(message)
        assert await stream.page.write(STATUS, random.getrandbits(32)) == OKAY
        await stream.until_idle()
        # A message that is over is not aborted, and another one at most once.
        assert stream.engine.aborts - aborts <= (0 if is_over else 1)
        taken = list(stream.engine.taken)
        # In the cycle of the abort the engine may take a word, which it has to forget.
        assert taken == message[: len(taken)]
        cut += len(taken) < len(message)
        assert stream.engine.aborts > aborts or taken == message
        await stream.send(*stream.place())
        stream.engine.taken.clear()
    assert cut > 5, "no abort was early"
