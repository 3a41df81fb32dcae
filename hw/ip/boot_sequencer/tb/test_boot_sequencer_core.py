"""The core against a model of it, and its reaction to an illegal state."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

from sequencer_bench import ERROR, HELD, ILLEGAL, NEAR, NEAR_STOP, REFUSE, REFUSED, RELEASE, RELEASED
from sequencer_bench import STATE_BITS, STATES, STOP, STOPPED, TRAP, TRAPPED, HostPins

RUNS = 400
INPUTS = [f"{name}_i" for name in ("decide", "explain", "word", "is_whole", "fault")]


class Model:
    """A model of the core, a cycle at a time."""

    def __init__(self) -> None:
        self.state, self.reason = HELD, 0
        self.is_out = self.is_trapped = False

    def accepts(self, is_whole: bool) -> bool:
        return self.state == HELD and is_whole

    def stops(self, decides: bool, word: int, is_whole: bool) -> bool:
        is_decided = self.state in (RELEASED, REFUSED, TRAPPED)
        return is_decided and decides and is_whole and word == STOP

    def step(self, decides: bool, explains: bool, word: int, is_whole: bool, fault: bool) -> None:
        self.is_out = self.state in (RELEASED, TRAPPED)
        if self.accepts(is_whole) and explains:
            self.reason = word
        if fault:
            self.state = ERROR
        elif self.stops(decides, word, is_whole):
            self.state = STOPPED
        elif self.accepts(is_whole) and decides:
            self.state = {RELEASE: RELEASED, TRAP: TRAPPED, STOP: STOPPED}.get(word, REFUSED)
        self.is_trapped |= self.state == TRAPPED


@cocotb.test()
async def does_what_its_model_does_in_every_cycle(dut: HierarchyObject) -> None:
    core = await HostPins.started(dut, INPUTS)
    seen = set()
    words = [RELEASE, RELEASE, TRAP, TRAP, STOP, STOP, REFUSE, *NEAR[:4], *NEAR_STOP[:4], 0]
    for _ in range(RUNS):
        core.clear_inputs()
        await core.reset()
        model = Model()
        for _ in range(random.randrange(5, 30)):
            kind = random.choice(["", "", "decide", "explain"])
            decides, explains = kind == "decide", kind == "explain"
            is_whole = random.random() < 0.5
            word = random.choice(words)
            fault = random.random() < 0.02
            dut.fault_i.value = int(fault)
            dut.decide_i.value, dut.explain_i.value = int(decides), int(explains)
            dut.word_i.value, dut.is_whole_i.value = word, int(is_whole)
            await ReadOnly()
            assert core.pins() == (int(model.is_out), int(model.is_trapped), model.state)
            assert int(dut.reason_o.value) == model.reason
            is_accepted = model.accepts(is_whole) or model.stops(decides, word, is_whole)
            is_refused = bool(kind) and not is_accepted
            assert bool(dut.refuses_o.value) == is_refused
            seen.add((model.state, kind, is_whole, word))
            model.step(decides, explains, word, is_whole, fault)
            await core.tick()
    assert len(seen) > 250, "the inputs are not random enough"


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    core = await HostPins.started(dut, INPUTS)
    for code in ILLEGAL:
        core.clear_inputs()
        await core.reset()
        dut.u_state.u_flop.value_q.value = code
        for cycle in range(8):
            # No input leaves the error; it is reported in the same cycle.
            await ReadOnly()
            assert core.pins() == (0, 0, ERROR), f"{code:06b}, {cycle} cycles later"
            assert int(dut.reason_o.value) == 0
            assert dut.refuses_o.value == int(dut.decide_i.value or dut.explain_i.value)
            await core.tick()
            decides = random.getrandbits(1)
            dut.decide_i.value, dut.explain_i.value = decides, 1 - decides
            dut.word_i.value, dut.is_whole_i.value = random.choice([RELEASE, TRAP, REFUSE]), 1
    core.clear_inputs()
    await core.reset()
    assert core.pins() == (0, 0, HELD)


@cocotb.test()
async def an_upset_of_a_released_host_puts_it_back_into_reset(dut: HierarchyObject) -> None:
    core = await HostPins.started(dut, INPUTS)
    for word, code in ((RELEASE, 0b010101), (TRAP, 0b100110)):
        for bit in range(STATE_BITS):
            core.clear_inputs()
            await core.reset()
            dut.decide_i.value, dut.word_i.value, dut.is_whole_i.value = 1, word, 1
            await core.tick(3)
            core.clear_inputs()
            dut.u_state.u_flop.value_q.value = code ^ 1 << bit
            await core.tick(2)
            await ReadOnly()
            assert core.pins() == (0, int(word == TRAP), ERROR)
            await core.tick()


@cocotb.test()
async def states_are_three_bits_apart(dut: HierarchyObject) -> None:
    for one in STATES:
        for other in set(STATES) - {one}:
            assert (one ^ other).bit_count() >= 3
    core = await HostPins.started(dut, INPUTS)
    assert STATES[int(dut.u_state.u_flop.value_q.value)] == HELD
