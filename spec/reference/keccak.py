"""Hashes of image-format.md §2.3 and §6 that hashlib lacks: cSHAKE, ParallelHash, KT128.

Written from the text, FIPS 202, SP 800-185 and RFC 9861. Slow: a megabyte takes seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

MASK = 2**64 - 1


def _round_constants() -> list[int]:
    """RC of the 24 rounds (FIPS 202 §3.2.5), from the shift register."""
    constants = []
    state = 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if state & 1:
                constant |= 1 << (2**j - 1)
            state <<= 1
            if state & 0x100:
                state ^= 0x171
        constants.append(constant)
    return constants


ROUND_CONSTANTS = _round_constants()


def _walk() -> list[tuple[int, int, int]]:
    """From which lane to which rho and pi move, and by how many bits (FIPS 202 §3.2.2, §3.2.3)."""
    moves = [(0, 0, 0)]
    x, y = 1, 0
    for t in range(24):
        to = y + 5 * ((2 * x + 3 * y) % 5)
        moves.append((x + 5 * y, to, (t + 1) * (t + 2) // 2 % 64))
        x, y = y, (2 * x + 3 * y) % 5
    return moves


MOVES = _walk()


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def permute(a: list[int], rounds: int) -> list[int]:
    """Keccak-p[1600, rounds], the last of 24 rounds (FIPS 202 §3.3). Lane A[x, y] is a[x + 5y]."""
    for constant in ROUND_CONSTANTS[24 - rounds :]:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[x - 1] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
        b = [0] * 25
        for source, target, bits in MOVES:
            b[target] = _rotate(a[source] ^ d[source % 5], bits)
        a = [
            b[y + x] ^ (~b[y + (x + 1) % 5] & MASK & b[y + (x + 2) % 5])
            for y in range(0, 25, 5)
            for x in range(5)
        ]
        a[0] ^= constant
    return a


def sponge(message: bytes, suffix: int, rate: int, rounds: int, size: int) -> bytes:
    """The first `size` bytes of output, at most `rate` (§6.3)."""
    block_count = len(message) // rate + 1
    padded = bytearray((message + bytes([suffix])).ljust(block_count * rate, b"\0"))
    padded[-1] ^= 0x80
    state = [0] * 25
    for at in range(0, len(padded), rate):
        for i in range(rate // 8):
            state[i] ^= int.from_bytes(padded[at + 8 * i : at + 8 * i + 8], "little")
        state = permute(state, rounds)
    return b"".join(lane.to_bytes(8, "little") for lane in state)[:size]


def _digits(value: int) -> bytes:
    """Most significant byte first, without leading zeros, at least one byte."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def left_encode(value: int) -> bytes:
    digits = _digits(value)
    return bytes([len(digits)]) + digits


def right_encode(value: int) -> bytes:
    digits = _digits(value)
    return digits + bytes([len(digits)])


def parallelhash(strength: int, payload: bytes | memoryview, block_size: int, size: int) -> bytes:
    """ParallelHash128 or ParallelHash256 with S = "" and `size` bytes of output (§6.3)."""
    leaf, rate = {128: (hashlib.shake_128, 168), 256: (hashlib.shake_256, 136)}[strength]
    starts = range(0, len(payload), block_size)
    z = left_encode(block_size)
    z += b"".join(leaf(payload[at : at + block_size]).digest(size) for at in starts)
    z += right_encode(len(starts)) + right_encode(8 * size)
    name = b"ParallelHash"
    front = left_encode(rate) + left_encode(8 * len(name)) + name + left_encode(0)
    return sponge(front.ljust(rate, b"\0") + z, 0x04, rate, 24, size)


CHUNK_SIZE = 8192


def kt128(parts: Sequence[bytes | memoryview]) -> bytes:
    """KT128 of the joined parts, with C = "" and 32 bytes of output (§6.4)."""
    s = b"".join(parts) + b"\0"
    chunks = [s[at : at + CHUNK_SIZE] for at in range(0, len(s), CHUNK_SIZE)]
    if len(chunks) == 1:
        return sponge(s, 0x07, 168, 12, 32)
    values = [sponge(chunk, 0x0B, 168, 12, 32) for chunk in chunks[1:]]
    node = chunks[0] + b"\3" + bytes(7) + b"".join(values)
    node += right_encode(len(values)) + b"\xff\xff"
    return sponge(node, 0x06, 168, 12, 32)
