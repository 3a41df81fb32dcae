"""The engine over its registers, against hashlib and the judge of this folder."""

from __future__ import annotations

import random

import cocotb
import keccak
import sha3_driver as regs
from axi_lite import SLVERR
from sha3_bench import FUNCTIONS, LEAF128, SHA3_256, SHA3_384, SHA3_512, SHAKE128, SHAKE256, Function
from sha3_driver import Driver
from stored_vectors import cases

# Blocks of stored vectors.
BUDGET = 60
KMACS = {regs.KMAC128: 168, regs.KMAC256: 136}


async def agrees(driver: Driver, function: Function, message: bytes, size: int = 0) -> None:
    """The configuration selects the feed."""
    want = function.digest(message, size)
    # Of a digest nothing follows the end; a block of output is as long as the rate.
    got = await driver.compute(message, len(want), function.size or function.rate)
    assert got == want, f"{function.name}, {len(message)} bytes, CTRL {driver.config:#x}: {got.hex()}"


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.bus.get(regs.ID)).to_bytes(4, "big") == b"sha3"
    assert await driver.bus.get(regs.PARAMETERS) == int(dut.RoundsPerCycle.value)
    assert await driver.bus.get(regs.STATUS) == regs.IDLE | regs.DATA_FREE
    # Without a mode there is no command.
    for mode in (0, 12, 15):
        await driver.configure(mode)
        await driver.command(regs.START)
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def computes_by_every_feed_with_stalls(dut):
    driver = await Driver.started(dut)
    for function in FUNCTIONS:
        for feed in regs.FEEDS:
            driver.stall(random.choice([0.0, 0.2, 0.6]))
            await driver.configure(regs.mode_of(function) | feed)
            lengths = [0, 1, 7, 8, 9, function.rate - 1, function.rate, function.rate + 8, 250]
            await agrees(driver, function, random.randbytes(random.choice(lengths)))
            await driver.expect_errors(0)


@cocotb.test()
async def squeezes_many_blocks(dut):
    driver = await Driver.started(dut)
    for function in (SHAKE128, SHAKE256, LEAF128):
        await driver.configure(regs.mode_of(function))
        await agrees(driver, function, random.randbytes(40), 3 * function.rate)
    # A digest ends.
    await driver.configure(regs.mode_of(SHA3_512))
    await agrees(driver, SHA3_512, b"")
    await driver.command(regs.SQUEEZE)
    await driver.expect_errors(regs.BAD_COMMAND)


def kmac_input(rate: int, message: bytes, size: int, customization: bytes = b"") -> bytes:
    """What software feeds: the prefix, the message, the length of the output."""
    return keccak.kmac_header(rate, customization) + message + keccak.right_encode(8 * size)


@cocotb.test()
async def computes_kmac_with_a_key_of_its_own(dut):
    driver = await Driver.started(dut)
    for mode, rate in KMACS.items():
        for size, feed in ((16, 0), (32, regs.BY_COMMIT), (64, regs.STREAM)):
            key, message = random.randbytes(size), random.randbytes(random.randrange(200))
            await driver.write_key(rate, key)
            await driver.configure(mode | feed)
            # The key stays for the next message.
            for text in (message, b""):
                got = await driver.compute(kmac_input(rate, text, 32), 32, rate)
                assert got == keccak.kmac(rate, key, text, 32), f"mode {mode}, feed {feed}"
            await driver.expect_errors(0)


@cocotb.test()
async def makes_no_mac_without_a_key(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.KMAC128)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    # Nor one of a message that ends before the key.
    await driver.write_key(168, bytes(32))
    for length in (0, 8, 160, 168):
        await driver.command(regs.START)
        await driver.push(random.randbytes(length))
        await driver.until(regs.IDLE)
        await driver.expect_errors(regs.BAD_PUSH)
        assert await driver.shown() == bytes(168)
    got = await driver.compute(kmac_input(168, b"text", 32), 32, 168)
    assert got == keccak.kmac(168, bytes(32), b"text", 32)


@cocotb.test()
async def agrees_with_stored_vectors(dut):
    driver = await Driver.started(dut)
    for case in cases(BUDGET, dut._log.info):
        function, size = case.function, len(case.expected)
        rate, feed, message = function.rate, random.choice(regs.FEEDS), case.message
        if case.key is not None and len(case.key) <= 64:
            await driver.write_key(rate, case.key)
            await driver.configure((regs.KMAC128 if rate == 168 else regs.KMAC256) | feed)
            message = kmac_input(rate, case.message, size)
        else:
            # A longer key is a part of the message, for software.
            message = case.whole
            await driver.configure(regs.mode_of(function) | feed)
        got = await driver.compute(message, size, function.size or rate)
        assert got == case.expected, f"{case.name}: {got.hex()}"
    await driver.expect_errors(0)


@cocotb.test()
async def takes_the_cycles_of_its_documentation(dut):
    """From the start of a streamed message to its digest, its interrupt and the end of being busy."""
    driver = await Driver.started(dut)
    await driver.bus.write(regs.INTERRUPT_ENABLE, regs.DONE_IRQ)
    rounds = 24 // int(dut.RoundsPerCycle.value)
    events = {"done": dut.output_valid, "irq": dut.irq_o, "idle": dut.is_idle}
    for function in (SHA3_256, SHA3_384, SHA3_512):
        words = function.rate // 8
        for blocks in (1, 2, 5):
            for fill in (bytes, random.randbytes):
                await driver.configure(regs.mode_of(function) | regs.STREAM)
                measured = cocotb.start_soon(driver.measure(events))
                await driver.command(regs.START)
                await driver.stream(fill(blocks * function.rate - 1))
                # The words of the first block, a cycle to take it, the blocks, the words of the digest.
                done = words + 2 + (blocks - 1) * max(rounds, words) + rounds + function.size // 8
                expected = {"done": done, "idle": done, "irq": done + 1}
                got = await measured
                assert got == expected, f"{function.name}, {blocks} blocks: {got}, not {expected}"
                await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ)


@cocotb.test()
async def keeps_the_key_to_itself(dut):
    """No address of the key can be read, before, during and after its use: an error, and zeros."""
    driver = await Driver.started(dut)
    await driver.configure(regs.KMAC256)
    key = b"\xff" * 64
    await driver.write_key(136, key)
    for moment in ("before", "during", "after"):
        if moment == "during":
            await driver.command(regs.START)
            await driver.push(keccak.kmac_header(136), is_end=False)
        if moment == "after":
            await driver.push(b"x" + keccak.right_encode(256))
            await driver.until(regs.DIGEST_VALID)
        for address in (*range(regs.KEY, regs.KEY + 72, 4), regs.DATA, regs.DATA + 4):
            assert await driver.bus.reads([address]) == [(0, SLVERR)], f"{address:#x} reads something {moment}"
    assert (await driver.shown())[:32] == keccak.kmac(136, key, b"x", 32)


@cocotb.test()
async def refuses_what_comes_at_the_wrong_time(dut):
    driver = await Driver.started(dut)
    # Nothing hangs: stores without a message are answered and dropped.
    for _ in range(5):
        await driver.bus.write(regs.DATA, 1)
        await driver.bus.write(regs.DATA + 4, 1)
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.bus.write(regs.KEY, 1, strobe=0b0111)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.configure(regs.mode_of(SHA3_384))
    await driver.command(regs.SQUEEZE)
    await driver.expect_errors(regs.BAD_COMMAND)
    await driver.command(regs.START)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    await driver.bus.write(regs.KEY, 1)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.bus.write(regs.DATA, 1, strobe=0b0011)
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.bus.write(regs.CTRL, regs.mode_of(SHA3_512))
    assert await driver.bus.get(regs.CTRL) == regs.mode_of(SHA3_384)
    # A commit is for the other protocol.
    await driver.bus.write(regs.FINAL, regs.COMMIT)
    await driver.expect_errors(regs.BAD_PUSH)
    # None of these has changed the message, and nothing follows its end.
    await driver.push(b"message")
    await driver.bus.write(regs.DATA, 1)
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.until(regs.DIGEST_VALID)
    assert (await driver.shown())[:48] == SHA3_384.digest(b"message")
    # The memory of the output is still being overwritten.
    await driver.command(regs.ABORT)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def waits_on_the_bus_while_a_block_is_worked_on(dut):
    """Stores as fast as the bus allows, and a core that cannot take a word: nothing is lost."""
    driver = await Driver.started(dut)
    for feed in (0, regs.BY_COMMIT):
        await driver.configure(regs.mode_of(SHA3_512) | feed)
        await agrees(driver, SHA3_512, random.randbytes(700))
        await driver.expect_errors(0)


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.mode_of(SHA3_256))
    await driver.bus.write(regs.INTERRUPT_ENABLE, regs.DONE_IRQ)
    await driver.command(regs.SQUEEZE)
    await driver.tick(3)
    # That interrupt is disabled.
    assert await driver.bus.get(regs.INTERRUPT) == regs.ERROR_IRQ and dut.irq_o.value == 0
    await driver.bus.write(regs.INTERRUPT, regs.ERROR_IRQ)
    await driver.expect_errors(regs.BAD_COMMAND)
    await agrees(driver, SHA3_256, b"words")
    assert dut.irq_o.value == 1
    await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ)
    await driver.tick(2)
    assert dut.irq_o.value == 0


@cocotb.test()
async def a_clear_of_one_interrupt_loses_no_other(dut):
    """Another event is cleared in every cycle around the end of a message."""
    driver = await Driver.started(dut)
    await driver.configure(regs.mode_of(SHA3_512))
    for delay in range(50):
        await driver.command(regs.START)
        await driver.push(b"words")
        await driver.tick(delay)
        await driver.bus.write(regs.INTERRUPT, regs.ERROR_IRQ)
        await driver.until(regs.DIGEST_VALID)
        assert await driver.bus.get(regs.INTERRUPT) == regs.DONE_IRQ, f"lost after {delay} cycles"
        await driver.bus.write(regs.INTERRUPT, regs.DONE_IRQ)


@cocotb.test()
async def starts_again_after_an_abort_at_any_time(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(32)
    await driver.configure(regs.KMAC128)
    await driver.write_key(168, key)
    for number in range(24):
        await driver.command(regs.START)
        await driver.push(kmac_input(168, random.randbytes(random.randrange(200)), 32), number % 2 == 1)
        await driver.tick(random.randrange(60))
        await driver.command(regs.ABORT)
        status = await driver.until(regs.IDLE)
        assert status == regs.IDLE | regs.DATA_FREE | regs.KEY_LOADED
        assert await driver.shown() == bytes(168)
        text = random.randbytes(random.randrange(80))
        got = await driver.compute(kmac_input(168, text, 32), 32, 168)
        assert got == keccak.kmac(168, key, text, 32)
        await driver.until(regs.IDLE)
    await driver.expect_errors(0)


@cocotb.test()
async def drops_a_stream_that_is_aborted(dut):
    """What came of it is in no digest; other messages are not affected."""
    driver = await Driver.started(dut)
    for number in range(20):
        await driver.configure(regs.mode_of(SHA3_384) | regs.STREAM)
        await driver.command(regs.START)
        await driver.stream(random.randbytes(8 * random.randrange(40)), is_end=False)
        await driver.tick(random.randrange(60))
        await driver.pulse(dut.str_abort_i)
        assert await driver.until(regs.IDLE) & regs.DIGEST_VALID == 0
        assert await driver.shown() == bytes(168)
        message = random.randbytes(random.randrange(300))
        if number % 2:
            await driver.configure(regs.mode_of(SHA3_384))
            # Without a stream there is nothing to abort.
            await driver.pulse(dut.str_abort_i)
        assert await driver.compute(message, 48, 48) == SHA3_384.digest(message)
        await driver.until(regs.IDLE)
    await driver.expect_errors(0)


@cocotb.test()
async def wipes_on_command_and_when_the_lifecycle_changes(dut):
    driver = await Driver.started(dut)
    await driver.configure(regs.KMAC128)
    for is_wipe in (True, False):
        await driver.write_key(168, b"\xff" * 64)
        await driver.compute(kmac_input(168, b"\xff" * 300, 32), 32, 168)
        await driver.until(regs.IDLE)
        await driver.command(regs.START)
        await driver.push(b"\xff" * 200, is_end=False)
        if is_wipe:
            await driver.command(regs.WIPE)
        else:
            dut.lifecycle_i.value = 0b1010
        # A command takes effect in the cycle after it was acknowledged; the core follows a cycle later.
        await driver.tick(3)
        assert int(dut.u_key.key_q.value) == 0 and int(dut.data_q.value) == 0
        registers = (dut.u_core.state_q, dut.u_core.u_block.block_o)
        assert all(int(lane.value) == 0 for register in registers for lane in register)
        status = await driver.until(regs.IDLE)
        assert status == regs.IDLE | regs.DATA_FREE
        assert all(int(word.value) == 0 for word in dut.u_output.memory)
        await driver.command(regs.START)
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def fails_for_good_when_it_is_upset(dut):
    driver = await Driver.started(dut)
    # Any word that is no state, in each of the machines.
    legal = {
        dut.u_key.u_state.u_flop.value_q: {0b001011, 0b010101, 0b011110, 0b110011},
        dut.u_core.u_control.u_state.u_flop.value_q: {0b001011, 0b010101, 0b011110, 0b100110, 0b101101, 0b111000, 0b110011},
        dut.u_core.u_block.u_state.u_flop.value_q: {0b001011, 0b010101, 0b011110, 0b100110, 0b110011},
    }
    for register, states in legal.items():
        for number, forced in enumerate(random.sample(sorted(set(range(64)) - states), 4)):
            await driver.configure(regs.KMAC128)
            await driver.write_key(168, b"\xff" * 64)
            if number % 2:
                # There is a MAC to be hidden.
                await driver.compute(kmac_input(168, b"text", 32), 32, 168)
            else:
                await driver.command(regs.START)
            register.value = forced
            await driver.tick(4)
            assert dut.alert_o.value == 1, f"went on from {forced:06b}"
            assert int(dut.u_key.key_q.value) == 0, f"keeps the key after {forced:06b}"
            for command in (regs.WIPE, regs.ABORT, regs.START):
                await driver.command(command)
                # The bus continues, the engine does not.
                await driver.push(b"\xff" * 20)
                status = await driver.bus.get(regs.STATUS)
                assert status & regs.FAILED and not status & (regs.IDLE | regs.KEY_LOADED), f"{status:#x}"
                assert await driver.shown() == bytes(168)
            await driver.reset()
