"""The engine over its registers, against hashlib and hmac."""

from __future__ import annotations

import hashlib
import hmac
import random

import cocotb
import sha2_driver as regs
from axi_lite import SLVERR
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from sha2_driver import BLOCK, Driver
from stored_vectors import digests, macs

# Bytes of stored vectors that each algorithm hashes.
BUDGET = 4_000
# Cycles of a message of one block, and of each further one, of a stream that never waits (doc/README.md, "Cycles"), by
# rounds a cycle and mode.
CYCLES = {
    (1, regs.SHA256): (74, 68),
    (1, regs.HMAC): (283, 68),
    (2, regs.SHA256): (39, 34),
    (2, regs.HMAC): (143, 34),
    (4, regs.SHA256): (24, 20),
    (4, regs.HMAC): (75, 20),
}
# SHA-384 and SHA-512 take the same.
for _wide in (regs.SHA384, regs.SHA512):
    CYCLES |= {
        (2, _wide): (54, 49),
        (4, _wide): (35, 30),
    }


def expected(config: int, key: bytes, message: bytes) -> bytes:
    if config & regs.MODE == regs.HMAC:
        return hmac.new(key, message, hashlib.sha256).digest()
    hashes = {regs.SHA384: hashlib.sha384, regs.SHA512: hashlib.sha512}
    return hashes.get(config & regs.MODE, hashlib.sha256)(message).digest()


def modes(dut: HierarchyObject) -> list[int]:
    wide = [regs.SHA384, regs.SHA512] if int(dut.WithSha512.value) else []
    return [regs.SHA256, regs.HMAC, *wide]


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.bus.get(regs.ID)).to_bytes(4, "big") == b"sha2"
    wide = int(dut.WithSha512.value) << 16
    assert await driver.bus.get(regs.PARAMETERS) == wide | 16 << 8 | int(dut.RoundsPerCycle.value)
    assert await driver.bus.get(regs.STATUS) == regs.IDLE | regs.EMPTY
    # Without a mode there is no command.
    for mode in (0, 5, 7) if wide else (0, regs.SHA384, regs.SHA512):
        await driver.configure(mode)
        await driver.command(regs.START)
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def computes_in_every_byte_order_with_stalls(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(37)
    await driver.write_key(key)
    for number in range(32):
        driver.stall(random.choice([0.0, 0.2, 0.6]))
        swaps = (number & 1) * regs.MESSAGE_SWAP | (number >> 1 & 1) * regs.DIGEST_SWAP
        config = random.choice(modes(dut)) | swaps | (number >> 2 & 1) * regs.STREAM
        await driver.configure(config)
        lengths = [0, 1, 3, 55, 56, 64, 65, 111, 112, 119, 120, 127, 128, 129, 250]
        message = random.randbytes(random.choice(lengths))
        got = await driver.compute(message, with_parts=number % 16 >= 8)
        assert got == expected(config, key, message), f"{len(message)} bytes, CTRL {config:#x}"
        await driver.expect_errors(0)


@cocotb.test()
async def agrees_with_stored_vectors(dut):
    driver = await Driver.started(dut)
    names = {regs.SHA256: "SHA2-256", regs.SHA384: "SHA2-384", regs.SHA512: "SHA2-512"}
    for mode in modes(dut):
        is_hmac = mode == regs.HMAC
        log = dut._log.info
        for case in macs(BUDGET, log) if is_hmac else digests(names[mode], BUDGET, log):
            if is_hmac:
                await write_any_key(driver, case.key)
            await driver.configure(mode | regs.STREAM * (random.random() < 0.5))
            got = await driver.compute(case.message)
            # A tag may be the beginning of a MAC.
            wanted = got[: len(case.expected)] if is_hmac else got
            assert wanted == case.expected, f"{case.name}: {got.hex()}"
    await driver.expect_errors(0)


async def write_any_key(driver: Driver, key: bytes) -> None:
    """A longer one than a block is its digest (FIPS 198-1 §4, step 2), made by this engine as well."""
    if len(key) > BLOCK:
        await driver.configure(regs.SHA256)
        key = await driver.compute(key)
    await driver.write_key(key)


@cocotb.test()
async def loses_nothing_when_the_fifo_is_full(dut):
    """Stores as fast as the bus allows, which has to wait for an engine of a round a cycle. A faster one takes them sooner."""
    driver = await Driver.started(dut)
    await driver.configure(regs.SHA256)
    message = random.randbytes(5 * BLOCK + 9)
    was_full = cocotb.start_soon(sees_full(driver))
    assert await driver.compute(message) == expected(regs.SHA256, b"", message)
    assert (was_full.done() and was_full.result() > 0) == (int(dut.RoundsPerCycle.value) == 1)
    was_full.cancel()
    await driver.expect_errors(0)


async def sees_full(driver: Driver) -> int:
    for cycle in range(1, 5000):
        await ReadOnly()
        full = driver.dut.level.value == 16
        await driver.tick()
        if full:
            return cycle
    return 0


@cocotb.test()
async def takes_exactly_the_cycles_of_its_documentation(dut):
    """From the start of a streamed message to its digest, its interrupt and the end of being busy."""
    driver = await Driver.started(dut)
    await driver.write_key(random.randbytes(BLOCK))
    await driver.bus.write(regs.INTERRUPT_ENABLE, regs.DONE_IRQ)
    events = {"done": dut.is_done, "irq": dut.irq_o, "idle": dut.is_idle}
    for mode in modes(dut):
        for blocks in (1, 2, 5):
            await driver.configure(mode | regs.STREAM)
            size, padding = (2 * BLOCK, 17) if mode in (regs.SHA384, regs.SHA512) else (BLOCK, 9)
            measured = cocotb.start_soon(driver.measure(events))
            await driver.command(regs.START)
            await driver.stream(random.randbytes(size * blocks - padding))
            one, further = CYCLES[int(dut.RoundsPerCycle.value), mode]
            done = one + (blocks - 1) * further
            expected = {"done": done, "idle": done, "irq": done + 1}
            got = await measured
            assert got == expected, f"mode {mode}, {blocks} blocks: {got}, not {expected}"
            await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ | regs.EMPTY_IRQ)


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.SHA256)
    await driver.bus.write(regs.INTERRUPT_ENABLE, regs.DONE_IRQ)
    await driver.command(regs.START)
    await driver.push(b"some words, then more")
    await driver.tick(100)
    # The FIFO became empty, but that interrupt is disabled.
    assert await driver.bus.get(regs.INTERRUPT) == regs.EMPTY_IRQ and dut.irq_o.value == 0
    await driver.bus.write(regs.INTERRUPT, regs.EMPTY_IRQ)
    await driver.command(regs.PROCESS)
    for _ in range(500):
        await driver.tick()
        if dut.irq_o.value == 1:
            break
    assert await driver.bus.get(regs.INTERRUPT) == regs.DONE_IRQ
    await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ)
    assert dut.irq_o.value == 0
    assert await driver.shown() == hashlib.sha256(b"some words, then more").digest()
    await driver.bus.write(regs.INTERRUPT_ENABLE, regs.ERROR_IRQ)
    await driver.command(regs.PROCESS)
    await driver.tick(3)
    assert dut.irq_o.value == 1
    await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def a_clear_of_one_interrupt_loses_no_other(dut):
    """Another event is cleared in every cycle around the end of a message."""
    driver = await Driver.started(dut)
    await driver.configure(regs.SHA256 | regs.STREAM)
    one, _ = CYCLES[int(dut.RoundsPerCycle.value), regs.SHA256]
    for delay in range(one + 10):
        await driver.command(regs.START)
        await driver.stream(b"words")
        await driver.tick(delay)
        await driver.bus.write(regs.INTERRUPT, regs.ERROR_IRQ)
        await driver.until(regs.DIGEST_VALID)
        assert await driver.bus.get(regs.INTERRUPT) & regs.DONE_IRQ, f"lost after {delay} cycles"
        await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ)


@cocotb.test()
async def a_clear_of_one_error_loses_no_other(dut):
    """Another error is cleared directly after a wrong command, and some writes later."""
    driver = await Driver.started(dut)
    for between in range(4):
        wrong = [(regs.AT["command"], regs.START), *[(regs.INTERRUPT_ENABLE, 0)] * between]
        await driver.bus.writes([*wrong, (regs.ERROR, regs.BAD_PUSH)])
        assert await driver.bus.get(regs.ERROR) == regs.BAD_COMMAND, f"lost {between + 1} writes later"
        await driver.bus.write(regs.ERROR, regs.BAD_COMMAND)


@cocotb.test()
async def keeps_the_key_to_itself(dut):
    """No address of the key can be read, before, during and after its use: an error, and zeros."""
    driver = await Driver.started(dut)
    await driver.configure(regs.HMAC)
    key = b"\xff" * BLOCK
    await driver.write_key(key)
    for moment in ("before", "during", "after"):
        if moment == "during":
            await driver.command(regs.START)
        if moment == "after":
            await driver.push(b"x")
            await driver.command(regs.PROCESS)
            await driver.until(regs.DIGEST_VALID)
        windows = (regs.KEY, regs.FIFO)
        for address in (start + at for start in windows for at in range(0, BLOCK, 4)):
            answer = await driver.bus.reads([address])
            assert answer == [(0, SLVERR)], f"{address:#x} reads something {moment}"
    assert await driver.shown() == hmac.new(key, b"x", hashlib.sha256).digest()


@cocotb.test()
async def refuses_what_comes_at_the_wrong_time(dut):
    driver = await Driver.started(dut)
    # Nothing hangs: stores without a message are answered and dropped.
    for _ in range(20):
        await driver.bus.write(regs.FIFO, 1)
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.configure(regs.HMAC)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    await driver.bus.write(regs.KEY, 1, strobe=0b0111)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.configure(regs.SHA256)
    for command in (regs.PROCESS, regs.STOP):
        await driver.command(command)
        errors = await driver.bus.get(regs.ERROR)
        assert errors & regs.BAD_COMMAND, f"command {command} without a message"
        await driver.bus.write(regs.ERROR, errors)
    await driver.command(regs.START)
    await driver.command(regs.STOP)
    await driver.expect_errors(regs.BAD_STOP)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    for register in (regs.KEY, regs.DIGEST):
        await driver.bus.write(register, 1)
        await driver.expect_errors(regs.BAD_WRITE)
    await driver.bus.write(regs.CTRL, regs.HMAC)
    assert await driver.bus.get(regs.CTRL) == regs.SHA256
    await driver.bus.write(regs.FIFO, 1, strobe=0b1001)
    await driver.expect_errors(regs.BAD_PUSH)
    # A word, and a part of one: neither is a block.
    for part in (b"abcd", b"e"):
        await driver.push(part)
        await driver.command(regs.STOP)
        await driver.expect_errors(regs.BAD_STOP)
    # None of these has changed the message.
    await driver.command(regs.PROCESS)
    await driver.until(regs.DIGEST_VALID)
    assert await driver.shown() == hashlib.sha256(b"abcde").digest()


@cocotb.test()
async def leaves_a_message_and_goes_on_with_it(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(20)
    await driver.write_key(key)
    for mode in modes(dut):
        await driver.configure(mode | random.choice([0, regs.DIGEST_SWAP]))
        block = BLOCK if mode in (regs.SHA256, regs.HMAC) else 2 * BLOCK
        message = random.randbytes(3 * block + 5)
        await driver.command(regs.START)
        at = 0
        for blocks in (1, 2):
            await driver.push(message[at : at + blocks * block])
            await driver.command(regs.STOP)
            await driver.until(regs.IDLE | regs.STATE_VALID)
            at += blocks * block
            state = (await driver.shown_whole())[: block // 2]
            length = await driver.bus.get(regs.LENGTH_LOW)
            assert length == at + (BLOCK if mode == regs.HMAC else 0)
            # Another one in between.
            assert await driver.compute(b"another") == expected(mode, key, b"another")
            await driver.show(state)
            await driver.bus.write(regs.LENGTH_LOW, length)
            await driver.bus.write(regs.LENGTH_HIGH, 0)
            await driver.command(regs.RESUME)
        await driver.push(message[at:])
        await driver.command(regs.PROCESS)
        await driver.until(regs.DIGEST_VALID)
        assert await driver.shown() == expected(mode, key, message)
        await driver.expect_errors(0)


@cocotb.test()
async def starts_again_after_an_abort_at_any_time(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(64)
    await driver.configure(regs.HMAC)
    await driver.write_key(key)
    for number in range(24):
        await driver.command(regs.START)
        await driver.push(random.randbytes(random.randrange(2 * BLOCK)))
        if number % 2:
            await driver.command(regs.PROCESS)
        await driver.tick(random.randrange(200))
        await driver.command(regs.ABORT)
        status = await driver.until(regs.IDLE)
        assert status == regs.IDLE | regs.EMPTY | regs.KEY_LOADED
        assert await driver.shown() == bytes(32)
        message = random.randbytes(random.randrange(80))
        assert await driver.compute(message) == expected(regs.HMAC, key, message)
    await driver.expect_errors(0)


@cocotb.test()
async def drops_a_stream_that_is_aborted(dut):
    """What came of it is in no digest; other messages are not affected."""
    driver = await Driver.started(dut)
    for number in range(20):
        await driver.configure(regs.SHA256 | regs.STREAM)
        await driver.command(regs.START)
        await driver.stream(random.randbytes(8 * random.randrange(20)), is_end=False)
        await driver.tick(random.randrange(80))
        await driver.pulse(dut.str_abort_i)
        assert await driver.until(regs.IDLE) == regs.IDLE | regs.EMPTY
        assert await driver.shown() == bytes(32)
        message = random.randbytes(random.randrange(200))
        if number % 2:
            await driver.configure(regs.SHA256)
            # Without a stream there is nothing to abort.
            await driver.pulse(dut.str_abort_i)
        assert await driver.compute(message) == expected(regs.SHA256, b"", message)
    await driver.expect_errors(0)


@cocotb.test()
async def wipes_on_command_and_when_the_lifecycle_changes(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.HMAC)
    for is_wipe in (True, False):
        await driver.write_key(b"\xff" * BLOCK)
        await driver.command(regs.START)
        await driver.push(b"\xff" * 100)
        if is_wipe:
            await driver.command(regs.WIPE)
        else:
            dut.lifecycle_i.value = 0b1010
        # A command takes effect in the cycle after it was acknowledged.
        await driver.tick(2)
        assert int(dut.g_engine[0].u_hmac.key_q.value) == 0
        status = await driver.until(regs.IDLE)
        assert status == regs.IDLE | regs.EMPTY
        assert all(int(word.value) == 0 for word in dut.u_fifo.u_words.u_memory.words_q)
        assert int(dut.u_fifo.rest_q.value) == 0 and int(dut.u_fifo.data_q.value) == 0
        await driver.command(regs.START)
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def fails_for_good_when_it_is_upset(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.HMAC)
    await driver.write_key(b"\xff" * BLOCK)
    await driver.command(regs.START)
    dut.g_engine[0].u_hmac.u_state.u_flop.value_q.value = 0b1111111
    await driver.tick(2)
    assert dut.alert_o.value == 1 and int(dut.g_engine[0].u_hmac.key_q.value) == 0
    for command in (regs.WIPE, regs.ABORT, regs.START):
        await driver.command(command)
        # The bus continues, the engine does not.
        await driver.push(b"\xff" * 80)
        status = await driver.bus.get(regs.STATUS)
        assert status & regs.FAILED and not status & (regs.IDLE | regs.KEY_LOADED), f"{status:#x}"
        assert await driver.shown() == bytes(32)
