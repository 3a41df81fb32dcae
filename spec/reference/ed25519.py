"""Ed25519 verification (RFC 8032 §5.1) under the strict rule of image-format.md §5.2.

For verify.py and its tests. Plain integers, nothing else, and not constant time: everything that
is computed here is public. Nothing in this file may be reused for signing.
"""

from __future__ import annotations

import hashlib
from enum import Enum, auto

Point = tuple[int, int, int, int]  # extended coordinates: x = X/Z, y = Y/Z, xy = T/Z

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
IDENTITY: Point = (0, 1, 1, 0)
BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE_Y = 4 * pow(5, -1, P) % P
BASE: Point = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)

# The y of all points whose order divides 8, as §5.2 lists them.
Y8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
SMALL_ORDER_Y = frozenset((0, 1, P - 1, Y8, P - Y8))


class Fault(Enum):
    """Why a signature is refused, in the order of the checks."""

    KEY = auto()
    ENCODING = auto()
    MISMATCH = auto()


def add(p: Point, q: Point) -> Point:
    """Complete addition (RFC 8032 §5.1.4)."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def double(p: Point) -> Point:
    """Doubling (RFC 8032 §5.1.4)."""
    a = p[0] * p[0] % P
    b = p[1] * p[1] % P
    h = a + b
    e = h - (p[0] + p[1]) * (p[0] + p[1]) % P
    g = a - b
    f = 2 * p[2] * p[2] % P + g
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def negate(p: Point) -> Point:
    """The point with the other x."""
    return (P - p[0], p[1], p[2], P - p[3])


def multiply(s: int, p: Point, t: int = 0, q: Point = IDENTITY) -> Point:
    """[s]p + [t]q, both scalars at once."""
    table = (IDENTITY, p, q, add(p, q))
    result = IDENTITY
    for bit in range(max(s.bit_length(), t.bit_length()) - 1, -1, -1):
        result = double(result)
        index = (s >> bit & 1) | (t >> bit & 1) << 1
        if index:
            result = add(result, table[index])
    return result


def encode_point(p: Point) -> bytes:
    """32 bytes: y, with the lowest bit of x on top (RFC 8032 §5.1.2)."""
    inverse = pow(p[2], -1, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def split(data: bytes) -> tuple[int, int]:
    """Sign bit and y of an encoding, canonical or not."""
    value = int.from_bytes(data, "little")
    return value >> 255, value & (2**255 - 1)


def is_canonical(data: bytes) -> bool:
    """Whether y < p and x is not "-0"; x is 0 exactly for y = 1 and y = -1."""
    sign, y = split(data)
    return y < P and not (sign and y in (1, P - 1))


def is_small_order(data: bytes) -> bool:
    """Whether a canonical encoding is that of a point whose order divides 8."""
    return split(data)[1] in SMALL_ORDER_Y


def decode_point(data: bytes) -> Point | None:
    """The point of a canonical encoding (RFC 8032 §5.1.3), None for every other string."""
    if not is_canonical(data):
        return None
    sign, y = split(data)
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * SQRT_M1 % P
    if v * x * x % P != u:
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def check(public_key: bytes, signature: bytes, message: bytes) -> Fault | None:
    """None if the signature verifies under the strict rule of §5.2, else the first fault."""
    if not is_canonical(public_key) or is_small_order(public_key):
        return Fault.KEY
    a = decode_point(public_key)
    if a is None:
        return Fault.KEY
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if not is_canonical(r) or is_small_order(r) or s >= L:
        return Fault.ENCODING
    k = int.from_bytes(hashlib.sha512(r + public_key + message).digest(), "little") % L
    computed = encode_point(multiply(s, BASE, k, negate(a)))
    return None if computed == r else Fault.MISMATCH
