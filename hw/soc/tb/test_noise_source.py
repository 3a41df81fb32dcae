"""`noise_source`: tests samples of a source, and hands each out once while the source is healthy."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Source
from lite_page import OKAY, SLVERR, Page
from plan import parameters

DATA, STATUS = 0x0, 0x4
THERE, HEALTHY, FAILED = 1, 2, 4
CUTOFFS = parameters()
START = 2 * CUTOFFS["Window"]


class Noise(Source):
    """A source that delivers what it is given, and then numbers that differ from one another."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, "noise_valid_i", "noise_ready_o", ["noise_i"])
        self.is_endless = True

    def drive(self) -> None:
        if self.is_endless and not self.queue:
            self.queue.append((random.getrandbits(32) | 8,))
        super().drive()


async def opened(dut: HierarchyObject) -> tuple[Page, Noise]:
    page, noise = Page(dut, ["noise_valid_i", "noise_i"]), Noise(dut)
    await page.start(noise)
    return page, noise


async def restart(page: Page, noise: Noise, first: list[int] | None = None, is_endless: bool = True) -> None:
    """A reset, after which the source begins with these."""
    await page.bench.reset()
    page.stall()
    noise.stalls = random.choice(STALLS[:2])
    noise.queue.clear()
    noise.taken.clear()
    noise.is_offering, noise.is_endless = False, is_endless
    noise.queue.extend((number,) for number in first or [])


async def until(page: Page, noise: Noise, count: int) -> None:
    """So many samples were taken."""
    await page.bench.run(lambda: len(noise.taken) >= count, 20 * count + 100)


async def is_failed(page: Page, noise: Noise) -> None:
    """For good: whatever the source delivers from now on, nothing is taken or handed out."""
    count = len(noise.taken)
    for _ in range(3):
        assert await page.read(STATUS) == (FAILED, OKAY)
        assert await page.read(DATA) == (0, SLVERR)
        await page.bench.cycles(2 * CUTOFFS["Window"])
    assert len(noise.taken) == count


def different(count: int) -> list[int]:
    return random.sample(range(8, 1 << 32), count)


@cocotb.test()
async def hands_out_each_sample_once_after_the_start(dut: HierarchyObject) -> None:
    page, noise = await opened(dut)
    for _ in range(2):
        await restart(page, noise)
        assert await page.read(DATA) == (0, SLVERR)
        while not (await page.read(STATUS))[0] & HEALTHY:
            assert len(noise.taken) <= START + 1
        assert len(noise.taken) >= START
        given = []
        while len(given) < 20:
            data, response = await page.read(DATA)
            assert response == OKAY or data == 0
            if response == OKAY:
                given.append(data)
            page.stall()
            await page.bench.cycles(random.randrange(3))
        # Those of the start-up test are none of them.
        assert given == [number for (number,) in list(noise.taken)[START:]][: len(given)]


@cocotb.test()
async def a_sample_waits_until_it_is_read(dut: HierarchyObject) -> None:
    """Then there is none until the source delivers another one."""
    page, noise = await opened(dut)
    await restart(page, noise, different(START + 1), is_endless=False)
    last = noise.queue[-1][0]
    await until(page, noise, START + 1)
    await page.bench.cycles(200)
    assert await page.read(STATUS) == (HEALTHY | THERE, OKAY)
    assert await page.read(STATUS) == (HEALTHY | THERE, OKAY), "a read of the status takes it"
    assert await page.read(DATA) == (last, OKAY)
    for _ in range(3):
        assert await page.read(STATUS) == (HEALTHY, OKAY)
        assert await page.read(DATA) == (0, SLVERR)
    noise.queue.append((7,))
    await until(page, noise, START + 2)
    assert await page.read(DATA) == (7, OKAY)


@cocotb.test()
async def a_source_that_delivers_nothing_is_not_healthy(dut: HierarchyObject) -> None:
    page, noise = await opened(dut)
    for count in [0, 1, START - 1]:
        await restart(page, noise, different(count), is_endless=False)
        await page.bench.cycles(2 * START)
        assert len(noise.taken) == count
        assert await page.read(STATUS) == (0, OKAY)
        assert await page.read(DATA) == (0, SLVERR)


@cocotb.test()
async def a_constant_fails_for_good(dut: HierarchyObject) -> None:
    """At its start, and later; up to one before the cut-off it does not."""
    page, noise = await opened(dut)
    cutoff = CUTOFFS["RepetitionCutoff"]
    for before, number in [(0, 0), (5, 0xFFFF_FFFF), (START - 1, 0), (START, 0x5A5A_5A5A), (START + 3, 1)]:
        await restart(page, noise, [*different(before), *[number] * cutoff])
        while not (await page.read(STATUS))[0] & FAILED:
            await page.read(DATA)
        await is_failed(page, noise)
        assert len(noise.taken) == before + cutoff
    await restart(page, noise, [*different(START), *[1] * (cutoff - 1), 2])
    await until(page, noise, START)
    for number in [*[1] * (cutoff - 1), 2]:
        while (await page.read(STATUS))[0] != HEALTHY | THERE:
            pass
        assert await page.read(DATA) == (number, OKAY)


@cocotb.test()
async def a_number_that_comes_too_often_fails_for_good(dut: HierarchyObject) -> None:
    """The first of a window, and never twice one after the other."""
    page, noise = await opened(dut)
    cutoff = CUTOFFS["ProportionCutoff"]
    for count, is_failure in [(cutoff, True), (cutoff - 1, False)]:
        others = different(CUTOFFS["Window"])
        window = [others.pop() if at % 2 or at >= 2 * count else 5 for at in range(CUTOFFS["Window"])]
        await restart(page, noise, [*window, *different(CUTOFFS["Window"])])
        await until(page, noise, 2 * cutoff - 1)
        await page.bench.cycles(20)
        if is_failure:
            await is_failed(page, noise)
            assert len(noise.taken) == 2 * cutoff - 1
        else:
            await until(page, noise, START + 1)
            assert (await page.read(STATUS))[0] & HEALTHY


@cocotb.test()
async def the_sample_that_a_test_fails_with_is_not_handed_out(dut: HierarchyObject) -> None:
    page, noise = await opened(dut)
    cutoff = CUTOFFS["RepetitionCutoff"]
    await restart(page, noise, [*different(START), *[9] * cutoff])
    given = []
    while not (await page.read(STATUS))[0] & FAILED:
        data, response = await page.read(DATA)
        if response == OKAY:
            given.append(data)
    assert given == [9] * (cutoff - 1)


@cocotb.test()
async def nothing_else_can_be_read_or_written(dut: HierarchyObject) -> None:
    page, noise = await opened(dut)
    await restart(page, noise)
    await until(page, noise, START + 1)
    for address in [*range(0, 0x40), *(random.randrange(8, 0x1000) for _ in range(50))]:
        page.stall()
        assert await page.write(address, random.getrandbits(32)) == SLVERR
        if address not in (DATA, STATUS):
            assert await page.read(address) == (0, SLVERR), hex(address)
    await page.bench.cycles(20)
    assert await page.read(STATUS) == (HEALTHY | THERE, OKAY)
