"""A manager and a subordinate that use all channels of a port that is a pair of bundles (axi_bundles.py)."""

from __future__ import annotations

import random
from collections import deque

from axi_bundles import PAYLOAD, Side, side, vector
from handshakes import Part, Sink, Source, WriteOrder

__all__ = ["Side", "side", "vector"]

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
