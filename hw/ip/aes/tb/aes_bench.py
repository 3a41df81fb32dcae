"""What the tests of this folder share: the ports of the block cipher, masked or not."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import cocotb
import rijndael
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, ReadWrite

INPUTS = (
    *("key_write_i", "key_index_i", "key_word_i", "expand_i", "len_i", "decrypt_i", "stop_i"),
    *("block_valid_i", "block_i", "result_ready_i"),
)
# `key_len_e` of the package, by bytes.
LENGTHS = {16: 0, 24: 1, 32: 2}
# Cycles of a block: a round a cycle, and those of the paper.
ROUNDS = {16: 10, 24: 12, 32: 14}
MASKED = {16: 51, 24: 61, 32: 71}
# From the command: a cycle for the last word of the key, and one for each further word of the schedule.
EXPANSION = {16: 41, 24: 47, 32: 53}


class Core(Clocked):
    """The ports of `aes_core` and of `aes_masked_core`, whose key and data come in the clear."""

    patience = 1500

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0, inputs: Iterable[str] = INPUTS) -> None:
        super().__init__(dut, inputs, stalls)
        self.is_decryption = False

    async def until_idle(self) -> int:
        return await self.wait_for(self.dut.idle_o)

    async def write_key(self, key: bytes) -> None:
        """All words of a key, in any order."""
        await self.until_idle()
        self.dut.len_i.value = LENGTHS[len(key)]
        for at in random.sample(range(0, len(key), 4), len(key) // 4):
            self.dut.key_index_i.value = at // 4
            self.dut.key_word_i.value = int.from_bytes(key[at : at + 4], "little")
            await self.pulse(self.dut.key_write_i)

    async def load(self, key: bytes, is_decryption: bool = False) -> int:
        """Loads and expands a key. Returns the cycles of the expansion."""
        await self.write_key(key)
        await self.pulse(self.dut.expand_i)
        cycles = await self.until_idle()
        await self.turn(is_decryption)
        return cycles

    async def turn(self, is_decryption: bool) -> None:
        """Chooses the direction; its first round key takes a cycle."""
        self.dut.decrypt_i.value = int(is_decryption)
        self.is_decryption = is_decryption
        await self.tick(2)

    async def process(self, text: bytes, gaps: list[int] | None = None) -> bytes:
        """Blocks as fast as both sides go. `gaps` gets the cycles in which results were taken."""
        parts = rijndael.blocks(text)

        async def send() -> None:
            for part in parts:
                await self.send("block", block=int.from_bytes(part, "little"))

        sending = cocotb.start_soon(send())
        out = b""
        try:
            for _ in parts:
                out += (await self.take("result", self.dut.result_o)).to_bytes(16, "little")
                if gaps is not None:
                    gaps.append(self.cycle)
            await sending
        finally:
            # Also if this text is cancelled.
            sending.cancel()
        return out

    async def settle(self) -> None:
        await ReadWrite()

    async def sample(self) -> None:
        await ReadOnly()


def texts(size: int) -> Iterator[bytes]:
    """Zeros, ones, and any."""
    yield from (bytes(size), b"\xff" * size, random.randbytes(size))


def parameter(dut: Any, name: str) -> int:
    return int(getattr(dut, name).value)
