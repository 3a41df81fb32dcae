"""The random bits of the masked engine: Trivium, what it takes of a noise source, and when it is trusted."""

from __future__ import annotations

import random

import cocotb
from clocked import Clocked
from cocotb.triggers import ReadOnly
from trivium import LENGTHS, Trivium

INPUTS = ("clear_i", "entropy_valid_i", "entropy_i")
STATE_BITS = sum(LENGTHS)
STEPS = 128
# Words of the start-up test.
START_UP = 128
# Without a word for so long the source has failed.
SILENT_CYCLES = 65_536
# The first vector with a key of 80 bits of the eSTREAM project.
KEY, STREAM = "80000000000000000000", "38eb86ff730d7a9caf8df13a4420540dbb7b6514"


def bits_of(value: int, count: int) -> list[int]:
    """The highest one first."""
    return [value >> at & 1 for at in reversed(range(count))]


def state_of(dut: object) -> list[int]:
    """In the order of the standard: the bit that came last is the first of its register, and the lowest here."""
    bits, found = bits_of(int(dut.state_q.value), STATE_BITS), []
    for length in LENGTHS:
        part, bits = bits[:length], bits[length:]
        found += reversed(part)
    return found


def packed(state: list[int]) -> int:
    value = 0
    for length in LENGTHS:
        part, state = state[:length], state[length:]
        for bit in reversed(part):
            value = value << 1 | bit
    return value


async def sends(block: Clocked, samples: list[int]) -> int:
    """Sends samples of four bits, and returns whether the bits are random after them."""
    for at in range(0, len(samples), 8):
        await block.send("entropy", entropy=sum(sample << 4 * i for i, sample in enumerate(samples[at : at + 8])))
    await block.tick(10)
    return int(block.dut.ready_o.value)


def good(count: int) -> list[int]:
    return [random.randrange(16) for _ in range(count)]


@cocotb.test()
async def agrees_with_the_public_vector(dut):
    block = await Clocked.started(dut, INPUTS)
    dut.state_q.value = packed(Trivium.keyed(bytes.fromhex(KEY), bytes(10)).state)
    await block.tick()
    out: list[int] = []
    while len(out) < 8 * len(STREAM) // 2:
        await ReadOnly()
        out += bits_of(int(dut.random_o.value), STEPS)
        await block.tick()
    stream = bytes(sum(bit << at for at, bit in enumerate(out[i : i + 8])) for i in range(0, len(out), 8))
    assert stream.hex().startswith(STREAM)


@cocotb.test()
async def takes_every_sample_into_its_state(dut):
    block = await Clocked.started(dut, INPUTS)
    task = cocotb.start_soon(sends(block, good(8 * 20)))
    await ReadOnly()
    judge = Trivium(state_of(dut))
    while not task.done():
        stream = [judge.step() for _ in range(STEPS)]
        if dut.samples.value == 1:
            sample = int(dut.word_q.value) & 15
            judge.state = [bit ^ (sample >> at & 1 if at < 4 else 0) for at, bit in enumerate(judge.state)]
        await block.tick()
        await ReadOnly()
        assert state_of(dut) == judge.state
        assert bits_of(int(dut.random_o.value), STEPS) == stream


@cocotb.test()
async def is_ready_after_a_start_up_test_of_every_nibble(dut):
    block = await Clocked.started(dut, INPUTS)
    for _ in range(2):
        assert not await sends(block, good(8 * (START_UP - 1)))
        assert await sends(block, good(8))
        assert await sends(block, good(8 * 100))
        await block.pulse(dut.clear_i)
        assert await block.sees(dut.ready_o) == 0


@cocotb.test()
async def fails_when_samples_repeat_or_one_is_too_frequent(dut):
    """SP 800-90B §4.4.1 and §4.4.2, at the cut-offs."""
    block = await Clocked.started(dut, INPUTS)
    for samples, is_bad in (
        ([7] * 20 + [8, 9, 8, 9], False),
        ([7] * 24, True),
        ([0, 1] * 256, False),
        # 324 of 512, and one more.
        (([0, 0, 1] * 162 + [2, 3] * 13)[:512], False),
        (([0, 0, 1] * 162 + [0, 3] + [2, 3] * 12)[:512], True),
    ):
        await block.pulse(dut.clear_i)
        assert await sends(block, [9, 8] * 512)
        assert await sends(block, samples) != is_bad, f"{samples[:24]}"
        # Good samples do not help.
        assert await sends(block, good(1024)) != is_bad


@cocotb.test()
async def fails_when_its_source_falls_silent(dut):
    block = await Clocked.started(dut, INPUTS)
    assert await sends(block, good(1024))
    await block.tick(SILENT_CYCLES - 40)
    # A word in time starts the count anew.
    assert await sends(block, good(8))
    dut.silent_q.value = SILENT_CYCLES - 20
    await block.tick(10)
    assert dut.ready_o.value == 1
    await block.tick(20)
    assert dut.ready_o.value == 0
    assert not await sends(block, good(1024)), "it is trusted again by itself"
    await block.pulse(dut.clear_i)
    assert await sends(block, good(1024))


@cocotb.test()
async def an_upset_of_the_verdict_is_a_failure(dut):
    """A flip of each bit that decides about trust: before the start-up test is over, after it, and after a failure."""
    block = await Clocked.started(dut, INPUTS)
    verdict = dut.u_health.trust_q
    for bit in range(len(verdict)):
        for samples in (good(160), good(8 * START_UP), [5] * 160):
            await block.reset()
            await sends(block, samples)
            verdict.value = int(verdict.value) ^ 1 << bit
            await block.let_assertions_fail()
            await ReadOnly()
            assert not dut.ready_o.value, f"bit {bit} after {len(samples)} samples"
            await block.tick()
            assert not await sends(block, good(8 * START_UP)), f"bit {bit} after {len(samples)} samples"
    await block.pulse(dut.clear_i)
    assert await sends(block, good(8 * START_UP))
