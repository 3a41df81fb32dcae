"""`axi_lite_registers`: every access is one, is answered once, and with its own error."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import side
from cocotb.handle import HierarchyObject
from handshakes import Bench, Part, Sink, Source

INPUTS = ["write_err_i", "read_data_i", "read_err_i"]
OKAY, SLVERR = 0, 2
COUNT = 200


class Owner(Part):
    """The owner of the registers: counts accesses, and sets the next answers."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.writes: list[tuple[int, int, int]] = []
        self.reads: list[tuple[int, int, int]] = []
        self.now = (0, 0, 0)

    def drive(self) -> None:
        self.now = (random.getrandbits(1), random.getrandbits(1), random.getrandbits(32))
        self.dut.write_err_i.value, self.dut.read_err_i.value, self.dut.read_data_i.value = self.now

    def sample(self) -> None:
        write_error, read_error, data = self.now
        if self.dut.write_o.value == 1:
            word = int(self.dut.write_addr_o.value), int(self.dut.write_data_o.value)
            self.writes.append((*word, SLVERR if write_error else OKAY))
        if self.dut.read_o.value == 1:
            answer = (0, SLVERR) if read_error else (data, OKAY)
            self.reads.append((int(self.dut.read_addr_o.value), *answer))


class Registers:
    def __init__(self, dut: HierarchyObject, stalls: float) -> None:
        self.bench, self.owner = Bench(dut, INPUTS), Owner(dut)
        port = side(dut, "axil", is_manager=True, is_lite=True)
        self.aw = Source(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Source(port, "w_valid", "w_ready", ["w_data", "w_strb"])
        self.ar = Source(port, "ar_valid", "ar_ready", ["ar_addr"])
        self.b = Sink(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Sink(port, "r_valid", "r_ready", ["r_data", "r_resp"])
        self.channels = [self.aw, self.w, self.ar, self.b, self.r]
        for channel in self.channels:
            channel.stalls = stalls

    async def run(self, writes: list[tuple[int, int, int]], reads: list[int]) -> None:
        """(address, data, strobes) of writes, addresses of reads; both at the same time."""
        await self.bench.start(*self.channels, self.owner)
        self.aw.queue.extend((address,) for address, _, _ in writes)
        self.w.queue.extend((data, strobes) for _, data, strobes in writes)
        self.ar.queue.extend((address,) for address in reads)
        counts = len(writes), len(reads)
        await self.bench.run(lambda: (len(self.b.taken), len(self.r.taken)) == counts)
        await self.bench.cycles(10)
        assert (len(self.b.taken), len(self.r.taken)) == counts, "more answers than accesses"


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def every_access_is_answered_as_its_owner_says(dut: HierarchyObject, stalls: float) -> None:
    registers = Registers(dut, stalls)
    writes = [(random.getrandbits(12), random.getrandbits(32), 0xF) for _ in range(COUNT)]
    reads = [random.getrandbits(12) for _ in range(COUNT)]
    await registers.run(writes, reads)
    seen = registers.owner.writes
    assert [(address, data) for address, data, _ in seen] == [(at, data) for at, data, _ in writes]
    assert [(response,) for _, _, response in seen] == list(registers.b.taken)
    assert [address for address, _, _ in registers.owner.reads] == reads
    assert [(data, response) for _, data, response in registers.owner.reads] == list(registers.r.taken)


@cocotb.test()
async def half_a_word_is_an_error_and_no_write(dut: HierarchyObject) -> None:
    registers = Registers(dut, 0.3)
    writes = [(4 * strobes, random.getrandbits(32), strobes) for strobes in range(15)]
    await registers.run(writes, [])
    assert registers.owner.writes == []
    assert set(registers.b.taken) == {(SLVERR,)}
