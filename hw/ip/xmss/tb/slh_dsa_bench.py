"""The ports of `slh_dsa_core`, with random stalls."""

from __future__ import annotations

import cocotb
from slh_dsa_signer import Signed
from xmss_bench import NO_ERROR, Core, Result


class SlhDsa(Core):
    # The watchdog: no verification with these stalls takes more cycles, with one lane.
    patience = 400_000
    settling_cycles = 100

    async def begin(self, signed: Signed, two_passes: bool = False) -> int:
        """Writes the key and starts. Returns the cycle before."""
        await self.write_key(signed.root, signed.seed)
        start = self.cycle
        await self.start(signed.oid, signed.oid, two_passes)
        return start

    async def verify(self, signed: Signed, two_passes: bool = False, key_type: int | None = None) -> Result:
        await self.write_key(signed.root, signed.seed)
        start = self.cycle
        await self.start(signed.oid, key_type, two_passes)
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

    async def root(self) -> bytes:
        """Words of the root that was computed; those past the fourth are zero."""
        words = []
        for index in range(8):
            self.dut.root_index_i.value = index
            await self.tick()
            words.append(await self.sees(self.dut.root_o))
        assert words[4:] == [0, 0, 0, 0]
        return b"".join(word.to_bytes(4, "big") for word in words[:4])
