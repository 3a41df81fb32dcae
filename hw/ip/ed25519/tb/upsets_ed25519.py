"""What the Ed25519 engine does while a bit of it flips: it accepts no signature that is not one, and shows no S that does
not verify."""

from __future__ import annotations

import random

from ed25519_bench import Key, curve, number, sha512
from ed25519_driver import AT, CLAMP, DONE, FAILED, GOOD, IDLE, LOAD, NONCE, PUBLIC, S_VALID, SIGN, VERIFY
from upset_script import Script, write_scripts

# A reset overwrites the memories, a word a cycle.
SETTLING_CYCLES = 260
MESSAGE = b"an image"
OTHER = b"another image"


def script() -> Script:
    script = Script(settling_cycles=SETTLING_CYCLES)
    script.alert()
    return script


def run(script: Script, command: int) -> None:
    script.write(AT["command"], command)
    script.poll(AT["status"], IDLE, IDLE, FAILED)


def require_valid(script: Script) -> None:
    script.require(AT["status"], S_VALID, S_VALID)
    script.require(AT["outcome"], 0xFFFF_FFFF, DONE)


def verify(public: bytes, signature: bytes, digest: bytes) -> Script:
    """A signature that is none, as software verifies it."""
    verify = script()
    verify.write_bytes(AT["key"], public)
    verify.write_bytes(AT["r_in"], signature[:32])
    verify.write_bytes(AT["s_in"], signature[32:])
    verify.write_bytes(AT["digest"], digest)
    verify.mark("verify")
    run(verify, VERIFY)
    verify.mark("done")
    verify.accept(AT["outcome"], GOOD)
    return verify


def sign(key: Key) -> Script:
    """A signature, whose nonce is an upset's aim too: S is right, or it gives the key away beside another one.

    With another outcome than `DONE`, software does not read S."""
    public, signature = key.public(), key.sign(MESSAGE)
    sign = script()
    sign.write(AT["control"], CLAMP)
    sign.write_bytes(AT["digest"], key.scalar.to_bytes(32, "little") + key.prefix)
    run(sign, LOAD)
    sign.require(AT["outcome"], 0xFFFF_FFFF, DONE)
    sign.write(AT["control"], 0)
    run(sign, PUBLIC)
    sign.require(AT["outcome"], 0xFFFF_FFFF, DONE)
    sign.mark("nonce")
    sign.write_bytes(AT["digest"], key.hash(key.prefix + MESSAGE))
    sign.mark("reduction")
    run(sign, NONCE)
    sign.require(AT["outcome"], 0xFFFF_FFFF, DONE)
    sign.mark("challenge")
    sign.write_bytes(AT["digest"], key.hash(signature[:32] + public + MESSAGE))
    sign.mark("sign")
    run(sign, SIGN)
    sign.mark("done")
    # Before S is read, because a poll may have read another register, and after it, because the engine may have been
    # wiped meanwhile.
    require_valid(sign)
    sign.output_bytes(AT["s"], signature[32:])
    require_valid(sign)
    return sign


def scripts() -> list[tuple[str, Script]]:
    random.seed(1)
    key, other = (Key.of_seed(random.randbytes(32)) for _ in range(2))
    public, signature = key.public(), key.sign(MESSAGE)
    challenge = sha512(signature[:32] + public + MESSAGE)
    wrong_s = signature[:32] + bytes([signature[32] ^ 1]) + signature[33:]
    return [
        ("wrong image", verify(public, signature, sha512(signature[:32] + public + OTHER))),
        ("S one bit off", verify(public, wrong_s, challenge)),
        # Anyone can change a signature so, and nothing but the bound of S refuses it.
        ("S and L", verify(public, signature[:32] + (number(signature[32:]) + curve.L).to_bytes(32, "little"), challenge)),
        ("wrong key", verify(other.public(), signature, sha512(signature[:32] + other.public() + MESSAGE))),
        ("sign", sign(key)),
    ]


if __name__ == "__main__":
    write_scripts(scripts())
