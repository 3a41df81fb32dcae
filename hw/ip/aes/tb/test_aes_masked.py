"""The engine with `Masked`: what it does with random bits, and what it refuses without them.

What it computes is tested by `test_aes`, and what it leaks by `test_aes_leakage` and `test_aes_dom_sbox`."""

from __future__ import annotations

import random

import aes_driver as regs
import cocotb
import rijndael
from aes_bench import MASKED
from aes_driver import Driver
from cocotb.triggers import ReadWrite
from test_aes import (
    PORTS,
    agrees,
    block_cycles,
    fails_for_good_when_it_is_upset,
    overwrites_everything_with_pseudo_random_words,
    says_what_it_is,
    takes_the_key_of_the_slot,
    tells_the_health_of_its_noise_source,
)

# Of the unmasked engine, those that see another cipher. `ip.toml` has all of them, for longer runs.
__all__ = [
    "fails_for_good_when_it_is_upset",
    "overwrites_everything_with_pseudo_random_words",
    "says_what_it_is",
    "takes_the_key_of_the_slot",
    "tells_the_health_of_its_noise_source",
]
# The bit of the verdict on the source (`trust_t`) that says that it has passed.
PASSED = 11
# Without a word for so long the source has failed: `test_aes_masks` counts all of them.
SILENT_CYCLES = 65_536


def shares(dut: object, words: int) -> tuple[list[int], list[int]]:
    """The first words of the key schedule, of each share."""
    memories = [dut.g_cipher.u_core.g_share[share].u_memory for share in range(2)]
    first, second = (
        [int(memory.g_bank[at % 4].memory[at // 4].value) for at in range(words)] for memory in memories
    )
    return first, second


async def refuses(driver: Driver, errors: int) -> None:
    """Neither a key nor a message is taken, and nothing comes out."""
    before = shares(driver.dut, 60)
    await driver.write("error", regs.ALL_ERRORS)
    for at in range(8):
        await driver.write("key", 0xFFFF_FFFF, at)
        await driver.expect_errors(regs.BAD_ENTROPY)
    driver.dut.slot_valid_i.value, driver.dut.slot_word_i.value = 1, 0xFFFF_FFFF
    await driver.write("command", regs.LOAD_SLOT)
    await driver.expect_errors(regs.BAD_ENTROPY)
    driver.dut.slot_valid_i.value = 0
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_ENTROPY | errors)
    await driver.write("data_in", 1)
    await driver.expect_errors(regs.BAD_DATA)
    assert shares(driver.dut, 60) == before, "a word of a key was stored"
    assert await driver.read("status") & ~regs.KEY_LOADED == regs.IDLE
    assert not any(await driver.get("data_out"))


async def works(driver: Driver) -> None:
    await driver.wipe()
    key = random.randbytes(32)
    await driver.load_key(key)
    await agrees(driver, "cbc", key, 32, 0)
    await driver.expect_errors(0)


@cocotb.test()
async def computes_every_mode_in_its_cycles(dut):
    driver = await Driver.started(dut)
    for size, cycles in MASKED.items():
        key, iv, text = random.randbytes(size), random.randbytes(12), random.randbytes(40)
        await driver.load_key(key)
        for mode in ("ecb", "cbc", "ctr"):
            for flags in (0, regs.DECRYPT):
                await agrees(driver, mode, key, 32, flags | random.choice(PORTS))
        sealed, tag = rijndael.gcm(key, iv, b"", text)
        assert (await driver.gcm(iv, b"", text, random.choice(PORTS)))[:2] == (sealed, tag)
        opened, _, status = await driver.gcm(iv, b"", sealed, random.choice(PORTS) | regs.DECRYPT, tag)
        assert opened == text and status & regs.TAG_MATCHES
        assert await block_cycles(driver, "cbc", 0, bytes(48), bytes(16)) == {cycles}
    await driver.expect_errors(0)


@cocotb.test()
async def takes_no_key_and_starts_nothing_without_entropy(dut):
    driver = await Driver.started(dut)
    # Its start-up test has not passed.
    driver.lose_noise()
    await driver.write("command", regs.WIPE)
    await driver.until(regs.IDLE)
    await refuses(driver, regs.BAD_KEY)
    driver.has_noise = True
    await works(driver)


@cocotb.test()
async def keeps_its_key_but_starts_nothing_after_a_failed_test(dut):
    driver = await Driver.started(dut)
    await driver.load_key(bytes(32))
    driver.lose_noise()
    dut.entropy_i.value, dut.entropy_valid_i.value = 0, 1
    await driver.tick(60)
    dut.entropy_valid_i.value = 0
    await refuses(driver, 0)
    # A source that goes on well is not trusted again by itself.
    driver.has_noise = True
    await driver.tick(1500)
    await refuses(driver, 0)
    await works(driver)


@cocotb.test()
async def drops_a_message_when_its_source_fails_in_any_phase(dut):
    """A source that sticks, with an expansion, blocks and a digest under way."""
    driver = await Driver.started(dut)
    for at in range(0, 420, 38):
        driver.has_noise = True
        await driver.trusts()
        await driver.load_key(random.randbytes(32))
        await driver.configure("gcm", regs.STREAM_IN | regs.STREAM_OUT, bytes(12), (48, 0))
        task = cocotb.start_soon(driver.run(random.randbytes(48)))
        await driver.wait_for(dut.starts)
        await driver.tick(at)
        driver.lose_noise()
        dut.entropy_i.value, dut.entropy_valid_i.value = 0, 1
        await driver.wait_for(dut.entropy_failed)
        dut.entropy_valid_i.value = 0
        task.cancel()
        dut.str_valid_i.value, dut.dst_ready_i.value = 0, 0
        driver.bus = type(driver.bus)(dut, "axil")
        await driver.tick(10)
        assert dut.modes_busy.value == 0 and dut.dst_valid_o.value == 0 and dut.tag_valid.value == 0, f"goes on at {at}"
        status = await driver.until(regs.IDLE)
        assert status & (regs.OUTPUT_VALID | regs.TAG_VALID | regs.HEALTHY) == 0, f"at {at}: {status:#x}"
        assert not any(await driver.get("data_out")) and not any(await driver.get("tag"))
        await driver.write("error", regs.ALL_ERRORS)
        await driver.write("command", regs.START)
        assert await driver.read("error") & regs.BAD_ENTROPY
        driver.has_noise = True
        await driver.wipe()
        await driver.write("error", regs.ALL_ERRORS)
    await works(driver)


@cocotb.test()
async def tells_that_a_message_was_dropped(dut):
    """A source that repeats itself in the middle of a message."""
    driver = await Driver.started(dut)
    await driver.load_key(random.randbytes(32))
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    driver.lose_noise()
    dut.entropy_i.value, dut.entropy_valid_i.value = 0, 1
    await driver.tick(60)
    dut.entropy_valid_i.value = 0
    await driver.expect_errors(regs.BAD_ENTROPY)
    assert await driver.read("status") & ~(regs.KEY_LOADED | regs.IDLE) == 0
    assert await driver.read("interrupt") & regs.ERROR_IRQ
    driver.has_noise = True
    await works(driver)


@cocotb.test()
async def tells_that_an_upset_of_the_health_test_dropped_a_message(dut):
    """Nothing but the verdict on the source changes, so that only the drop can tell it."""
    driver = await Driver.started(dut)
    await driver.load_key(random.randbytes(32))
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    await driver.tick(10)
    assert dut.modes_busy.value == 1
    verdict = dut.g_cipher.u_masks.u_health.trust_q
    verdict.value = int(verdict.value) & ~(1 << PASSED)
    await driver.tick(2)
    assert dut.modes_busy.value == 0
    await driver.expect_errors(regs.BAD_ENTROPY)
    assert await driver.read("interrupt") & regs.ERROR_IRQ
    assert not await driver.read("status") & regs.HEALTHY
    await driver.wipe()
    await works(driver)


@cocotb.test()
async def fails_when_its_source_falls_silent(dut):
    driver = await Driver.started(dut)
    await driver.load_key(random.randbytes(32))
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    driver.lose_noise()
    await driver.tick(10)
    assert dut.modes_busy.value == 1
    dut.g_cipher.u_masks.silent_q.value = SILENT_CYCLES - 5
    await driver.tick(10)
    assert dut.modes_busy.value == 0
    await driver.expect_errors(regs.BAD_ENTROPY)
    await refuses(driver, 0)
    driver.has_noise = True
    await works(driver)


@cocotb.test()
async def splits_a_key_at_its_entry(dut):
    """By registers and from the slot: the sum of the shares is the key, no share is, and each entry has other ones."""
    driver = await Driver.started(dut)
    key = random.randbytes(32)
    words = [int.from_bytes(key[at : at + 4], "little") for at in range(0, 32, 4)]
    seen: set[int] = set()

    async def slot() -> None:
        while True:
            await ReadWrite()
            dut.slot_word_i.value = words[int(dut.slot_index_o.value)]
            await driver.tick()

    cocotb.start_soon(slot())
    dut.slot_valid_i.value = 1
    for number in range(6):
        if number % 2:
            await driver.write("command", regs.LOAD_SLOT)
            driver.key_len = 32
        else:
            await driver.load_key(key)
        await driver.until(regs.IDLE)
        first, second = shares(dut, 8)
        assert [a ^ b for a, b in zip(first, second, strict=True)] == words
        for word in (*first, *second):
            assert word not in seen and word not in words, f"{word:#x} comes twice"
            seen.add(word)
        text = random.randbytes(16)
        await driver.configure("ecb", 0, None, (16, 0))
        assert await driver.run(text) == rijndael.encrypt(key, text)


@cocotb.test()
async def shows_only_results_in_the_clear(dut):
    """The sum of the shares is not at the port of the cipher before its last round."""
    driver = await Driver.started(dut)
    await driver.load_key(random.randbytes(16))
    core = dut.g_cipher.u_core
    await driver.configure("ctr", regs.STREAM_IN | regs.STREAM_OUT, random.randbytes(16), (64, 0))
    task = cocotb.start_soon(driver.run(random.randbytes(64)))
    results = 0
    while not task.done():
        is_result = await driver.sees(core.result_valid_o)
        results += is_result
        await ReadWrite()
        assert core.result_valid_o.value == 1 or int(core.result_o.value) == 0
    assert results == 4
