"""`first_stage_ram` against a list: bursts of the host, words of the verification unit, the verdict in between."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import side
from soc_bench import STALLS, Bench, Sink, Source, chance

INPUTS = ["write_i", "word_i", "data_i", "open_i", "axi_i"]
OKAY, SLVERR = 0, 2
# The memory ignores the upper bits of an address.
BASE = 0x1000_0000


class Setup:
    """The memory with a host that reads and writes, and the contents that it should have."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.words = int(dut.Words.value)
        self.bench = Bench(dut, INPUTS)
        port = side(dut, "axi", is_manager=True)
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_id", "ar_addr", "ar_len"])
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_id"])
        self.w = Source(port, "w_valid", "w_ready", ["w_last"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_id", "r_data", "r_resp", "r_last"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_id", "b_resp"])
        self.contents = [random.getrandbits(64) for _ in range(self.words)]

    async def start(self) -> None:
        await self.bench.start()
        await self.bench.cycles(2)
        self.dut.write_i.value = 1
        for word, value in enumerate(self.contents):
            self.dut.word_i.value = word
            self.dut.data_i.value = value
            await self.bench.cycles(1)
        self.dut.write_i.value = 0
        self.bench.parts = [self.ar, self.aw, self.w, self.r, self.b]

    def stall(self) -> None:
        for part in self.bench.parts:
            part.stalls = random.choice(STALLS[:3])

    async def read(self, word: int, count: int) -> list[tuple[int, ...]]:
        """A burst: (id, data, response, last) of each beat."""
        before, name = len(self.r.taken), random.getrandbits(5)
        self.ar.queue.append((name, BASE + 8 * word, count - 1))
        await self.bench.run(lambda: len(self.r.taken) >= before + count)
        beats = list(self.r.taken)[before:]
        assert [beat[0] for beat in beats] == [name] * count
        assert [beat[3] for beat in beats] == [0] * (count - 1) + [1]
        return beats

    def burst(self) -> tuple[int, int]:
        count = random.choice([1, 1, 2, 8, 16])
        return random.randrange(self.words - count + 1), count


@cocotb.test()
async def answers_bursts_with_what_was_written(dut):
    setup = Setup(dut)
    await setup.start()
    dut.open_i.value = 1
    for _ in range(60):
        setup.stall()
        word, count = setup.burst()
        beats = await setup.read(word, count)
        assert [beat[1] for beat in beats] == setup.contents[word : word + count]
        assert {beat[2] for beat in beats} == {OKAY}


@cocotb.test()
async def a_beat_takes_a_cycle(dut):
    setup = Setup(dut)
    await setup.start()
    dut.open_i.value = 1
    cycles = {}
    for count in [1, 2, 8]:
        start = setup.bench.cycle
        await setup.read(0, count)
        cycles[count] = setup.bench.cycle - start
    assert cycles == {1: 2, 2: 3, 8: 9}, cycles


@cocotb.test()
async def shows_nothing_while_it_is_closed(dut):
    """Also the rest of a burst that an alert cuts."""
    setup = Setup(dut)
    await setup.start()
    for is_open in [0, 1, 0]:
        dut.open_i.value = is_open
        for _ in range(10):
            word, count = setup.burst()
            beats = await setup.read(word, count)
            shown = setup.contents[word : word + count] if is_open else [0] * count
            assert [beat[1] for beat in beats] == shown, "closed contents were read"
            assert {beat[2] for beat in beats} == {OKAY if is_open else SLVERR}
    for cut in range(10):
        dut.open_i.value = 1
        setup.stall()
        before = len(setup.r.taken)
        setup.ar.queue.append((1, BASE, 7))
        await setup.bench.run(lambda before=before, cut=cut: len(setup.r.taken) >= before + min(cut, 7))
        dut.open_i.value = 0
        seen = len(setup.r.taken)
        await setup.bench.run(lambda before=before: len(setup.r.taken) >= before + 8)
        assert all(beat[1] == 0 and beat[2] == SLVERR for beat in list(setup.r.taken)[seen:])


@cocotb.test()
async def refuses_every_write_of_the_bus(dut):
    """Whatever comes first, address or data, and while reads go on."""
    setup = Setup(dut)
    await setup.start()
    dut.open_i.value = 1
    for _ in range(40):
        setup.stall()
        before, count = len(setup.b.taken), random.choice([1, 2, 8])
        name = random.getrandbits(5)
        if chance(0.5):
            setup.aw.queue.append((name,))
        setup.w.queue.extend([(0,)] * (count - 1) + [(1,)])
        if chance(0.5):
            await setup.bench.cycles(random.randrange(12))
        if not setup.aw.queue and not setup.aw.is_offering and len(setup.aw.taken) <= before:
            setup.aw.queue.append((name,))
        await setup.bench.run(lambda before=before: len(setup.b.taken) > before)
        assert setup.b.taken[-1] == (name, SLVERR)
        word, count = setup.burst()
        beats = await setup.read(word, count)
        assert [beat[1] for beat in beats] == setup.contents[word : word + count]
