"""What the sequencer is told: one decision, a refusal after its reason, and a release only of a release."""

from __future__ import annotations

import random

import cocotb
from handshakes import Bench, Part

RELEASE, REFUSE = 0x5A17C3E1, 0x0F93742D


class Sequencer(Part):
    """What it was told, in its order."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.told: list[tuple[str, int]] = []

    def sample(self) -> None:
        dut = self.dut
        if dut.explain_o.value == 1:
            self.told.append(("reason", int(dut.word_o.value)))
        if dut.decide_o.value == 1:
            self.told.append(("decision", int(dut.word_o.value)))


async def begin(dut, bench: Bench) -> Sequencer:
    sequencer = Sequencer(dut)
    if bench.cycle == 0:
        await bench.start_clock()
    else:
        bench.clear_inputs()
        await bench.reset()
    bench.parts = [sequencer]
    await bench.cycles(random.randint(1, 10))
    assert not sequencer.told, "a decision of nothing"
    return sequencer


@cocotb.test()
async def a_release_is_one_word(dut):
    bench = Bench(dut, ["release_i", "refused_i", "reason_i"])
    sequencer = await begin(dut, bench)
    dut.reason_i.value = 301
    dut.release_i.value = 1
    await bench.cycles(20)
    assert sequencer.told == [("decision", RELEASE)]
    # What comes later changes nothing.
    dut.release_i.value = 0
    dut.refused_i.value = 1
    await bench.cycles(20)
    assert sequencer.told == [("decision", RELEASE)]


@cocotb.test()
async def a_refusal_comes_after_its_reason(dut):
    bench = Bench(dut, ["release_i", "refused_i", "reason_i"])
    for reason in [301, 904, 0, 0xFFFF]:
        sequencer = await begin(dut, bench)
        dut.refused_i.value = 1
        dut.reason_i.value = reason
        await bench.cycles(20)
        assert sequencer.told == [("reason", reason), ("decision", REFUSE)]
        dut.refused_i.value = 0
        dut.release_i.value = 1
        await bench.cycles(20)
        assert len(sequencer.told) == 2


@cocotb.test()
async def a_refusal_and_a_release_are_a_refusal(dut):
    bench = Bench(dut, ["release_i", "refused_i", "reason_i"])
    sequencer = await begin(dut, bench)
    dut.refused_i.value = 1
    dut.release_i.value = 1
    dut.reason_i.value = 603
    await bench.cycles(20)
    assert sequencer.told == [("reason", 603), ("decision", REFUSE)]


@cocotb.test()
async def an_upset_of_what_is_kept_releases_nothing(dut):
    bench = Bench(dut, ["release_i", "refused_i", "reason_i"])
    for name in ["explained_q", "decided_q"]:
        for value in [0, 1]:
            for is_refused in [0, 1]:
                sequencer = await begin(dut, bench)
                dut.refused_i.value = is_refused
                await bench.cycles(random.randint(0, 3))
                getattr(dut, name).value = value
                await bench.cycles(10)
                assert ("decision", RELEASE) not in sequencer.told
