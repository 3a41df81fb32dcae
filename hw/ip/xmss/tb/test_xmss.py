"""The engine over its registers and its stream port."""

from __future__ import annotations

import random

import cocotb
import xmss_driver as regs
from axi_lite import OKAY, SLVERR
from cocotb.triggers import ReadOnly
from test_xmss_core import flipped
from xmss_bench import INDEX, KEY_TYPE, LONG, MISMATCH, NO_ERROR, SHORT, TYPE, UPSET
from xmss_driver import AT, Driver
from xmss_signer import sign


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.get("id")).to_bytes(4, "big") == b"xmss"
    built = sum(int(getattr(dut, f"Has{name}").value) << bit for name, bit in (("Xmss", 8), ("Lms", 10), ("SlhDsa", 11)))
    assert await driver.get("parameters") == built | int(dut.Lanes.value) | int(dut.RoundsPerCycle.value) << 4
    assert await driver.get("status") == regs.IDLE | regs.DATA_FREE
    assert await driver.get("reason") == 0 == await driver.get("verdict")


@cocotb.test()
async def verifies_by_registers_and_by_stream_with_stalls(dut):
    driver = await Driver.started(dut)
    for number, config in enumerate((0, regs.STREAM, 0, regs.STREAM | regs.TWO_PASSES)):
        driver.stall(0.3 * (number // 2))
        signed = sign(random.Random(number), message=random.randbytes(random.choice([0, 7, 32, 300])))
        result = await driver.verify(signed, config)
        assert result.passes and result.root == signed.root, f"{result}"
        # A valid signature of another message: the root that it leads to is another one.
        result = await driver.verify(signed._replace(message=signed.message + b"!"), config)
        assert result.reason == MISMATCH and result.root not in (signed.root, bytes(32)), f"{result}"
    await driver.expect_errors(0)


@cocotb.test()
async def shows_the_root_without_the_key_s(dut):
    """As a kernel asks for it: the root of the key takes part in the message digest only."""
    driver = await Driver.started(dut)
    signed = sign(random.Random(7))
    result = await driver.verify(signed._replace(key=flipped(signed.key, 8 * 36 + 3)))
    assert result.reason == MISMATCH and result.root != signed.root
    assert (await driver.verify(signed)).root == signed.root


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    """Each ends with its code, a root of zeros and an engine that works; nothing hangs."""
    driver = await Driver.started(dut)
    signed = sign(random.Random(4))
    bad = [
        (signed._replace(oid=4), TYPE),
        (signed._replace(oid=2), KEY_TYPE),
        (signed._replace(signature=signed.signature[:-1]), SHORT),
        (signed._replace(signature=signed.signature[:40]), SHORT),
        (signed._replace(signature=b""), SHORT),
        (signed._replace(signature=signed.signature + b"\0"), LONG),
        (signed._replace(signature=signed.signature + bytes(40)), LONG),
        (signed._replace(signature=(1 << 10).to_bytes(4, "big") + signed.signature[4:]), INDEX),
    ]
    for case, reason in bad:
        for config in (0, regs.STREAM):
            result = await driver.verify(case, config)
            assert (result.reason, result.verdict, result.root) == (reason, 0, bytes(32)), f"{reason}: {result}"
    # Algorithms that are not built in have no type that is known.
    built = await driver.get("parameters") >> 8
    for algorithm in (regs.XMSS_MT, regs.LMS, regs.SLH_DSA):
        if not built >> algorithm & 1:
            await driver.bus.write(AT["algorithm"], algorithm)
            result = await driver.verify(signed)
            assert (result.reason, result.verdict, result.root) == (TYPE, 0, bytes(32)), f"{algorithm}: {result}"
    await driver.bus.write(AT["algorithm"], regs.XMSS)
    assert (await driver.verify(signed)).passes
    await driver.expect_errors(0)


@cocotb.test()
async def refuses_what_comes_at_the_wrong_time(dut):
    driver = await Driver.started(dut)
    signed = sign(random.Random(5))
    # Nothing is expected before a start.
    await driver.push(bytes(8))
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.begin(signed)
    await driver.command(regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    # Key, types and configuration are locked.
    await driver.bus.write(AT["key"], 0)
    await driver.expect_errors(regs.BAD_WRITE)
    await driver.bus.write(AT["expected_type"], 2)
    await driver.bus.write(AT["key_type"], 2)
    await driver.bus.write(AT["control"], 3)
    await driver.bus.write(AT["algorithm"], regs.LMS)
    assert await driver.get("expected_type") == 1 == await driver.get("key_type")
    assert await driver.get("control") == 0 == await driver.get("algorithm")
    # Half of a word is no word.
    await driver.bus.write(AT["data"], 1, strobe=0b0011)
    await driver.expect_errors(regs.BAD_PUSH)
    await driver.both(driver.push, signed)
    # Nothing follows the message.
    await driver.push(bytes(8))
    await driver.expect_errors(regs.BAD_PUSH)
    assert (await driver.verdict()).passes
    await driver.bus.write(AT["key"], 1, strobe=0b0111)
    await driver.expect_errors(regs.BAD_WRITE)
    # What is written cannot be read, and what is read cannot be written.
    for address in (*range(AT["key"], AT["key"] + 64, 4), AT["data"], AT["command"]):
        assert await driver.bus.reads([address]) == [(0, SLVERR)], f"{address:#x}"
    for address in range(AT["root"], AT["root"] + 32, 4):
        assert await driver.bus.writes([(address, 0)]) != [OKAY], f"{address:#x}"


@cocotb.test()
async def starts_again_after_an_abort_at_any_time(dut):
    driver = await Driver.started(dut)
    signed = sign(random.Random(6))
    for number in range(9):
        config = regs.STREAM * (number % 2)
        await driver.begin(signed, config)
        sending = cocotb.start_soon(driver.both(driver.stream if config else driver.push, signed))
        if config:
            await driver.tick(random.randrange(15_000))
            sending.cancel()
            dut.str_valid_i.value = 0
        else:
            # What is pushed after the abort is dropped.
            await driver.tick(random.randrange(10_000))
        if number % 3 == 0:
            await driver.command(regs.ABORT)
        elif number % 3 == 1 and config:
            await driver.pulse(dut.str_abort_i)
            # A stream that has ended has nothing to break off.
            await driver.command(regs.ABORT)
        else:
            dut.lifecycle_i.value = number + 1
        await driver.tick(3)
        assert await driver.get("verdict") == 0 == await driver.get("root")
        if not config:
            await sending
        await driver.until(regs.IDLE, 2000)
        assert not await driver.get("status") & regs.DONE
    await driver.bus.write(AT["error"], 7)
    assert (await driver.verify(signed)).passes


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    await driver.bus.write(AT["interrupt_enable"], regs.DONE_IRQ)
    assert (await driver.verify(sign(random.Random(8)))).passes
    assert dut.irq_o.value == 1 and await driver.get("interrupt") == regs.DONE_IRQ
    await driver.bus.write(AT["interrupt"], 3)
    await driver.tick(2)
    assert dut.irq_o.value == 0
    await driver.push(bytes(8))
    assert await driver.get("interrupt") == regs.ERROR_IRQ and dut.irq_o.value == 0


async def alerts(driver: Driver, what: str) -> None:
    """An engine without the hardening goes on: it is reset, so that this does not reach the next test."""
    is_alerted = driver.dut.alert_o.value == 1
    if not is_alerted:
        await driver.reset()
    assert is_alerted, what


@cocotb.test()
async def an_upset_is_for_good_and_hangs_no_access(dut):
    """Each code that is no state of the control ends in an alert, which only a reset leaves."""
    driver = await Driver.started(dut)
    signed = sign(random.Random(9))
    states = (0x0F, 0x33, 0x3C, 0x55, 0x5A, 0x66, 0x69, 0x96, 0x99, 0xA5, 0xAA, 0xC3, 0xCC)
    codes = [code for code in range(256) if code not in states]
    for number, code in enumerate(codes):
        if number % 20 == 0:
            await driver.begin(signed)
            await driver.push(signed.signature[: random.randrange(0, 400, 8)], is_end=False)
        dut.g_xmss.u_core.u_control.u_state.u_flop.value_q.value = code
        await driver.tick(2)
        await alerts(driver, f"{code:#x}")
        if number % 20 == 0:
            await driver.push(bytes(16))
        await driver.command(regs.START)
        await driver.command(regs.ABORT)
        await driver.tick(2)
        assert await driver.get("status") & ~regs.DATA_FREE == regs.FAILED, f"{code:#x}"
        assert await driver.get("reason") == UPSET and await driver.get("verdict") == 0 == await driver.get("root")
        await driver.reset()
        assert await driver.get("status") == regs.IDLE | regs.DATA_FREE
    assert (await driver.verify(signed)).reason == NO_ERROR


@cocotb.test()
async def an_upset_of_a_lane_stops_all(dut):
    """Every code that is no state, of a lane or of its hash core."""
    driver = await Driver.started(dut)
    signed = sign(random.Random(10))
    states = {0b001011, 0b010101, 0b011110, 0b100110, 0b101101}
    # A lane has no state in which it takes the state of its core out.
    of_lane, of_core = ([code for code in range(64) if code not in legal] for legal in (states - {0b100110}, states))
    lanes = int(dut.Lanes.value)
    for number, code in enumerate(of_lane + of_core):
        if number % 20 == 0:
            await driver.begin(signed)
            await driver.push(signed.signature[: random.randrange(0, 400, 8)], is_end=False)
        at = random.randrange(lanes)
        lane, hash_core = dut.g_xmss.u_core.g_lane[at].u_lane, dut.u_bank.g_lane[at].u_hash
        state = lane.u_state.u_flop.value_q if number < len(of_lane) else hash_core.u_core.u_control.u_state.u_flop.value_q
        state.value = code
        await driver.tick(3)
        await alerts(driver, f"{state._path}: {code:#b}")
        await driver.command(regs.ABORT)
        await driver.tick(2)
        assert await driver.get("status") & ~regs.DATA_FREE == regs.FAILED, f"{state._path}: {code:#b}"
        await driver.reset()
        assert await driver.get("status") == regs.IDLE | regs.DATA_FREE
    assert (await driver.verify(signed)).passes


@cocotb.test()
async def an_upset_of_the_parser_or_of_the_padding_stops_all(dut):
    """Every code that is no state, of what takes the signature apart or of what pads the message."""
    driver = await Driver.started(dut)
    signed = sign(random.Random(13))
    shared = {0b001011, 0b010101, 0b011110, 0b100110, 0b101101, 0b111000}
    parts = ((dut.g_xmss.u_core.u_ingest.u_state.u_flop.value_q, shared | {0}), (dut.g_xmss.u_core.u_message.u_state.u_flop.value_q, shared))
    for state, states in parts:
        for number, code in enumerate(code for code in range(64) if code not in states):
            if number % 20 == 0:
                await driver.begin(signed)
                await driver.push(signed.signature[: random.randrange(0, 400, 8)], is_end=False)
            state.value = code
            await driver.tick(3)
            await alerts(driver, f"{state._path}: {code:#b}")
            await driver.command(regs.ABORT)
            await driver.tick(2)
            assert await driver.get("status") & ~regs.DATA_FREE == regs.FAILED, f"{state._path}: {code:#b}"
            assert await driver.get("reason") == UPSET and await driver.get("verdict") == 0
            await driver.reset()
            assert await driver.get("status") == regs.IDLE | regs.DATA_FREE
    assert (await driver.verify(signed)).passes


@cocotb.test()
async def a_reset_is_no_change_of_the_lifecycle(dut):
    driver = await Driver.started(dut)
    for lifecycle in range(16):
        dut.rst_ni.value, dut.lifecycle_i.value = 0, lifecycle
        await driver.tick(2)
        dut.rst_ni.value = 1
        await driver.let_assertions_fail()
        await ReadOnly()
        assert dut.drops.value == 0, f"lifecycle {lifecycle}"
        await driver.tick(2)
