"""Each test breaks one rule of AXI4-Lite, and would pass if `axi_lite_checks` did not detect it."""

from __future__ import annotations

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import RisingEdge

from clocked import Clocked

UP = (
    "awvalid", "awaddr", "awprot", "wvalid", "wdata", "wstrb", "bready",
    "arvalid", "araddr", "arprot", "rready",
)
DOWN = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")


async def start(dut: HierarchyObject) -> None:
    inputs = [f"{prefix}_{name}_i" for prefix, names in (("up", UP), ("down", DOWN)) for name in names]
    await Clocked.started(dut, inputs)


async def cycles(dut: HierarchyObject, *steps: dict[str, int]) -> None:
    """Sets signals for a cycle each, then lets two pass, so that the last one is judged."""
    for step in steps:
        for name, value in step.items():
            getattr(dut, f"{name}_i").value = value
        await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)


@cocotb.test()
async def a_manager_that_withdraws_an_address(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, {"up_awvalid": 1}, {"up_awvalid": 0})


@cocotb.test()
async def a_manager_that_changes_its_data(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, {"up_wvalid": 1, "up_wdata": 1}, {"up_wdata": 2})


@cocotb.test()
async def a_manager_that_changes_its_mind_about_a_read(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, {"up_arvalid": 1, "up_araddr": 4}, {"up_araddr": 8})


WRITE = {"up_awvalid": 1, "down_awready": 1, "up_wvalid": 1, "down_wready": 1}
READ = {"up_arvalid": 1, "down_arready": 1}
QUIET = dict.fromkeys((*WRITE, *READ), 0)


@cocotb.test()
async def a_subordinate_that_withdraws_a_response(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, WRITE, QUIET | {"down_bvalid": 1}, {"down_bvalid": 0})


@cocotb.test()
async def a_subordinate_that_changes_its_data(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, READ, QUIET | {"down_rvalid": 1, "down_rdata": 1}, {"down_rdata": 2})


@cocotb.test()
async def a_response_to_no_write(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, {"down_bvalid": 1, "up_bready": 1}, {"down_bvalid": 0})


@cocotb.test()
async def a_response_to_a_write_without_data(dut: HierarchyObject) -> None:
    await start(dut)
    address = WRITE | {"up_wvalid": 0}
    await cycles(dut, address, QUIET | {"down_bvalid": 1, "up_bready": 1}, {"down_bvalid": 0})


@cocotb.test()
async def data_for_no_read(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, {"down_rvalid": 1, "up_rready": 1}, {"down_rvalid": 0})


@cocotb.test()
async def a_response_to_an_exclusive_write(dut: HierarchyObject) -> None:
    await start(dut)
    await cycles(dut, WRITE, QUIET | {"down_bvalid": 1, "down_bresp": 1, "up_bready": 1}, {"down_bvalid": 0})
