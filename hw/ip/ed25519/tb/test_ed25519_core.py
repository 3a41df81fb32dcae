"""`ed25519_core` against Python: results, cycles, and vectors."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import cocotb
from ed25519_bench import (
    DONE,
    GOOD,
    IN_A,
    IN_HIGH,
    IN_LOW,
    IN_R,
    IN_S,
    KEY,
    LOAD,
    MISMATCH,
    NONCE,
    ORDER,
    PREFIX,
    PUBLIC,
    SCALAR,
    SIGN,
    SIGNATURE,
    VERIFY,
    Core,
    Key,
    curve,
    number,
    sha3_512,
    sha512,
    verdict,
)
from stored_vectors import cases
from vectors import wants_all

# Stored vectors that a daily run verifies, and signs.
BUDGET, SIGNATURES = 27, 4
# Cycles of the documentation, from a command to its end: programs, and a cycle before and after each.
PUBLIC_CYCLES, NONCE_CYCLES, RESPONSE_CYCLES = 13001, 13256, 293
VERIFY_BOUND, SIGN_BOUND = 42_000, 62_000


def product(scalar: int) -> bytes:
    return curve.encode(curve.multiply(scalar % curve.L, curve.BASE))


async def nonce(core: Core, scalar: int) -> tuple[int, int]:
    await core.write(IN_LOW, scalar & 2**256 - 1)
    await core.write(IN_HIGH, scalar >> 256)
    return await core.run(NONCE)


async def sign(core: Core, key: Key, message: bytes, slot: int = 0) -> bytes:
    """With a key that the slot has."""
    await core.digest(key.hash(key.prefix + message))
    assert (await core.run(NONCE))[0] == DONE
    r = await core.shown()
    await core.digest(key.hash(r + key.public() + message))
    assert (await core.run(SIGN, slot))[0] == DONE
    return r + await core.shown(True)


@cocotb.test()
async def its_rom_is_what_the_generator_writes(dut):
    """The schedule, the tables and the constants are made anew, and every byte is compared."""
    await Core.started(dut)
    script = Path(__file__).resolve().parents[1] / "data/generate.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cocotb.test()
async def a_product_takes_the_same_cycles_for_every_scalar(dut):
    core = await Core.started(dut)
    edges = [0, 1, curve.L - 1, curve.L, 2**252, 2**255 - 1, 2, curve.L + 1, curve.L - 2, 8 * curve.L, 2**512 - 1]
    edges += [1 << bit for bit in (3, 100, 251, 254, 300)] + [sum(1 << bit for bit in range(0, 256, 2))]
    scalars = edges + [random.getrandbits(512) for _ in range(1000 if wants_all() else 20)]
    times = set()
    for scalar in scalars:
        result, cycles = await nonce(core, scalar)
        times.add(cycles)
        if scalar % curve.L == 0:
            assert result == SCALAR and await core.shown() == bytes(32)
        else:
            assert result == DONE and await core.shown() == product(scalar), f"{scalar:#x}"
    assert times == {NONCE_CYCLES}, f"time depends on the scalar: {sorted(times)}"
    # Keys as well, which are scalars of any 256 bits.
    times = set()
    for scalar in (1, curve.L - 1, 2**252, 2**255 - 1, 2**256 - 1, *(random.getrandbits(256) for _ in range(4))):
        await core.wipe()
        assert await core.load(1, scalar) == DONE
        result, cycles = await core.run(PUBLIC, 1)
        assert result == DONE and await core.shown() == product(scalar), f"{scalar:#x}"
        times.add(cycles)
    assert times == {PUBLIC_CYCLES}
    for scalar in (0, curve.L, 8 * curve.L):
        await core.wipe()
        assert await core.load(1, scalar) == SCALAR
        assert int(dut.loaded_o.value) == 0 and (await core.run(PUBLIC, 1))[0] == ORDER


@cocotb.test()
async def signs_verifies_and_counts_cycles(dut):
    core = await Core.started(dut)
    responses, checks = set(), []
    for hash in (sha512, sha3_512):
        for slot in random.sample(range(4), 2 if hash is sha512 else 1):
            key = Key.of_seed(random.randbytes(32), hash)
            message = random.randbytes(96)
            assert await core.load(slot, key.scalar, key.prefix) == DONE
            assert (await core.run(PUBLIC, slot))[0] == DONE
            assert await core.shown() == key.public()
            await core.digest(hash(key.prefix + message))
            result, first = await core.run(NONCE)
            r = await core.shown()
            challenge = hash(r + key.public() + message)
            await core.digest(challenge)
            await core.begin(SIGN, slot)
            start = core.now()
            # The verification of S begins as its third program.
            while int(dut.u_control.step_q.value) != 2:
                await core.tick()
            responses.add(core.now() - start)
            result, _ = await core.end()
            second = core.now() - start
            assert result == DONE
            signature = r + await core.shown(True)
            assert signature == key.sign(message)
            assert first + second <= SIGN_BOUND
            result, cycles = await core.verify(key.public(), signature, challenge)
            assert result == GOOD
            checks.append(cycles)
            assert (await core.verify(key.public(), signature, hash(b"")))[0] == MISMATCH
            other = (number(signature[32:]) + curve.L).to_bytes(32, "little")
            assert (await core.verify(key.public(), r + other, challenge))[0] == SIGNATURE
            assert (await core.verify(bytes(32), signature, challenge))[0] == KEY
        await core.wipe()
    dut._log.info("S: %s cycles; verifications: %s", responses, sorted(checks))
    assert responses == {RESPONSE_CYCLES}
    assert max(checks) <= VERIFY_BOUND


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await Core.started(dut)
    slowest = 0
    for case in cases(BUDGET, dut._log.info):
        want = verdict(case.public, case.signature, case.challenge)
        if case.is_valid is not None:
            assert case.is_valid == (want == GOOD), f"{case.name}: the judge"
        got, cycles = await core.verify(case.public, case.signature, case.challenge)
        assert got == want, f"{case.name}: {got:#x}, not {want:#x}"
        slowest = max(slowest, cycles)
    dut._log.info("slowest verification: %d cycles", slowest)
    assert slowest <= VERIFY_BOUND


@cocotb.test()
async def signatures_of_stored_vectors_are_the_same(dut):
    core = await Core.started(dut)
    for case in cases(SIGNATURES, dut._log.info, only_secret=True):
        key = Key.of_seed(case.secret, case.hash)
        await core.wipe()
        assert await core.load(0, key.scalar, key.prefix) == DONE
        assert (await core.run(PUBLIC, 0))[0] == DONE
        assert await core.shown() == case.public, case.name
        assert await sign(core, key, case.message) == case.signature, case.name


@cocotb.test()
async def verdicts_of_points_with_small_components(dut):
    """Keys and R of any order, and changes of one bit: verdicts of the equation without a cofactor."""
    core = await Core.started(dut)
    # A point of order 8 (RFC 8032 §5.1: the cofactor), from one of any order.
    torsion = curve.NEUTRAL
    while curve.multiply(4, torsion) == curve.NEUTRAL:
        y = random.randrange(curve.P)
        x = curve.recover_x(y, 0)
        if x is not None:
            torsion = curve.multiply(curve.L, (x, y))
    for number_of in range(24 if wants_all() else 6):
        a, r = random.randrange(curve.L), random.randrange(curve.L)
        key = curve.add(curve.multiply(a, curve.BASE), curve.multiply(number_of % 8, torsion))
        made = curve.add(curve.multiply(r, curve.BASE), curve.multiply(random.randrange(8), torsion))
        challenge = random.randbytes(64)
        s = (r + number(challenge) * a) % curve.L
        signature = curve.encode(made) + s.to_bytes(32, "little")
        if number_of % 3 == 2:
            flipped = bytearray(signature)
            flipped[random.randrange(64)] ^= 1 << random.randrange(8)
            signature = bytes(flipped)
        want = verdict(curve.encode(key), signature, challenge)
        assert (await core.verify(curve.encode(key), signature, challenge))[0] == want
    # Scalars that are zero.
    public = product(5)
    for s, k in ((0, random.getrandbits(252)), (1, 0), (0, 0)):
        made = curve.add(curve.multiply(s, curve.BASE), curve.multiply(curve.L - k % curve.L, curve.multiply(5, curve.BASE)))
        signature = curve.encode(made) + s.to_bytes(32, "little")
        challenge = k.to_bytes(64, "little")
        want = verdict(public, signature, challenge)
        assert (await core.verify(public, signature, challenge))[0] == want


@cocotb.test()
async def a_nonce_is_of_one_command(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar) == DONE
    assert (await core.run(PUBLIC, 0))[0] == DONE
    for between, want in ((PUBLIC, DONE), (PREFIX, DONE), (VERIFY, SIGNATURE), (SIGN, DONE), (LOAD, DONE)):
        assert (await nonce(core, random.getrandbits(512)))[0] == DONE
        if between == VERIFY:
            await core.write(IN_S, 2**256 - 1)
            await core.write(IN_A, number(key.public()))
            await core.write(IN_R, number(key.public()))
        await core.digest(random.randbytes(64))
        assert (await core.run(between, 1 if between == LOAD else 0))[0] == want
        await core.digest(random.randbytes(64))
        assert (await core.run(SIGN, 0))[0] == ORDER, between
        assert await core.shown(True) == bytes(32)


@cocotb.test()
async def a_digest_is_whole_and_of_one_command(dut):
    """With some words of an earlier one it would be another nonce, and one with clamped words is a key."""
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar) == DONE
    assert (await core.run(PUBLIC, 0))[0] == DONE
    for command in (NONCE, VERIFY, SIGN, LOAD):
        slot = 1 if command == LOAD else 0
        for missing in random.sample(range(8), 3):
            assert (await nonce(core, random.getrandbits(512)))[0] == DONE
            for word in range(8):
                if word != missing:
                    await core.send("in", in_number=IN_LOW + word // 4, in_index=word % 4, **{"in": random.getrandbits(64)})
            assert (await core.run(command, slot))[0] == ORDER
            # What is missing comes too late.
            await core.send("in", in_number=IN_LOW + missing // 4, in_index=missing % 4, **{"in": 1})
            assert (await core.run(command, slot))[0] == ORDER
        assert (await nonce(core, random.getrandbits(512)))[0] == DONE
        dut.in_clamped_i.value = 1
        await core.digest(random.randbytes(64))
        dut.in_clamped_i.value = 0
        assert ((await core.run(command, slot))[0] == ORDER) == (command != LOAD)
    assert await core.shown(True) == bytes(32)


@cocotb.test()
async def an_input_takes_the_place_of_s(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar) == DONE
    assert (await core.run(PUBLIC, 0))[0] == DONE
    await sign(core, key, b"")
    assert await core.shown(True) != bytes(32)
    await core.send("in", in_number=IN_S, in_index=0, **{"in": 1})
    assert await core.shown(True) == bytes(32)


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar, key.prefix) == DONE
    assert (await core.run(PUBLIC, 0))[0] == DONE
    moments = [*range(0, 60), *(random.randrange(42_000) for _ in range(20))]
    for moment in moments:
        command = random.choice((PUBLIC, NONCE, VERIFY))
        await core.digest(random.randbytes(64))
        await core.begin(command, 0)
        await core.tick(moment)
        await core.pulse(dut.abort_i)
        await core.tick(2)
        assert dut.idle_o.value == 1 and dut.nonce_valid_o.value == 0
    message = random.randbytes(33)
    assert await sign(core, key, message) == key.sign(message)


@cocotb.test()
async def a_nonce_that_changes_is_refused(dut):
    """A flip of the memory between the two reductions, or after both: R would be right for another nonce."""
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar) == DONE
    assert (await core.run(PUBLIC, 0))[0] == DONE
    scalar = random.getrandbits(512)
    # A word of the digest between the two, and a word of the nonce in all copies before the product.
    for moment, place in ((170, 4 * IN_LOW), (336, 56)):
        await core.write(IN_LOW, scalar & 2**256 - 1)
        await core.write(IN_HIGH, scalar >> 256)
        await core.begin(NONCE)
        await core.tick(moment)
        for memory in (dut.file_a, dut.file_b, dut.near_a, dut.near_b):
            memory[place].value = int(memory[place].value) ^ 2
        if place == 56:
            dut.u_digits.scalar[8].value = int(dut.u_digits.scalar[8].value) ^ 2
        assert (await core.end())[0] == MISMATCH, moment
        assert await core.shown() == bytes(32) and int(dut.nonce_valid_o.value) == 0
        await core.digest(random.randbytes(64))
        assert (await core.run(SIGN, 0))[0] == ORDER
    assert (await nonce(core, scalar))[0] == DONE


@cocotb.test()
async def the_word_of_a_signature_needs_its_evidence(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    signature = key.sign(b"")
    challenge = sha512(signature[:32] + key.public())
    assert (await core.verify(key.public(), signature, challenge))[0] == GOOD
    control = dut.u_control
    evidence = int(control.u_passed.value_q.value)
    for bit in (*range(9), 13):
        assert int(dut.result_o.value) == GOOD
        control.u_passed.value_q.value = evidence ^ 1 << bit
        await core.tick()
        assert int(dut.result_o.value) == 0, bit
        control.u_passed.value_q.value = evidence
        await core.tick()
