"""The models that the campaign of upsets has around the verification unit: they let a right image pass, and no other."""

from __future__ import annotations

import hashlib
import random

import cocotb
from boot_verifier_bench import ACCEPTED, BOARD, PRODUCTION, Image
from cocotb.handle import HierarchyObject
from handshakes import Bench

FLOOR = 5
INPUTS = ["str_valid_i", "str_data_i", "str_last_i", "str_bytes_i", "floor_i", "lifecycle_i", "verdict_i"]


async def boot(bench: Bench, dut: HierarchyObject, image: Image, digest: bytes, verdict: int = ACCEPTED) -> bool:
    """From reset: whether the host is released."""
    bench.clear_inputs()
    await bench.reset()
    dut.floor_i.value = FLOOR
    dut.lifecycle_i.value = PRODUCTION
    dut.verdict_i.value = verdict
    data = digest + BOARD + image.encode()
    for at in range(0, len(data), 8):
        dut.str_valid_i.value = 1
        dut.str_data_i.value = int.from_bytes(data[at : at + 8], "little")
        dut.str_last_i.value = int(at + 8 == len(data))
        await bench.cycles(1)
    dut.str_valid_i.value = 0
    await bench.run(lambda: dut.release_o.value == 1 or dut.refused_o.value == 1, 2_000)
    return dut.release_o.value == 1


@cocotb.test()
async def releases_a_right_image_and_no_other(dut: HierarchyObject) -> None:
    bench = Bench(dut, INPUTS)
    await bench.start_clock()
    image = Image(random.randbytes(8 * int(dut.SignatureWords.value)), random.randbytes(64), code=random.randbytes(64))
    digest = hashlib.sha256(image.front()).digest()
    assert await boot(bench, dut, image, digest)
    assert dut.is_changed_o.value == 0
    assert not await boot(bench, dut, image, hashlib.sha256(b"another").digest())
    assert not await boot(bench, dut, image, digest, verdict=0)
