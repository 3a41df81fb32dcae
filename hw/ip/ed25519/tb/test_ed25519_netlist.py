"""The counted netlist, as cells of the vendor with the contents of their block RAM: `ed25519_core` through its ports alone."""

from __future__ import annotations

import random

import cocotb
from ed25519_bench import DONE, GOOD, KEY, MISMATCH, NONCE, PUBLIC, SIGN, Core, Key, sha512

# The same as of the source (`test_ed25519_core.py`).
PUBLIC_CYCLES, NONCE_CYCLES, SIGN_BOUND, VERIFY_BOUND = 13_001, 13_256, 62_000, 42_000


@cocotb.test()
async def signs_and_verifies(dut):
    core = await Core.started(dut)
    key, message = Key.of_seed(random.randbytes(32)), random.randbytes(96)
    assert await core.load(2, key.scalar, key.prefix) == DONE
    assert await core.run(PUBLIC, 2) == (DONE, PUBLIC_CYCLES)
    assert await core.shown() == key.public()
    await core.digest(sha512(key.prefix + message))
    assert await core.run(NONCE) == (DONE, NONCE_CYCLES)
    r = await core.shown()
    challenge = sha512(r + key.public() + message)
    await core.digest(challenge)
    result, cycles = await core.run(SIGN, 2)
    signature = r + await core.shown(True)
    assert (result, signature) == (DONE, key.sign(message))
    assert NONCE_CYCLES + cycles <= SIGN_BOUND
    result, cycles = await core.verify(key.public(), signature, challenge)
    assert result == GOOD and cycles <= VERIFY_BOUND
    assert (await core.verify(key.public(), signature, sha512(b"")))[0] == MISMATCH
    assert (await core.verify(bytes(32), signature, challenge))[0] == KEY


@cocotb.test()
async def forgets_what_it_had(dut):
    core = await Core.started(dut)
    key = Key.of_seed(random.randbytes(32))
    assert await core.load(0, key.scalar, key.prefix) == DONE
    await core.wipe()
    assert (await core.run(PUBLIC, 0))[0] != DONE
    assert await core.shown() == bytes(32)
