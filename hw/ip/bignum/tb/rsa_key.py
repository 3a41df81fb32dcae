"""Private keys of RSA, and what the engine takes of them. Random numbers are those of the run."""

from __future__ import annotations

import random
from math import gcd
from typing import NamedTuple

import core_bench as bench


def is_prime(number: int) -> bool:
    """Miller and Rabin, with random bases."""
    if any(number % small == 0 for small in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)):
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(16):
        power = pow(random.randrange(2, number - 1), odd, number)
        if power in (1, number - 1):
            continue
        if all((power := power * power % number) != number - 1 for _ in range(twos - 1)):
            return False
    return True


def some_prime(bits: int, exponent: int) -> int:
    """Its two highest bits are ones, so that a product of two has all of its bits."""
    while True:
        prime = random.getrandbits(bits) | 3 << bits - 2 | 1
        if gcd(prime - 1, exponent) == 1 and is_prime(prime):
            return prime


class Key(NamedTuple):
    """RFC 8017 §3.2, with two primes."""

    p: int
    q: int
    e: int

    @classmethod
    def random(cls, bits: int, exponent: int = 65537) -> Key:
        p, q = (some_prime(bits // 2, exponent) for _ in range(2))
        return cls(p, q, exponent)

    @property
    def n(self) -> int:
        return self.p * self.q

    @property
    def bits(self) -> int:
        return self.n.bit_length()

    def power(self, base: int) -> int:
        """Without the engine's formula: modulo n, by the whole exponent."""
        return pow(base, pow(self.e, -1, (self.p - 1) * (self.q - 1)), self.n)

    def operands(self, base: int, blind: int | None = None) -> dict[int, int]:
        """By their numbers. `blind` is r."""
        p, q, n = self.p, self.q, self.n
        while blind is None or gcd(blind, n) != 1:
            blind = random.randrange(2, n)
        return {
            bench.MODULUS: n,
            bench.BASE: base,
            bench.EXPONENT: self.e,
            bench.PRIME_P: p,
            bench.PRIME_Q: q,
            bench.EXPONENT_P: pow(self.e, -1, p - 1),
            bench.EXPONENT_Q: pow(self.e, -1, q - 1),
            bench.Q_INVERSE: pow(q, -1, p),
            bench.BLINDING: pow(blind, self.e, n),
            bench.UNBLINDING: pow(blind, -1, n),
        }
