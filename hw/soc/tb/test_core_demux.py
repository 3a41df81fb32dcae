"""`core_demux` between a core and targets that stall at random."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.handle import HierarchyObject
from soc_bench import Bench, Core, Part, Request, bit, chance

INPUTS = ["req_i", "select_i", "target_gnt_i", "target_rvalid_i", "target_rdata_i", "target_err_i"]
NOWHERE = -1


class Targets(Part):
    """Grant at random, and answer in order, each with a number of its own."""

    def __init__(self, dut: HierarchyObject, count: int, stalls: float) -> None:
        self.dut = dut
        self.count = count
        self.stalls = stalls
        self.waiting: list[deque[tuple[int, int]]] = [deque() for _ in range(count)]
        self.answering: list[tuple[int, int] | None] = [None] * count
        self.number = 0
        self.granted: list[tuple[int, int, int]] = []

    def drive(self) -> None:
        valid = data = error = 0
        for target, waiting in enumerate(self.waiting):
            if waiting and not chance(self.stalls):
                number, is_error = waiting.popleft()
                valid |= 1 << target
                data |= number << 32 * target
                error |= is_error << target
            else:
                # Ignored inputs may have any value.
                data |= random.getrandbits(32) << 32 * target
                error |= random.getrandbits(1) << target
        grants = sum(1 << target for target in range(self.count) if not chance(self.stalls))
        self.dut.target_gnt_i.value = grants
        self.dut.target_rvalid_i.value = valid
        self.dut.target_rdata_i.value = data
        self.dut.target_err_i.value = error

    def sample(self) -> None:
        assert int(self.dut.target_req_o.value).bit_count() <= 1
        for target in range(self.count):
            if bit(self.dut.target_req_o, target) and bit(self.dut.target_gnt_i, target):
                self.number += 1
                is_error = int(chance(0.2))
                self.waiting[target].append((self.number, is_error))
                self.granted.append((target, self.number, is_error))


async def setup(dut: HierarchyObject, stalls: float) -> tuple[Core, Targets]:
    bench = Bench(dut, INPUTS)

    def present(request: Request) -> None:
        dut.select_i.value = 0 if request.address == NOWHERE else 1 << request.address

    core = Core(dut, bench, present, stalls=random.choice([0.0, stalls]))
    targets = Targets(dut, int(dut.NumTargets.value), stalls)
    await bench.start(targets, core)
    return core, targets


@cocotb.test()
async def every_request_gets_its_own_answer_in_order(dut):
    core, targets = await setup(dut, 0.5)
    for _ in range(10):
        targets.stalls = random.choice([0.0, 0.3, 0.8])
        core.stalls = random.choice([0.0, 0.5])
        choices = [*range(targets.count), NOWHERE]
        requests = [Request(random.choice(choices)) for _ in range(60)]
        targets.granted.clear()
        await core.do(*requests)
        granted = iter(targets.granted)
        for request in requests:
            if request.address == NOWHERE:
                assert request.answer[1:] == (0, 1)
                assert request.answer[0] == request.granted + 1
            else:
                target, number, is_error = next(granted)
                assert target == request.address
                assert request.answer[1:] == (number, is_error)


@cocotb.test()
async def a_target_may_have_two_requests(dut):
    core, targets = await setup(dut, 0.0)
    requests = await core.do(*[Request(1) for _ in range(20)])
    # A grant every cycle, because each answer makes room for the next request.
    assert requests[-1].granted - requests[0].granted == 19


@cocotb.test()
async def an_address_of_nobody_is_an_error_at_once(dut):
    core, _ = await setup(dut, 0.9)
    core.stalls = 0.0
    requests = await core.do(*[Request(NOWHERE) for _ in range(5)])
    assert all(request.answer == (request.granted + 1, 0, 1) for request in requests)
