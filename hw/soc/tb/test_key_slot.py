"""`key_slot`: takes a key until it is closed, offers it whole to the engine, and shows it to no read."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from lite_page import OKAY, SLVERR, Page

WORDS = 8
LOCK = 0x20
CLOSED, OFFERED = 1, 2


async def opened(dut: HierarchyObject) -> Page:
    page = Page(dut, ["lock_i", "wipe_i", "lifecycle_i", "key_index_i"])
    await page.start()
    return page


async def fill(page: Page, count: int = WORDS) -> list[int]:
    """Writes words in a random order."""
    key = [random.getrandbits(32) | 4 for _ in range(WORDS)]
    for index in random.sample(range(WORDS), count):
        assert await page.write(4 * index, key[index]) == OKAY
    return key


async def offered(dut: HierarchyObject, page: Page) -> list[int]:
    """The words that the engine sees, whether they are offered or not."""
    words = []
    for index in range(WORDS):
        dut.key_index_i.value = index
        await page.bench.cycles(1)
        words.append(int(dut.key_word_o.value))
    return words


def is_offered(dut: HierarchyObject) -> bool:
    return bool(int(dut.key_valid_o.value))


@cocotb.test()
async def offers_the_key_once_it_is_closed(dut: HierarchyObject) -> None:
    """A word may be written again before."""
    page = await opened(dut)
    for value in [0, 1, 0xFFFF_FFFF, random.getrandbits(32)]:
        await page.bench.reset()
        page.stall()
        await fill(page)
        key = await fill(page)
        assert await page.read(LOCK) == (0, OKAY) and not is_offered(dut)
        assert await page.write(LOCK, value) == OKAY
        assert await page.read(LOCK) == (CLOSED | OFFERED, OKAY) and is_offered(dut)
        assert await offered(dut, page) == key


@cocotb.test()
async def a_slot_that_is_closed_early_is_empty_for_good(dut: HierarchyObject) -> None:
    page = await opened(dut)
    for count in range(WORDS):
        await page.bench.reset()
        page.stall()
        key = await fill(page, count)
        assert await page.write(LOCK, 1) == OKAY
        for index in range(WORDS):
            assert await page.write(4 * index, key[index]) == SLVERR
        assert await page.read(LOCK) == (CLOSED, OKAY) and not is_offered(dut)


@cocotb.test()
async def hardware_closes_it_in_one_cycle(dut: HierarchyObject) -> None:
    page = await opened(dut)
    for _ in range(10):
        await page.bench.reset()
        page.stall()
        key = await fill(page)
        dut.lock_i.value = 1
        await page.bench.cycles(1)
        dut.lock_i.value = 0
        assert await page.read(LOCK) == (CLOSED | OFFERED, OKAY)
        assert await page.write(0, ~key[0] & 0xFFFF_FFFF) == SLVERR
        assert await offered(dut, page) == key


@cocotb.test()
async def no_access_changes_or_shows_a_closed_key(dut: HierarchyObject) -> None:
    page = await opened(dut)
    key = await fill(page)
    await page.write(LOCK, 1)
    for address in [*range(0, 0x80, 4), *(random.getrandbits(12) for _ in range(100))]:
        page.stall()
        strobes = random.choice([0xF, random.getrandbits(4)])
        answer = await page.write(address, random.getrandbits(32), strobes)
        assert answer == (OKAY if (address, strobes) == (LOCK, 0xF) else SLVERR), hex(address)
        if address != LOCK:
            assert await page.read(address) == (0, SLVERR), hex(address)
    assert await offered(dut, page) == key


@cocotb.test()
async def an_open_key_is_not_shown_either(dut: HierarchyObject) -> None:
    """Nor does a part of a word, or another address, change it."""
    page = await opened(dut)
    key = await fill(page)
    for address in [*range(0, 0x20), *(random.randrange(0x21, 0x1000) for _ in range(50))]:
        page.stall()
        assert await page.read(address) == (0, SLVERR), hex(address)
        if address % 4 or address > LOCK:
            assert await page.write(address, random.getrandbits(32)) == SLVERR
    for strobes in range(15):
        assert await page.write(4 * random.randrange(WORDS), random.getrandbits(32), strobes) == SLVERR
        assert await page.write(LOCK, 1, strobes) == SLVERR
    assert await page.read(LOCK) == (0, OKAY)
    assert await offered(dut, page) == key


@cocotb.test()
async def a_wipe_empties_and_closes_it(dut: HierarchyObject) -> None:
    """Whether it was closed or not, by a wipe and by any change of the lifecycle."""
    page = await opened(dut)
    for is_closed in [False, True]:
        for is_change in [False, True]:
            for _ in range(5):
                dut.lifecycle_i.value = random.getrandbits(4)
                await page.bench.reset()
                page.stall()
                key = await fill(page)
                if is_closed:
                    await page.write(LOCK, 1)
                if is_change:
                    dut.lifecycle_i.value = int(dut.lifecycle_i.value) ^ random.randrange(1, 16)
                else:
                    dut.wipe_i.value = 1
                await page.bench.cycles(1)
                dut.wipe_i.value = 0
                await page.bench.cycles(1)
                assert not is_offered(dut) and await offered(dut, page) == [0] * WORDS
                assert await page.read(LOCK) == (CLOSED, OKAY)
                assert await page.write(0, key[0]) == SLVERR


@cocotb.test()
async def a_reset_opens_it_without_a_key(dut: HierarchyObject) -> None:
    page = await opened(dut)
    await fill(page)
    await page.write(LOCK, 1)
    await page.bench.reset()
    assert await page.read(LOCK) == (0, OKAY)
    assert await offered(dut, page) == [0] * WORDS
    # Nothing of the words before the reset counts.
    await fill(page, WORDS - 1)
    await page.write(LOCK, 1)
    assert not is_offered(dut)
