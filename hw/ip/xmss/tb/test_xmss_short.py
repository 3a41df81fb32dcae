"""Sets with hashes of 24 bytes (SP 800-208 section 5.2): other blocks, and other numbers of chains, nodes and words."""

from __future__ import annotations

import random

import cocotb
from stored_vectors import SHORT_TYPES, short
from test_xmss_core import flipped
from vectors import folder, some_of
from xmss_bench import INDEX, KEY_TYPE, LONG, MISMATCH, SHORT, TYPE, Core
from xmss_signer import Signed, sign, xmss

# Stored vectors that a daily run verifies.
STORED = 6
# Of the documentation: from the start to the verdict, of a signature of XMSS-SHA2_10_192 with one pass and with two.
CYCLES = {(8, 2): (11_575, 22_957)}
# Layers of sets of XMSS^MT that a daily run verifies.
LAYERS = 12


@cocotb.test()
async def takes_the_cycles_of_the_documentation(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(1), oid=13)
    results = [await core.verify(signed, two_passes) for two_passes in (False, True)]
    cocotb.log.info("%s", results)
    assert all(result.passes for result in results), f"{results}"
    size = (int(dut.Lanes.value), int(dut.RoundsPerCycle.value))
    if size in CYCLES:
        assert tuple(result.cycles for result in results) == CYCLES[size], f"{results}"


@cocotb.test()
async def verifies_every_set(dut):
    """With messages of any length, and hashes of 32 bytes in between: nothing of one size is left for the other."""
    core = await Core.started(dut)
    # Twelve layers with one lane.
    core.patience = 3_000_000
    sets = some_of(list(range(0x21, 0x29)), LAYERS, lambda oid: xmss.XMSS_MT[oid].d)
    dut._log.info("sets of XMSS^MT: %s", sets)
    for oid, is_mt in [*((oid, True) for oid in sets), (13, False), (14, False), (15, False)]:
        core.stalls = random.choice([0.0, 0.0, 0.3])
        message = random.randbytes(random.choice([0, 20, 32, 100]))
        index = random.choice([0, None])
        signed = sign(random.Random(oid), oid=oid, message=message, index=index, is_mt=is_mt)
        result = await core.verify(signed, two_passes=random.random() < 0.3)
        assert result.passes, f"type {oid}: {result}"
        if not is_mt:
            result = await core.verify(signed._replace(message=message + b"!"))
            assert result.error == MISMATCH, f"type {oid}, another message: {result}"
        if random.random() < 0.5:
            assert (await core.verify(sign(random.Random(oid)))).passes, f"32 bytes after type {oid}"


@cocotb.test()
async def refuses_a_flipped_bit_of_each_part(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(2), oid=13)
    path_at, end = 8 * (4 + 24 * 52), 8 * len(signed.signature)
    for bit in (31, random.randrange(32, 224), random.randrange(224, path_at), random.randrange(path_at, end), end - 1):
        result = await core.verify(signed._replace(signature=flipped(signed.signature, bit)))
        assert result.error in (MISMATCH, INDEX), f"signature, bit {bit}: {result}"
    # The first and the last bit of root and seed, and any.
    for bit in (32, random.randrange(32, 224), 223, 224, random.randrange(224, 416), 415):
        result = await core.verify(signed._replace(key=flipped(signed.key, bit)))
        assert result.error == MISMATCH, f"key, bit {bit}: {result}"
    assert (await core.verify(signed)).passes


@cocotb.test()
async def names_what_is_wrong_with_a_form(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(3), oid=13)
    signature = signed.signature
    bad = [
        # Numbers beside those of these sets, in both counts, and those of the other count.
        *((signed._replace(oid=oid), TYPE) for oid in (0, 11, 12, 16, 0x21)),
        *((signed._replace(oid=oid, is_mt=True), TYPE) for oid in (13, 0x20, 0x29)),
        (signed._replace(oid=14), KEY_TYPE),
        # The same words as a key with longer hashes.
        (signed._replace(oid=1), KEY_TYPE),
        (signed._replace(oid=1, key=bytes([0, 0, 0, 1]) + signed.key[4:]), SHORT),
        *((signed._replace(signature=signature[:size]), SHORT) for size in (0, 3, 4, 28, 4 + 24 * 52, len(signature) - 1)),
        (signed._replace(signature=signature[:-24]), SHORT),
        (signed._replace(signature=signature + b"\0"), LONG),
        (signed._replace(signature=signature + bytes(24)), LONG),
        (signed._replace(signature=(1 << 10).to_bytes(4, "big") + signature[4:]), INDEX),
        (sign(random.Random(3))._replace(oid=13, key=signed.key), LONG),
    ]
    for number, (case, error) in enumerate(bad):
        result = await core.verify(case)
        assert result.error == error and result.verdict == 0, f"{number}, {error} expected: {result}"
    assert (await core.verify(signed)).passes


async def shown_root(core: Core, signed: Signed) -> bytes:
    await core.verify(signed)
    root = b""
    for word in range(8):
        core.dut.root_index_i.value = word
        await core.tick(3)
        root += int(core.dut.root_o.value).to_bytes(4, "big")
    return root


@cocotb.test()
async def shows_a_root_of_six_words(dut):
    """Zeros follow it, and no rest of a state; also if the root is another one."""
    core = await Core.started(dut)
    signed = sign(random.Random(6), oid=13)
    assert await shown_root(core, signed) == signed.root + bytes(8)
    other = await shown_root(core, signed._replace(message=signed.message + b"!"))
    assert other[:24] not in (signed.root, bytes(24)) and other[24:] == bytes(8)
    signed = sign(random.Random(6))
    assert await shown_root(core, signed) == signed.root


@cocotb.test()
async def works_after_an_abort_at_any_time(dut):
    core = await Core.started(dut)
    signed = sign(random.Random(5), oid=13)
    for _ in range(4):
        await core.write_key(signed.root, signed.seed)
        await core.start(signed.oid)
        tasks = [
            cocotb.start_soon(core.stream("sig", signed.signature)),
            cocotb.start_soon(core.stream("msg", signed.message)),
        ]
        await core.tick(random.randrange(12_000))
        for task in tasks:
            task.cancel()
        dut.sig_valid_i.value = dut.msg_valid_i.value = 0
        await core.pulse(dut.abort_i)
        await core.wait_for(dut.idle_o)
        assert dut.verdict_o.value == 0
    assert (await core.verify(signed)).passes


@cocotb.test()
async def verdicts_of_stored_vectors_are_those_of_software(dut):
    core = await Core.started(dut)
    base = folder(dut._log.info)
    cases = [] if base is None else list(short(base / "xmss"))
    part = some_of(cases, STORED, lambda _: 1) if cases else []
    dut._log.info("stored vectors: %d of %d cases of hashes of 24 bytes", len(part), len(cases))
    for case in part:
        signed = case.signed
        is_built_in = signed.oid in SHORT_TYPES.values() and signed.oid == int.from_bytes(signed.key[:4], "big")
        assert (signed.fault is None and is_built_in) == case.is_valid, f"{case.name}: the judge"
        result = await core.verify(signed)
        assert result.passes == case.is_valid, f"{case.name}: {result}"
