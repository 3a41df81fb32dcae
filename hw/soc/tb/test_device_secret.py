"""`device_secret`: shows the secret until anything is written to the latch or hardware shuts it, and never again before a reset."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from lite_page import OKAY, SLVERR, Page

WORDS = 16
LATCH = 0x40


async def opened(dut: HierarchyObject) -> tuple[Page, list[int]]:
    page = Page(dut, ["secret_i", "shut_i"])
    await page.start()
    return page, new_secret(dut)


def new_secret(dut: HierarchyObject) -> list[int]:
    secret = [random.getrandbits(32) | 2 for _ in range(WORDS)]
    dut.secret_i.value = sum(word << 32 * index for index, word in enumerate(secret))
    return secret


async def read_all(page: Page) -> list[int]:
    answers = [await page.read(4 * index) for index in range(WORDS)]
    assert {response for _, response in answers} == {OKAY}
    return [word for word, _ in answers]


@cocotb.test()
async def shows_the_secret_until_it_is_shut(dut: HierarchyObject) -> None:
    """Any word shuts it, zero included."""
    page, secret = await opened(dut)
    for value in [0, 1, 0xFFFF_FFFF, random.getrandbits(32)]:
        await page.bench.reset()
        page.stall()
        assert await read_all(page) == secret
        assert await page.read(LATCH) == (0, OKAY)
        assert await page.write(LATCH, value) == OKAY
        assert await page.read(LATCH) == (1, OKAY)
        assert await read_all(page) == [0] * WORDS


@cocotb.test()
async def hardware_shuts_it_in_one_cycle(dut: HierarchyObject) -> None:
    page, secret = await opened(dut)
    for _ in range(10):
        await page.bench.reset()
        page.stall()
        assert await read_all(page) == secret
        dut.shut_i.value = 1
        await page.bench.cycles(1)
        dut.shut_i.value = 0
        assert await page.read(LATCH) == (1, OKAY)
        assert await read_all(page) == [0] * WORDS


@cocotb.test()
async def nothing_but_a_reset_opens_it_again(dut: HierarchyObject) -> None:
    page, _ = await opened(dut)
    await page.write(LATCH, 1)
    for address in [*range(0, 0x80, 4), *(random.getrandbits(12) for _ in range(100))]:
        page.stall()
        await page.write(address, random.choice([0, random.getrandbits(32)]), random.choice([0xF, random.getrandbits(4)]))
    assert await read_all(page) == [0] * WORDS
    secret = new_secret(dut)
    assert await read_all(page) == [0] * WORDS, "another secret is there, and the latch is not"
    await page.bench.reset()
    assert await read_all(page) == secret


@cocotb.test()
async def other_accesses_are_errors_and_shut_nothing(dut: HierarchyObject) -> None:
    page, secret = await opened(dut)
    for address in [0, 0x3C, 0x41, 0x42, 0x44, 0xFFC, *(random.getrandbits(12) for _ in range(50))]:
        page.stall()
        if address != LATCH:
            assert await page.write(address, 1) == SLVERR, hex(address)
    for strobes in range(15):
        assert await page.write(LATCH, 1, strobes) == SLVERR
    for address in [1, 2, 3, 0x3D, 0x41, 0x44, 0x80, 0xFFC, *(random.randrange(0x44, 0x1000) for _ in range(50))]:
        assert await page.read(address) == (0, SLVERR), hex(address)
    assert await read_all(page) == secret


@cocotb.test()
async def a_read_in_the_cycle_of_the_latch_is_before_or_after_it(dut: HierarchyObject) -> None:
    """Never a part of a word."""
    page, secret = await opened(dut)
    for _ in range(30):
        await page.bench.reset()
        page.b.taken.clear()
        page.r.taken.clear()
        page.stall()
        index = random.randrange(WORDS)
        page.aw.queue.append((LATCH,))
        page.w.queue.append((0, 0xF))
        page.ar.queue.append((4 * index,))
        await page.bench.run(lambda: len(page.b.taken) == 1 and len(page.r.taken) == 1)
        assert page.r.taken[0] in [(secret[index], OKAY), (0, OKAY)]
        assert await read_all(page) == [0] * WORDS
