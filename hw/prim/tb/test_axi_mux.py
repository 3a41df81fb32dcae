"""`axi_mux`: two managers with bursts on bundles, and a subordinate with responses of its own."""

from __future__ import annotations

import random

import cocotb
from cocotb.handle import HierarchyObject
from handshakes import STALLS, Bench
from axi_parts import ID_BITS, Manager, Memory, Request, Side, Write, random_beats, side, vector

NUMBER = 6


def random_request() -> Request:
    length = random.choice([0, 0, 3, 7])
    return (random.getrandbits(ID_BITS), random.getrandbits(32), length, 3, 1)


@cocotb.test()
async def each_manager_gets_its_own_responses(dut: HierarchyObject) -> None:
    bench = Bench(dut, ["axi_i", "sub_axi_i"])
    requests, responses = vector(dut, "axi_i"), vector(dut, "axi_o")
    managers = [Manager(Side(requests, responses, index=index)) for index in (0, 1)]
    memory = Memory(side(dut, "sub_axi", is_manager=False))
    await bench.start(*managers, memory)
    for _ in range(20):
        for part in (*managers, memory):
            part.stall(STALLS)
        memory.forget()
        writes: list[list[Write]] = [[], []]
        reads: list[list[Request]] = [[], []]
        for index, manager in enumerate(managers):
            for _ in range(NUMBER):
                request = random_request()
                writes[index].append((request, random_beats(request[2] + 1)))
                manager.write(*writes[index][-1])
                reads[index].append(random_request())
                manager.read(reads[index][-1])
        beats = [sum(request[2] + 1 for request in some) for some in reads]
        await bench.run(
            lambda: all(
                (len(manager.b.taken), len(manager.r.taken)) == (NUMBER, count)
                for manager, count in zip(managers, beats)
            ),
            20000,
        )
        for index, manager in enumerate(managers):
            taken = list(manager.b.taken), list(manager.r.taken)
            assert memory.of(index) == (writes[index], reads[index], *taken)
            manager.b.taken.clear()
            manager.r.taken.clear()
