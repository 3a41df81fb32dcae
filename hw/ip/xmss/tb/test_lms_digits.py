"""Digits of Q and of its checksum by `lms_digits`: all types, and values that no signature leads to."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.triggers import ReadOnly
from lms_signer import hss


def row(words: list[int]) -> int:
    """The upper half and the lower half of a row of two words each."""
    return words[2] << 96 | words[3] << 64 | words[0] << 32 | words[1]


@cocotb.test()
async def gives_every_digit_of_every_type(dut):
    inputs = ("clear_i", "is_short_i", "log_width_i", "last_i", "chains_i", "write_i", "row_i", "data_i", "read_i", "index_i")
    block = await Clocked.started(dut, inputs)
    for ots in hss.LM_OTS_TYPES.values():
        for digest in (bytes(32), b"\xff" * 32, b"\x80" + bytes(31), random.randbytes(32), random.randbytes(32)):
            dut.is_short_i.value = ots.n == 24
            dut.log_width_i.value = ots.w.bit_length() - 1
            dut.last_i.value = (1 << ots.w) - 1
            dut.chains_i.value = ots.p
            await block.pulse(dut.clear_i)
            words = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4)]
            # The second row comes first.
            for number, chosen in ((1, [words[i] for i in (2, 3, 6, 7)]), (0, [words[i] for i in (0, 1, 4, 5)])):
                dut.row_i.value = number
                dut.data_i.value = row(chosen)
                await block.pulse(dut.write_i)
            string = digest[: ots.n] + hss.checksum(ots, digest[: ots.n]).to_bytes(2, "big")
            digits = [hss.coef(string, i, ots.w) for i in range(ots.p)]
            # A reader goes first, and delays the walk only.
            dut.index_i.value = chain = random.randrange(8 * ots.n // ots.w)
            dut.read_i.value = 1
            assert await block.sees(dut.digit_o) == digits[chain]
            dut.read_i.value = 0
            assert await block.wait_for(dut.summed_o) == ots.p
            await ReadOnly()
            assert int(dut.steps_o.value) == sum((1 << ots.w) - 1 - digit for digit in digits)
            assert int(dut.ends_o.value) == digits.count((1 << ots.w) - 1)
            await block.tick()
            dut.read_i.value = 1
            for chain, digit in enumerate(digits):
                dut.index_i.value = chain
                assert await block.sees(dut.digit_o) == digit, f"{ots}, {digest.hex()}, chain {chain}"
            dut.read_i.value = 0
