"""`boot_sequencer`: one decision, and no way to the host's release besides it."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge
from soc_bench import Bench, Part, Sink, Source

INPUTS = ["aw_valid_i", "aw_addr_i", "w_valid_i", "w_data_i", "w_strb_i", "b_ready_i", "ar_valid_i"]
INPUTS += ["ar_addr_i", "r_ready_i"]
DECISION, REASON, STATUS = 0x0, 0x4, 0x8
RELEASE, TRAP = 0x5A17_C3E1, 0xC36C_1D9A
HELD, RELEASED, REFUSED, TRAPPED, ERROR = range(5)
STATES = {0b001011: HELD, 0b010101: RELEASED, 0b011110: REFUSED, 0b100110: TRAPPED, 0b110011: ERROR}
OKAY, SLVERR = 0, 2


class Registers:
    """The register port, with stalls on all channels."""

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        self.dut = dut
        self.bench = Bench(dut, INPUTS)
        self.aw = Source(dut, "aw_valid_i", "aw_ready_o", ["aw_addr_i"])
        self.w = Source(dut, "w_valid_i", "w_ready_o", ["w_data_i", "w_strb_i"])
        self.ar = Source(dut, "ar_valid_i", "ar_ready_o", ["ar_addr_i"])
        self.b = Sink(dut, "b_valid_o", "b_ready_i", ["b_resp_o"])
        self.r = Sink(dut, "r_valid_o", "r_ready_i", ["r_data_o", "r_resp_o"])
        self.parts: list[Part] = [self.aw, self.w, self.ar, self.b, self.r]
        for part in self.parts:
            part.stalls = stalls

    async def start(self) -> None:
        await self.bench.start(*self.parts)
        await self.bench.cycles(2)

    async def write(self, address: int, data: int, strobes: int = 0xF) -> int:
        self.aw.queue.append((address,))
        self.w.queue.append((data, strobes))
        await self.bench.run(lambda: len(self.b.taken) == 1)
        return self.b.taken.popleft()[0]

    async def read(self, address: int) -> tuple[int, int]:
        self.ar.queue.append((address,))
        await self.bench.run(lambda: len(self.r.taken) == 1)
        return self.r.taken.popleft()

    async def pins(self) -> tuple[int, int, int]:
        """Reset, trap, status, when all has settled."""
        await self.bench.cycles(3)
        dut = self.dut
        return int(dut.host_rst_no.value), int(dut.host_trap_o.value), int(dut.status_o.value)


async def started(dut: HierarchyObject) -> Registers:
    registers = Registers(dut, random.choice([0.0, 0.5]))
    await registers.start()
    return registers


@cocotb.test()
async def holds_the_host_until_it_is_released(dut):
    registers = await started(dut)
    assert await registers.pins() == (0, 0, HELD)
    assert await registers.write(REASON, 17) == OKAY
    assert await registers.pins() == (0, 0, HELD)
    assert await registers.write(DECISION, RELEASE) == OKAY
    assert await registers.pins() == (1, 0, RELEASED)
    assert await registers.read(STATUS) == (RELEASED, OKAY)
    assert await registers.read(REASON) == (17, OKAY)
    assert int(dut.reason_o.value) == 17


@cocotb.test()
async def the_first_decision_is_the_last(dut):
    expected = {RELEASE: (1, 0, RELEASED), TRAP: (1, 1, TRAPPED), 0: (0, 0, REFUSED)}
    registers = Registers(dut)
    await registers.start()
    for word, pins in expected.items():
        dut.rst_ni.value = 0
        await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        assert await registers.pins() == (0, 0, HELD)
        assert await registers.write(REASON, word & 0xFFF) == OKAY
        assert await registers.write(DECISION, word) == OKAY
        assert await registers.pins() == pins
        for again in expected:
            assert await registers.write(DECISION, again) == SLVERR
            assert await registers.write(REASON, 1) == SLVERR
        assert await registers.pins() == pins
        assert await registers.read(REASON) == (word & 0xFFF, OKAY)


@cocotb.test()
async def no_other_word_releases(dut):
    registers = Registers(dut)
    await registers.start()
    near = [word ^ 1 << position for word in (RELEASE, TRAP) for position in range(32)]
    for word in [0xFFFF_FFFF, *near]:
        dut.rst_ni.value = 0
        await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        assert await registers.write(DECISION, word) == OKAY
        assert await registers.pins() == (0, 0, REFUSED), hex(word)


@cocotb.test()
async def half_a_word_is_no_decision(dut):
    registers = await started(dut)
    for strobes in (0x0, 0x1, 0x3, 0x7, 0xE):
        assert await registers.write(DECISION, RELEASE, strobes) == SLVERR
    for address in (STATUS, 0xC, 0x100):
        assert await registers.write(address, RELEASE) == SLVERR
    assert (await registers.read(DECISION))[1] == SLVERR
    assert await registers.pins() == (0, 0, HELD)


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut):
    registers = Registers(dut)
    await registers.start()
    for code in set(range(64)) - set(STATES):
        dut.rst_ni.value = 0
        await RisingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await registers.bench.cycles(2)
        dut.state_q.value = code
        assert await registers.pins() == (0, 0, ERROR), f"{code:06b}"
        assert await registers.write(DECISION, RELEASE) == SLVERR
        assert await registers.pins() == (0, 0, ERROR), f"{code:06b}"


@cocotb.test()
async def states_are_three_bits_apart(dut):
    for one in STATES:
        for other in set(STATES) - {one}:
            assert (one ^ other).bit_count() >= 3
