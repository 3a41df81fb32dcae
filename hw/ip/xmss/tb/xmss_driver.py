"""What a driver of the engine does, over its registers (`../data/xmss.rdl`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import cocotb
from axi_lite import Manager
from cocotb.handle import HierarchyObject
from messages import filled, in_words
from registers import Registers
from xmss_bench import NO_ERROR, PASSED, Engine
from xmss_signer import Signed

REGS = Registers("xmss", __file__)
AT = REGS.offsets("XMSS")
INPUTS = ("str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "str_abort_i", "lifecycle_i")
STREAM, TWO_PASSES = 1, 2
START, ABORT = 1, 2
IDLE, DATA_FREE, DONE, FAILED = 1, 2, 4, 8
BAD_COMMAND, BAD_PUSH, BAD_WRITE = 1, 2, 4
DONE_IRQ, ERROR_IRQ = 1, 2
LAST = 1 << 8
(XMSS, XMSS_MT, LMS, SLH_DSA) = range(4)


class Verdict(NamedTuple):
    reason: int
    verdict: int
    root: bytes

    @property
    def passes(self) -> bool:
        assert self.verdict in (0, PASSED)
        assert (self.verdict == PASSED) == (self.reason == NO_ERROR), f"{self}"
        return self.verdict == PASSED


class Driver(Engine):
    """The register port `axil` and the stream port `str`, with random stalls on both."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)
        self.bus = Manager(dut, "axil", stalls)

    def stall(self, stalls: float) -> None:
        self.stalls = self.bus.stalls = stalls

    async def get(self, name: str) -> int:
        return await self.bus.get(AT[name])

    async def until(self, bit: int, limit: int = 400_000, every: int = 0) -> int:
        """Waits for a bit of `status`, with cycles between reads. The watchdog: nothing takes more cycles."""
        end = self.cycle + limit
        while self.cycle < end:
            status = await self.get("status")
            if status & bit:
                return status
            if every:
                await self.tick(every)
        raise AssertionError(f"{bit:#x} does not come in STATUS, which is {status:#x}")

    async def command(self, bits: int) -> None:
        await self.bus.write(AT["command"], bits)

    async def write_key(self, signed: Signed, expected: int | None = None) -> None:
        key_type = int.from_bytes(signed.key[:4], "big")
        await self.bus.write(AT["expected_type"], signed.oid if expected is None else expected)
        await self.bus.write(AT["key_type"], key_type)
        for at in range(0, len(signed.key) - 4, 4):
            await self.bus.write(AT["key"] + at, int.from_bytes(signed.key[4 + at : 8 + at], "little"))

    async def push(self, data: bytes, is_end: bool = True) -> None:
        """Through `data`."""
        for part, is_last in in_words(data, 8, is_end):
            if is_last:
                await self.bus.write(AT["final_size"], LAST | len(part))
            word = filled(part, 8, "little")
            await self.bus.write(AT["data"], word & 0xFFFF_FFFF)
            await self.bus.write(AT["data"] + 4, word >> 32)

    async def stream(self, data: bytes, is_end: bool = True) -> None:
        for part, is_last in in_words(data, 8, is_end):
            await self.send("str", str_data=filled(part, 8, "little"), str_bytes=len(part), str_last=is_last)

    async def begin(self, signed: Signed, config: int = 0, expected: int | None = None) -> None:
        await self.until(IDLE)
        await self.bus.write(AT["control"], config)
        await self.write_key(signed, expected)
        await self.command(START)

    async def verdict(self) -> Verdict:
        await self.until(DONE, every=200)
        halves = [await self.bus.get(AT["verdict"] + 4 * half) for half in range(2)]
        words = [await self.bus.get(AT["root"] + 4 * word) for word in range(8)]
        root = b"".join(word.to_bytes(4, "little") for word in words)
        return Verdict(await self.get("reason"), halves[0] | halves[1] << 32, root)

    async def verify(self, signed: Signed, config: int = 0, expected: int | None = None) -> Verdict:
        await self.begin(signed, config, expected)
        send = self.stream if config & STREAM else self.push
        sending = cocotb.start_soon(self.both(send, signed))
        verdict = await self.verdict()
        # After a refusal the rest is taken, too.
        await sending
        return verdict

    async def both(self, send: Callable[[bytes], Awaitable[None]], signed: Signed) -> None:
        await send(signed.signature)
        await send(signed.message)

    async def expect_errors(self, bits: int) -> None:
        got = await self.get("error")
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.bus.write(AT["error"], bits)
        assert await self.get("error") == 0
