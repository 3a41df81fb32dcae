"""What the tests of this folder share: the scheme in Python, and the ports of the core."""

from __future__ import annotations

import hashlib
import pathlib
import random
import sys
from collections.abc import Callable
from typing import NamedTuple

from clocked import Clocked
from cocotb.handle import HierarchyObject, Immediate
from cocotb.triggers import ClockCycles, First, RisingEdge
from cocotb.utils import get_sim_time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "data"))
import curve  # noqa: E402

NONE, LOAD, PUBLIC, NONCE, SIGN, VERIFY, PREFIX = 0, 0x55, 0x33, 0x66, 0x0F, 0x5A, 0x3C
GOOD, DONE, KEY, SIGNATURE, MISMATCH, SCALAR, ORDER = 0xC3, 0xA5, 0x3C, 0x55, 0xAA, 0x69, 0x96
IN_A, IN_R, IN_LOW, IN_HIGH, IN_S = 6, 8, 10, 11, 13
INPUTS = ("in_valid_i", "in_number_i", "in_index_i", "in_i", "in_clamped_i", "in_upset_i", "ent_valid_i", "ent_i",
          "command_valid_i", "command_i", "slot_i", "abort_i", "wipe_i", "out_place_i")
Hash = Callable[[bytes], bytes]


def sha512(message: bytes) -> bytes:
    return hashlib.sha512(message).digest()


def sha3_512(message: bytes) -> bytes:
    return hashlib.sha3_512(message).digest()


def number(text: bytes) -> int:
    return int.from_bytes(text, "little")


class Key(NamedTuple):
    """RFC 8032 §5.1.5, with either hash."""

    scalar: int
    prefix: bytes
    hash: Hash

    @classmethod
    def of_seed(cls, seed: bytes, hash: Hash = sha512) -> Key:
        digest = hash(seed)
        return cls(clamp(digest[:32]), digest[32:], hash)

    def public(self) -> bytes:
        return curve.encode(curve.multiply(self.scalar % curve.L, curve.BASE))

    def sign(self, message: bytes) -> bytes:
        nonce = number(self.hash(self.prefix + message)) % curve.L
        r = curve.encode(curve.multiply(nonce, curve.BASE))
        k = number(self.hash(r + self.public() + message))
        return r + ((nonce + k * self.scalar) % curve.L).to_bytes(32, "little")


def clamp(text: bytes) -> int:
    return number(text) & ~7 & 2**254 - 1 | 2**254


def decode(text: bytes) -> curve.Point | None:
    """RFC 8032 §5.1.3."""
    y = number(text) & 2**255 - 1
    if y >= curve.P:
        return None
    x = curve.recover_x(y, text[31] >> 7)
    return None if x is None else (x, y)


def is_small(point: curve.Point) -> bool:
    for _ in range(3):
        point = curve.add(point, point)
    return point == curve.NEUTRAL


def verdict(key: bytes, signature: bytes, digest: bytes) -> int:
    """The strict rule (`device/kernels/src/ed25519.rs`), in its order."""
    a, r, s = decode(key), decode(signature[:32]), number(signature[32:])
    y_r = number(signature[:32]) & 2**255 - 1
    if a is None or is_small(a):
        return KEY
    # R itself is never decoded by software: one that is no point equals none.
    if y_r >= curve.P or (pow(y_r, 2, curve.P) == 1 and signature[31] >> 7):
        return SIGNATURE
    if (r is not None and is_small(r)) or s >= curve.L:
        return SIGNATURE
    if r is None:
        return MISMATCH
    k = number(digest) % curve.L
    right = curve.add(r, curve.multiply(k, a))
    return GOOD if curve.multiply(s, curve.BASE) == right else MISMATCH


class Core(Clocked):
    """The ports of `ed25519_core`. Long waits are for edges, since a cycle in Python takes as long as many of the model."""

    patience = 600
    settling_cycles = 260

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)

    async def start_clock(self) -> None:
        """The clock starts low: registers have random values until the reset, and so has the clock."""
        self.clock.value = Immediate(0)
        self._port(self.reset_name).value = Immediate(self.reset_value)
        await super().start_clock()

    async def _count(self) -> None:
        """Time counts cycles here."""

    def now(self) -> int:
        return int(get_sim_time("ns")) // 10

    async def write(self, register: int, value: int) -> None:
        for index in random.sample(range(4), 4):
            word = value >> 64 * index & 2**64 - 1
            await self.send("in", in_number=register, in_index=index, **{"in": word})

    async def digest(self, digest: bytes) -> None:
        await self.write(IN_LOW, number(digest[:32]))
        await self.write(IN_HIGH, number(digest[32:]))

    async def begin(self, command: int, slot: int = 0) -> None:
        await self.send("command", command=command, slot=slot)

    async def end(self, limit: int = 80_000) -> tuple[int, int]:
        """The result, and the cycles that it took."""
        start = self.now()
        if self.dut.done_o.value != 1:
            await First(RisingEdge(self.dut.done_o), ClockCycles(self.dut.clk_i, limit))
        assert self.dut.done_o.value == 1, "a command does not end"
        cycles = self.now() - start
        result = int(self.dut.result_o.value)
        await self.tick()
        return result, cycles

    async def run(self, command: int, slot: int = 0, limit: int = 80_000) -> tuple[int, int]:
        await self.begin(command, slot)
        return await self.end(limit)

    async def shown(self, is_s: bool = False) -> bytes:
        words = b""
        for index in range(4):
            self.dut.out_place_i.value = 4 * is_s + index
            await self.tick()
            words += int(self.dut.out_o.value).to_bytes(8, "little")
        return words

    async def load(self, slot: int, scalar: int, prefix: bytes = bytes(32)) -> int:
        await self.write(IN_LOW, scalar)
        await self.write(IN_HIGH, number(prefix))
        return (await self.run(LOAD, slot))[0]

    async def verify(self, key: bytes, signature: bytes, digest: bytes) -> tuple[int, int]:
        await self.write(IN_A, number(key))
        await self.write(IN_R, number(signature[:32]))
        await self.write(IN_S, number(signature[32:]))
        await self.digest(digest)
        return await self.run(VERIFY)

    async def wipe(self) -> None:
        await self.pulse(self.dut.wipe_i)
        await self.wait_for(self.dut.idle_o)
