"""ML-DSA verification (FIPS 204), for verify.py and its tests.

:func:`verify` is the pure variant with a context. The other two are steps of it that the standard
names as well: the message already encoded (Algorithm 8), and only its hash mu at hand (the comment
at line 7 of it). Algorithms, tables and names are those of FIPS 204; all arithmetic is on plain
integers, reduced modulo q, and not constant time: everything that is computed here is public.

The order of the faults: KEY, CONTEXT, LENGTH, ENCODING, MISMATCH.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from .faults import Fault

Polynomial = list[int]  # 256 coefficients, or the 256 values of its NTT

Q = 8380417
D = 13
ZETA = 1753


class Parameters(NamedTuple):
    """A row of Table 1."""

    tau: int
    lambda_: int
    gamma_1: int
    gamma_2: int
    k: int
    l: int  # noqa: E741 (the name in the standard)
    eta: int
    omega: int

    @property
    def beta(self) -> int:
        return self.tau * self.eta

    @property
    def c_tilde_size(self) -> int:
        return self.lambda_ // 4

    @property
    def z_bits(self) -> int:
        """Bits of a coefficient of z: 1 + bitlen(gamma_1 - 1)."""
        return 1 + (self.gamma_1 - 1).bit_length()

    @property
    def public_key_size(self) -> int:
        return 32 + 320 * self.k

    @property
    def signature_size(self) -> int:
        return self.c_tilde_size + 32 * self.l * self.z_bits + self.omega + self.k


PARAMETERS: dict[str, Parameters] = {
    "ML-DSA-44": Parameters(39, 128, 2**17, (Q - 1) // 88, 4, 4, 2, 80),
    "ML-DSA-65": Parameters(49, 192, 2**19, (Q - 1) // 32, 6, 5, 4, 55),
    "ML-DSA-87": Parameters(60, 256, 2**19, (Q - 1) // 32, 8, 7, 2, 75),
}


# ----------------------------------------------------------------------
# Encodings (§7.1, §7.2)
# ----------------------------------------------------------------------


def _unpack(data: bytes, bits: int) -> list[int]:
    """Integers of `bits` bits each, the least significant bit first."""
    value = int.from_bytes(data, "little")
    return [value >> at & (2**bits - 1) for at in range(0, 8 * len(data), bits)]


def _pack(values: list[int], bits: int) -> bytes:
    """SimpleBitPack (Algorithm 16): the reverse of :func:`_unpack`."""
    packed = 0
    for i, value in enumerate(values):
        packed |= value << (bits * i)
    return packed.to_bytes(bits * len(values) // 8, "little")


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def pk_decode(public_key: bytes) -> tuple[bytes, list[Polynomial]]:
    """rho and t1 (Algorithm 23). Every string of the right length is a key."""
    t1 = [_unpack(piece, 10) for piece in _pieces(public_key[32:], 320)]
    return public_key[:32], t1


def z_decode(parameters: Parameters, data: bytes) -> list[Polynomial]:
    """BitUnpack(gamma_1 - 1, gamma_1) of each polynomial of z (Algorithm 19)."""
    pieces = _pieces(data, 32 * parameters.z_bits)
    return [[parameters.gamma_1 - c for c in _unpack(p, parameters.z_bits)] for p in pieces]


def hint_bit_unpack(parameters: Parameters, y: bytes) -> list[Polynomial] | None:
    """The hint (Algorithm 21), None for a malformed one.

    Each polynomial's ones are in strictly ascending order, the polynomials' ends never fall
    back nor pass omega, and what is left of the omega bytes is zero.
    """
    omega = parameters.omega
    h = [[0] * 256 for _ in range(parameters.k)]
    index = 0
    for i in range(parameters.k):
        end = y[omega + i]
        if end < index or end > omega:
            return None
        first = index
        while index < end:
            if index > first and y[index - 1] >= y[index]:
                return None
            h[i][y[index]] = 1
            index += 1
    return None if any(y[index:omega]) else h


# ----------------------------------------------------------------------
# Sampling (§7.3)
# ----------------------------------------------------------------------


def _squeeze(strength: int, data: bytes) -> Iterator[int]:
    """The output of SHAKE128 or SHAKE256, byte by byte, for as long as it is read."""
    xof = hashlib.shake_128(data) if strength == 128 else hashlib.shake_256(data)
    at, size = 0, 1024
    while True:
        yield from xof.digest(size)[at:]
        at, size = size, 2 * size


def sample_in_ball(parameters: Parameters, rho: bytes) -> Polynomial:
    """A polynomial with tau coefficients of 1 or -1 (Algorithm 29)."""
    c = [0] * 256
    stream = _squeeze(256, rho)
    h = _unpack(bytes(next(stream) for _ in range(8)), 1)
    for i in range(256 - parameters.tau, 256):
        j = next(stream)
        while j > i:
            j = next(stream)
        c[i] = c[j]
        c[j] = -1 if h[i + parameters.tau - 256] else 1
    return c


def rej_ntt_poly(rho: bytes) -> Polynomial:
    """256 uniform values below q (Algorithms 30 and 14)."""
    a: Polynomial = []
    stream = _squeeze(128, rho)
    while len(a) < 256:
        b0, b1, b2 = next(stream), next(stream), next(stream)
        z = (b2 & 127) << 16 | b1 << 8 | b0
        if z < Q:
            a.append(z)
    return a


# ----------------------------------------------------------------------
# Number theoretic transform (§7.5)
# ----------------------------------------------------------------------

# zeta to the power of the bit-reversed index (Appendix B).
ZETAS = [pow(ZETA, int(f"{m:08b}"[::-1], 2), Q) for m in range(256)]


def ntt(polynomial: Polynomial) -> Polynomial:
    """Algorithm 41."""
    w = [c % Q for c in polynomial]
    m, length = 0, 128
    while length >= 1:
        for start in range(0, 256, 2 * length):
            m += 1
            z = ZETAS[m]
            for j in range(start, start + length):
                t = z * w[j + length] % Q
                w[j + length] = (w[j] - t) % Q
                w[j] = (w[j] + t) % Q
        length //= 2
    return w


def inverse_ntt(values: Polynomial) -> Polynomial:
    """Algorithm 42."""
    w = list(values)
    m, length = 256, 1
    while length < 256:
        for start in range(0, 256, 2 * length):
            m -= 1
            z = -ZETAS[m]
            for j in range(start, start + length):
                t = w[j]
                w[j] = (t + w[j + length]) % Q
                w[j + length] = z * (t - w[j + length]) % Q
        length *= 2
    f = pow(256, -1, Q)
    return [f * c % Q for c in w]


# ----------------------------------------------------------------------
# Hints (§7.4)
# ----------------------------------------------------------------------


def decompose(parameters: Parameters, r: int) -> tuple[int, int]:
    """High and low bits of r (Algorithm 36)."""
    r %= Q
    alpha = 2 * parameters.gamma_2
    r0 = r % alpha
    if r0 > alpha // 2:
        r0 -= alpha
    if r - r0 == Q - 1:
        return 0, r0 - 1
    return (r - r0) // alpha, r0


def use_hint(parameters: Parameters, h: int, r: int) -> int:
    """Algorithm 40."""
    m = (Q - 1) // (2 * parameters.gamma_2)
    r1, r0 = decompose(parameters, r)
    if h == 0:
        return r1
    return (r1 + 1) % m if r0 > 0 else (r1 - 1) % m


# ----------------------------------------------------------------------
# Verification (§5.3, §6.3)
# ----------------------------------------------------------------------


def _shake256(data: bytes, size: int) -> bytes:
    """H (§3.7)."""
    return hashlib.shake_256(data).digest(size)


def verify(
    parameters: Parameters,
    public_key: bytes,
    message: bytes,
    signature: bytes,
    context: bytes = b"",
) -> Fault | None:
    """ML-DSA.Verify (Algorithm 3)."""
    if len(public_key) != parameters.public_key_size:
        return Fault.KEY
    if len(context) > 255:
        return Fault.CONTEXT
    m_prime = bytes([0, len(context)]) + context + message
    return verify_internal(parameters, public_key, m_prime, signature)


def verify_internal(
    parameters: Parameters, public_key: bytes, m_prime: bytes, signature: bytes
) -> Fault | None:
    """ML-DSA.Verify_internal (Algorithm 8) of an encoded message."""
    tr = _shake256(public_key, 64)
    return verify_mu(parameters, public_key, _shake256(tr + m_prime, 64), signature)


def verify_mu(
    parameters: Parameters, public_key: bytes, mu: bytes, signature: bytes
) -> Fault | None:
    """Algorithm 8 without line 7."""
    if len(public_key) != parameters.public_key_size:
        return Fault.KEY
    if len(signature) != parameters.signature_size:
        return Fault.LENGTH
    rho, t1 = pk_decode(public_key)
    hint_at = parameters.signature_size - parameters.omega - parameters.k
    c_tilde = signature[: parameters.c_tilde_size]
    z = z_decode(parameters, signature[parameters.c_tilde_size : hint_at])
    h = hint_bit_unpack(parameters, signature[hint_at:])
    if h is None:
        return Fault.ENCODING
    # The standard asks this last; it depends on the signature alone.
    if max(abs(c) for polynomial in z for c in polynomial) >= parameters.gamma_1 - parameters.beta:
        return Fault.ENCODING
    w1 = commitment(parameters, rho, t1, sample_in_ball(parameters, c_tilde), z, h)
    bits = ((Q - 1) // (2 * parameters.gamma_2) - 1).bit_length()
    w1_encoded = b"".join(_pack(polynomial, bits) for polynomial in w1)  # Algorithm 28
    computed = _shake256(mu + w1_encoded, parameters.c_tilde_size)
    return None if computed == c_tilde else Fault.MISMATCH


def commitment(
    parameters: Parameters,
    rho: bytes,
    t1: list[Polynomial],
    c: Polynomial,
    z: list[Polynomial],
    h: list[Polynomial],
) -> list[Polynomial]:
    """w1 = UseHint(h, A z - c t1 2^d), row by row of A (Algorithm 8, lines 5, 9 and 10)."""
    z_hat, c_hat = [ntt(polynomial) for polynomial in z], ntt(c)
    w1 = []
    for r in range(parameters.k):
        t_hat = ntt([coefficient << D for coefficient in t1[r]])
        row = [-c_hat[i] * t_hat[i] for i in range(256)]
        for s in range(parameters.l):
            a_hat = rej_ntt_poly(rho + bytes([s, r]))  # ExpandA (Algorithm 32)
            row = [row[i] + a_hat[i] * z_hat[s][i] for i in range(256)]
        w_approx = inverse_ntt([value % Q for value in row])
        w1.append([use_hint(parameters, h[r][i], w_approx[i]) for i in range(256)])
    return w1
