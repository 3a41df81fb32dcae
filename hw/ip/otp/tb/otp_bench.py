"""What the tests of the storage share: cells of rows, the array with power cuts and weak cells, and the core's ports."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from cocotb.handle import HierarchyObject
from handshakes import Bench, Part, chance

# Hsiao's code: which bits of data each check bit covers.
MASKS = [0x00001FFF, 0x007FE007, 0x1F81E078, 0xE38E2388, 0x6CB24C91, 0xB5549522, 0xDA691A44]
CODE_BITS, MARK_BITS, ROW_BITS, NUM_ROWS, LAST_ROW = 39, 5, 44, 128, 103
MARK = 0x1F << CODE_BITS

LIFECYCLE, REVOKED, LOCKS, FLOOR, TYPES, BOARD, DIGESTS, SECRET, KEYS = 0, 1, 2, 4, 16, 24, 32, 64, 72
LOADING, READY, FAILED = 0x99, 0xAA, 0xCC
# Codes of the lifecycles, by the flags that say them.
BLANK, TEST, DEVELOPMENT, PRODUCTION, RETURNED, SCRAPPED, INVALID = 0xE1, 0xD2, 0x33, 0xB4, 0x55, 0x66, 0x87
STEPS = {BLANK: 0, TEST: 1, DEVELOPMENT: 3, PRODUCTION: 7, RETURNED: 15, SCRAPPED: 16}
NONE, R_BLANK, R_SCRAPPED, HALF, CORRUPTED, R_LIFECYCLE, R_FLOOR, MIXED, INCOMPLETE, UPSET = range(10)
NOTHING, BUSY, DONE, LOCKED, NOT_NOW, ORDER, CONFLICT, VERIFY = range(8)

# Rows of each field of words: four root keys, board, device secret, four keys.
FIELDS = [[TYPES + slot, *range(DIGESTS + 8 * slot, DIGESTS + 8 * slot + 8)] for slot in range(4)]
FIELDS += [list(range(BOARD, BOARD + 8)), list(range(SECRET, SECRET + 8))]
FIELDS += [list(range(KEYS + 8 * key, KEYS + 8 * key + 8)) for key in range(4)]
BOARD_FIELD, SECRET_FIELD = 4, 5
FIELD_OF = {row: index for index, rows in enumerate(FIELDS) for row in rows}


def check_bits(data: int) -> int:
    return sum(((data & mask).bit_count() & 1) << bit for bit, mask in enumerate(MASKS))


def word_cells(data: int) -> int:
    """All cells of a written word."""
    return MARK | check_bits(data) << 32 | data


def flag_cells(flags: int) -> int:
    return sum(0x1F << 5 * flag for flag in range(8) if flags >> flag & 1)


class Fuses(Part):
    """The array: cells that are only ever set, some of them weak, and a supply that may fail."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.rows = [0] * NUM_ROWS
        # Cells that read differently each time, by their rows.
        self.weak: dict[int, int] = {}
        self.stalls = 0.0
        # Cells that are burned before the supply fails; the last may be left weak.
        self.cut_after: int | None = None
        self.leaves_weak = False
        self.is_cut = False
        # Burns of a row, in order, and cells that do not burn.
        self.burns: list[tuple[int, int]] = []
        self.stuck: dict[int, int] = {}
        self.wait = 0
        self.ack = False
        # Latency of an answer; an answer in the cycle of its request is allowed.
        self.asked: tuple[int, ...] | None = None

    def request(self) -> tuple[int, ...] | None:
        dut = self.dut
        if self.is_cut or dut.rst_ni.value != 1 or dut.array_req_o.value != 1:
            return None
        return int(dut.array_burn_o.value), int(dut.array_row_o.value), int(dut.array_cells_o.value)

    def drive(self) -> None:
        dut = self.dut
        # Of the request of the cycle before; it stays.
        self.ack = self.asked is not None and not chance(self.stalls)
        dut.array_ack_i.value = int(self.ack)
        read = random.getrandbits(ROW_BITS)
        if self.ack and self.asked is not None and not self.asked[0]:
            read = self.read(self.asked[1])
        dut.array_cells_i.value = read

    def read(self, row: int) -> int:
        return self.rows[row] ^ (self.weak.get(row, 0) & random.getrandbits(ROW_BITS))

    def sample(self) -> None:
        now = self.request()
        if self.ack:
            if self.asked is not None and self.asked[0] and now is not None:
                self.burn(*self.asked[1:])
            self.asked = None
            return
        if now is not None and self.asked is not None:
            assert now[0] == self.asked[0] and now[1] == self.asked[1], "a request changed while it waited"
        self.asked = now

    def burn(self, row: int, cells: int) -> None:
        self.burns.append((row, cells))
        left = [bit for bit in range(ROW_BITS) if cells >> bit & 1 and not self.rows[row] >> bit & 1]
        random.shuffle(left)
        for bit in left:
            if self.cut_after is not None:
                if self.cut_after == 0:
                    self.is_cut = True
                    return
                self.cut_after -= 1
            if not self.stuck.get(row, 0) >> bit & 1:
                self.rows[row] |= 1 << bit
                self.weak[row] = self.weak.get(row, 0) & ~(1 << bit)
            if self.cut_after == 0 and self.leaves_weak:
                self.weak[row] = self.weak.get(row, 0) | 1 << bit
        if self.cut_after == 0:
            self.is_cut = True


class Shadow(Part):
    """The shadow's memory, with what was in it before."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.rows = [random.getrandbits(CODE_BITS) for _ in range(NUM_ROWS)]
        self.next = 0

    def drive(self) -> None:
        self.dut.shadow_code_i.value = self.next

    def sample(self) -> None:
        dut = self.dut
        self.next = self.rows[int(dut.shadow_read_row_o.value)]
        if dut.shadow_write_o.value == 1 and dut.rst_ni.value == 1:
            self.rows[int(dut.shadow_write_row_o.value)] = int(dut.shadow_code_o.value)


@dataclass
class Seen(Part):
    """Ports of the core in the last cycle, and words that were sent."""

    dut: HierarchyObject
    stalls: float = 0.0
    refused: bool = False
    read: tuple[int, int] | None = None
    seq: tuple[int, int] | None = None
    sent: list[tuple[int, int]] = field(default_factory=list)
    aborted: bool = False
    offered: tuple[int, int] | None = None
    # Everything that could carry a word to the outside, in this cycle.
    shown: set[int] = field(default_factory=set)
    is_ready: bool = False
    # The port of the bus showed a word that the bus did not ask for.
    leaked: bool = False

    def drive(self) -> None:
        self.is_ready = not chance(self.stalls)
        self.dut.key_ready_i.value = int(self.is_ready)

    def sample(self) -> None:
        dut = self.dut
        self.refused = dut.burn_refused_o.value == 1 or dut.send_refused_o.value == 1
        if dut.read_valid_o.value == 1:
            self.read = int(dut.read_good_o.value), int(dut.read_data_o.value)
        if dut.seq_valid_o.value == 1:
            self.seq = int(dut.seq_good_o.value), int(dut.seq_data_o.value)
        self.shown = {int(dut.read_data_o.value), int(dut.seq_data_o.value), int(dut.key_data_o.value)}
        self.leaked |= dut.read_good_o.value != 1 and int(dut.read_data_o.value) != 0
        aborts = dut.key_abort_o.value == 1
        self.aborted |= aborts
        if dut.key_valid_o.value == 1:
            now = int(dut.key_word_o.value), int(dut.key_data_o.value)
            assert self.offered in (None, now), "a word changed while it waited"
            self.offered = None if self.is_ready else now
            if self.is_ready:
                self.sent.append(now)
        else:
            assert self.offered is None or aborts, "a word was taken back"
            self.offered = None


@dataclass
class Provisioned:
    """What a device was given: words by their rows, and flags."""

    lifecycle: int = PRODUCTION
    floor: int = 3
    revoked: int = 0
    locks: int = 0
    fields: tuple[int, ...] = (0, 4, 5, 6)
    words: dict[int, int] = field(default_factory=dict)

    def rows(self) -> list[int]:
        rows = [0] * NUM_ROWS
        rows[LIFECYCLE] = flag_cells(STEPS[self.lifecycle])
        rows[REVOKED] = flag_cells(self.revoked)
        rows[LOCKS], rows[LOCKS + 1] = flag_cells(self.locks & 0xFF), flag_cells(self.locks >> 8)
        for step in range(self.floor):
            rows[FLOOR + step // 8] |= 0x1F << 5 * (step % 8)
        for index in self.fields:
            for row in FIELDS[index]:
                self.words.setdefault(row, random.getrandbits(32))
        for row, word in self.words.items():
            rows[row] = word_cells(word)
        return rows


INPUTS = [
    *["array_ack_i", "array_cells_i", "shadow_code_i", "seq_req_i", "seq_row_i", "read_i", "read_row_i", "hide_i"],
    *["latch_i", "bits_i", "data_i", "burn_data_i", "burn_i", "burn_row_i", "send_i", "send_key_i", "key_ready_i"],
]


class Otp(Bench):
    """The core between its array and its shadow."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut, INPUTS)
        self.fuses, self.shadow, self.seen = Fuses(dut), Shadow(dut), Seen(dut)

    async def boot(self, device: Provisioned | None = None) -> int:
        """Resets and loads. Returns the cycles of the load."""
        if device is not None:
            self.fuses.rows, self.fuses.weak = device.rows(), {}
        if not self.parts:
            await self.start(self.fuses, self.shadow, self.seen)
        self.clear_inputs()
        await self.reset()
        fuses, seen = self.fuses, self.seen
        fuses.is_cut, fuses.cut_after, fuses.ack, fuses.asked, fuses.burns = False, None, False, None, []
        seen.read = seen.seq = seen.offered = None
        seen.sent, seen.aborted = [], False
        start = self.cycle
        await self.run(lambda: int(self.dut.verdict_o.value) != LOADING)
        return self.cycle - start

    def verdict(self) -> tuple[int, int]:
        return int(self.dut.verdict_o.value), int(self.dut.reason_o.value)

    def good(self) -> int:
        return int(self.dut.good_o.value)

    async def strobe(self, name: str, **values: int) -> None:
        for port, value in values.items():
            getattr(self.dut, f"{port}_i").value = value
        getattr(self.dut, f"{name}_i").value = 1
        await self.cycles(1)
        getattr(self.dut, f"{name}_i").value = 0

    async def burn(self, row: int, data: int) -> int:
        """Burns a word or flag, and returns the result. Ends early if the supply fails."""
        await self.strobe("data", burn_data=data)
        await self.strobe("burn", burn_row=row)
        refused = self.seen.refused
        await self.run(lambda: self.dut.idle_o.value == 1 or self.fuses.is_cut)
        result = int(self.dut.result_o.value)
        assert self.fuses.is_cut or not refused or result not in (BUSY, DONE)
        return result

    async def get(self, row: int) -> tuple[int, int]:
        """A read of the bus: whether it may have the word, and the word."""
        self.seen.read = None
        await self.strobe("read", read_row=row)
        await self.run(lambda: self.seen.read is not None)
        assert self.seen.read is not None
        return self.seen.read

    async def ask(self, row: int) -> tuple[int, int]:
        """As the sequencer: its answer comes in the next cycle."""
        self.seen.seq = None
        await self.strobe("seq_req", seq_row=row)
        await self.cycles(1)
        assert self.seen.seq is not None, "no answer in the next cycle"
        return self.seen.seq

    async def send(self, key: int) -> bool:
        await self.strobe("send", send_key=key)
        return not self.seen.refused

    async def hide(self, bits: int) -> None:
        await self.strobe("hide", bits=bits)

    async def latch(self, bits: int) -> None:
        await self.strobe("latch", bits=bits)
