"""The ports of `sha2_hmac`, with random stalls."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, RisingEdge

# More cycles than any operation takes without a stall: a longer wait is a hang.
PATIENCE = 3000
BLOCK = 64


class Engine:
    """A cycle at a time. Stalls come with the given probability."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        self.dut = dut
        self.stalls = stalls
        self.cycle = 0
        self.rounds_per_cycle = int(dut.RoundsPerCycle.value)
        self.lane = 4 * self.rounds_per_cycle

    async def start(self) -> None:
        dut = self.dut
        for port in (dut.key_valid_i, dut.key_index_i, dut.key_i, dut.start_valid_i, dut.is_hmac_i):
            port.value = 0
        for port in (dut.resume_i, dut.bytes_i, dut.stop_valid_i, dut.msg_valid_i, dut.msg_i):
            port.value = 0
        for port in (dut.msg_last_i, dut.msg_bytes_i, dut.slow_i, dut.state_valid_i, dut.state_i):
            port.value = 0
        dut.is_384_i.value = 0
        for port in (dut.state_index_i, dut.wipe_i, dut.abort_i, dut.lifecycle_i):
            port.value = 0
        cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
        cocotb.start_soon(self._count())
        await self.reset()

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        await self.tick(2)
        self.dut.rst_ni.value = 1
        await self.tick()
        await self.until_idle()

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            self.cycle += 1

    async def tick(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await RisingEdge(self.dut.clk_i)

    async def sees(self, port: object) -> int:
        """A value in the middle of a cycle. Goes on to the next."""
        await ReadOnly()
        value = int(port.value)
        await self.tick()
        return value

    async def until(self, port: object) -> int:
        for waited in range(PATIENCE):
            if await self.sees(port) == 1:
                return waited
        raise AssertionError(f"{port._name} does not come")

    async def until_idle(self) -> int:
        return await self.until(self.dut.idle_o)

    async def _send(self, valid: object, ready: object, ports: list[tuple[object, int]]) -> None:
        while random.random() < self.stalls:
            await self.tick()
        for port, value in ports:
            port.value = value
        valid.value = 1
        await self.until(ready)
        valid.value = 0

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
        dut = self.dut
        ports = [(dut.is_hmac_i, int(is_hmac)), (dut.resume_i, int(resume_after is not None))]
        ports.append((dut.bytes_i, resume_after or 0))
        await self._send(dut.start_valid_i, dut.start_ready_o, ports)

    async def words(self, message: bytes, is_end: bool = True) -> None:
        """The message; with `is_end` the last word says so, and may be empty."""
        dut = self.dut
        ends = list(range(0, len(message), self.lane))
        if is_end and (not ends or random.random() < 0.3) and len(message) % self.lane == 0:
            ends.append(len(message))
        for at in ends:
            part = message[at : at + self.lane]
            # Trailing bytes must not matter.
            word = part + random.randbytes(self.lane - len(part))
            ports = [(dut.msg_i, int.from_bytes(word, "big")), (dut.msg_bytes_i, len(part))]
            ports.append((dut.msg_last_i, int(is_end and at == ends[-1])))
            await self._send(dut.msg_valid_i, dut.msg_ready_o, ports)

    async def stop(self) -> tuple[bytes, int]:
        """Saves the message: its state, and its number of bytes so far."""
        dut = self.dut
        await self._send(dut.stop_valid_i, dut.stop_ready_o, [])
        await self.until(dut.state_valid_o)
        return self.shown(), int(dut.bytes_o.value)

    def shown(self) -> bytes:
        return int(self.dut.digest_o.value).to_bytes(32, "big")

    async def result(self) -> bytes:
        await self.until(self.dut.digest_valid_o)
        return self.shown()

    async def compute(self, message: bytes, is_hmac: bool) -> bytes:
        """Returns the digest, or the MAC with the key that was written."""
        await self.begin(is_hmac)
        await self.words(message)
        return await self.result()

    async def pulse(self, port: object) -> None:
        port.value = 1
        await self.tick()
        port.value = 0

    def silence(self) -> None:
        """Clears all valid signals."""
        dut = self.dut
        for port in (dut.start_valid_i, dut.msg_valid_i, dut.stop_valid_i, dut.key_valid_i):
            port.value = 0
        dut.state_valid_i.value = 0
