"""What the tests of the mailbox share: both sides, by the names of their registers."""

from __future__ import annotations

import random

from cocotb.handle import HierarchyObject

from axi_lite import Manager
from clocked import Clocked
from registers import Registers

REGS = Registers("mailbox", __file__)
CLOSED, READY, BUSY, ANSWERED, FAULT = (
    REGS[f"MAILBOX_STATE_{name}"] for name in ("CLOSED", "READY", "BUSY", "ANSWERED", "FAULT")
)
RING, ACKNOWLEDGE, RESPOND, DISCARD, OPEN, INTERRUPT = 1, 2, 1, 2, 1, 2
REFUSED, EMPTIED = 1 << 8, 1 << 9
REQUEST = ("operation", "id", "source_low", "source_high", "destination_low", "destination_high", "length")
RESULT_WORDS = REGS["MAILBOX_HOST_RESULT_COUNT"]
OUTCOME_MASK = 0xFFFF00FF


class Side(Manager):
    """A port, with names for its registers."""

    def __init__(self, dut: HierarchyObject, owner: str, stalls: float) -> None:
        super().__init__(dut, f"{owner}_axil", stalls)
        self.owner = owner
        self.at = REGS.offsets(f"MAILBOX_{owner.upper()}")

    async def set(self, name: str, value: int) -> None:
        await self.write(self.at[name], value)

    async def value(self, name: str) -> int:
        return await self.get(self.at[name])

    async def state(self) -> int:
        return await self.value("status") & 7

    def request_at(self) -> list[int]:
        return [self.at[name] for name in REQUEST]

    def result_at(self) -> list[int]:
        return [self.at["result"] + 4 * index for index in range(RESULT_WORDS)]

    async def words(self, addresses: list[int]) -> list[int]:
        return [data for data, _ in await self.reads(addresses)]


def random_words(count: int) -> list[int]:
    # Never zero, which is the value of words that a side may not read.
    return [random.randrange(1, 1 << 32) for _ in range(count)]


class Mailbox(Clocked):
    settling_cycles = 2
    # An interrupt comes after many accesses of the other side.
    patience = 20_000

    def __init__(self, dut: HierarchyObject, stalls: float = 0.0) -> None:
        super().__init__(dut, ["wipe_i", "lifecycle_i"], stalls)
        self.host, self.rot = Side(dut, "host", stalls), Side(dut, "rot", stalls)

    async def reset_port(self, side: Side) -> None:
        """Resets, and clears a port that was driven directly."""
        side.port.aw_valid.vector.clear()
        await self.reset()

    async def open(self) -> None:
        await self.rot.set("control", OPEN | INTERRUPT)
        await self.host.set("interrupt", 1)

    async def ask(self, request: list[int]) -> None:
        await self.host.writes(list(zip(self.host.request_at(), request, strict=True)))
        await self.host.set("command", RING)

    async def answer(self, outcome: int, result: list[int]) -> None:
        await self.rot.set("outcome", outcome)
        await self.rot.writes(list(zip(self.rot.result_at(), result, strict=True)))
        await self.rot.set("command", RESPOND)

    async def bring_to(self, state: int) -> None:
        """From reset into a state, with words of both sides where they can be."""
        if state == CLOSED:
            return
        await self.open()
        if state == READY:
            await self.host.writes(list(zip(self.host.request_at(), random_words(7), strict=True)))
            return
        await self.ask(random_words(7))
        if state == BUSY:
            await self.rot.writes(list(zip(self.rot.result_at(), random_words(RESULT_WORDS), strict=True)))
        if state == ANSWERED:
            await self.answer(0x12340056, random_words(RESULT_WORDS))

    async def expect_empty(self) -> None:
        """No word of request or answer is left on any side."""
        for side in (self.host, self.rot):
            seen = await side.words([*side.request_at(), side.at["outcome"], *side.result_at()])
            assert not any(seen), f"{side.owner} still reads {seen}"

    async def exchange(self) -> None:
        """A request and its answer, without reads in between."""
        request, result = random_words(7), random_words(RESULT_WORDS)
        await self.ask(request)
        assert await self.rot.words(self.rot.request_at()) == request
        await self.answer(0xABCD00EF, result)
        assert await self.host.words(self.host.result_at()) == result
        assert await self.host.value("answer_id") == request[1]
        await self.host.set("command", ACKNOWLEDGE)
        assert await self.host.state() == READY
        await self.expect_empty()
