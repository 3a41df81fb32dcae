"""The ports of `sha2_hmac`, with random stalls."""

from __future__ import annotations

import random

from clocked import Clocked
from cocotb.handle import HierarchyObject
from messages import filled, in_words

BLOCK = 64
INPUTS = ("key_valid_i", "key_index_i", "key_i", "start_valid_i", "is_hmac_i", "is_384_i", "resume_i", "bytes_i")
INPUTS += ("stop_valid_i", "msg_valid_i", "msg_i", "msg_last_i", "msg_bytes_i", "state_valid_i")
INPUTS += ("state_i", "state_index_i", "wipe_i", "abort_i", "lifecycle_i")


class Engine(Clocked):
    """The channels for key, message and saved state."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)
        self.rounds_per_cycle = int(dut.RoundsPerCycle.value)
        self.lane = 4 * self.rounds_per_cycle

    async def reset(self) -> None:
        await super().reset()
        await self.until_idle()

    async def until_idle(self) -> int:
        return await self.wait_for(self.dut.idle_o)

    async def write_key(self, key: bytes) -> None:
        """K0 of FIPS 198-1 §4: a longer key would be hashed by software."""
        assert len(key) <= BLOCK
        padded = key.ljust(BLOCK, b"\0")
        dut = self.dut
        for index in random.sample(range(16), 16):
            word = int.from_bytes(padded[4 * index : 4 * index + 4], "big")
            dut.key_index_i.value, dut.key_i.value, dut.key_valid_i.value = index, word, 1
            await self.tick()
        dut.key_valid_i.value = 0

    async def write_state(self, state: bytes) -> None:
        dut = self.dut
        for index in random.sample(range(8), 8):
            word = int.from_bytes(state[4 * index : 4 * index + 4], "big")
            dut.state_index_i.value, dut.state_i.value, dut.state_valid_i.value = index, word, 1
            await self.tick()
        dut.state_valid_i.value = 0

    async def begin(self, is_hmac: bool, resume_after: int | None = None) -> None:
        resume = resume_after is not None
        await self.send("start", is_hmac=is_hmac, resume=resume, bytes=resume_after or 0)

    async def words(self, message: bytes, is_end: bool = True) -> None:
        """The message; with `is_end` the last word says so, and may be empty."""
        for part, is_last in in_words(message, self.lane, is_end, may_end_empty=True):
            word = filled(part, self.lane, "big")
            await self.send("msg", msg=word, msg_bytes=len(part), msg_last=is_last)

    async def stop(self) -> tuple[bytes, int]:
        """Saves the message: its state, and its number of bytes so far."""
        dut = self.dut
        await self.send("stop")
        await self.wait_for(dut.state_valid_o)
        return self.shown(), int(dut.bytes_o.value)

    def shown(self) -> bytes:
        return int(self.dut.digest_o.value).to_bytes(32, "big")

    async def result(self) -> bytes:
        await self.wait_for(self.dut.digest_valid_o)
        return self.shown()

    async def compute(self, message: bytes, is_hmac: bool) -> bytes:
        """Returns the digest, or the MAC with the key that was written."""
        await self.begin(is_hmac)
        await self.words(message)
        return await self.result()

    def silence(self) -> None:
        """Clears all valid signals."""
        dut = self.dut
        for port in (dut.start_valid_i, dut.msg_valid_i, dut.stop_valid_i, dut.key_valid_i):
            port.value = 0
        dut.state_valid_i.value = 0
