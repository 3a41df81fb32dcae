"""What drives the engine for the verification unit while a bit of it flips: no upset makes the engine accept what was not
signed, and none makes the unit see that it did."""

from __future__ import annotations

import random

from boot_verifier_bench import ACCEPTED
from upset_script import Script, parameters, write_scripts

KEY_BYTES = 64
MESSAGE_WORDS = 8  # at most
WORD = 8


class Signed:
    """A key, a signature and a message."""

    def __init__(self, key: bytes, signature: bytes, message: bytes) -> None:
        self.key, self.signature, self.message = key, signature, message

    def words(self) -> int:
        return len(self.message) // WORD

    def encode(self) -> bytes:
        return self.key + self.signature + self.message.ljust(MESSAGE_WORDS * WORD, b"\0")


def script(signed: Signed, given: Signed, verdict: int = ACCEPTED) -> Script:
    script = Script()
    script.forbid(accepted_o=1)
    script.alert("error_o")
    script.set("signed_i", signed.words())
    script.set("given_i", given.words())
    script.set("verdict_i", verdict)
    script.send_bytes(signed.encode() + given.encode())
    script.mark("loaded")
    script.wait_for("done_o")
    script.wait(4)
    return script


if __name__ == "__main__":
    chance = random.Random(7)
    size = WORD * parameters()["SignatureWords"]
    index = bytes(7) + b"\x05"
    key, signature = chance.randbytes(KEY_BYTES), index + chance.randbytes(size - len(index))
    message = chance.randbytes(6 * WORD)
    right = Signed(key, signature, message)
    another = chance.randbytes(WORD)
    halfway = len(message) // 2
    write_scripts([
        ("wrong key", script(right, Signed(chance.randbytes(KEY_BYTES), signature, message))),
        ("wrong signature", script(right, Signed(key, index + chance.randbytes(size - len(index)), message))),
        ("wrong message", script(right, Signed(key, signature, chance.randbytes(len(message))))),
        ("first word wrong", script(right, Signed(key, signature, another + message[WORD:]))),
        ("last word wrong", script(right, Signed(key, signature, message[:-WORD] + another))),
        ("a word before", script(right, Signed(key, signature, another + message))),
        ("a word between", script(right, Signed(key, signature, message[:halfway] + another + message[halfway:]))),
        ("a word after", script(right, Signed(key, signature, message + another))),
        ("a word missing", script(right, Signed(key, signature, message[:-WORD]))),
        ("index of five bytes", script(right, Signed(key, bytes(3) + b"\x01" + signature[4:], message))),
        ("engine refuses", script(right, right, verdict=0)),
    ])
