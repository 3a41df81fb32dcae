"""The engine over its registers and streams, against the judge of this folder and public vectors."""

from __future__ import annotations

import random

import aes_driver as regs
import cocotb
import rijndael
from aes_bench import MASKED, ROUNDS, texts
from aes_driver import Driver
from axi_lite import SLVERR
from clocked import periods
from cocotb.triggers import ReadOnly, ReadWrite
from stored_vectors import cases

KEYS = (16, 24, 32)
# Ways of text and result.
PORTS = (0, regs.STREAM_IN, regs.STREAM_OUT, regs.STREAM_IN | regs.STREAM_OUT)
# What a message is; it is written whole and while idle.
SETTINGS = ("control", "text_len", "aad_len", "iv_len", "tag_len")
# Of a masked S-box, a register of each stage for each share.
SBOX_REGISTERS = ("inner1_q", "cross1_q", "inner2_q", "cross2_q", "norm_q", "inner3h_q", "cross3l_q", "inner4h_q", "cross4l_q")
# Blocks of stored vectors.
BUDGET = 120


def judge(mode: str, key: bytes, iv: bytes, text: bytes, is_decryption: bool) -> bytes:
    if mode == "ecb":
        return rijndael.ecb(key, text, is_decryption)
    return rijndael.cbc(key, iv, text, is_decryption) if mode == "cbc" else rijndael.ctr(key, iv, text)


async def agrees(driver: Driver, mode: str, key: bytes, size: int, flags: int) -> None:
    iv, text = random.randbytes(16), random.randbytes(size)
    await driver.configure(mode, flags, iv, (size, 0))
    got = await driver.run(text)
    want = judge(mode, key, iv, text, bool(flags & regs.DECRYPT))
    assert got == want, f"{mode}, {len(key)} bytes of key, {size} of text, {flags:#x}: {got.hex()}"


@cocotb.test()
async def says_what_it_is(dut):
    driver = await Driver.started(dut)
    assert (await driver.read("id")).to_bytes(4, "big") == b"aes1"
    assert await driver.read("parameters") == driver.is_masked
    assert await driver.read("status") & ~regs.HEALTHY == regs.IDLE


@cocotb.test()
async def computes_every_mode_by_every_port_with_stalls(dut):
    driver = await Driver.started(dut)
    for size in KEYS:
        key = random.randbytes(size)
        await driver.load_key(key)
        for mode in ("ecb", "cbc", "ctr"):
            for flags in (0, regs.DECRYPT):
                # Streams often wait longer than for a block.
                driver.bus.stalls, driver.stalls = random.choice([0.0, 0.5]), random.choice([0.0, 0.5, 0.95])
                for length in (16, 48):
                    await agrees(driver, mode, key, length, flags | random.choice(PORTS))
        for length in (1, 7, 8, 9, 15, 17, 31, 33, 40):
            await agrees(driver, "ctr", key, length, random.choice(PORTS))
    await driver.expect_errors(0)


@cocotb.test()
async def counts_over_every_word_of_a_counter(dut):
    """SP 800-38A, appendix B.1: with all bits; GCM with 32 only."""
    driver = await Driver.started(dut)
    key, text = random.randbytes(16), random.randbytes(48)
    await driver.load_key(key)
    for ones in (4, 5, 8, 12, 16):
        iv = (random.randbytes(16 - ones) + b"\xff" * ones)[:16]
        await driver.configure("ctr", 0, iv, (48, 0))
        assert await driver.run(text) == rijndael.ctr(key, iv, text)


@cocotb.test()
async def computes_gcm_with_stalls(dut):
    driver = await Driver.started(dut)
    for number in range(14):
        key = random.randbytes(random.choice(KEYS))
        await driver.load_key(key)
        driver.stall(random.choice([0.0, 0.4]))
        iv = random.randbytes(12 if number % 2 else random.choice([1, 8, 16, 17, 40]))
        aad, text = (random.randbytes(random.choice([0, 1, 15, 16, 20, 33])) for _ in range(2))
        port = random.choice(PORTS)
        sealed, tag = rijndael.gcm(key, iv, aad, text)
        assert (await driver.gcm(iv, aad, text, port))[:2] == (sealed, tag)
        size = random.choice([4, 12, 16])
        opened, shown, status = await driver.gcm(iv, aad, sealed, port | regs.DECRYPT, tag[:size])
        assert opened == text and status & regs.TAG_MATCHES and not any(shown), f"{status:#x}"
        await driver.expect_errors(0)
        # Any bit that counts.
        bit = random.randrange(8 * size)
        wrong = bytes(byte ^ (at == bit // 8) << bit % 8 for at, byte in enumerate(tag[:size]))
        _, shown, status = await driver.gcm(iv, aad, sealed, port | regs.DECRYPT, wrong)
        assert not status & (regs.TAG_MATCHES | regs.TAG_VALID) and not any(shown), f"{status:#x}"
        await driver.expect_errors(regs.BAD_TAG)


@cocotb.test()
async def agrees_with_stored_vectors(dut):
    driver = await Driver.started(dut)
    for case in cases(BUDGET, dut._log.info):
        await driver.load_key(case.key)
        port = random.choice(PORTS)
        if case.mode == "cbc":
            for is_decryption, text, want in ((False, case.text, case.sealed), (True, case.sealed, case.text)):
                flags = port | (regs.DECRYPT if is_decryption else 0)
                await driver.configure("cbc", flags, case.iv, (len(text), 0))
                assert await driver.run(text) == want, case.name
            continue
        if case.is_valid:
            sealed, tag, _ = await driver.gcm(case.iv, case.aad, case.text, port)
            assert (sealed, tag[: len(case.tag)]) == (case.sealed, case.tag), case.name
        opened, _, status = await driver.gcm(case.iv, case.aad, case.sealed, port | regs.DECRYPT, case.tag)
        assert bool(status & regs.TAG_MATCHES) == case.is_valid, case.name
        if case.is_valid:
            assert opened == case.text, case.name
        await driver.expect_errors(0 if case.is_valid else regs.BAD_TAG)


async def block_cycles(driver: Driver, mode: str, flags: int, text: bytes, iv: bytes) -> set[int]:
    """The distances between results of a message that is streamed in and out without stalls."""
    await driver.configure(mode, flags | regs.STREAM_IN | regs.STREAM_OUT, iv, (len(text), 0))
    taken = []

    async def watch() -> None:
        while True:
            await ReadOnly()
            if driver.dut.u_modes.stores_text.value == 1:
                taken.append(driver.cycle)
            await driver.tick()

    watching = cocotb.start_soon(watch())
    await driver.run(text)
    watching.cancel()
    assert len(taken) == len(text) // 16
    return periods(taken)


@cocotb.test()
async def takes_the_cycles_of_its_documentation(dut):
    """The cycles of a block in every mode, for zeros, ones and any data."""
    driver = await Driver.started(dut)
    table = MASKED if driver.is_masked else ROUNDS
    for size in KEYS:
        for mode in regs.MODES:
            for flags in (0, regs.DECRYPT):
                times = set()
                for text in texts(16 * 3):
                    await driver.load_key(text[:size])
                    iv = text[:12] if mode == "gcm" else text[:16]
                    times |= await block_cycles(driver, mode, flags, text, iv)
                # The digest of a block takes fourteen cycles, more than the rounds of a short key.
                want = max(table[size], 14) if mode == "gcm" else table[size]
                assert times == {want}, f"{mode}, {size} bytes of key, {flags}: {sorted(times)}, not {want}"
    await driver.write("error", regs.ALL_ERRORS)


@cocotb.test()
async def keeps_the_key_to_itself(dut):
    """No address of key, vector or input can be read: an error, and zeros."""
    driver = await Driver.started(dut)
    await driver.load_key(b"\xff" * 32)
    await driver.configure("cbc", 0, b"\xff" * 16, (16, 0))
    for moment in ("before", "after"):
        for name, words in (("key", 8), ("iv", 4), ("data_in", 4)):
            for index in range(words):
                got = await driver.bus.reads([regs.AT[name] + 4 * index])
                assert got == [(0, SLVERR)], f"{name} {index} reads something {moment}"
        if moment == "before":
            await driver.run(bytes(16))


@cocotb.test()
async def refuses_bad_input_with_an_error_and_goes_on(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(32)
    # Without a key, and with a part of one.
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_KEY)
    await driver.put("key", key[:20])
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_KEY)
    await driver.load_key(key)
    # The length that is none, and a key of another length.
    for code in (3, 1):
        await driver.write("control", 1 | code << 4)
        await driver.write("command", regs.START)
        await driver.expect_errors(regs.BAD_KEY)
    # No mode.
    for mode in (0, 5, 6, 7):
        await driver.write("control", mode | 2 << 4)
        await driver.write("command", regs.START)
        await driver.expect_errors(regs.BAD_MODE)
    # No text, and no whole blocks.
    for mode in ("ecb", "cbc"):
        for size in (0, 1, 15, 17):
            await driver.configure(mode, 0, bytes(16), (size, 0))
            await driver.write("command", regs.START)
            await driver.expect_errors(regs.BAD_LENGTH)
    await driver.configure("ctr", 0, bytes(16), (0, 0))
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_LENGTH)
    for size in (0, 3, 17, 31):
        await driver.configure("gcm", regs.DECRYPT, bytes(12), (16, 0))
        await driver.write("tag_len", size)
        await driver.write("command", regs.START)
        await driver.expect_errors(regs.BAD_LENGTH)
    # No vector: it is used once.
    await driver.configure("cbc", 0, bytes(16), (16, 0))
    await driver.run(bytes(16))
    await driver.until(regs.IDLE)
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_IV)
    await driver.configure("gcm", 0, b"", (16, 0))
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_IV)
    # Stores for which no block is wanted, half words, and everything while busy.
    await driver.write("data_in", 1)
    await driver.expect_errors(regs.BAD_DATA)
    for name in (*SETTINGS, "key", "iv", "tag"):
        await driver.bus.write(regs.AT[name], 1, strobe=0b0111)
        await driver.expect_errors(regs.BAD_WRITE)
    await driver.write("command", regs.LOAD_SLOT)
    await driver.expect_errors(regs.BAD_KEY)
    await driver.configure("ecb", 0, None, (16, 0))
    await driver.write("command", regs.START)
    for name in (*SETTINGS, "key", "iv", "tag"):
        await driver.write(name, 1)
        await driver.expect_errors(regs.BAD_WRITE)
    await driver.write("command", regs.START)
    await driver.expect_errors(regs.BAD_COMMAND)
    assert await driver.read("control") == driver.config
    # None of these has changed the key or the message.
    text = random.randbytes(16)
    await driver.feed(text)
    assert await driver.collect(16) == rijndael.encrypt(key, text)


@cocotb.test()
async def drops_a_stream_that_ends_at_the_wrong_place(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(16)
    await driver.load_key(key)
    for size, sent in ((20, 16), (20, 19), (20, 21), (20, 24), (32, 24), (16, 8), (8, 16), (3, 2)):
        await driver.configure("ctr", regs.STREAM_IN, bytes(16), (size, 0))
        await driver.write("command", regs.START)
        sending = cocotb.start_soon(driver.stream(bytes(sent)))
        for _ in range(40):
            if await driver.read("error"):
                break
            if await driver.read("status") & regs.OUTPUT_VALID:
                await driver.get("data_out")
        await driver.expect_errors(regs.BAD_STREAM)
        sending.cancel()
        dut.str_valid_i.value = 0
        assert await driver.until(regs.IDLE) & regs.OUTPUT_VALID == 0
        await driver.pulse(dut.str_abort_i)
        await agrees(driver, "cbc", key, 32, regs.STREAM_IN)


async def aborted(driver: Driver, at: int, by_stream: bool) -> None:
    """Drops a message so many cycles after its start, by the stream or by the command."""
    await driver.configure("gcm", regs.STREAM_IN | regs.STREAM_OUT, bytes(12), (48, 0))
    task = cocotb.start_soon(driver.run(random.randbytes(48)))
    await driver.wait_for(driver.dut.starts)
    await driver.tick(at)
    if by_stream:
        await driver.pulse(driver.dut.str_abort_i)
    task.cancel()
    driver.dut.str_valid_i.value, driver.dut.dst_ready_i.value = 0, 0
    driver.bus = type(driver.bus)(driver.dut, "axil")
    if by_stream and at < 5:
        # The answer to the start was on its way.
        await driver.tick(10)
    # After an abort of the stream, for a result that waits.
    await driver.write("command", regs.ABORT)
    assert await driver.read("error") & ~regs.DROPPED == 0
    status = await driver.until(regs.IDLE)
    status &= ~(regs.IV_LOADED | regs.HEALTHY)
    assert status == regs.IDLE | regs.KEY_LOADED, f"aborted at {at}: {status:#x}"
    assert not any(await driver.get("data_out")) and not any(await driver.get("tag")), f"aborted at {at}"


@cocotb.test()
async def starts_again_after_an_abort_at_any_cycle(dut):
    """An abort in every cycle of a message, with an expansion, which takes 55 cycles, and without one; then messages."""
    driver = await Driver.started(dut)
    key = random.randbytes(32)
    for by_stream, cycles in ((True, range(180)), (False, range(5, 125))):
        for at in cycles:
            if by_stream:
                await driver.load_key(key)
            await aborted(driver, at, by_stream)
            if at % 10 == 0:
                await agrees(driver, "cbc", key, 32, regs.DECRYPT)
            else:
                await agrees(driver, "ctr", key, 5, regs.STREAM_IN | regs.STREAM_OUT)
            await driver.write("error", regs.ALL_ERRORS)


def stored(driver: Driver) -> dict[str, int]:
    """Every register and memory with data."""
    dut, core = driver.dut, driver.dut.g_cipher.u_core
    values = {
        "hold": dut.u_modes.hold_q,
        "output": dut.u_modes.output_q,
        "subkey": dut.u_modes.subkey_q,
        "mask": dut.u_modes.mask_q,
        "iv": dut.u_modes.iv_q,
        "input": dut.u_input.words_q,
        "tag": dut.tag_q,
    }
    if driver.is_masked:
        values["state"] = core.state_q_shares
        memories = [core.g_share[share].u_memory for share in range(2)]
    else:
        values |= {"state": core.sub, "first": core.first_q}
        memories = [core.u_keys]
    found = {name: int(port.value) for name, port in values.items()}
    if driver.is_masked:
        # Small registers may get the value again that they had; all of them do not.
        for name in SBOX_REGISTERS:
            bits = "".join(str(getattr(core.g_sub[at].u_sbox, name).value) for at in range(16))
            found[f"S-boxes, {name}"] = int(bits, 2)
    for share, memory in enumerate(memories):
        for bank in range(4):
            for row in range(15):
                found[f"key {share} {row} {bank}"] = int(memory.g_bank[bank].memory[row].value)
    return found


@cocotb.test()
async def overwrites_everything_with_pseudo_random_words(dut):
    """On command, on a change of the lifecycle, and on reset: nothing keeps its value, and nothing becomes zero."""
    driver = await Driver.started(dut)
    for cause in ("command", "lifecycle", "reset"):
        await driver.load_key(b"\xff" * 32)
        sealed, tag = rijndael.gcm(b"\xff" * 32, bytes(12), b"", bytes(32))
        assert (await driver.gcm(bytes(12), b"", bytes(32)))[:2] == (sealed, tag)
        before = stored(driver)
        if cause == "command":
            await driver.write("command", regs.WIPE)
        elif cause == "lifecycle":
            dut.lifecycle_i.value = 0b1010
        else:
            await driver.reset()
        # Hidden at once.
        if cause != "reset":
            await driver.tick(3)
            assert dut.tag_valid.value == 0 and dut.key_loaded.value == 0 and dut.output_valid.value == 0
        assert await driver.until(regs.IDLE) & ~regs.HEALTHY == regs.IDLE
        after = stored(driver)
        for name, value in after.items():
            assert value not in (0, before[name]), f"{cause}: {name} is {value:#x}"
        await driver.trusts()
        assert int(dut.u_modes.u_ghash.sum_q.value) == 0
        # The tag is gone, and a reader that comes late is told.
        await driver.expect_errors(0 if cause == "reset" else regs.DROPPED)
        await driver.configure("ecb", 0, None, (16, 0))
        await driver.write("command", regs.START)
        await driver.expect_errors(regs.BAD_KEY)


@cocotb.test()
async def tells_that_a_result_was_dropped(dut):
    """In the middle of a message, and a block that waits for its reader; not when nothing is lost."""
    driver = await Driver.started(dut)
    for command in (regs.WIPE, regs.ABORT):
        for is_fed in (False, True):
            await driver.load_key(bytes(16))
            await driver.configure("ecb", 0, None, (16, 0))
            await driver.write("command", regs.START)
            if is_fed:
                await driver.feed(bytes(16))
                await driver.until(regs.OUTPUT_VALID)
            await driver.expect_errors(0)
            await driver.write("command", command)
            await driver.expect_errors(regs.DROPPED)
            await driver.write("command", command)
            await driver.expect_errors(0)
            await driver.trusts()


@cocotb.test()
async def takes_the_key_of_the_slot(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(32)
    dut.slot_valid_i.value = 1

    async def slot() -> None:
        while True:
            await ReadWrite()
            at = 4 * int(dut.slot_index_o.value)
            dut.slot_word_i.value = int.from_bytes(key[at : at + 4], "little")
            await driver.tick()

    cocotb.start_soon(slot())
    await driver.write("command", regs.LOAD_SLOT)
    driver.key_len = 32
    await agrees(driver, "ecb", key, 32, 0)
    await driver.expect_errors(0)


@cocotb.test()
async def fails_for_good_when_it_is_upset(dut):
    """Any word that is no state, in each of the machines: no command leaves it, and nothing is kept."""
    driver = await Driver.started(dut)
    modes = {0x17, 0x2B, 0x3C, 0x4D, 0x5A, 0x66, 0x71, 0x8E, 0x99, 0xA5, 0xB2, 0xD4}
    small = {0b00110, 0b01001, 0b10101, 0b11010}
    core = dut.g_cipher.u_core
    if driver.is_masked:
        masked = {0b001011, 0b010101, 0b100110, 0b101101, 0b111000}
        ciphers = [(core.u_state.u_flop.value_q, set(range(64)) - masked, 6)]
    else:
        ciphers = [(core.u_control.u_state.u_flop.value_q, set(range(32)) - (small - {0b01001}), 4), (core.u_keys.u_state.u_flop.value_q, set(range(32)) - small, 4)]
    machines = (
        (dut.u_modes.u_state.u_flop.value_q, set(range(256)) - modes, 6),
        *ciphers,
        (dut.u_verdict.u_flop.value_q, set(range(32)) - small, 2),
    )
    for register, illegal, count in machines:
        for number, forced in enumerate(random.sample(sorted(illegal), count)):
            await driver.load_key(b"\xff" * 32)
            await driver.configure("cbc", 0, bytes(16), (32, 0))
            await driver.write("command", regs.START)
            if number % 2:
                await driver.feed(bytes(16))
            before = stored(driver)
            register.value = forced
            await driver.let_assertions_fail()
            await driver.tick(2)
            assert dut.alert_o.value == 1, f"went on from {forced:b}"
            await driver.tick(110)
            after = stored(driver)
            for name, value in after.items():
                assert value != before[name] or not value, f"{name} is kept after {forced:b}"
            for command in (regs.WIPE, regs.ABORT, regs.START, regs.LOAD_SLOT):
                await driver.write("command", command)
                await driver.write("data_in", 1)
                status = await driver.read("status")
                assert status & regs.FAILED and not status & (regs.IDLE | regs.KEY_LOADED), f"{status:#x}"
                assert not any(await driver.get("data_out"))
            await driver.reset()


@cocotb.test()
async def raises_interrupts(dut):
    driver = await Driver.started(dut)
    key = random.randbytes(16)
    await driver.load_key(key)
    await driver.write("interrupt_enable", regs.DONE_IRQ)
    await driver.configure("ecb", 0, None, (17, 0))
    await driver.write("command", regs.START)
    await driver.tick(3)
    # That interrupt is disabled.
    assert await driver.read("interrupt") == regs.ERROR_IRQ and dut.irq_o.value == 0
    await driver.write("interrupt", regs.ERROR_IRQ)
    await driver.expect_errors(regs.BAD_LENGTH)
    await agrees(driver, "ecb", key, 16, 0)
    assert dut.irq_o.value == 1
    await driver.write("interrupt", regs.DONE_IRQ)
    await driver.tick(2)
    assert dut.irq_o.value == 0


@cocotb.test()
async def tells_the_health_of_its_noise_source(dut):
    driver = await Driver.started(dut)
    driver.lose_noise()
    # The masked engine tests all eight nibbles of a word, the other one its first.
    per_word = 8 if driver.is_masked else 1

    async def passes(samples: int) -> int:
        for _ in range(samples // per_word):
            await driver.send("entropy", entropy=random.getrandbits(32))
        await driver.tick(10)
        return await driver.read("status") & regs.HEALTHY

    # Not before a start-up test of 1,024 samples, and after a wipe not before another one.
    for _ in range(2):
        await driver.write("command", regs.WIPE)
        await driver.until(regs.IDLE)
        assert not await passes(1024 - per_word) and await passes(per_word)
    for _ in range(30):
        await driver.send("entropy", entropy=0x5555_5555)
    assert not await driver.read("status") & regs.HEALTHY
    await driver.expect_errors(regs.BAD_ENTROPY)


@cocotb.test()
async def streams_no_word_of_a_configuration_that_was_upset(dut):
    """A flip of mode, direction or length of the key in each cycle of a block. A result of too few rounds tells the key, and one
    without its text is the key stream: neither leaves, not even for one cycle."""
    driver = await Driver.started(dut)
    text, iv = random.randbytes(16), random.randbytes(16)
    for size in (24, 32):
        cycles = range(1, ROUNDS[size] + 4)
        cases = [(bit, at) for bit in range(6) for at in cycles]
        if driver.is_masked:
            cases = [(bit, random.randrange(1, MASKED[size] + 4)) for bit in range(6)]
        key = random.randbytes(size)
        right = rijndael.ctr(key, iv, text)
        for bit, at in cases:
            await driver.load_key(key)
            await driver.configure("ctr", regs.STREAM_OUT, iv, (16, 0))
            await driver.write("command", regs.START)
            dut.dst_ready_i.value = 1
            feeding = cocotb.start_soon(driver.feed(text))
            # A block of the text leaves for the cipher in this cycle.
            await driver.wait_for(dut.input_ready)
            await driver.tick(at - 1)
            register = dut.u_control.u_flop.value_q
            register.value = int(register.value) ^ 1 << bit
            await driver.let_assertions_fail()
            for _ in range(6):
                await ReadOnly()
                word = int(dut.dst_data_o.value).to_bytes(8, "little")
                assert not dut.dst_valid_o.value or word in right, f"{size} bytes, bit {bit}, cycle {at}: {word.hex()}"
                await driver.tick()
            assert dut.alert_o.value == 1, f"{size} bytes, bit {bit}, cycle {at}"
            dut.dst_ready_i.value = 0
            await feeding
            await driver.reset()
