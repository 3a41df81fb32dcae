"""`bench_registers`: every store reaches the bench once, every load gets the cycles since reset."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import Side, side
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Part, Sink, Source

COUNT = 100


class Cpp(Part):
    """The other end: what C++ sees of each store. Its clock counts from the end of reset, as the register does."""

    def __init__(self, dut: HierarchyObject, port: Side) -> None:
        self.dut, self.port = dut, port
        self.writes: list[tuple[int, int]] = []
        self.cycle = 0
        # When each load passed.
        self.loads: list[int] = []

    def sample(self) -> None:
        if self.dut.write_o.value == 1:
            self.writes.append((int(self.dut.write_addr_o.value), int(self.dut.write_data_o.value)))
        if self.port.ar_valid.value and self.port.ar_ready.value:
            self.loads.append(self.cycle)
        self.cycle += 1


class Registers:
    """One access at a time, as the register bus makes them."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = side(dut, "axil", is_manager=True, is_lite=True)
        self.bench, self.cpp = Bench(dut, []), Cpp(dut, port)
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb"])
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_addr"])
        self.b = Sink(port, "b_valid", "b_ready", [])
        self.r = Sink(port, "r_valid", "r_ready", ["r_data"])
        self.channels = [self.aw, self.w, self.ar, self.b, self.r]

    async def start(self) -> None:
        await self.bench.start(*self.channels, self.cpp)

    def stall(self) -> None:
        for channel in self.channels:
            channel.stalls = random.choice([0.0, 0.3, 0.8])

    async def store(self, address: int, data: int, strobes: int = 0xF) -> None:
        self.aw.queue.append((address,))
        self.w.queue.append((data, strobes))
        await self.bench.run(lambda: bool(self.b.taken))
        self.b.taken.popleft()

    async def load(self, address: int) -> int:
        self.ar.queue.append((address,))
        await self.bench.run(lambda: bool(self.r.taken))
        return self.r.taken.popleft()[0]


def random_register() -> int:
    return random.choice([0x0, 0x4, 0x8, 0xC, 4 * random.randrange(1024)])


@cocotb.test()
async def every_store_reaches_the_bench_once(dut):
    registers = Registers(dut)
    await registers.start()
    stores = [(random_register(), random.getrandbits(32)) for _ in range(COUNT)]
    for number, store in enumerate(stores):
        if number % 10 == 0:
            registers.stall()
        await registers.store(*store)
        assert registers.cpp.writes[number:] == [store]
    # A part of a word is no store: a character is written as a word.
    await registers.store(0x0, 0x41, strobes=0x1)
    assert len(registers.cpp.writes) == COUNT


@cocotb.test()
async def every_load_gets_the_cycles_since_reset(dut):
    registers = Registers(dut)
    await registers.start()
    got = []
    for number in range(COUNT):
        if number % 10 == 0:
            registers.stall()
        got.append(await registers.load(random_register()))
    # The difference is that of the reset, the same for all of them.
    starts = {data - cycle for data, cycle in zip(got, registers.cpp.loads)}
    assert len(starts) == 1, f"the counter does not count cycles: {sorted(starts)}"
    assert 0 <= starts.pop() <= 1
    assert not registers.cpp.writes
