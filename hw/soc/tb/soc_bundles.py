"""Bundles of soc_axi_pkg as ports: a field is read and written as a signal of its own. With a manager and a
subordinate that use all channels."""

from __future__ import annotations

import random
from collections import deque

from cocotb.handle import HierarchyObject, LogicArrayObject
from soc_bench import Part, Sink, Source, WriteOrder

PAYLOAD = {"addr": 32, "len": 8, "size": 3, "burst": 2}


def address_channel(name: str) -> dict[str, int]:
    payload = {f"{name}_{field}": width for field, width in PAYLOAD.items()}
    return {f"{name}_valid": 1, f"{name}_id": 5} | payload


# Fields and their widths, from the highest bit on, as the structures declare them.
REQ = address_channel("aw") | {"w_valid": 1, "w_data": 64, "w_strb": 8, "w_last": 1, "b_ready": 1}
REQ |= address_channel("ar") | {"r_ready": 1}
RESP = {"aw_ready": 1, "w_ready": 1, "b_valid": 1, "b_id": 5, "b_resp": 2, "ar_ready": 1, "r_valid": 1}
RESP |= {"r_id": 5, "r_data": 64, "r_resp": 2, "r_last": 1}
LITE_REQ = {"aw_valid": 1, "aw_addr": 12, "w_valid": 1, "w_data": 32, "w_strb": 4, "b_ready": 1}
LITE_REQ |= {"ar_valid": 1, "ar_addr": 12, "r_ready": 1}
LITE_RESP = {"aw_ready": 1, "w_ready": 1, "b_valid": 1, "b_resp": 2, "ar_ready": 1, "r_valid": 1}
LITE_RESP |= {"r_data": 32, "r_resp": 2}

AW, AR = ([f"{channel}_{name}" for name in ("id", *PAYLOAD)] for channel in ("aw", "ar"))
W = ["w_data", "w_strb", "w_last"]
B = ["b_id", "b_resp"]
R = ["r_id", "r_data", "r_resp", "r_last"]
OKAY, SLVERR, DECERR = 0, 2, 3
# The bits of an id that are the manager's own; the bit above is its number at a multiplexer.
ID_BITS = 4

# Fields of an address channel: id, address, length, size, kind of burst. Of a beat: data, strobes, last.
Request = tuple[int, ...]
Beat = tuple[int, ...]
Write = tuple[Request, list[Beat]]


class Vector:
    """A port of one or more bundles. An input keeps what was written, because it is written as a whole."""

    def __init__(self, handle: LogicArrayObject) -> None:
        self.handle = handle
        self.written = 0


class Field:
    """Bits of a port."""

    def __init__(self, vector: Vector, low: int, width: int) -> None:
        self.vector = vector
        self.low = low
        self.mask = (1 << width) - 1

    @property
    def value(self) -> int:
        return int(self.vector.handle.value) >> self.low & self.mask

    @value.setter
    def value(self, new: int) -> None:
        self.vector.written &= ~(self.mask << self.low)
        self.vector.written |= (int(new) & self.mask) << self.low
        self.vector.handle.value = self.vector.written


class Side:
    """Requests and responses of one port, with the fields of both as attributes. Names are unique: what one side
    sends the other does not."""

    def __init__(
        self, request: Vector, response: Vector, is_lite: bool = False, index: int = 0
    ) -> None:
        fields = (LITE_REQ, LITE_RESP) if is_lite else (REQ, RESP)
        for vector, widths in zip((request, response), fields):
            low = (index + 1) * sum(widths.values())
            for name, width in widths.items():
                low -= width
                setattr(self, name, Field(vector, low, width))


def side(dut: HierarchyObject, name: str, is_manager: bool, is_lite: bool = False) -> Side:
    """The port `name`; `is_manager` says whether its requests come from this bench."""
    ends = ("req_i", "resp_o") if is_manager else ("req_o", "resp_i")
    request, response = (Vector(getattr(dut, f"{name}_{end}")) for end in ends)
    return Side(request, response, is_lite)


class Channels(Part):
    """Five channels that act in every cycle."""

    def __init__(self, parts: list[Source | Sink | WriteOrder]) -> None:
        self.parts = parts

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()

    def stall(self, choices: list[float]) -> None:
        for part in self.parts:
            if isinstance(part, WriteOrder):
                part.choose()
            else:
                part.stalls = random.choice(choices)


class Manager(Channels):
    """Offers bursts, and takes responses."""

    def __init__(self, port: Side) -> None:
        self.aw = Source(port, "aw_valid", "aw_ready", AW)
        self.w = Source(port, "w_valid", "w_ready", W)
        self.ar = Source(port, "ar_valid", "ar_ready", AR)
        self.b = Sink(port, "b_valid", "b_ready", B)
        self.r = Sink(port, "r_valid", "r_ready", R)
        super().__init__([self.aw, self.w, self.ar, self.b, self.r])

    def write(self, request: Request, beats: list[Beat]) -> None:
        self.aw.queue.append(request)
        self.w.queue.extend(beats)

    def read(self, request: Request) -> None:
        self.ar.queue.append(request)


class Memory(Channels):
    """A subordinate: answers at random, in the order of the requests, and keeps requests and answers."""

    def __init__(self, port: Side) -> None:
        self.aw = Sink(port, "aw_valid", "aw_ready", AW)
        self.w = Sink(port, "w_valid", "w_ready", W)
        self.ar = Sink(port, "ar_valid", "ar_ready", AR)
        self.b = Source(port, "b_valid", "b_ready", B)
        self.r = Source(port, "r_valid", "r_ready", R)
        order = WriteOrder(self.aw, self.w, port.w_last)
        super().__init__([self.aw, self.w, self.ar, self.b, self.r, order])
        self.open: deque[Request] = deque()
        self.beats: list[Beat] = []
        self.forget()

    def forget(self) -> None:
        self.writes: list[Write] = []
        self.reads: list[Request] = []
        self.confirmed: list[tuple[int, ...]] = []
        self.answered: list[tuple[int, ...]] = []

    def sample(self) -> None:
        super().sample()
        self.open.extend(self.aw.taken)
        self.aw.taken.clear()
        while self.w.taken and self.open:
            self.beats.append(self.w.taken.popleft())
            if self.beats[-1][-1]:
                request = self.open.popleft()
                self.writes.append((request, self.beats))
                self.beats = []
                self.confirmed.append((request[0], random.choice([OKAY, SLVERR, DECERR])))
                self.b.queue.append(self.confirmed[-1])
        for request in self.ar.taken:
            self.reads.append(request)
            for beat in range(request[2] + 1):
                answer = (random.getrandbits(64), random.choice([OKAY, SLVERR]), int(beat == request[2]))
                self.answered.append((request[0], *answer))
                self.r.queue.append(self.answered[-1])
        self.ar.taken.clear()

    def writes_of(self, id_: int) -> list[Write]:
        """Writes with an id."""
        return [(request, beats) for request, beats in self.writes if request[0] == id_]

    def of(self, number: int) -> tuple[list[Write], list[Request], list[Beat], list[Beat]]:
        """Writes, reads, and the responses to both, of one manager of a multiplexer, with the ids that it knows."""
        mask = (1 << ID_BITS) - 1
        own = lambda access: (access[0] & mask, *access[1:])  # noqa: E731
        is_its = lambda access: access[0] >> ID_BITS == number  # noqa: E731
        writes = [(own(request), beats) for request, beats in self.writes if is_its(request)]
        others = (self.reads, self.confirmed, self.answered)
        reads, confirmed, answered = ([own(one) for one in some if is_its(one)] for some in others)
        return writes, reads, confirmed, answered


def random_beats(count: int) -> list[Beat]:
    ends = [0] * (count - 1) + [1]
    return [(random.getrandbits(64), random.getrandbits(8), end) for end in ends]
