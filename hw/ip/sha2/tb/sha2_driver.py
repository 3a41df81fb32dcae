"""What a driver of the engine does, over its registers (`../data/sha2.rdl`)."""

from __future__ import annotations

import random
from typing import Literal

from cocotb.handle import HierarchyObject
from engine_driver import EngineDriver
from registers import Registers

REGS = Registers("sha2", __file__)
AT = REGS.offsets("SHA2")
ID, PARAMETERS, CTRL = (AT[name] for name in ("id", "parameters", "control"))
STATUS, ERROR, INTERRUPT = (AT[name] for name in ("status", "error", "interrupt"))
INTERRUPT_ENABLE, KEY, DIGEST, FIFO = (AT[name] for name in ("interrupt_enable", "key", "digest", "fifo"))
LENGTH_LOW, LENGTH_HIGH = AT["message_length_low"], AT["message_length_high"]

SHA256, HMAC, SHA384, SHA512 = range(1, 5)
MODE = 7
MESSAGE_SWAP, DIGEST_SWAP, STREAM = (1 << bit for bit in range(4, 7))
START, PROCESS, STOP, RESUME, ABORT, WIPE = (1 << bit for bit in range(6))
IDLE, EMPTY, FULL, DIGEST_VALID, STATE_VALID, KEY_LOADED, FAILED = (1 << bit for bit in range(7))
BAD_COMMAND, BAD_STOP, BAD_PUSH, BAD_WRITE = (1 << bit for bit in range(4))
DONE_IRQ, EMPTY_IRQ, ERROR_IRQ = (1 << bit for bit in range(3))
BLOCK = 64


class Driver(EngineDriver):
    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, AT, stalls)

    @property
    def message_order(self) -> Literal["big", "little"]:
        return "big" if self.config & MESSAGE_SWAP else "little"

    async def write_key(self, key: bytes) -> None:
        await self.write_key_register(key.ljust(BLOCK, b"\0"))

    async def push(self, message: bytes, with_parts: bool = False) -> None:
        """Stores a message into the window, by whole words if possible, or by random parts."""
        order = self.message_order
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
            await self.bus.write(FIFO + offset, int.from_bytes(part, order), lanes)
            at += size

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
