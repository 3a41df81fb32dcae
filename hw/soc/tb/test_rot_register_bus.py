"""`rot_register_bus` between a core and blocks that stall at random."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import Side, vector
from cocotb.handle import HierarchyObject
from soc_bench import ORDERS, Bench, Core, Part, Request, chance, gates

INPUTS = ["req_i", "we_i", "be_i", "addr_i", "wdata_i"]
# soc_pkg, in the order of the blocks.
PAGES = [0x2, 0xF, 0x0, 0x1]
REGISTERS = 0x4000_0000
SLVERR = 2


class Blocks(Part):
    """Registers of all pages: an address and its data are taken in any order, then there is a response."""

    def __init__(self, dut: HierarchyObject) -> None:
        requests, responses = vector(dut, "block_o"), vector(dut, "block_i")
        responses.clear()
        self.ports = [Side(requests, responses, is_lite=True, index=index) for index in range(len(PAGES))]
        self.stalls = 0.0
        self.memory: dict[tuple[int, int], int] = {}
        # Of the open write and read: block, and what it got.
        self.address: tuple[int, int] | None = None
        self.data: tuple[int, int, int] | None = None
        self.read: tuple[int, int] | None = None
        self.is_bad = False
        self.order = ORDERS[0]
        # Address and data were both valid, and neither was taken.
        self.are_offered = False

    def drive(self) -> None:
        ahead = bool(self.address) - bool(self.data)
        write_gates = gates(self.order, ahead, self.are_offered)
        for block, port in enumerate(self.ports):
            for ready, gate in zip((port.aw_ready, port.w_ready), write_gates):
                ready.value = not chance(self.stalls) if gate is None else gate
            port.ar_ready.value = not chance(self.stalls)
            # Inputs that are ignored may have any value.
            port.b_resp.value, port.r_resp.value = random.getrandbits(2), random.getrandbits(2)
            port.r_data.value = random.getrandbits(32)
            port.b_valid.value = bool(self.address and self.data and self.address[0] == block)
            port.r_valid.value = bool(self.read and self.read[0] == block)
        if self.address and self.data:
            self.ports[self.address[0]].b_resp.value = SLVERR * self.is_bad
        if self.read:
            port = self.ports[self.read[0]]
            port.r_data.value = 0 if self.is_bad else self.memory.get(self.read, 0)
            port.r_resp.value = SLVERR * self.is_bad

    def sample(self) -> None:
        before = self.address, self.data
        aw_valid = w_valid = False
        for block, port in enumerate(self.ports):
            passes = lambda name, port=port: (  # noqa: E731
                getattr(port, f"{name}_valid").value and getattr(port, f"{name}_ready").value
            )
            aw_valid |= port.aw_valid.value == 1
            w_valid |= port.w_valid.value == 1
            if passes("b"):
                assert self.address and self.data and self.address[0] == self.data[0] == block
                if not self.is_bad:
                    self.store(self.address, *self.data[1:])
                self.address = self.data = None
            if passes("r"):
                self.read = None
            if passes("aw"):
                assert self.address is None and self.read is None
                self.address = (block, port.aw_addr.value)
            if passes("w"):
                assert self.data is None
                self.data = (block, port.w_data.value, port.w_strb.value)
            if passes("ar"):
                assert self.read is None and self.address is None
                self.read = (block, port.ar_addr.value)
        self.are_offered = aw_valid and w_valid and before == (self.address, self.data)

    def store(self, place: tuple[int, int], data: int, strobes: int) -> None:
        mask = sum(0xFF << 8 * lane for lane in range(4) if strobes >> lane & 1)
        self.memory[place] = self.memory.get(place, 0) & ~mask | data & mask


async def setup(dut: HierarchyObject) -> tuple[Core, Blocks]:
    bench = Bench(dut, INPUTS)

    def present(request: Request) -> None:
        dut.we_i.value = int(request.write)
        dut.be_i.value = request.strobes
        dut.addr_i.value = request.address
        dut.wdata_i.value = request.data

    core, blocks = Core(dut, bench, present), Blocks(dut)
    await bench.start(blocks, core)
    return core, blocks


@cocotb.test()
async def every_word_is_in_the_block_of_its_page(dut):
    core, blocks = await setup(dut)
    for round_number in range(12):
        blocks.stalls = [0.0, 0.3, 0.8][round_number % 3]
        blocks.order = ORDERS[round_number % len(ORDERS)]
        words = {}
        for block, page in enumerate(PAGES):
            for _ in range(6):
                offset = random.getrandbits(10) << 2
                words[block, offset] = random.getrandbits(32)
        order = random.sample(list(words), len(words))
        address = lambda place: REGISTERS | PAGES[place[0]] << 12 | place[1]  # noqa: E731
        writes = [Request(address(place), write=True, data=words[place]) for place in order]
        answers = await core.do(*writes)
        assert all(request.answer[2] == 0 for request in answers)
        assert all(blocks.memory[place] == words[place] for place in order)
        reads = await core.do(*[Request(address(place)) for place in order])
        assert [request.answer[1:] for request in reads] == [(words[place], 0) for place in order]


@cocotb.test()
async def an_error_of_a_block_and_an_empty_page_are_errors(dut):
    core, blocks = await setup(dut)
    blocks.is_bad = True
    for page in range(16):
        for write in (False, True):
            (request,) = await core.do(Request(REGISTERS | page << 12 | 8, write=write, data=1))
            assert request.answer[1:] == (0, 1), f"page {page:#x}"
    assert not blocks.memory


@cocotb.test()
async def no_access_is_faster_than_its_latency(dut):
    core, blocks = await setup(dut)
    latency = int(dut.Latency.value)
    for page in (*PAGES, 0x7):
        (request,) = await core.do(Request(REGISTERS | page << 12))
        assert request.answer[0] - request.granted >= latency
