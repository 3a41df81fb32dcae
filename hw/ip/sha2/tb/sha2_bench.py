"""What the tests of this folder share: ports with random stalls, and padding."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge

FIRST, RESUME, NEXT, SAVE = range(4)
# More cycles than any operation takes without a stall: a longer wait is a hang.
PATIENCE = 2000


class Core:
    """The ports of `sha2_core`, a cycle at a time. Stalls come with the given probability."""

    def __init__(
        self, dut: HierarchyObject, stalls: float = 0.0, word_bits: int | None = None
    ) -> None:
        """A netlist has no parameters to read: `word_bits` selects the core then."""
        self.dut = dut
        self.stalls = stalls
        self.cycle = 0
        self.word_bits = word_bits or int(dut.WordBits.value)
        self.lane_bits = len(dut.msg_i)
        self.rounds_per_cycle = self.lane_bits // self.word_bits
        self.rounds = 64 if self.word_bits == 32 else 80
        self.block_bytes = 2 * self.word_bits
        self.state_cycles = 4 // self.rounds_per_cycle
        self.round_cycles = self.rounds // self.rounds_per_cycle
        self.word_cycles = 16 // self.rounds_per_cycle

    async def start(self) -> None:
        """Resets, and waits for the wipe that follows a reset."""
        dut = self.dut
        for port in (dut.cmd_valid_i, dut.cmd_i, dut.is_384_i, dut.wipe_i, dut.msg_valid_i):
            port.value = 0
        for port in (dut.msg_i, dut.state_valid_i, dut.state_i, dut.state_ready_i):
            port.value = 0
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        cocotb.start_soon(self._count())
        await self.reset()

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

    async def until_idle(self) -> int:
        """Cycles until the core is idle."""
        for waited in range(PATIENCE):
            await RisingEdge(self.dut.clk_i)
            await ReadOnly()
            if self.dut.idle_o.value == 1:
                await RisingEdge(self.dut.clk_i)
                return waited
        raise AssertionError("the core does not become idle")

    def _stalls(self) -> bool:
        return random.random() < self.stalls

    async def _send(self, valid: object, ready: object, ports: list[tuple[object, int]]) -> None:
        """Drives values until they are taken, after a random pause. Returns after the edge."""
        while self._stalls():
            await self.tick()
        for port, value in ports:
            port.value = value
        valid.value = 1
        for _ in range(PATIENCE):
            await ReadOnly()
            taken = ready.value == 1
            await RisingEdge(self.dut.clk_i)
            if taken:
                valid.value = 0
                return
        raise AssertionError("the value is not taken")

    async def command(self, cmd: int, is_384: bool = False) -> None:
        dut = self.dut
        dut.is_384_i.value = int(is_384)
        await self._send(dut.cmd_valid_i, dut.cmd_ready_o, [(dut.cmd_i, cmd)])

    async def words(self, block: bytes) -> None:
        dut = self.dut
        size = self.lane_bits // 8
        for at in range(0, len(block), size):
            word = int.from_bytes(block[at : at + size], "big")
            await self._send(dut.msg_valid_i, dut.msg_ready_o, [(dut.msg_i, word)])

    async def load(self, state: bytes) -> None:
        dut = self.dut
        for value in self._turns(state):
            await self._send(dut.state_valid_i, dut.state_ready_o, [(dut.state_i, value)])

    def _turns(self, state: bytes) -> Iterator[int]:
        """The state as it moves: from the end of each lane (interface in ../doc/README.md)."""
        size, half = self.lane_bits // 8, len(state) // 2
        for at in reversed(range(0, half, size)):
            first, second = state[at : at + size], state[half + at : half + at + size]
            # Lane 0 is in the lower bits of the packed array.
            yield int.from_bytes(second + first, "big")

    async def save(self) -> bytes:
        dut = self.dut
        await self.command(SAVE)
        lanes = [b"", b""]
        size = self.lane_bits // 8
        for _ in range(self.state_cycles):
            while self._stalls():
                await self.tick()
            dut.state_ready_i.value = 1
            for _ in range(PATIENCE):
                await ReadOnly()
                value, valid = dut.state_o.value, dut.state_valid_o.value == 1
                await RisingEdge(dut.clk_i)
                if valid:
                    break
            else:
                raise AssertionError("no state comes out")
            dut.state_ready_i.value = 0
            both = int(value).to_bytes(2 * size, "big")
            lanes = [both[size:] + lanes[0], both[:size] + lanes[1]]
        return lanes[0] + lanes[1]

    async def block(
        self, cmd: int, block: bytes, state: bytes | None = None, is_384: bool = False
    ) -> None:
        """A block, its state and its words offered at the same time."""
        loading = cocotb.start_soon(self.load(state)) if state is not None else None
        words = cocotb.start_soon(self.words(block))
        await self.command(cmd, is_384)
        await words
        if loading is not None:
            await loading

    async def digest(self, message: bytes, is_384: bool = False) -> bytes:
        cmd = FIRST
        for block in self.blocks(message):
            await self.block(cmd, block, is_384=is_384)
            cmd = NEXT
        return await self.save()

    def blocks(self, message: bytes) -> list[bytes]:
        return padded_blocks(message, self.block_bytes)


def padded_blocks(message: bytes, size: int) -> list[bytes]:
    """Padding to blocks of this size, FIPS 180-4 §5.1."""
    tail = b"\x80" + bytes((-len(message) - 1 - size // 8) % size)
    length = struct.pack(">Q", 8 * len(message)).rjust(size // 8, b"\0")
    padded = message + tail + length
    return [padded[at : at + size] for at in range(0, len(padded), size)]
