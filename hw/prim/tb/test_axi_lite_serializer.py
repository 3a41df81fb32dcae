"""One access at a time passes, and the response of a refused one is an error."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

from axi_bundles import side
from axi_lite import OKAY, SLVERR, Manager
from clocked import Clocked
from plan import parameters

WORDS = 32
# The page has no register at its last address, which unaligned accesses get.
NO_REGISTER = 0xFFC


class Registers(Clocked):
    """Behind the port: a register block, which takes an access at any time, and its owner, which refuses some."""

    def __init__(self, dut: HierarchyObject, stalls: float) -> None:
        super().__init__(dut, ["refuses_i"], stalls)
        self.port = side(dut, "regs", is_manager=False, is_lite=True)
        self.words = [0] * WORDS
        self.refused: set[int] = set()
        self.reads_may_fail = parameters()["ReadsMayFail"] == 1

    async def quiet_cycle(self) -> tuple[int, int]:
        """A cycle of an open access. Returns whether the manager takes a response, of a write and of a read."""
        await ReadOnly()
        ready = self.port.b_ready.value, self.port.r_ready.value
        offers = self.port.aw_valid.value, self.port.w_valid.value, self.port.ar_valid.value
        if offers != (0, 0, 0):
            await self.let_assertions_fail()
            raise AssertionError("another access while one is open")
        await self.tick()
        return ready

    async def respond(self, channel: str) -> None:
        valid = getattr(self.port, f"{channel}_valid")
        valid.value = 1
        while not (await self.quiet_cycle())["br".index(channel)]:
            pass
        valid.value = 0

    async def decide(self, address: int, may_fail: bool) -> bool:
        """The owner decides in some cycle, and the response is valid in the next one."""
        while random.random() < self.stalls:
            await self.quiet_cycle()
        is_refused = may_fail and address in self.refused
        self.dut.refuses_i.value = int(is_refused)
        await self.quiet_cycle()
        self.dut.refuses_i.value = 0
        return is_refused

    async def serve(self) -> None:
        port = self.port
        for ready in (port.aw_ready, port.w_ready, port.ar_ready):
            ready.value = 1
        while True:
            await ReadOnly()
            writes, reads = port.aw_valid.value, port.ar_valid.value
            assert writes == port.w_valid.value and not (writes and reads)
            write = port.aw_addr.value, port.w_data.value
            read = port.ar_addr.value
            await self.tick()
            if writes:
                address, data = write
                is_refused = await self.decide(address, True)
                if not is_refused and address != NO_REGISTER:
                    self.words[address // 4] = data
                port.b_resp.value = SLVERR if address == NO_REGISTER else OKAY
                await self.respond("b")
            if reads:
                await self.decide(read, self.reads_may_fail)
                # The buffer keeps the word after its response.
                port.r_data.value = 0 if read == NO_REGISTER else self.words[read // 4]
                port.r_resp.value = SLVERR if read == NO_REGISTER else OKAY
                await self.respond("r")


async def start(dut: HierarchyObject, stalls: tuple[float, float]) -> tuple[Manager, Registers]:
    manager, registers = Manager(dut, "axil", stalls[0]), Registers(dut, stalls[1])
    await registers.start_clock()
    cocotb.start_soon(registers.serve())
    return manager, registers


@cocotb.test()
@cocotb.parametrize(stalls=[(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.4, 0.4)])
async def a_refusal_belongs_to_its_access(dut: HierarchyObject, stalls: tuple[float, float]) -> None:
    manager, registers = await start(dut, stalls)
    expected = [0] * WORDS
    for _ in range(12):
        addresses = random.sample(range(0, 4 * WORDS, 4), 8)
        registers.refused = set(random.sample(addresses, 3))
        accesses = [(address, random.getrandbits(32) | 1) for address in addresses]
        answers = await manager.writes(accesses)
        assert answers == [SLVERR if address in registers.refused else OKAY for address in addresses]
        for address, data in accesses:
            if address not in registers.refused:
                expected[address // 4] = data
        assert registers.words == expected
        hidden = registers.refused if registers.reads_may_fail else set()
        wanted = [(0, SLVERR) if at in hidden else (expected[at // 4], OKAY) for at in addresses]
        assert await manager.reads(addresses) == wanted


@cocotb.test()
async def reads_and_writes_take_turns(dut: HierarchyObject) -> None:
    manager, registers = await start(dut, (0.2, 0.2))
    registers.words = [random.getrandbits(32) for _ in range(WORDS)]
    low, high = range(0, 2 * WORDS, 4), range(2 * WORDS, 4 * WORDS, 4)
    wanted = [(registers.words[address // 4], OKAY) for address in low]
    written = [(address, random.getrandbits(32)) for address in high]
    reading = cocotb.start_soon(manager.reads(list(low)))
    assert await manager.writes(written) == [OKAY] * len(high)
    assert await reading == wanted
    assert registers.words[WORDS // 2 :] == [data for _, data in written]


@cocotb.test()
async def an_address_within_a_word_has_no_register(dut: HierarchyObject) -> None:
    manager, registers = await start(dut, (0.0, 0.0))
    assert await manager.writes([(5, 7)]) == [SLVERR]
    assert await manager.reads([6]) == [(0, SLVERR)]
    assert registers.words == [0] * WORDS
