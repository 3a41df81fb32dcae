"""`axi_guard_core` between managers that try everything and memory that answers in every legal order."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from guard_bench import DECERR, FIXED, INCR, INPUTS, PAGE, RESERVED, WRAP, Burst, Managers, Memory, stall
from handshakes import ORDERS, Bench

# Closed ranges: a page, a few, the first and the last ones of the address space.
CLOSED = [(0x80010, 0x80010), (0x80020, 0x80023), (0xFFFFE, 0xFFFFF), (0, 1)]
EDGES = [0x80010 << 12, 0x80011 << 12, 0x80020 << 12, 0x80024 << 12, 0xFFFFE << 12, 1 << 32, 0, 2 << 12]


def random_burst() -> Burst:
    """Near the edges of the ranges, mostly; not always one that AXI allows."""
    kind = random.choice([FIXED, INCR, INCR, WRAP, WRAP, RESERVED])
    size = random.choice([0, 1, 2, 3, 3, 3, 4, 7])
    length = random.choice([0, 1, 3, 7, 15, random.randrange(256) if kind in (FIXED, INCR) else 2])
    address = (random.choice(EDGES) + random.randrange(-160, 160)) % (1 << 32)
    if random.random() < 0.6:
        address -= address % (1 << min(size, 3))
    return Burst(address, length, size, kind, random.randrange(16))


async def setup(dut: HierarchyObject, closed: list[tuple[int, int]]) -> tuple[Bench, Managers, Memory]:
    bench, managers, memory = Bench(dut, [*INPUTS, "locked_i", "ranges_i"]), Managers(dut), Memory(dut)
    await bench.start(*managers.parts, memory)
    dut.ranges_i.value = sum((first << 20 | last) << 40 * index for index, (first, last) in enumerate(closed))
    dut.locked_i.value = 1
    await bench.cycles(2)
    return bench, managers, memory


@cocotb.test()
async def writes_to_closed_ranges_do_not_reach_memory(dut: HierarchyObject) -> None:
    bench, managers, memory = await setup(dut, CLOSED)
    counts = [0, 0]
    for _ in range(40):
        stall(managers, memory)
        bursts = [random_burst() for _ in range(12)]
        memory.writes.clear()
        for burst in bursts:
            managers.write(burst)
        await bench.run(lambda: len(managers.b.taken) == len(bursts), 100_000)
        passed = iter(memory.writes)
        for burst in bursts:
            number, response = managers.b.taken.popleft()
            assert number == burst.id, "a response is for another write"
            may_pass = burst.may_pass(CLOSED)
            counts[may_pass] += 1
            if may_pass:
                assert next(passed) == (burst.fields(), response)
            else:
                assert response == DECERR, f"{burst} was answered with {response}"
        assert next(passed, None) is None, "a refused write reached memory"
        assert not memory.w.taken and not memory.aw.taken, "data of a refused write reached memory"
    assert min(counts) > 50


@cocotb.test()
async def reads_of_closed_ranges_do_not_reach_memory(dut: HierarchyObject) -> None:
    bench, managers, memory = await setup(dut, CLOSED)
    counts = [0, 0]
    for _ in range(40):
        stall(managers, memory)
        bursts = [random_burst() for _ in range(12)]
        memory.reads.clear()
        for burst in bursts:
            managers.read(burst)
        total = sum(burst.len + 1 for burst in bursts)
        await bench.run(lambda: len(managers.r.taken) == total, 100_000)
        passed = iter(memory.reads)
        for burst in bursts:
            got = [managers.r.taken.popleft() for _ in range(burst.len + 1)]
            may_pass = burst.may_pass(CLOSED)
            counts[may_pass] += 1
            if may_pass:
                assert next(passed) == (burst.fields(), got)
            else:
                ends = [0] * burst.len + [1]
                assert got == [(burst.id, 0, DECERR, end) for end in ends], f"{burst} was answered with {got}"
        assert next(passed, None) is None, "a refused read reached memory"
    assert min(counts) > 50


@cocotb.test()
async def both_directions_work_at_once(dut: HierarchyObject) -> None:
    bench, managers, memory = await setup(dut, CLOSED)
    for _ in range(20):
        stall(managers, memory)
        writes, reads = ([random_burst() for _ in range(8)] for _ in range(2))
        for write, read in zip(writes, reads):
            managers.write(write)
            managers.read(read)
        total = sum(burst.len + 1 for burst in reads)
        await bench.run(lambda: len(managers.b.taken) == 8 and len(managers.r.taken) == total, 100_000)
        managers.b.taken.clear()
        managers.r.taken.clear()


@cocotb.test()
async def the_edges_of_a_range_are_exact(dut: HierarchyObject) -> None:
    bench, managers, memory = await setup(dut, CLOSED)
    for page, is_closed in [(0x8000F, 0), (0x80010, 1), (0x80011, 0), (0x8001F, 0), (0x80020, 1), (0x80023, 1),
                            (0x80024, 0), (0xFFFFD, 0), (0xFFFFE, 1), (0xFFFFF, 1), (0, 1), (1, 1), (2, 0)]:
        for address in (page * PAGE, page * PAGE + PAGE - 1):
            memory.reads.clear()
            managers.read(Burst(address, 0, 0))
            await bench.run(lambda: bool(managers.r.taken), 50)
            assert (managers.r.taken.popleft()[2] == DECERR) == bool(is_closed), f"{address:#x}"
            assert len(memory.reads) == 1 - is_closed


@cocotb.test()
async def nothing_passes_before_the_lock(dut: HierarchyObject) -> None:
    bench, managers, memory = await setup(dut, [(0xFFFFF, 0)] * 4)
    dut.locked_i.value = 0
    for _ in range(10):
        managers.read(Burst(0x8000_0000, 3))
        managers.write(Burst(0x8000_0000, 3))
        await bench.run(lambda: bool(managers.b.taken) and len(managers.r.taken) == 4, 100)
        assert managers.b.taken.popleft()[1] == DECERR and managers.r.taken[0][2] == DECERR
        managers.r.taken.clear()
    assert not memory.reads and not memory.writes
    dut.locked_i.value = 1
    managers.write(Burst(0x8000_0000, 3))
    await bench.run(lambda: bool(managers.b.taken), 100)
    assert len(memory.writes) == 1


@cocotb.test()
async def data_are_offered_to_memory_that_waits_for_them(dut: HierarchyObject) -> None:
    """One write for each order, with nothing else under way: it hangs if data wait for their address."""
    bench, managers, memory = await setup(dut, CLOSED)
    for order in ORDERS:
        memory.order.order = order
        managers.write(Burst(0x8000_0000, 3))
        await bench.run(lambda: bool(managers.b.taken), 40)
        managers.b.taken.clear()


@cocotb.test()
async def what_passes_takes_no_further_cycle(dut: HierarchyObject) -> None:
    """Reads of a line follow each other without a gap; when memory does not answer, fifteen are outstanding."""
    bench, managers, memory = await setup(dut, CLOSED)
    for line in range(20):
        managers.read(Burst(0x8000_0000 + 64 * line, 7))
    start = bench.cycle
    await bench.run(lambda: len(managers.r.taken) == 20 * 8, 1000)
    assert bench.cycle - start == 20 * 8 + 1
    memory.r.stalls = 1.0
    memory.reads.clear()
    for line in range(20):
        managers.read(Burst(0x8000_0000 + 64 * line, 7))
    await bench.cycles(60)
    assert len(memory.reads) == 15
    memory.r.stalls = 0.0
    await bench.run(lambda: len(managers.r.taken) == 2 * 20 * 8, 1000)
