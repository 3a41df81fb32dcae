"""Shared by the tests of the stream writer: the stream, and memory."""

from __future__ import annotations

import random
from collections import deque

from cocotb.handle import HierarchyObject
from handshakes import Part, Sink, WriteOrder, chance

NONE, START, WINDOW, LENGTH, WRITE, STREAM, ABORT = range(7)
OKAY, SLVERR, DECERR = 0, 2, 3
BASE, SIZE = 0x8000_0000, 1 << 14
PAGE = 1 << 12
# The window of most tests: all pages of the memory but the first and the last.
FIRST, LAST = (BASE >> 12) + 1, (BASE >> 12) + 2
AT = FIRST << 12
ROOM = 2 * PAGE
INPUTS = ["str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "str_abort_i"]
INPUTS += ["aw_ready_i", "w_ready_i", "b_valid_i", "b_resp_i"]


def words_of(message: bytes) -> list[tuple[int, int, int]]:
    """Data, whether it is the last one, and bytes; what is past the end of a word is of no meaning."""
    words = []
    for at in range(0, len(message), 8):
        part = message[at : at + 8]
        data = int.from_bytes(part, "little") | random.getrandbits(64) << 8 * len(part)
        words.append((data & (1 << 64) - 1, int(at + 8 >= len(message)), len(part)))
    return words


class Stream(Part):
    """Gives words. It stops before word number `stop`."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.stalls = 0.0
        self.begin([])

    def begin(self, words: list[tuple[int, int, int]], stop: int | None = None) -> None:
        self.words = deque(words)
        self.taken = 0
        self.stop = len(words) if stop is None else stop
        self.is_offering = False

    def end(self) -> None:
        """Withdraws what it offers, as an engine does that is aborted."""
        self.begin([])

    def drive(self) -> None:
        if not self.is_offering and self.words and self.taken < self.stop:
            self.is_offering = not chance(self.stalls)
        self.dut.str_valid_i.value = int(self.is_offering)
        data, last, count = self.words[0] if self.is_offering else (random.getrandbits(64), 0, 0)
        self.dut.str_data_i.value, self.dut.str_last_i.value, self.dut.str_bytes_i.value = data, last, count

    def sample(self) -> None:
        if self.is_offering and self.dut.str_ready_o.value == 1:
            self.words.popleft()
            self.taken += 1
            self.is_offering = False


class Memory(Part):
    """A subordinate of AXI4 for writes. It checks what reaches it, and answers late, in every order of address and data."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bytes = bytearray(random.randbytes(SIZE))
        self.aw = Sink(dut, "aw_valid_o", "aw_ready_i", ["aw_addr_o", "aw_len_o"])
        self.w = Sink(dut, "w_valid_o", "w_ready_i", ["w_data_o", "w_strb_o", "w_last_o"])
        self.order = WriteOrder(self.aw, self.w, dut.w_last_o)
        self.latency = 3
        self.cycle = 0
        self.forget()

    def forget(self) -> None:
        """Starts to count anew; nothing is open."""
        self.writes = 0
        self.changed: set[int] = set()
        # Responses by the number of the write since then.
        self.bad: dict[int, int] = {}
        self.due: deque[tuple[int, int]] = deque()

    def stall(self, stalls: float) -> None:
        self.aw.stalls = self.w.stalls = stalls
        self.order.choose()

    def is_quiet(self) -> bool:
        return not any([self.aw.taken, self.w.taken, self.due, self.order.ahead, self.aw.offered, self.w.offered])

    def drive(self) -> None:
        self.aw.drive()
        self.w.drive()
        answers = bool(self.due) and self.due[0][0] <= self.cycle and not chance(self.aw.stalls)
        self.dut.b_valid_i.value = int(answers)
        self.dut.b_resp_i.value = self.due.popleft()[1] if answers else random.getrandbits(2)

    def sample(self) -> None:
        self.cycle += 1
        for part in (self.aw, self.w, self.order):
            part.sample()
        assert self.dut.b_ready_o.value == 1
        if not self.aw.taken or len(self.w.taken) <= self.aw.taken[0][1]:
            return
        address, length = self.aw.taken.popleft()
        assert address % 8 == 0 and address // 64 == (address + 8 * length) // 64, "a burst crosses a line"
        for beat in range(length + 1):
            data, strobes, last = self.w.taken.popleft()
            assert last == (beat == length), "the last beat is another one"
            for lane in range(8):
                if strobes >> lane & 1:
                    at = address + 8 * beat + lane - BASE
                    assert 0 <= at < SIZE and at not in self.changed, "a byte is written twice"
                    self.changed.add(at)
                    self.bytes[at] = data >> 8 * lane & 0xFF
        self.due.append((self.cycle + self.latency, self.bad.get(self.writes, OKAY)))
        self.writes += 1
