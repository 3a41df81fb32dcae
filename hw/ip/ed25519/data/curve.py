"""Numbers of edwards25519 (RFC 8032 §5.1), and the tables and constants of the engine's ROM."""

from __future__ import annotations

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)

# Affine coordinates.
Point = tuple[int, int]
NEUTRAL: Point = (0, 1)


def recover_x(y: int, sign: int) -> int | None:
    """RFC 8032 §5.1.3, steps 2 to 4."""
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * ROOT % P
    if (v * x * x - u) % P or (x == 0 and sign):
        return None
    return P - x if x % 2 != sign else x


BASE_Y = 4 * pow(5, -1, P) % P
_BASE_X = recover_x(BASE_Y, 0)
assert _BASE_X is not None
BASE: Point = (_BASE_X, BASE_Y)


def add(p: Point, q: Point) -> Point:
    """RFC 8032 §5.1.4, in affine coordinates: complete, and slow."""
    (x1, y1), (x2, y2) = p, q
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P


def negate(p: Point) -> Point:
    return -p[0] % P, p[1]


def multiply(k: int, p: Point) -> Point:
    """In extended coordinates: with one inversion."""
    result, summand = (0, 1, 1, 0), (p[0], p[1], 1, p[0] * p[1] % P)

    def plus(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, int, int, int]:
        m, n = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
        c, d = 2 * D * a[3] * b[3], 2 * a[2] * b[2]
        e, f, g, h = (n - m) % P, (d - c) % P, (d + c) % P, (n + m) % P
        return e * f % P, g * h % P, f * g % P, e * h % P

    while k:
        if k & 1:
            result = plus(result, summand)
        summand, k = plus(summand, summand), k >> 1
    z = pow(result[2], -1, P)
    return result[0] * z % P, result[1] * z % P


def encode(p: Point) -> bytes:
    return (p[1] | (p[0] & 1) << 255).to_bytes(32, "little")


def addend(p: Point) -> tuple[int, int, int]:
    """The three numbers of a summand: y + x, y - x, 2dxy."""
    x, y = p
    return (y + x) % P, (y - x) % P, 2 * D * x * y % P


TEETH, TABLES = 5, 2


def comb(rows: int) -> list[Point]:
    """Σ ±2^(t · TABLES · rows) B over the teeth t, the last with +; the second table 2^rows times that."""
    points = []
    for table in range(TABLES):
        teeth = [multiply(2 ** (t * TABLES * rows + table * rows), BASE) for t in range(TEETH)]
        for index in range(2 ** (TEETH - 1)):
            total = teeth[-1]
            for t in range(TEETH - 1):
                total = add(total, teeth[t] if index >> t & 1 else negate(teeth[t]))
            points.append(total)
    return points


def odd_multiples(p: Point, count: int) -> list[Point]:
    points, double = [p], add(p, p)
    while len(points) < count:
        points.append(add(points[-1], double))
    return points
