"""`boot_sequencer` on its bus: one decision, and an error for every other access."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject

from axi_lite import OKAY, SLVERR, Manager
from sequencer_bench import DECISION, ERROR, HELD, ILLEGAL, NEAR, NEAR_STOP, PINS, REASON, REFUSE
from sequencer_bench import REFUSED, RELEASE, RELEASED, STATUS, STOP, STOPPED, TRAP, HostPins

WINDOW = 0x1000


class Sequencer(HostPins):
    """With the register port, which stalls on all channels."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, ["fault_i"])
        self.bus = Manager(dut, "axil", stalls)

    async def write(self, address: int, data: int, strobe: int = 0xF) -> int:
        return (await self.bus.writes([(address, data)], strobe))[0]

    async def read(self, address: int) -> tuple[int, int]:
        return (await self.bus.reads([address]))[0]

    async def settled(self) -> tuple[int, int, int]:
        """The pins when all has settled."""
        await self.tick(3)
        return self.pins()


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def holds_the_host_until_it_is_released(dut: HierarchyObject, stalls: float) -> None:
    sequencer = await Sequencer.started(dut, stalls)
    assert await sequencer.settled() == (0, 0, HELD)
    assert await sequencer.write(REASON, 17) == OKAY
    assert await sequencer.settled() == (0, 0, HELD)
    assert await sequencer.write(DECISION, RELEASE) == OKAY
    assert await sequencer.settled() == (1, 0, RELEASED)
    assert await sequencer.read(STATUS) == (RELEASED, OKAY)
    assert await sequencer.read(REASON) == (17, OKAY)
    assert int(dut.reason_o.value) == 17


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def the_first_decision_is_the_last(dut: HierarchyObject, stalls: float) -> None:
    sequencer = await Sequencer.started(dut, stalls)
    for word, pins in PINS.items():
        await sequencer.reset()
        assert await sequencer.settled() == (0, 0, HELD)
        assert await sequencer.write(REASON, word & 0xFFF) == OKAY
        assert await sequencer.write(DECISION, word) == OKAY
        assert await sequencer.settled() == pins
        for again in PINS:
            assert await sequencer.write(DECISION, again) == SLVERR
            assert await sequencer.write(REASON, 1) == SLVERR
        assert await sequencer.settled() == pins
        assert await sequencer.read(REASON) == (word & 0xFFF, OKAY)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.3])
async def of_writes_after_each_other_the_first_decides(dut: HierarchyObject, stalls: float) -> None:
    sequencer = await Sequencer.started(dut, stalls)
    for word, pins in PINS.items():
        await sequencer.reset()
        others = [(DECISION, other) for other in PINS]
        random.shuffle(others)
        writes = [(REASON, 5), (REASON, 6), (DECISION, word), *others, (REASON, 7), (STATUS, 0)]
        responses = await sequencer.bus.writes(writes)
        assert responses == [OKAY] * 3 + [SLVERR] * 5
        assert await sequencer.settled() == pins
        assert await sequencer.read(REASON) == (6, OKAY)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.3])
async def an_error_is_that_of_its_own_access(dut: HierarchyObject, stalls: float) -> None:
    sequencer = await Sequencer.started(dut, stalls)
    assert await sequencer.write(REASON, 9) == OKAY
    assert await sequencer.write(DECISION, REFUSE) == OKAY
    # Refused writes and unrelated reads, on both channels at once.
    reading = cocotb.start_soon(sequencer.bus.reads([REASON, STATUS, DECISION] * 20))
    responses = await sequencer.bus.writes([(DECISION, RELEASE)] * 20)
    assert responses == [SLVERR] * 20
    assert await reading == [(9, OKAY), (REFUSED, OKAY), (0, SLVERR)] * 20


@cocotb.test()
async def no_other_word_releases(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    for word in [0, 0xFFFF_FFFF, REFUSE, *NEAR, *NEAR_STOP, *(random.getrandbits(32) for _ in range(50))]:
        await sequencer.reset()
        assert await sequencer.write(DECISION, word) == OKAY
        assert await sequencer.settled() == (0, 0, REFUSED), hex(word)


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.5])
async def a_stop_ends_every_decision(dut: HierarchyObject, stalls: float) -> None:
    sequencer = await Sequencer.started(dut, stalls)
    for word in (None, *PINS):
        await sequencer.reset()
        assert await sequencer.write(REASON, 909) == OKAY
        if word is not None:
            assert await sequencer.write(DECISION, word) == OKAY
            # Not by a word that is close to it, and not by a part of it.
            for near in NEAR_STOP:
                assert await sequencer.write(DECISION, near) == SLVERR
            assert await sequencer.write(DECISION, STOP, 0x7) == SLVERR
            assert await sequencer.settled() == PINS[word]
        stopped = (0, int(word == TRAP), STOPPED)
        assert await sequencer.write(DECISION, STOP) == OKAY
        assert await sequencer.settled() == stopped
        for again in (*PINS, STOP):
            assert await sequencer.write(DECISION, again) == SLVERR
            assert await sequencer.write(REASON, 1) == SLVERR
        assert await sequencer.settled() == stopped
        assert await sequencer.read(REASON) == (909, OKAY)


@cocotb.test()
async def a_fault_of_the_core_holds_the_host(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    for word in (None, *PINS, STOP):
        await sequencer.reset()
        if word is not None:
            assert await sequencer.write(DECISION, word) == OKAY
        await sequencer.tick(3)
        dut.fault_i.value = 1
        await sequencer.tick()
        dut.fault_i.value = 0
        assert await sequencer.settled() == (0, int(word == TRAP), ERROR)
        assert await sequencer.write(DECISION, RELEASE) == SLVERR
        assert await sequencer.settled() == (0, int(word == TRAP), ERROR)


@cocotb.test()
async def half_a_word_is_no_decision(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    for strobe in range(0xF):
        for word in (*PINS, STOP):
            assert await sequencer.write(DECISION, word, strobe) == SLVERR
        assert await sequencer.write(REASON, 0xFFFF_FFFF, strobe) == SLVERR
    assert await sequencer.settled() == (0, 0, HELD)
    assert await sequencer.read(REASON) == (0, OKAY)
    assert await sequencer.write(DECISION, TRAP) == OKAY


@cocotb.test()
async def every_other_address_is_an_error(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    assert await sequencer.write(REASON, 0x1234) == OKAY
    known = {REASON: 0x1234, STATUS: HELD}
    # Unaligned addresses as well: they select no register.
    inside = [word + byte for word in (DECISION, REASON, STATUS) for byte in (1, 2, 3)]
    addresses = [*range(0, WINDOW, 4), *inside]
    reads = await sequencer.bus.reads(addresses)
    for address, answer in zip(addresses, reads, strict=True):
        expected = (known[address], OKAY) if address in known else (0, SLVERR)
        assert answer == expected, f"read of {address:#x}"
    others = [address for address in addresses if address not in (DECISION, REASON)]
    responses = await sequencer.bus.writes([(address, RELEASE) for address in others])
    assert set(responses) == {SLVERR}
    assert await sequencer.settled() == (0, 0, HELD)
    assert await sequencer.read(REASON) == (0x1234, OKAY)


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    for code in ILLEGAL:
        await sequencer.reset()
        dut.u_core.u_state.u_flop.value_q.value = code
        assert await sequencer.settled() == (0, 0, ERROR), f"{code:06b}"
        assert await sequencer.write(DECISION, RELEASE) == SLVERR
        assert await sequencer.write(REASON, 1) == SLVERR
        assert await sequencer.settled() == (0, 0, ERROR), f"{code:06b}"
        assert await sequencer.read(STATUS) == (ERROR, OKAY)
        assert await sequencer.read(REASON) == (0, OKAY)


@cocotb.test()
async def a_reset_in_the_middle_leaves_nothing(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    for cycles in range(6):
        await sequencer.reset()
        assert await sequencer.write(DECISION, RELEASE) == OKAY
        # A refused write whose response is not taken, interrupted by a reset.
        fields = {"aw_valid": 1, "aw_addr": DECISION, "w_valid": 1, "w_data": TRAP, "w_strb": 0xF}
        for name, value in fields.items():
            sequencer.bus.field(name).value = value
        await sequencer.tick(cycles)
        for name in ("aw_valid", "w_valid"):
            sequencer.bus.field(name).value = 0
        await sequencer.reset()
        assert sequencer.pins() == (0, 0, HELD)
        assert await sequencer.write(REASON, 3) == OKAY
        assert await sequencer.write(DECISION, TRAP) == OKAY
        assert await sequencer.settled() == PINS[TRAP]


@cocotb.test()
async def a_read_takes_two_cycles_whatever_it_finds(dut: HierarchyObject) -> None:
    sequencer = await Sequencer.started(dut)
    times = set()
    for word in (None, *PINS):
        await sequencer.reset()
        if word is not None:
            assert await sequencer.write(DECISION, word) == OKAY
        for address in (DECISION, REASON, STATUS, 0x40):
            times.add(await sequencer.bus.read_cycles(address))
    assert times == {2}, f"time of a read depends on what it finds: {sorted(times)}"
