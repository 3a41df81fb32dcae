"""The verification unit with a medium, one-time-programmable storage and an engine around it, all of them models.

An image is built from spec/first-stage.md alone. The engine's model accepts one key, one signature and one message.
"""

from __future__ import annotations

import hashlib
import random
from collections import deque
from dataclasses import dataclass, field, replace

from axi_bundles import Fields
from cocotb.handle import HierarchyObject
from handshakes import Bench, Part, chance

ACCEPTED = 0x5A17_C0DE_96B3_0F71
BASE = 0x8800_0000
SOC = b"rot".ljust(32, b"\0")
BOARD = b"board-1".ljust(32, b"\0")
DEVELOPMENT, PRODUCTION, RETURNED = 1, 2, 4

OUTPUTS_OF_BENCH = [
    "otp_ready_i", "otp_failed_i", "otp_usable_i", "otp_lifecycle_i", "otp_floor_i", "otp_valid_i", "otp_good_i",
    "otp_data_i", "engine_ready_i", "engine_done_i", "engine_index_i", "engine_verdict_i", "fault_i",
]  # fmt: skip


@dataclass
class Image:
    """A first stage in its fields; every byte of it can be something else."""

    signature: bytes
    key: bytes
    lead_tag: bytes = b"HARTLOCK-FRST-v1"
    algorithm: int = 17
    parameters: int = 1
    lead_rest: bytes = bytes(40)
    padding: bytes | None = None
    tag: bytes = b"HARTLOCK-CODE-v1"
    signed_algorithm: int = 17
    signed_parameters: int = 1
    code_size: int | None = None
    security_version: int = 7
    mask: int = DEVELOPMENT | PRODUCTION
    reserved_44: bytes = bytes(20)
    board: bytes = BOARD
    soc: bytes = SOC
    next_pair: tuple[int, int] = (0, 0)
    reserved_136: bytes = bytes(24)
    next_digest: bytes = bytes(32)
    reserved_192: bytes = bytes(64)
    code: bytes = field(default_factory=lambda: random.randbytes(256))

    def front(self) -> bytes:
        """Lead and key."""
        pair = self.algorithm.to_bytes(4, "little") + self.parameters.to_bytes(4, "little")
        return self.lead_tag + pair + self.lead_rest + self.key

    def header(self) -> bytes:
        def u32(value: int) -> bytes:
            return value.to_bytes(4, "little")

        size = len(self.code) if self.code_size is None else self.code_size
        header = self.tag + u32(self.signed_algorithm) + u32(self.signed_parameters)
        header += size.to_bytes(8, "little") + self.security_version.to_bytes(8, "little")
        header += u32(self.mask) + self.reserved_44 + self.board + self.soc
        header += u32(self.next_pair[0]) + u32(self.next_pair[1]) + self.reserved_136 + self.next_digest
        header += self.reserved_192
        assert len(header) == 256
        return header

    def signed(self) -> bytes:
        return self.header() + self.code

    def encode(self) -> bytes:
        padding = bytes(-len(self.signature) % 64) if self.padding is None else self.padding
        return self.front() + self.signature + padding + self.signed()


@dataclass
class Device:
    """What is in one-time-programmable storage."""

    key_digest: bytes
    board: bytes = BOARD
    floor: int = 5
    lifecycle: int = PRODUCTION
    is_usable: bool = True
    is_ready: bool = True
    has_failed: bool = False
    bad_words: frozenset[tuple[int, int]] = frozenset()


class Medium(Part):
    """Memory at the port: reads in their order, after a latency, with stalls and errors of chosen beats."""

    def __init__(self, dut: HierarchyObject, image: bytes) -> None:
        self.dut = Fields(dut, "axi", is_manager=False)
        self.image = image
        self.stalls = 0.0
        self.latency = 3
        self.bad_beat: int | None = None
        self.bad_last: int | None = None
        self.end: int | None = None  # words that there are; later ones are errors
        self.beats: deque[tuple[int, int, int, int]] = deque()  # cycle from which, word, data, last
        self.addresses: list[int] = []
        self.given = 0
        self.now = 0
        self.offered = False

    def drive(self) -> None:
        dut = self.dut
        dut.ar_ready_i.value = int(not chance(self.stalls))
        if not self.offered:
            self.offered = bool(self.beats) and self.beats[0][0] <= self.now and not chance(self.stalls)
        dut.r_valid_i.value = int(self.offered)
        if self.offered:
            at, data, last = self.beats[0][1:]
            dut.r_data_i.value = data
            is_bad = self.given == self.bad_beat or (self.end is not None and at >= self.end)
            dut.r_resp_i.value = 2 if is_bad else 0
            dut.r_last_i.value = last ^ int(self.given == self.bad_last)

    def sample(self) -> None:
        dut = self.dut
        self.now += 1
        if dut.ar_valid_o.value == 1 and dut.ar_ready_i.value == 1:
            address, count = int(dut.ar_addr_o.value), int(dut.ar_len_o.value) + 1
            assert count == 8 and address % 64 == 0, "a burst that is no line"
            assert address not in self.addresses, "the image is read twice"
            self.addresses.append(address)
            at = address - BASE
            for beat in range(count):
                word = self.image[at + 8 * beat : at + 8 * beat + 8].ljust(8, b"\xa5")
                value = int.from_bytes(word, "little")
                self.beats.append((self.now + self.latency, at // 8 + beat, value, int(beat == count - 1)))
        if self.offered and dut.r_ready_o.value == 1:
            self.beats.popleft()
            self.given += 1
            self.offered = False


class Storage(Part):
    """Answers a word in the next cycle, or later."""

    def __init__(self, dut: HierarchyObject, device: Device) -> None:
        self.dut = dut
        self.device = device
        self.delay = 0
        self.asked: tuple[int, int] | None = None
        self.waits = 0

    def drive(self) -> None:
        dut, device = self.dut, self.device
        dut.otp_ready_i.value = int(device.is_ready)
        dut.otp_failed_i.value = int(device.has_failed)
        dut.otp_usable_i.value = int(device.is_usable)
        dut.otp_lifecycle_i.value = device.lifecycle
        dut.otp_floor_i.value = device.floor
        answers = self.asked is not None and self.waits == 0
        dut.otp_valid_i.value = int(answers)
        if answers:
            is_board, word = self.asked
            source = device.board if is_board else device.key_digest
            # Bytes in the order of memory (hw/ip/otp/doc/README.md).
            dut.otp_data_i.value = int.from_bytes(source[4 * word : 4 * word + 4], "little")
            dut.otp_good_i.value = int(self.asked not in device.bad_words)
            self.asked = None
        elif self.asked is not None:
            self.waits -= 1

    def sample(self) -> None:
        dut = self.dut
        if dut.otp_req_o.value == 1:
            assert self.asked is None, "two requests at a time"
            self.asked = int(dut.otp_is_board_o.value), int(dut.otp_word_o.value)
            self.waits = random.randint(0, self.delay)


class Engine(Part):
    """Takes key, signature and message, and shows the verdict some cycles later."""

    def __init__(self, dut: HierarchyObject, image: Image) -> None:
        self.dut = dut
        self.prepare(image)
        self.taken = [b"", b"", b""]
        self.stalls = 0.0
        self.verdict = ACCEPTED
        self.index = False
        self.has_started = False
        self.waits: int | None = None
        self.is_done = False
        # It is ready only for a word that it was offered the cycle before, as a driver of registers may be.
        self.looks_first = False
        self.is_offered = False

    def prepare(self, image: Image) -> None:
        self.expected = image.key, image.signature, image.signed()

    def drive(self) -> None:
        dut = self.dut
        dut.engine_ready_i.value = int(not chance(self.stalls) and (self.is_offered or not self.looks_first))
        if self.waits is not None:
            self.waits -= 1
            self.is_done = self.waits <= 0
        dut.engine_done_i.value = int(self.is_done)
        fits = self.is_done and tuple(self.taken) == self.expected
        dut.engine_verdict_i.value = self.verdict if fits else 0
        dut.engine_index_i.value = int(self.is_done and self.index)

    def sample(self) -> None:
        dut = self.dut
        offers = [dut.engine_key_o.value == 1, dut.engine_signature_o.value == 1, dut.engine_message_o.value == 1]
        assert sum(offers) <= 1
        if dut.engine_start_o.value == 1:
            self.has_started = True
        self.is_offered = any(offers) and dut.engine_ready_i.value == 0
        if any(offers) and dut.engine_ready_i.value == 1:
            kind = offers.index(True)
            assert self.has_started, "words before the start"
            self.taken[kind] += int(dut.data_o.value).to_bytes(8, "little")
            if kind == 2 and dut.engine_last_o.value == 1:
                self.waits = 20


class Ram(Part):
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.words: dict[int, int] = {}

    def sample(self) -> None:
        if self.dut.ram_write_o.value == 1:
            word = int(self.dut.ram_word_o.value)
            assert word not in self.words, "a word is written twice"
            self.words[word] = int(self.dut.data_o.value)

    def contents(self) -> bytes:
        assert sorted(self.words) == list(range(len(self.words)))
        return b"".join(self.words[word].to_bytes(8, "little") for word in range(len(self.words)))


class Setup:
    """A device, an image on its medium, and what becomes of both."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, OUTPUTS_OF_BENCH)
        self.signature_size = 8 * int(dut.SignatureWords.value)
        self.capacity = int(dut.Capacity.value)

    def image(self) -> Image:
        size = 64 * random.randint(1, min(self.capacity // 64, 6))
        return Image(random.randbytes(self.signature_size), random.randbytes(64), code=random.randbytes(size))

    def device(self, image: Image) -> Device:
        return Device(hashlib.sha256(image.front()).digest())

    async def start(self, image: Image, device: Device | None = None, fits: Image | None = None) -> None:
        """From reset. The engine accepts `fits`, or the image."""
        device = self.device(image) if device is None else device
        self.medium = Medium(self.dut, image.encode())
        self.storage = Storage(self.dut, device)
        self.engine = Engine(self.dut, image if fits is None else fits)
        self.ram = Ram(self.dut)
        parts = [self.medium, self.storage, self.engine, self.ram]
        if self.bench.cycle == 0:
            await self.bench.start_clock()
        else:
            self.bench.clear_inputs()
            await self.bench.reset()
        self.bench.parts = parts

    def stall(self) -> None:
        self.medium.stalls = random.choice([0.0, 0.3, 0.8])
        self.medium.latency = random.choice([1, 3, 40])
        self.engine.stalls = random.choice([0.0, 0.3, 0.8])
        self.engine.looks_first = chance(0.5)
        self.storage.delay = random.choice([0, 5])

    def is_over(self) -> bool:
        dut = self.dut
        return dut.release_o.value == 1 or dut.refused_o.value == 1 or dut.error_o.value == 1

    async def run(self) -> int:
        """Until a decision: 0 for a release, the reason for a refusal, -1 for an error."""
        await self.bench.run(self.is_over, 60_000)
        if self.dut.error_o.value == 1:
            return -1
        return 0 if self.dut.release_o.value == 1 else int(self.dut.reason_o.value)

    async def stays(self, result: int) -> None:
        for _ in range(30):
            await self.bench.cycles(1)
            assert (self.dut.release_o.value == 1) == (result == 0)

    async def boot(self, image: Image, device: Device | None = None, fits: Image | None = None) -> int:
        await self.start(image, device, fits)
        result = await self.run()
        await self.stays(result)
        return result


def changed(image: Image, **fields: object) -> Image:
    return replace(image, **fields)
