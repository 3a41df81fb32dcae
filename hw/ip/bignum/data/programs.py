"""The programs of the engine, in the notation of `assembler.py`. `generate.py` writes them into the ROM.

N is the modulus, n its limbs, R = 2^(68 n) >= 4 N. Products take factors from -2 N to 2 N and give numbers from 0 to 2 N.
"""

from __future__ import annotations

from assembler import Assembler
from curves import verify_ecdsa
from private import private_rsa

# Slots (`bignum_pkg.sv`). A number has eight.
N, BASE, R2, RESULT, TEMP, EXPONENT, FACTOR = 0, 8, 16, 24, 32, 48, 56
TABLE, ACC, OTHER, ONE = 64, 96, 104, 112
# Limbs of eight slots: checks compare whole operands, whatever the length says.
ALL = 64
GOOD, BAD_MODULUS, BAD_OPERAND, BAD_EXPONENT = "EndGood", "EndModulus", "EndOperand", "EndExponent"


def below_modulus(code: Assembler, slot: int) -> None:
    code.linear(TEMP, slot, N, 1, -1)
    code.jump("IfNotNegative", "bad_operand")


def setup(code: Assembler) -> None:
    """The modulus is odd and has its length; nothing of an earlier result is left. Leaves the size at ALL."""
    code.label("setup")
    code.size(ALL)
    code.small(RESULT, 0)
    code.position("FromModulus")
    code.set_bit(OTHER)
    code.linear(TEMP, N, OTHER, 1, -1)
    code.jump("IfNegative", "bad_modulus")
    code.linear(TEMP, TEMP, OTHER, 1, -1)
    code.jump("IfNotNegative", "bad_modulus")
    code.linear(TEMP, N, N, 1, 0)
    code.jump("IfEven", "bad_modulus")
    code.back()


def exponent(code: Assembler) -> None:
    """The exponent is not zero, and below two to its length."""
    code.label("exponent")
    code.linear(TEMP, EXPONENT, EXPONENT, 1, 0)
    code.jump("IfZero", "bad_exponent")
    code.position("FromExponent")
    code.set_bit(OTHER)
    code.linear(TEMP, EXPONENT, OTHER, 1, -1)
    code.linear(TEMP, TEMP, OTHER, 1, -1)
    code.jump("IfNotNegative", "bad_exponent")
    code.back()


def inverse(code: Assembler) -> None:
    """-1 / N modulo 2^68 by Newton's iteration x (2 + N x), from three bits of -N. Leaves the size of the modulus."""
    code.label("inverse")
    code.size(2)
    code.small(OTHER, 2)
    code.size(1)
    code.modulus(N, "FieldNone")
    code.linear(ACC, N, N, -1, 0)
    code.counter(5)
    code.label("newton")
    code.product(TEMP, N, ACC)
    code.size(2)
    code.linear(TEMP, TEMP, OTHER, 1, 1)
    code.size(1)
    code.product(ACC, ACC, TEMP)
    code.loop("newton")
    code.inverse(ACC)
    code.modulus(N, "FieldAny")
    code.size("SizeModulus")
    code.back()


def r_squared(code: Assembler) -> None:
    """R² modulo N: 2^(bits - 1) is doubled to 2^a R with a = 68 n / 64, and squared six times: R² = 2^(68 n) R.

    Doublings go up and down by N with the sign, as in a division that does not restore. The bits of 68 n that `a` lacks are
    the lowest four of n, and two zeros.
    """
    code.label("given_or_r_squared")
    code.jump("IfGiven", "return")
    code.label("r_squared")
    code.position("FromModulus")
    code.set_bit(R2)
    # Its sign is what the first doubling asks for.
    code.linear(R2, R2, R2, 1, 0)
    code.counter(None)
    code.label("double")
    code.linear(R2, R2, N, 2, -1, sign="SignFlips")
    code.loop("double")
    for bit in (3, 2, 1, 0):
        code.square(R2, R2)
        code.jump(f"IfNoLimbBit{bit}", f"no_bit_{bit}")
        code.linear(R2, R2, N, 2, -2)
        code.label(f"no_bit_{bit}")
    code.square(R2, R2)
    code.square(R2, R2)
    code.label("return")
    code.back()


def given(code: Assembler) -> None:
    code.label("check_given")
    code.jump("IfGiven", "check_r_squared")
    code.back()
    code.label("check_r_squared")
    below_modulus(code, R2)
    code.back()


def ends(code: Assembler) -> None:
    """TEMP is below 2 N."""
    code.label("finish")
    code.call("canonical")
    code.end(GOOD)
    code.label("canonical")
    code.linear(TEMP, TEMP, N, 1, -1)
    code.linear(RESULT, TEMP, N, 1, 1, sign="SignGates")
    code.back()
    for name, result in (("modulus", BAD_MODULUS), ("operand", BAD_OPERAND), ("exponent", BAD_EXPONENT)):
        code.label(f"bad_{name}")
        code.end(result)


def begin(code: Assembler, *, has_exponent: bool, has_factor: bool = False) -> None:
    code.call("setup")
    below_modulus(code, BASE)
    if has_factor:
        below_modulus(code, FACTOR)
    if has_exponent:
        code.call("exponent")
    code.call("check_given")
    code.call("inverse")
    code.call("given_or_r_squared")


def power(code: Assembler) -> None:
    """From the top bit of a public exponent. The last factor is not in Montgomery's form, which leads out of it."""
    code.entry("power")
    begin(code, has_exponent=True)
    code.product(TABLE, BASE, R2)
    code.linear(ACC, TABLE, TABLE, 1, 0)
    code.position("FromExponent")
    code.label("power_top")
    code.bits(EXPONENT, 1)
    code.jump("IfDigitZero", "power_top")
    code.label("power_next")
    code.jump("IfAtEnd", "power_even")
    code.square(ACC, ACC)
    code.bits(EXPONENT, 1)
    code.jump("IfDigitZero", "power_next")
    code.jump("IfAtEnd", "power_odd")
    code.product(ACC, ACC, TABLE)
    code.jump("IfAlways", "power_next")
    code.label("power_odd")
    code.product(TEMP, ACC, BASE)
    code.jump("IfAlways", "finish")
    code.label("power_even")
    code.small(ONE, 1)
    code.product(TEMP, ACC, ONE)
    code.jump("IfAlways", "finish")


def secret(code: Assembler) -> None:
    """Digits of two bits, each with a product: entries of the table are all read, and no branch is on a digit."""
    code.entry("secret")
    begin(code, has_exponent=True)
    code.small(ONE, 1)
    code.product(TABLE, R2, ONE)
    code.product(TABLE + 8, BASE, R2)
    code.square(TABLE + 16, TABLE + 8)
    code.product(TABLE + 24, TABLE + 16, TABLE + 8)
    code.linear(ACC, TABLE, TABLE, 1, 0)
    code.position("FromDigits")
    code.label("secret_next")
    code.square(ACC, ACC)
    code.square(ACC, ACC)
    code.bits(EXPONENT, 2)
    code.select(OTHER, TABLE, 8, 4)
    code.product(ACC, ACC, OTHER)
    code.jump("IfAtEnd", "secret_end")
    code.jump("IfAlways", "secret_next")
    code.label("secret_end")
    code.product(TEMP, ACC, ONE)
    code.jump("IfAlways", "finish")


def multiply(code: Assembler) -> None:
    code.entry("multiply")
    begin(code, has_exponent=False, has_factor=True)
    code.product(ACC, BASE, R2)
    code.product(TEMP, ACC, FACTOR)
    code.jump("IfAlways", "finish")


def prepare(code: Assembler) -> None:
    """The result is kept, so that commands can be told that it is given."""
    code.entry("prepare")
    code.call("setup")
    code.call("inverse")
    code.call("r_squared")
    code.linear(TEMP, R2, R2, 1, 0)
    code.call("canonical")
    # Limbs above it may be of another modulus.
    code.size(ALL)
    code.linear(R2, RESULT, RESULT, 1, 0)
    code.end(GOOD)


def programs() -> Assembler:
    code = Assembler()
    for part in (power, secret, multiply, prepare, private_rsa, verify_ecdsa, setup, exponent, given, inverse, r_squared, ends):
        part(code)
    return code
