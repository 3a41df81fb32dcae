"""Each test breaks one rule of AXI4-Lite, and would pass if `axi_lite_checks` did not detect it."""

from __future__ import annotations

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from axi_bundles import side
from clocked import Clocked

class Ends:
    """Both ends of the wire."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.up = side(dut, "up", is_manager=True, is_lite=True)
        self.down = side(dut, "down", is_manager=False, is_lite=True)


async def cycles(dut: HierarchyObject, *steps: dict[str, int]) -> None:
    """After a reset, sets fields for a cycle each, then lets two pass, so that the last one is judged."""
    ends = Ends(dut)
    await Clocked.started(dut)
    for step in steps:
        for name, value in step.items():
            end, field = name.split(".")
            getattr(getattr(ends, end), field).value = value
        await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)


@cocotb.test()
async def a_manager_that_withdraws_an_address(dut: HierarchyObject) -> None:
    await cycles(dut, {"up.aw_valid": 1}, {"up.aw_valid": 0})


@cocotb.test()
async def a_manager_that_changes_its_data(dut: HierarchyObject) -> None:
    await cycles(dut, {"up.w_valid": 1, "up.w_data": 1}, {"up.w_data": 2})


@cocotb.test()
async def a_manager_that_changes_its_mind_about_a_read(dut: HierarchyObject) -> None:
    await cycles(dut, {"up.ar_valid": 1, "up.ar_addr": 4}, {"up.ar_addr": 8})


WRITE = {"up.aw_valid": 1, "down.aw_ready": 1, "up.w_valid": 1, "down.w_ready": 1}
READ = {"up.ar_valid": 1, "down.ar_ready": 1}
QUIET = dict.fromkeys((*WRITE, *READ), 0)


@cocotb.test()
async def a_subordinate_that_withdraws_a_response(dut: HierarchyObject) -> None:
    await cycles(dut, WRITE, QUIET | {"down.b_valid": 1}, {"down.b_valid": 0})


@cocotb.test()
async def a_subordinate_that_changes_its_data(dut: HierarchyObject) -> None:
    await cycles(dut, READ, QUIET | {"down.r_valid": 1, "down.r_data": 1}, {"down.r_data": 2})


@cocotb.test()
async def a_response_to_no_write(dut: HierarchyObject) -> None:
    await cycles(dut, {"down.b_valid": 1, "up.b_ready": 1}, {"down.b_valid": 0})


@cocotb.test()
async def a_response_to_a_write_without_data(dut: HierarchyObject) -> None:
    address = WRITE | {"up.w_valid": 0}
    await cycles(dut, address, QUIET | {"down.b_valid": 1, "up.b_ready": 1}, {"down.b_valid": 0})


@cocotb.test()
async def data_for_no_read(dut: HierarchyObject) -> None:
    await cycles(dut, {"down.r_valid": 1, "up.r_ready": 1}, {"down.r_valid": 0})


@cocotb.test()
async def a_response_to_an_exclusive_write(dut: HierarchyObject) -> None:
    await cycles(dut, WRITE, QUIET | {"down.b_valid": 1, "down.b_resp": 1, "up.b_ready": 1}, {"down.b_valid": 0})
