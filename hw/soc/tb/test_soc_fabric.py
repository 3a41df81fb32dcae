"""`soc_fabric`: who reaches what, before and after the host is released."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import STALLS, Bench, Sink, Source, WriteOrder
from axi_parts import DECERR, ID_BITS, OKAY, SLVERR, Channels, Manager, Memory, Request, Write
from axi_parts import random_beats, side

MANAGERS = ["rot", "host", "storage", "mmio"]
SUBORDINATES = ["mem", "front", "devices"]
INPUTS = ["is_released_i", *(f"{name}_axi_i" for name in MANAGERS), "mailbox_axil_i"]
INPUTS += [f"{name}_axi_i" for name in SUBORDINATES]
# Of soc_fabric.sv.
MAILBOX = 0x1500_0000
GUARD = 0x1500_1000
PAGES = [MAILBOX - 0x1000, MAILBOX, MAILBOX, GUARD + 0x1000, 0x1100_0000]
# Of axi_guard.rdl.
LOCK, REFUSED, FIRST_PAGE, LAST_PAGE = 0x04, 0x08, 0x20, 0x30
# At a multiplexer: the host or the storage is manager 0, the root of trust manager 1.
FIRST, ROT = 0, 1
NUMBER = 8


class Registers(Channels):
    """The mailbox: answers each access, and keeps its address and data."""

    def __init__(self, dut: HierarchyObject) -> None:
        port = side(dut, "mailbox_axil", is_manager=False, is_lite=True)
        self.aw = Sink(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Sink(port, "w_valid", "w_ready", ["w_data", "w_strb"])
        self.ar = Sink(port, "ar_valid", "ar_ready", ["ar_addr"])
        self.b = Source(port, "b_valid", "b_ready", ["b_resp"])
        self.r = Source(port, "r_valid", "r_ready", ["r_data", "r_resp"])
        super().__init__([self.aw, self.w, self.ar, self.b, self.r, WriteOrder(self.aw, self.w)])
        self.writes: list[tuple[int, ...]] = []
        self.reads: list[tuple[int, int]] = []

    def sample(self) -> None:
        super().sample()
        if self.aw.taken and self.w.taken:
            self.writes.append((*self.aw.taken.popleft(), *self.w.taken.popleft()))
            self.b.queue.append((OKAY,))
        if self.ar.taken:
            data = random.getrandbits(32)
            self.reads.append((*self.ar.taken.popleft(), data))
            self.r.queue.append((data, OKAY))


class RootOfTrust(Manager):
    """Words, one at a time (core_to_axi)."""

    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(side(dut, "rot_axi", is_manager=True))
        self.waiting: deque[Request | Write] = deque()
        self.sent = 0

    def drive(self) -> None:
        if self.waiting and len(self.b.taken) + len(self.r.taken) == self.sent:
            access = self.waiting.popleft()
            self.sent += 1
            if isinstance(access[1], list):
                self.write(access[0], access[1])
            else:
                self.read(access)
        super().drive()


def word(address: int) -> Request:
    return (0, address, 0, 2, 1)


def random_request() -> Request:
    return (random.getrandbits(ID_BITS), random.getrandbits(32), random.choice([0, 3, 7]), 3, 1)


def line_request(address: int) -> Request:
    """What the storage asks for: a part of a line, which is in one page."""
    return (random.getrandbits(ID_BITS), address & ~63, random.choice([0, 3, 7]), 3, 1)


class Setup:
    """The fabric with all of its managers and subordinates."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)
        self.rot = RootOfTrust(dut)
        self.host, self.storage, self.mmio = (
            Manager(side(dut, f"{name}_axi", is_manager=True)) for name in MANAGERS[1:]
        )
        self.mem, self.front, self.devices = (
            Memory(side(dut, f"{name}_axi", is_manager=False)) for name in SUBORDINATES
        )
        self.mailbox = Registers(dut)
        self.managers = [self.rot, self.host, self.storage, self.mmio]
        self.parts = [*self.managers, self.mem, self.front, self.devices, self.mailbox]

    async def start(self) -> None:
        await self.bench.start(*self.parts)
        # Nothing is offered in the cycle in which reset ends (AMBA AXI §A3.1.2).
        await self.bench.cycles(1)

    def stall(self) -> None:
        for part in self.parts:
            part.stall(STALLS)

    async def answered(self, counts: list[tuple[int, int]]) -> None:
        """Runs until each manager has so many confirmations, and so many beats."""
        is_done = lambda: all(  # noqa: E731
            (len(manager.b.taken), len(manager.r.taken)) == count
            for manager, count in zip(self.managers, counts)
        )
        await self.bench.run(is_done, 20000)

    async def guard_write(self, offset: int, value: int) -> None:
        """The host writes a register of the guard."""
        strobes = 0xF << (offset & 4)
        self.mmio.write(word(GUARD + offset), [(value << 8 * (offset & 4), strobes, 1)])
        await self.answered([(0, 0)] * 3 + [(1, 0)])
        assert self.taken(self.mmio) == ([(0, OKAY)], [])

    async def guard_read(self, offset: int) -> int:
        self.mmio.read(word(GUARD + offset))
        await self.answered([(0, 0)] * 3 + [(0, 1)])
        _, [(_, data, response, _)] = self.taken(self.mmio)
        assert response == OKAY
        return data >> 8 * (offset & 4) & 0xFFFF_FFFF

    async def close(self, ranges: list[tuple[int, int]]) -> None:
        """Closes ranges of pages to the storage, and opens everything else."""
        for index, (first, last) in enumerate(ranges):
            await self.guard_write(FIRST_PAGE + 4 * index, first << 12)
            await self.guard_write(LAST_PAGE + 4 * index, last << 12)
        await self.guard_write(LOCK, 1)

    def taken(self, manager: Manager) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        taken = list(manager.b.taken), list(manager.r.taken)
        manager.b.taken.clear()
        manager.r.taken.clear()
        return taken


async def memory_round(setup: Setup, is_released: bool) -> None:
    """All three managers of memory at once; the root of trust takes the path that the release selects."""
    setup.stall()
    setup.mem.forget()
    setup.front.forget()
    setup.rot.sent = 0
    writes: dict[str, list[Write]] = {"host": [], "storage": []}
    reads: dict[str, list[Request]] = {"host": [], "storage": []}
    any_line = lambda: line_request(random.getrandbits(32))  # noqa: E731
    for name, manager, request_of in (
        ("host", setup.host, random_request),
        ("storage", setup.storage, any_line),
    ):
        for _ in range(NUMBER):
            request = request_of()
            writes[name].append((request, random_beats(request[2] + 1)))
            manager.write(*writes[name][-1])
            reads[name].append(request_of())
            manager.read(reads[name][-1])
    rot_writes = [(word(random.getrandbits(32)), random_beats(1)) for _ in range(NUMBER)]
    rot_reads = [word(random.getrandbits(32)) for _ in range(NUMBER)]
    for write, read in zip(rot_writes, rot_reads):
        setup.rot.waiting.extend([write, read])
    beats = {name: sum(request[2] + 1 for request in some) for name, some in reads.items()}
    await setup.answered(
        [(NUMBER, NUMBER), (NUMBER, beats["host"]), (NUMBER, beats["storage"]), (0, 0)]
    )
    assert setup.mem.of(FIRST) == (writes["host"], reads["host"], *setup.taken(setup.host))
    assert setup.front.of(FIRST) == (
        writes["storage"],
        reads["storage"],
        *setup.taken(setup.storage),
    )
    way, other = (setup.front, setup.mem) if is_released else (setup.mem, setup.front)
    assert way.of(ROT) == (rot_writes, rot_reads, *setup.taken(setup.rot))
    assert other.of(ROT) == ([], [], [], [])


@cocotb.test()
async def the_release_selects_the_path_of_the_root_of_trust(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    await setup.close([])
    for is_released in (False, True):
        dut.is_released_i.value = int(is_released)
        for _ in range(4):
            await memory_round(setup, is_released)


@cocotb.test()
async def one_page_of_the_devices_is_the_mailbox(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    # A word of each page first, then bursts as well.
    words = [(page, 0, 2) for page in PAGES]
    mixed = [(random.choice(PAGES), *random.choice([(0, 2), (3, 3)])) for _ in range(60)]
    for page, length, size in words + mixed:
        setup.stall()
        setup.devices.forget()
        setup.mailbox.writes.clear()
        setup.mailbox.reads.clear()
        address = page + 4 * random.randrange(1024)
        number = random.getrandbits(ID_BITS)
        request, beats = (number, address, length, size, 1), random_beats(length + 1)
        setup.mmio.write(request, beats)
        setup.mmio.read(request)
        await setup.answered([(0, 0)] * 3 + [(1, length + 1)])
        confirmed, answered = setup.taken(setup.mmio)
        is_mailbox, offset = page == MAILBOX, address & 0xFFF
        if not is_mailbox:
            assert (setup.devices.writes, setup.devices.reads) == ([(request, beats)], [request])
            assert (setup.devices.confirmed, setup.devices.answered) == (confirmed, answered)
            assert not setup.mailbox.writes and not setup.mailbox.reads
            continue
        assert not setup.devices.writes and not setup.devices.reads
        if length:
            # A burst: no register gets it.
            assert not setup.mailbox.writes and not setup.mailbox.reads
            assert confirmed == [(number, SLVERR)]
            assert {beat[1:3] for beat in answered} == {(0, SLVERR)}
            continue
        ((data, strobes, _),), shift = beats, 8 * (address & 4)
        lane = (data >> shift & 0xFFFF_FFFF, strobes >> shift // 8 & 0xF)
        assert setup.mailbox.writes == [(offset, *lane)]
        ((read, value),) = setup.mailbox.reads
        assert read == offset
        assert confirmed == [(number, OKAY)]
        assert answered == [(number, value << 32 | value, OKAY, 1)]


@cocotb.test()
async def the_storage_reaches_no_closed_page(dut: HierarchyObject) -> None:
    setup = Setup(dut)
    await setup.start()
    ranges = [(0x80000, 0x800FF), (0x90010, 0x90010), (0xA0000, 0xBFFFF), (0xFFFFF, 0xFFFFF)]
    edges = [page + step for pages in ranges for page in pages for step in (-1, 0, 1)]
    is_closed = lambda page: any(first <= page <= last for first, last in ranges)  # noqa: E731
    # Before the lock nothing passes, whatever the ranges are.
    for is_locked in (False, True):
        if is_locked:
            await setup.close(ranges)
            # Too late.
            await setup.guard_write(FIRST_PAGE, 0xFFFFF << 12)
        for page in edges:
            address = (page << 12) + random.choice([0, 64 * random.randrange(64), 0xFC0])
            setup.stall()
            setup.front.forget()
            request = line_request(address & 0xFFFF_FFFF)
            beats = random_beats(request[2] + 1)
            setup.storage.write(request, beats)
            setup.storage.read(request)
            await setup.answered([(0, 0), (0, 0), (1, request[2] + 1), (0, 0)])
            confirmed, answered = setup.taken(setup.storage)
            refused = not is_locked or is_closed(page & 0xFFFFF)
            if refused:
                assert setup.front.of(FIRST) == ([], [], [], [])
                assert confirmed == [(request[0], DECERR)]
                assert {(beat[0], beat[2]) for beat in answered} == {(request[0], DECERR)}
            else:
                assert setup.front.of(FIRST) == ([(request, beats)], [request], confirmed, answered)
            assert await setup.guard_read(REFUSED) == (3 if refused else 0)
            await setup.guard_write(REFUSED, 3)
