"""The guard over its registers (`../data/axi_guard.rdl`)."""

from __future__ import annotations

import cocotb
from axi_lite import OKAY, SLVERR
from axi_lite import Manager as Bus
from cocotb.handle import HierarchyObject
from guard_bench import DECERR, Burst, Managers, Memory
from handshakes import Bench
from registers import Registers

AT = Registers("axi_guard", __file__).offsets("AXI_GUARD")
OPEN, CLOSED = 0x8000_0000, 0x8010_0000
READ, WRITE = 1, 2


class Driver:
    def __init__(self, dut: HierarchyObject) -> None:
        self.bench = Bench(dut, [])
        self.managers, self.memory = Managers(dut), Memory(dut)
        self.bus = Bus(dut, "axil")

    async def start(self) -> None:
        await self.bench.start_beside_a_bus(*self.managers.parts, self.memory)

    async def read(self, address: int) -> int:
        """The response to a read."""
        self.managers.read(Burst(address))
        while not self.managers.r.taken:
            await self.bus.get(AT["id"])
        return self.managers.r.taken.popleft()[2]

    async def write(self, address: int) -> int:
        self.managers.write(Burst(address))
        while not self.managers.b.taken:
            await self.bus.get(AT["id"])
        return self.managers.b.taken.popleft()[1]


@cocotb.test()
async def closes_four_ranges_until_reset(dut: HierarchyObject) -> None:
    driver = Driver(dut)
    await driver.start()
    bus = driver.bus
    assert (await bus.get(AT["id"])).to_bytes(4, "big") == b"axig"
    assert await driver.read(OPEN) == DECERR and await driver.write(OPEN) == DECERR
    assert await bus.get(AT["refused"]) == READ | WRITE
    await bus.write(AT["refused"], READ | WRITE)
    for index in range(4):
        page = CLOSED + (index << 16)
        await bus.write(AT["first"] + 4 * index, page)
        await bus.write(AT["last"] + 4 * index, page + 0x1000)
    # Writes that follow the lock without a pause change nothing.
    attack = [(AT["first"], 0xFFFF_F000), (AT["last"], 0), (AT["lock"], 0)]
    assert await bus.writes([(AT["lock"], 1), *attack]) == [OKAY] * 4
    assert await bus.get(AT["lock"]) == 1
    assert await bus.get(AT["first"]) == CLOSED and await bus.get(AT["last"]) == CLOSED + 0x1000
    for index in range(4):
        page = CLOSED + (index << 16)
        for address, is_closed in ((page - 8, 0), (page, 1), (page + 0x1FF8, 1), (page + 0x2000, 0)):
            await bus.write(AT["refused"], READ | WRITE)
            assert (await driver.read(address) == DECERR) == bool(is_closed), f"{address:#x}"
            assert await bus.get(AT["refused"]) == READ * is_closed
            assert (await driver.write(address) == DECERR) == bool(is_closed), f"{address:#x}"
            assert await bus.get(AT["refused"]) == (READ | WRITE) * is_closed


@cocotb.test()
async def a_burst_beside_the_lock_passes_as_a_whole_or_not(dut: HierarchyObject) -> None:
    """Writes begin in every cycle around the lock: to a closed page, and to one that is open after it."""
    driver = Driver(dut)
    await driver.start()
    bus, managers, memory = driver.bus, driver.managers, driver.memory
    answers = set()
    for delay in range(12):
        await bus.write(AT["first"], CLOSED)
        await bus.write(AT["last"], CLOSED)
        memory.writes.clear()
        lock = cocotb.start_soon(bus.write(AT["lock"], 1))
        await driver.bench.tick(delay)
        bursts = [OPEN, CLOSED, OPEN + 64, CLOSED + 64]
        for address in bursts:
            managers.write(Burst(address, 3))
        await lock
        while len(managers.b.taken) < len(bursts):
            await bus.get(AT["id"])
        responses = [managers.b.taken.popleft()[1] for _ in bursts]
        assert responses[1] == responses[3] == DECERR, f"closed, {delay} cycles later: {responses}"
        # Memory answers with errors of its own, too.
        expected = [(at, response) for at, response in zip(bursts, responses) if response != DECERR]
        reached = [(request[1], response) for request, response in memory.writes]
        assert reached == expected, f"{delay} cycles later: {reached}"
        answers.add(responses[0] == DECERR)
        await driver.bench.reset()
        await driver.bench.tick(2)
    assert answers == {True, False}, "no burst on one side of the lock"


@cocotb.test()
async def a_clear_of_one_report_loses_no_other(dut: HierarchyObject) -> None:
    """A read is refused in every cycle around a clear of refused writes, which software has seen."""
    driver = Driver(dut)
    await driver.start()
    for delay in range(10):
        clear = cocotb.start_soon(driver.bus.write(AT["refused"], WRITE))
        await driver.bench.tick(delay)
        assert await driver.read(OPEN) == DECERR
        await clear
        assert await driver.bus.get(AT["refused"]) == READ, f"a refusal {delay} cycles later is lost"
        await driver.bus.write(AT["refused"], READ)


@cocotb.test()
async def a_write_of_some_bytes_changes_no_others(dut: HierarchyObject) -> None:
    """The host may store bytes: the lock is one of the lowest, and no byte of a range moves after it."""
    driver = Driver(dut)
    await driver.start()
    await driver.bus.write(AT["lock"], 0xFFFF_FFFF, strobe=0b1110)
    assert await driver.bus.get(AT["lock"]) == 0 and await driver.read(OPEN) == DECERR
    await driver.bus.write(AT["first"], CLOSED)
    await driver.bus.write(AT["last"], 0, strobe=0b1100)
    await driver.bus.write(AT["last"], CLOSED, strobe=0b1110)
    await driver.bus.write(AT["lock"], 1, strobe=0b0001)
    assert await driver.read(OPEN) == OKAY and await driver.read(CLOSED) == DECERR
    for strobe in range(16):
        await driver.bus.write(AT["first"], 0xFFFF_FFFF, strobe=strobe)
        await driver.bus.write(AT["last"], 0, strobe=strobe)
        await driver.bus.write(AT["lock"], 0, strobe=strobe)
        assert await driver.bus.get(AT["first"]) == await driver.bus.get(AT["last"]) == CLOSED
        assert await driver.read(CLOSED) == DECERR, f"opened by {strobe:04b}"


@cocotb.test()
async def addresses_without_a_register_are_errors(dut: HierarchyObject) -> None:
    driver = Driver(dut)
    await driver.start()
    for address in (0x00C, 0x040, 0xFFC):
        assert await driver.bus.reads([address]) == [(0, SLVERR)]
    assert await driver.bus.writes([(AT["id"], 1)]) == [SLVERR]
