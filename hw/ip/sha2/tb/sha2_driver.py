"""What a driver of the engine does, over its registers (`../data/sha2.rdl`)."""

from __future__ import annotations

import random

import cocotb
from axi_lite import OKAY, Manager
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge
from registers import Registers

REGS = Registers("sha2", __file__)
AT = REGS.offsets("SHA2")
ID, PARAMETERS, CTRL, CMD = (AT[name] for name in ("id", "parameters", "control", "command"))
STATUS, ERROR, INTERRUPT = (AT[name] for name in ("status", "error", "interrupt"))
INTERRUPT_ENABLE, KEY, DIGEST, FIFO = (AT[name] for name in ("interrupt_enable", "key", "digest", "fifo"))
LENGTH_LOW, LENGTH_HIGH = AT["message_length_low"], AT["message_length_high"]

SHA256, HMAC, SHA384, SHA512 = range(1, 5)
MODE = 7
MESSAGE_SWAP, DIGEST_SWAP, STREAM, SLOW = (1 << bit for bit in range(4, 8))
START, PROCESS, STOP, RESUME, ABORT, WIPE = (1 << bit for bit in range(6))
IDLE, EMPTY, FULL, DIGEST_VALID, STATE_VALID, KEY_LOADED, FAILED = (1 << bit for bit in range(7))
BAD_COMMAND, BAD_STOP, BAD_PUSH, BAD_WRITE = (1 << bit for bit in range(4))
DONE_IRQ, EMPTY_IRQ, ERROR_IRQ = (1 << bit for bit in range(3))
BLOCK = 64
PATIENCE = 500


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

    async def start(self) -> None:
        dut = self.dut
        for port in (dut.str_valid_i, dut.str_data_i, dut.str_last_i, dut.str_bytes_i):
            port.value = 0
        dut.lifecycle_i.value = 0
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
        await self.tick(30)

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

    async def write_key(self, key: bytes) -> None:
        await self.until(IDLE)
        padded = key.ljust(BLOCK, b"\0")
        for index in random.sample(range(16), 16):
            word = int.from_bytes(padded[4 * index : 4 * index + 4], "little")
            await self.bus.write(KEY + 4 * index, word)

    async def push(self, message: bytes, with_parts: bool = False) -> None:
        """Stores a message into the window, by whole words if possible, or by random parts."""
        order = "big" if self.config & MESSAGE_SWAP else "little"
        at = 0
        while at < len(message):
            size = min(4, len(message) - at)
            if with_parts:
                size = random.randint(1, size)
            first = random.randrange(5 - size) if with_parts else 0
            part = bytes(first) + message[at : at + size] + bytes(4 - size - first)
            lanes = ((1 << size) - 1) << first
            if order == "big":
                lanes = int(f"{lanes:04b}"[::-1], 2)
            offset = 4 * random.randrange(16)
            await self.bus.store(FIFO + offset, int.from_bytes(part, order), lanes)
            at += size

    async def stream(self, message: bytes, is_end: bool = True) -> None:
        dut = self.dut
        order = "big" if self.config & MESSAGE_SWAP else "little"
        ends = list(range(0, len(message), 4)) or [0]
        for at in ends:
            part = message[at : at + 4]
            while random.random() < self.bus.stalls:
                await self.tick()
            dut.str_data_i.value = int.from_bytes(part.ljust(4, b"\xa5"), order)
            dut.str_bytes_i.value = len(part)
            dut.str_last_i.value = int(is_end and at == ends[-1])
            dut.str_valid_i.value = 1
            while True:
                await ReadOnly()
                taken = dut.str_ready_o.value == 1
                await self.tick()
                if taken:
                    break
            dut.str_valid_i.value = 0

    async def shown(self) -> bytes:
        """The digest: words past its end read as zero."""
        size = {SHA384: 48, SHA512: 64}.get(self.config & MODE, 32)
        whole = await self.shown_whole()
        assert not any(whole[size:]), "there is more than a digest"
        return whole[:size]

    async def shown_whole(self) -> bytes:
        order = "big" if self.config & DIGEST_SWAP else "little"
        words = [await self.bus.get(DIGEST + 4 * index) for index in range(16)]
        return b"".join(word.to_bytes(4, order) for word in words)

    async def show(self, state: bytes) -> None:
        order = "big" if self.config & DIGEST_SWAP else "little"
        for index in range(len(state) // 4):
            word = int.from_bytes(state[4 * index : 4 * index + 4], order)
            await self.bus.write(DIGEST + 4 * index, word)

    async def compute(self, message: bytes, with_parts: bool = False) -> bytes:
        await self.command(START)
        if self.config & STREAM:
            await self.stream(message)
        else:
            await self.push(message, with_parts)
            await self.command(PROCESS)
        await self.until(IDLE | DIGEST_VALID)
        return await self.shown()

    async def expect_errors(self, bits: int) -> None:
        got = await self.bus.get(ERROR)
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.bus.write(ERROR, bits)
        assert await self.bus.get(ERROR) == 0
