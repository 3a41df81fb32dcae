"""`ed25519_core` with `Blinded`: the same points, in one number of cycles, and by other digits each time."""

from __future__ import annotations

import random

import cocotb
from cocotb.triggers import ReadOnly
from ed25519_bench import DONE, GOOD, IN_HIGH, IN_LOW, NONCE, PUBLIC, SCALAR, SIGN, Core, Key, curve
from vectors import wants_all

# From the command to its end, with entropy that is there when it is asked for.
PUBLIC_CYCLES, NONCE_CYCLES = 14936, 15191
EDGES = (0, 1, 2, curve.L - 1, curve.L, curve.L + 1, 2**252, 2**255 - 1, 1 << 100, sum(1 << bit for bit in range(0, 256, 2)))


async def nonce(core: Core, scalar: int) -> tuple[int, int]:
    await core.write(IN_LOW, scalar & 2**256 - 1)
    await core.write(IN_HIGH, scalar >> 256)
    return await core.run(NONCE)


def product(scalar: int) -> bytes:
    return curve.encode(curve.multiply(scalar % curve.L, curve.BASE))


class Source:
    """A port for entropy: gives words of a function, with pauses."""

    def __init__(self, core: Core) -> None:
        self.core, self.taken = core, 0
        self.word = lambda: random.getrandbits(64)
        self.pause = 0.0
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        dut = self.core.dut
        while True:
            dut.ent_i.value = self.word()
            dut.ent_valid_i.value = int(random.random() >= self.pause)
            await ReadOnly()
            self.taken += int(dut.ent_valid_i.value and dut.ent_ready_o.value)
            await self.core.tick()


@cocotb.test()
async def every_scalar_gives_its_point_in_the_same_cycles(dut):
    core = await Core.started(dut)
    source, times = Source(core), set()
    scalars = [*EDGES, *(random.getrandbits(512) for _ in range(1000 if wants_all() else 6))]
    for count, scalar in enumerate(scalars):
        # A source that is stuck takes the blinding away, and nothing else.
        source.word = (lambda: 0, lambda: 2**64 - 1, lambda: random.getrandbits(64))[min(count % 5, 2)]
        result, cycles = await nonce(core, scalar)
        times.add(cycles)
        is_zero = scalar % curve.L == 0
        assert result == (SCALAR if is_zero else DONE)
        assert await core.shown() == (bytes(32) if is_zero else product(scalar)), f"{scalar:#x}"
    assert times == {NONCE_CYCLES}, f"time depends on the scalar: {sorted(times)}"
    assert source.taken == 5 * len(scalars)
    source.pause = 0.7
    assert (await nonce(core, 5))[0] == DONE and await core.shown() == product(5)


@cocotb.test()
async def signatures_are_those_without_blinding(dut):
    core = await Core.started(dut)
    source = Source(core)
    key, message = Key.of_seed(random.randbytes(32)), random.randbytes(50)
    assert await core.load(2, key.scalar, key.prefix) == DONE
    assert await core.run(PUBLIC, 2) == (DONE, PUBLIC_CYCLES)
    assert await core.shown() == key.public()
    await core.digest(key.hash(key.prefix + message))
    assert (await core.run(NONCE))[0] == DONE
    r = await core.shown()
    challenge = key.hash(r + key.public() + message)
    await core.digest(challenge)
    assert (await core.run(SIGN, 2))[0] == DONE
    signature = r + await core.shown(True)
    assert signature == key.sign(message)
    assert (await core.verify(key.public(), signature, challenge))[0] == GOOD
    assert source.taken == 10


@cocotb.test()
async def digits_are_others_each_time(dut):
    """Of the same scalar, they are the same only with the same entropy."""
    core = await Core.started(dut)
    source, seen = Source(core), []
    for word in (1, 1, None, None, None):
        source.word = (lambda: 1) if word else (lambda: random.getrandbits(64))
        await core.write(IN_LOW, 12345)
        await core.write(IN_HIGH, 0)
        await core.begin(NONCE)
        digits, start = [], core.now()
        while dut.done_o.value != 1:
            # One of two digits of a row.
            if core.now() - start > 700 and (core.now() - start) % 313 == 0:
                digits.append(int(dut.u_digits.digit_o.value))
            await core.tick()
        await core.tick()
        assert await core.shown() == product(12345)
        seen.append(tuple(digits))
    assert len(seen[0]) > 26 and len(set(seen)) == 4, seen


@cocotb.test()
async def can_be_aborted_and_does_not_wait_for_ever(dut):
    core = await Core.started(dut)
    dut.ent_valid_i.value = 0
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar) == DONE
    for moment in range(100, 160, 7):
        await core.begin(PUBLIC)
        await core.tick(moment)
        await core.pulse(dut.abort_i)
        await core.tick(2)
        assert dut.idle_o.value == 1
    await core.begin(PUBLIC)
    await core.tick(2**16 - 100)
    assert dut.error_o.value == 0 and dut.idle_o.value == 0
    await core.tick(200)
    assert dut.error_o.value == 1
