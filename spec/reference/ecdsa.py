"""ECDSA verification (FIPS 186-5 §6.4.2) on P-256 and P-384, for verify.py and its tests.

P-256 goes with SHA-256 and P-384 with SHA-384. A public key is an uncompressed point (SEC 1
§2.3.3), a signature is r and s, each as long as the order of the curve. Affine points and plain
integers, slow, and not constant time: everything that is computed here is public.

The order of the faults: KEY, LENGTH, ENCODING, MISMATCH.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple, Optional

from .faults import Fault

Point = Optional[tuple[int, int]]  # x and y; None is the point at infinity


class Curve(NamedTuple):
    """y^2 = x^3 - 3x + b over the integers modulo p, with a base point of prime order n."""

    p: int
    b: int
    n: int
    g: Point
    hash_name: str

    @property
    def size(self) -> int:
        """Bytes of a coordinate, and of r or s: p and n are equally long."""
        return (self.p.bit_length() + 7) // 8


# SP 800-186 §3.2.1.3 and §3.2.1.4.
P256 = Curve(
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    g=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    hash_name="sha256",
)
P384 = Curve(
    p=2**384 - 2**128 - 2**96 + 2**32 - 1,
    b=int(
        "B3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE814112"
        "0314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF",
        16,
    ),
    n=int(
        "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
        "C7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973",
        16,
    ),
    g=(
        int(
            "AA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B98"
            "59F741E082542A385502F25DBF55296C3A545E3872760AB7",
            16,
        ),
        int(
            "3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147C"
            "E9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F",
            16,
        ),
    ),
    hash_name="sha384",
)


def is_on_curve(curve: Curve, x: int, y: int) -> bool:
    return (y * y - (x * x * x - 3 * x + curve.b)) % curve.p == 0


def add(curve: Curve, a: Point, b: Point) -> Point:
    """The group law in affine coordinates (SP 800-186 §A.1.1), doubling included."""
    if a is None or b is None:
        return b if a is None else a
    (x1, y1), (x2, y2), p = a, b, curve.p
    if x1 == x2 and (y1 + y2) % p == 0:
        return None
    if a == b:
        slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, p)
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, p)
    x3 = (slope * slope - x1 - x2) % p
    return x3, (slope * (x1 - x3) - y1) % p


def multiply(curve: Curve, u: int, a: Point, v: int = 0, b: Point = None) -> Point:
    """[u]a + [v]b, both scalars at once."""
    table = (None, a, b, add(curve, a, b))
    result: Point = None
    for bit in range(max(u.bit_length(), v.bit_length()) - 1, -1, -1):
        result = add(curve, result, result)
        result = add(curve, result, table[(u >> bit & 1) | (v >> bit & 1) << 1])
    return result


def decode_point(curve: Curve, data: bytes) -> tuple[int, int] | None:
    """The point of an uncompressed encoding, None for every other string.

    The cofactor is 1, so that a point of the curve has the order n and needs no further check
    (SP 800-186 §D.1.1).
    """
    size = curve.size
    if len(data) != 1 + 2 * size or data[0] != 4:
        return None
    x, y = int.from_bytes(data[1 : 1 + size], "big"), int.from_bytes(data[1 + size :], "big")
    if x >= curve.p or y >= curve.p or not is_on_curve(curve, x, y):
        return None
    return x, y


def verify(curve: Curve, public_key: bytes, message: bytes, signature: bytes) -> Fault | None:
    """FIPS 186-5 §6.4.2. Both s and n - s are taken, as the standard has it."""
    q = decode_point(curve, public_key)
    if q is None:
        return Fault.KEY
    size, n = curve.size, curve.n
    if len(signature) != 2 * size:
        return Fault.LENGTH
    r, s = int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big")
    if not (1 <= r < n and 1 <= s < n):  # step 1
        return Fault.ENCODING
    # The hash is as long as n, so that all its bits count (step 3).
    e = int.from_bytes(hashlib.new(curve.hash_name, message).digest(), "big")
    inverse = pow(s, -1, n)
    r1 = multiply(curve, e * inverse % n, curve.g, r * inverse % n, q)
    if r1 is None or r1[0] % n != r:  # steps 6 to 8
        return Fault.MISMATCH
    return None
