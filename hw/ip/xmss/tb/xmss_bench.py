"""The ports of `xmss_core`, with random stalls."""

from __future__ import annotations

from typing import NamedTuple

import cocotb
from clocked import Clocked
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ReadOnly
from messages import filled, in_words
from xmss_signer import Signed

INPUTS = (
    *("abort_i", "key_valid_i", "start_i", "two_passes_i", "expected_i", "key_type_i", "root_index_i"),
    *("sig_valid_i", "sig_last_i", "sig_bytes_i", "msg_valid_i", "msg_last_i", "msg_bytes_i"),
)
(NO_ERROR, MISMATCH, TYPE, KEY_TYPE, INDEX, SHORT, LONG) = range(7)
UPSET = 9


def rotated(value: int, by: int, bits: int) -> int:
    return (value << by | value >> (bits - by)) & ((1 << bits) - 1)


def passing_verdict() -> int:
    """Two counts and two walks over eight words, without a difference."""
    value = 0x6861_7274_6C6F_636B
    for _ in range(18):
        value = rotated(value, 7, 64) ^ 0x9E37_79B9_7F4A_7C15
    return value


PASSED = passing_verdict()


class Result(NamedTuple):
    error: int
    verdict: int
    cycles: int  # from the start to the verdict

    @property
    def passes(self) -> bool:
        assert (self.verdict == PASSED) == (self.error == NO_ERROR), f"{self}"
        assert self.verdict in (0, PASSED)
        return self.verdict == PASSED


class Engine(Clocked):
    # The watchdog: no verification takes more cycles.
    patience = 600_000
    # A reset clears counts, one a cycle.
    settling_cycles = 600

    async def start_clock(self) -> None:
        # No edge before the reset: until then registers have any value, and no rule holds.
        self.clock.value = Immediate(0)
        self._port(self.reset_name).value = Immediate(self.reset_value)
        await super().start_clock()


class Core(Engine):
    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        # The other families have no layers.
        self.has_layers = hasattr(dut, "is_mt_i")
        super().__init__(dut, (*INPUTS, "is_mt_i") if self.has_layers else INPUTS, stalls)

    async def write_key(self, root: bytes, seed: bytes) -> None:
        for first, value in ((0, root), (8, seed)):
            for at in range(0, len(value), 4):
                self.dut.key_index_i.value = first + at // 4
                self.dut.key_i.value = int.from_bytes(value[at : at + 4], "big")
                await self.pulse(self.dut.key_valid_i)

    async def stream(self, channel: str, data: bytes, is_end: bool = True) -> None:
        for part, is_last in in_words(data, 8, is_end):
            values = {
                f"{channel}_data": filled(part, 8, "little"),
                f"{channel}_bytes": len(part),
                f"{channel}_last": is_last,
            }
            await self.send(channel, **values)

    async def start(
        self, expected: int, key_type: int | None = None, two_passes: bool = False, is_mt: bool = False
    ) -> None:
        if self.has_layers:
            self.dut.is_mt_i.value = int(is_mt)
        else:
            assert not is_mt
        self.dut.expected_i.value = expected
        self.dut.key_type_i.value = expected if key_type is None else key_type
        self.dut.two_passes_i.value = int(two_passes)
        await self.pulse(self.dut.start_i)

    async def result(self, start: int) -> Result:
        await self.wait_for(self.dut.done_o)
        cycles = self.cycle - start
        await ReadOnly()
        result = Result(int(self.dut.error_o.value), int(self.dut.verdict_o.value), cycles)
        await self.tick()
        return result

    async def verify(self, signed: Signed, two_passes: bool = False) -> Result:
        await self.write_key(signed.root, signed.seed)
        start = self.cycle
        await self.start(signed.oid, int.from_bytes(signed.key[:4], "big"), two_passes, signed.is_mt)
        tasks = [
            cocotb.start_soon(self.stream("sig", signed.signature)),
            cocotb.start_soon(self.stream("msg", signed.message)),
        ]
        result = await self.result(start)
        for task in tasks:
            if result.error == NO_ERROR:
                await task
            task.cancel()
        self.dut.sig_valid_i.value = self.dut.msg_valid_i.value = 0
        return result
