"""`core_to_axi` between a core and a slave that stalls, fails and falls silent."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from axi_bundles import side
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Core, Part, Request, Sink, Source, WriteOrder, chance
from test_core_memory import merged

INPUTS = ["req_i", "we_i", "be_i", "addr_i", "wdata_i", "axi_i"]
# Fields of a request that is one word (AMBA AXI §A3.4.1): id, length, size, and kind of burst.
WORD = (0, 0, 2, 1)
OKAY, SLVERR, DECERR = 0, 2, 3


class Slave(Part):
    """Memory of words; the part of it at `FAILS` answers with errors."""

    FAILS = 0x9000_0000

    def __init__(self, dut: HierarchyObject) -> None:
        self.lanes = int(dut.DataBits.value) // 32
        port = side(dut, "axi", is_manager=False)
        fields = ["addr", "id", "len", "size", "burst"]
        self.aw = Sink(port, "aw_valid", "aw_ready", [f"aw_{field}" for field in fields])
        self.w = Sink(port, "w_valid", "w_ready", ["w_data", "w_strb", "w_last"])
        self.ar = Sink(port, "ar_valid", "ar_ready", [f"ar_{field}" for field in fields])
        self.b = Source(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Source(port, "r_valid", "r_ready", ["r_data", "r_resp"])
        self.order = WriteOrder(self.aw, self.w)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.memory: dict[int, int] = {}
        self.is_silent = False
        self.held: deque[tuple[Source, tuple[int, ...]]] = deque()

    def stall(self, probability: float) -> None:
        for part in self.parts:
            part.stalls = probability

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        if self.ar.taken:
            address, *kind = self.ar.taken.popleft()
            assert tuple(kind) == WORD
            self._answer(self.r, self._read(address))
        if self.aw.taken and self.w.taken:
            (address, *kind), (data, strobes, last) = self.aw.taken.popleft(), self.w.taken.popleft()
            assert tuple(kind) == WORD and last == 1
            self._answer(self.b, (self._write(address, data, strobes),))
        while self.held and not self.is_silent:
            source, answer = self.held.popleft()
            source.queue.append(answer)

    def _answer(self, source: Source, answer: tuple[int, ...]) -> None:
        self.held.append((source, answer))

    def _lane(self, address: int) -> int:
        return address // 4 % self.lanes

    def _read(self, address: int) -> tuple[int, int]:
        assert address % 4 == 0
        if address >= self.FAILS:
            # Data of a failed access.
            return random.getrandbits(32 * self.lanes), random.choice([SLVERR, DECERR])
        lane = 32 * self._lane(address)
        noise = random.getrandbits(32 * self.lanes) & ~(0xFFFF_FFFF << lane)
        return noise | self.memory.get(address, 0) << lane, OKAY

    def _write(self, address: int, data: int, strobes: int) -> int:
        lane = self._lane(address)
        assert strobes & ~(0xF << 4 * lane) == 0, "a strobe outside the word"
        if address >= self.FAILS:
            return random.choice([SLVERR, DECERR])
        old = self.memory.get(address, 0)
        self.memory[address] = merged(old, data >> 32 * lane & 0xFFFF_FFFF, strobes >> 4 * lane & 0xF)
        return OKAY


async def setup(dut: HierarchyObject) -> tuple[Core, Slave]:
    bench = Bench(dut, INPUTS)

    def present(request: Request) -> None:
        dut.we_i.value = int(request.write)
        dut.be_i.value = request.strobes
        dut.addr_i.value = request.address
        dut.wdata_i.value = request.data

    core, slave = Core(dut, bench, present, outstanding=1), Slave(dut)
    await bench.start(slave, core)
    return core, slave


def latency(request: Request) -> int:
    return request.answer[0] - request.granted


def random_request() -> Request:
    base = Slave.FAILS if chance(0.2) else 0x8000_0000
    # Addresses of bytes within words are passed unchanged: strobes select the bytes.
    address = base + random.randrange(64)
    return Request(address, chance(0.5), random.getrandbits(32), random.getrandbits(4))


@cocotb.test()
async def words_arrive_and_errors_are_reported(dut):
    core, slave = await setup(dut)
    shadow: dict[int, int] = {}
    for _ in range(12):
        # Far from the timeout, which would answer instead.
        slave.stall(random.choice([0.0, 0.3, 0.6]))
        slave.order.choose()
        core.stalls = random.choice([0.0, 0.5])
        requests = await core.do(*[random_request() for _ in range(25)])
        for request in requests:
            word = request.address & ~3
            _, data, error = request.answer
            assert error == (word >= Slave.FAILS)
            if error:
                assert data == 0, "an error carries data"
            elif request.write:
                shadow[word] = merged(shadow.get(word, 0), request.data, request.strobes)
            else:
                assert data == shadow.get(word, 0)
    assert slave.memory == shadow


@cocotb.test()
async def takes_its_least_latency_when_the_bus_is_quick(dut):
    core, _ = await setup(dut)
    requests = await core.do(*[Request(0x8000_0000 + 4 * n, n % 2 == 1) for n in range(20)])
    # Request, response and what is stored on the way back.
    least = max(int(dut.MinLatency.value), 3)
    assert {latency(request) for request in requests} == {least}
    # The next request is granted in the cycle of an answer.
    assert requests[-1].granted - requests[0].granted == 19 * least


@cocotb.test()
async def a_silent_bus_is_an_error_and_its_late_answer_nobodys(dut):
    core, slave = await setup(dut)
    timeout = int(dut.TimeoutCycles.value)
    for write in (False, True):
        slave.memory[0x8000_0010] = 0x1234_5678
        slave.is_silent = True
        (lost,) = await core.do(Request(0x8000_0020, write, 0xDEAD_BEEF))
        assert lost.answer[1:] == (0, 1)
        assert timeout <= latency(lost) <= timeout + 1
        # Until the bus has answered, no request is sent, and every request fails quickly.
        (refused,) = await core.do(Request(0x8000_0010))
        assert refused.answer[1:] == (0, 1) and latency(refused) < timeout
        slave.is_silent = False
        await core.bench.cycles(8)
        (read,) = await core.do(Request(0x8000_0010))
        assert read.answer[1:] == (0x1234_5678, 0)


@cocotb.test()
async def a_bus_that_never_takes_the_address_is_an_error(dut):
    core, slave = await setup(dut)
    slave.stall(1.0)
    (lost,) = await core.do(Request(0x8000_0020))
    assert lost.answer[1:] == (0, 1)
    slave.stall(0.0)
    await core.bench.cycles(8)
    (write,) = await core.do(Request(0x8000_0020, True, 7))
    (read,) = await core.do(Request(0x8000_0020))
    assert write.answer[2] == 0 and read.answer[1:] == (7, 0)
