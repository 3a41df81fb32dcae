"""`ed25519_core` against Python."""

from __future__ import annotations

import random

import cocotb
from ed25519_bench import (
    GOOD,
    IN_HIGH,
    IN_LOW,
    MISMATCH,
    NONCE,
    PUBLIC,
    SIGN,
    SIGNATURE,
    Core,
    Key,
    curve,
    number,
    sha512,
)


def product(scalar: int) -> bytes:
    return curve.encode(curve.multiply(scalar % curve.L, curve.BASE))


@cocotb.test()
async def multiplies_the_base_point(dut):
    core = await Core.started(dut)
    times = set()
    for scalar in (1, 2, curve.L - 1, 2**252, random.getrandbits(512)):
        await core.write(IN_LOW, scalar & 2**256 - 1)
        await core.write(IN_HIGH, scalar >> 256)
        result, cycles = await core.run(NONCE)
        assert result == GOOD
        assert await core.shown() == product(scalar), f"{scalar:#x}"
        times.add(cycles)
    dut._log.info("cycles %s", times)
    assert len(times) == 1


@cocotb.test()
async def signs_and_verifies(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    message = random.randbytes(96)
    assert await core.load(0, key.scalar, key.prefix) == GOOD
    result, cycles = await core.run(PUBLIC, 0)
    assert result == GOOD
    dut._log.info("public %d", cycles)
    public = await core.shown()
    assert public == key.public()
    await core.digest(sha512(key.prefix + message))
    assert (await core.run(NONCE))[0] == GOOD
    r = await core.shown()
    challenge = sha512(r + public + message)
    await core.digest(challenge)
    result, cycles = await core.run(SIGN, 0)
    dut._log.info("sign %d", cycles)
    assert result == GOOD
    s = await core.shown(True)
    assert r + s == key.sign(message)
    result, cycles = await core.verify(public, r + s, challenge)
    dut._log.info("verify %d", cycles)
    assert result == GOOD
    assert (await core.verify(public, r + s, sha512(b"")))[0] == MISMATCH
    big = (number(s) + curve.L).to_bytes(32, "little")
    assert (await core.verify(public, r + big, challenge))[0] == SIGNATURE
