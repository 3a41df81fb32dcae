"""What the tests of this folder share: numbers in the memory, and operations on them."""

from __future__ import annotations

import random

from clocked import Clocked
from cocotb.handle import HierarchyObject

LIMB, SLOT = 68, 8
LINEAR, PRODUCT, SQUARE, REDUCE, SELECT = range(5)
NONE, ANY, P256, P384 = range(4)
PRIMES = {
    P256: 2**256 - 2**224 + 2**192 + 2**96 - 1,
    P384: 2**384 - 2**128 - 2**96 + 2**32 - 1,
}
# Limbs of a field of a curve.
FIELD_LIMBS = {P256: 4, P384: 6}
INPUTS = ("start_i", "clear_i", "op_i", "field_i", "words_i", "modulus_i", "factors_i", "inverse_i")
INPUTS += ("index_i", "pairs_i", "stride_i", "write_i", "addr_i", "data_i")


def coded(kind: int, dst: int, a: int, b: int, c: int | None, ka: int, kb: int) -> int:
    """`vector_t` of the package."""
    code = kind << 1 | int(c is not None)
    for slot in (dst, a, b, c or 0):
        code = code << 8 | slot
    return code << 8 | (ka & 15) << 4 | (kb & 15)


class Datapath(Clocked):
    """The ports of `bignum_datapath`; a number is at a slot, in two's complement."""

    patience = 60000

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)
        self.word = int(dut.W.value)
        self.parts = LIMB // self.word
        self.memory = dut.u_memory.memory

    def address(self, slot: int) -> int:
        return slot * SLOT * self.parts

    def put(self, slot: int, value: int, limbs: int) -> None:
        """Writes beside the ports."""
        for at in range(limbs * self.parts):
            self.memory[self.address(slot) + at].value = value >> at * self.word & (1 << self.word) - 1

    def get(self, slot: int, limbs: int) -> int:
        value = 0
        for at in range(limbs * self.parts):
            value |= int(self.memory[self.address(slot) + at].value) << at * self.word
        bits = limbs * LIMB
        return value - (value >> bits - 1 << bits)

    async def run(
        self,
        kind: int,
        limbs: int,
        dst: int,
        a: int = 0,
        b: int = 0,
        c: int | None = None,
        ka: int = 1,
        kb: int = 1,
        field: int = NONE,
        modulus: tuple[int, int] = (0, 0),
        factors: int = 80,
    ) -> int:
        """Runs an operation and returns its cycles. `modulus` is a slot, and -1 / N."""
        dut = self.dut
        dut.op_i.value = coded(kind, dst, a, b, c, ka, kb)
        dut.words_i.value = limbs * self.parts
        dut.field_i.value = field
        dut.modulus_i.value = modulus[0]
        dut.factors_i.value = factors
        dut.inverse_i.value = modulus[1] & (1 << self.word) - 1
        await self.pulse(dut.start_i)
        cycles = await self.wait_for(dut.done_o)
        await self.tick()
        return cycles + 2


def some(bits: int, edges: bool = True) -> int:
    """A number of at most so many bits: random, or with runs of ones and zeros."""
    if edges and random.random() < 0.3:
        return random.choice([0, 1, 2**bits - 1, 2 ** (bits - 1), 2**bits - 2 ** (bits // 2)])
    return random.getrandbits(bits)
