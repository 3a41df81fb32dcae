"""The engine over its registers."""

from __future__ import annotations

import random

import cocotb
import ed25519_driver as regs
from axi_lite import SLVERR
from ed25519_bench import Key, sha3_512, sha512
from ed25519_driver import AT, Driver
from upsets import upsets_of

COMMANDS = (0, 0x55, 0x33, 0x66, 0x0F, 0x5A, 0x3C)
STATES = {"wipe": 0b001011, "idle": 0b010101, "start": 0b011110, "run": 0b100110}
INPUTS = [*range(AT["key"], AT["key"] + 96, 4), *range(AT["digest"], AT["digest"] + 64, 4)]


async def sign(driver: Driver, key: Key, message: bytes) -> bytes:
    """Of the key in the slot that is chosen."""
    assert await driver.run(regs.PUBLIC) == regs.DONE
    public = await driver.read("point")
    await driver.put("digest", key.hash(key.prefix + message))
    assert await driver.run(regs.NONCE) == regs.DONE
    r = await driver.read("point")
    await driver.put("digest", key.hash(r + public + message))
    assert await driver.run(regs.SIGN) == regs.DONE
    return r + await driver.read("s")


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.get("id")).to_bytes(4, "big") == b"ed25"
    assert await driver.get("parameters") == 4
    assert await driver.get("status") == regs.IDLE
    assert await driver.get("outcome") == 0


@cocotb.test()
async def signs_with_either_hash_and_with_stalls(dut):
    driver = await Driver.started(dut)
    for slot, hash in enumerate((sha512, sha3_512)):
        driver.stall(0.3 * slot)
        key = Key.of_seed(random.randbytes(32), hash)
        assert await driver.load(key, slot, by_side=slot == 1) == regs.DONE
        message = random.randbytes(96)
        assert await sign(driver, key, message) == key.sign(message)
        await driver.expect_errors(0)
    assert (await driver.get("status")) >> 8 == 0b0011_0011


@cocotb.test()
async def verifies_over_its_registers(dut):
    driver = await Driver.started(dut)
    key = Key.of_seed(random.randbytes(32))
    signature, public = key.sign(b"message"), key.public()
    challenge = sha512(signature[:32] + public + b"message")
    assert await driver.verify(public, signature, challenge) == regs.GOOD
    # Of a verification nothing can be read.
    assert await driver.read("point") == bytes(32) == await driver.read("s")
    assert await driver.verify(public, signature, sha512(b"")) == regs.MISMATCH
    assert await driver.verify(bytes(32), signature, challenge) == regs.KEY
    assert await driver.verify(public, signature[:32] + b"\xff" * 32, challenge) == regs.SIGNATURE


@cocotb.test()
async def refuses_what_comes_at_the_wrong_time(dut):
    driver = await Driver.started(dut)
    key = Key.of_seed(random.randbytes(32))
    # No key, no nonce.
    for command in (regs.PUBLIC, regs.SIGN, regs.PREFIX):
        assert await driver.run(command) == regs.ORDER
        await driver.expect_errors(regs.BAD_COMMAND)
    # Two commands at once.
    await driver.command(regs.VERIFY | regs.NONCE)
    await driver.expect_errors(regs.BAD_COMMAND)
    assert await driver.load(key) == regs.DONE
    # A slot is written once, and a key without its public key does not sign.
    assert await driver.load(key) == regs.ORDER
    await driver.expect_errors(regs.BAD_COMMAND)
    # Digests of a wrong length: a word less, and a second one for the same digest.
    for command in (regs.NONCE, regs.VERIFY):
        await driver.put("digest", random.randbytes(56))
        assert await driver.run(command) == regs.ORDER
        await driver.expect_errors(regs.BAD_COMMAND)
    # A nonce with the bits of a key.
    await driver.configure(regs.CLAMP)
    await driver.put("digest", random.randbytes(64))
    await driver.configure(0)
    assert await driver.run(regs.NONCE) == regs.ORDER
    await driver.expect_errors(regs.BAD_COMMAND)
    await driver.put("digest", random.randbytes(64))
    assert await driver.run(regs.NONCE) == regs.DONE
    await driver.put("digest", random.randbytes(64))
    assert await driver.run(regs.SIGN) == regs.ORDER
    await driver.expect_errors(regs.BAD_COMMAND)
    # A nonce is of the next command only.
    assert await driver.run(regs.PUBLIC) == regs.DONE
    await driver.put("digest", random.randbytes(64))
    assert await driver.run(regs.SIGN) == regs.ORDER
    await driver.expect_errors(regs.BAD_COMMAND)
    # While busy nothing is taken.
    await driver.command(regs.PUBLIC)
    await driver.bus.write(AT["digest"], 1)
    await driver.command(regs.VERIFY)
    await driver.bus.write(AT["control"], 3)
    await driver.expect_errors(regs.BAD_COMMAND | regs.BAD_WRITE)
    await driver.until_idle()
    assert await driver.get("control") == 0
    # Half words, and the upper half alone.
    await driver.bus.write(AT["digest"], 1, strobe=0b0111)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.bus.write(AT["digest"] + 4, 1)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.bus.write(AT["digest"], 1)
    await driver.bus.write(AT["digest"] + 12, 1)
    await driver.expect_errors(regs.BAD_WRITE)
    message = b"nothing of this has changed the key"
    assert await sign(driver, key, message) == key.sign(message)


@cocotb.test()
async def a_clear_of_one_event_loses_no_other(dut):
    """Another one is cleared in every cycle around the end of a command, and some writes after a wrong one."""
    driver = await Driver.started(dut)
    assert await driver.load(Key.of_seed(random.randbytes(32))) == regs.DONE
    await driver.bus.write(AT["interrupt"], regs.DONE_IRQ | regs.ERROR_IRQ)
    for delay in range(60):
        await driver.command(regs.PREFIX)
        await driver.tick(delay)
        await driver.bus.write(AT["interrupt"], regs.ERROR_IRQ)
        await driver.until_idle()
        assert await driver.get("interrupt") == regs.DONE_IRQ, f"lost after {delay} cycles"
        await driver.bus.write(AT["interrupt"], regs.DONE_IRQ)
        await driver.prefix()
    for between in range(4):
        wrong = [(AT["command"], regs.SIGN), *[(AT["interrupt_enable"], 0)] * between]
        await driver.bus.writes([*wrong, (AT["error"], regs.BAD_WRITE)])
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def refuses_a_scalar_of_zero(dut):
    driver = await Driver.started(dut)
    for command in (regs.LOAD, regs.NONCE):
        await driver.put("digest", bytes(64))
        assert await driver.run(command) == regs.SCALAR
    assert await driver.get("status") == regs.IDLE


@cocotb.test()
async def keeps_its_secrets(dut):
    """Inputs cannot be read, and the prefix goes to its port only, once."""
    driver = await Driver.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await driver.load(key) == regs.DONE
    for address in INPUTS:
        assert await driver.bus.reads([address]) == [(0, SLVERR)]
    assert await driver.run(regs.PREFIX) == regs.DONE
    assert await driver.read("point") == bytes(32) == await driver.read("s")
    driver.stall(0.5)
    assert await driver.prefix() == key.prefix
    await driver.tick(2)
    assert dut.pre_valid_o.value == 0 and dut.pre_data_o.value == 0


@cocotb.test()
async def wipes_on_command_and_lifecycle(dut):
    driver = await Driver.started(dut)
    key = Key.of_seed(random.randbytes(32))
    for number in range(4):
        assert await driver.load(key) == regs.DONE
        assert await driver.run(regs.PUBLIC) == regs.DONE
        await driver.put("digest", b"\xff" * 64)
        await driver.command(regs.NONCE)
        await driver.tick(random.randrange(12000))
        if number % 2:
            await driver.command(regs.WIPE)
        else:
            dut.lifecycle_i.value = number + 1
        await driver.tick(3)
        assert await driver.read("point") == bytes(32)
        await driver.until_idle()
        assert await driver.get("status") == regs.IDLE
        words = [int(word.value) for memory in (dut.u_core.file_a, dut.u_core.file_b) for word in memory]
        words += [int(word.value) for memory in (dut.u_core.near_a, dut.u_core.u_digits.scalar) for word in memory]
        assert not any(words), "a wipe leaves something"
        assert await driver.run(regs.PUBLIC) == regs.ORDER
        await driver.expect_errors(regs.BAD_COMMAND)


@cocotb.test()
async def starts_again_after_an_abort_at_any_time(dut):
    driver = await Driver.started(dut)
    key = Key.of_seed(random.randbytes(32))
    message = random.randbytes(20)
    assert await driver.load(key) == regs.DONE
    await driver.run(regs.PUBLIC)
    for command in (regs.PUBLIC, regs.NONCE, regs.VERIFY, regs.SIGN) * 3:
        if command == regs.SIGN:
            await driver.put("digest", random.randbytes(64))
            assert await driver.run(regs.NONCE) == regs.DONE
        await driver.put("digest", random.randbytes(64))
        await driver.command(command)
        await driver.tick(random.randrange(13_000))
        await driver.command(regs.ABORT)
        await driver.tick(2)
        assert (await driver.get("status")) & 0xFF == regs.IDLE
        assert await driver.read("s") == bytes(32) == await driver.read("point")
    assert await sign(driver, key, message) == key.sign(message)


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    await driver.bus.write(AT["interrupt_enable"], regs.DONE_IRQ)
    await driver.run(regs.SIGN)
    assert await driver.get("interrupt") == regs.DONE_IRQ | regs.ERROR_IRQ
    assert dut.irq_o.value == 1
    await driver.bus.write(AT["interrupt"], 3)
    await driver.tick(2)
    assert dut.irq_o.value == 0


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    driver = await Driver.started(dut)
    codes = {code for state in STATES.values() for code in upsets_of(state, 6, STATES.values())}
    for code in sorted(codes):
        dut.u_core.u_control.u_state.u_flop.value_q.value = code
        await driver.tick(2)
        assert dut.alert_o.value == 1, f"{code:06b}"
        for command in (regs.WIPE, regs.ABORT, regs.NONCE):
            await driver.command(command)
            await driver.tick(2)
            assert (await driver.get("status")) & 0xFF == regs.FAILED, f"{code:06b}"
        await driver.reset()
        assert await driver.get("status") == regs.IDLE


@cocotb.test()
async def ends_in_an_error_from_any_other_code(dut):
    """Commands, steps, and slots: while it is idle, and while a product runs."""
    driver = await Driver.started(dut)
    control = dut.u_core.u_control
    upsets = [(control.u_command.value_q, code) for command in COMMANDS for code in upsets_of(command, 7, COMMANDS)]
    upsets += [(handle, None) for handle in (
        control.u_step.u_flop.value_q, control.u_step.u_copy.value_q, control.u_slot.u_flop.value_q, control.u_slot.u_copy.value_q
    )]
    for handle, code in upsets:
        if random.random() < 0.5:
            await driver.put("digest", random.randbytes(64))
            await driver.command(regs.NONCE)
            await driver.tick(random.randrange(3, 30))
        handle.value = int(handle.value) ^ 1 if code is None else code
        await driver.tick(2)
        assert dut.alert_o.value == 1, f"{handle._path}: {code}"
        assert await driver.get("outcome") == regs.NONE
        await driver.reset()


@cocotb.test()
async def stops_for_a_word_that_is_not_what_was_sent(dut):
    """A flip of a word on its way from the bus to the registers, or of the lower half while it waits."""
    driver = await Driver.started(dut)
    for kind in range(4):
        await driver.bus.write(AT["digest"], random.getrandbits(32))
        if kind < 2:
            dut.half_q.value = int(dut.half_q.value) ^ 1 << random.randrange(32)
        elif kind == 2:
            dut.half_parity_q.value = 1 - int(dut.half_parity_q.value)
        await driver.tick()
        await driver.bus.write(AT["digest"] + 4, random.getrandbits(32))
        await driver.tick(2)
        assert dut.alert_o.value == (kind < 3)
        await driver.reset()
