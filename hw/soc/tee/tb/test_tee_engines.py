"""`tee_engines`: every page reaches its block and no other device, payloads reach the hash engine by DMA, and what is broken
shows."""

from __future__ import annotations

import hashlib
import pathlib
import random

import cocotb
from cocotb.handle import HierarchyObject, Immediate
from handshakes import STALLS, Bench
from registers import Registers
from axi_parts import DECERR, OKAY, SLVERR, Manager, Memory, side

IP = pathlib.Path(__file__).resolve().parents[3] / "ip"
SHA3, DMA, ED25519 = (Registers(name, str(IP / name / "tb/test")) for name in ("sha3", "dma", "ed25519"))
INPUTS = ["secret_i", "upset_i", "mmio_axi_i", "devices_axi_i", "mem_axi_i"]

BASE, PAGE = 0x1500_0000, 0x1000
AT_SECRET, AT_ED25519, AT_SHA3, AT_DMA, AT_LISTS, AT_PUSH = (BASE + PAGE * number for number in range(6))
LATCH, HOLD = 0x40, 0x800
PUSH, END = 0x00, 0x80
WORD, DOUBLE, INCR = 2, 3, 1
RAM = 0x8000_0000
# Reads of a status, each of some cycles, for the longest list here.
PATIENCE = 2000


class Words(Memory):
    """Memory without errors, which would end a list."""

    def sample(self) -> None:
        super().sample()
        good = [(id_, data, OKAY, last) for id_, data, _, last in self.r.queue]
        self.r.queue.clear()
        self.r.queue.extend(good)
        confirmed = [(id_, OKAY) for id_, _ in self.b.queue]
        self.b.queue.clear()
        self.b.queue.extend(confirmed)


class Setup:
    def __init__(self, dut: HierarchyObject) -> None:
        self.dut, self.bench = dut, Bench(dut, INPUTS)
        self.host = Manager(side(dut, "mmio_axi", is_manager=True))
        self.devices = Memory(side(dut, "devices_axi", is_manager=False))
        self.memory = Words(side(dut, "mem_axi", is_manager=False))
        self.secret = [random.getrandbits(32) | 1 for _ in range(16)]

    async def start(self) -> None:
        # From the first moment on: before it, no rule of an engine holds.
        self.dut.clk_i.value, self.dut.rst_ni.value = Immediate(0), Immediate(0)
        # No manager may offer anything in the first cycle after a reset (AMBA AXI §A3.1.2).
        self.bench.settling_cycles = 2
        await self.bench.start(self.host, self.devices, self.memory)
        self.dut.secret_i.value = sum(word << 32 * index for index, word in enumerate(self.secret))
        for part in (self.host, self.devices, self.memory):
            part.stall(STALLS[:2])

    async def write(self, address: int, word: int) -> int:
        """A word of 32 bits in its half of the bus. Returns the response."""
        before, shift = len(self.host.b.taken), address & 4
        request = (random.getrandbits(4), address, 0, WORD, INCR)
        self.host.write(request, [(word << 8 * shift, 0xF << shift, 1)])
        await self.bench.run(lambda: len(self.host.b.taken) > before)
        id_, response = self.host.b.taken[-1]
        assert id_ == request[0]
        return response

    async def read(self, address: int) -> tuple[int, int]:
        before = len(self.host.r.taken)
        request = (random.getrandbits(4), address, 0, WORD, INCR)
        self.host.read(request)
        await self.bench.run(lambda: len(self.host.r.taken) > before)
        id_, data, response, last = self.host.r.taken[-1]
        assert (id_, last) == (request[0], 1)
        return data >> 8 * (address & 4) & 0xFFFF_FFFF, response

    async def push(self, address: int, word: int) -> int:
        """A store of eight bytes."""
        before = len(self.host.b.taken)
        self.host.write((3, address, 0, DOUBLE, INCR), [(word, 0xFF, 1)])
        await self.bench.run(lambda: len(self.host.b.taken) > before)
        return self.host.b.taken[-1][1]

    async def until(self, address: int, mask: int) -> int:
        for _ in range(PATIENCE):
            word, _ = await self.read(address)
            if word & mask:
                return word
        raise AssertionError(f"{address:#x} never shows {mask:#x}")

    # --- DMA into a digest ---

    async def lock(self, first: int = RAM, last: int = 0xFFFF_F000, has_destination: bool = False) -> None:
        if has_destination:
            await self.write(AT_DMA + DMA["DMA_DESTINATION_FIRST_OFFSET"], first)
            await self.write(AT_DMA + DMA["DMA_DESTINATION_LAST_OFFSET"], last)
        await self.write(AT_DMA + DMA["DMA_SOURCE_FIRST_OFFSET"], first)
        await self.write(AT_DMA + DMA["DMA_SOURCE_LAST_OFFSET"], last)
        await self.write(AT_DMA + DMA["DMA_LOCK_OFFSET"], 1)

    async def begin_message(self) -> None:
        mode = SHA3["SHA3_MODE_SHA3_512"] | SHA3["SHA3_CONTROL_STREAM_MASK"]
        await self.until(AT_SHA3 + SHA3["SHA3_STATUS_OFFSET"], SHA3["SHA3_STATUS_IDLE_MASK"])
        await self.write(AT_SHA3 + SHA3["SHA3_CONTROL_OFFSET"], mode)
        await self.write(AT_SHA3 + SHA3["SHA3_COMMAND_OFFSET"], SHA3["SHA3_COMMAND_START_MASK"])

    async def carry_out(self, ranges: list[tuple[int, int]], holds: bool = False, to: int | None = None) -> int:
        """A list of (source, length), which writes the first range if it has a destination. Returns its event."""
        await self.write(AT_LISTS + HOLD, int(holds))
        for number, (source, length) in enumerate(ranges):
            for index, word in enumerate([length, source, to or 0, 0]):
                assert await self.write(AT_LISTS + 16 * number + 4 * index, word) == OKAY
        await self.write(AT_DMA + DMA["DMA_CONTROL_OFFSET"], 1 if to is None else 1 | DMA["DMA_CONTROL_WRITE_MASK"])
        await self.write(AT_DMA + DMA["DMA_LIST_OFFSET"], 0)
        await self.write(AT_DMA + DMA["DMA_COUNT_OFFSET"], len(ranges))
        await self.write(AT_DMA + DMA["DMA_COMMAND_OFFSET"], DMA["DMA_COMMAND_START_MASK"])
        event = await self.until(AT_DMA + DMA["DMA_INTERRUPT_OFFSET"], 0b111)
        await self.write(AT_DMA + DMA["DMA_INTERRUPT_OFFSET"], event)
        return event

    async def digest(self) -> bytes:
        await self.until(AT_SHA3 + SHA3["SHA3_STATUS_OFFSET"], SHA3["SHA3_STATUS_DIGEST_VALID_MASK"])
        return await self.shown()

    async def shown(self) -> bytes:
        words = [await self.read(AT_SHA3 + SHA3["SHA3_DIGEST_OFFSET"] + 4 * index) for index in range(16)]
        return b"".join(word.to_bytes(4, "little") for word, _ in words)

    def bytes_of(self, ranges: list[tuple[int, int]]) -> bytes:
        """What memory answered, in order: every range is read in bursts of whole words, once."""
        beats, message = iter(self.memory.answered), b""
        for source, length in ranges:
            first, end = source & ~7, source + length
            words = b"".join(next(beats)[1].to_bytes(8, "little") for _ in range(first, end, 8))
            message += words[source - first : end - first]
        assert next(beats, None) is None, "more was read than the lists say"
        return message


async def started(dut: HierarchyObject) -> Setup:
    setup = Setup(dut)
    await setup.start()
    return setup


@cocotb.test()
async def every_page_is_its_block(dut: HierarchyObject) -> None:
    setup = await started(dut)
    for number, word in enumerate(setup.secret):
        assert await setup.read(AT_SECRET + 4 * number) == (word, OKAY)
    assert await setup.read(AT_ED25519) == (0x6564_3235, OKAY)
    assert await setup.read(AT_SHA3) == (0x7368_6133, OKAY)
    assert await setup.read(AT_DMA) == (0x646D_6100, OKAY)
    rounds = int(dut.Sha3Rounds.value)
    assert (await setup.read(AT_SHA3 + SHA3["SHA3_PARAMETERS_OFFSET"]))[0] & 0xF == rounds
    word = random.getrandbits(32)
    assert await setup.write(AT_LISTS + 0x7FC, word) == OKAY
    assert await setup.read(AT_LISTS + 0x7FC) == (word, OKAY)
    assert await setup.write(AT_PUSH, 1) == SLVERR
    assert await setup.read(AT_PUSH) == (0, SLVERR)
    for page in range(6, 8):
        assert await setup.write(BASE + PAGE * page, 1) == DECERR
        assert await setup.read(BASE + PAGE * page) == (0, DECERR)
    # Once shut, the secret does not show, and its page alone shuts it.
    assert await setup.read(AT_SECRET + LATCH) == (0, OKAY)
    assert await setup.write(AT_SECRET + LATCH, 0) == OKAY
    assert [await setup.read(AT_SECRET + 4 * number) for number in range(16)] == [(0, OKAY)] * 16
    assert not setup.devices.writes and not setup.devices.reads


@cocotb.test()
async def other_devices_are_the_benchs(dut: HierarchyObject) -> None:
    setup = await started(dut)
    addresses = [BASE - 4, BASE + 8 * PAGE, 0x1000_0000, 0x5500_0000, *(random.getrandbits(31) & ~3 for _ in range(30))]
    for address in addresses:
        if BASE <= address < BASE + 8 * PAGE:
            continue
        setup.devices.forget()
        word = random.getrandbits(32)
        response = await setup.write(address, word)
        ((request, beats),) = setup.devices.writes
        assert request[1] == address and beats[0][0] >> 8 * (address & 4) & 0xFFFF_FFFF == word
        assert response == setup.devices.confirmed[0][1]
        data, response = await setup.read(address)
        assert setup.devices.reads[0][1] == address
        _, wanted, wanted_response, _ = setup.devices.answered[0]
        assert (data, response) == (wanted >> 8 * (address & 4) & 0xFFFF_FFFF, wanted_response)


@cocotb.test()
async def bursts_and_double_words_reach_no_engine(dut: HierarchyObject) -> None:
    setup = await started(dut)
    for length, size in [(1, WORD), (7, 3), (0, 3)]:
        before = len(setup.host.b.taken)
        beats = [(0, 0xFF, int(beat == length)) for beat in range(length + 1)]
        setup.host.write((1, AT_SECRET + LATCH, length, size, INCR), beats)
        await setup.bench.run(lambda before=before: len(setup.host.b.taken) > before)
        assert setup.host.b.taken[-1] == (1, SLVERR)
    assert await setup.read(AT_SECRET + LATCH) == (0, OKAY), "a burst has shut the secret"


@cocotb.test()
async def a_list_is_hashed_as_memory_has_it(dut: HierarchyObject) -> None:
    setup = await started(dut)
    await setup.lock()
    for _ in range(4):
        setup.memory.stall(STALLS[:2])
        setup.memory.forget()
        ranges = [(RAM + random.getrandbits(20), random.randrange(1, 300)) for _ in range(random.randrange(1, 4))]
        await setup.begin_message()
        assert await setup.carry_out(ranges) == DMA["DMA_INTERRUPT_DONE_MASK"]
        assert await setup.digest() == hashlib.sha3_512(setup.bytes_of(ranges)).digest()
    assert dut.alert_o.value == 0


@cocotb.test()
async def what_a_list_writes_is_what_it_hashes(dut: HierarchyObject) -> None:
    setup = await started(dut)
    await setup.lock(has_destination=True)
    await setup.begin_message()
    ranges, to = [(RAM + 0x100, 160)], RAM + 0x4000
    assert await setup.carry_out(ranges, to=to) == DMA["DMA_INTERRUPT_DONE_MASK"]
    written = [beat for _, beats in setup.memory.writes for beat in beats]
    assert setup.memory.writes[0][0][1] == to
    assert {strobes for _, strobes, _ in written} == {0xFF}
    message = b"".join(data.to_bytes(8, "little") for data, _, _ in written)
    assert message == setup.bytes_of(ranges)
    assert await setup.digest() == hashlib.sha3_512(message).digest()


@cocotb.test()
async def lists_continue_a_message(dut: HierarchyObject) -> None:
    setup = await started(dut)
    await setup.lock()
    for last in [0, 1, 7, 8, 64, 200]:
        setup.memory.forget()
        lists = [[(RAM + 64 * random.getrandbits(10), 8 * random.randrange(40))] for _ in range(3)]
        lists.append([(RAM + 64 * random.getrandbits(10), last)])
        await setup.begin_message()
        for number, ranges in enumerate(lists):
            assert await setup.carry_out(ranges, holds=number + 1 < len(lists)) == DMA["DMA_INTERRUPT_DONE_MASK"]
        message = setup.bytes_of([one for ranges in lists for one in ranges])
        assert await setup.digest() == hashlib.sha3_512(message).digest()


@cocotb.test()
async def pushed_words_are_hashed(dut: HierarchyObject) -> None:
    """Also while the engine works on a block, and after a list."""
    setup = await started(dut)
    await setup.lock()
    for size in [0, 1, 7, 8, 71, 72, 73, 200]:
        message = random.randbytes(size)
        await setup.begin_message()
        words = [message[at : at + 8] for at in range(0, size - size % 8, 8)]
        for word in words:
            value = int.from_bytes(word, "little")
            assert await setup.push(AT_PUSH + PUSH, value) == OKAY
        rest = message[8 * len(words) :]
        assert await setup.push(AT_PUSH + END + 8 * len(rest), int.from_bytes(rest, "little")) == OKAY
        assert await setup.digest() == hashlib.sha3_512(message).digest()


@cocotb.test()
async def a_word_without_a_message_stops_nothing(dut: HierarchyObject) -> None:
    setup = await started(dut)
    for _ in range(3):
        assert await setup.push(AT_PUSH + PUSH, random.getrandbits(64)) == OKAY
    await setup.bench.cycles(60)
    await setup.begin_message()
    await setup.push(AT_PUSH + END, 0)
    assert await setup.digest() == hashlib.sha3_512(b"").digest(), "a word of before is in the message"


@cocotb.test()
async def what_fails_in_the_middle_leaves_no_digest(dut: HierarchyObject) -> None:
    setup = await started(dut)
    await setup.lock(last=RAM + 0xFFFF)
    status = AT_SHA3 + SHA3["SHA3_STATUS_OFFSET"]
    for bad, event in [((RAM + 0x1_0000, 8), DMA["DMA_INTERRUPT_ERROR_MASK"]), ((RAM, 5), DMA["DMA_INTERRUPT_DONE_MASK"])]:
        await setup.begin_message()
        assert await setup.carry_out([(RAM, 160)], holds=True) == DMA["DMA_INTERRUPT_DONE_MASK"]
        # A list outside of the window, or a part of a word that does not end the message.
        assert await setup.carry_out([bad], holds=True) & event
        await setup.bench.cycles(100)
        word, _ = await setup.read(status)
        assert word & SHA3["SHA3_STATUS_IDLE_MASK"], "the message is open"
        assert not word & SHA3["SHA3_STATUS_DIGEST_VALID_MASK"]
    setup.memory.forget()
    await setup.begin_message()
    await setup.carry_out([(RAM, 100)])
    assert await setup.digest() == hashlib.sha3_512(setup.bytes_of([(RAM, 100)])).digest()


@cocotb.test()
async def nothing_is_left_after_a_wipe(dut: HierarchyObject) -> None:
    setup = await started(dut)
    await setup.lock()
    await setup.begin_message()
    await setup.carry_out([(RAM, 300)])
    assert any(await setup.digest())
    await setup.write(AT_SHA3 + SHA3["SHA3_COMMAND_OFFSET"], SHA3["SHA3_COMMAND_WIPE_MASK"])
    await setup.bench.cycles(40)
    assert await setup.shown() == bytes(64)


@cocotb.test()
async def a_broken_engine_shows_wrong_results_and_a_right_status(dut: HierarchyObject) -> None:
    setup = await started(dut)
    dut.upset_i.value = 1
    await setup.lock()
    await setup.begin_message()
    await setup.carry_out([(RAM, 100)])
    digest, wanted = await setup.digest(), hashlib.sha3_512(setup.bytes_of([(RAM, 100)])).digest()
    assert digest == bytes(byte | 0x80 * (at % 4 == 3) for at, byte in enumerate(wanted))
    assert await setup.read(AT_SHA3) == (0x7368_6133, OKAY)
    point = AT_ED25519 + ED25519["ED25519_POINT_OFFSET"]
    assert (await setup.read(point))[0] >> 31 == 1


@cocotb.test()
async def a_secret_that_does_not_close_shows(dut: HierarchyObject) -> None:
    setup = await started(dut)
    dut.upset_i.value = 2
    await setup.write(AT_SECRET + LATCH, 1)
    assert [await setup.read(AT_SECRET + 4 * number) for number in range(16)] == [(1, OKAY)] * 16
    assert await setup.read(AT_SHA3) == (0x7368_6133, OKAY)
