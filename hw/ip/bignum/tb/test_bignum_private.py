"""Private operations of RSA, against Python's integers."""

from __future__ import annotations

import random

import cocotb
import core_bench as bench
from core_bench import Core
from rsa_key import Key


async def private(core: Core, key: Key, operands: dict[int, int]) -> tuple[int, int]:
    """The result's code, and the cycles."""
    for operand, value in operands.items():
        await core.put(operand, value)
    return await core.run(bench.PRIVATE, key.bits, key.e.bit_length())


async def expect(core: Core, key: Key, base: int, blind: int | None = None) -> int:
    result, cycles = await private(core, key, key.operands(base, blind))
    assert result == bench.GOOD, f"{result:#x}"
    assert await core.get((key.bits + 31) // 32) == key.power(base)
    return cycles


@cocotb.test()
async def signs_with_512_bits(dut):
    core = await Core.started(dut)
    key = Key.random(512)
    cycles = await expect(core, key, random.randrange(key.n))
    dut._log.info("RSA-512: %d cycles", cycles)
