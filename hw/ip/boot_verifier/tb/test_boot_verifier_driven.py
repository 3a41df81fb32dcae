"""The models that the campaign of upsets has around what drives the engine: they accept what was signed, and nothing else."""

from __future__ import annotations

import random

import cocotb
from boot_verifier_bench import ACCEPTED
from cocotb.handle import HierarchyObject
from handshakes import Bench
from upsets_boot_verifier_driver import KEY_BYTES, WORD, Signed

INPUTS = ["str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "signed_i", "given_i", "verdict_i"]


async def run(bench: Bench, dut: HierarchyObject, signed: Signed, given: Signed, verdict: int = ACCEPTED) -> bool:
    """From reset: whether it is accepted."""
    bench.clear_inputs()
    await bench.reset()
    dut.signed_i.value = signed.words()
    dut.given_i.value = given.words()
    dut.verdict_i.value = verdict
    data = signed.encode() + given.encode()
    for at in range(0, len(data), WORD):
        dut.str_valid_i.value = 1
        dut.str_data_i.value = int.from_bytes(data[at : at + WORD], "little")
        dut.str_last_i.value = int(at + WORD == len(data))
        await bench.cycles(1)
    dut.str_valid_i.value = 0
    await bench.run(lambda: dut.done_o.value == 1 or dut.error_o.value == 1, 2_000)
    assert dut.error_o.value == 0
    return dut.accepted_o.value == 1


@cocotb.test()
async def accepts_what_was_signed_and_nothing_else(dut: HierarchyObject) -> None:
    bench = Bench(dut, INPUTS)
    await bench.start_clock()
    key = random.randbytes(KEY_BYTES)
    signature = bytes(7) + random.randbytes(WORD * int(dut.SignatureWords.value) - 7)
    message = random.randbytes(5 * WORD)
    right = Signed(key, signature, message)
    assert await run(bench, dut, right, right)
    assert not await run(bench, dut, right, right, verdict=0)
    assert not await run(bench, dut, right, Signed(key[:-1] + bytes([key[-1] ^ 1]), signature, message))
    assert not await run(bench, dut, right, Signed(key, signature[:-1] + bytes([signature[-1] ^ 1]), message))
    assert not await run(bench, dut, right, Signed(key, b"\x01" + signature[1:], message))
    for other in [message[WORD:], message[:-WORD], message + bytes(WORD), bytes([message[0] ^ 1]) + message[1:]]:
        assert not await run(bench, dut, right, Signed(key, signature, other))
