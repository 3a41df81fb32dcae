"""The core: its verdict, its readers, its burns, single and double faults, and illegal states."""

from __future__ import annotations

import itertools
import os
import random

import cocotb
from clocked import part_of
from cocotb.handle import HierarchyObject
from cocotb.triggers import Timer

from otp_bench import *  # noqa: F403 - names of rows, fields and codes
from otp_bench import Otp, Provisioned


def device(**options: object) -> Provisioned:
    return Provisioned(**options)  # type: ignore[arg-type]


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.4])
async def loads_what_was_provisioned(dut: HierarchyObject, stalls: float) -> None:
    otp = Otp(dut)
    otp.fuses.stalls = stalls
    for lifecycle, reason in [(TEST, NONE), (DEVELOPMENT, NONE), (PRODUCTION, NONE), (RETURNED, NONE)]:
        floor = random.randrange(65)
        made = device(lifecycle=lifecycle, floor=floor, revoked=0b0100, locks=0x2A5A, fields=(0, 2, 4, 5, 7))
        cycles = await otp.boot(made)
        assert stalls or cycles == 3 * (LAST_ROW + 1) + 1, f"the load takes {cycles} cycles"
        assert otp.verdict() == (READY, reason)
        assert int(dut.lifecycle_o.value) == lifecycle
        assert int(dut.floor_o.value) == floor
        assert int(dut.revoked_o.value) == 0b0100 and int(dut.usable_o.value) == 0b0001
        assert int(dut.locked_o.value) == 0x2A5A
        assert otp.good() == 0b00_1011_0101
        assert int(dut.blank_o.value) == 0b11_0100_1010
        assert int(dut.fixed_count_o.value) == 0
        for row in random.sample(range(NUM_ROWS), 40):
            index = FIELD_OF.get(row)
            is_open = row in made.words and (lifecycle == PRODUCTION or (index is not None and index <= BOARD_FIELD))
            assert await otp.get(row) == ((1, made.words[row]) if is_open else (0, 0)), row
            is_public = row in made.words and index in (0, BOARD_FIELD)
            assert await otp.ask(row) == ((1, made.words[row]) if is_public else (0, 0)), row


@cocotb.test()
async def a_device_that_is_not_provisioned_is_not_ready(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    cases = [
        (device(lifecycle=BLANK, floor=0, fields=()), R_BLANK),
        (device(lifecycle=BLANK), R_BLANK),
        (device(lifecycle=SCRAPPED), R_SCRAPPED),
        (device(fields=(0,)), INCOMPLETE),
        (device(fields=(4, 5)), INCOMPLETE),
        (device(revoked=1), INCOMPLETE),
    ]
    for made, reason in cases:
        await otp.boot(made)
        assert otp.verdict() == (FAILED, reason)
        assert int(dut.usable_o.value) == 0
        assert await otp.ask(BOARD) == (0, 0)
        assert (await otp.get(SECRET))[0] == 0
        assert not await otp.send(0)
    # Rows that are no lifecycle, a floor with a gap, a field of which a word is missing.
    for flags in set(range(16)) - {0, 1, 3, 7, 15}:
        await otp.boot(device())
        otp.fuses.rows[LIFECYCLE] = flag_cells(flags)
        await otp.boot()
        assert otp.verdict() == (FAILED, R_LIFECYCLE) and int(dut.lifecycle_o.value) == INVALID
    for gap in (0, 7, 8, 15, 40):
        made = device(floor=50)
        rows = made.rows()
        otp.fuses.rows = rows
        rows[FLOOR + gap // 8] &= ~(0x1F << 5 * (gap % 8))
        await otp.boot()
        assert otp.verdict() == (FAILED, R_FLOOR)
    for index in range(10):
        made = device(fields=tuple(range(10)))
        otp.fuses.rows = made.rows()
        otp.fuses.rows[random.choice(FIELDS[index])] = 0
        await otp.boot()
        assert otp.verdict() == (FAILED, MIXED)
        assert otp.good() == 0x3FF & ~(1 << index)


@cocotb.test()
async def any_single_fault_is_corrected_and_any_double_fault_refused(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    made = device(lifecycle=PRODUCTION, floor=5, revoked=2, locks=0x21)
    rows = made.rows()
    # Every cell of a written word, and of a blank one; every cell of flags.
    places = [(row, bit) for row in (BOARD, FIELDS[1][0]) for bit in range(ROW_BITS)]
    places += [(row, bit) for row in (LIFECYCLE, REVOKED, LOCKS, FLOOR) for bit in range(40)]
    for row, bit in random.sample(places, 60):
        otp.fuses.rows = [*rows]
        otp.fuses.rows[row] ^= 1 << bit
        await otp.boot()
        assert otp.verdict() == (READY, NONE), (row, bit)
        assert (int(dut.lifecycle_o.value), int(dut.floor_o.value)) == (PRODUCTION, 5)
        assert (int(dut.revoked_o.value), int(dut.locked_o.value)) == (2, 0x21)
        assert (int(dut.fixed_count_o.value), int(dut.fixed_row_o.value)) == (1, row)
        assert await otp.get(BOARD) == (1, made.words[BOARD])
    # Two faults in a written word, in its mark or in both.
    for bits in random.sample(list(itertools.combinations(range(ROW_BITS), 2)), 60):
        otp.fuses.rows = [*rows]
        for bit in bits:
            otp.fuses.rows[BOARD] ^= 1 << bit
        await otp.boot()
        reason = HALF if min(bits) >= CODE_BITS else CORRUPTED
        assert otp.verdict() == (FAILED, reason), bits
        assert int(dut.reason_row_o.value) == BOARD and not otp.good() >> BOARD_FIELD & 1
        assert await otp.get(BOARD) == (0, 0)
    # Two cells of a blank row, and of a flag.
    for row, bits in [(FIELDS[1][0], (3, 30)), (FIELDS[1][0], (38, 43)), (LIFECYCLE, (0, 3)), (FLOOR, (30, 31))]:
        otp.fuses.rows = [*rows]
        for bit in bits:
            otp.fuses.rows[row] ^= 1 << bit
        await otp.boot()
        assert otp.verdict() == (FAILED, HALF), (row, bits)


@cocotb.test()
async def the_code_corrects_one_and_detects_two(dut: HierarchyObject) -> None:
    columns = [check_bits(1 << bit) for bit in range(32)] + [1 << bit for bit in range(7)]
    assert len(set(columns)) == 39 and all(column.bit_count() % 2 == 1 for column in columns)
    otp = Otp(dut)
    await otp.boot(device())


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.4])
async def burns_what_it_may(dut: HierarchyObject, stalls: float) -> None:
    otp = Otp(dut)
    otp.fuses.stalls = stalls
    await otp.boot(device(lifecycle=BLANK, floor=0, fields=()))
    # A blank device takes its first step and nothing else.
    assert await otp.burn(BOARD, 1) == NOT_NOW
    assert await otp.burn(LIFECYCLE, 1) == ORDER and await otp.burn(LIFECYCLE, 3) == ORDER
    assert await otp.burn(LIFECYCLE, 0) == DONE
    # The lifecycle of this reset stays.
    assert int(dut.lifecycle_o.value) == BLANK
    await otp.boot()
    assert (otp.verdict(), int(dut.lifecycle_o.value)) == ((READY, NONE), TEST)
    words = {row: random.getrandbits(32) for index in (0, 4, 5, 6) for row in FIELDS[index]}
    order = list(words)
    random.shuffle(order)
    for row in order:
        assert await otp.burn(row, words[row]) == DONE
        assert otp.fuses.rows[row] == word_cells(words[row])
    assert await otp.burn(LIFECYCLE, 1) == DONE
    await otp.boot()
    assert int(dut.lifecycle_o.value) == DEVELOPMENT
    assert await otp.burn(LIFECYCLE, 2) == DONE
    await otp.boot()
    assert otp.verdict() == (READY, NONE) and int(dut.lifecycle_o.value) == PRODUCTION
    for row in random.sample(order, 10):
        assert await otp.get(row) == (1, words[row])
    # The floor rises a step at a time, at once.
    for step in range(11):
        assert await otp.burn(FLOOR + (step + 1) // 8, (step + 1) % 8) == ORDER
        assert await otp.burn(FLOOR + step // 8, step % 8) == DONE
        assert int(dut.floor_o.value) == step + 1
    assert await otp.burn(FLOOR, 3) == DONE and int(dut.floor_o.value) == 11
    assert await otp.burn(REVOKED, 3) == DONE and int(dut.revoked_o.value) == 8
    assert await otp.burn(LOCKS, 1) == DONE and int(dut.locked_o.value) == 2
    assert await otp.burn(FIELDS[1][0], 5) == LOCKED
    assert await otp.burn(LIFECYCLE, 3) == DONE
    await otp.boot()
    assert otp.verdict() == (READY, NONE) and int(dut.lifecycle_o.value) == RETURNED
    assert (int(dut.floor_o.value), int(dut.revoked_o.value), int(dut.locked_o.value)) == (11, 8, 2)
    assert await otp.burn(FIELDS[2][0], 5) == NOT_NOW and await otp.burn(FLOOR + 1, 3) == NOT_NOW
    assert await otp.burn(LIFECYCLE, 4) == DONE
    await otp.boot()
    assert otp.verdict() == (FAILED, R_SCRAPPED)


@cocotb.test()
async def refuses_every_other_burn(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    made = device(lifecycle=DEVELOPMENT, floor=9, locks=0x001)
    await otp.boot(made)
    before = [*otp.fuses.rows]
    word = made.words[BOARD]
    # Another value, also one that only adds cells; a row, a flag or a step that does not exist.
    adds = next(v for v in (random.getrandbits(32) | word for _ in range(10**6)) if v != word)
    assert await otp.burn(BOARD, word ^ 1) == CONFLICT
    assert await otp.burn(BOARD, adds) == CONFLICT
    for row in (12, 15, 20, 23, 104, 127):
        assert await otp.burn(row, 0) == ORDER
    for row, data in [(LIFECYCLE, 5), (LIFECYCLE, 8), (REVOKED, 4), (LOCKS + 1, 6), (LOCKS, 8), (FLOOR + 1, 2), (FLOOR, 64)]:
        assert await otp.burn(row, data) == ORDER, (row, data)
    assert await otp.burn(FIELDS[0][0], made.words[FIELDS[0][0]]) == LOCKED
    await otp.latch(0x3FFF & ~0x1)
    await otp.latch(0)
    for row in (BOARD, SECRET, KEYS, FIELDS[3][2], LIFECYCLE, REVOKED, FLOOR + 1, LOCKS):
        assert await otp.burn(row, 1) == LOCKED
    await otp.boot()
    # Hidden fields, whose cells no one may compare.
    await otp.hide(0x3FF)
    for index in range(10):
        assert await otp.burn(random.choice(FIELDS[index]), random.getrandbits(32)) == LOCKED
    # Secrets in the field.
    assert otp.fuses.rows == before and not otp.fuses.burns
    made = device(lifecycle=PRODUCTION, fields=(0, 4))
    await otp.boot(made)
    before = [*otp.fuses.rows]
    for index in range(5, 10):
        assert await otp.burn(FIELDS[index][0], 5) == NOT_NOW
    assert await otp.burn(FIELDS[1][3], 5) == DONE
    before[FIELDS[1][3]] = word_cells(5)
    assert otp.fuses.rows == before
    # Cells that do not burn.
    for row, data, stuck in [(FIELDS[1][4], 6, 1 << 2), (FIELDS[1][5], 0, 1 << 41), (FLOOR, 3, 1 << 15)]:
        await otp.boot()
        otp.fuses.stuck = {row: stuck}
        assert await otp.burn(row, data) == VERIFY
        assert row == FLOOR or otp.fuses.rows[row] != word_cells(data)
        assert int(dut.floor_o.value) == 3


@cocotb.test()
async def a_word_that_adds_cells_to_a_written_one_is_refused(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    # Code words of which one has all cells of the other.
    one, other = 0, 0b1011
    cases = [(0, v) for v in (random.getrandbits(32) for _ in range(20))] + [(one, other)]
    for value, added in cases:
        assert word_cells(value) & ~word_cells(added) == 0
        await otp.boot(device(lifecycle=TEST, fields=(), words={BOARD: value}))
        assert await otp.burn(BOARD, added) == CONFLICT
        assert otp.fuses.rows[BOARD] == word_cells(value)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def a_hidden_field_is_gone_until_reset(dut: HierarchyObject, stalls: float) -> None:
    otp = Otp(dut)
    otp.seen.stalls = stalls
    made = device(fields=tuple(range(10)))
    await otp.boot(made)
    secrets = {made.words[row] for row in FIELDS[SECRET_FIELD]}
    assert await otp.send(0)
    await otp.run(lambda: dut.sending_o.value == 0)
    assert otp.seen.sent == [(index, made.words[row]) for index, row in enumerate(FIELDS[SECRET_FIELD])]
    # Shut in each cycle of a transfer, with a read under way.
    for cycles in range(30 if stalls else 26):
        await otp.boot()
        assert await otp.send(0)
        await otp.cycles(cycles)
        await otp.strobe("read", read_row=SECRET + cycles % 8)
        sent = len(otp.seen.sent)
        await otp.hide(1 << SECRET_FIELD)
        # What was taken in the cycle of the write came before it.
        assert len(otp.seen.sent) <= sent + 1
        total, otp.seen.sent = len(otp.seen.sent), []
        for _ in range(140):
            await otp.cycles(1)
            assert not otp.seen.shown & secrets
        assert not otp.seen.sent and dut.sending_o.value == 0 and (otp.seen.aborted or total == 8)
        assert (await otp.get(SECRET + 2)) == (0, 0)
        assert not await otp.send(0)
        # Nothing of it is left in the shadow.
        assert all(otp.shadow.rows[row] == 0 for row in FIELDS[SECRET_FIELD])
        assert (await otp.get(KEYS)) == (1, made.words[KEYS])
    for index in range(10):
        await otp.boot()
        await otp.hide(1 << index)
        await otp.hide(0)
        for other, rows in enumerate(FIELDS):
            assert await otp.get(rows[1]) == ((0, 0) if other == index else (1, made.words[rows[1]]))
        assert int(dut.hidden_o.value) == 1 << index


@cocotb.test()
async def keys_are_sent_in_production_only(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    for lifecycle in (TEST, DEVELOPMENT, PRODUCTION, RETURNED):
        made = device(lifecycle=lifecycle, fields=(0, 4, 5, 6, 8))
        await otp.boot(made)
        for key in range(8):
            otp.seen.sent = []
            may = lifecycle == PRODUCTION and key in (0, 1, 3)
            assert await otp.send(key) == may
            if may:
                assert not await otp.send(0), "a second one at the same time"
            await otp.run(lambda: dut.sending_o.value == 0)
            wanted = [(i, made.words[SECRET + 8 * key + i]) for i in range(8)] if may else []
            assert otp.seen.sent == wanted
            assert not otp.seen.leaked, "a word of the key was at the port of the bus"


@cocotb.test()
async def an_upset_of_the_shadow_is_corrected_or_ends_everything(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    made = device()
    for bit in random.sample(range(CODE_BITS), 12):
        await otp.boot(made)
        otp.shadow.rows[BOARD + 2] ^= 1 << bit
        assert await otp.get(BOARD + 2) == (1, made.words[BOARD + 2])
        await otp.cycles(1)
        assert int(dut.fixed_count_o.value) == 1 and int(dut.fixed_row_o.value) == BOARD + 2
        otp.shadow.rows[BOARD + 2] ^= 1 << (bit + 5) % CODE_BITS
        assert await otp.ask(BOARD + 2) == (0, 0)
        await otp.cycles(3)
        await expect_error(otp)


async def expect_error(otp: Otp) -> None:
    """Nothing but a reset leaves it."""
    dut = otp.dut
    for _ in range(2):
        assert dut.error_o.value == 1
        assert otp.verdict() == (FAILED, UPSET)
        assert int(dut.lifecycle_o.value) == INVALID and int(dut.usable_o.value) == 0
        assert int(dut.locked_o.value) == 0x3FFF and int(dut.hidden_o.value) == 0x3FF and int(dut.floor_o.value) == 64
        burns = len(otp.fuses.burns)
        await otp.strobe("burn", burn_row=FLOOR)
        assert otp.seen.refused
        assert await otp.get(BOARD) == (0, 0) and await otp.ask(BOARD) == (0, 0)
        assert not await otp.send(0)
        await otp.cycles(140)
        assert len(otp.fuses.burns) == burns
        assert all(code == 0 for code in otp.shadow.rows), "words are left"


CONTROL = {0xE1, 0xD2, 0x33, 0xB4, 0x55, 0x66, 0x87, 0x78, 0x99}
SEND = {0xE1, 0xD2, 0x33, 0xB4, 0x55}


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    for legal in (CONTROL, SEND):
        assert all((a ^ b).bit_count() >= 4 for a, b in itertools.combinations(legal, 2))
    cases = [(dut.u_control.u_state.u_flop.value_q, code) for code in set(range(256)) - CONTROL]
    cases += [(dut.u_send.u_state.u_flop.value_q, code) for code in set(range(256)) - SEND]
    legal = {BLANK, TEST, DEVELOPMENT, PRODUCTION, RETURNED, SCRAPPED, INVALID}
    cases += [(dut.u_fields.lifecycle_q, code) for code in set(range(256)) - legal]
    cases += [(dut.u_fields.verdict_q, code) for code in set(range(256)) - {LOADING, READY, FAILED}]
    # All of them in one bench of every day: a load takes longer than what follows, so most begin in the middle of one.
    for index, (register, code) in enumerate(cases):
        if index % 40 == 0:
            await otp.boot(device())
        else:
            otp.clear_inputs()
            await otp.reset()
            otp.fuses.ack, otp.fuses.asked = False, None
            await otp.cycles(random.randrange(12))
        register.value = code
        await otp.cycles(2)
        assert dut.error_o.value == 1, f"{register._name} {code:08b}"
        if index % 40 == 0:
            await expect_error(otp)


@cocotb.test()
async def an_upset_of_what_it_decides_with_ends_everything(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    held = dut.u_fields.held_q
    width = len(held)
    for bit in range(width):
        await otp.boot(device()) if bit % 20 == 0 else await otp.cycles(0)
        if bit % 20:
            otp.clear_inputs()
            await otp.reset()
            otp.fuses.ack, otp.fuses.asked = False, None
            await otp.cycles(30)
        held.value = int(held.value) ^ 1 << bit
        await otp.cycles(2)
        assert dut.error_o.value == 1, bit
    await expect_error(otp)


@cocotb.test()
async def a_reset_at_any_time_leaves_nothing(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    made = device()
    await otp.boot(made)
    for _ in range(25):
        otp.clear_inputs()
        await otp.reset()
        otp.fuses.ack, otp.fuses.asked = False, None
        await otp.cycles(random.randrange(1, 300))
        assert otp.verdict()[0] == LOADING
        assert await otp.get(SECRET) == (0, 0) and await otp.ask(BOARD) == (0, 0) and not await otp.send(0)
    await otp.boot()
    assert otp.verdict() == (READY, NONE) and await otp.get(SECRET) == (1, made.words[SECRET])


# Registers of the core that are no data on their way into the array.
UPSETS = {
    "u_control": ["u_state.u_flop.value_q", "u_row.u_flop.value_q", "u_row.u_copy.value_q", "cells_q", "marks_q", "result_q"],
    "u_fields": ["held_q", "parity_q", "lifecycle_q", "verdict_q", "reason_q", "reason_row_q"],
    "u_send": ["u_state.u_flop.value_q", "u_row.u_flop.value_q", "u_row.u_copy.value_q"],
    "": ["pending_q", "bus_row_q", "who_q", "read_row_q", "was_readable_q", "fixed_count_q", "fixed_row_q"],
}


@cocotb.test()
async def no_single_upset_opens_anything(dut: HierarchyObject) -> None:
    otp = Otp(dut)
    paths = [f"{block}.{name}".lstrip(".") for block, names in UPSETS.items() for name in names]
    registers = [part_of(dut, path) for path in paths]
    bits = [(register, bit) for register in registers for bit in range(len(register))]
    count = len(bits) if "HARTLOCK_ALL_CUTS" in os.environ else 70
    for register, bit in random.sample(bits, count):
        for kind in ("blank", "development", "hidden", "load"):
            lifecycle = {"blank": BLANK, "development": DEVELOPMENT}.get(kind, PRODUCTION)
            made = device(lifecycle=lifecycle, fields=tuple(range(10)))
            await otp.boot(made)
            closed = {made.words[row] for index in range(5, 10) for row in FIELDS[index]}
            if kind == "hidden":
                await otp.hide(1 << SECRET_FIELD)
                closed = {made.words[row] for row in FIELDS[SECRET_FIELD]}
            elif kind == "load":
                # In the middle of the load, and read after it.
                otp.clear_inputs()
                await otp.reset()
                otp.fuses.ack, otp.fuses.asked = False, None
                await otp.cycles(random.randrange(310))
                closed = set()
            # Attempts of all readers, with an upset in one of the cycles.
            at = random.randrange(8)
            row = random.choice([row for index in range(5, 10) for row in FIELDS[index]])
            row = random.choice(FIELDS[SECRET_FIELD]) if kind == "hidden" else row
            for cycle in range(14):
                dut.read_i.value, dut.read_row_i.value = int(cycle == 2), row
                dut.seq_req_i.value, dut.seq_row_i.value = int(cycle == 5), row
                dut.send_i.value, dut.send_key_i.value = int(cycle == 7), 0 if kind == "hidden" else row // 8 % 5
                if cycle == at:
                    # What the edge has made of it, and not what was before.
                    await Timer(1, unit="ns")
                    register.value = int(register.value) ^ 1 << bit
                await otp.cycles(1)
                assert not otp.seen.shown & closed, f"{register._path} {bit} {kind}: a closed word is shown"
                assert kind != "blank" or int(dut.verdict_o.value) != READY, f"{register._path} {bit}: ready"
            otp.clear_inputs()
            if kind == "load":
                # Whatever was loaded where: a word of a secret is not that of a public field.
                await otp.cycles(330)
                secrets = {made.words[at] for index in range(5, 10) for at in FIELDS[index]}
                for at in [*FIELDS[0][:3], *FIELDS[BOARD_FIELD]]:
                    assert (await otp.get(at))[1] not in secrets, f"{register._path} {bit}: a secret in row {at}"
                assert int(dut.floor_o.value) >= 3 or dut.error_o.value == 1 or int(dut.verdict_o.value) != READY
