"""What the AES engine does while a bit of its control flips: no text and no tag that is wrong is given out silently.

A script is the driver (`device/drivers/src/aes.rs`). A text that is encrypted has only the engine's word for it, so every word of
the result counts, and of a tag. A script cannot compare two reads, as the driver does with a tag: upsets of the address of a read
end at the mark `read`. A decryption of GCM with a wrong tag must not say that it is right."""

from __future__ import annotations

import random

import rijndael
from aes_driver import (
    AT,
    DECRYPT,
    FAILED,
    HEALTHY,
    IDLE,
    INPUT_FREE,
    KEY_LEN,
    LOAD_SLOT,
    MODES,
    OUTPUT_VALID,
    START,
    STREAM_IN,
    STREAM_OUT,
    TAG_MATCHES,
)
from upset_script import Script, parameters, write_scripts

# A reset overwrites all registers.
SETTLING_CYCLES = 100
ALL = 0xFFFF_FFFF
SLOT_WORD = 0x6B65_7921


class Engine(Script):
    """With the steps of the driver."""

    def __init__(self) -> None:
        super().__init__(settling_cycles=SETTLING_CYCLES)
        self.alert()
        if parameters().get("Masked"):
            self.random("entropy_i", 1)
            self.set("entropy_valid_i", 1)
            self.until(HEALTHY)
        self.config = 0

    def until(self, bits: int) -> None:
        self.poll(AT["status"], bits, bits, FAILED)

    def check(self) -> None:
        self.require(AT["error"], ALL, 0)

    def load(self, key: bytes) -> None:
        self.mark("key")
        self.until(IDLE)
        self.write_bytes(AT["key"], key)
        self.write(AT["aad_len"], 0)
        self.config = KEY_LEN[len(key)]
        self.check()

    def load_slot(self) -> bytes:
        self.set("slot_valid_i", 1)
        self.set("slot_word_i", SLOT_WORD)
        self.mark("key")
        self.until(IDLE)
        self.write(AT["command"], LOAD_SLOT)
        self.config = KEY_LEN[32]
        self.until(IDLE)
        self.check()
        return SLOT_WORD.to_bytes(4, "little") * 8

    def begin(self, mode: str, flags: int, iv: bytes, aad: bytes, size: int, tag: bytes | None = None) -> None:
        self.config |= MODES[mode] | flags
        self.until(IDLE)
        self.write(AT["control"], self.config)
        self.write(AT["text_len"], size)
        self.write(AT["aad_len"], len(aad))
        self.write(AT["iv_len"], len(iv))
        is_short = mode != "gcm" or len(iv) == 12
        if is_short:
            self.write_bytes(AT["iv"], iv)
        if tag is not None:
            self.write(AT["tag_len"], len(tag))
            self.write_bytes(AT["tag"], tag)
        self.mark("begin")
        self.write(AT["command"], START)
        self.check()
        if not is_short:
            self.feed(iv)
        self.feed(aad)

    def feed(self, data: bytes) -> None:
        for block in rijndael.blocks(data):
            self.until(INPUT_FREE)
            self.write_bytes(AT["data_in"], block.ljust(rijndael.BLOCK, b"\0"))

    def process(self, data: bytes, result: bytes) -> None:
        for block, out in zip(rijndael.blocks(data), rijndael.blocks(result), strict=True):
            self.feed(block)
            self.until(OUTPUT_VALID)
            self.output_bytes(AT["data_out"], out.ljust(rijndael.BLOCK, b"\0"))

    def streams(self, data: bytes, result: bytes) -> None:
        for at in range(0, len(result), 8):
            self.expect("dst", int.from_bytes(result[at : at + 8], "little"))
        self.send_bytes(data)
        self.drain("dst")

    def finish(self) -> None:
        self.until(IDLE)
        self.write(AT["control"], self.config)
        self.require(AT["control"], ALL, self.config)
        self.check()

    def read_tag(self, tag: bytes) -> None:
        self.mark("read")
        self.output_bytes(AT["tag"], tag)
        self.check()

    def judged(self) -> None:
        """The verdict counts only if there is no error, as in the driver: with one address upset, another register is read."""
        self.until(IDLE)
        self.check()
        self.accept(AT["status"], TAG_MATCHES, TAG_MATCHES)


def scripts() -> dict[str, Engine]:
    random_ = random.Random(1)
    found: dict[str, Engine] = {}
    iv, text, aad = random_.randbytes(16), random_.randbytes(40), random_.randbytes(20)
    short, wide = iv[:12], random_.randbytes(32)

    def engine(name: str) -> Engine:
        found[name] = Engine()
        return found[name]

    script = engine("text, CTR")
    script.load(wide)
    script.begin("ctr", 0, iv, b"", len(text))
    script.process(text, rijndael.ctr(wide, iv, text))
    script.finish()

    script = engine("text, CBC decryption")
    script.load(wide[:16])
    script.begin("cbc", DECRYPT, iv, b"", 32)
    script.process(text[:32], rijndael.cbc(wide[:16], iv, text[:32], True))
    script.finish()

    script = engine("text, streams and slot")
    key = script.load_slot()
    script.begin("ctr", STREAM_IN | STREAM_OUT, iv, b"", len(text))
    script.streams(text, rijndael.ctr(key, iv, text))
    script.finish()

    key = wide[:24]
    sealed, tag = rijndael.gcm(key, short, aad, text[:20])
    script = engine("sealing")
    script.load(key)
    script.begin("gcm", 0, short, aad, 20)
    script.process(text[:20], sealed)
    script.finish()
    script.read_tag(tag)

    script = engine("opening, right tag")
    script.load(key)
    script.begin("gcm", DECRYPT, short, aad, 20, tag)
    script.process(sealed, text[:20])
    script.finish()
    script.require(AT["status"], TAG_MATCHES, TAG_MATCHES)

    wrong = bytes([tag[0] ^ 4]) + tag[1:]
    script = engine("opening, tag one bit off")
    script.load(key)
    script.begin("gcm", DECRYPT, short, aad, 20, wrong)
    # Text that was not authentic does not count.
    for block in rijndael.blocks(sealed):
        script.feed(block)
        script.until(OUTPUT_VALID)
        for at in range(4):
            script.require(AT["data_out"] + 4 * at, 0, 0)
    script.judged()
    return found


if __name__ == "__main__":
    write_scripts(scripts().items())
