"""`sha2_narrow`: words leave in halves, and a flush between two halves leaves nothing of the word."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

INPUTS = ["flush_i", "valid_i", "data_i", "last_i", "bytes_i", "ready_i"]
# Data, whether it is the last half, and bytes.
Half = tuple[int, int, int]


def halves(word: bytes, is_last: bool) -> list[Half]:
    """What leaves: a word of at most four bytes is one half, and every other word is two."""
    parts = [word] if len(word) <= 4 else [word[:4], word[4:]]
    ends = [0] * (len(parts) - 1) + [int(is_last)]
    return [(int.from_bytes(part.ljust(4, b"\0"), "big"), end, len(part)) for part, end in zip(parts, ends)]


async def cycle(bench: Clocked, expected: Half, is_end: bool, takes: bool, flushes: bool = False) -> None:
    """One cycle with a half on the wires."""
    dut = bench.dut
    dut.ready_i.value, dut.flush_i.value = int(takes), int(flushes)
    await ReadOnly()
    try:
        assert dut.valid_o.value == 1
        assert tuple(int(port.value) for port in (dut.data_o, dut.last_o, dut.bytes_o)) == expected
        assert dut.ready_o.value == int(takes and is_end)
    except AssertionError:
        await bench.let_assertions_fail()
        raise
    await bench.tick()
    dut.flush_i.value = 0


async def send(bench: Clocked, word: bytes, is_last: bool, is_cut: bool = False) -> None:
    """Sends a word. One that is cut has a flush after its first half."""
    dut = bench.dut
    dut.valid_i.value, dut.last_i.value, dut.bytes_i.value = 1, int(is_last), len(word)
    dut.data_i.value = int.from_bytes(word.ljust(8, b"\0"), "big")
    due = halves(word, is_last)
    while due:
        takes = random.random() < 0.6
        await cycle(bench, due[0], len(due) == 1, takes)
        if takes:
            due.pop(0)
        if is_cut and takes:
            # The second half is offered in the cycle of the flush, and may be taken in it.
            await cycle(bench, due[0], True, random.random() < 0.5, flushes=True)
            break
    dut.valid_i.value = 0
    if random.random() < 0.5:
        await bench.tick()


@cocotb.test()
async def words_leave_in_halves(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, INPUTS)
    for _ in range(60):
        for _ in range(random.randrange(4)):
            await send(bench, random.randbytes(8), is_last=False)
        await send(bench, random.randbytes(random.randrange(9)), is_last=True)


@cocotb.test()
async def a_flush_between_halves_ends_a_word(dut: HierarchyObject) -> None:
    bench = await Clocked.started(dut, INPUTS)
    for _ in range(60):
        await send(bench, random.randbytes(8), is_last=False)
        await send(bench, random.randbytes(random.randrange(5, 9)), is_last=True, is_cut=True)
        await send(bench, random.randbytes(random.randrange(9)), is_last=True)
