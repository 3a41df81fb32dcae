"""`sha2_core` with `Overlaps`: the state of a block leaves while that of the next one enters."""

from __future__ import annotations

import hashlib
import random

import cocotb
from sha2_bench import FIRST, NEXT, RESUME, Core


class Overlapping(Core):
    async def exchange(self, cmd: int, block: bytes, state: bytes | None = None) -> bytes:
        """Begins a block, and returns the state that leaves."""
        leaving = cocotb.start_soon(self.leaving())
        await self.block(cmd, block, state)
        return await leaving


@cocotb.test()
async def exchanges_states_with_stalls_on_all_ports(dut):
    """Two messages in alternation: each block takes the state of its message in, and gives the other one's out."""
    core = await Overlapping.started(dut)
    for stalls in (0.0, 0.3, 0.6):
        core.stalls = stalls
        messages = [random.randbytes(3 * core.block_bytes + 5) for _ in range(2)]
        parts = [core.blocks(message) for message in messages]
        states: list[bytes | None] = [None, None]
        for step in range(2 * len(parts[0])):
            which, at = step % 2, step // 2
            cmd = FIRST if states[which] is None else RESUME
            left = await core.exchange(cmd, parts[which][at], states[which])
            if step:
                states[1 - which] = left
        states[1] = await core.save()
        assert states == [hashlib.sha256(message).digest() for message in messages], f"stalls {stalls}"
        # After a save the same state leaves again.
        assert await core.exchange(FIRST, parts[0][0]) == states[1]


@cocotb.test()
async def goes_on_without_an_exchange(dut):
    """A block that continues gives nothing out, and a state without a use is let go."""
    core = await Overlapping.started(dut)
    dut.state_ready_i.value = 1
    message = random.randbytes(2 * core.block_bytes)
    for cmd, block in zip((FIRST, NEXT, NEXT), core.blocks(message)):
        await core.block(cmd, block)
    dut.state_ready_i.value = 0
    assert await core.save() == hashlib.sha256(message).digest()


@cocotb.test()
async def an_exchange_takes_no_cycle(dut):
    core = await Overlapping.started(dut)
    dut.state_ready_i.value = 1
    bound = core.round_cycles + core.state_cycles
    starts, state = [], random.randbytes(core.word_bits)
    for cmd in (FIRST, RESUME, RESUME, FIRST, NEXT, RESUME):
        loading = cocotb.start_soon(core.load(state)) if cmd == RESUME else None
        words = cocotb.start_soon(core.words(random.randbytes(core.block_bytes)))
        await core.command(cmd)
        starts.append(core.cycle)
        await words
        if loading is not None:
            await loading
    assert {after - before for before, after in zip(starts, starts[1:])} == {bound}, f"{starts}"


@cocotb.test()
async def a_wipe_in_any_cycle_of_an_exchange_leaves_nothing(dut):
    core = await Overlapping.started(dut)
    message = b"what comes after an abort"
    for abort_at in range(core.state_cycles + 4):
        dut.state_ready_i.value = 1
        await core.block(FIRST, random.randbytes(core.block_bytes))
        await core.until_idle()
        tasks = [
            cocotb.start_soon(core.load(random.randbytes(core.word_bits))),
            cocotb.start_soon(core.words(random.randbytes(core.block_bytes))),
            cocotb.start_soon(core.command(RESUME)),
        ]
        await core.tick(abort_at + 1)
        for task in tasks:
            task.cancel()
        core.clear_inputs()
        await core.pulse(dut.wipe_i)
        await core.until_idle()
        # The assertions of the core check every register.
        dut.state_ready_i.value = 1
        cmd = FIRST
        for block in core.blocks(message):
            await core.block(cmd, block)
            cmd = NEXT
        dut.state_ready_i.value = 0
        assert await core.save() == hashlib.sha256(message).digest(), f"aborted at {abort_at}"
