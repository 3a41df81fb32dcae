"""The ports of `bignum_core`."""

from __future__ import annotations

from clocked import Clocked
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ClockCycles, First, RisingEdge
from cocotb.utils import get_sim_time

MODULUS, BASE, EXPONENT, FACTOR, R_SQUARED, RESULT, X, Y, R, S, DIGEST = range(1, 12)
PRIME_P, PRIME_Q, EXPONENT_P, EXPONENT_Q, Q_INVERSE, BLINDING, UNBLINDING = range(12, 19)
POWER, SECRET, MULTIPLY, PREPARE, P256, P384, PRIVATE = 0x33, 0x55, 0x66, 0x0F, 0x69, 0x3C, 0x5A
GOOD, BAD_LENGTH, BAD_MODULUS, BAD_OPERAND, BAD_EXPONENT, BAD_SIGNATURE = 0xC3, 0x3C, 0x55, 0xAA, 0x69, 0x96
BAD_KEY, BAD_RESULT = 0x5A, 0xA5
INPUTS = ("select_valid_i", "select_i", "in_valid_i", "in_i", "out_ready_i", "command_valid_i", "command_i",
          "modulus_bits_i", "exponent_bits_i", "given_i", "abort_i", "wipe_i")


def r_squared(modulus: int) -> int:
    """R² modulo N, with the engine's R."""
    limbs = (modulus.bit_length() + 1) // 68 + 1
    return pow(2, 2 * 68 * limbs, modulus)


class Core(Clocked):
    """Long waits are for edges, since a cycle in Python takes as long as many of the model."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)
        # A reset begins with a wipe.
        self.settling_cycles = 2048 * (68 // word_bits(int(dut.Dsps.value))) + 4
        self.limit = 12_000_000 * (16 // int(dut.Dsps.value)) ** 2

    async def start_clock(self) -> None:
        """The clock starts low: registers have random values until the reset, and so has the clock."""
        self.clock.value = Immediate(0)
        self._port(self.reset_name).value = Immediate(self.reset_value)
        await super().start_clock()

    async def _count(self) -> None:
        """Time counts cycles here."""

    def now(self) -> int:
        return int(get_sim_time("ns")) // 10

    async def put(self, operand: int, value: int, words: int | None = None) -> None:
        await self.send("select", select=operand)
        for index in range((value.bit_length() + 31) // 32 if words is None else words):
            await self.send("in", **{"in": value >> 32 * index & 0xFFFF_FFFF})

    async def get(self, words: int) -> int:
        await self.send("select", select=RESULT)
        value = 0
        for index in range(words):
            value |= await self.take("out", self.dut.out_o) << 32 * index
        return value

    async def begin(self, command: int, modulus_bits: int, exponent_bits: int = 0, given: bool = False) -> None:
        await self.send("command", command=command, modulus_bits=modulus_bits, exponent_bits=exponent_bits, given=given)

    async def end(self) -> tuple[int, int]:
        """The result, and the cycles from its command on."""
        start = self.now()
        if self.dut.done_o.value != 1:
            await First(RisingEdge(self.dut.done_o), ClockCycles(self.dut.clk_i, self.limit))
        assert self.dut.done_o.value == 1, "a command does not end"
        cycles = self.now() - start
        result = int(self.dut.result_o.value)
        await self.tick()
        return result, cycles

    async def run(self, command: int, modulus_bits: int, exponent_bits: int = 0, given: bool = False) -> tuple[int, int]:
        await self.begin(command, modulus_bits, exponent_bits, given)
        return await self.end()

    async def power(self, base: int, exponent: int, modulus: int, command: int = POWER, exponent_bits: int = 0) -> tuple[int, int]:
        """The power, and its cycles."""
        bits = modulus.bit_length()
        await self.put(MODULUS, modulus)
        await self.put(BASE, base)
        await self.put(EXPONENT, exponent)
        result, cycles = await self.run(command, bits, exponent_bits or exponent.bit_length())
        assert result == GOOD, f"{result:#x}"
        return await self.get((bits + 31) // 32), cycles


def word_bits(dsps: int) -> int:
    return {16: 68, 4: 34, 1: 17}[dsps]
