"""Signatures of ECDSA with P-256, against Python and public vectors."""

from __future__ import annotations

import random

import cocotb
import core_bench as bench
import ecdsa_vectors
import p256
from core_bench import Core
from p256 import N, P
from vectors import wants_all

DIGEST_BITS = 256
# Vectors of a daily run.
BUDGET = 3
# Cycles of one signature, which the documentation has, by DSP blocks; and the bound with 16.
CYCLES = {16: 135_635, 4: 343_874, 1: 1_111_769}
BOUND = 160_000


class Verifier:
    def __init__(self, core: Core) -> None:
        self.core = core
        self.slowest = 0

    async def verdict(self, key: tuple[int, int], digest: int, r: int, s: int) -> int:
        for operand, value in ((bench.X, key[0]), (bench.Y, key[1]), (bench.R, r), (bench.S, s), (bench.DIGEST, digest)):
            await self.core.put(operand, value)
        result, cycles = await self.core.run(bench.P256, 0)
        assert self.core.dut.valid_o.value == (result == bench.GOOD)
        self.slowest = max(self.slowest, cycles)
        return result

    async def expect(self, is_right: bool, key: tuple[int, int], digest: int, r: int, s: int) -> None:
        assert p256.verify(key, digest, r, s) == is_right, "the judge"
        got = await self.verdict(key, digest, r, s)
        assert got == (bench.GOOD if is_right else bench.BAD_SIGNATURE), f"{key}, {digest:x}, {r:x}, {s:x}: {got:#x}"


def some_digest() -> int:
    return random.getrandbits(DIGEST_BITS)


def dsps(dut) -> int:
    return int(dut.Dsps.value)


@cocotb.test()
async def verifies_a_signature_in_its_time(dut):
    verifier = Verifier(await Core.started(dut))
    secret, digest, nonce = (pow(base, 100, N) for base in (3, 5, 7))
    key = p256.point(secret)
    r, s = p256.sign(secret, digest, nonce)
    await verifier.expect(True, key, digest, r, s)
    took = verifier.slowest
    dut._log.info("P-256 with %d DSP: %d cycles", dsps(dut), took)
    assert took == CYCLES[dsps(dut)]
    # Operands are kept: the same again.
    assert (await verifier.core.run(bench.P256, 0)) == (bench.GOOD, took)


@cocotb.test()
async def refuses_what_is_not_signed(dut):
    verifier = Verifier(await Core.started(dut))
    secret = random.randrange(1, N)
    digest = some_digest()
    key = p256.point(secret)
    r, s = p256.sign(secret, digest, random.randrange(1, N))
    bit = 1 << random.randrange(DIGEST_BITS - 1)
    wrong = [(key, digest ^ bit, r, s), (key, digest, r ^ bit, s), (key, digest, r, s ^ bit), (p256.point(secret + 1), digest, r, s)]
    for case in wrong if wants_all() else random.sample(wrong, 2):
        await verifier.expect(False, *case)
    # Both signs of s are right, as in every verifier of ECDSA.
    await verifier.expect(True, key, digest, r, N - s)


@cocotb.test()
async def adds_points_that_are_equal_or_opposite(dut):
    """The formulas have exceptions, and an attacker chooses keys that lead to them."""
    verifier = Verifier(await Core.started(dut))
    # u1 G and u2 Q meet: Q is a small multiple of G, digests and nonces are small.
    for secret, nonce, digest in ((1, 2, 1), (random.choice([2, 3, N - 1, N - 2]), random.choice([1, 3, 5]), random.randrange(4))):
        r, s = p256.sign(secret, digest, nonce)
        await verifier.expect(True, p256.point(secret), digest, r, s)
    # The sum is infinite: no x is that of r.
    secret, r = random.randrange(1, N), random.randrange(1, N)
    await verifier.expect(False, p256.point(secret), -r * secret % N, r, random.randrange(1, N))


@cocotb.test()
async def takes_an_x_that_is_not_below_the_order(dut):
    verifier = Verifier(await Core.started(dut))
    digest = some_digest()
    key, r, s = p256.with_large_x(random.randrange(1, N), digest)
    await verifier.expect(True, key, digest, r, s)


@cocotb.test()
async def refuses_bad_inputs(dut):
    core = await Core.started(dut)
    verifier = Verifier(core)
    secret, digest = random.randrange(1, N), some_digest()
    key = p256.point(secret)
    r, s = p256.sign(secret, digest, random.randrange(1, N))
    for wrong in (0, N, N + r, 2**256 - 1, 1 << 4095 | r):
        assert await verifier.verdict(key, digest, wrong, s) == bench.BAD_SIGNATURE, f"r is {wrong:x}"
        assert await verifier.verdict(key, digest, r, wrong) == bench.BAD_SIGNATURE, f"s is {wrong:x}"
    x, y = key
    for bad in ((P, y), (x, P), (x + P, y), (x | 1 << 4095, y), (x, y ^ 1), (0, 0), (x, 0)):
        assert await verifier.verdict(bad, digest, r, s) == bench.BAD_OPERAND, f"the key is {bad}"
    assert await verifier.verdict(key, digest | 1 << DIGEST_BITS, r, s) == bench.BAD_OPERAND
    # The engine has a power again.
    modulus = random.getrandbits(300) | 1 << 299 | 1
    assert (await core.power(7, 3, modulus))[0] == 343


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_the_files(dut):
    verifier = Verifier(await Core.started(dut))
    for case in ecdsa_vectors.cases(BUDGET, dut._log.info):
        assert case.signature is not None
        got = await verifier.verdict(case.key, case.digest, *case.signature)
        assert got == (bench.GOOD if case.is_valid else bench.BAD_SIGNATURE), f"{case.name}: {got:#x}"
    dut._log.info("slowest verification: %d cycles", verifier.slowest)
    assert verifier.slowest <= BOUND or dsps(dut) != 16
