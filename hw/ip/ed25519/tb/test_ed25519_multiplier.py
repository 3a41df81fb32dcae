"""`ed25519_multiplier`: products, squares and raw products, back to back."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import Immediate
from cocotb.triggers import ReadOnly

INPUTS = ("clear_i", "start_i", "square_i", "raw_i", "low_i", "to_i", "a_i", "b_i", "take_i")
WORD = 2**64 - 1


def operand() -> int:
    edge = random.randrange(3)
    kinds = (0, edge, 2**256 - 1 - edge, 2**256 - 38 + edge, 2**255 - 19 + edge, 2**64 - 1, 2**192 - 1, 2**256 - 2**64)
    return random.choice((*kinds, *(random.getrandbits(256) for _ in range(6))))


@cocotb.test()
async def multiplies_back_to_back(dut):
    """Every kind after every other, in the cycles of the microcode; the last carry is the writer's."""
    dut.clk_i.value, dut.rst_ni.value = Immediate(0), Immediate(0)
    block = await Clocked.started(dut, INPUTS)
    await block.pulse(dut.clear_i)
    starts: dict[int, tuple[int, int, str, int]] = {}
    # Cycles in which words are taken, and what is wanted: folded (cycle, register, product), and raw words.
    takes: set[int] = set()
    folded: list[tuple[int, int, int]] = []
    raw: list[int] = []
    at = 2
    for number in range(600):
        kind = random.choice(("product", "square", "raw", "low"))
        a = operand()
        b = a if kind == "square" else operand()
        to = 2 * (number % 32)
        starts[at] = (a, b, kind, to)
        length = 10 if kind in ("square", "low") else 16
        if kind in ("product", "square"):
            folded.append((at + length + 7, to, a * b))
            takes |= {at + length + 7 + word for word in range(4)}
        else:
            raw += [a * b >> 64 * word & WORD for word in range(4 if kind == "low" else 8)]
        # The last word of a raw product leaves with the first one of the next product: the microcode has a cycle between.
        at += length + random.choice((0, 0, 0, 1, 5)) + (kind == "raw")
    got: list[tuple[int, int, int]] = []
    got_raw: list[int] = []
    a = b = 0
    words = (0, 0)
    part: list[int] = []
    for cycle in range(at + 40):
        start = starts.get(cycle)
        dut.start_i.value = int(start is not None)
        if start:
            dut.square_i.value = int(start[2] == "square")
            dut.raw_i.value = int(start[2] in ("raw", "low"))
            dut.low_i.value = int(start[2] == "low")
            dut.to_i.value = start[3]
        dut.a_i.value, dut.b_i.value = words
        dut.take_i.value = int(cycle in takes)
        await ReadOnly()
        words = (a >> 64 * int(dut.a_index_o.value) & WORD, b >> 64 * int(dut.b_index_o.value) & WORD)
        if dut.done_o.value == 1:
            part = []
            first = cycle, int(dut.to_o.value), int(dut.carry_o.value), int(dut.all_ones_o.value)
        if cycle in takes:
            part.append(int(dut.word_o.value))
            if len(part) == 4:
                assert first[3] == int(part[1:] == [WORD] * 3)
                value = sum(word << 64 * index for index, word in enumerate(part)) + first[2]
                got.append((first[0], first[1], value))
        if dut.raw_valid_o.value == 1:
            got_raw.append(int(dut.raw_o.value))
        await block.tick()
        if start:
            a, b = start[:2]
    assert got_raw == raw, next((i, len(got_raw), len(raw), hex(g), hex(w)) for i, (g, w) in enumerate(zip(got_raw, raw)) if g != w)
    for (at, to, value), (wanted_at, wanted_to, product) in zip(got, folded, strict=True):
        assert (at, to) == (wanted_at, wanted_to)
        assert value % (2**256 - 38) == product % (2**256 - 38) and value <= 2**256 + 38 * 38
