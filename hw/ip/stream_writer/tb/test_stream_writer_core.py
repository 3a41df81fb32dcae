"""The stream writer without its registers: places, errors and aborts, with random handshakes."""

from __future__ import annotations

import random
from dataclasses import dataclass

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Bench, Part
from writer_bench import (
    ABORT,
    AT,
    BASE,
    DECERR,
    FIRST,
    INPUTS,
    LAST,
    LENGTH,
    NONE,
    PAGE,
    ROOM,
    SIZE,
    SLVERR,
    START,
    STREAM,
    WINDOW,
    WRITE,
    Memory,
    Stream,
    words_of,
)

LEGAL = {0b001011: "idle", 0b010101: "run", 0b011110: "drain"}
CONTROL = ["locked_i", "window_i", "start_i", "abort_i", "address_i", "length_i"]
# Cycles from the start to the end, with a memory that takes everything at once and answers after three cycles, and a
# destination at the beginning of a line: a word a cycle, then the last line.
OVERHEAD = 14


@dataclass
class Outcome:
    is_done: bool
    cause: int
    cycles: int


class Events(Part):
    """Pulses of the end, and the cause in their cycle."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.ends: list[tuple[bool, int]] = []

    def sample(self) -> None:
        done, failed = self.dut.done_o.value == 1, self.dut.failed_o.value == 1
        assert not (done and failed)
        if done or failed:
            self.ends.append((done, int(self.dut.cause_o.value)))


class Writer:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, [*INPUTS, *CONTROL])
        self.stream, self.memory, self.events = Stream(dut), Memory(dut), Events(dut)

    async def start(self) -> None:
        await self.bench.start(self.stream, self.memory, self.events)
        self.dut.locked_i.value = 1
        self.dut.window_i.value = FIRST << 20 | LAST

    async def ring(self, address: int, length: int) -> None:
        self.memory.forget()
        self.events.ends.clear()
        self.dut.address_i.value, self.dut.length_i.value = address, length
        await self.pulse(self.dut.start_i)
        self.begun = self.bench.cycle

    async def pulse(self, port: object) -> None:
        port.value = 1  # type: ignore[attr-defined]
        await self.bench.cycles(1)
        port.value = 0  # type: ignore[attr-defined]

    async def end(self) -> Outcome:
        await self.bench.run(lambda: bool(self.events.ends) or self.dut.error_o.value == 1, 40_000)
        assert len(self.events.ends) == 1, "an upset"
        is_done, cause = self.events.ends[0]
        cycles = self.bench.cycle - self.begun
        self.stream.end()
        # Nothing follows the end.
        await self.bench.cycles(5)
        assert self.memory.is_quiet() and self.dut.busy_o.value == 0 and len(self.events.ends) == 1
        return Outcome(is_done, cause, cycles)

    async def write(self, address: int, message: bytes) -> Outcome:
        """A whole stream. Every byte of the range is written once, and no other one."""
        expected = bytearray(self.memory.bytes)
        expected[address - BASE : address - BASE + len(message)] = message
        self.stream.begin(words_of(message))
        await self.ring(address, len(message))
        outcome = await self.end()
        await self.bench.let_assertions_fail()
        assert (outcome.is_done, outcome.cause) == (True, NONE), outcome
        assert self.memory.bytes == expected, "memory is not what it has to be"
        assert len(self.memory.changed) == len(message)
        return outcome

    def expect_part(self, before: bytes, address: int, message: bytes) -> None:
        """After a failure: bytes of the range are those of the message or as before, and others are as before."""
        place = address - BASE
        for at, (now, old) in enumerate(zip(self.memory.bytes, before)):
            if now != old:
                assert place <= at < place + len(message) and now == message[at - place], f"byte {at:#x} changed"


async def setup(dut: HierarchyObject) -> Writer:
    writer = Writer(dut)
    await writer.start()
    return writer


def chosen(length: int) -> tuple[int, bytes]:
    return AT + random.randrange(ROOM - length + 1), random.randbytes(length)


@cocotb.test()
async def writes_streams_to_any_place(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    for offset in range(8):
        for length in (1, 7, 8, 9, 16, 64, 65):
            await writer.write(AT + 56 + offset, random.randbytes(length))
    for _ in range(30):
        writer.stream.stalls = random.choice(STALLS[:3])
        writer.memory.stall(random.choice(STALLS[:3]))
        writer.memory.latency = random.choice([1, 5, 40])
        await writer.write(*chosen(random.randrange(1, 400)))
    writer.stream.stalls = 0.0
    writer.memory.stall(0.0)
    # The whole window.
    await writer.write(AT, random.randbytes(ROOM))


@cocotb.test()
async def takes_a_word_a_cycle(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    lengths = (64, 1024, 4096)
    times = [(await writer.write(AT, random.randbytes(length))).cycles for length in lengths]
    assert times == [length // 8 + OVERHEAD for length in lengths], f"{lengths} bytes take {times} cycles"


@cocotb.test()
async def refuses_ranges_and_writes_nothing(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    end = AT + ROOM
    cases = [(AT, 0, START), (AT - 1, 8, WINDOW), (AT - 8, 4, WINDOW), (end - 7, 8, WINDOW), (end, 1, WINDOW)]
    cases += [(AT, ROOM + 1, WINDOW), (AT, 0xFFFF_FFFF, WINDOW), (AT, 2**32 - AT, WINDOW), (AT, 2**32 - AT + 1, WINDOW)]
    cases += [(AT + 8, 0xFFFF_FFF8, WINDOW), (0, 8, WINDOW), (0xFFFF_FFFC, 8, WINDOW)]
    for address, length, cause in cases:
        writer.stream.begin(words_of(random.randbytes(64)))
        await writer.ring(address, length)
        outcome = await writer.end()
        assert (outcome.is_done, outcome.cause) == (False, cause), f"{address:#x}, {length:#x}: {outcome}"
        assert not writer.memory.writes and outcome.cycles <= 2
    await writer.write(end - 1, b"x")
    dut.locked_i.value = 0
    await writer.ring(AT, 8)
    outcome = await writer.end()
    assert (outcome.is_done, outcome.cause) == (False, START)
    dut.locked_i.value = 1
    dut.window_i.value = LAST << 20 | FIRST
    await writer.ring(AT, 8)
    outcome = await writer.end()
    assert (outcome.is_done, outcome.cause) == (False, WINDOW), "an empty window has a page"


@cocotb.test()
async def refuses_a_stream_of_another_length(dut: HierarchyObject) -> None:
    """It ends early, goes on, or has a short word in its middle: no byte past the range changes."""
    writer = await setup(dut)
    for length in (1, 5, 8, 20, 64, 100, 200):
        message = random.randbytes(length)
        for given in (length - 1, length + 1, length + 8, length - 9, length + 100):
            if given <= 0:
                continue
            before = bytes(writer.memory.bytes)
            address, _ = chosen(length)
            stream = (message + random.randbytes(200))[:given]
            writer.stream.begin(words_of(stream))
            await writer.ring(address, length)
            outcome = await writer.end()
            assert (outcome.is_done, outcome.cause) == (False, LENGTH), f"{given} for {length}: {outcome}"
            writer.expect_part(before, address, message)
    for change in ((0, 7), (0, 9), (0, 0), (1, 8)):
        words = words_of(random.randbytes(100))
        words[3] = (words[3][0], *change)
        writer.stream.begin(words)
        await writer.ring(AT, 100)
        outcome = await writer.end()
        assert (outcome.is_done, outcome.cause) == (False, LENGTH), f"{change}: {outcome}"
    await writer.write(*chosen(100))


@cocotb.test()
async def an_error_of_any_write_is_told(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    address, message = AT + 37, random.randbytes(300)
    await writer.write(address, message)
    for number in range(writer.memory.writes):
        for stalls in (0.0, 0.5):
            writer.memory.stall(stalls)
            writer.stream.begin(words_of(message))
            await writer.ring(address, len(message))
            writer.memory.bad = {number: random.choice([SLVERR, DECERR])}
            outcome = await writer.end()
            assert (outcome.is_done, outcome.cause) == (False, WRITE), f"write {number}: {outcome}"
    writer.memory.stall(0.0)
    await writer.write(address, message)


@cocotb.test()
async def an_abort_in_any_cycle_leaves_no_half_message(dut: HierarchyObject) -> None:
    """By command or by the engine. It ends with the whole message or with an error, and the writer works after it."""
    writer = await setup(dut)
    address, message = AT + 61, random.randbytes(150)
    for port, cause in ((dut.abort_i, ABORT), (dut.str_abort_i, STREAM)):
        for stalls in (0.0, 0.6):
            delay, is_late = 0, False
            while not is_late:
                writer.memory.stall(stalls)
                before = bytes(writer.memory.bytes)
                writer.stream.begin(words_of(message))
                await writer.ring(address, len(message))
                await writer.bench.cycles(delay)
                if writer.events.ends:
                    is_late = True
                else:
                    await writer.pulse(port)
                    # In the cycle of the end it is too late.
                    is_late = bool(writer.events.ends) and writer.events.ends[0][0]
                outcome = await writer.end()
                assert outcome.is_done == is_late and outcome.cause == (NONE if is_late else cause), outcome
                writer.expect_part(before, address, message)
                assert not is_late or len(writer.memory.changed) == len(message)
                delay += random.choice([1, 1, 7]) if stalls else 1
            assert delay > 30
    writer.memory.stall(0.0)
    await writer.write(address, message)


@cocotb.test()
async def an_abort_in_the_cycle_of_the_start_ends_it(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    dut.abort_i.value = 1
    await writer.ring(AT, 8)
    dut.abort_i.value = 0
    outcome = await writer.end()
    assert (outcome.is_done, outcome.cause) == (False, ABORT) and not writer.memory.writes
    # Without a range there is nothing to end.
    for port in (dut.abort_i, dut.str_abort_i):
        await writer.pulse(port)
        assert dut.busy_o.value == 0
    await writer.write(AT, b"12345678")


@cocotb.test()
async def no_burst_waits_for_the_stream(dut: HierarchyObject) -> None:
    """Wherever the stream stops, memory gets what it needs to complete what was offered."""
    writer = await setup(dut)
    address, message = AT + 19, random.randbytes(200)
    for stop in range(1, 25):
        writer.memory.stall(0.0)
        writer.stream.begin(words_of(message), stop)
        await writer.ring(address, len(message))
        await writer.bench.cycles(60)
        assert writer.memory.is_quiet(), f"a burst is open after {stop} words"
        assert writer.stream.taken == stop and dut.busy_o.value == 1
        writer.stream.stop = 25
        outcome = await writer.end()
        assert outcome.is_done and len(writer.memory.changed) == len(message)


@cocotb.test()
async def takes_no_word_before_its_start(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    writer.stream.begin(words_of(b"12345678"))
    await writer.bench.cycles(20)
    assert writer.stream.taken == 0
    await writer.ring(AT, 8)
    assert (await writer.end()).is_done
    # Nor after its end.
    writer.stream.begin(words_of(b"12345678"))
    await writer.bench.cycles(20)
    assert writer.stream.taken == 0


@cocotb.test()
async def an_address_outside_of_its_window_is_an_upset(dut: HierarchyObject) -> None:
    """A fault changes the place after it was judged: the check at the port stops the writer."""
    writer = await setup(dut)
    writer.stream.begin(words_of(random.randbytes(300)), 4)
    await writer.ring(AT, 300)
    await writer.bench.cycles(3)
    dut.u_write.line_q.value = (AT - PAGE) >> 6
    await writer.bench.cycles(60)
    assert dut.error_o.value == 1 and not writer.memory.changed and not writer.events.ends


@cocotb.test()
async def a_lost_word_is_an_upset(dut: HierarchyObject) -> None:
    """A range that ends before its stream is not reported as written."""
    writer = await setup(dut)
    writer.stream.begin(words_of(random.randbytes(300)), 30)
    await writer.ring(AT, 300)
    await writer.bench.cycles(60)
    dut.u_write.active_q.value = 0
    await writer.bench.cycles(3)
    assert dut.error_o.value == 1 and not writer.events.ends


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    writer = await setup(dut)
    address, message = AT + 60, random.randbytes(200)
    for number, state in enumerate(value for value in range(64) if value not in LEGAL):
        writer.stream.begin(words_of(message))
        await writer.ring(address, len(message))
        await writer.bench.cycles(number % 30)
        dut.u_state.u_flop.value_q.value = state
        await writer.bench.cycles(1)
        assert dut.error_o.value == 1, f"{state:06b} is no error"
        dut.start_i.value = 1
        await writer.bench.cycles(60)
        dut.start_i.value = 0
        assert dut.error_o.value == 1 and dut.str_ready_o.value == 0, f"{state:06b} was left"
        assert not any(is_done for is_done, _ in writer.events.ends)
        # What was offered is completed by the rules of the bus.
        assert writer.memory.is_quiet()
        writer.stream.end()
        await writer.bench.reset()
    await writer.write(address, message)


assert SIZE == ROOM + 2 * PAGE
