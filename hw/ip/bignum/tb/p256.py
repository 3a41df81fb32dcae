"""P-256 and ECDSA in Python (SP 800-186 §3.2.1.3, FIPS 186-5 §6.4), with nothing of the engine's."""

from __future__ import annotations

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)
# None is the point at infinity.
Point = tuple[int, int] | None


def is_on_curve(x: int, y: int) -> bool:
    return (y * y - x * x * x + 3 * x - B) % P == 0


def add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def multiply(scalar: int, point: Point) -> Point:
    total: Point = None
    for bit in f"{scalar % N:b}":
        total = add(total, total)
        if bit == "1":
            total = add(total, point)
    return total


def point(scalar: int) -> tuple[int, int]:
    """A multiple of G that is not infinite."""
    found = multiply(scalar, G)
    assert found is not None
    return found


def sign(secret: int, digest: int, nonce: int) -> tuple[int, int]:
    r = point(nonce)[0] % N
    return r, pow(nonce, -1, N) * (digest + r * secret) % N


def verify(key: tuple[int, int], digest: int, r: int, s: int) -> bool:
    if not (0 < r < N and 0 < s < N and max(key) < P and is_on_curve(*key)):
        return False
    inverse = pow(s, -1, N)
    found = add(multiply(digest * inverse, G), multiply(r * inverse, key))
    return found is not None and found[0] % N == r


def with_large_x(secret: int, digest: int) -> tuple[tuple[int, int], int, int]:
    """A key and a signature whose point has an x of n or more, so that r is less than x."""
    x = N
    while True:
        x += 1
        square = (x * x * x - 3 * x + B) % P
        y = pow(square, (P + 1) // 4, P)
        if y * y % P == square:
            break
    r, s = x - N, secret
    # s R = digest G + r Q.
    key = multiply(pow(r, -1, N), add(multiply(s, (x, y)), multiply(-digest, G)))
    assert key is not None
    return key, r, s
