"""What the engine for big numbers does while a bit of it flips: it releases no result of a private key that is not the right
one. A result that is right modulo one of both primes gives the factors of the modulus (Boneh, DeMillo, Lipton 1997).

A script is the driver (`device/drivers/src/bignum.rs`): it waits for `status.idle`, reads the outcome, then the result and the
errors. RSA-512, as larger keys take the same program longer."""

from __future__ import annotations

import random

import core_bench as bench
from registers import Registers
from rsa_key import Key
from upset_script import Script, write_scripts

AT = Registers("bignum", __file__).offsets("BIGNUM")
PRIVATE, IDLE, FAILED, GOOD = 1 << 8, 1, 4, 0xC33CC33C
# A reset overwrites the memory, a word a cycle.
SETTLING_CYCLES = 2060
# Steps of the program (`data/private.py`) that a part of a campaign begins with.
STEPS = {"power_q": 1, "power_p": 2, "recombination": 3, "unblinding": 4, "check": 5}


def raises(key: Key, base: int) -> Script:
    script = Script(settling_cycles=SETTLING_CYCLES)
    script.alert()
    for name, step in STEPS.items():
        script.event(name, "u_core.u_sequencer.step_q", step)
    for operand, value in key.operands(base).items():
        script.write(AT["operand"], operand)
        for index in range((value.bit_length() + 31) // 32):
            script.write(AT["data"], value >> 32 * index & 0xFFFF_FFFF)
    script.write(AT["length"], key.e.bit_length() << 16 | key.bits)
    script.mark("private")
    script.write(AT["command"], PRIVATE)
    script.poll(AT["status"], IDLE, IDLE, FAILED)
    script.mark("done")
    script.require(AT["outcome"], 0xFFFF_FFFF, GOOD)
    script.write(AT["operand"], bench.RESULT)
    power = key.power(base)
    for index in range(key.bits // 32):
        script.output(AT["data"], power >> 32 * index & 0xFFFF_FFFF)
    script.require(AT["error"], 0xFFFF_FFFF, 0)
    return script


def scripts() -> list[tuple[str, Script]]:
    random.seed(1)
    key = Key.random(512)
    return [("RSA-512", raises(key, random.randrange(key.n)))]


if __name__ == "__main__":
    write_scripts(scripts())
