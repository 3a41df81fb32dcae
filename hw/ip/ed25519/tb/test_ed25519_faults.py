"""Upsets of one flip-flop during a signature: no S leaves that does not verify, and no command hangs.

An S that differs from Python's is judged with the R that the engine has shown: an upset that stays can change the next nonce,
which gives another signature that verifies. Where the bench writes the evidence of the verification itself, upsets of S have to
let some wrong ones out, or the campaign shows nothing. Assertions are off: they would see many of the upsets first.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cocotb
from cocotb.triggers import ClockCycles
from ed25519_bench import DONE, GOOD, NONCE, PUBLIC, SIGN, Core, Key, curve, number
from ed25519_bench import verdict as judge
from vectors import wants_all

# The simulation is started again without assertions.
ARGUMENTS = [part for part in Path("/proc/self/cmdline").read_text(encoding="utf-8").split("\0") if part]
if "+verilator+noassert" not in ARGUMENTS:
    sys.stdout.flush()
    os.execv("/proc/self/exe", [*ARGUMENTS, "+verilator+noassert"])

CONTROL = [
    *("u_control." + name for name in (
        "u_state.u_flop.value_q", "u_command.value_q", "u_slot.u_flop.value_q", "u_slot.u_copy.value_q", "u_step.u_flop.value_q",
        "u_step.u_copy.value_q", "u_nonce.value_q", "u_out.value_q", "u_s.value_q", "u_prefix.value_q", "u_passed.value_q",
        "u_missing.value_q", "cycles_q", "wipe_q", "result_q", "done_o", "g_slots[0].u_has.value_q", "g_slots[1].u_has.value_q")),
    *("u_sequencer." + name for name in ("run_q", "first_q", "stay_q", "pc_q", "count_q")),
    "u_rom.code_o",
    *("u_digits." + name for name in (
        "u_state.u_flop.value_q", "bit_q", "second_q", "row_q", "teeth_q", "table_q", "tooth_q", "skip_q", "carry_q", "window_q",
        "k_marks_q", "any_q", "top_q", "at_q", "ended_q", "digit_o", "digit_a_o", "has_a_o", "has_b_o", "in_window_o")),
    *("u_multiplier." + name for name in (
        "run_q", "square_q", "raw_q", "low_q", "column_q", "i_q", "to_q", "flags_q[0]", "flags_q[3]", "word_valid_q",
        "raw_valid_q", "word_last_q", "word_column_q", "word_to_q", "high_valid_q", "high_raw_q", "done_o", "to_o")),
    *("u_adder." + name for name in (
        "run_q", "subtract_q", "raw_q", "small_q", "mask_q", "with_cond_q", "select_q", "if_q", "no_a_q", "cond_kind_q",
        "check_q", "a_q", "b_q", "index_q", "to_q", "done_o", "to_o")),
    *("u_writer." + name for name in ("of_mul_q", "carry_q", "less_q", "index_q", "to_q")),
    *("a_q", "b_q", "rom_q", "from_rom_q", "from_rom_now_q", "index_q"),
]
# What is computed, and what is compared.
RESULTS = [
    *("u_adder." + name for name in (
        "carry_q", "zero_q", "ones_q", "first_bit_q", "cond_q", "correct_o", "less_o", "check_o", "passed_o", "row_q[0]",
        "row_q[1]", "row_q[2]", "row_q[3]")),
    *("u_multiplier." + name for name in (
        "sum_q", "word_q", "high_q", "last_high_q", "carry_q", "ones_q", "product_q", "a_q", "b_q", "lower_q[0]",
        "lower_q[3]", "fold_q[0]", "fold_q[3]", "tile_q[0][0]", "tile_q[3][3]")),
    *("u_control." + name for name in (
        "u_passed.value_q", "u_missing.value_q", "u_s.value_q", "result_q", "u_state.u_flop.value_q")),
    *("a_word", "b_word"),
]
# Of which S is made.
NUMBERS = [*("u_multiplier." + name for name in ("sum_q", "product_q", "a_q", "b_q")), "u_adder.row_q[0]", "a_word", "b_word"]
# The cycles of SIGN before its end in which results are upset, and the first ones, in which S is computed.
LAST = 2000
RESPONSE = 293


class Bench:
    def __init__(self, core: Core) -> None:
        self.core, self.dut = core, core.dut
        self.key = Key.of_seed(random.randbytes(32))
        self.public = self.key.public()

    def bits(self, names: list[str]) -> Iterator[tuple[str, object, int]]:
        for name in names:
            handle = self.dut
            for part in name.replace("[", ".[").split("."):
                handle = handle[int(part[1:-1])] if part[0] == "[" else getattr(handle, part)
            for bit in range(len(handle)):
                yield f"{name}.{bit}", handle, bit

    async def prepare(self) -> None:
        await self.core.reset()
        assert await self.core.load(0, self.key.scalar, self.key.prefix) == DONE
        assert (await self.core.run(PUBLIC, 0))[0] == DONE

    async def signature(
        self, upset: tuple[object, int] | None, cycle: int, is_checked: bool = True
    ) -> tuple[str, int]:
        """What came of a signature with an upset, and its cycles. Unless it is checked, all evidence is there from the
        first cycle on."""
        core, dut = self.core, self.dut
        nonce, challenge = random.randbytes(64), random.randbytes(64)
        await core.digest(nonce)
        assert (await core.run(NONCE))[0] == DONE
        r = await core.shown()
        await core.digest(challenge)
        await core.begin(SIGN, 0)
        start = core.now()
        if not is_checked:
            control = dut.u_control
            control.u_passed.value_q.value, control.u_missing.value_q.value = 2 ** len(control.u_passed.value_q) - 1, 0
        if upset:
            await ClockCycles(dut.clk_i, cycle)
            handle, bit = upset
            handle.value = int(handle.value) ^ 1 << bit
        await core.tick()
        for _ in range(100):
            # A result may come in the cycle of the upset, so it is waited for by what stays.
            if dut.idle_o.value == 1 or dut.error_o.value == 1:
                break
            await ClockCycles(dut.clk_i, 700)
        else:
            await self.prepare()
            return "hang", 0
        cycles = core.now() - start
        await core.tick(2)
        if dut.error_o.value == 1:
            shown = await core.shown(True)
            await self.prepare()
            return ("alert" if shown == bytes(32) else "LEAK"), cycles
        shown = number(await core.shown(True))
        right = (number(nonce) + number(challenge) * self.key.scalar) % curve.L
        verdict = "nothing" if shown == 0 else "right" if shown == right else "WRONG"
        if verdict == "WRONG" and judge(self.public, r + shown.to_bytes(32, "little"), challenge) == GOOD:
            verdict = "another nonce"
        # A slot may have been upset, too.
        if verdict != "right" or int(dut.public_o.value) != 1 or int(dut.idle_o.value) != 1:
            await self.prepare()
        return verdict, cycles

    async def campaign(
        self, names: list[str], count: int, first: int, last: int, is_checked: bool = True
    ) -> Counter[str]:
        """`count` upsets of random bits; with all of them wanted, every bit that often."""
        every = list(self.bits(names))
        chosen = every * count if wants_all() else random.sample(every, min(count, len(every)))
        results: Counter[str] = Counter()
        for name, handle, bit in chosen:
            cycle = random.randrange(first, last)
            verdict, _ = await self.signature((handle, bit), cycle, is_checked)
            results[verdict] += 1
            if verdict in ("WRONG", "LEAK", "hang") and is_checked:
                self.dut._log.warning("%s: %s in cycle %d", verdict, name, cycle)
        return results


@cocotb.test()
async def no_wrong_s_leaves(dut):
    bench = Bench(await Core.started(dut))
    await bench.prepare()
    verdict, cycles = await bench.signature(None, 0)
    assert verdict == "right"
    control = await bench.campaign(CONTROL, 3 if wants_all() else 25, 1, cycles - 710)
    last = await bench.campaign(RESULTS + CONTROL, 1 if wants_all() else 20, cycles - LAST - 700, cycles - 710)
    for name, results in (("control, any cycle", control), ("results and control, at the end", last)):
        dut._log.info("stored vectors: upsets of %s: %s", name, dict(sorted(results.items())))
        assert results["WRONG"] == results["LEAK"] == results["hang"] == 0, name
    assert control["nothing"] + control["alert"] > 0


@cocotb.test()
async def without_the_verification_wrong_ones_do(dut):
    """The campaign sees what it looks for."""
    bench = Bench(await Core.started(dut))
    await bench.prepare()
    results = await bench.campaign(NUMBERS, 1 if wants_all() else 12, 1, RESPONSE, is_checked=False)
    dut._log.info("stored vectors: upsets without a verification: %s", dict(sorted(results.items())))
    assert results["WRONG"] > 0, "no upset makes a wrong S: the campaign is blind"


@cocotb.test()
async def an_upset_while_idle_does_not_stay(dut):
    """A sum that is left from an upset would be the start of the next one, and of another nonce for the same message."""
    bench = Bench(await Core.started(dut))
    await bench.prepare()
    results: Counter[str] = Counter()
    for bit in random.sample(range(131), 6):
        assert dut.idle_o.value == 1
        handle = dut.u_multiplier.sum_q
        handle.value = int(handle.value) ^ 1 << bit
        await bench.core.tick()
        verdict, _ = await bench.signature(None, 0)
        results[verdict] += 1
    dut._log.info("stored vectors: upsets while idle: %s", dict(sorted(results.items())))
    assert results == {"right": 6}
