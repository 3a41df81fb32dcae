"""The DMA engine without a bus for registers: lists, windows, errors, aborts, cycles."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge
from dma_bench import (
    ABORT,
    ALL_SINKS,
    BASE,
    DESTINATION,
    DESTINATIONS,
    NUM_SINKS,
    ORDER,
    OVERLAP,
    PAGE,
    READ,
    RESERVED,
    SCRATCHPAD,
    SIZE,
    SLVERR,
    SOURCE,
    SOURCES,
    START,
    WRAP,
    WRITE,
    Descriptor,
    Setup,
    random_list,
)
from handshakes import ORDERS

HALF = BASE + SIZE // 2
END = BASE + SIZE
TOP = 1 << 32
# Of the state machine.
LEGAL = {0b001011: "idle", 0b010101: "copy", 0b011110: "run", 0b100110: "drain", 0b110011: "error"}


async def setup(dut: HierarchyObject) -> Setup:
    bench = Setup(dut)
    await bench.start()
    return bench


@cocotb.test()
async def moves_ranges_of_any_alignment_and_length(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for number in range(80):
        bench.stall()
        descriptors = random_list(random.randrange(7), 300)
        sinks = random.choice([ALL_SINKS, 0, 1 << random.randrange(NUM_SINKS), random.randrange(8)])
        await bench.check(descriptors, sinks, writes=number % 2 == 0, at=random.randrange(64))


@cocotb.test()
async def moves_every_offset_to_every_offset(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for source in range(8):
        for place in range(8):
            length = random.randrange(1, 40)
            range_ = Descriptor(BASE + 0x1000 - 16 + source, length, HALF + 0x2000 - 16 + place)
            await bench.check([range_, Descriptor(BASE + source, 9, HALF + 0x3000 + place)], writes=True)


@cocotb.test()
async def an_empty_list_is_an_empty_message(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for writes in (False, True):
        await bench.check([], writes=writes)
        # The address of an empty buffer may be anything.
        await bench.check([Descriptor(1, 0, 1), Descriptor(TOP - 1, 0, TOP - 1)], writes=writes)
        assert not bench.memory.reads and not bench.memory.writes
        await bench.check([Descriptor(1, 0), Descriptor(BASE, 5, HALF), Descriptor(0, 0)], writes=writes)


@cocotb.test()
async def carries_out_a_list_of_64_descriptors(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for writes in (False, True):
        descriptors = [Descriptor(BASE + 100 * i + i % 8, i + 1, HALF + 70 * i) for i in range(64)]
        await bench.check(descriptors, writes=writes, at=63)
        assert bench.scratchpad.read == list(range(256 * 63, 256 * 64)), "not each word once"


async def reads_cover_their_own_time(bench: Setup, reads: int) -> None:
    """With fewer reads than cover any latency: as many lines in the time of a read."""
    for latency in (23, 60):
        bench.memory.latency = latency
        cycles = await bench.check([Descriptor(BASE, 16384)])
        assert cycles <= 16384 // (64 * reads) * (latency + 9) + latency, f"{cycles} cycles at {latency}"
        assert bench.memory.max_reads == reads


@cocotb.test()
async def a_sink_gets_eight_bytes_a_cycle(dut: HierarchyObject) -> None:
    """From the doorbell to the end of the list. With a latency of 60 cycles eight reads of eight beats do not cover the
    time of a read."""
    bench = await setup(dut)
    reads = int(dut.NumReads.value)
    if reads < 8:
        await reads_cover_their_own_time(bench, reads)
        return
    for length in (64, 4096, 16384):
        for latency in (1, 23):
            bench.memory.latency = latency
            cycles = await bench.check([Descriptor(BASE, length)])
            assert cycles == length // 8 + latency + 16, f"{cycles} cycles for {length} bytes at {latency}"
    for latency in (60, 120):
        bench.memory.latency = latency
        cycles = await bench.check([Descriptor(BASE, 16384)])
        # 64 beats in the time of a read, from its request to the cycle after its last beat.
        assert cycles <= 16384 // 512 * (latency + 9) + latency, f"{cycles} cycles at {latency}"
        assert bench.memory.max_reads == 8
    bench.memory.latency = 1
    # Unaligned: one word more is read, and the rest of the last word leaves alone.
    assert await bench.check([Descriptor(BASE + 3, 4096)]) == 512 + 1 + 17
    # And written: the last word of the message waits for the last acknowledgement.
    assert await bench.check([Descriptor(BASE + 3, 4096, HALF + 5)], writes=True) == 512 + 1 + 26


@cocotb.test()
async def waits_for_slow_sinks_and_slow_writes(dut: HierarchyObject) -> None:
    """The buffer fills, and so do the outstanding requests; nothing is lost."""
    bench = await setup(dut)
    bench.sinks.stalls = [0.0, 0.8, 0.0]
    await bench.check([Descriptor(BASE + 9, 6000)])
    bench.sinks.stalls = [0.0] * NUM_SINKS
    bench.memory.write_latency = 200
    await bench.check([Descriptor(BASE + 9, 6000, HALF + 2)], writes=True)


@cocotb.test()
async def refuses_a_bad_list_before_any_beat(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    last_source, last_destination = HALF - 1, END - 1
    good = Descriptor(BASE + 5, 100, HALF + 3)
    bad = [
        (RESERVED, Descriptor(BASE, 8, HALF + 0x1000, 1)),
        (RESERVED, Descriptor(BASE, 0, HALF + 0x1000, 1 << 31)),
        (WRAP, Descriptor(TOP - 8, 9, HALF + 0x1000)),
        (WRAP, Descriptor(BASE, TOP - BASE + 1, HALF + 0x1000)),
        (WRAP, Descriptor(BASE, TOP - 1, HALF + 0x1000)),
        (WRAP, Descriptor(BASE + 1, TOP - BASE, HALF + 0x1000)),
        (SOURCE, Descriptor(BASE - 1, 1, HALF + 0x1000)),
        (SOURCE, Descriptor(BASE - 1, 2, HALF + 0x1000)),
        (SOURCE, Descriptor(last_source, 2, HALF + 0x1000)),
        (SOURCE, Descriptor(HALF, 1, HALF + 0x1000)),
        (SOURCE, Descriptor(0, 1, HALF + 0x1000)),
        (SOURCE, Descriptor(BASE, TOP - BASE, HALF + 0x1000)),
        (DESTINATION, Descriptor(BASE, 1, HALF - 1)),
        (DESTINATION, Descriptor(BASE, 2, last_destination)),
        (DESTINATION, Descriptor(BASE, 1, END)),
        (DESTINATION, Descriptor(BASE, 8, TOP - 8)),
        (WRAP, Descriptor(BASE, 8, TOP - 7)),
        (ORDER, Descriptor(BASE, 1, HALF + 102)),
        (ORDER, Descriptor(BASE, 300, HALF)),
    ]
    for cause, descriptor in bad:
        bench.stall()
        count = random.randrange(1, 5)
        more = [Descriptor(BASE, 0)] * random.randrange(3)
        outcome = await bench.carry_out([good, *more, descriptor] + [good] * count, writes=True)
        assert (outcome.done, outcome.cause, outcome.index) == (False, cause, 1 + len(more)), (descriptor, outcome)
        assert not bench.memory.reads and not bench.memory.writes and not bench.sinks.words
    assert bench.sinks.aborts == len(bad)
    # The last bytes of the windows are good, and a list that writes nothing has no destinations to be judged.
    await bench.check([Descriptor(last_source, 1, last_destination)], writes=True)
    await bench.check([Descriptor(BASE, 8, 0), Descriptor(BASE, 8, 0)], writes=False)


@cocotb.test()
async def refuses_a_range_that_overlaps_itself(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    whole = (BASE >> 12, (END - 1) >> 12)
    bench.windows(whole, whole)
    for distance in (-100, -99, -1, 0, 1, 50, 99, 100):
        descriptor = Descriptor(HALF, 100, HALF + distance)
        if abs(distance) < 100:
            outcome = await bench.carry_out([descriptor], writes=True)
            assert (outcome.done, outcome.cause, outcome.index) == (False, OVERLAP, 0), distance
            assert not bench.memory.reads and not bench.memory.writes
        else:
            await bench.check([descriptor], writes=True)


@cocotb.test()
async def windows_may_end_with_the_address_space(dut: HierarchyObject) -> None:
    """Nothing is there: what is judged is good, and nothing is read after the address is offered."""
    bench = await setup(dut)
    bench.memory.stalls = 1.0
    for window in ((0xFFFFF, 0xFFFFF), (0, 0), (0, 0xFFFFF)):
        bench.windows(window, DESTINATIONS)
        address, length = window[0] << 12, ((window[1] - window[0] + 1) << 12) - 1
        await bench.ring([Descriptor(address, min(length, 0xFFFF_FFFF))])
        await bench.bench.run(lambda: dut.ar_valid_o.value == 1, 100)
        assert int(dut.ar_addr_o.value) == address
        await restart(bench)
    # An empty window has nothing in it.
    bench.windows((0xFFFFF, 0), DESTINATIONS)
    for address in (0, BASE, TOP - PAGE):
        outcome = await bench.carry_out([Descriptor(address, 1)])
        assert (outcome.done, outcome.cause) == (False, SOURCE)


async def restart(bench: Setup) -> None:
    """A reset in the middle of whatever is under way."""
    bench.dut.rst_ni.value = 0
    await RisingEdge(bench.dut.clk_i)
    bench.dut.rst_ni.value = 1
    bench.memory.forget()
    bench.scratchpad.answers.clear()
    bench.scratchpad.asked = None
    bench.sinks.offered = [None] * NUM_SINKS
    bench.sinks.parts = [bytearray() for _ in range(NUM_SINKS)]
    bench.events.ends.clear()


@cocotb.test()
async def refuses_to_start_without_its_conditions(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    descriptors = [Descriptor(BASE, 8)] * 3
    dut.locked_i.value = 0
    assert (await bench.carry_out(descriptors)).cause == START
    dut.locked_i.value = 1
    assert (await bench.carry_out([Descriptor(BASE, 8)] * 65)).cause == START
    assert (await bench.carry_out(descriptors, sinks=1 << NUM_SINKS)).cause == START
    assert not bench.scratchpad.read and not bench.memory.reads
    await bench.check(descriptors, at=63)


@cocotb.test()
async def a_list_that_is_rewritten_changes_nothing(dut: HierarchyObject) -> None:
    """An attacker rewrites each word as soon as it was read: what was judged is carried out."""
    bench = await setup(dut)
    for writes in (False, True):
        for _ in range(10):
            bench.stall()

            def rewrite(word: int) -> None:
                bench.scratchpad.words[word] = random.choice([0, 0xFFFF_FFFF, TOP - 64, HALF - 1])

            bench.scratchpad.after = rewrite
            await bench.check(random_list(6, 100), writes=writes)
            words = bench.scratchpad.read
            assert len(words) == len(set(words)) == 24, "a word was read again"


@cocotb.test()
async def an_error_of_the_scratchpad_ends_the_list(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for word in range(12):
        bench.scratchpad.bad = {256 * 3 + word}
        outcome = await bench.carry_out([Descriptor(BASE, 8)] * 3)
        assert (outcome.done, outcome.cause, outcome.index) == (False, SCRATCHPAD, word // 4)
        assert not bench.memory.reads
    bench.scratchpad.bad = set()
    await bench.check([Descriptor(BASE, 8)])


def no_message(bench: Setup) -> bool:
    return not any(bench.sinks.messages)


@cocotb.test()
async def an_error_of_any_read_beat_completes_no_message(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    descriptors = [Descriptor(BASE + 60, 70, HALF), Descriptor(BASE + 0x100, 64, HALF + 100)]
    # Words of both ranges: 7 to 16, and 0 to 7.
    for beat in range(10 + 8):
        for writes in (False, True):
            bench.stall()
            for messages in bench.sinks.messages:
                messages.clear()
            bench.memory.bad_beats = {beat: random.choice([2, 3])}
            outcome = await bench.carry_out(descriptors, writes=writes)
            assert (outcome.done, outcome.cause, outcome.index) == (False, READ, int(beat >= 10)), (beat, outcome)
            assert no_message(bench), "a message was completed"
            assert bench.memory.is_quiet()
    bench.memory.bad_beats = {}
    await bench.check(descriptors, writes=True)


@cocotb.test()
async def an_error_of_any_write_completes_no_message(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    descriptors = [Descriptor(BASE + 60, 170, HALF + 7), Descriptor(BASE + 0x100, 64, HALF + 0x200)]
    for burst in range(4):
        for _ in range(6):
            bench.stall()
            for messages in bench.sinks.messages:
                messages.clear()
            bench.memory.bad_writes = {burst: SLVERR}
            outcome = await bench.carry_out(descriptors, writes=True)
            assert (outcome.done, outcome.cause) == (False, WRITE), (burst, outcome)
            assert no_message(bench), "a message was completed"
            assert bench.memory.is_quiet()
    bench.memory.bad_writes = {}
    await bench.check(descriptors, writes=True)


@cocotb.test()
async def an_abort_in_any_cycle_completes_no_message(dut: HierarchyObject) -> None:
    """A sink has no message, or the whole one, of which all was written, if it took the last word before the abort. The
    next list follows at once, also where a burst was open."""
    bench = await setup(dut)
    descriptors = [Descriptor(BASE + 60, 70, HALF + 7), Descriptor(BASE + 0x100, 64, HALF + 100)]
    message = bench.message(descriptors)
    cycles = 1
    is_early = True
    while is_early:
        # Every second run with stalls: more states for a cycle.
        if cycles % 2:
            bench.stall()
        else:
            bench.memory.stalls = bench.scratchpad.stalls = 0.0
            bench.memory.latency, bench.memory.order, bench.memory.is_single = 3, ORDERS[0], False
            bench.sinks.stalls = [0.0] * NUM_SINKS
        for messages in bench.sinks.messages:
            messages.clear()
        await bench.ring(descriptors, writes=True)
        await bench.bench.cycles(cycles)
        dut.abort_i.value = 1
        await bench.bench.cycles(1)
        dut.abort_i.value = 0
        had = [list(messages) for messages in bench.sinks.messages]
        if not bench.events.ends:
            await bench.bench.run(lambda: bool(bench.events.ends), 40_000)
        ((done, cause, _),) = bench.events.ends
        if not done:
            assert cause == ABORT
            assert bench.sinks.messages == had, "a message was completed after the abort"
            if any(had):
                assert all(messages in ([], [message]) for messages in had), "a message is not the whole"
                assert len(bench.memory.bytes_written) == len(message), "a message has what was not written"
        elif cycles % 2 == 0:
            is_early = False
        await bench.check(descriptors[:1], writes=True)
        cycles += 1
    assert cycles > 50


@cocotb.test()
async def an_abort_ends_a_list_whose_sink_never_takes(dut: HierarchyObject) -> None:
    """The others keep what they have: the whole message, or nothing."""
    bench = await setup(dut)
    for length, whole in ((8, True), (3, True), (9, False), (4000, False)):
        for messages in bench.sinks.messages:
            messages.clear()
        bench.sinks.stalls = [0.0, 0.0, 1.0]
        descriptor = Descriptor(BASE + 5, length, HALF + 3)
        message = bench.message([descriptor])
        await bench.ring([descriptor], writes=True)
        await bench.bench.cycles(400)
        assert dut.busy_o.value == 1 and not bench.events.ends
        dut.abort_i.value = 1
        await bench.bench.cycles(1)
        dut.abort_i.value = 0
        outcome = await bench.end()
        assert (outcome.done, outcome.cause) == (False, ABORT)
        assert bench.sinks.messages == [[message], [message], []] if whole else no_message(bench)
        assert len(bench.memory.bytes_written) == length or not whole
        bench.sinks.stalls = [0.0] * NUM_SINKS
        await bench.check([descriptor], writes=True)


@cocotb.test()
async def an_abort_in_the_cycle_of_the_doorbell_ends_the_list(dut: HierarchyObject) -> None:
    """A change of the lifecycle may come with the command of the lifecycle before."""
    bench = await setup(dut)
    dut.abort_i.value = 1
    await bench.ring([Descriptor(BASE, 100, HALF)], writes=True)
    dut.abort_i.value = 0
    outcome = await bench.end()
    assert (outcome.done, outcome.cause, outcome.index) == (False, ABORT, 0), outcome
    assert no_message(bench) and not bench.memory.reads and not bench.memory.writes
    # Without a list there is nothing to end.
    dut.abort_i.value = 1
    await bench.bench.cycles(3)
    dut.abort_i.value = 0
    assert dut.busy_o.value == 0
    await bench.check([Descriptor(BASE, 100, HALF)], writes=True)


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    descriptors = [Descriptor(BASE + 60, 70, HALF + 7), Descriptor(BASE + 0x100, 64, HALF + 100)]
    for number, state in enumerate(value for value in range(64) if value not in LEGAL):
        bench.memory.latency = 10
        await bench.ring(descriptors, writes=True)
        await bench.bench.cycles(number % 50)
        before = [len(messages) for messages in bench.sinks.messages]
        dut.u_state.u_flop.value_q.value = state
        await bench.bench.cycles(1)
        assert dut.error_o.value == 1, f"{state:06b} is no error"
        dut.start_i.value = 1
        await bench.bench.cycles(150)
        dut.start_i.value = 0
        assert dut.error_o.value == 1 and dut.sink_abort_o.value == 1, f"{state:06b} was left"
        assert [len(messages) for messages in bench.sinks.messages] == before
        # Requests that were offered are completed by the rules of the bus.
        assert bench.memory.is_quiet()
        await restart(bench)
        await bench.bench.cycles(2)
        assert dut.error_o.value == 0
    await bench.check(descriptors, writes=True)


@cocotb.test()
async def an_address_outside_of_its_window_is_an_upset(dut: HierarchyObject) -> None:
    """A fault changes a range after it was judged: the check at the port stops the engine."""
    bench = await setup(dut)
    for index, (first, last) in enumerate([(HALF, HALF + 99), (BASE, BASE + 99)]):
        await bench.ring([Descriptor(BASE, 100, HALF)], writes=True)
        await bench.bench.run(lambda: LEGAL.get(int(dut.u_state.u_flop.value_q.value)) == "run", 40)
        dut.u_buffer.mem[index].value = last << 32 | first
        await bench.bench.cycles(80)
        assert dut.error_o.value == 1
        outside = bench.memory.writes if index else bench.memory.reads
        assert not outside and no_message(bench)
        assert bench.memory.is_quiet()
        await restart(bench)
    await bench.check([Descriptor(BASE, 100, HALF)], writes=True)
