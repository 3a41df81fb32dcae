"""The program that verifies a signature of ECDSA with P-256 or P-384 (FIPS 186-5 §6.4.2, SP 800-186 §3.2.1.3, §3.2.1.4).

Everything here is public, so that branches may depend on it. Field elements are in Montgomery's form with R = 2^272 or 2^408,
and signed: the limbs have 16 or 24 bits to spare, and no sum is reduced. Numbers stay below 2^5 p, and products between
-2^-6 p and (1 + 2^-6) p.

The program is one for both curves. Constants, lengths and fields are chosen by branches on the number of limbs, of which bit 1 is
set for P-384 alone. -1 / p modulo 2^68 is 1 for P-256, and 1 + 2^32 + 2^64 for P-384: the datapath knows it by the field.

Points are (X / Z², Y / Z³). The point at infinity has no coordinates: it is a place in the program. Formulas are dbl-2001-b and
add-1998-cmo-2 of the Explicit-Formulas Database, whose exception (equal x) is looked for in each addition: an attacker chooses Q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from assembler import Assembler

Point = tuple[int, int]


class Curve(NamedTuple):
    """y² = x³ - 3 x + b modulo p."""

    name: str
    field: str
    bits: int
    limbs: int
    p: int
    order: int
    b: int
    g: Point

    @property
    def radix(self) -> int:
        return 1 << 68 * self.limbs

    def plus(self, one: Point, other: Point) -> Point:
        """Of different or equal points, neither of them minus the other."""
        if one == other:
            slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, self.p)
        else:
            slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, self.p)
        x = (slope * slope - one[0] - other[0]) % self.p
        return x, (slope * (one[0] - x) - one[1]) % self.p


P256 = Curve(
    name="p256",
    field="FieldP256",
    bits=256,
    limbs=4,
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    order=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    g=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)
P384 = Curve(
    name="p384",
    field="FieldP384",
    bits=384,
    limbs=6,
    p=2**384 - 2**128 - 2**96 + 2**32 - 1,
    order=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    b=0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
    g=(
        0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
        0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
    ),
)
# Limbs of eight slots: checks compare whole operands.
ALL = 64

# Operands.
X, Y, R, S, DIGEST = 0, 8, 16, 48, 56
RESULT, TEMP = 24, 32
# Between them; 40 has the factors of reductions.
AX, AY, AZ = 33, 34, 35
T0, T1, T2, T3, T4, T5, T6, T7, T8 = 36, 37, 38, 39, 41, 42, 43, 44, 45
U1, U2 = 46, 47
# Multiples of Q by their digit, four slots each: X, Y, Z, Z². Zero has none, which leaves room.
TABLE = 64
MODULUS, ORDER_AT, R2, ONE = 64, 65, 66, 67
# R, where the order was.
ONE_R = ORDER_AT


def numbers(code: Assembler, curve: Curve) -> None:
    p, order, radix = curve.p, curve.order, curve.radix
    for name, value in {
        "p": p,
        "order": order,
        "p_r2": radix * radix % p,
        "order_r2": radix * radix % order,
        "order_inverse": -pow(order, -1, 1 << 68) % (1 << 68),
        "b": curve.b * radix % p,
    }.items():
        code.number(f"{curve.name}_{name}", value, curve.limbs)
    point = curve.g
    # Zero is not read.
    code.array(f"{curve.name}_gx", -2 * curve.limbs)
    code.array(f"{curve.name}_gy", -curve.limbs)
    for digit in range(1, 16):
        x, y = point
        code.number(f"{curve.name}_x{digit}", x * radix % p, curve.limbs)
        code.number(f"{curve.name}_y{digit}", y * radix % p, curve.limbs)
        point = curve.plus(point, curve.g)


def by_curve(code: Assembler, name: str, each: Callable[[Curve], None]) -> None:
    """What differs, while the size is that of the curve."""
    code.jump("IfNoLimbBit1", f"{name}_p256")
    each(P384)
    code.jump("IfAlways", f"{name}_end")
    code.label(f"{name}_p256")
    each(P256)
    code.label(f"{name}_end")


def constants(code: Assembler, name: str, wanted: dict[int, str], digits: bool = False) -> None:
    """Numbers of the curve into slots."""

    def each(curve: Curve) -> None:
        for slot, number in wanted.items():
            code.constant(slot, f"{curve.name}_{number}", 2 * curve.limbs if digits else None)

    by_curve(code, name, each)


def below(code: Assembler, slot: int, label: str) -> None:
    code.linear(TEMP, slot, TABLE, 1, -1)
    code.jump("IfNotNegative", label)


def not_zero(code: Assembler, slot: int) -> None:
    code.linear(TEMP, slot, slot, 1, 0)
    code.jump("IfZero", "bad_signature")


def bound(code: Assembler, curve: Curve, name: str) -> None:
    """A number of 64 limbs to compare whole operands with."""
    code.size(curve.limbs)
    code.constant(TABLE, f"{curve.name}_{name}")
    code.size(ALL)


def checks(code: Assembler, curve: Curve) -> None:
    """0 <= x, y < p, 0 < r, s < n (FIPS 186-5 §6.4.2, step 1), the digest has no more bits. The table is zero above the bound."""
    code.size(ALL)
    code.small(RESULT, 0)
    code.position("FromImm", curve.bits)
    code.set_bit(TABLE)
    below(code, DIGEST, "bad_operand")
    code.small(TABLE, 0)
    bound(code, curve, "p")
    below(code, X, "bad_operand")
    below(code, Y, "bad_operand")
    bound(code, curve, "order")
    for slot in (R, S):
        below(code, slot, "bad_signature")
        not_zero(code, slot)
    code.size(curve.limbs)


def scalars(code: Assembler) -> None:
    """u1 = digest / s, u2 = r / s modulo n (steps 3 and 4). 1 / s is s^(n - 2), by digits of four bits."""
    code.label("ecdsa_scalars")
    constants(code, "ecdsa_order", {ORDER_AT: "order", R2: "order_r2", T0: "order_inverse"})
    code.inverse(T0)
    code.modulus(ORDER_AT, "FieldAny")
    code.small(ONE, 1)
    code.linear(T8, ORDER_AT, ONE, 1, -2)
    # s^0 and s, in Montgomery's form.
    code.product(T1, R2, ONE)
    code.product(TABLE + 4, S, R2)
    code.linear(TABLE + 8, TABLE + 4, TABLE + 4, 1, 0)
    for digit in range(2, 16):
        code.product(TABLE + 4 * digit, TABLE + 4 * digit - 4, TABLE + 4)
    code.linear(AX, T1, T1, 1, 0)
    code.call("ecdsa_top")
    code.label("ecdsa_invert")
    for _ in range(4):
        code.square(AX, AX)
    code.bits(T8, 4)
    code.jump("IfDigitZero", "ecdsa_no_factor")
    code.pointer(TABLE)
    code.product(AX, AX, code.at(0))
    code.label("ecdsa_no_factor")
    code.jump("IfAtEnd", "ecdsa_inverted")
    code.jump("IfAlways", "ecdsa_invert")
    code.label("ecdsa_inverted")
    # The inverse is in Montgomery's form, the other factor is not, and neither is the product. It is below n + 1, or
    # close to it: digits have to be of no more bits than n.
    for slot, factor in ((U1, DIGEST), (U2, R)):
        code.product(slot, factor, AX)
        code.linear(slot, slot, ORDER_AT, 1, -1)
        code.linear(slot, slot, ORDER_AT, 1, 1, sign="SignGates")


def key(code: Assembler) -> None:
    """Q is on the curve: y² = x³ - 3 x + b. Leaves it as the first entry of the table, and as an affine point."""

    def field(curve: Curve) -> None:
        code.constant(MODULUS, f"{curve.name}_p")
        code.constant(R2, f"{curve.name}_p_r2")
        code.constant(T0, f"{curve.name}_b")
        code.modulus(MODULUS, curve.field)

    by_curve(code, "ecdsa_field", field)
    code.product(T5, X, R2)
    code.product(T6, Y, R2)
    code.square(T1, T5)
    code.product(T1, T1, T5, c=T5, kb=-3)
    code.linear(T1, T1, T0, 1, 1)
    code.square(T0, T6, c=T1, kb=-1)
    code.product(TEMP, T0, ONE)
    code.call("ecdsa_is_zero")
    code.jump("IfNotZero", "bad_operand")


def is_zero(code: Assembler) -> None:
    """Of a product in TEMP: what is a multiple of p is zero or p."""
    code.label("ecdsa_is_zero")
    code.jump("IfZero", "return")
    code.linear(TEMP, TEMP, MODULUS, 1, -1)
    code.back()


def double(code: Assembler) -> None:
    """Four products and four squares; sums are part of them where they can be."""
    code.square(T0, AZ)
    code.square(T1, AY)
    code.product(T2, AX, T1)
    code.linear(T3, AX, T0, 3, -3)
    code.linear(T0, AX, T0, 1, 1)
    code.product(T3, T3, T0)
    code.product(AZ, AY, AZ, ka=2)
    code.square(T1, T1)
    code.square(AX, T3, c=T2, kb=-8)
    code.linear(T2, T2, AX, 4, -1)
    code.product(AY, T3, T2, c=T1, kb=-8)


def compare_affine(code: Assembler) -> None:
    """H (T2) and r (T3) of the accumulator and the point with the coordinates T5, T6, and H² (T0). The flag is that of H."""
    code.label("ecdsa_compare")
    code.square(T0, AZ)
    code.product(T1, AZ, T0)
    code.product(T2, T5, T0, c=AX, kb=-1)
    code.product(T3, T6, T1, c=AY, kb=-1)
    code.square(T0, T2)
    code.jump("IfZero", "return")
    code.linear(TEMP, T0, MODULUS, 1, -1)
    code.back()


def compare_entry(code: Assembler) -> None:
    """The same with the entry of the table. T7 and T8 are the coordinates of the accumulator at the Z of both."""
    x, y, z, z2 = (code.at(number) for number in range(4))
    code.square(T0, AZ)
    code.product(T1, AZ, T0)
    code.product(T4, z, z2)
    code.product(T7, AX, z2)
    code.product(T8, AY, T4)
    code.product(T2, x, T0, c=T7, kb=-1)
    code.product(T3, y, T1, c=T8, kb=-1)
    code.square(T0, T2)
    code.jump("IfZero", "ecdsa_same_entry")
    code.linear(TEMP, T0, MODULUS, 1, -1)
    code.jump("IfZero", "ecdsa_same_entry")


def add(code: Assembler, x: int, y: int) -> None:
    """The sum, of coordinates of the accumulator and of H, r and H²."""
    code.product(AZ, AZ, T2)
    code.product(T1, T0, T2)
    code.product(T4, x, T0)
    code.linear(T0, T1, T4, 1, 2)
    code.square(AX, T3, c=T0, kb=-1)
    code.linear(T4, T4, AX, 1, -1)
    code.product(T1, y, T1)
    code.product(AY, T3, T4, c=T1, kb=-1)


def subroutines(code: Assembler) -> None:
    code.label("ecdsa_top")
    by_curve(code, "ecdsa_bits", lambda curve: code.position("FromImm", curve.bits - 1))
    code.back()
    is_zero(code)
    compare_affine(code)
    code.label("ecdsa_add")
    add(code, AX, AY)
    code.back()
    code.label("ecdsa_double")
    double(code)
    code.back()


def copy(code: Assembler, to: tuple[int, ...], source: tuple[int, ...]) -> None:
    for dst, src in zip(to, source, strict=True):
        code.linear(dst, src, src, 1, 0)


def table(code: Assembler) -> None:
    """Multiples of Q, 1 to 15. None of them is infinite or another one's negative: the order of Q is n."""
    accumulator = (AX, AY, AZ)
    copy(code, (AX, AY), (T5, T6))
    code.product(AZ, ONE, R2)
    # One, in Montgomery's form, for points of the ROM.
    code.linear(ONE_R, AZ, AZ, 1, 0)
    for digit in range(1, 16):
        if digit == 2:
            code.call("ecdsa_double")
        if digit > 2:
            code.call("ecdsa_compare")
            code.call("ecdsa_add")
        entry = TABLE + 4 * digit
        copy(code, (entry, entry + 1, entry + 2), accumulator)
        code.square(entry + 3, AZ)


def ladder(code: Assembler) -> None:
    """u1 G + u2 Q, four bits of both at a time (step 5)."""
    code.call("ecdsa_top")
    # While the sum is infinite.
    code.label("ecdsa_none")
    code.bits(U1, 4, moves=False)
    code.jump("IfDigitZero", "ecdsa_none_key")
    constants(code, "ecdsa_first", {AX: "gx", AY: "gy"}, digits=True)
    code.linear(AZ, ONE_R, ONE_R, 1, 0)
    code.jump("IfAlways", "ecdsa_key")
    code.label("ecdsa_none_key")
    code.bits(U2, 4)
    code.jump("IfDigitZero", "ecdsa_none_end")
    code.pointer(TABLE)
    copy(code, (AX, AY, AZ), tuple(code.at(number) for number in range(3)))
    code.jump("IfAlways", "ecdsa_end")
    code.label("ecdsa_none_end")
    code.jump("IfAtEnd", "bad_signature")
    code.jump("IfAlways", "ecdsa_none")
    # While it is a point.
    code.label("ecdsa_next")
    for _ in range(4):
        double(code)
    code.bits(U1, 4, moves=False)
    code.jump("IfDigitZero", "ecdsa_key")
    constants(code, "ecdsa_base", {T5: "gx", T6: "gy"}, digits=True)
    code.call("ecdsa_compare")
    code.jump("IfZero", "ecdsa_same_base")
    add(code, AX, AY)
    code.label("ecdsa_key")
    code.bits(U2, 4)
    code.jump("IfDigitZero", "ecdsa_end")
    code.pointer(TABLE)
    compare_entry(code)
    code.product(AZ, AZ, code.at(2))
    add(code, T7, T8)
    code.label("ecdsa_end")
    code.jump("IfAtEnd", "ecdsa_verdict")
    code.jump("IfAlways", "ecdsa_next")
    # Equal x: the same point, or its negative.
    for name, same, negative in (("base", "ecdsa_key", "ecdsa_none_key"), ("entry", "ecdsa_end", "ecdsa_none_end")):
        code.label(f"ecdsa_same_{name}")
        code.square(TEMP, T3)
        code.call("ecdsa_is_zero")
        code.jump("IfNotZero", negative)
        code.call("ecdsa_double")
        code.jump("IfAlways", same)


def verdict(code: Assembler) -> None:
    """x modulo n is r (step 6): r Z² = X, or (r + n) Z² = X if r + n is below p."""
    code.label("ecdsa_verdict")
    code.square(T0, AZ)
    code.linear(T2, R, R, 1, 0)
    for is_second in (False, True):
        if is_second:
            constants(code, "ecdsa_second", {T3: "order"})
            code.linear(T2, R, T3, 1, 1)
            code.linear(TEMP, T2, MODULUS, 1, -1)
            code.jump("IfNotNegative", "bad_signature")
        code.product(T1, T2, R2)
        code.product(T1, T1, T0, c=AX, kb=-1)
        code.product(TEMP, T1, ONE)
        code.call("ecdsa_is_zero")
        code.jump("IfZero", "ecdsa_good")
    code.label("bad_signature")
    code.end("EndSignature")
    code.label("ecdsa_good")
    code.end("EndGood")


def verify_ecdsa(code: Assembler) -> None:
    code.entry("p384")
    checks(code, P384)
    code.jump("IfAlways", "ecdsa_scalars")
    code.entry("p256")
    checks(code, P256)
    for part in (scalars, key, table, ladder, verdict, subroutines):
        part(code)
    for curve in (P256, P384):
        numbers(code, curve)
