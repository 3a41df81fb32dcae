"""`otp` on its bus: what software reads after a load, and an error for every access that is refused."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from axi_lite import OKAY, SLVERR, Manager
from clocked import Clocked
from otp_bench import KEYS, LAST_ROW, NUM_ROWS, Provisioned
from registers import Registers

REGS = Registers("otp", __file__)
WINDOW = 0x1000
# Registers that are read only, registers of commands, and the words of the shadow.
READ = ("ID", "STATUS", "FIELDS", "LOCKS", "CORRECTED", "PROGRESS")
COMMANDS = ("HIDE", "LATCH", "DATA", "BURN", "SEND")
ROWS = REGS["OTP_ROWS_OFFSET"]
# Of the status: the verdict that the load went well.
READY = 1


class Device(Clocked):
    """The block with its register port, and an array that only reads."""

    def __init__(self, dut: HierarchyObject, rows: list[int], stalls: float) -> None:
        super().__init__(dut, ["array_ack_i", "array_cells_i", "seq_req_i", "seq_row_i", "key_ready_i"])
        self.rows = rows
        self.bus = Manager(dut, "axil", stalls)
        cocotb.start_soon(self.array())

    async def array(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            asks = dut.rst_ni.value == 1 and dut.array_req_o.value == 1 and dut.array_ack_i.value == 0
            dut.array_ack_i.value = int(asks)
            if asks:
                dut.array_cells_i.value = self.rows[int(dut.array_row_o.value)]

    async def load(self) -> None:
        await self.tick(8 * (LAST_ROW + 2))

    async def read(self, address: int) -> tuple[int, int]:
        return (await self.bus.reads([address]))[0]

    async def write(self, address: int, strobe: int = 0xF) -> int:
        return (await self.bus.writes([(address, random.getrandbits(32))], strobe))[0]


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def software_reads_what_was_provisioned(dut: HierarchyObject, stalls: float) -> None:
    made = Provisioned(floor=5)
    device = await Device.started(dut, made.rows(), stalls)
    await device.load()
    status, response = await device.read(REGS["OTP_STATUS_OFFSET"])
    assert response == OKAY
    assert status & REGS["OTP_STATUS_VERDICT_MASK"] == READY
    assert status >> REGS["OTP_STATUS_FLOOR_SHIFT"] == 5
    for row, word in made.words.items():
        assert await device.read(ROWS + 4 * row) == (word, OKAY), f"row {row}"


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def what_is_refused_is_an_error_and_shows_nothing(dut: HierarchyObject, stalls: float) -> None:
    device = await Device.started(dut, Provisioned().rows(), stalls)
    await device.load()
    offsets = {REGS[f"OTP_{name}_OFFSET"] for name in READ + COMMANDS}
    words = set(range(ROWS, ROWS + 4 * NUM_ROWS, 4))
    for address in random.sample(sorted(set(range(0, WINDOW, 4)) - offsets - words), 40):
        assert await device.read(address) == (0, SLVERR), f"{address:#x}"
        assert await device.write(address) == SLVERR, f"{address:#x}"
    for name in COMMANDS:
        address = REGS[f"OTP_{name}_OFFSET"]
        assert await device.read(address) == (0, SLVERR), name
        assert await device.write(address, random.randrange(1, 0xF)) == SLVERR, name
    for name in READ:
        assert (await device.read(REGS[f"OTP_{name}_OFFSET"]))[1] == OKAY, name
        assert await device.write(REGS[f"OTP_{name}_OFFSET"]) == SLVERR, name
    # A word of a key that was never written is not good, and is refused.
    assert await device.read(ROWS + 4 * (KEYS + 8)) == (0, SLVERR)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def a_key_keeps_its_receiver(dut: HierarchyObject, stalls: float) -> None:
    device = await Device.started(dut, Provisioned(fields=(0, 4, 5, 6, 7)).rows(), stalls)
    await device.load()

    def send(key: int, to: int) -> int:
        shifts = REGS["OTP_SEND_KEY_SHIFT"], REGS["OTP_SEND_TO_SHIFT"]
        return key << shifts[0] | to << shifts[1]

    # The receiver takes nothing, so the second request comes while the first key is sent.
    first, second = send(1, 1), send(0, 2)
    address = REGS["OTP_SEND_OFFSET"]
    assert await device.bus.writes([(address, first)]) == [OKAY]
    assert await device.bus.writes([(address, second)]) == [SLVERR]
    assert (int(dut.key_number_o.value), int(dut.key_to_o.value)) == (1, 1)
    assert dut.key_valid_o.value == 1
