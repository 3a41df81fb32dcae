"""`boot_verifier_digest`: a start at any time leaves nothing of the message before."""

from __future__ import annotations

import hashlib
import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly
from handshakes import Bench, Source

INPUTS = ["start_i", "valid_i", "data_i", "index_i"]
# Lead and public key, in words of eight bytes.
MESSAGE_BYTES = 128


class Setup:
    """The block and the words of one message, which come with stalls."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)
        self.words = Source(dut, "valid_i", "ready_o", ["data_i"])

    async def start(self) -> None:
        """Begins a message. The words of the one before do not come any more."""
        self.words.queue.clear()
        self.words.taken.clear()
        self.words.is_offering = False
        self.words.stalls = random.choice([0.0, 0.5])
        self.dut.start_i.value = 1
        await self.bench.cycles(1)
        self.dut.start_i.value = 0
        await self.bench.cycles(1)
        assert self.dut.valid_o.value == 0, "a start keeps the digest before"

    async def send(self, message: bytes) -> None:
        words = [message[at : at + 8] for at in range(0, len(message), 8)]
        self.words.queue.extend((int.from_bytes(word, "little"),) for word in words)
        await self.bench.run(lambda: len(self.words.taken) == len(words))

    async def digest(self) -> bytes:
        await self.bench.run(lambda: self.dut.valid_o.value == 1)
        words = []
        for index in range(8):
            self.dut.index_i.value = index
            await ReadOnly()
            words.append(int(self.dut.word_o.value).to_bytes(4, "little"))
            await self.bench.tick()
        return b"".join(words)


@cocotb.test()
async def a_start_discards_the_message_before(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.bench.start(setup.words)
    whole = MESSAGE_BYTES // 8
    for count in [*range(whole + 1), *random.sample(range(whole), 4)]:
        # Words of a message that is not completed, or whose digest may be under way.
        await setup.start()
        await setup.send(random.randbytes(8 * count))
        await setup.bench.cycles(random.choice([1, 20, 200]))
        await setup.start()
        message = random.randbytes(MESSAGE_BYTES)
        await setup.send(message)
        assert await setup.digest() == hashlib.sha256(message).digest()
