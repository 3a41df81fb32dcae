"""The storage on its bus with the model of its array: registers, refusals as errors, stalls, and torn burns."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

from axi_lite import OKAY, SLVERR, Manager
from clocked import Clocked
from otp_bench import *  # noqa: F403 - names of rows, fields and codes
from otp_bench import Provisioned
from registers import Registers

REGS = Registers("otp", __file__)
STATUS, FIELDS_AT, LOCKS_AT, CORRECTED_AT, PROGRESS, HIDE, LATCH, DATA, BURN, SEND, ROWS = (
    REGS[f"OTP_{name}_OFFSET"]
    for name in [*"STATUS FIELDS LOCKS CORRECTED PROGRESS HIDE LATCH DATA BURN SEND ROWS".split()]
)
KEY = 0xB1A5 << 16
IDLE = 1 << 8


class Storage(Clocked):
    """With the register port, which stalls on all channels."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, ["seq_req_i", "seq_row_i", "key_ready_i"], stalls)
        self.bus = Manager(dut, "axil", stalls)

    async def boot(self, made: Provisioned | None = None) -> None:
        if made is not None:
            for row, cells in enumerate(made.rows()):
                self.dut.u_array.rows_q[row].value = cells
        self.clear_inputs()
        await self.reset()
        for _ in range(2000):
            if int(self.dut.verdict_o.value) != LOADING:
                return
            await self.tick()
        raise AssertionError("the load does not end")

    def cells(self, row: int) -> int:
        return int(self.dut.u_array.rows_q[row].value)

    async def write(self, address: int, data: int, strobe: int = 0xF) -> int:
        return (await self.bus.writes([(address, data)], strobe))[0]

    async def read(self, address: int) -> tuple[int, int]:
        return (await self.bus.reads([address]))[0]

    async def burn(self, row: int, data: int) -> int:
        assert await self.write(DATA, data) == OKAY
        response = await self.write(BURN, KEY | row)
        for _ in range(400):
            progress, _ = await self.read(PROGRESS)
            if progress & IDLE:
                break
        result = progress & 7
        assert (response == SLVERR) == (result in (LOCKED, NOT_NOW, ORDER) and not result == ORDER or result == ORDER)
        return result


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def software_sees_the_device(dut: HierarchyObject, stalls: float) -> None:
    storage = await Storage.started(dut, stalls)
    made = Provisioned(floor=17, revoked=0b0010, locks=0x1003, fields=(0, 1, 4, 5, 8))
    await storage.boot(made)
    assert await storage.read(0) == (0x6F747000, OKAY)
    assert await storage.read(STATUS) == (1 | 3 << 16 | 17 << 24, OKAY)
    assert await storage.read(FIELDS_AT) == (0b01_0011_0011 | 0b10_1100_1100 << 10, OKAY)
    assert await storage.read(LOCKS_AT) == (0x1003 | 0b0010 << 16, OKAY)
    assert await storage.read(CORRECTED_AT) == (0, OKAY)
    answers = await storage.bus.reads([ROWS + 4 * row for row in range(128)])
    for row, answer in enumerate(answers):
        assert answer == ((made.words[row], OKAY) if row in made.words else (0, SLVERR)), row
    # A reason with its row.
    storage.dut.u_array.rows_q[BOARD + 3].value = word_cells(1) ^ 3
    await storage.boot()
    assert await storage.read(STATUS) == (2 | CORRUPTED << 4 | (BOARD + 3) << 8 | 3 << 16 | 17 << 24, OKAY)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def software_burns_and_locks(dut: HierarchyObject, stalls: float) -> None:
    storage = await Storage.started(dut, stalls)
    await storage.boot(Provisioned(lifecycle=DEVELOPMENT, floor=0, fields=()))
    value = random.getrandbits(32)
    # Not without the word that unlocks, not by a part of a word.
    assert await storage.write(DATA, value) == OKAY
    for word in (BOARD, 0xB1A4 << 16 | BOARD, 0xFFFF << 16 | BOARD):
        assert await storage.write(BURN, word) == SLVERR
    for strobe in range(0xF):
        for address in (HIDE, LATCH, DATA, BURN, SEND):
            assert await storage.write(address, 0xFFFF_FFFF, strobe) == SLVERR
    assert storage.cells(BOARD) == 0 and await storage.read(FIELDS_AT) == (0x3FF << 10, OKAY)
    assert await storage.burn(BOARD, value) == DONE
    assert storage.cells(BOARD) == word_cells(value)
    assert await storage.burn(BOARD, value) == DONE
    assert await storage.burn(BOARD, value ^ 1) == CONFLICT
    # The word is forgotten after a burn.
    assert await storage.write(BURN, KEY | BOARD + 1) == OKAY
    while not (await storage.read(PROGRESS))[0] & IDLE:
        assert await storage.write(DATA, 1) in (OKAY, SLVERR)
    assert storage.cells(BOARD + 1) == word_cells(0)
    assert await storage.write(LATCH, 1 << BOARD_FIELD) == OKAY
    assert await storage.burn(BOARD + 2, value) == LOCKED
    assert await storage.write(LATCH, 0) == OKAY
    assert await storage.read(LOCKS_AT) == (1 << BOARD_FIELD, OKAY)
    await storage.boot()
    assert await storage.read(LOCKS_AT) == (0, OKAY)
    assert await storage.burn(FLOOR, 0) == DONE
    assert (await storage.read(STATUS))[0] >> 24 == 1


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def the_secret_is_shut(dut: HierarchyObject, stalls: float) -> None:
    storage = await Storage.started(dut, stalls)
    made = Provisioned(fields=tuple(range(10)))
    await storage.boot(made)
    secrets = {made.words[row] for row in FIELDS[SECRET_FIELD]}
    rows = [ROWS + 4 * row for row in FIELDS[SECRET_FIELD]]
    assert {data for data, _ in await storage.bus.reads(rows)} == secrets
    # Sent, and cut off.
    assert await storage.write(SEND, 2 << 8) == OKAY
    assert await storage.write(SEND, 1) == SLVERR
    dut.key_ready_i.value = 1
    sent = []
    for _ in range(60):
        await ReadOnly()
        if dut.key_valid_o.value == 1:
            assert int(dut.key_to_o.value) == 2 and int(dut.key_number_o.value) == 0
            sent.append(int(dut.key_data_o.value))
        await storage.tick()
    assert sent == [made.words[row] for row in FIELDS[SECRET_FIELD]]
    # Reads and the latch at the same time: what comes after the response of the latch has nothing.
    reading = cocotb.start_soon(storage.bus.reads(rows * 4))
    assert await storage.write(HIDE, 1 << SECRET_FIELD) == OKAY
    for _ in range(300):
        await ReadOnly()
        is_read, word = storage.bus.port.r_valid.value == 1, storage.bus.port.r_data.value
        assert is_read or word == 0
        assert word not in secrets, "a word after the latch"
        await storage.tick()
    await reading
    assert await storage.bus.reads(rows) == [(0, SLVERR)] * 8
    assert await storage.write(SEND, 0) == SLVERR and await storage.write(SEND, 1) == OKAY
    assert (await storage.read(FIELDS_AT))[0] >> 20 == 1 << SECRET_FIELD


@cocotb.test()
async def every_other_address_is_an_error(dut: HierarchyObject) -> None:
    storage = await Storage.started(dut)
    await storage.boot(Provisioned())
    readable = {0, STATUS, FIELDS_AT, LOCKS_AT, CORRECTED_AT, PROGRESS}
    addresses = [address for address in range(0, 0x1000, 4) if not ROWS <= address < ROWS + 0x200]
    answers = await storage.bus.reads([*addresses, STATUS + 1, STATUS + 2])
    for address, (data, response) in zip([*addresses, 1, 2], answers, strict=True):
        assert response == (OKAY if address in readable else SLVERR), hex(address)
        assert response == OKAY or data == 0
    writable = {HIDE, LATCH, DATA, BURN, SEND}
    targets = [*(set(addresses) - writable), *range(ROWS, ROWS + 0x200, 4)]
    assert set(await storage.bus.writes([(address, 0xFFFF_FFFF) for address in targets])) == {SLVERR}
    assert await storage.read(FIELDS_AT) == (0b00_0111_0001 | 0b11_1000_1110 << 10, OKAY)


@cocotb.test()
async def a_reset_within_a_burn_leaves_a_torn_row(dut: HierarchyObject) -> None:
    storage = await Storage.started(dut)
    torn = 0
    for cycles in range(0, 130, 5):
        await storage.boot(Provisioned(lifecycle=TEST, fields=()))
        assert await storage.write(DATA, 0x5A5A_A5A5) == OKAY
        assert await storage.write(BURN, KEY | KEYS) == OKAY
        await storage.tick(cycles)
        await storage.boot()
        cells = storage.cells(KEYS)
        assert cells & ~word_cells(0x5A5A_A5A5) == 0
        reason = (await storage.read(STATUS))[0] >> 4 & 15
        marks = (cells >> CODE_BITS).bit_count()
        assert reason == (NONE if cells.bit_count() < 2 else MIXED if marks > 3 else HALF)
        torn += reason == HALF
        assert await storage.burn(KEYS, 0x5A5A_A5A5) == DONE
    assert torn > 5


@cocotb.test()
async def the_sequencer_asks_while_software_reads(dut: HierarchyObject) -> None:
    storage = await Storage.started(dut, 0.3)
    made = Provisioned(fields=tuple(range(10)))
    await storage.boot(made)
    rows = [row for row in made.words if FIELD_OF[row] <= BOARD_FIELD]
    reading = cocotb.start_soon(storage.bus.reads([ROWS + 4 * row for row in made.words]))
    for row in rows * 2:
        dut.seq_req_i.value, dut.seq_row_i.value = 1, row
        await storage.tick()
        dut.seq_req_i.value = int(random.random() < 0.5)
        dut.seq_row_i.value = SECRET
        await ReadOnly()
        assert dut.seq_valid_o.value == 1 and dut.seq_good_o.value == 1
        assert int(dut.seq_data_o.value) == made.words[row]
        await storage.tick()
        dut.seq_req_i.value = 0
        await ReadOnly()
        assert dut.seq_good_o.value == 0 and int(dut.seq_data_o.value) == 0
        await storage.tick()
    assert await reading == [(word, OKAY) for word in made.words.values()]
