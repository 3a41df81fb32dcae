"""Trivium (ISO/IEC 29192-3), a step at a time: the judge of `aes_masks`."""

from __future__ import annotations

from collections.abc import Iterable

# Registers s1 to s93, s94 to s177, s178 to s288.
LENGTHS = (93, 84, 111)


class Trivium:
    """The state is a list of bits, s1 first."""

    def __init__(self, state: Iterable[int]) -> None:
        self.state = list(state)
        assert len(self.state) == sum(LENGTHS)

    @classmethod
    def keyed(cls, key: bytes, iv: bytes) -> Trivium:
        """The key setup (De Cannière and Preneel, 2006), with bits in the order of the eSTREAM vectors: the last byte
        first, and of a byte the highest bit."""
        state = [*_bits(key), *[0] * 13, *_bits(iv), *[0] * 4, *[0] * 108, 1, 1, 1]
        cipher = cls(state)
        for _ in range(4 * sum(LENGTHS)):
            cipher.step()
        return cipher

    def step(self) -> int:
        """A bit of the key stream."""
        s = self.state
        t1, t2, t3 = s[65] ^ s[92], s[161] ^ s[176], s[242] ^ s[287]
        out = t1 ^ t2 ^ t3
        t1 ^= s[90] & s[91] ^ s[170]
        t2 ^= s[174] & s[175] ^ s[263]
        t3 ^= s[285] & s[286] ^ s[68]
        self.state = [t3, *s[:92], t1, *s[93:176], t2, *s[177:287]]
        return out


def _bits(data: bytes) -> list[int]:
    return [byte >> bit & 1 for byte in reversed(data) for bit in reversed(range(8))]
