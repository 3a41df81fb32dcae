"""The masked S-box: that it computes SubBytes and its inverse, and that no probe of it tells its input."""

from __future__ import annotations

import random
import time

import cocotb
import rijndael
from clocked import Clocked
from cocotb.triggers import ReadOnly
from probing import Sbox
from vectors import wants_all

INPUTS = ("inverse_i", "step_i", "random_i", "tower_i")
# Images of the unit vectors (`../rtl/aes_masked_pkg.sv`).
TO_TOWER = (1, 65, 102, 108, 86, 154, 88, 196)


def to_sbox(byte: int, is_inverse: bool) -> int:
    """What the S-box takes of a byte: for the inverse without the affine transformation, which is that of the inverse."""
    if is_inverse:
        byte = next(a for a in range(256) if rijndael.SBOX[a] == byte)
        byte = next((b for b in range(256) if rijndael.times(b, byte) == 1), 0)
    out = 0
    for bit, image in enumerate(TO_TOWER):
        out ^= image if byte >> bit & 1 else 0
    return out


def secrets() -> list[int]:
    """All of them (`HARTLOCK_ALL_VECTORS=1`, some minutes), or zero, which a multiplication does not mask, and others."""
    return list(range(256)) if wants_all() else [0, *random.sample(range(1, 256), 3)]


@cocotb.test()
async def computes_every_byte_in_both_directions(dut):
    block = await Clocked.started(dut, INPUTS)
    for is_inverse, table in ((0, rijndael.SBOX), (1, rijndael.INVERSE)):
        dut.inverse_i.value = is_inverse
        for byte in range(256):
            mask = random.getrandbits(8)
            dut.tower_i.value = mask << 8 | to_sbox(byte, bool(is_inverse)) ^ mask
            for step in range(4):
                dut.step_i.value, dut.random_i.value = 1 << step, random.getrandbits(8)
                await block.tick()
            dut.step_i.value = 0
            await ReadOnly()
            out = int(dut.byte_o.value)
            assert out >> 8 ^ out & 0xFF == table[byte], f"{byte:#x} gives {out:#x}"
            await block.tick()


@cocotb.test()
async def no_probe_with_its_glitches_tells_the_input(dut):
    await Clocked.started(dut, INPUTS)
    start = time.monotonic()
    sbox = Sbox({})
    for is_inverse in (False, True):
        leaks = sbox.leaks(is_inverse, secrets())
        assert leaks == 0, f"{leaks} of {len(sbox.probes)} probes tell something, inverse {is_inverse}"
        dut._log.info("%d sets of probes, inverse %d: none tells anything", len(sbox.probes), is_inverse)
    dut._log.info("enumerated in %.1f s", time.monotonic() - start)


@cocotb.test()
async def probes_tell_the_input_if_a_stage_lacks_its_mask(dut):
    """The variant without random bits in the first stage is caught."""
    await Clocked.started(dut, INPUTS)
    sbox = Sbox({"Remasks": 0})
    leaks = sbox.leaks(False, secrets())
    assert leaks > 0, "the enumeration notices nothing"
    dut._log.info("%d of %d sets of probes tell something", leaks, len(sbox.probes))
