"""`ed25519_writer`: last carries, at every edge."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.handle import Immediate
from cocotb.triggers import ReadOnly

INPUTS = ("clear_i", "mul_done_i", "mul_word_i", "mul_carry_i", "mul_all_ones_i", "mul_to_i", "raw_valid_i",
          "raw_place_i", "raw_i", "add_done_i", "add_word_i", "add_correct_i", "add_less_i", "add_at_edge_i", "add_to_i")
WORD = 2**64 - 1
EDGES = (0, 1, 37, 38, 39, 76, 1443, 1444, 1482)


class Writer(Clocked):
    def __init__(self, dut):
        super().__init__(dut, INPUTS)
        self.clock.value, dut.rst_ni.value = Immediate(0), Immediate(0)

    async def result(self, unit: str, words: list[int], **flags: int) -> int:
        """Drives a result of a unit, and reads what is written."""
        dut, got = self.dut, 0
        to = random.randrange(64)
        for index, word in enumerate(words):
            getattr(dut, f"{unit}_done_i").value = int(index == 0)
            getattr(dut, f"{unit}_to_i").value = to if index == 0 else random.randrange(64)
            getattr(dut, f"{unit}_word_i").value = word
            for name, value in flags.items():
                getattr(dut, f"{unit}_{name}_i").value = value
            await ReadOnly()
            assert dut.write_o.value == 1 and int(dut.place_o.value) == 4 * to + index
            got |= int(dut.word_o.value) << 64 * index
            await self.tick()
        getattr(dut, f"{unit}_done_i").value = 0
        return got


def numbers() -> list[int]:
    edges = [value for edge in EDGES for value in (edge, 2**256 - 1 - edge, 2**255 - 19 + edge, 2**64 - 1 - edge)]
    return edges + [random.getrandbits(256) for _ in range(40)]


@cocotb.test()
async def adds_the_last_carry_of_a_product(dut):
    writer = await Writer.started(dut)
    for value in numbers():
        for carry in (0, 1, 2, 37, 38):
            words = [value >> 64 * index & WORD for index in range(4)]
            ones = int(words[1:] == [WORD] * 3)
            got = await writer.result("mul", words, carry=38 * carry, all_ones=ones)
            want = value + 38 * carry
            want = (want & 2**256 - 1) + 38 * (want >> 256)
            assert got == want < 2**256, f"{value:#x}, carry {carry}: {got:#x}"


@cocotb.test()
async def corrects_sums_and_differences(dut):
    writer = await Writer.started(dut)
    for value in numbers():
        for correct in (0, 1):
            for less in (0, 1):
                words = [value >> 64 * index & WORD for index in range(4)]
                edge = int(words[1:] == [0 if less else WORD] * 3)
                got = await writer.result("add", words, correct=correct, less=less, at_edge=edge)
                want = value + (-38 if less else 38) * correct
                while not 0 <= want < 2**256:
                    want = (want & 2**256 - 1) + 38 * (want >> 256)
                assert got == want, f"{value:#x}, {correct}, {less}: {got:#x}"
