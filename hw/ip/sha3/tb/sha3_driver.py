"""What a driver of the engine does, over its registers (`../data/sha3.rdl`)."""

from __future__ import annotations

import random

from cocotb.handle import HierarchyObject
from engine_driver import EngineDriver
from keccak import bytepad, encode_string
from messages import filled, in_words
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
ID, PARAMETERS, CTRL = (AT[name] for name in ("id", "parameters", "control"))
STATUS, INTERRUPT = (AT[name] for name in ("status", "interrupt"))
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


def mode_of(function: Function) -> int:
    """The mode, and the byte after a message of TurboSHAKE."""
    suffix = function.suffix << 8 if function.is_short else 0
    return MODES[function.name] | suffix


class Driver(EngineDriver):
    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, AT, stalls)

    async def write_key(self, rate: int, key: bytes) -> None:
        """A key of more than the register holds is not for this engine."""
        await self.write_key_register(bytepad(encode_string(key), rate)[:KEY_BYTES].ljust(KEY_BYTES, b"\0"))

    async def push(self, message: bytes, is_end: bool = True) -> None:
        """By the 64-bit port, in the protocol of the configuration. The last word may be empty."""
        for part, is_last in in_words(message, 8, is_end):
            word = filled(part, 8, "little")
            final = LAST | len(part) if is_last else random.randrange(9)
            if not self.config & BY_COMMIT and final & LAST:
                await self.bus.write(FINAL, final)
            await self.bus.write(DATA, word & 0xFFFF_FFFF)
            await self.bus.write(DATA + 4, word >> 32)
            if self.config & BY_COMMIT:
                await self.bus.write(FINAL, final | COMMIT)

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
