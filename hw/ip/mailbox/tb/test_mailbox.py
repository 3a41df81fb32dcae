"""The mailbox over its two buses: no side can disturb the other."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import Combine, ReadOnly

from axi_lite import OKAY, SLVERR
from mailbox_bench import (
    ACKNOWLEDGE, ANSWERED, BUSY, CLOSED, DISCARD, EMPTIED, OPEN, OUTCOME_MASK, READY, REFUSED, RESPOND,
    RESULT_WORDS, RING, Mailbox, random_words,
)

ROUNDS = 12


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.4])
async def passes_requests_and_answers_by_interrupt(dut: HierarchyObject, stalls: float) -> None:
    box = await Mailbox.started(dut, stalls)
    await box.open()
    requests = [random_words(7) for _ in range(ROUNDS)]
    answers = [(random.getrandbits(32), random_words(RESULT_WORDS)) for _ in range(ROUNDS)]

    async def host() -> None:
        for request, (outcome, result) in zip(requests, answers, strict=True):
            await box.ask(request)
            await box.wait_for(dut.host_irq_o)
            assert await box.host.state() == ANSWERED
            assert await box.host.value("outcome") == outcome & OUTCOME_MASK
            assert await box.host.value("answer_id") == request[1]
            assert await box.host.words(box.host.result_at()) == result
            await box.host.set("command", ACKNOWLEDGE)

    async def root_of_trust() -> None:
        for request, (outcome, result) in zip(requests, answers, strict=True):
            await box.wait_for(dut.rot_irq_o)
            assert await box.rot.words(box.rot.request_at()) == request
            await box.answer(outcome, result)

    await Combine(cocotb.start_soon(host()), cocotb.start_soon(root_of_trust()))
    await box.expect_empty()


@cocotb.test()
@cocotb.parametrize(stalls=[0.0, 0.3])
async def a_request_is_what_it_was_at_the_doorbell(dut: HierarchyObject, stalls: float) -> None:
    box = await Mailbox.started(dut, stalls)
    await box.open()
    for _ in range(5):
        request = random_words(7)
        await box.host.writes(list(zip(box.host.request_at(), request, strict=True)))
        # Other words directly after the doorbell, as fast as the bus takes them, with further rings.
        others = list(zip(box.host.request_at(), random_words(7), strict=True))
        ring = (box.host.at["command"], RING)
        tampering = cocotb.start_soon(box.host.writes([ring, *others, ring, *others, *others]))
        await box.wait_for(dut.rot_irq_o)
        for _ in range(4):
            assert await box.rot.words(box.rot.request_at()) == request
        assert await tampering == [OKAY] * 23
        assert await box.rot.words(box.rot.request_at()) == request
        assert await box.host.value("status") == BUSY | REFUSED
        # Nor while it is answered: the number of the request is in the answer.
        await box.answer(0, random_words(RESULT_WORDS))
        await box.host.writes(others)
        assert await box.host.value("answer_id") == request[1]
        await box.host.set("command", ACKNOWLEDGE)


@cocotb.test()
async def an_answer_is_what_it_was_when_it_was_given(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    await box.open()
    await box.ask(random_words(7))
    result = random_words(RESULT_WORDS)
    await box.rot.writes(list(zip(box.rot.result_at(), result, strict=True)))
    others = list(zip(box.rot.result_at(), random_words(RESULT_WORDS), strict=True))
    respond = (box.rot.at["command"], RESPOND)
    await box.rot.writes([respond, *others, respond])
    assert await box.host.words(box.host.result_at()) == result
    assert await box.rot.value("status") == ANSWERED | REFUSED


@cocotb.test()
async def nobody_sees_words_that_are_not_handed_over(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    await box.bring_to(READY)
    assert not any(await box.rot.words(box.rot.request_at()))
    await box.reset()
    await box.bring_to(BUSY)
    seen = await box.host.words([*box.host.result_at(), box.host.at["outcome"], box.host.at["answer_id"]])
    assert not any(seen)
    await box.reset()
    await box.bring_to(ANSWERED)
    # No word of the last exchange is readable in the next one, on any side, written or not.
    await box.host.set("command", ACKNOWLEDGE)
    await box.expect_empty()
    await box.host.set("command", RING)
    assert await box.rot.state() == BUSY
    assert not any(await box.rot.words(box.rot.request_at()))
    await box.rot.set("command", RESPOND)
    assert await box.host.state() == ANSWERED
    assert not any(await box.host.words([*box.host.result_at(), box.host.at["outcome"]]))


@cocotb.test()
async def refuses_commands_out_of_turn(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    allowed = {RING: READY, ACKNOWLEDGE: ANSWERED}
    for state in (CLOSED, READY, BUSY, ANSWERED):
        for command, at in allowed.items():
            await box.reset()
            await box.bring_to(state)
            await box.host.set("command", command)
            status = await box.host.value("status")
            assert bool(status & REFUSED) == (state != at), f"{command} in {state}: {status:#x}"
            if state != at:
                assert status & 7 == state
        await box.reset()
        await box.bring_to(state)
        await box.rot.set("command", RESPOND)
        assert bool(await box.rot.value("status") & REFUSED) == (state != BUSY)


@cocotb.test()
@cocotb.parametrize(way=["wipe", "lifecycle", "discard", "reset", "wipe in the cycle of a ring"])
async def forgets_everything_in_any_state_and_starts_again(dut: HierarchyObject, way: str) -> None:
    box = await Mailbox.started(dut)
    for state in (CLOSED, READY, BUSY, ANSWERED):
        await box.reset()
        await box.bring_to(state)
        if way == "reset":
            await box.reset()
        elif way == "discard":
            await box.rot.set("command", DISCARD)
        else:
            if way == "wipe in the cycle of a ring":
                # The pulse comes a cycle after the write; the test does not wait for the end of the write.
                cocotb.start_soon(box.host.set("command", RING))
                await box.tick(2)
            box.dut.wipe_i.value = int(way.startswith("wipe"))
            box.dut.lifecycle_i.value = int(dut.lifecycle_i.value) ^ int(way == "lifecycle")
            await box.tick()
            box.dut.wipe_i.value = 0
            await box.tick(8)
        status = await box.host.value("status")
        stays_open = way == "discard" and state != CLOSED
        assert status & 7 == (READY if stays_open else CLOSED), f"{way} in {state}: {status:#x}"
        assert bool(status & EMPTIED) == (way != "reset" and state in (BUSY, ANSWERED))
        await box.expect_empty()
        await box.open()
        await box.exchange()
        assert not await box.host.value("status") & EMPTIED


@cocotb.test()
async def tells_the_host_that_it_waits_in_vain(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    await box.bring_to(BUSY)
    await box.rot.set("command", DISCARD)
    await box.wait_for(dut.host_irq_o)
    assert await box.host.value("status") == READY | EMPTIED
    await box.host.set("command", ACKNOWLEDGE)
    assert await box.host.value("status") == READY
    await ReadOnly()
    assert dut.host_irq_o.value == 0


@cocotb.test()
async def answers_every_address_and_knows_its_own(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    read_only = {
        "host": {"status", "outcome", "answer_id", "result"},
        "rot": {"status", "operation", "id", "source_low", "source_high", "destination_low",
                "destination_high", "length"},
    }
    for side in (box.host, box.rot):
        known = dict.fromkeys(side.at.values(), "")
        known |= {at: name for name, at in side.at.items()}
        known |= dict.fromkeys(side.result_at(), "result")
        addresses = range(0, 0x1000, 4)
        reads = await side.reads(addresses)
        for address, (data, response) in zip(addresses, reads, strict=True):
            is_good = known.get(address, "command") != "command"
            assert response == (OKAY if is_good else SLVERR), f"read of {side.owner} {address:#x}"
            assert data == 0, f"{side.owner} {address:#x} holds {data:#x} after reset"
        others = [at for at in addresses if at not in known or known[at] in read_only[side.owner]]
        assert set(await side.writes([(at, 0xFFFFFFFF) for at in others])) == {SLVERR}
        assert await side.state() == CLOSED


@cocotb.test()
async def a_side_that_hangs_does_not_hang_the_other(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    await box.open()
    for stuck, other in ((box.host, box.rot), (box.rot, box.host)):
        # A write without data, and a read whose data is not taken, repeatedly.
        for name, value in (("aw_valid", 1), ("aw_addr", 4), ("ar_valid", 1), ("ar_addr", 0)):
            stuck.field(name).value = value
        for _ in range(20):
            assert await other.state() == READY
            await other.write(other.at["command"], 0)
        await box.reset_port(stuck)
        await box.open()


@cocotb.test()
async def a_read_takes_two_cycles_whatever_it_finds(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    times = set()
    for state in (CLOSED, READY, BUSY, ANSWERED):
        await box.reset()
        await box.bring_to(state)
        for side in (box.host, box.rot):
            for address in (side.at["status"], *side.request_at(), *side.result_at()):
                times.add(await side.read_cycles(address))
    assert times == {2}, f"time of a read depends on what it finds: {sorted(times)}"


@cocotb.test()
async def closes_without_losing_the_request_it_has(dut: HierarchyObject) -> None:
    box = await Mailbox.started(dut)
    await box.bring_to(BUSY)
    await box.rot.set("control", 0)
    assert await box.host.state() == BUSY
    await box.answer(0, random_words(RESULT_WORDS))
    await box.host.set("command", ACKNOWLEDGE)
    assert await box.host.state() == CLOSED
    await box.host.set("command", RING)
    assert await box.host.value("status") == CLOSED | REFUSED
    await box.rot.set("control", OPEN)
    assert await box.host.state() == READY
