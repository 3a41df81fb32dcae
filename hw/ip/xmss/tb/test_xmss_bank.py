"""Hash cores that families take turns with."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import cocotb
from clocked import Clocked
from cocotb.triggers import ReadOnly, RisingEdge

# Fields of the two structures of `xmss_pkg`, from the upper bits on.
REQUEST = {"wipe": 1, "cmd_valid": 1, "cmd": 2, "lane_valid": 1, "lane": 64, "load_valid": 1, "load": 128, "save_ready": 1}
RESPONSE = {"error": 1, "cmd_ready": 1, "lane_ready": 1, "load_next": 1, "load_last": 1, "load_row": 1}
RESPONSE |= {"save_valid": 1, "save_last": 1, "save_row": 1, "save_halves": 2, "save": 128}
FIRST, SAVE = 0, 3


class Bank(Clocked):
    """Each family and lane is a client with a request; what is not set is zero."""

    def __init__(self, dut) -> None:
        super().__init__(dut, ("busy_i",))
        self.families, self.lanes = int(dut.Families.value), int(dut.Lanes.value)
        dut.owner_i.value = 1
        for family in range(self.families):
            for core in range(self.lanes):
                self.ask(family, core)

    def ask(self, family: int, core: int, **fields: int) -> None:
        value = 0
        for name, bits in REQUEST.items():
            value = value << bits | fields.get(name, 0)
        self.dut.request_i[family][core].value = value

    def answer(self, family: int, core: int) -> dict[str, int]:
        value = int(self.dut.response_o[family][core].value)
        fields = {}
        for name, bits in reversed(RESPONSE.items()):
            fields[name] = value & (1 << bits) - 1
            value >>= bits
        return fields

    async def asks_until(self, family: int, core: int, name: str, **fields: int) -> dict[str, int]:
        """Asks until a field of the answer is one: that answer."""
        self.ask(family, core, **fields)
        for _ in range(self.patience):
            await ReadOnly()
            answer = self.answer(family, core)
            await RisingEdge(self.clock)
            if answer[name]:
                self.ask(family, core)
                return answer
        raise AssertionError(f"{name} does not come")

    async def feed(self, family: int, core: int, block: bytes) -> None:
        await self.asks_until(family, core, "cmd_ready", cmd_valid=1, cmd=FIRST, save_ready=1)
        for at in range(0, 64, 8):
            word = int.from_bytes(block[at : at + 8], "big")
            await self.asks_until(family, core, "lane_ready", lane_valid=1, lane=word, save_ready=1)

    async def state(self, family: int, core: int) -> bytes:
        await self.asks_until(family, core, "cmd_ready", cmd_valid=1, cmd=SAVE)
        rows = {}
        for _ in range(2):
            answer = await self.asks_until(family, core, "save_valid", save_ready=1)
            rows[answer["save_row"]] = answer["save"].to_bytes(16, "big")
        # Upper words of both halves first: see `row_t`.
        return rows[0][8:] + rows[1][8:] + rows[0][:8] + rows[1][:8]

    async def give_to(self, family: int) -> None:
        self.dut.owner_i.value = 1 << family
        await self.tick(2)


def block_of(text: bytes) -> bytes:
    return text + b"\x80" + bytes(55 - len(text)) + (8 * len(text)).to_bytes(8, "big")


@cocotb.test()
async def each_family_hashes_in_its_turn(dut):
    """All lanes of the owner at a time, while the others ask for random things."""
    bank = await Bank.started(dut)

    async def disturb(owner: int) -> None:
        while True:
            for family in set(range(bank.families)) - {owner}:
                for lane in range(bank.lanes):
                    bank.ask(family, lane, **{name: random.getrandbits(bits) for name, bits in REQUEST.items()})
            await RisingEdge(bank.clock)

    async def hash_one(owner: int, lane: int) -> None:
        text = random.randbytes(random.randrange(56))
        await bank.feed(owner, lane, block_of(text))
        assert await bank.state(owner, lane) == hashlib.sha256(text).digest(), f"family {owner}, lane {lane}"

    for owner in [*range(bank.families), *random.choices(range(bank.families), k=6)]:
        await bank.give_to(owner)
        dut.busy_i.value = 1
        other = cocotb.start_soon(disturb(owner))
        for work in [cocotb.start_soon(hash_one(owner, lane)) for lane in range(bank.lanes)]:
            await work
        other.cancel()
        for family in range(bank.families):
            for lane in range(bank.lanes):
                bank.ask(family, lane)
        dut.busy_i.value = 0


@cocotb.test()
async def the_owner_stays_while_a_family_works(dut):
    bank = await Bank.started(dut)
    dut.busy_i.value = 1
    for _ in range(50):
        dut.owner_i.value = 1 << random.randrange(bank.families)
        await bank.tick(2)
        await ReadOnly()
        assert dut.changes_o.value == 0
        ready = [bank.answer(family, 0)["cmd_ready"] for family in range(bank.families)]
        assert ready[1:] == [0] * (bank.families - 1)
        await bank.tick()
    dut.owner_i.value = 4
    dut.busy_i.value = 0
    await bank.tick(30)
    await ReadOnly()
    assert [bank.answer(family, 0)["cmd_ready"] for family in range(bank.families)] == [0, 0, 1]


@cocotb.test()
async def nothing_of_one_family_is_left_for_the_next(dut):
    """At any time in a block, and after it."""
    bank = await Bank.started(dut)
    for number in range(12):
        owner = number % bank.families
        await bank.give_to(owner)
        work = cocotb.start_soon(bank.feed(owner, 1, block_of(b"secret")))
        await bank.tick(random.randrange(60))
        work.cancel()
        bank.ask(owner, 1)
        await bank.give_to((owner + 1) % bank.families)
        assert await bank.state((owner + 1) % bank.families, 1) == bytes(32), f"{number}"


@cocotb.test()
async def an_upset_of_a_core_is_told_to_every_family(dut):
    bank = await Bank.started(dut)
    dut.g_lane[1].u_hash.u_core.u_control.u_state.u_flop.value_q.value = 0
    await bank.tick(2)
    await ReadOnly()
    errors: Callable[[int], list[int]] = lambda lane: [bank.answer(family, lane)["error"] for family in range(bank.families)]
    assert errors(1) == [1] * bank.families and errors(0) == [0] * bank.families
