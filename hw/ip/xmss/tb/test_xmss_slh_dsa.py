"""SLH-DSA over the registers and the stream port of the engine."""

from __future__ import annotations

import random

import cocotb
import slh_dsa_signer
import xmss_driver as regs
from xmss_bench import KEY_TYPE, LONG, MISMATCH, SHORT, TYPE
from xmss_driver import AT, Driver
from xmss_signer import Signed


def sign(seed: int, message: bytes | None = None) -> Signed:
    """With the words of a key in their places: PK.root, nothing, PK.seed."""
    signed = slh_dsa_signer.sign(random.Random(seed), message)
    key = signed.oid.to_bytes(4, "big") + signed.root + bytes(16) + signed.seed
    return Signed(signed.oid, key, signed.message, signed.signature)


def root(signed: Signed) -> bytes:
    """As the registers show it."""
    return signed.key[4:20] + bytes(16)


async def started(dut) -> Driver:
    driver = await Driver.started(dut)
    await driver.bus.write(AT["algorithm"], regs.SLH_DSA)
    return driver


@cocotb.test()
async def verifies_by_registers_and_by_stream_with_stalls(dut):
    driver = await started(dut)
    for number, config in enumerate((0, regs.STREAM, 0, regs.STREAM | regs.TWO_PASSES)):
        driver.stall(0.3 * (number // 2))
        signed = sign(number, random.randbytes(random.choice([0, 7, 32, 300])))
        result = await driver.verify(signed, config)
        assert result.passes and result.root == root(signed), f"{result}"
        result = await driver.verify(signed._replace(message=signed.message + b"!"), config)
        assert result.reason == MISMATCH and result.root not in (root(signed), bytes(32)), f"{result}"
    await driver.expect_errors(0)


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """Each ends with its code, a root of zeros and an engine that works; nothing hangs."""
    driver = await started(dut)
    signed = sign(4)
    bad = [
        (signed._replace(oid=2), TYPE),
        (signed._replace(key=bytes([0, 0, 0, 2]) + signed.key[4:]), KEY_TYPE),
        (signed._replace(signature=signed.signature[:-1]), SHORT),
        (signed._replace(signature=b""), SHORT),
        (signed._replace(signature=signed.signature + bytes(9)), LONG),
    ]
    for case, reason in bad:
        for config in (0, regs.STREAM):
            result = await driver.verify(case, config)
            assert (result.reason, result.verdict, result.root) == (reason, 0, bytes(32)), f"{reason}: {result}"
    assert (await driver.verify(signed)).passes
    await driver.expect_errors(0)
