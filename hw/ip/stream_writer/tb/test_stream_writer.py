"""The stream writer over its registers (`../data/stream_writer.rdl`), as a driver uses it."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import Fields
from axi_lite import OKAY, SLVERR, Manager
from clocked import part_of
from cocotb.handle import HierarchyObject
from handshakes import Bench
from registers import Registers
from writer_bench import ABORT, AT, BASE, FIRST, INPUTS, LAST, NONE, PAGE, ROOM, START, STREAM, WINDOW, Memory, Stream, words_of

OFFSETS = Registers("stream_writer", __file__).offsets("STREAM_WRITER")
START_BIT, ABORT_BIT = 1, 2
IDLE, FAILED = 1, 2
DONE, ERROR, REFUSED = 1, 2, 4


class Driver:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        fields = Fields(dut, "axi", is_manager=False)
        self.bench = Bench(fields, [*INPUTS, "lifecycle_i"])
        self.stream, self.memory = Stream(dut), Memory(fields)
        self.bus = Manager(dut, "axil", random.choice([0.0, 0.3]))

    async def get(self, name: str) -> int:
        return await self.bus.get(OFFSETS[name])

    async def put(self, name: str, value: int) -> None:
        await self.bus.write(OFFSETS[name], value)

    async def lock(self, first: int = FIRST, last: int = LAST) -> None:
        await self.put("window_first", first << 12)
        await self.put("window_last", last << 12)
        await self.put("lock", 1)

    async def ring(self, address: int, length: int) -> None:
        self.memory.forget()
        await self.put("destination", address)
        await self.put("length", length)
        await self.put("command", START_BIT)

    async def end(self) -> tuple[int, int]:
        """The interrupts of the end, and the cause."""
        for _ in range(2000):
            if await self.get("status") & IDLE:
                break
        else:
            raise AssertionError("it does not end")
        self.stream.end()
        events = await self.get("interrupt")
        await self.put("interrupt", events)
        assert await self.get("interrupt") == 0
        return events, await self.get("error")

    async def write(self, address: int, message: bytes) -> None:
        self.stream.begin(words_of(message))
        await self.ring(address, len(message))
        assert await self.end() == (DONE, NONE)
        assert self.memory.bytes[address - BASE : address - BASE + len(message)] == message


async def setup(dut: HierarchyObject) -> Driver:
    driver = Driver(dut)
    await driver.bench.start_beside_a_bus(driver.stream, driver.memory)
    return driver


@cocotb.test()
async def writes_streams(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    assert (await driver.get("id")).to_bytes(4, "big") == b"strw"
    await driver.lock()
    for number in range(8):
        driver.memory.stall(random.choice([0.0, 0.5]))
        await driver.write(AT + 9 * number, random.randbytes(random.randrange(1, 200)))


@cocotb.test()
async def the_window_does_not_move_after_the_lock(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.ring(AT, 8)
    assert await driver.end() == (ERROR, START), "it starts without a lock"
    driver.bus.stalls = 0.0
    await driver.put("window_first", FIRST << 12)
    await driver.put("window_last", LAST << 12)
    # Directly after the lock, and later.
    writes = [("lock", 1), ("window_first", 0), ("window_last", 0xFFFF_F000), ("lock", 0)]
    assert await driver.bus.writes([(OFFSETS[name], value) for name, value in writes]) == [OKAY] * 4
    await driver.lock(0, 0xF_FFFF)
    assert await driver.get("lock") == 1, "the lock was opened"
    assert [await driver.get(f"window_{end}") >> 12 for end in ("first", "last")] == [FIRST, LAST]
    for address in (AT - 1, AT + ROOM - 7):
        await driver.ring(address, 8)
        assert await driver.end() == (ERROR, WINDOW)
    await driver.write(AT + ROOM - 8, b"12345678")


@cocotb.test()
async def pages_below_the_lowest_are_in_no_window(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock(0, LAST)
    for address in (BASE - 1, BASE - PAGE, 0x1000_0000, 0):
        driver.stream.begin(words_of(b"12345678"))
        await driver.ring(address, 8)
        assert await driver.end() == (ERROR, WINDOW) and not driver.memory.writes
    await driver.write(BASE, b"12345678")


@cocotb.test()
async def what_is_written_after_the_start_changes_nothing(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    driver.bus.stalls = 0.0
    message = random.randbytes(24)
    driver.stream.begin(words_of(message), 1)
    await driver.put("destination", AT)
    await driver.put("length", 24)
    attack = [("command", START_BIT), ("destination", AT + PAGE), ("length", 8), ("command", START_BIT)]
    assert await driver.bus.writes([(OFFSETS[name], value) for name, value in attack]) == [OKAY] * 4
    driver.stream.stop = 3
    assert await driver.end() == (DONE | REFUSED, NONE)
    assert driver.memory.bytes[AT - BASE : AT - BASE + 24] == message
    assert [await driver.get(name) for name in ("destination", "length")] == [AT, 24]


@cocotb.test()
async def aborts_by_command_by_lifecycle_and_by_the_engine(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    driver.bus.stalls = 0.0
    for lifecycle in (0, 1, 9, 0):
        driver.stream.begin(words_of(bytes(1000)), 50)
        await driver.ring(AT, 1000)
        if dut.lifecycle_i.value == lifecycle:
            await driver.put("command", ABORT_BIT)
        else:
            dut.lifecycle_i.value = lifecycle
        assert await driver.end() == (ERROR, ABORT)
    await driver.ring(AT, 8)
    await driver.bench.pulse(dut.str_abort_i)
    assert await driver.end() == (ERROR, STREAM)
    await driver.write(AT, b"12345678")


@cocotb.test()
async def interrupts_when_it_may(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    for enable in (0, DONE, ERROR, REFUSED):
        await driver.put("interrupt_enable", enable)
        for length, event in ((8, DONE), (ROOM + 1, ERROR)):
            driver.stream.begin(words_of(b"12345678"))
            await driver.ring(AT, length)
            await driver.bench.tick(60)
            assert dut.irq_o.value == int(bool(enable & event))
            assert (await driver.end())[0] == event and dut.irq_o.value == 0


@cocotb.test()
async def reads_of_commands_and_of_nothing_are_errors(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    for address in (OFFSETS["command"], 0x02C, 0xFFC):
        assert await driver.bus.reads([address]) == [(0, SLVERR)], f"{address:#x}"
    for name in ("id", "status", "error"):
        assert await driver.bus.writes([(OFFSETS[name], 1)]) == [SLVERR], name
    # Strobes of other bytes neither lock nor start.
    for name in ("lock", "command"):
        await driver.bus.write(OFFSETS[name], 0xFFFF_FFFF, strobe=0b1110)
    assert await driver.get("lock") == 0 and await driver.get("status") == IDLE and await driver.get("interrupt") == 0


@cocotb.test()
async def an_upset_raises_the_alert(dut: HierarchyObject) -> None:
    driver = await setup(dut)
    await driver.lock()
    assert dut.alert_o.value == 0
    dut.u_core.u_state.u_flop.value_q.value = 0
    await driver.bench.tick(4)
    assert dut.alert_o.value == 1 and await driver.get("interrupt") & ERROR
    await driver.put("command", START_BIT)
    assert await driver.get("status") & (IDLE | FAILED) == FAILED


@cocotb.test()
@cocotb.parametrize(
    path=[
        *("u_core.u_strobes.u_read.value_q", "u_copy.g_copy.u_core.u_strobes.u_read.value_q"),
        *("u_copy.g_copy.window_q", "u_copy.g_copy.u_state.u_flop.value_q"),
    ]
)
async def a_difference_from_the_copy_is_for_good(dut: HierarchyObject, path: str) -> None:
    driver = await setup(dut)
    await driver.lock()
    driver.bus.stalls = 0.0
    driver.stream.begin(words_of(random.randbytes(400)), 20)
    await driver.ring(AT, 400)
    await driver.bench.tick(5)
    register = part_of(dut, path)
    register.value = int(register.value) ^ 3
    await driver.bench.tick(4)
    assert dut.alert_o.value == 1
    changed = set(driver.memory.changed)
    driver.stream.stop = 50
    await driver.put("command", START_BIT)
    await driver.bench.tick(100)
    assert driver.memory.changed == changed, "bytes change after an upset"
    assert await driver.get("status") == FAILED and await driver.get("interrupt") & (DONE | ERROR) == ERROR
