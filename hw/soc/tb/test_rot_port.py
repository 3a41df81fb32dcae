"""`rot_port`: words of the core and bursts of the DMA engine and of the writer, each with responses of its own."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import STALLS, Bench, Sink, Source
from axi_parts import Channels, Memory, random_beats, side

INPUTS = [f"{name}_axi_i" for name in ("core", "dma", "writer", "mem")]
# Ids of all at memory, and what their requests say of size and kind of burst (AMBA AXI §A3.4.1).
CORE_ID, DMA_ID, WRITER_ID = 0, 2, 4
WORD, BEAT, INCR = 2, 3, 1
ONE_WORD = (0, WORD, INCR)
NUMBER = 8


class Dma(Channels):
    """Bursts, several at a time."""

    def __init__(self, dut: HierarchyObject, name: str = "dma_axi") -> None:
        port = side(dut, name, is_manager=True)
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_addr", "aw_len", "aw_size", "aw_burst"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb", "w_last"])
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_addr", "ar_len", "ar_size", "ar_burst"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_data", "r_resp", "r_last"])
        super().__init__([self.aw, self.w, self.ar, self.b, self.r])


class Core(Dma):
    """One access at a time, of a word; address and data of a write come together."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, "core_axi")
        self.waiting: deque[tuple[int, tuple[int, int] | None]] = deque()
        self.sent = 0

    def drive(self) -> None:
        if self.waiting and len(self.b.taken) + len(self.r.taken) == self.sent:
            address, data = self.waiting.popleft()
            self.sent += 1
            if data is None:
                self.ar.queue.append((address, *ONE_WORD))
            else:
                self.aw.queue.append((address, *ONE_WORD))
                self.w.queue.append((*data, 1))
        super().drive()


def bursts() -> tuple[list[tuple[int, int]], list[list[tuple[int, int, int]]]]:
    """Addresses with lengths, and beats."""
    writes = [(random.getrandbits(32), random.randrange(8)) for _ in range(NUMBER)]
    return writes, [random_beats(length + 1) for _, length in writes]


@cocotb.test()
async def each_gets_its_own_responses(dut: HierarchyObject) -> None:
    bench = Bench(dut, INPUTS)
    core, dma, writer = Core(dut), Dma(dut), Dma(dut, "writer_axi")
    memory = Memory(side(dut, "mem_axi", is_manager=False))
    await bench.start(core, dma, writer, memory)
    for _ in range(30):
        for port in (core, dma, writer):
            port.stall(STALLS)
        memory.stall(STALLS)
        memory.forget()
        words = [(random.getrandbits(32), random.choice([None, (random.getrandbits(64), 0xF)])) for _ in range(NUMBER)]
        core.waiting.extend(words)
        core.sent = 0
        (writes, beats), (results, result_beats) = bursts(), bursts()
        reads = [(random.getrandbits(32), random.randrange(8)) for _ in range(NUMBER)]
        for port, addresses, data in ((dma, writes, beats), (writer, results, result_beats)):
            port.aw.queue.extend((*address, BEAT, INCR) for address in addresses)
            port.w.queue.extend(beat for burst in data for beat in burst)
        dma.ar.queue.extend((*read, BEAT, INCR) for read in reads)
        count = sum(length + 1 for _, length in reads)

        def is_done(count: int = count) -> bool:
            are_words = len(core.b.taken) + len(core.r.taken) == NUMBER
            return are_words and (len(dma.b.taken), len(dma.r.taken), len(writer.b.taken)) == (NUMBER, count, NUMBER)

        await bench.run(is_done, 20000)
        of_core = [(CORE_ID, address, 0, WORD, INCR) for address, data in words if data is None]
        assert [request for request in memory.reads if request[0] == CORE_ID] == of_core
        assert [request for request in memory.reads if request[0] == DMA_ID] == [
            (DMA_ID, address, length, BEAT, INCR) for address, length in reads
        ]
        stored = [(address, [(*data, 1)]) for address, data in words if data is not None]
        assert memory.writes_of(CORE_ID) == [((CORE_ID, address, 0, WORD, INCR), data) for address, data in stored]
        for number, addresses, data in ((DMA_ID, writes, beats), (WRITER_ID, results, result_beats)):
            assert memory.writes_of(number) == [
                ((number, address, length, BEAT, INCR), burst) for (address, length), burst in zip(addresses, data)
            ]
        confirmed = lambda number: [rest for id_, *rest in map(list, memory.confirmed) if id_ == number]  # noqa: E731
        answered = lambda number: [tuple(rest) for id_, *rest in map(list, memory.answered) if id_ == number]  # noqa: E731
        assert [list(one) for one in core.b.taken] == confirmed(CORE_ID)
        assert [list(one) for one in dma.b.taken] == confirmed(DMA_ID)
        assert [list(one) for one in writer.b.taken] == confirmed(WRITER_ID)
        assert list(core.r.taken) == answered(CORE_ID)
        assert list(dma.r.taken) == answered(DMA_ID)
        for part in (core.b, core.r, dma.b, dma.r, writer.b):
            part.taken.clear()
