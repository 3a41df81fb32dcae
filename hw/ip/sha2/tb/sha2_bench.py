"""What the tests of this folder share: ports with random stalls, and padding."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject

FIRST, RESUME, NEXT, SAVE = range(4)
INPUTS = ("cmd_valid_i", "cmd_i", "is_384_i", "wipe_i", "msg_valid_i", "msg_i")
INPUTS += ("state_valid_i", "state_i", "state_ready_i")


class Core(Clocked):
    """The ports of `sha2_core`."""

    patience = 2000

    def __init__(
        self, dut: HierarchyObject, stalls: float = 0.0, word_bits: int | None = None
    ) -> None:
        """A netlist has no parameters to read: `word_bits` selects the core then."""
        super().__init__(dut, INPUTS, stalls)
        self.word_bits = word_bits or int(dut.WordBits.value)
        self.lane_bits = len(dut.msg_i)
        self.rounds_per_cycle = self.lane_bits // self.word_bits
        self.rounds = 64 if self.word_bits == 32 else 80
        self.block_bytes = 2 * self.word_bits
        self.state_cycles = 4 // self.rounds_per_cycle
        self.round_cycles = self.rounds // self.rounds_per_cycle
        self.word_cycles = 16 // self.rounds_per_cycle

    async def reset(self) -> None:
        """With the wipe that follows."""
        await super().reset()
        await self.until_idle()

    async def until_idle(self) -> None:
        await self.wait_for(self.dut.idle_o)

    async def command(self, cmd: int, is_384: bool = False) -> None:
        await self.send("cmd", cmd=cmd, is_384=is_384)

    async def words(self, block: bytes) -> None:
        size = self.lane_bits // 8
        for at in range(0, len(block), size):
            await self.send("msg", msg=int.from_bytes(block[at : at + size], "big"))

    async def load(self, state: bytes) -> None:
        for value in self._turns(state):
            await self.send("state", state=value)

    def _turns(self, state: bytes) -> Iterator[int]:
        """The state as it moves: from the end of each lane (interface in ../doc/README.md)."""
        size, half = self.lane_bits // 8, len(state) // 2
        for at in reversed(range(0, half, size)):
            first, second = state[at : at + size], state[half + at : half + at + size]
            # Lane 0 is in the lower bits of the packed array.
            yield int.from_bytes(second + first, "big")

    async def save(self) -> bytes:
        await self.command(SAVE)
        return await self.leaving()

    async def leaving(self) -> bytes:
        """The state that leaves next."""
        lanes = [b"", b""]
        size = self.lane_bits // 8
        for _ in range(self.state_cycles):
            value = await self.take("state", self.dut.state_o)
            both = value.to_bytes(2 * size, "big")
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
