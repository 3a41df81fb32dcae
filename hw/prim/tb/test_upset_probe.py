"""The module that tests campaigns of upsets: one password is right, and words come back inverted."""

from __future__ import annotations

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

from upsets_probe import PASSWORD, WORD_MASK

INPUTS = ["ask_valid_i", "ask_data_i", "ask_last_i", "ask_bytes_i", "noise_i"]


@cocotb.test()
async def only_the_password_passes(dut: HierarchyObject) -> None:
    probe = await Clocked.started(dut, INPUTS)
    dut.tell_ready_i.value = 1
    near = [PASSWORD ^ 1 << bit for bit in range(64)]
    for word in (0, WORD_MASK, *near, PASSWORD):
        await probe.reset()
        await probe.send("ask", ask_data=1, ask_last=0, ask_bytes=8)
        await probe.send("ask", ask_data=word, ask_last=1, ask_bytes=8)
        await ReadOnly()
        assert (int(dut.done_o.value), int(dut.pass_o.value)) == (1, int(word == PASSWORD)), hex(word)
        assert (int(dut.tell_valid_o.value), int(dut.tell_data_o.value)) == (1, word ^ WORD_MASK)
        assert dut.alert_o.value == 0
        await probe.tick()
