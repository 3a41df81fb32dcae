"""The DMA engine over its registers (`../data/dma.rdl`), as a driver uses it."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import Fields
from axi_lite import OKAY, SLVERR, Manager
from cocotb.handle import HierarchyObject
from dma_bench import (
    ABORT,
    ALL_SINKS,
    BASE,
    DESTINATION,
    DESTINATIONS,
    NONE,
    SIZE,
    SOURCE,
    SOURCES,
    START,
    Bench,
    Descriptor,
    Memory,
    Scratchpad,
    Sinks,
)
from plan import parameters
from registers import Registers

AT = Registers("dma", __file__).offsets("DMA")
HALF = BASE + SIZE // 2
START_BIT, ABORT_BIT = 1, 2
IDLE, FAILED = 1, 2
DONE, ERROR, REFUSED = 1, 2, 4
WRITES = 1 << 8
INPUTS = ["lifecycle_i", "scratch_gnt_i", "scratch_rvalid_i", "scratch_rdata_i", "scratch_err_i"]
INPUTS += ["sink_ready_i"]
WINDOWS = {
    "source_first": SOURCES[0],
    "source_last": SOURCES[1],
    "destination_first": DESTINATIONS[0],
    "destination_last": DESTINATIONS[1],
}


class Driver:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)
        memory = Fields(dut, "axi", is_manager=False)
        self.memory, self.scratchpad, self.sinks = Memory(memory), Scratchpad(dut), Sinks(dut)
        self.bus = Manager(dut, "axil", random.choice([0.0, 0.3]))

    async def start(self) -> None:
        await self.bench.start_beside_a_bus(self.scratchpad, self.memory, self.sinks)

    async def get(self, name: str) -> int:
        return await self.bus.get(AT[name])

    async def put(self, name: str, value: int) -> None:
        await self.bus.write(AT[name], value)

    async def lock(self, windows: dict[str, int] = WINDOWS) -> None:
        for name, page in windows.items():
            await self.put(name, page << 12)
        await self.put("lock", 1)

    async def ring(self, descriptors: list[Descriptor], control: int = ALL_SINKS, at: int = 5) -> None:
        self.memory.forget()
        self.scratchpad.put(at, descriptors)
        await self.put("control", control)
        await self.put("list", at << 10)
        await self.put("count", len(descriptors))
        await self.put("command", START_BIT)

    async def end(self) -> tuple[int, int]:
        """The interrupts of the end, and the cause."""
        for _ in range(2000):
            if await self.get("status") & IDLE:
                break
        else:
            raise AssertionError("the list does not end")
        events = await self.get("interrupt")
        await self.put("interrupt", events)
        assert await self.get("interrupt") == 0
        return events, await self.get("error") & 15


async def setup(dut: HierarchyObject) -> Driver:
    driver = Driver(dut)
    await driver.start()
    return driver


@cocotb.test()
async def carries_out_lists(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    assert (await driver.get("id")).to_bytes(4, "big") == b"dma\0"
    assert await driver.get("parameters") in (16 << 16 | 8 << 8 | 3, 12 << 16 | 8 << 8 | 3)
    await driver.lock()
    for number in range(6):
        length = random.randrange(1, 200)
        descriptors = [Descriptor(BASE + number, length, HALF + 5 * number)]
        message = bytes(driver.memory.bytes[number : number + length])
        await driver.ring(descriptors, ALL_SINKS | WRITES)
        assert await driver.end() == (DONE, NONE)
        assert driver.sinks.messages[2][-1] == message
        place = SIZE // 2 + 5 * number
        assert driver.memory.bytes[place : place + length] == message


@cocotb.test()
async def windows_do_not_move_after_the_lock(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.ring([Descriptor(BASE, 8)])
    assert await driver.end() == (ERROR, START), "it starts without a lock"
    await driver.lock()
    for name, page in WINDOWS.items():
        await driver.put(name, 0xFFFF_F000 if name.endswith("last") else 0)
        assert await driver.get(name) == page << 12, f"{name} moved"
    await driver.put("lock", 0)
    assert await driver.get("lock") == 1, "the lock was opened"
    await driver.ring([Descriptor(BASE - 8, 8)])
    assert await driver.end() == (ERROR, SOURCE)
    assert await driver.get("error") == SOURCE


@cocotb.test()
async def pages_below_the_lowest_are_in_no_window(dut: HierarchyObject) -> None:
    if "LowestPage" not in parameters():
        return
    driver = await setup(dut)
    await driver.lock({name: 0 if name.endswith("first") else page for name, page in WINDOWS.items()})
    for below in (Descriptor(BASE - 8, 8), Descriptor(BASE - 8, 16), Descriptor(0x1000_0000, 8)):
        await driver.ring([below])
        assert await driver.end() == (ERROR, SOURCE)
    for destination in (BASE - 64, BASE - 1, 0x1000_0000):
        await driver.ring([Descriptor(BASE, 8, destination)], ALL_SINKS | WRITES)
        assert await driver.end() == (ERROR, DESTINATION)
    await driver.ring([Descriptor(BASE, 8, HALF)], ALL_SINKS | WRITES)
    assert await driver.end() == (DONE, NONE)


@cocotb.test()
async def a_window_that_is_written_directly_after_the_lock_stays(dut: HierarchyObject) -> None:
    """Writes that follow each other without a pause."""
    driver = await setup(dut)
    driver.bus.stalls = 0.0
    for name, page in WINDOWS.items():
        await driver.put(name, page << 12)
    writes = [(AT["lock"], 1)] + [(AT[name], 0xFFFF_F000) for name in WINDOWS]
    assert await driver.bus.writes(writes) == [OKAY] * 5
    for name, page in WINDOWS.items():
        assert await driver.get(name) == page << 12, f"{name} moved"


@cocotb.test()
async def what_is_written_after_the_doorbell_changes_nothing(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    driver.bus.stalls = 0.0
    await driver.lock()
    driver.memory.latency = 60
    driver.scratchpad.put(5, [Descriptor(BASE, 100, HALF)])
    driver.scratchpad.put(9, [Descriptor(BASE + 500, 3, HALF + 0x1000)])
    for name, value in (("control", 1), ("list", 5 << 10), ("count", 1)):
        await driver.put(name, value)
    attack = [("list", 9 << 10), ("control", ALL_SINKS | WRITES), ("count", 64), ("command", START_BIT)]
    writes = [(AT["command"], START_BIT)] + [(AT[name], value) for name, value in attack]
    assert await driver.bus.writes(writes) == [OKAY] * 5
    assert await driver.end() == (DONE | REFUSED, NONE)
    assert driver.sinks.messages == [[bytes(driver.memory.bytes[:100])], [], []]
    assert not driver.memory.writes
    assert [await driver.get(name) for name in ("list", "control", "count")] == [5 << 10, 1, 1]


@cocotb.test()
async def a_list_outside_of_the_scratchpad_is_refused(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    last = (1 << await driver.get("parameters") // 65536 - 10) - 1
    for at in range(last + 1, 64, 7):
        await driver.ring([Descriptor(BASE, 8)], at=at)
        assert await driver.end() == (ERROR, START), f"at {at:#x}"
    await driver.ring([Descriptor(BASE, 8)], at=last)
    assert await driver.end() == (DONE, NONE)
    await driver.ring([Descriptor(BASE, 8)] * 65)
    assert await driver.end() == (ERROR, START)


@cocotb.test()
async def aborts_by_command_and_by_lifecycle(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    driver.bus.stalls = 0.0
    await driver.lock()
    driver.sinks.stalls = [0.95] * 3
    for lifecycle in (0, 1, 9, 0):
        driver.sinks.messages = [[], [], []]
        await driver.ring([Descriptor(BASE, 4000)])
        if dut.lifecycle_i.value == lifecycle:
            await driver.put("command", ABORT_BIT)
        else:
            dut.lifecycle_i.value = lifecycle
        assert await driver.end() == (ERROR, ABORT)
        assert driver.sinks.messages == [[], [], []]
    driver.sinks.stalls = [0.0] * 3
    await driver.ring([Descriptor(BASE, 40)])
    assert await driver.end() == (DONE, NONE)


@cocotb.test()
async def interrupts_when_it_may(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    for enable in (0, DONE, ERROR, REFUSED):
        await driver.put("interrupt_enable", enable)
        for length, event in ((8, DONE), (SIZE, ERROR)):
            await driver.ring([Descriptor(BASE, length)])
            await driver.bench.tick(200)
            assert dut.irq_o.value == int(bool(enable & event))
            events, _ = await driver.end()
            assert events == event and dut.irq_o.value == 0


@cocotb.test()
async def a_clear_of_one_interrupt_loses_no_other(dut: HierarchyObject) -> None:
    """Another event is cleared in every cycle of a list, also in that of its end."""
    driver = await setup(dut)
    driver.bus.stalls = 0.0
    await driver.lock()
    for delay in range(50):
        await driver.ring([Descriptor(BASE, 8)])
        await driver.bench.tick(delay)
        await driver.put("interrupt", REFUSED)
        assert await driver.end() == (DONE, NONE), f"the end is lost, {delay} cycles after the doorbell"


@cocotb.test()
async def reads_of_commands_and_of_nothing_are_errors(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    for address in (AT["command"], 0x02C, 0x040, 0xFFC):
        ((data, response),) = await driver.bus.reads([address])
        assert (data, response) == (0, SLVERR), f"{address:#x}"
    for name in ("id", "parameters", "status", "error"):
        assert await driver.bus.writes([(AT[name], 1)]) == [SLVERR], name


@cocotb.test()
async def a_write_of_some_bytes_changes_no_others(dut: HierarchyObject) -> None:
    """Neither the lock, nor a window, nor a command is written by strobes of other bytes."""
    driver = await setup(dut)
    await driver.bus.write(AT["lock"], 0xFFFF_FFFF, strobe=0b1110)
    assert await driver.get("lock") == 0
    await driver.put("source_first", SOURCES[0] << 12)
    await driver.bus.write(AT["source_first"], 0, strobe=0b0010)
    # The lowest four bits of the page.
    assert await driver.get("source_first") == (SOURCES[0] & ~0xF) << 12
    await driver.lock()
    for strobe in range(16):
        for name, page in WINDOWS.items():
            await driver.bus.write(AT[name], ~(page << 12) & 0xFFFF_FFFF, strobe=strobe)
            assert await driver.get(name) == page << 12, f"{name} moved by {strobe:04b}"
        await driver.bus.write(AT["lock"], 0, strobe=strobe)
        assert await driver.get("lock") == 1
    await driver.bus.write(AT["command"], 0xFFFF_FFFF, strobe=0b1110)
    await driver.bench.tick(20)
    assert await driver.get("status") == IDLE and await driver.get("interrupt") == 0
    await driver.ring([Descriptor(BASE, 8)])
    assert await driver.end() == (DONE, NONE)


@cocotb.test()
async def an_upset_raises_the_alert(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    assert dut.alert_o.value == 0
    dut.u_core.u_state.u_flop.value_q.value = 0
    await driver.bench.tick(4)
    assert dut.alert_o.value == 1
    assert await driver.get("status") & (IDLE | FAILED) == FAILED
    assert await driver.get("interrupt") & ERROR
    await driver.put("command", START_BIT)
    assert await driver.get("status") & (IDLE | FAILED) == FAILED
