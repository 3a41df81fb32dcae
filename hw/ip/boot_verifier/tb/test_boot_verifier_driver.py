"""The sequence of a driver: what it writes, streams and reads, and what it makes of an engine that refuses or fails."""

from __future__ import annotations

import pathlib
import random

import cocotb
import registers
from axi_bundles import side
from handshakes import STALLS, Bench, Part, Sink, Source, WriteOrder, chance

XMSS = pathlib.Path(__file__).resolve().parents[2] / "xmss/tb/test_xmss.py"
AT = registers.Registers("xmss", str(XMSS)).offsets("XMSS")
OKAY, SLVERR = 0, 2
IDLE, DONE, FAILED = 1, 4, 8
STREAM, TWO_PASSES = 1, 2
LEAF_INDEX = 4
INPUTS = ["key_valid_i", "key_index_i", "key_i", "start_i", "sig_valid_i", "sig_data_i", "sig_last_i", "sig_bytes_i"]
INPUTS += ["msg_valid_i", "msg_data_i", "msg_last_i", "msg_bytes_i", "str_ready_i"]
STATES = [0x31, 0x52, 0x63, 0x64, 0x55, 0x36, 0x07, 0x78, 0x49, 0x2A, 0x1B, 0x1C, 0x2D, 0x4E]
ERROR = 0x4E


class Engine(Part):
    """Registers and stream of an engine, as its page of registers has them."""

    def __init__(self, dut) -> None:
        self.dut = dut
        port = side(dut, "axil", is_manager=False, is_lite=True)
        self.aw = Sink(port, "aw_valid", "aw_ready", ["aw_addr"])
        self.w = Sink(port, "w_valid", "w_ready", ["w_data"])
        self.b = Source(port, "b_valid", "b_ready", ["b_resp"])
        self.ar = Sink(port, "ar_valid", "ar_ready", ["ar_addr"])
        self.r = Source(port, "r_valid", "r_ready", ["r_data", "r_resp"])
        self.stream = Sink(dut, "str_valid_o", "str_ready_i", ["str_data_o", "str_last_o", "str_bytes_o"])
        self.order = WriteOrder(self.aw, self.w)
        self.parts = [self.aw, self.w, self.b, self.ar, self.r, self.stream, self.order]
        self.writes: list[tuple[int, int]] = []
        self.reads: list[int] = []
        self.looks = random.randint(0, 5)  # at the status before it is idle, and before it is done
        self.verdict, self.reason = random.getrandbits(64), 0
        # The number of an access, from 0, that is refused; and whether it has failed.
        self.refused: int | None = None
        self.has_failed = False
        self.ends = 0  # of signature and message

    def drive(self) -> None:
        for part in self.parts:
            part.drive()

    def accesses(self) -> int:
        return len(self.writes) + len(self.reads)

    def response(self) -> int:
        return SLVERR if self.accesses() - 1 == self.refused else OKAY

    def status(self) -> int:
        self.looks -= 1
        if self.has_failed:
            return FAILED
        if self.looks >= 0:
            return 0
        self.looks = random.randint(0, 5)
        return DONE if self.ends == 2 else IDLE

    def value(self, address: int) -> int:
        if address == AT["status"]:
            return self.status()
        values = {AT["reason"]: self.reason, AT["verdict"]: self.verdict & 0xFFFFFFFF, AT["verdict"] + 4: self.verdict >> 32}
        assert address in values, f"a read at {address:#x}"
        return values[address]

    def sample(self) -> None:
        for part in self.parts:
            part.sample()
        if self.aw.taken and self.w.taken:
            self.writes.append((self.aw.taken.popleft()[0], self.w.taken.popleft()[0]))
            self.b.queue.append((self.response(),))
        if self.ar.taken:
            address = self.ar.taken.popleft()[0]
            self.reads.append(address)
            self.r.queue.append((self.value(address), self.response()))
        self.ends = sum(beat[1] for beat in self.stream.taken)
        assert not self.stream.taken or (AT["command"], 1) in self.writes, "a word before the start"


class Unit(Part):
    """Gives key, start, signature and message, as `boot_verifier_engine` does."""

    def __init__(self, dut, key: list[int], signature: list[int], message: list[int]) -> None:
        self.dut = dut
        self.key = Source(dut, "key_valid_i", "key_ready_o", ["key_index_i", "key_i"])
        names = ["data_i", "last_i", "bytes_i"]
        self.sig = Source(dut, "sig_valid_i", "sig_ready_o", [f"sig_{name}" for name in names])
        self.msg = Source(dut, "msg_valid_i", "msg_ready_o", [f"msg_{name}" for name in names])
        self.key.queue.extend(enumerate(key))
        self.signature = self.beats(signature, 4)
        self.message = self.beats(message, 8)
        self.has_started = self.starts = False

    @staticmethod
    def beats(words: list[int], last_bytes: int) -> list[tuple[int, int, int]]:
        last = len(words) - 1
        return [(word, int(at == last), last_bytes if at == last else 8) for at, word in enumerate(words)]

    def drive(self) -> None:
        self.starts = not self.key.queue and not self.has_started and chance(0.5)
        self.dut.start_i.value = int(self.starts)
        for source in [self.key, self.sig, self.msg]:
            source.drive()

    def sample(self) -> None:
        for source in [self.key, self.sig, self.msg]:
            source.sample()
        if self.starts:
            self.has_started = True
            self.sig.queue.extend(self.signature)
        if self.has_started and len(self.sig.taken) == len(self.signature) and not self.msg.taken and not self.msg.queue:
            self.msg.queue.extend(self.message)


class Setup:
    def __init__(self, dut) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)

    async def start(self) -> None:
        words = lambda count, bits: [random.getrandbits(bits) for _ in range(count)]  # noqa: E731
        self.key, self.signature, self.message = words(16, 32), words(9, 64), words(random.randint(1, 12), 64)
        self.engine = Engine(self.dut)
        self.unit = Unit(self.dut, self.key, self.signature, self.message)
        if self.bench.cycle == 0:
            await self.bench.start_clock()
        else:
            self.bench.clear_inputs()
            await self.bench.reset()
        self.bench.parts = [self.engine, self.unit]

    def stall(self) -> None:
        channels = [part for part in self.engine.parts if hasattr(part, "stalls")]
        for channel in [*channels, self.unit.key, self.unit.sig, self.unit.msg]:
            channel.stalls = random.choice(STALLS[:3])
        self.engine.order.choose()

    async def run(self) -> bool:
        """Until the end: whether it is one without an error."""
        dut = self.dut
        await self.bench.run(lambda: dut.done_o.value == 1 or dut.error_o.value == 1, 6000)
        return dut.error_o.value == 0


@cocotb.test()
async def does_what_a_driver_does(dut):
    setup = Setup(dut)
    passes = TWO_PASSES if int(dut.TwoPasses.value) else 0
    for number in range(12):
        await setup.start()
        if number:
            setup.stall()
        assert await setup.run()
        engine = setup.engine
        code = int(dut.Code.value)
        swapped = [int.from_bytes(word.to_bytes(4, "big"), "little") for word in setup.key]
        expected = [(AT["control"], STREAM | passes), (AT["expected_type"], code), (AT["key_type"], code)]
        expected += [(AT["key"] + 4 * at, word) for at, word in enumerate(swapped)]
        assert engine.writes == [*expected, (AT["command"], 1)]
        assert engine.reads[0] == AT["status"], "it does not wait for an idle engine"
        assert engine.reads[-3:] == [AT["reason"], AT["verdict"], AT["verdict"] + 4]
        assert list(engine.stream.taken) == setup.unit.signature + setup.unit.message
        assert int(dut.verdict_o.value) == engine.verdict
        assert dut.index_o.value == 0


@cocotb.test()
async def shows_the_verdict_at_the_end_alone(dut):
    setup = Setup(dut)
    await setup.start()
    setup.engine.verdict = (1 << 64) - 1
    seen = []
    await setup.bench.run(lambda: seen.append(int(dut.verdict_o.value)) or dut.done_o.value == 1, 6000)
    assert set(seen[:-1]) == {0} and seen[-1] == setup.engine.verdict


@cocotb.test()
async def tells_a_refused_index(dut):
    setup = Setup(dut)
    for reason in range(10):
        await setup.start()
        setup.engine.reason, setup.engine.verdict = reason, 0
        assert await setup.run()
        assert dut.index_o.value == int(reason == LEAF_INDEX)


@cocotb.test()
async def a_refused_access_ends_it_without_a_verdict(dut):
    """Every access, with an engine that would give a verdict."""
    setup = Setup(dut)
    await setup.start()
    setup.engine.looks = 0
    assert await setup.run()
    count = setup.engine.accesses()
    for number in range(count):
        await setup.start()
        setup.engine.looks, setup.engine.refused = 0, number
        is_whole = await setup.run()
        # How often the status is read before the end is another number each time.
        if setup.engine.accesses() <= number:
            continue
        assert not is_whole, f"access {number} was refused"
        await setup.bench.cycles(20)
        assert (dut.done_o.value, dut.error_o.value, int(dut.verdict_o.value)) == (0, 1, 0)


@cocotb.test()
async def an_engine_that_has_failed_is_an_error(dut):
    setup = Setup(dut)
    for late in [False, True]:
        await setup.start()
        engine = setup.engine
        engine.has_failed = not late
        if late:
            await setup.bench.run(lambda: engine.ends == 2, 6000)
            engine.has_failed = True
        assert not await setup.run()
        assert int(dut.verdict_o.value) == 0


@cocotb.test()
async def is_quiet_for_good_at_the_end(dut):
    setup = Setup(dut)
    await setup.start()
    assert await setup.run()
    before = len(setup.engine.writes), len(setup.engine.reads)
    setup.unit.key.queue.append((0, 0))
    setup.unit.sig.queue.append((0, 1, 8))
    await setup.bench.cycles(200)
    assert (len(setup.engine.writes), len(setup.engine.reads)) == before
    assert dut.quiet_o.value == 1 and dut.done_o.value == 1


@cocotb.test()
async def an_illegal_state_ends_in_an_error(dut):
    setup = Setup(dut)
    for code in range(128):
        if code in STATES:
            continue
        await setup.start()
        setup.engine.verdict = (1 << 64) - 1
        await setup.bench.cycles(random.randint(1, 60))
        dut.u_state.u_flop.value_q.value = code
        await setup.bench.cycles(3)
        assert int(dut.u_state.u_flop.value_q.value) == ERROR and dut.error_o.value == 1, f"{code:#x}"
        await setup.bench.cycles(60)
        assert (dut.error_o.value, dut.done_o.value, int(dut.verdict_o.value)) == (1, 0, 0), f"{code:#x}"
