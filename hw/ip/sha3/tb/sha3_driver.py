"""What a driver of the engine does, over its registers (`../data/sha3.rdl`)."""

from __future__ import annotations

import random

import cocotb
from axi_lite import OKAY, Manager
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge
from keccak import bytepad, encode_string
from registers import Registers
from sha3_bench import (
    CSHAKE128,
    CSHAKE256,
    LEAF128,
    SHA3_224,
    SHA3_256,
    SHA3_384,
    SHA3_512,
    SHAKE128,
    SHAKE256,
    TURBO128,
    Function,
)

REGS = Registers("sha3", __file__)
AT = REGS.offsets("SHA3")
ID, PARAMETERS, CTRL, CMD = (AT[name] for name in ("id", "parameters", "control", "command"))
STATUS, ERROR, INTERRUPT = (AT[name] for name in ("status", "error", "interrupt"))
INTERRUPT_ENABLE, FINAL, DATA, KEY, DIGEST = (
    AT[name] for name in ("interrupt_enable", "final_size", "data", "key", "digest")
)

MODES = {
    SHA3_224.name: 1,
    SHA3_256.name: 2,
    SHA3_384.name: 3,
    SHA3_512.name: 4,
    SHAKE128.name: 5,
    SHAKE256.name: 6,
    CSHAKE128.name: 7,
    CSHAKE256.name: 8,
    TURBO128.name: 11,
    LEAF128.name: 11,
}
KMAC128, KMAC256 = 9, 10
STREAM, BY_COMMIT = 1 << 4, 1 << 5
START, SQUEEZE, ABORT, WIPE = (1 << bit for bit in range(4))
IDLE, DATA_FREE, DIGEST_VALID, KEY_LOADED, FAILED = (1 << bit for bit in range(5))
BAD_COMMAND, BAD_PUSH, BAD_WRITE = (1 << bit for bit in range(3))
DONE_IRQ, ERROR_IRQ = 1, 2
LAST, COMMIT = 1 << 8, 1 << 9
KEY_BYTES = 72
# The ways of a message into the engine.
FEEDS = (0, BY_COMMIT, STREAM)
PATIENCE = 500


def mode_of(function: Function) -> int:
    """The mode, and the byte after a message of TurboSHAKE."""
    suffix = function.suffix << 8 if function.is_short else 0
    return MODES[function.name] | suffix


class Bus(Manager):
    """Also by parts of a word."""

    async def store(self, address: int, data: int, lanes: int) -> None:
        assert await self.writes([(address, data)], strobe=lanes) == [OKAY], f"no write at {address:#x}"


class Driver:
    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        self.dut = dut
        self.bus = Bus(dut, "axil", stalls)
        self.cycle = 0
        self.config = 0

    async def start_clock(self) -> None:
        dut = self.dut
        for port in (dut.str_valid_i, dut.str_data_i, dut.str_last_i, dut.str_bytes_i, dut.lifecycle_i):
            port.value = 0
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        cocotb.start_soon(self._count())
        await self.reset()

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        await self.tick(2)
        self.dut.rst_ni.value = 1
        await self.tick(40)

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)

    async def until(self, bits: int) -> int:
        for _ in range(PATIENCE):
            status = await self.bus.get(STATUS)
            if status & bits == bits:
                return status
        raise AssertionError(f"{bits:#x} do not come in STATUS, which is {status:#x}")

    async def configure(self, config: int) -> None:
        await self.until(IDLE)
        self.config = config
        await self.bus.write(CTRL, config)
        assert await self.bus.get(CTRL) == config

    async def command(self, bits: int) -> None:
        await self.bus.write(CMD, bits)

    async def write_key(self, rate: int, key: bytes) -> None:
        """A key of more than the register holds is not for this engine."""
        await self.until(IDLE)
        block = bytepad(encode_string(key), rate)[:KEY_BYTES].ljust(KEY_BYTES, b"\0")
        for index in random.sample(range(KEY_BYTES // 4), KEY_BYTES // 4):
            word = int.from_bytes(block[4 * index : 4 * index + 4], "little")
            await self.bus.write(KEY + 4 * index, word)

    async def push(self, message: bytes, is_end: bool = True) -> None:
        """By the 64-bit port, in the protocol of the configuration. The last word may be empty."""
        starts = list(range(0, len(message), 8)) or [0]
        for at in starts:
            part = message[at : at + 8]
            word = int.from_bytes(part + random.randbytes(8 - len(part)), "little")
            final = LAST | len(part) if is_end and at == starts[-1] else random.randrange(9)
            if not self.config & BY_COMMIT and final & LAST:
                await self.bus.write(FINAL, final)
            await self.bus.write(DATA, word & 0xFFFF_FFFF)
            await self.bus.write(DATA + 4, word >> 32)
            if self.config & BY_COMMIT:
                await self.bus.write(FINAL, final | COMMIT)

    async def stream(self, message: bytes, is_end: bool = True) -> None:
        dut = self.dut
        starts = list(range(0, len(message), 8)) or [0]
        for at in starts:
            part = message[at : at + 8]
            while random.random() < self.bus.stalls:
                await self.tick()
            dut.str_data_i.value = int.from_bytes(part + random.randbytes(8 - len(part)), "little")
            dut.str_bytes_i.value = len(part)
            dut.str_last_i.value = int(is_end and at == starts[-1])
            dut.str_valid_i.value = 1
            while True:
                await ReadOnly()
                taken = dut.str_ready_o.value == 1
                await self.tick()
                if taken:
                    break
            dut.str_valid_i.value = 0

    async def feed(self, message: bytes, is_end: bool = True) -> None:
        await (self.stream if self.config & STREAM else self.push)(message, is_end)

    async def shown(self) -> bytes:
        words = [await self.bus.get(DIGEST + 4 * index) for index in range(42)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    async def compute(self, message: bytes, size: int, rate: int) -> bytes:
        """A digest has nothing past its end; of output without end, as many blocks as it takes."""
        await self.command(START)
        await self.feed(message)
        out = b""
        while len(out) < size:
            if out:
                await self.command(SQUEEZE)
            await self.until(DIGEST_VALID)
            shown = await self.shown()
            assert not any(shown[rate:]), "there is more than a block"
            out += shown[:rate]
        return out[:size]

    async def expect_errors(self, bits: int) -> None:
        got = await self.bus.get(ERROR)
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.bus.write(ERROR, bits)
        assert await self.bus.get(ERROR) == 0
