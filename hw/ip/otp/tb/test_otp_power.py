"""Power cuts: a burn is torn after any number of cells, in any order, and the last cell may stay weak.

What is tried: fresh words, fields, flags of every kind; cut after each number of cells. Then the device starts several
times, burns the same value again, and starts again. Four things must hold.

1. A word that was read as written once is never read as another value, or as blank, later.
2. A floor, a revocation, a lock or a lifecycle that was told once never falls.
3. A row between the two states refuses, with the reason `half`.
4. Burning the same value again completes it; another value is refused.

`HARTLOCK_ALL_CUTS=1` tries all; otherwise a sample by the seed.
"""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.handle import HierarchyObject

from otp_bench import *  # noqa: F403 - names of rows, fields and codes
from otp_bench import Otp, Provisioned

IS_WHOLE = "HARTLOCK_ALL_CUTS" in os.environ
ROUNDS = 6 if IS_WHOLE else 1
STARTS = 4


def sample(numbers: range, count: int) -> list[int]:
    return list(numbers) if IS_WHOLE else sorted(random.sample(numbers, min(count, len(numbers))))


@cocotb.test()
async def a_torn_word_is_half_programmed_or_resumed(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    row = BOARD
    seen: dict[str, int] = {}
    values = [0, 0xFFFF_FFFF, *(random.getrandbits(32) for _ in range(4 * ROUNDS))]
    for value in values:
        full = word_cells(value)
        for cut in sample(range(full.bit_count() + 1), 10):
            for weak in (False, True):
                await otp.boot(Provisioned(lifecycle=DEVELOPMENT, fields=(0,)))
                otp.fuses.cut_after, otp.fuses.leaves_weak = cut, weak
                await otp.burn(row, value)
                told = False
                # Every other start is interrupted itself.
                for _ in range(STARTS):
                    await otp.boot()
                    verdict, reason = otp.verdict()
                    good = otp.good() >> BOARD_FIELD & 1
                    assert not good, "a field of one word is not whole"
                    # The word itself is written, blank, or half; the field with it is mixed, blank, or refused.
                    state = {(READY, NONE): "blank", (FAILED, MIXED): "written", (FAILED, HALF): "half"}.get((verdict, reason))
                    assert state is not None, f"a torn word gives {verdict:#x} {reason}, cut {cut} of {value:#x}"
                    seen[state] = seen.get(state, 0) + 1
                    if state == "written":
                        assert otp.fuses.rows[row] & full == otp.fuses.rows[row] and otp.shadow.rows[row] & 0xFFFF_FFFF == value
                        told = True
                    assert state != "blank" or not told, "a word that was written is blank"
                # Another value: only what adds cells to a row whose mark was not begun.
                other = value ^ 1 << random.randrange(32)
                before = otp.fuses.rows[row]
                strong = before & ~otp.fuses.weak.get(row, 0)
                if strong & ~word_cells(other) or (strong >> CODE_BITS).bit_count() > 1:
                    assert await otp.burn(row, other) == CONFLICT
                    assert otp.fuses.rows[row] == before
                # The same one, torn again, and whole.
                otp.fuses.cut_after = random.randrange(1, 20)
                await otp.burn(row, value)
                await otp.boot()
                weak_before = otp.fuses.weak.get(row, 0)
                result = await otp.burn(row, value)
                # A cell that reads as set is not burned again: it is found weak, or it is not.
                assert result == DONE or (result in (CONFLICT, VERIFY) and weak_before), result
                if result == DONE and not otp.fuses.weak.get(row, 0):
                    assert otp.fuses.rows[row] == full
    dut._log.info("torn words: %s", seen)
    assert {"blank", "half"} <= set(seen)


@cocotb.test()
async def what_flags_told_once_never_falls(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    cases = [(FLOOR, 3), (FLOOR + 1, 0), (REVOKED, 1), (LOCKS, 7), (LOCKS + 1, 3), (LIFECYCLE, 3), (LIFECYCLE, 4)]
    halves = 0
    for row, flag in cases * ROUNDS:
        floor = 3 if row != FLOOR + 1 else 8
        for cut in range(6):
            for weak in (False, True):
                await otp.boot(Provisioned(lifecycle=PRODUCTION, floor=floor, revoked=8, locks=0))
                otp.fuses.cut_after, otp.fuses.leaves_weak = cut, weak
                await otp.burn(row, flag)
                highest = floor, 0, 0, 0
                for _ in range(STARTS):
                    await otp.boot()
                    lifecycle = int(dut.lifecycle_o.value)
                    if lifecycle == INVALID:
                        assert otp.verdict() == (FAILED, HALF)
                    step = {INVALID: highest[3], PRODUCTION: 0, RETURNED: 1, SCRAPPED: 2}[lifecycle]
                    now = int(dut.floor_o.value), int(dut.revoked_o.value), int(dut.locked_o.value), step
                    if otp.verdict() == (FAILED, HALF):
                        halves += 1
                        continue
                    # Between two starts that say what is so, nothing falls.
                    for before, after in zip(highest, now, strict=True):
                        assert after & before == before if row in (REVOKED, LOCKS, LOCKS + 1) else after >= before, (row, cut)
                    highest = now
                if row == LIFECYCLE and highest[3]:
                    continue
                result = await otp.burn(row, flag)
                # The cell that is weak may read as it pleases when it is read back.
                assert result == DONE or (result == VERIFY and otp.fuses.weak.get(row, 0)), (row, flag, cut, result)
                if not otp.fuses.weak.get(row, 0):
                    await otp.boot()
                    assert otp.verdict()[1] != HALF
    assert halves, "no flag was torn"


@cocotb.test()
async def a_field_that_was_torn_between_its_words_is_refused_and_completed(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    for index in (1, BOARD_FIELD, SECRET_FIELD) * ROUNDS:
        made = Provisioned(lifecycle=TEST, fields=(0,))
        await otp.boot(made)
        words = {row: random.getrandbits(32) for row in FIELDS[index]}
        order = list(words)
        random.shuffle(order)
        for position, row in enumerate(order):
            otp.fuses.cut_after = random.randrange(45)
            await otp.burn(row, words[row])
            if not otp.fuses.is_cut:
                otp.fuses.cut_after = None
            await otp.boot()
            assert otp.verdict() in [(FAILED, HALF), (FAILED, MIXED), (READY, NONE)]
            # Ready only if all is blank, or all is there.
            cells = [otp.fuses.rows[at] for at in FIELDS[index]]
            blank = all(value.bit_count() <= 1 for value in cells)
            assert otp.verdict() != (READY, NONE) or blank or position == len(order) - 1
            assert await otp.burn(row, words[row]) == DONE
        await otp.boot()
        assert otp.verdict() == (READY, NONE) and otp.good() >> index & 1
        assert all(otp.fuses.rows[row] == word_cells(word) for row, word in words.items())
