"""The attack of Boneh, DeMillo and Lipton (1997) on RSA-512: a bit flips during one of both powers or their recombination, and
the factors of the modulus are looked for in what the engine releases. With the check it releases nothing that is wrong; without it
(`Hardened` is 0) the same flips give the factors, or the test proves nothing.

`cargo xtask ip bignum --upsets` tries many more of them, all registers and the check itself, but looks for wrong results alone."""

from __future__ import annotations

import os
import random
import sys
from math import gcd
from pathlib import Path

import cocotb
import core_bench as bench
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge
from core_bench import Core
from plan import parameters
from rsa_key import Key

# The simulation is started again without assertions, which a chip has not: they would see many of the flips.
ARGUMENTS = [part for part in Path("/proc/self/cmdline").read_text(encoding="utf-8").split("\0") if part]
if "+verilator+noassert" not in ARGUMENTS:
    sys.stdout.flush()
    os.execv("/proc/self/exe", [*ARGUMENTS, "+verilator+noassert"])

# HARTLOCK_BELLCORE=500 is a long run.
RUNS = int(os.environ.get("HARTLOCK_BELLCORE", "12"))
# Registers below the core: of data, of the walk through the columns, and of the program.
REGISTERS = (
    "u_datapath.u_columns.sum_q", "u_datapath.u_columns.carry_q", "u_datapath.u_columns.q_q", "u_datapath.u_columns.a_q",
    "u_datapath.u_columns.b_q", "u_datapath.out_addr_q", "u_datapath.u_issue.column_q", "u_datapath.u_issue.i_q",
    "u_sequencer.pc_q", "u_sequencer.inverse_q", "u_sequencer.u_position.digit_q", "u_sequencer.u_position.word_q",
)
# Cycles until a program that was upset is taken for one that does not end.
PATIENCE = 90_000
# Steps of the program (`data/private.py`): the powers modulo q and p, and their recombination.
STEPS = (1, 2, 3)


def register(dut, path: str):
    for name in path.split("."):
        dut = getattr(dut, name)
    return dut


async def flip(core: Core, step: int, cycles: int, path: str, choice: float) -> str:
    """A bit, so many cycles after the step began. Between edges, when registers are stable."""
    dut = core.dut
    while int(dut.u_sequencer.step_q.value) != step:
        await core.tick(16)
    await core.tick(cycles)
    await FallingEdge(dut.clk_i)
    target = register(dut, path)
    bit = int(choice * len(target))
    target.value = int(target.value) ^ 1 << bit
    return f"{path} bit {bit}, {cycles} cycles after step {step}"


@cocotb.test()
async def a_flip_gives_no_factor(dut):
    core = await Core.started(dut)
    is_hardened = bool(parameters()["Hardened"])
    key = Key.random(512)
    counts = {"right": 0, "refused": 0, "failed": 0, "hang": 0, "wrong": 0, "factor": 0}
    for turn in range(RUNS):
        base = random.randrange(key.n)
        for operand, value in key.operands(base).items():
            await core.put(operand, value)
        step = STEPS[turn % len(STEPS)]
        await core.begin(bench.PRIVATE, key.bits, key.e.bit_length())
        cycles = random.randrange(200 if step == 3 else 18_000)
        place = await flip(core, step, cycles, REGISTERS[turn % len(REGISTERS)], random.random())
        await First(RisingEdge(dut.done_o), RisingEdge(dut.error_o), ClockCycles(dut.clk_i, PATIENCE))
        await core.tick(2)
        if dut.error_o.value == 1 or dut.idle_o.value == 0:
            counts["failed" if dut.error_o.value == 1 else "hang"] += 1
            await core.reset()
            continue
        if int(dut.result_o.value) != bench.GOOD:
            assert dut.valid_o.value == 0
            counts["refused"] += 1
            continue
        got = await core.get(key.bits // 32)
        if got == key.power(base):
            counts["right"] += 1
            continue
        has_factor = 1 < gcd(pow(got, key.e, key.n) - base, key.n) < key.n
        counts["factor" if has_factor else "wrong"] += 1
        dut._log.info("%s: a wrong result, and %s", place, "a factor" if has_factor else "no factor")
    dut._log.info("flips: %s", counts)
    if is_hardened:
        assert counts["wrong"] == counts["factor"] == 0, f"wrong results are released: {counts}"
        assert counts["refused"] > 0, f"no flip had an effect: {counts}"
    else:
        assert counts["factor"] > 0, f"the attack finds nothing, and proves nothing: {counts}"


@cocotb.test()
async def a_flip_of_a_released_result_gives_no_factor(dut):
    """Words that are read have no parity: a flip there is seen, but it is wrong modulo both primes."""
    core = await Core.started(dut)
    key = Key.random(512)
    base = random.randrange(key.n)
    for operand, value in key.operands(base).items():
        await core.put(operand, value)
    assert (await core.run(bench.PRIVATE, key.bits, key.e.bit_length()))[0] == bench.GOOD
    wrong = 0
    for _ in range(16):
        await core.send("select", select=bench.RESULT)
        got, flipped = 0, random.randrange(16)
        for index in range(16):
            if index == flipped:
                await FallingEdge(dut.clk_i)
                dut.u_port.keep_q.value = int(dut.u_port.keep_q.value) ^ 1 << random.randrange(32)
            got |= await core.take("out", dut.out_o) << 32 * index
        wrong += got != key.power(base)
        assert gcd(pow(got, key.e, key.n) - base, key.n) in (1, key.n)
    dut._log.info("%d of 16 results are read with a wrong bit", wrong)
    assert wrong > 0
