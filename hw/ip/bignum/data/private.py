"""The private operation of RSA: base^d modulo n by its primes (RFC 8017 §5.1.2), blinded, and checked before it is released.

No branch and no address depends on the key, the blinding or the base, but for refusals of a key that is none. The exponents
are read in digits of four bits, each with four squares and a product; all entries of the table are read for its factor.

A fault in one of both powers gives a number that is right modulo the other prime, and with it the factors of n (Boneh, DeMillo,
Lipton 1997). So the result, at the place from which it is read, is raised to the public exponent and compared with the base, twice.
Steps are counted: what leads past one of them is an error. The control overwrites everything but a result that is released.
"""

from __future__ import annotations

from assembler import PRIVATE_SLOTS, SLOTS, Assembler

# Slots of all programs (`programs.py`).
N, BASE, R2, RESULT, TEMP, EXPONENT = 0, 8, 16, 24, 32, 48
ACC, OTHER, ONE = 96, 104, 112
# Numbers of half the length have four slots.
P, Q, DP, DQ, Q_INVERSE = 128, 132, 136, 140, 144
BLINDING, UNBLINDING = 152, 160
MODULUS, MODULUS_R2, BLINDED = 168, 176, 184
# Entries of the table have four slots.
TABLE, ENTRY, ENTRIES = 192, 4, 16
# Of the prime that is worked on, and the power modulo q; the product of both primes, and the blinded result.
PRIME, PRIME_EXPONENT, POWER_Q, PRODUCT = 64, 68, 72, 80
# Limbs of a number, and of one of half the length, whatever the lengths say.
ALL, HALF = 64, 32


def copy(code: Assembler, to: int, source: int) -> None:
    code.linear(to, source, source, 1, 0)


def not_below(code: Assembler, slot: int, label: str) -> None:
    code.linear(TEMP, slot, N, 1, -1)
    code.jump("IfNotNegative", label)


def canonical(code: Assembler, slot: int) -> None:
    """From below 2 N to below N."""
    code.linear(slot, slot, N, 1, -1)
    code.linear(slot, slot, N, 1, 1, sign="SignGates")


def checks(code: Assembler) -> None:
    """Operands are below n, n is the product of both primes, and nothing of an earlier command is where zeros have to be."""
    code.call("setup")
    for slot in (BASE, BLINDING, UNBLINDING):
        not_below(code, slot, "bad_operand")
    code.call("exponent")
    for slot in (POWER_Q, PRODUCT, BLINDED):
        code.small(slot, 0)
    copy(code, MODULUS, N)
    code.size("SizeHalf")
    code.modulus(N, "FieldNone")
    code.product(PRODUCT, P, Q)
    code.size(ALL)
    code.linear(TEMP, PRODUCT, N, 1, -1)
    code.jump("IfNotZero", "bad_key")


def blind(code: Assembler) -> None:
    """base r^e, which is below 2 n: a sum of that size is reduced by each prime."""
    code.size("SizeWhole")
    code.call("inverse")
    code.call("r_squared")
    code.product(ACC, BASE, R2)
    code.product(BLINDED, ACC, BLINDING)
    copy(code, MODULUS_R2, R2)


def power(code: Assembler) -> None:
    """TEMP := blinded^exponent modulo the prime, which becomes N. Leaves -1 / N and R²."""
    code.label("prime_power")
    code.size(ALL)
    code.small(N, 0)
    code.size(HALF)
    copy(code, N, PRIME)
    # The prime is odd and has half of the bits, all of them.
    code.size("SizeHalf")
    code.call("setup")
    code.size(HALF)
    copy(code, OTHER, PRIME_EXPONENT)
    code.jump("IfZero", "bad_exponent")
    not_below(code, PRIME_EXPONENT, "bad_exponent")
    code.call("inverse")
    code.call("r_squared")
    code.small(ONE, 1)
    # blinded / R, blinded, and blinded R, as the table has it.
    code.reduce(TEMP, BLINDED)
    code.product(TEMP, TEMP, R2)
    code.product(TABLE, R2, ONE)
    code.product(TABLE + ENTRY, TEMP, R2)
    for number in range(2, ENTRIES):
        if number % 2:
            code.product(TABLE + ENTRY * number, TABLE + ENTRY * (number - 1), TABLE + ENTRY)
        else:
            code.square(TABLE + ENTRY * number, TABLE + ENTRY * (number // 2))
    copy(code, ACC, TABLE)
    code.position("FromModulusDigits")
    code.label("prime_next")
    for _ in range(4):
        code.square(ACC, ACC)
    code.bits(PRIME_EXPONENT, 4)
    code.select(OTHER, TABLE, ENTRY, ENTRIES)
    code.product(ACC, ACC, OTHER)
    code.jump("IfAtEnd", "prime_end")
    code.jump("IfAlways", "prime_next")
    code.label("prime_end")
    code.product(TEMP, ACC, ONE)
    canonical(code, TEMP)
    code.back()


def combine(code: Assembler) -> None:
    """Garner's formula: power_q + q ((power_p - power_q) / q modulo p). N is p, and both primes have the same length."""
    code.size(HALF)
    code.linear(OTHER, Q_INVERSE, N, 1, -1)
    code.jump("IfNotNegative", "bad_key")
    code.size("SizeHalf")
    # Both powers are below p then, and their difference is: power_q is below 2 p.
    code.linear(OTHER, POWER_Q, N, 1, -1)
    code.linear(OTHER, OTHER, N, 1, 1, sign="SignGates")
    code.linear(TEMP, TEMP, OTHER, 1, -1)
    code.linear(TEMP, TEMP, N, 1, 1, sign="SignGates")
    code.product(TEMP, TEMP, Q_INVERSE)
    code.product(TEMP, TEMP, R2)
    canonical(code, TEMP)
    code.modulus(N, "FieldNone")
    code.product(PRODUCT, TEMP, Q)
    code.size("SizeWhole")
    code.linear(PRODUCT, PRODUCT, POWER_Q, 1, 1)


def unblind(code: Assembler) -> None:
    """Times 1 / r modulo n, which leads to the result."""
    code.size(ALL)
    copy(code, N, MODULUS)
    code.size("SizeWhole")
    copy(code, R2, MODULUS_R2)
    code.call("inverse")
    code.product(ACC, PRODUCT, R2)
    code.product(TEMP, ACC, UNBLINDING)
    code.call("canonical")


def verify(code: Assembler) -> None:
    """OTHER := result^e, from the top bit of e, which is public. The last factor leads out of Montgomery's form."""
    code.product(ACC, RESULT, R2)
    copy(code, PRODUCT, ACC)
    code.small(ONE, 1)
    code.position("FromExponent")
    code.label("check_top")
    code.bits(EXPONENT, 1)
    code.jump("IfDigitZero", "check_top")
    code.label("check_next")
    code.jump("IfAtEnd", "check_end")
    code.square(ACC, ACC)
    code.bits(EXPONENT, 1)
    code.jump("IfDigitZero", "check_next")
    code.product(ACC, ACC, PRODUCT)
    code.jump("IfAlways", "check_next")
    code.label("check_end")
    code.product(OTHER, ACC, ONE)
    canonical(code, OTHER)


def release(code: Assembler) -> None:
    """Two comparisons, so that no upset of one of them is enough."""
    code.linear(TEMP, OTHER, BASE, 1, -1)
    code.jump("IfDiffers", "bad_result")
    code.step(6)
    code.linear(TEMP, BASE, OTHER, 1, -1)
    code.jump("IfDiffers", "bad_result")
    code.end("EndRelease", step=6)
    for name, result in (("key", "EndKey"), ("result", "EndFault")):
        code.label(f"bad_{name}")
        code.end(result)


def private_rsa(code: Assembler) -> None:
    code.entry("private")
    code.slots = PRIVATE_SLOTS
    checks(code)
    blind(code)
    code.step(1)
    code.size(HALF)
    copy(code, PRIME, Q)
    copy(code, PRIME_EXPONENT, DQ)
    code.call("prime_power")
    copy(code, POWER_Q, TEMP)
    code.step(2)
    code.size(HALF)
    copy(code, PRIME, P)
    copy(code, PRIME_EXPONENT, DP)
    code.call("prime_power")
    code.step(3)
    combine(code)
    code.step(4)
    unblind(code)
    code.step(5)
    verify(code)
    release(code)
    power(code)
    # A program that named a slot of the key could give it as a result.
    code.slots = SLOTS
