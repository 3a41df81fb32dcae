"""Signatures of ECDSA with P-256 and P-384, against Python and public vectors."""

from __future__ import annotations

import random

import cocotb
import core_bench as bench
import ecdsa
import ecdsa_vectors
from core_bench import Core
from vectors import wants_all

CURVES = {"p256": ecdsa.P256, "p384": ecdsa.P384}
COMMANDS = {"p256": bench.P256, "p384": bench.P384}
# Vectors of a daily run. The program is one for both curves, and takes two and a half times as many cycles with P-384.
BUDGETS = {"p256": 3, "p384": 1}
# Cycles of one signature, which the documentation has, by DSP blocks; and the bounds with 16.
CYCLES = {
    "p256": {16: 135_781, 4: 344_024, 1: 1_111_927},
    "p384": {16: 328_787, 4: 979_400, 1: 3_432_969},
}
BOUNDS = {"p256": 160_000, "p384": 400_000}


class Verifier:
    def __init__(self, core: Core, name: str) -> None:
        self.core = core
        self.curve = CURVES[name]
        self.command = COMMANDS[name]
        self.slowest = 0

    async def verdict(self, key: tuple[int, int], digest: int, r: int, s: int) -> int:
        for operand, value in ((bench.X, key[0]), (bench.Y, key[1]), (bench.R, r), (bench.S, s), (bench.DIGEST, digest)):
            await self.core.put(operand, value)
        return await self.again()

    async def again(self) -> int:
        """With the operands that are there."""
        result, cycles = await self.core.run(self.command, 0)
        assert self.core.dut.valid_o.value == (result == bench.GOOD)
        self.slowest = max(self.slowest, cycles)
        return result

    async def expect(self, is_right: bool, key: tuple[int, int], digest: int, r: int, s: int) -> None:
        assert self.curve.verify(key, digest, r, s) == is_right, "the judge"
        got = await self.verdict(key, digest, r, s)
        assert got == (bench.GOOD if is_right else bench.BAD_SIGNATURE), f"{key}, {digest:x}, {r:x}, {s:x}: {got:#x}"

    def some(self) -> int:
        """Of a secret or a nonce."""
        return random.randrange(1, self.curve.n)

    def some_digest(self) -> int:
        return random.getrandbits(self.curve.bits)


def dsps(dut) -> int:
    return int(dut.Dsps.value)


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def verifies_a_signature_in_its_time(dut, name):
    verifier = Verifier(await Core.started(dut), name)
    curve = verifier.curve
    secret, digest, nonce = (pow(base, 100, curve.n) for base in (3, 5, 7))
    key = curve.point(secret)
    r, s = curve.sign(secret, digest, nonce)
    await verifier.expect(True, key, digest, r, s)
    took = verifier.slowest
    dut._log.info("%s with %d DSP: %d cycles", curve, dsps(dut), took)
    assert took == CYCLES[name].get(dsps(dut), took)
    # Operands are kept: the same again.
    if name == "p256" or wants_all():
        assert (await verifier.core.run(verifier.command, 0)) == (bench.GOOD, took)


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def refuses_what_is_not_signed(dut, name):
    verifier = Verifier(await Core.started(dut), name)
    curve = verifier.curve
    secret = verifier.some()
    digest = verifier.some_digest()
    key = curve.point(secret)
    r, s = curve.sign(secret, digest, verifier.some())
    bit = 1 << random.randrange(curve.bits - 1)
    wrong = [(key, digest ^ bit, r, s), (key, digest, r ^ bit, s), (key, digest, r, s ^ bit), (curve.point(secret + 1), digest, r, s)]
    for case in wrong if wants_all() else random.sample(wrong, 2 if name == "p256" else 1):
        await verifier.expect(False, *case)
    # Both signs of s are right, as in every verifier of ECDSA.
    await verifier.expect(True, key, digest, r, curve.n - s)


@cocotb.test()
async def refuses_a_signature_of_the_other_curve(dut):
    core = await Core.started(dut)
    for name, other in (("p256", "p384"), ("p384", "p256")):
        verifier = Verifier(core, name)
        secret, digest = verifier.some(), random.getrandbits(256)
        await verifier.expect(True, verifier.curve.point(secret), digest, *verifier.curve.sign(secret, digest, verifier.some()))
        # r and s of P-384 are too long for P-256; the key of P-256 is no point of P-384.
        assert await Verifier(core, other).again() in (bench.BAD_OPERAND, bench.BAD_SIGNATURE)


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def adds_points_that_are_equal_or_opposite(dut, name):
    """The formulas have exceptions, and an attacker chooses keys that lead to them."""
    verifier = Verifier(await Core.started(dut), name)
    curve = verifier.curve
    # u1 G and u2 Q meet: Q is a small multiple of G, digests and nonces are small.
    secrets = [2, 3, curve.n - 1, curve.n - 2]
    for secret, nonce, digest in ((1, 2, 1), (random.choice(secrets), random.choice([1, 3, 5]), random.randrange(4))):
        r, s = curve.sign(secret, digest, nonce)
        await verifier.expect(True, curve.point(secret), digest, r, s)
    # The sum is infinite: no x is that of r.
    secret, r = verifier.some(), verifier.some()
    await verifier.expect(False, curve.point(secret), -r * secret % curve.n, r, verifier.some())


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def takes_an_x_that_is_not_below_the_order(dut, name):
    verifier = Verifier(await Core.started(dut), name)
    digest = verifier.some_digest()
    key, r, s = verifier.curve.with_large_x(verifier.some(), digest)
    await verifier.expect(True, key, digest, r, s)


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def refuses_bad_inputs(dut, name):
    core = await Core.started(dut)
    verifier = Verifier(core, name)
    curve = verifier.curve
    secret, digest = verifier.some(), verifier.some_digest()
    key = curve.point(secret)
    r, s = curve.sign(secret, digest, verifier.some())
    for wrong in (0, curve.n, curve.n + r, 2**curve.bits - 1, 1 << 4095 | r):
        assert await verifier.verdict(key, digest, wrong, s) == bench.BAD_SIGNATURE, f"r is {wrong:x}"
        assert await verifier.verdict(key, digest, r, wrong) == bench.BAD_SIGNATURE, f"s is {wrong:x}"
    x, y = key
    for bad in ((curve.p, y), (x, curve.p), (x + curve.p, y), (x | 1 << 4095, y), (x, y ^ 1), (0, 0), (x, 0)):
        assert await verifier.verdict(bad, digest, r, s) == bench.BAD_OPERAND, f"the key is {bad}"
    assert await verifier.verdict(key, digest | 1 << curve.bits, r, s) == bench.BAD_OPERAND
    # The engine has a power again.
    modulus = random.getrandbits(300) | 1 << 299 | 1
    assert (await core.power(7, 3, modulus))[0] == 343


@cocotb.test()
@cocotb.parametrize(name=list(CURVES))
async def verdicts_of_stored_vectors_are_those_of_the_files(dut, name):
    verifier = Verifier(await Core.started(dut), name)
    for case in ecdsa_vectors.cases(verifier.curve, BUDGETS[name], dut._log.info):
        assert case.signature is not None
        got = await verifier.verdict(case.key, case.digest, *case.signature)
        assert got == (bench.GOOD if case.is_valid else bench.BAD_SIGNATURE), f"{case.name}: {got:#x}"
    dut._log.info("slowest verification: %d cycles", verifier.slowest)
    assert verifier.slowest <= BOUNDS[name] or dsps(dut) != 16
