"""The third-party cores in the table of netlists: what they compute, and in how many cycles.

The same tests judge the source and the netlist that is counted, so only ports are used.
"""

from __future__ import annotations

import os
import random

import cocotb
from clocked import Clocked
from cocotb.triggers import ReadOnly
from ed25519_bench import clamp, curve, number
from plan import expect_planned_cycles

IS_MULTIPLIER = os.environ["COCOTB_TOPLEVEL"] == "ed25519_mul"
PATIENCE = 600_000


class Multiplier(Clocked):
    """Reads the scalar by words of 32 bits, a cycle after their address, and writes the public key so."""

    clock_name, reset_name, reset_value = "iClk", "iRstn", 0

    async def product(self, scalar: int) -> tuple[bytes, int]:
        dut, result, address = self.dut, 0, 0
        dut.iEn.value = 1
        await self.tick()
        dut.iEn.value = 0
        for cycle in range(PATIENCE):
            dut.iK.value = scalar >> 32 * address & 0xFFFF_FFFF
            await ReadOnly()
            address = int(dut.oK_addr.value)
            if dut.oQy_wren.value == 1:
                at = 32 * int(dut.oQy_addr.value)
                result |= int(dut.oQy.value) << at
            is_ready = dut.oReady.value == 1
            await self.tick()
            # It is ready before it begins, too.
            if is_ready and cycle > 9:
                return result.to_bytes(32, "little"), cycle
        raise AssertionError("the multiplier does not end")


class Signer(Clocked):
    clock_name, reset_name, reset_value = "iClk", "iRst", 1

    async def s(self, scalar: int, challenge: int, nonce: int) -> tuple[int, int]:
        dut = self.dut
        # Bytes in the order of memory are digits from the highest one. Bits that clamping sets are not in the key.
        text = int.from_bytes(scalar.to_bytes(32, "little"), "big")
        dut.iHashd_key.value = (text >> 251) << 246 | (text >> 8 & 2**240 - 1) << 6 | text & 63
        dut.iHashd_ram.value, dut.iHashd_sm.value = challenge, nonce
        dut.iEn.value = 1
        await self.tick()
        dut.iEn.value = 0
        for cycle in range(PATIENCE):
            await ReadOnly()
            is_done, result = dut.oDone.value == 1, int(dut.oSign.value)
            await self.tick()
            if is_done:
                # 31 bytes in that order, and the five bits of the last one.
                lower = int.from_bytes((result >> 5).to_bytes(31, "big"), "little")
                return lower | (result & 31) << 248, cycle
        raise AssertionError("the engine does not end")


async def products(dut) -> set[int]:
    block = await Multiplier.started(dut, ("iEn", "iK"))
    scalar = clamp(random.randbytes(32))
    result, cycles = await block.product(scalar)
    assert result == curve.encode(curve.multiply(scalar % curve.L, curve.BASE)), result.hex()
    return {cycles}


async def responses(dut) -> set[int]:
    block = await Signer.started(dut, ("iEn", "iHashd_key", "iHashd_ram", "iHashd_sm"))
    times = set()
    for _ in range(3):
        scalar = clamp(random.randbytes(32))
        challenge, nonce = number(random.randbytes(64)), number(random.randbytes(64))
        result, cycles = await block.s(scalar, challenge, nonce)
        assert result == (nonce + challenge * scalar) % curve.L
        times.add(cycles)
    return times


@cocotb.test()
async def computes_what_it_is_counted_for(dut):
    times = await (products if IS_MULTIPLIER else responses)(dut)
    expect_planned_cycles(dut, __file__, "peer", times)
