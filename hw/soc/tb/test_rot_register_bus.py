"""`rot_register_bus` between a core and blocks that stall at random."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import ORDERS, Bench, Core, Part, Request, bit, chance, gates

INPUTS = ["req_i", "we_i", "be_i", "addr_i", "wdata_i", "block_aw_ready_i", "block_w_ready_i"]
INPUTS += ["block_b_valid_i", "block_b_resp_i", "block_ar_ready_i", "block_r_valid_i", "block_r_data_i"]
INPUTS += ["block_r_resp_i"]
# soc_pkg, in the order of the blocks.
PAGES = [0x2, 0xF, 0x0, 0x1]
REGISTERS = 0x4000_0000
SLVERR = 2


class Blocks(Part):
    """Registers of all pages: an address and its data are taken in any order, then there is a response."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
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
        ready = lambda: sum(1 << block for block in range(len(PAGES)) if not chance(self.stalls))  # noqa: E731
        ahead = bool(self.address) - bool(self.data)
        for name, gate in zip(("aw", "w"), gates(self.order, ahead, self.are_offered)):
            full = (1 << len(PAGES)) - 1
            value = ready() if gate is None else full * gate
            getattr(self.dut, f"block_{name}_ready_i").value = value
        self.dut.block_ar_ready_i.value = ready()
        b_valid = r_valid = 0
        # Ignored inputs may have any value.
        r_data, b_resp, r_resp = (random.getrandbits(len(PAGES) * bits) for bits in (32, 2, 2))
        if self.address and self.data:
            block = self.address[0]
            b_valid = 1 << block
            b_resp = SLVERR * self.is_bad << 2 * block
        if self.read:
            block = self.read[0]
            r_valid = 1 << block
            r_data = (0 if self.is_bad else self.memory.get(self.read, 0)) << 32 * block
            r_resp = SLVERR * self.is_bad << 2 * block
        self.dut.block_b_valid_i.value = b_valid
        self.dut.block_b_resp_i.value = b_resp
        self.dut.block_r_valid_i.value = r_valid
        self.dut.block_r_data_i.value = r_data
        self.dut.block_r_resp_i.value = r_resp

    def sample(self) -> None:
        offset = int(self.dut.block_addr_o.value)
        before = self.address, self.data
        valid = self.dut.block_aw_valid_o, self.dut.block_w_valid_o
        for block in range(len(PAGES)):
            passes = lambda name, block=block: (  # noqa: E731
                bit(getattr(self.dut, f"block_{name}_valid_o"), block)
                and bit(getattr(self.dut, f"block_{name}_ready_i"), block)
            )
            taken = lambda name, block=block: (  # noqa: E731
                bit(getattr(self.dut, f"block_{name}_valid_i"), block)
                and bit(getattr(self.dut, f"block_{name}_ready_o"), block)
            )
            if taken("b"):
                assert self.address and self.data and self.address[0] == self.data[0] == block
                if not self.is_bad:
                    self.store(self.address, *self.data[1:])
                self.address = self.data = None
            if taken("r"):
                self.read = None
            if passes("aw"):
                assert self.address is None and self.read is None
                self.address = (block, offset)
            if passes("w"):
                assert self.data is None
                strobes = int(self.dut.block_w_strb_o.value)
                self.data = (block, int(self.dut.block_w_data_o.value), strobes)
            if passes("ar"):
                assert self.read is None and self.address is None
                self.read = (block, offset)
        are_valid = all(int(handle.value) for handle in valid)
        self.are_offered = are_valid and before == (self.address, self.data)

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
