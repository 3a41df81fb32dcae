"""`tee_push`: pushed words and those of the DMA engine reach the hash engine in order, and none waits for ever."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import side
from cocotb.handle import HierarchyObject, Immediate
from handshakes import STALLS, Bench, Part, Sink, Source
from tee_bench import OKAY, SLVERR

INPUTS = ["upper_data_i", "upper_strb_i", "in_valid_i", "in_data_i", "in_last_i", "in_bytes_i", "in_abort_i", "out_ready_i"]
PUSH, END = 0x00, 0x80
# The ends of a message, by their numbers of bytes.
ENDS = [END + 8 * count for count in range(9)]
WHOLE = 0xFF
Word = tuple[int, int, int]


class Aborts(Part):
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.count = dut, 0

    def sample(self) -> None:
        self.count += int(self.dut.out_abort_o.value)


class Setup:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.bench, self.aborts = dut, Bench(dut, INPUTS), Aborts(dut)
        port = side(dut, "axil", is_manager=True, is_lite=True)
        # The upper half of a word is beside the port.
        port.upper_data, port.upper_strb = dut.upper_data_i, dut.upper_strb_i
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb", "upper_data", "upper_strb"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_resp"])
        self.dma = Source(dut, "in_valid_i", "in_ready_o", ["in_data_i", "in_last_i", "in_bytes_i"])
        self.hash = Sink(dut, "out_valid_o", "out_ready_i", ["out_data_o", "out_last_o", "out_bytes_o"])
        self.channels = [self.aw, self.w, self.b, self.dma, self.hash]

    async def start(self) -> None:
        # From the first moment on: before it, no rule holds.
        self.dut.clk_i.value, self.dut.rst_ni.value = Immediate(0), Immediate(0)
        await self.bench.start(*self.channels, self.aborts)

    def stall(self) -> None:
        for channel in self.channels:
            channel.stalls = random.choice(STALLS[:2])

    def store(self, address: int, data: int, strobes: int = WHOLE) -> None:
        self.aw.queue.append((address,))
        self.w.queue.append((data & 0xFFFF_FFFF, strobes & 0xF, data >> 32, strobes >> 4))

    async def done(self, count: int) -> list[int]:
        """Responses of so many stores."""
        await self.bench.run(lambda: len(self.b.taken) >= count)
        responses = [response for (response,) in self.b.taken]
        self.b.taken.clear()
        return responses

    async def passed(self) -> list[Word]:
        await self.bench.cycles(20)
        words = list(self.hash.taken)
        self.hash.taken.clear()
        return words


@cocotb.test()
async def pushed_words_arrive_in_order(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for size in range(20):
        setup.stall()
        words = [random.getrandbits(64) for _ in range(size)]
        for word in words:
            setup.store(PUSH, word)
        last, part = random.getrandbits(64), size % 9
        setup.store(ENDS[part], last)
        assert set(await setup.done(size + 1)) == {OKAY}
        assert await setup.passed() == [*((word, 0, 8) for word in words), (last, 1, part)]
    assert setup.aborts.count == 0


@cocotb.test()
async def other_stores_are_errors_and_push_nothing(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for address, strobes in [
        *((address, WHOLE) for address in (4, 8, 0x10, 0x78, 0x84, 0x89, ENDS[-1] + 8, 0xF8, 0x180, 0x800, 0x880, 0xFF8, 1, 9)),
        *((random.choice([PUSH, *ENDS]), strobes) for strobes in (0, 0xF, 0xF0, 0x7F, 0xFE)),
    ]:
        setup.stall()
        setup.store(address, random.getrandbits(64), strobes)
        assert await setup.done(1) == [SLVERR], hex(address)
        assert await setup.passed() == []
    # The next word is as if they had not been.
    setup.store(PUSH, 5)
    assert await setup.done(1) == [OKAY]
    assert await setup.passed() == [(5, 0, 8)]


@cocotb.test()
async def a_word_that_nobody_takes_is_dropped(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    patience = int(dut.Patience.value)
    setup.hash.gate = lambda: False
    setup.hash.sample = lambda: None  # type: ignore[method-assign]
    for count in range(1, 4):
        start, before = setup.bench.cycle, setup.aborts.count
        for _ in range(count):
            setup.store(PUSH, random.getrandbits(64))
        # The core goes on.
        assert await setup.done(count) == [OKAY] * count
        assert setup.bench.cycle - start < (patience + 4) * count
        await setup.bench.cycles(patience + 4)
        assert setup.aborts.count == before + count
        assert dut.out_valid_o.value == 0


@cocotb.test()
async def no_word_of_either_source_is_lost(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    for _ in range(20):
        setup.stall()
        pushed = [2 * random.getrandbits(63) for _ in range(20)]
        streamed = [2 * random.getrandbits(63) + 1 for _ in range(20)]
        for word in pushed:
            setup.store(PUSH, word)
        setup.dma.queue.extend((word, 0, 8) for word in streamed)
        await setup.done(20)
        await setup.bench.run(lambda: not setup.dma.queue)
        words = [word for word, _, _ in await setup.passed()]
        assert [word for word in words if word % 2 == 0] == pushed
        assert [word for word in words if word % 2 == 1] == streamed
    assert setup.aborts.count == 0


@cocotb.test()
async def an_abort_passes(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    dut.in_abort_i.value = 1
    await setup.bench.cycles(1)
    dut.in_abort_i.value = 0
    await setup.bench.cycles(3)
    assert setup.aborts.count == 1
