"""Curves and ECDSA in Python (SP 800-186 §3.2.1.3, §3.2.1.4; FIPS 186-5 §6.4), with nothing of the engine's."""

from __future__ import annotations

from dataclasses import dataclass

# None is the point at infinity.
Point = tuple[int, int] | None


@dataclass(frozen=True)
class Curve:
    """y² = x³ - 3 x + b modulo p."""

    name: str
    bits: int
    p: int
    n: int
    b: int
    g: tuple[int, int]

    def __str__(self) -> str:
        return self.name

    def is_point(self, x: int, y: int) -> bool:
        return (y * y - x * x * x + 3 * x - self.b) % self.p == 0

    def add(self, one: Point, other: Point) -> Point:
        if one is None or other is None:
            return one or other
        (x1, y1), (x2, y2) = one, other
        if x1 == x2 and (y1 + y2) % self.p == 0:
            return None
        if one == other:
            slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, self.p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, self.p)
        x = (slope * slope - x1 - x2) % self.p
        return x, (slope * (x1 - x) - y1) % self.p

    def multiply(self, scalar: int, point: Point) -> Point:
        total: Point = None
        for bit in f"{scalar % self.n:b}":
            total = self.add(total, total)
            if bit == "1":
                total = self.add(total, point)
        return total

    def point(self, scalar: int) -> tuple[int, int]:
        """A multiple of G that is not infinite."""
        found = self.multiply(scalar, self.g)
        assert found is not None
        return found

    def sign(self, secret: int, digest: int, nonce: int) -> tuple[int, int]:
        r = self.point(nonce)[0] % self.n
        return r, pow(nonce, -1, self.n) * (digest + r * secret) % self.n

    def verify(self, key: tuple[int, int], digest: int, r: int, s: int) -> bool:
        if not (0 < r < self.n and 0 < s < self.n and max(key) < self.p and self.is_point(*key)):
            return False
        inverse = pow(s, -1, self.n)
        found = self.add(self.multiply(digest * inverse, self.g), self.multiply(r * inverse, key))
        return found is not None and found[0] % self.n == r

    def with_large_x(self, secret: int, digest: int) -> tuple[tuple[int, int], int, int]:
        """A key and a signature whose point has an x of n or more, so that r is less than x."""
        x = self.n
        while True:
            x += 1
            square = (x * x * x - 3 * x + self.b) % self.p
            y = pow(square, (self.p + 1) // 4, self.p)
            if y * y % self.p == square:
                break
        r, s = x - self.n, secret
        # s R = digest G + r Q.
        key = self.multiply(pow(r, -1, self.n), self.add(self.multiply(s, (x, y)), self.multiply(-digest, self.g)))
        assert key is not None
        return key, r, s


P256 = Curve(
    name="P-256",
    bits=256,
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    g=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)
P384 = Curve(
    name="P-384",
    bits=384,
    p=2**384 - 2**128 - 2**96 + 2**32 - 1,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    b=0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
    g=(
        0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
        0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
    ),
)
