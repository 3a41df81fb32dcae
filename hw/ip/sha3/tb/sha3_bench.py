"""What the tests of this folder share: functions, and the ports of the core with random stalls."""

from __future__ import annotations

import hashlib
import random
from typing import NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge
from keccak import sponge

# `rate_e` of the package, by bytes.
RATES = {72: 0, 104: 1, 136: 2, 144: 3, 168: 4}
# More cycles than any operation takes without a stall: a longer wait is a hang.
PATIENCE = 500


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


class Core:
    """The ports of `sha3_core`, a cycle at a time. Stalls come with the given probability."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0, rounds_per_cycle: int | None = None) -> None:
        """A netlist has no parameters to read."""
        self.dut = dut
        self.stalls = stalls
        self.cycle = 0
        self.rounds_per_cycle = rounds_per_cycle or int(dut.RoundsPerCycle.value)

    def permutation(self, function: Function) -> int:
        """Cycles of a block."""
        return function.rounds // self.rounds_per_cycle

    async def start_clock(self) -> None:
        """Resets, and waits for the wipe that follows a reset."""
        self.quiet()
        self.dut.function_i.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 10, unit="ns").start())
        cocotb.start_soon(self._count())
        await self.reset()

    def quiet(self) -> None:
        dut = self.dut
        for port in (dut.start_valid_i, dut.wipe_i, dut.msg_valid_i, dut.msg_last_i, dut.word_ready_i):
            port.value = 0
        dut.msg_bytes_i.value = 0

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        await self.tick(2)
        self.dut.rst_ni.value = 1
        await self.until_idle()

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)

    async def until_idle(self) -> None:
        for _ in range(PATIENCE):
            await ReadOnly()
            is_idle = self.dut.idle_o.value == 1
            await self.tick()
            if is_idle:
                return
        raise AssertionError("the core does not become idle")

    async def _taken(self, ready: object) -> None:
        """Waits for the edge at which something offered is taken."""
        for _ in range(PATIENCE):
            await ReadOnly()
            taken = ready.value == 1
            await self.tick()
            if taken:
                return
        raise AssertionError("what is offered is not taken")

    async def _pause(self) -> None:
        while random.random() < self.stalls:
            await self.tick()

    async def start(self, function: Function) -> None:
        dut = self.dut
        await self._pause()
        dut.function_i.value = function.code
        dut.start_valid_i.value = 1
        await self._taken(dut.start_ready_o)
        dut.start_valid_i.value = 0
        # The core keeps it.
        dut.function_i.value = random.getrandbits(12)

    async def words(self, message: bytes, is_end: bool = True) -> None:
        """Bytes after the end of the last word are random: the core ignores them."""
        dut = self.dut
        # An empty last word, for a message of whole words, is as good as a full one.
        ends_empty = is_end and len(message) % 8 == 0 and (not message or random.random() < 0.3)
        starts = [*range(0, len(message), 8), *([len(message)] if ends_empty else [])]
        for at in starts:
            part = message[at : at + 8]
            await self._pause()
            dut.msg_i.value = int.from_bytes(part + random.randbytes(8 - len(part)), "little")
            dut.msg_bytes_i.value = len(part)
            dut.msg_last_i.value = int(is_end and at == starts[-1])
            dut.msg_valid_i.value = 1
            await self._taken(dut.msg_ready_o)
            dut.msg_valid_i.value = 0

    async def cycles_to_output(self) -> int:
        before = self.cycle
        for _ in range(PATIENCE):
            await ReadOnly()
            there, at = self.dut.word_valid_o.value == 1, self.cycle
            await self.tick()
            if there:
                return at - before
        raise AssertionError("no output comes")

    async def squeeze(self, size: int) -> bytes:
        dut = self.dut
        out = b""
        while len(out) < size:
            await self._pause()
            dut.word_ready_i.value = 1
            for _ in range(PATIENCE):
                await ReadOnly()
                word, valid = dut.word_o.value, dut.word_valid_o.value == 1
                await self.tick()
                if valid:
                    break
            else:
                raise AssertionError("no output comes")
            dut.word_ready_i.value = 0
            out += int(word).to_bytes(8, "little")
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
        self.dut.wipe_i.value = 1
        await self.tick()
        self.dut.wipe_i.value = 0

    def is_clear(self) -> bool:
        dut = self.dut
        return all(int(lane.value) == 0 for register in (dut.state_q, dut.u_block.block_o) for lane in register)
