"""What the tests of this folder share: functions, and the ports of the core with random stalls."""

from __future__ import annotations

import hashlib
import random
from typing import NamedTuple

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject
from keccak import sponge
from messages import filled, in_words

# `rate_e` of the package, by bytes.
RATES = {72: 0, 104: 1, 136: 2, 144: 3, 168: 4}
INPUTS = ("start_valid_i", "function_i", "wipe_i", "msg_valid_i", "msg_last_i", "msg_bytes_i", "word_ready_i")


class Function(NamedTuple):
    """A sponge; `size` is the bytes of its digest, or zero if there is no end of its output."""

    name: str
    rate: int
    suffix: int
    size: int = 0
    is_short: bool = False

    @property
    def rounds(self) -> int:
        return 12 if self.is_short else 24

    @property
    def code(self) -> int:
        """`function_t` of the package."""
        return RATES[self.rate] << 9 | int(self.is_short) << 8 | self.suffix

    def digest(self, message: bytes, size: int = 0) -> bytes:
        size = size or self.size or 32
        if self.name in hashlib.algorithms_guaranteed:
            judge = hashlib.new(self.name, message)
            return judge.digest() if self.size else judge.digest(size)
        return sponge(self.rate, self.suffix, message, size, self.rounds)


SHA3_224, SHA3_256 = Function("sha3_224", 144, 0x06, 28), Function("sha3_256", 136, 0x06, 32)
SHA3_384, SHA3_512 = Function("sha3_384", 104, 0x06, 48), Function("sha3_512", 72, 0x06, 64)
SHAKE128, SHAKE256 = Function("shake_128", 168, 0x1F), Function("shake_256", 136, 0x1F)
CSHAKE128, CSHAKE256 = Function("cSHAKE128", 168, 0x04), Function("cSHAKE256", 136, 0x04)
TURBO128 = Function("TurboSHAKE128", 168, 0x1F, is_short=True)
# The leaves of KT128 (RFC 9861 §3.2).
LEAF128 = Function("KT128's leaf", 168, 0x0B, is_short=True)
FUNCTIONS = [
    *(SHA3_224, SHA3_256, SHA3_384, SHA3_512, SHAKE128, SHAKE256),
    *(CSHAKE128, CSHAKE256, TURBO128, LEAF128),
]


class Core(Clocked):
    """The ports of `sha3_core`."""

    patience = 500

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0, rounds_per_cycle: int | None = None) -> None:
        """A netlist has no parameters to read."""
        super().__init__(dut, INPUTS, stalls)
        self.rounds_per_cycle = rounds_per_cycle or int(dut.RoundsPerCycle.value)

    def permutation(self, function: Function) -> int:
        """Cycles of a block."""
        return function.rounds // self.rounds_per_cycle

    async def reset(self) -> None:
        """With the wipe that follows."""
        await super().reset()
        await self.until_idle()

    async def until_idle(self) -> None:
        await self.wait_for(self.dut.idle_o)

    async def start(self, function: Function) -> None:
        await self.send("start", function=function.code)
        # The core keeps it.
        self.dut.function_i.value = random.getrandbits(12)

    async def words(self, message: bytes, is_end: bool = True) -> None:
        # An empty last word, for a message of whole words, is as good as a full one.
        for part, is_last in in_words(message, 8, is_end, may_end_empty=True):
            await self.send("msg", msg=filled(part, 8, "little"), msg_bytes=len(part), msg_last=is_last)

    async def cycles_to_output(self) -> int:
        return await self.wait_for(self.dut.word_valid_o)

    async def squeeze(self, size: int) -> bytes:
        out = b""
        while len(out) < size:
            out += (await self.take("word", self.dut.word_o)).to_bytes(8, "little")
        return out[:size]

    async def digest(self, function: Function, message: bytes, size: int = 0) -> bytes:
        words = cocotb.start_soon(self.words(message))
        try:
            await self.start(function)
            await words
            return await self.squeeze(size or function.size or 32)
        finally:
            # Also if this message is cancelled.
            words.cancel()

    async def wipe(self) -> None:
        await self.pulse(self.dut.wipe_i)

    def is_clear(self) -> bool:
        dut = self.dut
        return all(int(lane.value) == 0 for register in (dut.state_q, dut.u_block.block_o) for lane in register)
