"""The ports of `lms_core`, with random stalls."""

from __future__ import annotations

import cocotb
from cocotb.handle import HierarchyObject
from lms_signer import Signed
from xmss_bench import NO_ERROR, Core, Result

PARAMETERS = 7


class LmsCore(Core):
    settling_cycles = 20

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, stalls)
        # The watchdog: no verification of the tests takes more cycles.
        self.patience = 960_000 // (int(dut.Lanes.value) * int(dut.RoundsPerCycle.value))

    async def write_lms_key(self, signed: Signed) -> None:
        for first, value in ((0, signed.root), (8, signed.identifier)):
            for at in range(0, len(value), 4):
                self.dut.key_index_i.value = first + at // 4
                self.dut.key_i.value = int.from_bytes(value[at : at + 4], "big")
                await self.pulse(self.dut.key_valid_i)

    async def verify_lms(
        self, signed: Signed, two_passes: bool = False, expected: int | None = None, key_type: int | None = None
    ) -> Result:
        await self.write_lms_key(signed)
        start = self.cycle
        expected = signed.code if expected is None else expected
        await self.start(expected, signed.code if key_type is None else key_type, two_passes)
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

    async def shown_root(self) -> bytes:
        words = []
        for index in range(8):
            self.dut.root_index_i.value = index
            await self.tick(2)
            words.append(int(self.dut.root_o.value).to_bytes(4, "big"))
        return b"".join(words)
