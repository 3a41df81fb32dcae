"""`tee_lists` against a list: words of the host, requests of the DMA engine, and the bit that holds a message open."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from tee_bench import OKAY, SLVERR, Lists, Page

WORDS = 512
HOLD = 0x800
INPUTS = ["list_req_i", "list_word_i"]


async def begin(dut: HierarchyObject) -> tuple[Page, Lists]:
    page, lists = Page(dut, INPUTS), Lists(dut)
    await page.start(lists)
    return page, lists


@cocotb.test()
async def the_engine_reads_what_the_host_wrote(dut: HierarchyObject) -> None:
    page, lists = await begin(dut)
    words = [random.getrandbits(32) for _ in range(WORDS)]
    for index, word in enumerate(words):
        assert await page.write(4 * index, word) == OKAY
    for _ in range(20):
        page.stall()
        wanted = [random.randrange(WORDS) for _ in range(30)]
        lists.words.clear()
        lists.queue.extend(wanted)
        # The host reads and writes meanwhile.
        index = random.randrange(WORDS)
        assert await page.read(4 * index) == (words[index], OKAY)
        await page.bench.run(lambda: not lists.queue)
        await page.bench.cycles(3)
        assert lists.words == [words[index] for index in wanted]
        index, words[index] = index, random.getrandbits(32)
        assert await page.write(4 * index, words[index]) == OKAY


@cocotb.test()
async def nothing_is_answered_unasked(dut: HierarchyObject) -> None:
    page, lists = await begin(dut)
    await page.write(0, 1)
    await page.bench.cycles(20)
    assert lists.words == []


@cocotb.test()
async def only_its_bit_holds(dut: HierarchyObject) -> None:
    page, _ = await begin(dut)
    assert await page.read(HOLD) == (0, OKAY)
    for word in [1, 0, 0xFFFF_FFFF, 0xFFFF_FFFE, random.getrandbits(32)]:
        page.stall()
        assert await page.write(HOLD, word) == OKAY
        assert dut.hold_o.value == word & 1
        assert await page.read(HOLD) == (word & 1, OKAY)
        await page.write(4 * random.randrange(WORDS), ~word & 0xFFFF_FFFF)
        assert await page.write(HOLD, ~word & 0xFFFF_FFFF, 0x7) == SLVERR
        assert dut.hold_o.value == word & 1


@cocotb.test()
async def past_them_there_is_nothing(dut: HierarchyObject) -> None:
    page, _ = await begin(dut)
    words = [random.getrandbits(32) for _ in range(WORDS)]
    for index, word in enumerate(words):
        await page.write(4 * index, word)
    for address in [HOLD + 1, HOLD + 4, 0xC00, 0xFFC, *(random.randrange(HOLD + 1, 0x1000) for _ in range(30))]:
        page.stall()
        assert await page.write(address, random.getrandbits(32)) == SLVERR, hex(address)
        assert await page.read(address) == (0, SLVERR), hex(address)
    assert [await page.read(4 * index) for index in range(WORDS)] == [(word, OKAY) for word in words]


@cocotb.test()
async def an_address_within_a_word_is_refused(dut: HierarchyObject) -> None:
    """A block that drops the lower bits of an address has four names for each word."""
    page, _ = await begin(dut)
    word = random.getrandbits(32)
    for index in (0, 1, WORDS - 1, random.randrange(WORDS)):
        assert await page.write(4 * index, word) == OKAY
        for byte in (1, 2, 3):
            page.stall()
            assert await page.write(4 * index + byte, ~word & 0xFFFF_FFFF) == SLVERR, f"word {index}, byte {byte}"
            assert await page.read(4 * index + byte) == (0, SLVERR), f"word {index}, byte {byte}"
        assert await page.read(4 * index) == (word, OKAY)
