"""The DMA engine with an HMAC engine as a sink: digests, cycles a byte, and nothing that could be used after an error."""

from __future__ import annotations

import hashlib
import hmac
import random

import cocotb
from cocotb.handle import HierarchyObject
from dma_bench import BASE, INPUTS, SIZE, Descriptor, Setup, random_list

HALF = BASE + SIZE // 2
HASH = 1
BLOCK, BLOCK_CYCLES = 64, 34


class Hash(Setup):
    """With the engine, which starts before the list."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.bench.inputs = [*INPUTS, "key_valid_i", "key_index_i", "key_i", "hash_start_i", "is_hmac_i"]

    async def begin(self, key: bytes | None = None) -> None:
        dut = self.dut
        await self.bench.run(lambda: dut.hash_start_ready_o.value == 1, 200)
        for index in range(16 if key is not None else 0):
            padded = (key or b"").ljust(BLOCK, b"\0")
            dut.key_valid_i.value, dut.key_index_i.value = 1, index
            dut.key_i.value = int.from_bytes(padded[4 * index : 4 * index + 4], "big")
            await self.bench.cycles(1)
        dut.key_valid_i.value = 0
        dut.is_hmac_i.value = int(key is not None)
        dut.hash_start_i.value = 1
        await self.bench.cycles(1)
        dut.hash_start_i.value = 0

    async def digest(self) -> bytes:
        await self.bench.run(lambda: self.dut.digest_valid_o.value == 1, 20_000)
        return int(self.dut.digest_o.value).to_bytes(32, "big")

    async def measure(self, length: int, key: bytes | None = None, at: int = BASE) -> float:
        """Cycles a byte, from the doorbell to the digest."""
        await self.begin(key)
        # The key's block is hashed before the doorbell: software needs longer to ring.
        start = self.bench.cycle
        await self.ring([Descriptor(at, length)], sinks=HASH)
        digest = await self.digest()
        cycles = self.bench.cycle - start
        message = bytes(self.memory.bytes[at - BASE : at - BASE + length])
        expected = hashlib.sha256(message) if key is None else hmac.new(key, message, hashlib.sha256)
        assert digest == expected.digest()
        assert (await self.end()).done if not self.events.ends else self.events.ends[0][0]
        await self.bench.cycles(2)
        self.dut._log.info(f"{length} bytes: {cycles} cycles, {cycles / length:.3f} a byte")
        return cycles / length


async def setup(dut: HierarchyObject) -> Hash:
    bench = Hash(dut)
    await bench.start()
    return bench


@cocotb.test()
async def reaches_the_bounds_of_cycles_a_byte(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for latency in (1, 60):
        bench.memory.latency = latency
        rate = await bench.measure(16384)
        assert rate <= 0.56
        assert BLOCK_CYCLES / BLOCK / rate >= 0.95, "the engine waits"
        assert await bench.measure(4096) <= 0.62
        assert await bench.measure(4096, key=b"key") <= 0.70
    assert await bench.measure(8192 + 3, at=BASE + 5) <= 0.56


@cocotb.test()
async def digests_are_those_of_the_bytes_that_are_written(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    for _ in range(40):
        bench.stall()
        key = random.choice([None, random.randbytes(random.randrange(65))])
        descriptors = random_list(random.randrange(6), 200)
        message = bench.message(descriptors)
        await bench.begin(key)
        await bench.check(descriptors, writes=True)
        expected = hashlib.sha256(message) if key is None else hmac.new(key, message, hashlib.sha256)
        assert await bench.digest() == expected.digest()
        written = sorted(bench.memory.bytes_written)
        assert bytes(bench.memory.bytes[at] for at in written) == message


class Sponge:
    """Ready as an engine of SHA3-384 is that takes the words of a block, 13, while it permutes the last one in 24 cycles."""

    def __init__(self) -> None:
        self.words = self.left = 0

    def ready(self, has_taken: bool) -> bool:
        """For the next cycle."""
        self.words += has_taken
        self.left = max(self.left - 1, 0)
        if self.words == 13 and not self.left:
            self.words, self.left = 0, 24
        return self.words < 13


@cocotb.test()
async def two_sinks_take_the_time_of_the_slower(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    bench.memory.latency = 10
    sponge = Sponge()
    bench.sinks.gates[1] = sponge.ready
    cycles = []
    for sinks in (HASH, 0b010, HASH | 0b010):
        sponge.words = 0
        if sinks & HASH:
            await bench.begin()
        cycles.append(await bench.check([Descriptor(BASE, 13 * 8 * 80)], sinks=sinks))
        if sinks & HASH:
            await bench.digest()
    dut._log.info(f"SHA-256, a sponge, both: {cycles}")
    assert cycles[2] <= 1.02 * max(cycles[:2]), f"{cycles[2]} cycles, and {cycles[:2]} alone"


@cocotb.test()
async def a_failed_list_leaves_no_digest(dut: HierarchyObject) -> None:
    bench = await setup(dut)
    descriptors = [Descriptor(BASE + 60, 120, HALF + 7), Descriptor(BASE + 0x100, 64, HALF + 200)]
    for number in range(40):
        bench.stall()
        await bench.begin()
        bench.memory.bad_beats = {number: 2} if number < 25 else {}
        bench.memory.bad_writes = {number - 25: 2} if number >= 25 else {}
        outcome = await bench.carry_out(descriptors, writes=True)
        await bench.bench.cycles(150)
        assert dut.digest_valid_o.value == int(outcome.done), f"run {number}: {outcome}"
    bench.memory.bad_beats, bench.memory.bad_writes = {}, {}
    await bench.begin()
    await bench.check([Descriptor(BASE, 100)])
    assert await bench.digest() == hashlib.sha256(bytes(bench.memory.bytes[:100])).digest()
