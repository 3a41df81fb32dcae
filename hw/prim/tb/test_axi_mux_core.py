"""`axi_mux_core` between masters with bursts and a slave that answers in any order that AXI allows."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import ORDERS, STALLS, Bench, Part, Sink, Source, WriteOrder, bit, chance

VECTORS = ["aw_valid_i", "aw_id_i", "aw_payload_i", "w_valid_i", "w_data_i", "w_strb_i", "w_last_i"]
VECTORS += ["b_ready_i", "ar_valid_i", "ar_id_i", "ar_payload_i", "r_ready_i"]
SLAVE = ["slave_aw_ready_i", "slave_w_ready_i", "slave_b_valid_i", "slave_b_id_i"]
SLAVE += ["slave_ar_ready_i", "slave_r_valid_i", "slave_r_id_i"]


@dataclass
class Burst:
    """Of a master: payload says how many beats, as `len` of AXI would."""

    id: int
    payload: int
    data: list[int]


@dataclass
class Channel:
    """Requests of a master on one channel."""

    queue: deque[tuple[int, ...]] = field(default_factory=deque)
    is_offering: bool = False


class Masters(Part):
    """All masters: their ports are lanes of the same vectors."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.count = int(dut.NumMasters.value)
        self.id_bits = int(dut.IdBits.value)
        self.widths = {
            "aw_id_i": self.id_bits,
            "ar_id_i": self.id_bits,
            "aw_payload_i": int(dut.PayloadBits.value),
            "ar_payload_i": int(dut.PayloadBits.value),
            "w_data_i": int(dut.DataBits.value),
            "w_strb_i": int(dut.DataBits.value) // 8,
        }
        self.stalls = [0.0] * self.count
        names = {"aw": ["aw_id_i", "aw_payload_i"], "ar": ["ar_id_i", "ar_payload_i"]}
        self.payloads = names | {"w": ["w_data_i", "w_strb_i", "w_last_i"]}
        self.channels = {name: [Channel() for _ in range(self.count)] for name in self.payloads}
        self.ready = {"b": 0, "r": 0}
        # Ids of responses that each master took.
        self.taken: dict[str, list[list[int]]] = {
            name: [[] for _ in range(self.count)] for name in ("b", "r")
        }

    def drive(self) -> None:
        lanes = dict.fromkeys(VECTORS, 0)
        for name, masters in self.channels.items():
            for master, channel in enumerate(masters):
                if not channel.is_offering and channel.queue:
                    channel.is_offering = not chance(self.stalls[master])
                lanes[f"{name}_valid_i"] |= channel.is_offering << master
                values = channel.queue[0] if channel.is_offering else ()
                for port, value in zip(self.payloads[name], values):
                    lanes[port] |= value << self.widths.get(port, 1) * master
        for name in self.ready:
            ready = sum(1 << m for m in range(self.count) if not chance(self.stalls[m]))
            self.ready[name] = lanes[f"{name}_ready_i"] = ready
        for port, value in lanes.items():
            getattr(self.dut, port).value = value

    def sample(self) -> None:
        for name, masters in self.channels.items():
            for master, channel in enumerate(masters):
                if channel.is_offering and bit(getattr(self.dut, f"{name}_ready_o"), master):
                    channel.queue.popleft()
                    channel.is_offering = False
        for name in self.taken:
            valid = int(getattr(self.dut, f"{name}_valid_o").value)
            assert valid.bit_count() <= 1
            for master in range(self.count):
                if valid >> master & 1 and self.ready[name] >> master & 1:
                    number = int(getattr(self.dut, f"{name}_id_o").value)
                    self.taken[name][master].append(number)

    def write(self, master: int, burst: Burst) -> None:
        self.channels["aw"][master].queue.append((burst.id, burst.payload))
        for beat, data in enumerate(burst.data):
            last = int(beat + 1 == len(burst.data))
            self.channels["w"][master].queue.append((data, data & 0xFF, last))

    def read(self, master: int, burst: Burst) -> None:
        self.channels["ar"][master].queue.append((burst.id, burst.payload))


class Slave(Part):
    """Takes addresses and data, and answers ids in any order, each id's own in theirs."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.aw = Sink(dut, "slave_aw_valid_o", "slave_aw_ready_i", ["slave_aw_id_o", "slave_aw_payload_o"])
        beat = ["slave_w_data_o", "slave_w_strb_o", "slave_w_last_o"]
        self.w = Sink(dut, "slave_w_valid_o", "slave_w_ready_i", beat)
        self.ar = Sink(dut, "slave_ar_valid_o", "slave_ar_ready_i", ["slave_ar_id_o", "slave_ar_payload_o"])
        self.b = Source(dut, "slave_b_valid_i", "slave_b_ready_o", ["slave_b_id_i"])
        self.r = Source(dut, "slave_r_valid_i", "slave_r_ready_o", ["slave_r_id_i"])
        self.order = WriteOrder(self.aw, self.w, dut.slave_w_last_o)
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r, self.order]
        self.open: deque[tuple[int, int]] = deque()
        self.beats: list[int] = []
        # Data of whole bursts whose address has not been taken.
        self.early: deque[list[int]] = deque()
        # Whole bursts, in their order: id, payload, data.
        self.writes: list[tuple[int, int, list[int]]] = []
        self.reads: list[tuple[int, int]] = []
        self.pending: list[list[int]] = []

    def drive(self) -> None:
        if self.pending and not self.r.queue:
            read = random.choice(self.pending)
            # The oldest of its id.
            read = next(other for other in self.pending if other[0] == read[0])
            self.r.queue.append((read[0],))
            read[1] -= 1
            if read[1] == 0:
                self.pending.remove(read)
        for part in self.parts:
            part.drive()

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        self.open.extend(self.aw.taken)
        self.aw.taken.clear()
        for data, strobes, last in self.w.taken:
            assert strobes == data & 0xFF
            self.beats.append(data)
            if last:
                self.early.append(self.beats)
                self.beats = []
        self.w.taken.clear()
        while self.open and self.early:
            number, payload = self.open.popleft()
            self.writes.append((number, payload, self.early.popleft()))
            self.b.queue.append((number,))
        for number, payload in self.ar.taken:
            self.reads.append((number, payload))
            self.pending.append([number, beats_of(payload)])
        self.ar.taken.clear()


def beats_of(payload: int) -> int:
    return payload % 8 + 1


def random_burst(masters: Masters) -> Burst:
    payload = random.getrandbits(masters.widths["aw_payload_i"])
    data = [random.getrandbits(masters.widths["w_data_i"]) for _ in range(beats_of(payload))]
    return Burst(random.getrandbits(masters.id_bits), payload, data)


async def setup(dut: HierarchyObject) -> tuple[Bench, Masters, Slave]:
    bench, masters, slave = Bench(dut, VECTORS + SLAVE), Masters(dut), Slave(dut)
    await bench.start(masters, slave)
    return bench, masters, slave


@cocotb.test()
async def bursts_of_all_masters_arrive_whole(dut):
    bench, masters, slave = await setup(dut)
    for round_number in range(5 * len(ORDERS)):
        slave.order.order = ORDERS[round_number % len(ORDERS)]
        for master in range(masters.count):
            masters.stalls[master] = random.choice(STALLS)
        for part in slave.parts:
            part.stalls = random.choice(STALLS)
        slave.writes.clear()
        slave.reads.clear()
        writes = [[random_burst(masters) for _ in range(6)] for _ in range(masters.count)]
        reads = [[random_burst(masters) for _ in range(6)] for _ in range(masters.count)]
        for master in range(masters.count):
            masters.taken["b"][master].clear()
            masters.taken["r"][master].clear()
            for write, read in zip(writes[master], reads[master]):
                masters.write(master, write)
                masters.read(master, read)
        beats = [sum(beats_of(burst.payload) for burst in some) for some in reads]
        await bench.run(
            lambda: all(len(masters.taken["b"][m]) == 6 for m in range(masters.count))
            and all(len(masters.taken["r"][m]) == beats[m] for m in range(masters.count)),
            20000,
        )
        for master in range(masters.count):
            seen = [w for w in slave.writes if w[0] >> masters.id_bits == master]
            mask = (1 << masters.id_bits) - 1
            expected = [(burst.id, burst.payload, burst.data) for burst in writes[master]]
            assert [(number & mask, *rest) for number, *rest in seen] == expected
            seen = [r for r in slave.reads if r[0] >> masters.id_bits == master]
            expected = [(burst.id, burst.payload) for burst in reads[master]]
            assert [(number & mask, payload) for number, payload in seen] == expected
            assert masters.taken["b"][master] == [burst.id for burst in writes[master]]
            ids = [burst.id for burst in reads[master] for _ in range(beats_of(burst.payload))]
            assert sorted(masters.taken["r"][master]) == sorted(ids)


@cocotb.test()
async def masters_that_ask_all_the_time_take_turns(dut):
    bench, masters, slave = await setup(dut)
    for master in range(masters.count):
        for _ in range(8):
            # One beat each, so that they wait for addresses only.
            masters.read(master, Burst(master, 0, []))
            masters.write(master, Burst(master, 0, [1]))
    total = 8 * masters.count
    await bench.run(lambda: len(slave.reads) == total and len(slave.writes) == total)
    for seen in (slave.reads, slave.writes):
        turns = [access[0] >> masters.id_bits for access in seen]
        for start in range(0, total, masters.count):
            assert sorted(turns[start : start + masters.count]) == list(range(masters.count)), turns


@cocotb.test()
async def a_read_passes_without_losing_a_cycle(dut):
    bench, masters, slave = await setup(dut)
    masters.read(masters.count - 1, Burst(3, 0, []))
    start = bench.cycle
    await bench.run(lambda: len(slave.reads) == 1)
    assert bench.cycle - start == 1


@cocotb.test()
async def a_write_passes_without_losing_a_cycle(dut):
    bench, masters, slave = await setup(dut)
    masters.write(masters.count - 1, Burst(3, 0, [7]))
    start = bench.cycle
    await bench.run(lambda: len(slave.writes) == 1)
    assert bench.cycle - start == 1


@cocotb.test()
async def data_are_offered_to_a_slave_that_waits_for_them(dut):
    """One write for each order, with nothing else under way: it hangs if data wait for their address."""
    bench, masters, slave = await setup(dut)
    for order in ORDERS:
        slave.order.order = order
        slave.writes.clear()
        masters.write(0, Burst(1, 2, [4, 5, 6]))
        await bench.run(lambda: len(slave.writes) == 1, 20)
        await bench.cycles(4)
        assert slave.writes == [(1, 2, [4, 5, 6])]
