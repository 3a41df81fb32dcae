"""What a driver of the engine does, over its registers (`../data/aes.rdl`) and its streams."""

from __future__ import annotations

import random

import cocotb
from aes_bench import parameter
from axi_lite import Manager
from clocked import Clocked
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly, Timer
from messages import filled, in_words
from registers import Registers
from rijndael import BLOCK, blocks

AT = Registers("aes", __file__).offsets("AES")
MODES = {"ecb": 1, "cbc": 2, "ctr": 3, "gcm": 4}
KEY_LEN = {16: 0, 24: 1 << 4, 32: 2 << 4}
DECRYPT, STREAM_IN, STREAM_OUT = 1 << 3, 1 << 6, 1 << 7
START, ABORT, WIPE, LOAD_SLOT = (1 << bit for bit in range(4))
IDLE, INPUT_FREE, OUTPUT_VALID, TAG_VALID, TAG_MATCHES, KEY_LOADED, IV_LOADED, FAILED, HEALTHY = (
    1 << bit for bit in range(9)
)
(
    *(BAD_COMMAND, BAD_MODE, BAD_KEY, BAD_IV, BAD_LENGTH, BAD_DATA, BAD_WRITE, BAD_STREAM, BAD_TAG),
    BAD_ENTROPY,
    DROPPED,
) = (1 << bit for bit in range(11))
ALL_ERRORS = (1 << 11) - 1
DONE_IRQ, ERROR_IRQ = 1, 2
INPUTS = (
    *("str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "str_abort_i", "dst_ready_i", "slot_valid_i"),
    *("slot_word_i", "entropy_valid_i", "entropy_i", "lifecycle_i"),
)
# Reads of a register: a longer wait is a hang.
PATIENCE = 500


# Of a clock, as `Clocked` makes it.
CYCLE_NS = 10
# Cycles of the masked engine for a word of entropy.
WORD_CYCLES = 9


class Driver(Clocked):
    """Its ports, with random stalls on all of them. The masked engine has a noise source, unless a test takes it away."""

    # A reset overwrites all registers.
    settling_cycles = 100

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, INPUTS, stalls)
        self.bus = Manager(dut, "axil", stalls)
        self.config = 0
        # The length of the key that was written last.
        self.key_len = 16
        self.is_masked = bool(parameter(dut, "Masked"))
        self.has_noise = self.is_masked

    async def start_clock(self) -> None:
        if self.is_masked:
            cocotb.start_soon(self._noise())
        await super().start_clock()

    async def _noise(self) -> None:
        """A seeded source: a word as soon as the one before was taken."""
        source = random.Random(1)
        while True:
            if self.has_noise:
                self.dut.entropy_i.value, self.dut.entropy_valid_i.value = source.getrandbits(32), 1
            await Timer(WORD_CYCLES * CYCLE_NS, unit="ns")

    async def reset(self) -> None:
        await super().reset()
        await self.trusts()

    async def trusts(self) -> None:
        """Waits for the start-up test of the masked engine's source, and for the end of a wipe."""
        if self.has_noise:
            await self.wait_for(self.dut.entropy_healthy)

    async def wipe(self) -> None:
        await self.write("command", WIPE)
        await self.trusts()

    def lose_noise(self) -> None:
        """From now on a test is the source."""
        self.has_noise = False
        self.dut.entropy_valid_i.value = 0

    def stall(self, stalls: float) -> None:
        self.stalls = self.bus.stalls = stalls

    async def read(self, name: str, index: int = 0) -> int:
        return await self.bus.get(AT[name] + 4 * index)

    async def write(self, name: str, value: int, index: int = 0) -> None:
        await self.bus.write(AT[name] + 4 * index, value)

    async def until(self, bits: int, name: str = "status") -> int:
        for _ in range(PATIENCE):
            status = await self.read(name)
            if status & bits:
                return status
        raise AssertionError(f"{bits:#x} do not come in {name}, which is {status:#x}")

    async def put(self, name: str, value: bytes, shuffled: bool = True) -> None:
        """Bytes into words of a register, in any order."""
        order = list(range(0, len(value), 4))
        if shuffled:
            random.shuffle(order)
        for at in order:
            await self.write(name, int.from_bytes(value[at : at + 4], "little"), at // 4)

    async def get(self, name: str, words: int = 4) -> bytes:
        return b"".join([(await self.read(name, index)).to_bytes(4, "little") for index in range(words)])

    async def expect_errors(self, bits: int) -> None:
        """Checks that there are these errors and no other, and clears them."""
        got = await self.read("error")
        assert got == bits, f"ERROR is {got:#x}, not {bits:#x}"
        await self.write("error", bits)
        assert await self.read("error") == 0

    async def load_key(self, key: bytes) -> None:
        await self.until(IDLE)
        self.key_len = len(key)
        await self.put("key", key)

    async def configure(
        self, mode: str, flags: int = 0, iv: bytes | None = None, sizes: tuple[int, int] = (0, 0)
    ) -> None:
        """All but the key. `sizes` are those of text and additional data."""
        await self.until(IDLE)
        self.config = MODES[mode] | flags | KEY_LEN[self.key_len]
        await self.write("control", self.config)
        await self.write("text_len", sizes[0])
        await self.write("aad_len", sizes[1])
        if iv is not None:
            await self.write("iv_len", len(iv) if mode == "gcm" else 12)
            if len(iv) == 12 or mode != "gcm":
                await self.put("iv", iv)

    async def feed(self, data: bytes) -> None:
        """Blocks through registers; the bytes past the end are any."""
        for block in blocks(data):
            await self.until(INPUT_FREE)
            await self.put("data_in", block + random.randbytes(BLOCK - len(block)))

    async def stream(self, data: bytes) -> None:
        for part, is_last in in_words(data, 8):
            word = filled(part, 8, "little")
            await self.send("str", str_data=word, str_bytes=len(part), str_last=is_last)

    async def collect(self, size: int) -> bytes:
        """The result, by the port of the configuration."""
        out = b""
        while len(out) < size:
            if self.config & STREAM_OUT:
                out += await self.next_word(size - len(out))
            else:
                await self.until(OUTPUT_VALID)
                block = await self.get("data_out")
                assert not any(block[size - len(out) :]), "something follows the end"
                out += block[: size - len(out)]
        return out

    async def next_word(self, left: int) -> bytes:
        await self.pause()
        self.dut.dst_ready_i.value = 1
        for _ in range(self.patience):
            await ReadOnly()
            valid = self.dut.dst_valid_o.value == 1
            seen = [int(port.value) for port in (self.dut.dst_data_o, self.dut.dst_bytes_o, self.dut.dst_last_o)]
            await self.tick()
            if valid:
                self.dut.dst_ready_i.value = 0
                word, size, is_last = seen
                assert (size, is_last) == (min(left, 8), left <= 8), f"{size} bytes of {left}, last {is_last}"
                return word.to_bytes(8, "little")[:size]
        raise AssertionError("no result comes out of the stream")

    async def run(self, text: bytes, before: bytes = b"") -> bytes:
        """A configured message: what comes before the text, then the text. Returns the other text."""
        await self.write("command", START)

        async def send() -> None:
            for part in before if isinstance(before, list) else [before]:
                await self.feed(part)
            if self.config & STREAM_IN:
                if text:
                    await self.stream(text)
            else:
                await self.feed(text)

        # Registers are one port: a block in, a block out.
        if not self.config & (STREAM_IN | STREAM_OUT):
            for part in before if isinstance(before, list) else [before]:
                await self.feed(part)
            out = b""
            for block in blocks(text):
                await self.feed(block)
                out += await self.collect(len(block))
            return out
        sending = cocotb.start_soon(send())
        try:
            out = await self.collect(len(text))
            await sending
        finally:
            sending.cancel()
        return out

    async def gcm(
        self, iv: bytes, aad: bytes, text: bytes, flags: int = 0, tag: bytes = b""
    ) -> tuple[bytes, bytes, int]:
        """The other text, the tag that is shown, and the status at the end."""
        await self.configure("gcm", flags, iv, (len(text), len(aad)))
        if flags & DECRYPT:
            await self.write("tag_len", len(tag))
            await self.put("tag", tag.ljust(BLOCK, b"\0"))
        before = [aad] if len(iv) == 12 else [iv, aad]
        out = await self.run(text, before)
        status = await self.until(IDLE)
        return out, await self.get("tag"), status
