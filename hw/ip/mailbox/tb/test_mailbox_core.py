"""The core against a model of it, and its reaction to an illegal state."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ReadOnly

from clocked import Clocked

CLOSED, READY, BUSY, ANSWERED, FAULT = 0, 1, 2, 3, 7
STATE_BITS = 6
LEGAL = {0b001011, 0b010101, 0b100110}
COMMANDS = ("ring", "acknowledge", "respond", "discard")
INPUTS = [f"{name}_i" for name in (*COMMANDS, "open", "wipe", "lifecycle", "request", "answer")]
CYCLES = 6000


class Model:
    """A model of the core, a cycle at a time."""

    def __init__(self) -> None:
        self.state = "idle"
        self.refused = self.emptied = self.rot_refused = False

    def view(self, is_open: bool) -> int:
        if self.state == "idle":
            return READY if is_open else CLOSED
        return BUSY if self.state == "request" else ANSWERED

    def step(self, now: dict[str, bool], forgets: bool) -> None:
        rings = now["ring"] and self.state == "idle" and now["open"] and not forgets
        can_acknowledge = self.state == "answer" or (self.state == "idle" and self.emptied)
        acknowledges = now["acknowledge"] and can_acknowledge and not forgets
        responds = now["respond"] and self.state == "request" and not forgets
        if now["ring"] or now["acknowledge"]:
            self.refused = not (rings or acknowledges)
        if now["respond"]:
            self.rot_refused = not responds
        if rings or acknowledges:
            self.emptied = False
        if forgets:
            self.emptied |= self.state != "idle"
            self.state = "idle"
        elif rings:
            self.state = "request"
        elif responds:
            self.state = "answer"
        elif acknowledges and self.state == "answer":
            self.state = "idle"


@cocotb.test()
async def does_what_its_model_does_in_every_cycle(dut: HierarchyObject) -> None:
    core = await Clocked.started(dut, INPUTS)
    model, seen = Model(), set()
    request = answer = lifecycle = 0
    for _ in range(CYCLES):
        now = {name: random.random() < 0.2 for name in COMMANDS}
        now["discard"] = random.random() < 0.03
        now["open"] = random.random() < 0.8
        wipe, changes = random.random() < 0.02, random.random() < 0.02
        lifecycle ^= int(changes)
        for name, value in now.items():
            getattr(dut, f"{name}_i").value = int(value)
        dut.wipe_i.value = int(wipe)
        dut.lifecycle_i.value = lifecycle
        await ReadOnly()
        assert int(dut.view_o.value) == model.view(now["open"])
        assert bool(dut.host_refused_o.value) == model.refused
        assert bool(dut.rot_refused_o.value) == model.rot_refused
        assert bool(dut.host_emptied_o.value) == model.emptied
        assert bool(dut.host_event_o.value) == (model.state == "answer" or model.emptied)
        assert bool(dut.rot_event_o.value) == (model.state == "request")
        assert int(dut.request_o.value) == (request if model.state == "request" else 0)
        assert int(dut.answer_o.value) == (answer if model.state == "answer" else 0)
        assert dut.error_o.value == 0
        # The registers outside, with a write attempt in every cycle.
        clear = dut.clear_o.value == 1
        host_writes, rot_writes = dut.request_write_o.value == 1, dut.answer_write_o.value == 1
        assert host_writes == (model.state == "idle" and not now["ring"])
        assert rot_writes == (model.state == "request" and not now["respond"])
        forgets = wipe or changes or now["discard"]
        seen.add((model.state, *(name for name in COMMANDS if now[name]), forgets))
        model.step(now, forgets)
        await core.tick()
        if clear:
            request = answer = 0
        elif host_writes:
            request = random.getrandbits(len(dut.request_i))
        elif rot_writes:
            answer = random.getrandbits(len(dut.answer_i))
        dut.request_i.value = request
        dut.answer_i.value = answer
    assert len(seen) > 50, "the inputs are not random enough"


@cocotb.test()
async def ends_in_an_error_from_any_illegal_state(dut: HierarchyObject) -> None:
    core = await Clocked.started(dut, INPUTS)
    for state in range(1 << STATE_BITS):
        if state in LEGAL:
            continue
        await core.reset()
        dut.request_i.value = random.getrandbits(len(dut.request_i))
        dut.answer_i.value = random.getrandbits(len(dut.answer_i))
        dut.u_state.u_flop.value_q.value = state
        await core.let_assertions_fail()
        for cycle in range(12):
            # No input leaves the error.
            await ReadOnly()
            assert dut.error_o.value == 1, f"{state:06b} is taken for a state ({cycle} cycles later)"
            assert int(dut.view_o.value) == FAULT
            assert dut.host_event_o.value == 1 and dut.rot_event_o.value == 1
            assert dut.clear_o.value == 1 and dut.open_clear_o.value == 1
            assert dut.request_write_o.value == 0 and dut.answer_write_o.value == 0
            assert int(dut.request_o.value) == 0 and int(dut.answer_o.value) == 0
            await core.tick()
            for name in (*COMMANDS, "open", "wipe"):
                getattr(dut, f"{name}_i").value = random.getrandbits(1)
            dut.lifecycle_i.value = random.getrandbits(4)
        core.clear_inputs()
    await core.reset()
    await ReadOnly()
    assert dut.error_o.value == 0


@cocotb.test()
async def a_reset_is_no_change_of_the_lifecycle(dut: HierarchyObject) -> None:
    """A command of the first cycle is taken in every lifecycle, and a change in the second one empties."""
    core = await Clocked.started(dut, INPUTS)
    for lifecycle in range(16):
        for changes in (False, True):
            core.clear_inputs()
            dut.lifecycle_i.value, dut.open_i.value = lifecycle, 1
            dut.rst_ni.value = 0
            await core.tick(2)
            dut.rst_ni.value, dut.ring_i.value = 1, 1
            await core.tick()
            dut.ring_i.value = 0
            await core.let_assertions_fail()
            dut.lifecycle_i.value = lifecycle ^ 8 * changes
            await ReadOnly()
            assert int(dut.view_o.value) == BUSY, f"lifecycle {lifecycle}"
            await core.tick()
            await core.let_assertions_fail()
            await ReadOnly()
            assert int(dut.view_o.value) == (READY if changes else BUSY), f"lifecycle {lifecycle}"
            await core.tick()
