"""The engine over its registers."""

from __future__ import annotations

import random

import cocotb
from axi_lite import SLVERR, Manager
from clocked import Clocked
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ClockCycles, First, RisingEdge
from core_bench import BASE, DIGEST, EXPONENT, EXPONENT_P, FACTOR, MODULUS, PRIME_P, RESULT, R, S, X, Y
from ecdsa import P256, P384
from registers import Registers
from rsa_key import Key

AT = Registers("bignum", __file__).offsets("BIGNUM")
POWER, SECRET, MULTIPLY, PREPARE, VERIFY_P256, VERIFY_P384, ABORT, WIPE, PRIVATE = (1 << bit for bit in range(9))
IDLE, VALID, FAILED = 1, 2, 4
BAD_COMMAND, BAD_WRITE, BAD_READ = 1, 2, 4
GOOD, LENGTH, BAD_MODULUS, BAD_SIGNATURE = 0xC33CC33C, 0x3CC33CC3, 0x55AA55AA, 0x96699669
BAD_KEY, BAD_RESULT = 0x5AA55AA5, 0xA55AA55A


class Driver(Clocked):
    settling_cycles = 2060

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, ("lifecycle_i",), stalls)
        self.bus = Manager(dut, "axil", stalls)

    async def start_clock(self) -> None:
        self.clock.value = Immediate(0)
        self._port(self.reset_name).value = Immediate(self.reset_value)
        await super().start_clock()

    async def _count(self) -> None:
        """Nothing here needs it."""

    async def get(self, name: str) -> int:
        return await self.bus.get(AT[name])

    async def set(self, name: str, value: int) -> None:
        await self.bus.write(AT[name], value)

    async def put(self, operand: int, value: int) -> None:
        await self.set("operand", operand)
        for index in range((value.bit_length() + 31) // 32):
            await self.set("data", value >> 32 * index & 0xFFFF_FFFF)

    async def result(self, words: int) -> int:
        await self.set("operand", RESULT)
        value = 0
        for index in range(words):
            value |= await self.get("data") << 32 * index
        return value

    async def run(self, command: int, bits: int, exponent_bits: int = 0) -> int:
        await self.set("length", exponent_bits << 16 | bits)
        await self.set("command", command)
        await self.tick(2)
        if self.dut.is_idle.value != 1:
            await First(RisingEdge(self.dut.is_idle), ClockCycles(self.dut.clk_i, 400_000))
        assert await self.get("status") & IDLE, "a command does not end"
        return await self.get("outcome")

    async def expect_errors(self, bits: int) -> None:
        got = await self.get("error")
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.set("error", bits)

    async def expect_power(self, bits: int = 256, command: int = POWER) -> None:
        modulus = random.getrandbits(bits) | 1 << bits - 1 | 1
        base, exponent = random.randrange(modulus), random.randrange(1, 1 << 12)
        await self.put(MODULUS, modulus)
        await self.put(BASE, base)
        await self.put(EXPONENT, exponent)
        assert await self.run(command, bits, 12) == GOOD
        assert await self.result(-(-bits // 32)) == pow(base, exponent, modulus)


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.get("id")).to_bytes(4, "big") == b"bign"
    assert await driver.get("parameters") == int(dut.Dsps.value)
    assert await driver.get("status") == IDLE
    assert await driver.get("outcome") == 0


@cocotb.test()
async def computes_with_stalls(dut):
    for stalls in (0.0, 0.3):
        driver = await Driver.started(dut, stalls) if stalls == 0.0 else driver
        driver.stalls = driver.bus.stalls = stalls
        for command in (POWER, SECRET):
            await driver.expect_power(random.choice([256, 300, 512]), command)
        await driver.expect_errors(0)
    modulus = random.getrandbits(384) | 1 << 383 | 1
    base, factor = random.randrange(modulus), random.randrange(modulus)
    for operand, value in ((MODULUS, modulus), (BASE, base), (FACTOR, factor)):
        await driver.put(operand, value)
    assert await driver.run(MULTIPLY, 384) == GOOD
    assert await driver.result(12) == base * factor % modulus
    assert await driver.run(MULTIPLY, 100) == LENGTH
    await driver.set("operand", RESULT)
    assert await driver.get("data") == 0
    await driver.expect_errors(BAD_READ)


@cocotb.test()
async def verifies_a_signature(dut):
    driver = await Driver.started(dut)
    for curve, command in ((P256, VERIFY_P256), (P384, VERIFY_P384)):
        secret, digest = random.randrange(1, curve.n), random.getrandbits(curve.bits)
        r, s = curve.sign(secret, digest, random.randrange(1, curve.n))
        for operand, value in zip((X, Y, R, S, DIGEST), (*curve.point(secret), r, s, digest), strict=True):
            await driver.put(operand, value)
        assert await driver.run(command, 0) == GOOD
        # No operand can be read, and the result is zero.
        assert await driver.result(8) == 0
        await driver.put(S, curve.n)
        assert await driver.run(command, 0) == BAD_SIGNATURE
        await driver.expect_errors(0)


@cocotb.test()
async def raises_with_a_private_key(dut):
    driver = await Driver.started(dut)
    key = Key.random(512)
    base = random.randrange(key.n)
    good = key.operands(base)
    for want, change in (
        (BAD_KEY, {PRIME_P: key.p ^ 2}), (BAD_RESULT, {EXPONENT_P: good[EXPONENT_P] ^ 2}), (GOOD, {}),
    ):
        for operand, value in (good | change).items():
            await driver.put(operand, value)
        assert await driver.run(PRIVATE, 512, 17) == want
        await driver.expect_errors(0)
    assert await driver.result(16) == key.power(base)
    # The key is gone.
    assert await driver.run(PRIVATE, 512, 17) == BAD_MODULUS
    # A number of half the length has 64 words.
    await driver.set("operand", PRIME_P)
    for _ in range(64):
        await driver.set("data", 0xFFFF_FFFF)
    await driver.expect_errors(0)
    await driver.set("data", 1)
    await driver.expect_errors(BAD_WRITE)


@cocotb.test()
async def gives_no_word_after_a_result(dut):
    driver = await Driver.started(dut)
    await driver.expect_power()
    assert await driver.result(128) < 1 << 256
    await driver.expect_errors(0)
    for _ in range(3):
        assert await driver.get("data") == 0
        await driver.expect_errors(BAD_READ)


@cocotb.test()
async def refuses_what_comes_at_the_wrong_time(dut):
    driver = await Driver.started(dut)
    await driver.set("data", 1)
    await driver.expect_errors(BAD_WRITE)
    for operand in (0, 19, 31):
        await driver.set("operand", operand)
        await driver.expect_errors(BAD_WRITE)
    await driver.set("command", POWER | SECRET)
    await driver.expect_errors(BAD_COMMAND)
    # Half words, and more words than there are.
    await driver.set("operand", BASE)
    await driver.bus.write(AT["data"], 1, strobe=0b0111)
    await driver.expect_errors(BAD_WRITE)
    for _ in range(128):
        await driver.set("data", 0xFFFF_FFFF)
    await driver.expect_errors(0)
    await driver.set("data", 1)
    await driver.expect_errors(BAD_WRITE)
    # Operands cannot be read, and nothing is taken while busy.
    await driver.set("operand", BASE)
    assert await driver.get("data") == 0
    await driver.expect_errors(BAD_READ)
    assert await driver.bus.reads([AT["operand"]]) == [(0, SLVERR)]
    await driver.expect_power()
    await driver.set("command", PREPARE)
    await driver.set("command", POWER)
    await driver.set("operand", MODULUS)
    await driver.set("data", 1)
    await driver.expect_errors(BAD_COMMAND | BAD_WRITE)
    await driver.set("command", ABORT)
    await driver.tick(3)
    assert await driver.get("status") == IDLE and await driver.get("outcome") == 0
    await driver.expect_power()


@cocotb.test()
async def wipes_on_command_and_lifecycle(dut):
    driver = await Driver.started(dut)
    for number in range(4):
        await driver.expect_power()
        await driver.set("command", PREPARE)
        await driver.tick(random.randrange(1500))
        if number % 2:
            await driver.set("command", WIPE)
        else:
            dut.lifecycle_i.value = number + 1
        await driver.tick(3)
        assert await driver.get("status") == 0 and await driver.get("data") == 0
        await driver.tick(driver.settling_cycles)
        assert await driver.get("status") == IDLE
        assert not any(int(word.value) for word in dut.u_core.u_datapath.u_memory.memory)
        assert await driver.run(PREPARE, 256) == BAD_MODULUS
        await driver.expect_errors(BAD_READ)


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    await driver.set("interrupt_enable", 1)
    assert await driver.run(PREPARE, 0) == LENGTH
    assert await driver.get("interrupt") == 1 and dut.irq_o.value == 1
    await driver.set("interrupt", 3)
    await driver.tick(2)
    assert dut.irq_o.value == 0


@cocotb.test()
async def shows_nothing_after_an_upset(dut):
    driver = await Driver.started(dut)
    await driver.expect_power()
    dut.u_core.u_control.u_state.u_flop.value_q.value = 0
    await driver.tick(3)
    assert await driver.get("status") == FAILED and dut.alert_o.value == 1
    assert await driver.get("data") == 0 and await driver.get("outcome") == 0
    await driver.reset()
    await driver.expect_power()
