"""The words of a first stage become those that RFC 8391 has."""

from __future__ import annotations

import random

import cocotb
from handshakes import STALLS, Bench, Part, Sink, chance

INPUTS = ["key_i", "signature_i", "message_i", "last_i", "data_i", "sig_ready_i", "msg_ready_i", "key_ready_i"]
INPUTS += ["engine_done_i", "engine_index_i", "engine_verdict_i"]


class Unit(Part):
    """Offers the words of an image in their order."""

    def __init__(self, dut, key: bytes, signature: bytes, message: bytes) -> None:
        self.dut = dut
        self.stalls = 0.0
        self.words: list[tuple[str, int, int]] = []
        for name, data in [("key_i", key), ("signature_i", signature), ("message_i", message)]:
            words = [data[at : at + 8] for at in range(0, len(data), 8)]
            for number, word in enumerate(words):
                is_last = name == "message_i" and number == len(words) - 1
                self.words.append((name, int.from_bytes(word, "little"), int(is_last)))
        self.at = 0
        self.offers = False

    def drive(self) -> None:
        if not self.offers:
            self.offers = self.at < len(self.words) and not chance(self.stalls)
        for name in ["key_i", "signature_i", "message_i"]:
            getattr(self.dut, name).value = 0
        if self.offers:
            name, word, last = self.words[self.at]
            getattr(self.dut, name).value = 1
            self.dut.data_i.value = word
            self.dut.last_i.value = last

    def sample(self) -> None:
        if self.offers and self.dut.ready_o.value == 1:
            self.at += 1
            self.offers = False


class Key(Part):
    """Takes the words of the key, each once, and the start after them."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.sink = Sink(dut, "key_valid_o", "key_ready_i", ["key_index_o", "key_o"])
        self.words: dict[int, int] = {}
        self.starts = 0

    def drive(self) -> None:
        self.sink.drive()

    def sample(self) -> None:
        self.sink.sample()
        while self.sink.taken:
            assert not self.starts, "a word of the key after the start"
            index, word = self.sink.taken.popleft()
            assert index not in self.words, "a word of the key comes twice"
            self.words[index] = word
        if self.dut.start_o.value == 1:
            assert len(self.words) == 16
            self.starts += 1


def joined(beats) -> bytes:
    *others, (data, last, count) = beats
    assert last == 1 and all(beat[1:] == (0, 8) for beat in others)
    return b"".join(beat[0].to_bytes(8, "little") for beat in others) + data.to_bytes(8, "little")[:count]


async def run(dut, bench: Bench, index: int):
    count = int(dut.SignatureWords.value)
    key, rest = random.randbytes(64), random.randbytes(8 * count - 8)
    message = random.randbytes(8 * random.randint(1, 40))
    signature = index.to_bytes(8, "big") + rest
    unit, keys = Unit(dut, key, signature, message), Key(dut)
    sig = Sink(dut, "sig_valid_o", "sig_ready_i", ["sig_data_o", "sig_last_o", "sig_bytes_o"])
    msg = Sink(dut, "msg_valid_o", "msg_ready_i", ["msg_data_o", "msg_last_o", "msg_bytes_o"])
    for part in [unit, keys.sink, sig, msg]:
        part.stalls = random.choice(STALLS[:3])
    if bench.cycle == 0:
        await bench.start_clock()
    else:
        bench.clear_inputs()
        await bench.reset()
    bench.parts = [unit, keys, sig, msg]
    await bench.run(lambda: unit.at == len(unit.words), 20_000)
    assert keys.starts == 1
    assert b"".join(keys.words[number].to_bytes(4, "big") for number in range(16)) == key
    assert joined(sig.taken) == index.to_bytes(8, "big")[4:] + rest
    assert joined(msg.taken) == message


@cocotb.test()
async def words_are_those_of_the_standard(dut):
    bench = Bench(dut, INPUTS)
    for _ in range(12):
        await run(dut, bench, random.getrandbits(32))


@cocotb.test()
async def an_index_of_more_than_four_bytes_has_no_verdict(dut):
    bench = Bench(dut, INPUTS)
    dut.engine_done_i.value = 1
    for index in [5, 1 << 32, 1 << 63, (1 << 32) + 5, 0xFFFFFFFF]:
        await run(dut, bench, index)
        dut.engine_done_i.value = 1
        dut.engine_verdict_i.value = 0x1234
        await bench.cycles(2)
        fits = index < 1 << 32
        assert dut.done_o.value == 1
        assert int(dut.verdict_o.value) == (0x1234 if fits else 0)
        assert dut.index_o.value == int(not fits)
        dut.engine_verdict_i.value = 0


@cocotb.test()
async def a_count_that_does_not_exist_is_an_error(dut):
    bench = Bench(dut, INPUTS)
    await bench.start()
    await bench.cycles(2)
    count = int(dut.SignatureWords.value)
    assert dut.error_o.value == 0
    dut.count_q.value = count + 1
    await bench.cycles(1)
    assert dut.error_o.value == 1
    await bench.reset()
    dut.key_q.value = 17
    await bench.cycles(1)
    assert dut.error_o.value == 1
