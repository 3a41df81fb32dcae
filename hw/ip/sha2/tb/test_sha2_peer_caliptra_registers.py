"""The SHA-256 engine of Caliptra with its registers: that it computes SHA-256, and in how many cycles.

As `test_sha2_peer.py`, through a bus of one access a cycle. Addresses and bits are those of its `sha256_reg.rdl`.
"""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked, periods
from cocotb.handle import HierarchyObject
from plan import expect_planned_cycles
from sha2_bench import padded_blocks
from test_sha2_peer import BLOCK, compare

CTRL, STATUS, DATA, DIGEST = 0x10, 0x18, 0x80, 0x100
# SHA-256; without this bit it is SHA-224.
INIT, NEXT, MODE, ZEROIZE = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READY, VALID = 1 << 0, 1 << 1
INPUTS = ("cs", "we", "address", "write_data", "debugUnlock_or_scan_mode_switch")


class Registers(Clocked):
    """Its bus: a write takes effect in the next cycle, a read answers in the same."""

    clock_name, reset_name = "clk", "reset_n"
    patience = 200

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)

    async def reset(self) -> None:
        self.dut.cptra_pwrgood.value = 0
        self.dut.reset_n.value = 0
        await self.tick(2)
        self.dut.reset_n.value, self.dut.cptra_pwrgood.value = 1, 1
        await self.tick()

    async def write(self, address: int, value: int) -> None:
        dut = self.dut
        dut.cs.value, dut.we.value, dut.address.value, dut.write_data.value = 1, 1, address, value
        await self.tick()
        dut.cs.value, dut.we.value = 0, 0

    async def read(self, address: int) -> int:
        dut = self.dut
        dut.cs.value, dut.we.value, dut.address.value = 1, 0, address
        value = await self.sees(dut.read_data)
        dut.cs.value = 0
        return value

    async def until_ready(self) -> int:
        for _ in range(self.patience):
            status = await self.read(STATUS)
            if status & READY:
                return status
        raise AssertionError("the engine does not become ready")

    async def put(self, block: bytes) -> None:
        for at in range(0, BLOCK, 4):
            await self.write(DATA + at, int.from_bytes(block[at : at + 4], "big"))

    async def digest(self, message: bytes) -> bytes:
        for number, block in enumerate(padded_blocks(message, BLOCK)):
            await self.put(block)
            await self.until_ready()
            await self.write(CTRL, MODE | (NEXT if number else INIT))
            # The command is a pulse in the cycle after its write.
            await self.tick(2)
        assert await self.until_ready() & VALID
        words = [await self.read(DIGEST + at) for at in range(0, 32, 4)]
        return b"".join(word.to_bytes(4, "big") for word in words)

    async def times(self) -> set[int]:
        """Cycles of consecutive blocks: each is written during the rounds of the one before, and started when the
        status says ready."""
        await self.until_ready()
        await self.write(CTRL, MODE | INIT)
        taken = []
        for _ in range(5):
            await self.put(random.randbytes(BLOCK))
            await self.until_ready()
            taken.append(self.cycle)
            await self.write(CTRL, MODE | NEXT)
        return periods(taken)


@cocotb.test()
async def digests_as_hashlib_does(dut):
    await compare(await Registers.started(dut))


@cocotb.test()
async def takes_the_cycles_of_the_table(dut):
    expect_planned_cycles(dut, __file__, "peer", await (await Registers.started(dut)).times())


@cocotb.test()
async def is_cleared_by_a_command(dut):
    registers = await Registers.started(dut)
    await registers.digest(b"a secret")
    await registers.write(CTRL, ZEROIZE)
    await registers.tick(2)
    assert [await registers.read(DIGEST + at) for at in range(0, 32, 4)] == [0] * 8
    assert not await registers.read(STATUS) & VALID
