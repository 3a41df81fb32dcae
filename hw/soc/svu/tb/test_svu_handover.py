"""Two managers of an engine, one after the other."""

from __future__ import annotations

import random

import cocotb
from axi_bundles import AXIL_REQ, AXIL_RESP
from handshakes import Bench, Part

INPUTS = ["release_i", "unit_axil_i", "unit_valid_i", "host_axil_i", "engine_axil_i", "engine_ready_i"]
REQ_BITS, RESP_BITS = sum(AXIL_REQ.values()), sum(AXIL_RESP.values())


def bits(widths: dict[str, int], name: str) -> int:
    """The mask of a field."""
    low = 0
    for field, width in reversed(widths.items()):
        if field == name:
            return ((1 << width) - 1) << low
        low += width
    raise KeyError(name)


# The unit offers nothing in the cycle of the handover: it has ended by then.
OFFERS = bits(AXIL_REQ, "aw_valid") | bits(AXIL_REQ, "w_valid") | bits(AXIL_REQ, "ar_valid")


class Sides(Part):
    """Random requests, answers and words on all sides, and what has to become of them."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.unit_offers = True
        self.is_host = False

    def drive(self) -> None:
        dut = self.dut
        self.unit, self.host = random.getrandbits(REQ_BITS), random.getrandbits(REQ_BITS)
        self.answer = random.getrandbits(RESP_BITS)
        if not self.unit_offers:
            self.unit &= ~OFFERS
        dut.unit_axil_i.value, dut.host_axil_i.value, dut.engine_axil_i.value = self.unit, self.host, self.answer
        dut.unit_valid_i.value = random.getrandbits(1)
        dut.engine_ready_i.value = random.getrandbits(1)

    def sample(self) -> None:
        dut, is_host = self.dut, self.is_host
        assert dut.is_host_o.value == int(is_host)
        assert int(dut.engine_axil_o.value) == (self.host if is_host else self.unit)
        assert int(dut.host_axil_o.value) == (self.answer if is_host else 0)
        assert int(dut.unit_axil_o.value) == (0 if is_host else self.answer)
        assert dut.engine_valid_o.value == (0 if is_host else int(dut.unit_valid_i.value))
        assert dut.unit_ready_o.value == (0 if is_host else int(dut.engine_ready_i.value))


async def begin(dut) -> tuple[Bench, Sides]:
    bench, sides = Bench(dut, INPUTS), Sides(dut)
    await bench.start(sides)
    await bench.cycles(20)
    # The unit has ended what it does.
    sides.unit_offers = False
    dut.release_i.value = 1
    await bench.cycles(1)
    sides.is_host = True
    return bench, sides


@cocotb.test()
async def it_is_the_units_and_then_the_hosts(dut):
    bench, sides = await begin(dut)
    await bench.cycles(1)
    sides.unit_offers = True
    await bench.cycles(50)


@cocotb.test()
async def the_host_keeps_it_until_reset(dut):
    bench, sides = await begin(dut)
    # An alert takes the release back.
    dut.release_i.value = 0
    sides.unit_offers = True
    await bench.cycles(20)
    bench.parts = []
    bench.clear_inputs()
    await bench.reset()
    sides.is_host = False
    bench.parts = [sides]
    await bench.cycles(20)
