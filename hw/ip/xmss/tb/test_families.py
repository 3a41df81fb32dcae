"""All families of signatures in one engine, over its registers and its stream port."""

from __future__ import annotations

import random
from typing import NamedTuple

import cocotb
import lms_signer
import slh_dsa_signer
import xmss_driver as regs
import xmss_signer
from xmss_bench import MISMATCH, TYPE
from xmss_driver import AT, Driver, Verdict


class Request(NamedTuple):
    """A signature as the engine takes it, of any family."""

    algorithm: int
    type: int
    key: tuple[tuple[int, bytes], ...]  # words, from these on
    root: bytes
    signature: bytes
    message: bytes

    @property
    def is_built(self) -> str:
        if self.algorithm == regs.XMSS and self.type != 1:
            return "HasShort"
        return ("HasXmss", "HasXmssMt", "HasLms", "HasSlhDsa")[self.algorithm]


def xmss(random_: random.Random) -> Request:
    signed = xmss_signer.sign(random_)
    return Request(regs.XMSS, signed.oid, ((0, signed.key[4:]),), signed.root, signed.signature, signed.message)


def xmss_short(random_: random.Random) -> Request:
    signed = xmss_signer.sign(random_, oid=13)
    key = ((0, signed.root), (8, signed.seed))
    return Request(regs.XMSS, signed.oid, key, signed.root, signed.signature, signed.message)


def xmss_mt(random_: random.Random) -> Request:
    signed = xmss_signer.sign(random_, is_mt=True)
    return Request(regs.XMSS_MT, signed.oid, ((0, signed.key[4:]),), signed.root, signed.signature, signed.message)


def lms(random_: random.Random) -> Request:
    is_hss = random_.random() < 0.5
    types = [lms_signer.H10_W4, lms_signer.H5_W8]
    signed = lms_signer.sign_levels(random_, types) if is_hss else lms_signer.sign(random_)
    key = ((0, signed.root), (8, signed.identifier))
    # The root that is shown is the one of the lowest level, whose key the signature has.
    shown = b"" if is_hss else signed.root
    return Request(regs.LMS, signed.code, key, shown, signed.signature, signed.message)


def slh_dsa(random_: random.Random) -> Request:
    signed = slh_dsa_signer.sign(random_)
    key = ((0, signed.root), (8, signed.seed))
    return Request(regs.SLH_DSA, signed.oid, key, signed.root, signed.signature, signed.message)


FAMILIES = (xmss, xmss_short, xmss_mt, lms, slh_dsa)


async def verify(driver: Driver, request: Request, config: int = 0) -> Verdict:
    # A level of HSS and a layer of XMSS^MT are taken when the one before is verified: thousands of cycles, and a store would
    # wait for them.
    if request.type >> 28 > 1 or request.algorithm == regs.XMSS_MT:
        config |= regs.STREAM
    await driver.until(regs.IDLE)
    await driver.bus.write(AT["algorithm"], request.algorithm)
    await driver.until(regs.IDLE)
    await driver.bus.write(AT["control"], config)
    await driver.bus.write(AT["expected_type"], request.type)
    await driver.bus.write(AT["key_type"], request.type)
    for first, data in request.key:
        for at in range(0, len(data), 4):
            await driver.bus.write(AT["key"] + 4 * first + at, int.from_bytes(data[at : at + 4], "little"))
    await driver.command(regs.START)
    send = driver.stream if config & regs.STREAM else driver.push

    async def both() -> None:
        await send(request.signature)
        await send(request.message)

    sending = cocotb.start_soon(both())
    verdict = await driver.verdict()
    await sending
    return verdict


@cocotb.test()
async def says_what_is_built_in(dut):
    driver = await Driver.started(dut)
    names = ("HasXmss", "HasXmssMt", "HasLms", "HasSlhDsa", "HasShort")
    built = sum(int(getattr(dut, name).value) << bit for bit, name in enumerate(names))
    assert await driver.get("parameters") >> 8 == built


@cocotb.test()
async def verifies_what_is_built_in_and_refuses_the_rest(dut):
    """One after another in any order, each beside each: hash cores change their owner in between."""
    driver = await Driver.started(dut)
    requests = [family(random.Random(number)) for number in range(2) for family in FAMILIES]
    random.shuffle(requests)
    for number, request in enumerate(requests):
        config = (0, regs.STREAM, regs.STREAM | regs.TWO_PASSES)[number % 3]
        result = await verify(driver, request, config)
        if not int(getattr(dut, request.is_built).value):
            assert (result.reason, result.root) == (TYPE, bytes(32)), f"{result}"
            continue
        assert result.passes and result.root[: len(request.root)] == request.root, f"{request.algorithm}: {result}"
        # A valid signature of another message.
        result = await verify(driver, request._replace(message=request.message + b"!"), config)
        assert result.reason == MISMATCH, f"{request.algorithm}: {result}"
        assert not request.root or request.root != result.root[: len(request.root)], f"{request.algorithm}: {result}"
    await driver.expect_errors(0)


@cocotb.test()
async def leaves_nothing_of_one_family_to_the_next(dut):
    """A verification that is given up at any time, and the same key words for another family."""
    driver = await Driver.started(dut)
    built = [family for family in FAMILIES if int(getattr(dut, family(random.Random(0)).is_built).value)]
    for number in range(6):
        given_up, request = random.choice(built)(random.Random(number)), random.choice(built)(random.Random(number))
        await driver.bus.write(AT["algorithm"], given_up.algorithm)
        await driver.until(regs.IDLE)
        await driver.bus.write(AT["control"], 0)
        await driver.bus.write(AT["expected_type"], given_up.type)
        await driver.bus.write(AT["key_type"], given_up.type)
        await driver.command(regs.START)
        await driver.push(given_up.signature[: random.randrange(8, 800, 8)], is_end=False)
        await driver.command(regs.ABORT)
        result = await verify(driver, request)
        assert result.passes, f"{given_up.algorithm}, {request.algorithm}: {result}"
    await driver.expect_errors(0)


@cocotb.test()
async def the_algorithm_is_taken_while_idle(dut):
    driver = await Driver.started(dut)
    request = next(r for r in (family(random.Random(1)) for family in FAMILIES) if int(getattr(dut, r.is_built).value))
    await driver.bus.write(AT["algorithm"], request.algorithm)
    await driver.until(regs.IDLE)
    await driver.command(regs.START)
    for other in range(4):
        await driver.bus.write(AT["algorithm"], other)
        assert await driver.get("algorithm") == request.algorithm
    await driver.command(regs.ABORT)
    await driver.until(regs.IDLE)
    assert (await verify(driver, request)).passes
