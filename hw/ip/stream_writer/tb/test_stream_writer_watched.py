"""The model of the memory that the campaign of upsets has around the writer: it knows a message that is written from one that is
not."""

from __future__ import annotations

import cocotb
from axi_lite import Manager
from cocotb.handle import HierarchyObject
from handshakes import Bench
from upsets_stream_writer import AT, DONE, FIRST, LAST, START, byte_of
from writer_bench import Stream, words_of

INPUTS = ["str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "first_i", "length_i", "is_told_i"]


@cocotb.test()
@cocotb.parametrize(place=[(FIRST, 64), (FIRST + 0x35, 149), (FIRST + 0xFFB, 3)], wrong=[None, 0, -1])
async def knows_a_message_that_is_written(dut: HierarchyObject, place: tuple[int, int], wrong: int | None) -> None:
    bench, bus, stream = Bench(dut, INPUTS), Manager(dut, "axil", 0.0), Stream(dut)
    await bench.start_beside_a_bus(stream)
    address, length = place
    dut.first_i.value, dut.length_i.value = address, length
    registers = {"window_first": FIRST, "window_last": LAST, "lock": 1, "destination": address, "length": length}
    for name, value in registers.items():
        await bus.write(AT[name], value)
    message = bytearray(byte_of(number) for number in range(length))
    if wrong is not None:
        message[wrong] ^= 1
    stream.begin(words_of(bytes(message)))
    await bus.write(AT["command"], START)
    await bench.tick(200)
    assert await bus.get(AT["interrupt"]) == DONE
    dut.is_told_i.value = 1
    await bench.tick(2)
    assert dut.lacks_o.value == int(wrong is not None)
