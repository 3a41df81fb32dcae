"""What the engine for big numbers does while a bit of it flips: whether it says that a forged signature of ECDSA is right, and
whether the power of a forged signature of RSA is the one that software wants. Each input has one fault, which one check finds.

A script is the driver (`device/drivers/src/bignum.rs`): it wipes, writes all operands, waits for `status.idle`, reads errors and
the outcome. It ends with the first verdict that refuses. One that accepts is the end of inputs with `once`; those with `twice`
ask again, from the wipe on. No operand is one bit away from those of a signature that is right.

The time of a program depends on its numbers: scalars of two digits let it come to its comparison soon."""

from __future__ import annotations

import pathlib
import random
import sys
from dataclasses import dataclass

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "data"))

import core_bench as bench
from ecdsa import P256
from programs import programs
from registers import Registers
from rsa_key import Key
from rsa_padding import pkcs1
from upset_script import Script, write_scripts

AT = Registers("bignum", __file__).offsets("BIGNUM")
POWER, VERIFY_P256, WIPE = 1 << 0, 1 << 4, 1 << 7
IDLE, FAILED, GOOD, ALL = 1, 4, 0xC33C_C33C, 0xFFFF_FFFF
# A reset overwrites the memory, a word a cycle.
SETTLING_CYCLES = 2060
LABELS = programs().labels

@dataclass(frozen=True)
class Signature:
    """With its key and the digest that it is of."""

    x: int
    y: int
    r: int
    s: int
    digest: int

    def operands(self) -> dict[int, int]:
        return {bench.X: self.x, bench.Y: self.y, bench.R: self.r, bench.S: self.s, bench.DIGEST: self.digest}


def run(script: Script, operands: dict[int, int], command: int, length: int, is_first: bool) -> None:
    """A command of the driver, up to its end."""
    script.write(AT["command"], WIPE)
    script.poll(AT["status"], IDLE, IDLE, FAILED)
    # Errors of others.
    script.write(AT["error"], ALL)
    for operand, value in operands.items():
        script.write(AT["operand"], operand)
        for index in range((value.bit_length() + 31) // 32):
            script.write(AT["data"], value >> 32 * index & ALL)
    script.write(AT["control"], 0)
    script.write(AT["length"], length)
    if is_first:
        script.mark("command")
    script.write(AT["command"], command)
    script.poll(AT["status"], IDLE, IDLE, FAILED)
    script.require(AT["error"], ALL, 0)


def script() -> Script:
    script = Script(settling_cycles=SETTLING_CYCLES)
    script.alert()
    return script


def verifies(signature: Signature, times: int, event: str = "") -> Script:
    """ECDSA: the verdict of the engine. The event is the first cycle of a part of the program, by its label."""
    verify = script()
    if event:
        verify.event(event, "u_core.u_sequencer.pc_q", LABELS[f"ecdsa_{event}"])
    for time in range(times):
        run(verify, signature.operands(), VERIFY_P256, 0, time == 0)
        if time + 1 < times:
            verify.require(AT["outcome"], ALL, GOOD)
    verify.accept(AT["outcome"], GOOD)
    return verify


def opens(key: Key, signature: int, wanted: int, times: int) -> Script:
    """RSA: the engine gives the power, and software compares it with the encoded message (RFC 8017 §8.2.2)."""
    power = script()
    operands = {bench.MODULUS: key.n, bench.BASE: signature, bench.EXPONENT: key.e}
    words = [wanted >> 32 * index & ALL for index in range(key.bits // 32)]
    for time in range(times):
        run(power, operands, POWER, key.e.bit_length() << 16 | key.bits, time == 0)
        power.require(AT["outcome"], ALL, GOOD)
        power.write(AT["operand"], bench.RESULT)
        for word in words:
            power.require(AT["data"], ALL, word)
        if time + 1 < times:
            power.require(AT["error"], ALL, 0)
    power.accept(AT["error"], 0)
    return power


def of_scalars(u1: int, u2: int) -> Signature:
    """A random key, and numbers that the program makes these scalars of: u1 G + u2 Q has another x than r."""
    x, y = P256.point(random.randrange(1, P256.n))
    s = random.randrange(1, P256.n)
    signature = Signature(x, y, u2 * s % P256.n, s, u1 * s % P256.n)
    assert not P256.verify((x, y), signature.digest, signature.r, signature.s)
    return signature


def above_order() -> Signature:
    """Right but for s, which is more by n. No digit of the scalars is zero, so that they are short."""
    key = P256.point(random.randrange(1, P256.n))
    u1, u2 = 0x35, 0x5A
    point = P256.add(P256.multiply(u1, P256.g), P256.multiply(u2, key))
    assert point is not None
    r = point[0] % P256.n
    s = r * pow(u2, -1, P256.n) % P256.n
    digest = u1 * s % P256.n
    assert P256.verify(key, digest, r, s)
    return Signature(*key, r, s + P256.n, digest)


def off_curve() -> Signature:
    """Right but for the key, which is no point: with a digest of zero and s = r, the sum is the key itself."""
    x, y = (random.randrange(1, P256.p) for _ in range(2))
    assert not P256.is_point(x, y)
    r = x % P256.n
    return Signature(x, y, r, r, 0)


def scripts() -> list[tuple[str, Script]]:
    random.seed(1)
    comparison = of_scalars(0x7C, 0xA3)
    bound, curve = above_order(), off_curve()
    key = Key.random(512)
    # The encoded message is a signature of itself for the exponent 1.
    block = pkcs1("SHA-256", b"an image", key.bits // 8)
    assert block is not None
    message = int.from_bytes(block, "big")
    found = []
    for times, name in ((2, "twice"), (1, "once")):
        found += [
            (f"comparison, {name}", verifies(comparison, times, "verdict")),
            (f"bound of s, {name}", verifies(bound, times)),
            (f"curve, {name}", verifies(curve, times)),
            (f"RSA, {name}", opens(key, message, message, times)),
        ]
    return found


if __name__ == "__main__":
    write_scripts(scripts())
